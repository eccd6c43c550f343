"""Cost of decode + parse + fold alone, against plain `json.loads` of the same payloads.

Prints microseconds per event and the ratio of each pair, measured in turn in one run: only the ratios mean anything.
`python benchmarks/parse.py [--rounds N]`
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

from wires import WIRES

from thinkaloud import jsontext
from thinkaloud.messages import Origin
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol

LIMITS = {"standard library": 3.0}


def seconds(work: Callable[[], object], repeat: int) -> float:
    """CPU seconds of one call, as the mean of `repeat` calls."""
    start = time.process_time()
    for _ in range(repeat):
        work()
    return (time.process_time() - start) / repeat


def main() -> None:
    """Measure and print one row per wire, kind, length and decoder."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=7)
    rounds = arguments.parse_args().rounds
    orjson_loads = jsontext.orjson_loads
    decoders = {"standard library": None, **({"orjson": orjson_loads} if orjson_loads else {})}
    print(f"{'wire':20} {'kind':10} {'events':>7} {'decoder':17} {'json.loads':>10} {'ours':>7} {'ratio':>6}")
    per_event: dict[tuple[str, str, str], dict[int, float]] = {}
    for wire_id, (payloads_of, pieces_of) in WIRES.items():
        wire = wire_protocol(wire_id)
        context = ParseContext(origin=Origin(wire_id, "bench", "bench"))
        for only_arguments in (False, True):
            kind = "arguments" if only_arguments else "mixed"
            for deltas in (200, 10_000):
                texts = [
                    json.dumps(p, separators=(",", ":")) for p in payloads_of(deltas, only_arguments=only_arguments)
                ]
                pieces = pieces_of(deltas, only_arguments=only_arguments)

                def floor(texts: list[str] = texts) -> None:
                    loads = json.loads
                    for text in texts:
                        loads(text)

                def ours(pieces: list[bytes] = pieces, wire: object = wire, context: ParseContext = context) -> None:
                    reader = Reader(wire, context)  # type: ignore[arg-type]
                    for piece in pieces:
                        reader.feed(piece)
                    reader.close()
                    assert reader.message is not None

                repeat = max(1, 20_000 // deltas)
                for name, decoder in decoders.items():
                    jsontext.orjson_loads = decoder
                    pairs = [(seconds(floor, repeat), seconds(ours, repeat)) for _ in range(rounds)]
                    plain = statistics.median(pair[0] for pair in pairs) / len(texts) * 1e6
                    own = statistics.median(pair[1] for pair in pairs) / len(texts) * 1e6
                    ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
                    per_event.setdefault((wire_id, kind, name), {})[deltas] = own
                    limit = LIMITS.get(name)
                    verdict = "" if limit is None else ("ok" if ratio <= limit else f"over {limit}")
                    print(
                        f"{wire_id:20} {kind:10} {deltas:7} {name:17} {plain:10.2f} {own:7.2f} {ratio:6.2f} {verdict}"
                    )
    jsontext.orjson_loads = orjson_loads
    print("\ngrowth of the cost per event from 200 to 10,000 deltas")
    for (wire_id, kind, name), costs in per_event.items():
        print(f"{wire_id:20} {kind:10} {name:17} {costs[10_000] / costs[200]:6.2f}")


if __name__ == "__main__":
    main()
