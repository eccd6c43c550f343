"""Runs the loopback server with the demonstration's script, in a process of its own: `python -m thinkaloud.testing`."""

from __future__ import annotations

import argparse

import anyio

from thinkaloud.testing.demo import demo_script
from thinkaloud.testing.scripted import Scripted
from thinkaloud.testing.server import serve


async def run(scripted: Scripted, host: str, port: int) -> None:
    """Print the URL, then serve until cancelled."""
    async with serve(scripted, host=host, port=port) as server:
        print(server.url, flush=True)
        await anyio.sleep_forever()


def main() -> None:
    """Read the command line and serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m thinkaloud.testing", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one (default)")
    parser.add_argument("--pace", type=float, default=0.0, help="seconds between two events")
    arguments = parser.parse_args()
    try:
        anyio.run(run, demo_script(pace=arguments.pace), arguments.host, arguments.port)
    except* KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
