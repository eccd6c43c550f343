"""`thinkaloud serve`: the demonstration's scripted model as a local server, for clients of every protocol."""

from __future__ import annotations

import argparse
import sys
from contextlib import AsyncExitStack

from thinkaloud.cli.arguments import WrongUse, port, seconds
from thinkaloud.cli.output import Output, reason

HELP = "serve the demonstration's scripted model on this machine, for clients of every protocol"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--port", type=port, default=0, metavar="N", help="0 takes a free one (the default)")
    parser.add_argument("--pace", type=seconds, default=0.03, metavar="S", help="seconds between words (%(default)s)")
    parser.add_argument(
        "--verify", action="store_true", help="refuse a history whose thinking is not given back as it was issued"
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out: serve until interrupted."""
    import anyio

    anyio.run(_serve, arguments.port, arguments.pace, arguments.verify)
    return 0


async def _serve(port: int, pace: float, verify: bool) -> None:
    import anyio

    from thinkaloud.testing.demo import DEMO_MODEL, demo_script
    from thinkaloud.testing.server import serve
    from thinkaloud.testing.wires import ENCODERS

    out = Output(sys.stdout)
    async with AsyncExitStack() as stack:
        try:
            script = demo_script(pace=pace, verify_signatures=verify)
            server = await stack.enter_async_context(serve(script, port=port))
        except OSError as error:
            raise WrongUse(f"port {port} cannot be used: {reason(error)}") from None
        out.line(server.url)
        for protocol in ENCODERS:
            out.line(f"  {protocol}: base URL {server.base_url(protocol)}")
        out.line(
            f"To call it: export ANTHROPIC_BASE_URL={server.base_url('anthropic-messages')} ANTHROPIC_API_KEY=none"
        )
        out.line(f"Any key and any model will do, such as {DEMO_MODEL}. Ctrl-C ends it.")
        await anyio.sleep_forever()
