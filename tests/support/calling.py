"""A loopback server, and a client of ours on it, on either HTTP library and either protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import thinkaloud as ta
from thinkaloud.testing import Scripted, serve
from thinkaloud.testing.server import Server

MODELS = {"anthropic-messages": "anthropic/claude-opus-5", "openai-chat": "deepseek/deepseek-v4-pro"}


@asynccontextmanager
async def calling(
    script: Any, *, library: str = "httpx", protocol: str = "anthropic-messages", **options: Any
) -> AsyncIterator[tuple[Server, ta.Client]]:
    """Serve a script and give the server and a client that calls it over real HTTP; both end together.

    library: whose client is handed in; "own": the client makes its own.
    options: of the Client; nothing is sent again unless they say so.
    """
    options.setdefault("retries", 0)
    scripted = script if isinstance(script, Scripted) else Scripted(script, repeat_last=True, verify_signatures=True)
    if library == "own":
        options.pop("max_connections", None)
        async with (
            serve(scripted) as server,
            ta.Client(api_key="test-key", base_url=server.base_url(protocol), **options) as client,
        ):
            yield server, client
        return
    module = import_module(library)
    limits = module.Limits(max_connections=options.pop("max_connections", 10))
    async with (
        serve(scripted) as server,
        module.AsyncClient(verify=False, limits=limits) as http_client,
        ta.Client(api_key="test-key", http_client=http_client, base_url=server.base_url(protocol), **options) as client,
    ):
        yield server, client
