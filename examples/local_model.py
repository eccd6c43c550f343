"""Gives the examples clients: of the real providers, or of a scripted model on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import thinkaloud as ta
from thinkaloud.testing import demo_script, serve


@asynccontextmanager
async def clients_for(
    local: bool, models: Sequence[str], *, tools: Sequence[ta.Tool] = ()
) -> AsyncIterator[list[ta.Client]]:
    """A client for each model, for as long as the context lasts.

    local: serve a scripted model here, which speaks the protocol of each, needs no key, and verifies the thinking that
        comes back to it.
    """
    async with AsyncExitStack() as opened:
        if not local:
            yield [await opened.enter_async_context(ta.Client(tools=tools)) for _ in models]
            return
        server = await opened.enter_async_context(serve(demo_script(pace=0.01, verify_signatures=True)))
        clients = []
        for model in models:
            protocol = ta.prepare(model, "Hi", base_url="http://localhost").model.protocol or ""
            client = ta.Client(api_key="none", base_url=server.base_url(protocol), tools=tools)
            clients.append(await opened.enter_async_context(client))
        yield clients


@asynccontextmanager
async def client_for(
    local: bool, *, tools: Sequence[ta.Tool] = (), model: str = "anthropic/claude-opus-5"
) -> AsyncIterator[ta.Client]:
    """As `clients_for`, for one model."""
    async with clients_for(local, [model], tools=tools) as (client,):
        yield client
