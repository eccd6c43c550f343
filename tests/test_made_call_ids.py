"""A call without an id gets one that no call of another turn has: it tells what stands before its answer."""

from __future__ import annotations

import pytest

import thinkaloud as ta
from support.targets import TARGETS
from thinkaloud.jsontext import dumps
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.call_ids import made_id
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol

WHOLE = {
    "anthropic-messages": {
        "content": [{"type": "tool_use", "id": "", "name": "look", "input": {}}],
        "stop_reason": "tool_use",
    },
    "bedrock-converse": {
        "output": {"message": {"role": "assistant", "content": [{"toolUse": {"name": "look", "input": {}}}]}},
        "stopReason": "tool_use",
    },
    "gemini": {
        "candidates": [{"content": {"parts": [{"functionCall": {"name": "look"}}]}, "finishReason": "STOP"}],
    },
    "openai-chat": {
        "choices": [
            {
                "message": {"tool_calls": [{"type": "function", "function": {"name": "look", "arguments": "{}"}}]},
                "finish_reason": "tool_calls",
            }
        ],
    },
    "openai-responses": {
        "status": "completed",
        "output": [{"type": "function_call", "name": "look", "arguments": "{}", "status": "completed"}],
    },
}


def id_behind(protocol: str, prefix_digest: str | None) -> str:
    context = ParseContext(origin=ta.Origin(protocol, TARGETS[protocol].provider), prefix_digest=prefix_digest)
    reader = Reader(wire_protocol(protocol), context)
    reader.feed(dumps(WHOLE[protocol]).encode())
    reader.close()
    assert reader.error is None, reader.error
    assert reader.message is not None
    (call,) = reader.message.tool_calls
    return call.id


@pytest.mark.parametrize("protocol", sorted(TARGETS))
def test_it_differs_from_turn_to_turn_and_is_the_same_in_one(protocol: str) -> None:
    ids = [id_behind(protocol, digest) for digest in ("p1:one", "p1:two", "p1:one", None)]
    assert ids[0] == ids[2]
    assert len({*ids}) == 3
    assert all(0 < len(id) <= 64 for id in ids)


def test_it_is_made_of_the_answers_own_id_where_it_has_one() -> None:
    assert made_id("call", 2, answer="resp_1", prefix_digest="p1:one") == "call_resp_1_2"
    assert made_id("tooluse", 1) == "tooluse_unnamed_1"
    assert ":" not in made_id("tooluse", 1, prefix_digest="p1:one")
