"""A chat in the browser that shows how a model thinks, on asyncio and on trio.

Run it with a scripted model on this machine, or with real ones, whose keys come from the environment:

    python examples/web_chat --local
    python examples/web_chat anthropic/claude-opus-5 openai/gpt-5.2 --trio

It needs `pip install starlette uvicorn`, and for trio `pip install starlette hypercorn trio`.
"""

from __future__ import annotations

import argparse
import logging
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

import thinkaloud as ta
from app import create_app
from scripted_model import scripted_model
from thinkaloud.testing import serve

# One model for each wire, so that a chat can switch between them.
SCRIPTED = {"anthropic/claude-opus-5": "anthropic-messages", "openai/gpt-5.2": "openai-responses"}


@asynccontextmanager
async def asked(models: Sequence[str], local: bool) -> AsyncIterator[tuple[ta.Client, Mapping[str, dict[str, Any]]]]:
    """The client and the models that the page offers."""
    if local:
        async with serve(scripted_model()) as server, ta.Client(api_key="none") as client:
            yield client, {name: {"base_url": server.base_url(wire)} for name, wire in SCRIPTED.items()}
    else:
        async with ta.Client() as client:
            for name in models:
                client.stream(name, "Hello")  # tells a wrong name or a missing key now; nothing is sent
            yield client, {name: {} for name in models}


async def main(arguments: argparse.Namespace) -> None:
    """Serve until interrupted."""
    with socket.create_server((arguments.host, arguments.port)) as listener:
        address = f"{arguments.host}:{listener.getsockname()[1]}"
        hosts = ("localhost", "127.0.0.1", arguments.host)
        async with asked(arguments.models, arguments.local) as (client, models):
            app = create_app(client, models, hosts=hosts, scripted=arguments.local)
            print(f"Open http://{address} in a browser.", flush=True)
            await (_on_trio if arguments.trio else _on_asyncio)(app, listener)


async def _on_asyncio(app: Any, listener: socket.socket) -> None:
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=1)
    await uvicorn.Server(config).serve(sockets=[listener])


async def _on_trio(app: Any, listener: socket.socket) -> None:
    from hypercorn.config import Config
    from hypercorn.trio import serve as serve_app

    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.graceful_timeout = 1
    config.loglevel = "WARNING"
    await serve_app(app, config)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="web_chat", description="A chat that shows how a model thinks.")
    parser.add_argument("models", nargs="*", metavar="PROVIDER/MODEL", help="such as anthropic/claude-opus-5")
    parser.add_argument("--local", action="store_true", help="a scripted model on this machine, without a key")
    parser.add_argument("--host", default="127.0.0.1", help="for this machine alone: %(default)s")
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one (%(default)s)")
    parser.add_argument("--trio", action="store_true", help="run on trio in place of asyncio")
    arguments = parser.parse_args()
    if not arguments.models and not arguments.local:
        parser.error("name a model, or use --local")
    return arguments


if __name__ == "__main__":
    given = _arguments()
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    try:
        anyio.run(main, given, backend="trio" if given.trio else "asyncio")
    except KeyboardInterrupt:
        sys.exit(130)
    except ta.ConfigurationError as error:
        sys.exit(f"web_chat: {error}")
