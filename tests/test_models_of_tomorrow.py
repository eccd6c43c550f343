"""A model that nobody knows yet works at every provider: the level goes as its family or its endpoint takes it."""

from __future__ import annotations

import pytest

import thinkaloud as ta
from thinkaloud.models.providers import PROVIDERS
from thinkaloud.testing import Reply, Scripted, serve

WIRES = ("gemini", "openai-chat", "openai-responses")
SURFACES = [(row.id, protocol) for row in PROVIDERS.values() for protocol in row.protocols if protocol in WIRES]
# What an endpoint with a set of its own sends for the level that is asked here, xhigh.
NEAREST = {
    **dict.fromkeys(("deepseek", "moonshotai"), "max"),
    **dict.fromkeys(("google", "google-vertex"), "high"),
    **dict.fromkeys(("mistral", "zai", "together", "fireworks", "perplexity", "gemini-openai"), "high"),
    **dict.fromkeys(("vllm", "sglang", "ollama", "ollama-cloud"), "high"),
}
IDS = {"google": "gemini-9-dream", "google-vertex": "gemini-9-dream"}


@pytest.mark.anyio
@pytest.mark.parametrize(("provider", "protocol"), SURFACES)
async def test_it_answers_and_its_level_is_told(provider: str, protocol: str) -> None:
    scripted = Scripted([Reply([ta.Thinking("Hm."), ta.Text("Yes.")])])
    async with serve(scripted) as server, ta.Client(api_key="k", base_url=server.base_url(protocol)) as client:
        model = ta.Model(provider, IDS.get(provider, "dream-9"), protocol=protocol)
        message = await client.complete(model, "Is it?", reasoning="xhigh", max_tokens=500)
    assert (message.thinking, message.text) == ("Hm.", "Yes.")
    assert message.level.asked is ta.ThinkingLevel.XHIGH
    assert message.level.sent is ta.ThinkingLevel(NEAREST.get(provider, "xhigh"))
    codes = {notice.code for notice in message.notices}
    assert codes <= {"unknown_model", "level_clamped"}
    assert ("level_clamped" in codes) is (provider in NEAREST)
