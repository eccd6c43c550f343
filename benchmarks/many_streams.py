"""Many streams on one client at the pace of live models, against one stream at the same pace.

The server runs in its own process and begins when all streams are open. Counted are the client's CPU per event, the
time between two events of a stream at its reader, and the delay from the server's write to the reader. An event that is
lost or out of order ends the run. Only the ratios within a run mean anything: gates are 2.5 for the cost against one
stream, and 3 for the 99th percentile of the time between events against its median (the pace).
`python benchmarks/many_streams.py [--streams 500] [--deltas 100] [--milliseconds 50] [--clients ...] [--trio]`
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio

import thinkaloud as ta

COLUMNS = ("client", "form", "one us", "many us", "ratio", "gap ms", "p99", "ratio", "delay ms", "p99")
ROW = "{:8} {:10}" + " {:>8}" * 8


class Seen:
    """What the readers of one round saw: delays and times between events in milliseconds, and when they began."""

    def __init__(self) -> None:
        self.delays: list[float] = []
        self.gaps: list[float] = []
        self.cpu_at_start = 0.0


async def read(client: ta.Client, model: ta.Model, deltas: int, form: str, seen: Seen) -> None:
    """Read one stream to its end, in order and whole."""
    events = client.stream(model, "hi")
    expected, last = 0, 0

    def see(event: ta.StreamEvent) -> None:
        nonlocal expected, last
        if isinstance(event, ta.TextDelta):
            now = time.monotonic_ns()
            number, sent = event.text.split()
            if int(number) != expected:
                raise SystemExit(f"event {number} came in the place of event {expected}")
            if not seen.cpu_at_start:
                seen.cpu_at_start = time.process_time()
            if expected:
                seen.gaps.append((now - last) / 1e6)
            expected, last = expected + 1, now
            seen.delays.append((now - int(sent)) / 1e6)

    if form == "async with":
        async with events:
            async for event in events:
                see(event)
    else:
        async for event in events:
            see(event)
    if expected != deltas:
        raise SystemExit(f"{deltas - expected} events of a stream were lost")


async def run(client: ta.Client, base: str, streams: int, given: argparse.Namespace, form: str) -> tuple[float, Seen]:
    """Microseconds of CPU per event, and what was seen."""
    seen = Seen()
    address = f"{base}/{streams}/{given.deltas}/{given.milliseconds}"
    model = ta.Model("anthropic", "bench", protocol="anthropic-messages", base_url=address)
    async with anyio.create_task_group() as tasks:
        for _ in range(streams):
            tasks.start_soon(read, client, model, given.deltas, form, seen)
    return (time.process_time() - seen.cpu_at_start) / (streams * given.deltas) * 1e6, seen


def handed(name: str, streams: int) -> Any:
    """A client as a user makes it."""
    library = import_module(name)
    limits = library.Limits(max_connections=streams + 10, max_keepalive_connections=100)
    return library.AsyncClient(verify=False, limits=limits)


def middle_and_last(values: list[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    values.sort()
    return statistics.median(values), values[len(values) * 99 // 100]


async def measure(port: int, given: argparse.Namespace) -> None:
    """Measure each client in both forms and print a row for each."""
    backends = [name for name in ("httpx", "httpx2") if find_spec(name)]
    base = f"http://127.0.0.1:{port}"
    print(ROW.format(*COLUMNS))
    for name in given.clients or ["default", *backends]:
        for form in ("async with", "bare"):
            rows = []
            for _ in range(given.rounds):
                http_client = None if name == "default" else handed(name, given.streams)
                async with ta.Client(api_key="bench", http_client=http_client, retries=0) as client:
                    await run(client, base, 1, given, form)  # imports, the first connection
                    one, _ = await run(client, base, 1, given, form)
                    many, seen = await run(client, base, given.streams, given, form)
                if http_client is not None:
                    await http_client.aclose()
                rows.append((one, many, many / one, *middle_and_last(seen.gaps), *middle_and_last(seen.delays)))
            one, many, ratio, gap, last, *delays = (statistics.median(column) for column in zip(*rows, strict=True))
            figures = (f"{figure:.2f}" for figure in (one, many, ratio, gap, last, last / gap, *delays))
            print(ROW.format(name, form, *figures), flush=True)


def main() -> None:
    """Start the server, measure, end the server."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--streams", type=int, default=500)
    arguments.add_argument("--deltas", type=int, default=100)
    arguments.add_argument("--milliseconds", type=int, default=50)
    arguments.add_argument("--rounds", type=int, default=1)
    arguments.add_argument("--clients", nargs="*", help="default, httpx, httpx2; all where it is left out")
    arguments.add_argument("--trio", action="store_true")
    given = arguments.parse_args()
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("paced_server.py"))], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        anyio.run(measure, port, given, backend="trio" if given.trio else "asyncio")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
