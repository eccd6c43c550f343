"""Gives the examples a client: of the real providers, or of a scripted model on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import thinkaloud as ta
from thinkaloud.testing import demo_script, serve


@asynccontextmanager
async def client_for(local: bool, *, tools: Sequence[ta.Tool] = ()) -> AsyncIterator[ta.Client]:
    """A client for as long as the context lasts. local: serve a scripted model here, which needs no key."""
    if not local:
        async with ta.Client(tools=tools) as client:
            yield client
        return
    async with (
        serve(demo_script(pace=0.01)) as server,
        ta.Client(api_key="none", base_url=server.base_url("anthropic-messages"), tools=tools) as client,
    ):
        yield client
