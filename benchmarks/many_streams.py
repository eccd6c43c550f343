"""Many streams on one client at the pace of live models, against one stream at the same pace.

The server runs in its own process; the client's CPU is counted per event, and each event's delay from the server's
write to its reader. An event that is lost or out of order ends the run. Only the ratios within a run mean anything:
gates are 2.5 for the cost against one stream, and 3 for the 99th percentile of the delay against its median.
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

ROW = "{:10} {:10} {:>9} {:>9} {:>6} {:>9} {:>9} {:>6}"
MODEL = ta.Model("anthropic", "bench", protocol="anthropic-messages")


async def read(client: ta.Client, deltas: int, form: str, delays: list[float]) -> None:
    """Read one stream to its end, in order and whole; note the delay of each event."""
    events = client.stream(MODEL, "hi")
    expected = 0

    def see(event: ta.StreamEvent) -> None:
        nonlocal expected
        if isinstance(event, ta.TextDelta):
            number, sent = event.text.split()
            if int(number) != expected:
                raise SystemExit(f"event {number} came in the place of event {expected}")
            expected += 1
            delays.append((time.monotonic_ns() - int(sent)) / 1e6)

    if form == "async with":
        async with events:
            async for event in events:
                see(event)
    else:
        async for event in events:
            see(event)
    if expected != deltas:
        raise SystemExit(f"{deltas - expected} events of a stream were lost")


async def run(client: ta.Client, streams: int, deltas: int, form: str) -> tuple[float, list[float]]:
    """Microseconds of CPU per event, and the delays in milliseconds."""
    delays: list[float] = []
    start = time.process_time()
    async with anyio.create_task_group() as tasks:
        for _ in range(streams):
            tasks.start_soon(read, client, deltas, form, delays)
    return (time.process_time() - start) / (streams * deltas) * 1e6, delays


def handed(name: str, streams: int) -> Any:
    library = import_module(name)
    limits = library.Limits(max_connections=streams + 10, max_keepalive_connections=100)
    return library.AsyncClient(verify=False, limits=limits)


async def measure(port: int, given: argparse.Namespace) -> None:
    """Measure each client in both forms and print a row for each."""
    backends = [name for name in ("httpx", "httpx2") if find_spec(name)]
    base = f"http://127.0.0.1:{port}/{given.deltas}/{given.milliseconds}"
    print(ROW.format("client", "form", "one us", "many us", "ratio", "median ms", "p99 ms", "ratio"))
    for name in given.clients or ["default", *backends]:
        for form in ("async with", "bare"):
            rows = []
            for _ in range(given.rounds):
                http_client = None if name == "default" else handed(name, given.streams)
                async with ta.Client(api_key="bench", base_url=base, http_client=http_client, retries=0) as client:
                    await run(client, 1, given.deltas, form)  # imports, the first connection
                    one, _ = await run(client, 1, given.deltas, form)
                    many, delays = await run(client, given.streams, given.deltas, form)
                if http_client is not None:
                    await http_client.aclose()
                delays.sort()
                rows.append((one, many, many / one, statistics.median(delays), delays[len(delays) * 99 // 100]))
            one, many, ratio, median, last = (statistics.median(column) for column in zip(*rows, strict=True))
            figures = (f"{figure:.2f}" for figure in (one, many, ratio, median, last, last / median))
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
