"""A stored conversation is the conversation: its format is pinned by golden files, and its next request is the same.

A version may add fields, and no file changes for that; none may go or change. To write a file of a new version, set
THINKALOUD_WRITE_GOLDEN=1. A file of an earlier version is never written anew: what was stored once is read for good.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import thinkaloud as ta
from support.targets import TARGETS, prepared
from thinkaloud.codec import VERSION

GOLDEN = Path(__file__).parent / "golden" / "stored"

ORIGINS = {
    "anthropic-messages": ta.Origin("anthropic-messages", "anthropic", "claude-opus-5"),
    "openai-chat": ta.Origin("openai-chat", "deepseek", "deepseek-v4-pro"),
    "openai-responses": ta.Origin("openai-responses", "openai", "gpt-5.5"),
    "gemini": ta.Origin("gemini", "google", "gemini-3-pro"),
    "bedrock-converse": ta.Origin("bedrock-converse", "bedrock", "us.anthropic.claude-sonnet-4-6"),
}


def conversation(protocol: str) -> ta.Conversation:
    """One of every block, and everything that a message knows."""
    seal = "YStiL2M9ZQ==" if protocol != "openai-chat" else None
    answer = ta.AssistantMessage(
        [
            ta.Thinking("Caf\u00e9 \U0001f514?", signature=seal, extra={"field": "reasoning_content"}),
            ta.Thinking.redacted_payload("cmVkYWN0ZWQ="),
            ta.Text("Let me look.", citations=[{"url": "https://a.example"}]),
            ta.ToolCall("call_1", name="look", arguments_json='{"n":9223372036854775808,"f":1.0}', signature=None),
            ta.Opaque(protocol, kind="future", data={"type": "future", "x": [1, None, True]}),
        ],
        origin=ORIGINS[protocol],
        stop_reason=ta.StopReason.TOOL_USE,
        raw_stop_reason="tool_use",
        stop_detail={"why": None},
        usage=ta.Usage(12, 7, 3),
        cost=ta.Cost(0.5, 0.25),
        response_id="resp_1",
        level=(ta.ThinkingLevel.MAX, ta.ThinkingLevel.HIGH),
        prefix_digest="p1:0",
        notices=[ta.Notice("level_clamped", "max became high", "reasoning", {"asked": "max"})],
        timing=(0.5, 1.25, 2.0),
    )
    shown: list[ta.UserBlock] = [
        ta.Text("See."),
        ta.Image("aGk=", media_type="image/png"),
        ta.Document.from_text("notes", name="n.txt"),
    ]
    return ta.Conversation(
        [ta.UserMessage(shown), answer, ta.ToolResult("call_1", "blue", name="look", is_error=True), "and?"],
        system="Be brief.",
    )


def is_within(old: Any, new: Any) -> bool:
    """Whether all of a JSON value is in another one, which may have further fields."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and is_within(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return isinstance(new, list) and len(old) == len(new) and all(map(is_within, old, new))
    return bool(old == new)


@pytest.mark.parametrize("protocol", ORIGINS)
def test_the_format_is_that_of_the_golden_file(protocol: str) -> None:
    path = GOLDEN / f"v{VERSION}-{protocol}.json"
    if os.environ.get("THINKALOUD_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(conversation(protocol).to_json() + "\n")
    stored = path.read_text()
    assert is_within(json.loads(stored), json.loads(conversation(protocol).to_json()))
    assert ta.Conversation.from_json(stored) == conversation(protocol)


def test_every_file_that_was_ever_written_is_read_and_nothing_of_it_gets_lost() -> None:
    files = sorted(GOLDEN.glob("*.json"))
    assert len(files) >= len(ORIGINS)
    for file in files:
        written = ta.Conversation.from_json(file.read_bytes()).to_json()
        assert is_within(json.loads(file.read_text()), json.loads(written))


@pytest.mark.parametrize("made", ORIGINS)
@pytest.mark.parametrize("goes", TARGETS)
def test_a_loaded_conversation_gives_the_same_bytes_and_notices(made: str, goes: str) -> None:
    before = conversation(made)
    after = ta.Conversation.from_json(ta.Conversation.from_json(before.to_json()).to_json())
    seeing = evolve(TARGETS[goes], input=("text", "image", "pdf"))
    one, other = prepared(seeing, before), prepared(seeing, after)
    assert one.request == other.request
    assert one.notices == other.notices
    assert one.context.prefix_digest == other.context.prefix_digest


def test_fields_and_blocks_of_a_newer_version_survive() -> None:
    data = json.loads(conversation("gemini").to_json())
    data["title"] = "of tomorrow"
    data["messages"][1]["mood"] = {"calm": True}
    data["messages"][1]["content"][0]["weight"] = 3
    data["messages"][1]["content"].append({"type": "hologram", "rays": [1, 2]})
    stored = json.dumps(data)
    loaded = ta.Conversation.from_json(stored)
    assert json.loads(loaded.to_json()) == data
    assert ta.validate(loaded) == ()
    assert ("block_omitted", "messages[1].content[5]") in [
        (notice.code, notice.path) for notice in prepared(TARGETS["gemini"], loaded).notices
    ]


def test_a_list_of_messages_is_a_conversation_too() -> None:
    assert ta.Conversation.from_json('[{"role":"user","content":[{"type":"text","text":"hi"}]}]') == ta.Conversation(
        "hi"
    )


@pytest.mark.parametrize(
    ("damaged", "path"),
    [
        ("", ""),
        ("null", ""),
        ("7", ""),
        ('{"messages":7}', "messages"),
        ('{"messages":[7]}', "messages[0]"),
        ('{"messages":[{"role":"robot"}]}', "messages[0].role"),
        ('{"messages":[{"role":"user","content":[{"type":"text"}]}]}', "messages[0].content[0].text"),
        ('{"messages":[{"role":"assistant","content":[],"origin":[]}]}', "messages[0].origin"),
        ('{"messages":[],"system":1}', "system"),
        ('{"messages":[],"version":99}', "version"),
        ('{"role":"user","content":[]}', ""),
        ("[" * 100_000, ""),
        ('{"messages":' + '[{"a":' * 50_000, ""),
        ('{"messages":[{"role":"user","content":[{"type":"text","text":"' + "x" * 1000, ""),
    ],
)
def test_damaged_json_is_told_with_its_path(damaged: str, path: str) -> None:
    with pytest.raises(ta.CodecError) as caught:
        ta.Conversation.from_json(damaged)
    assert caught.value.path == path
    assert len(str(caught.value)) < 400


def test_deep_fields_are_loaded_and_refused_where_they_would_be_sent() -> None:
    text = '{"messages":[{"role":"user","content":[{"type":"text","text":"hi","extra":{"cache_control":%s}}]}]}'
    loaded = ta.Conversation.from_json(text % ("[" * 600 + "]" * 600))
    assert json.loads(loaded.to_json())["messages"][0]["content"][0]["text"] == "hi"
    assert prepared(TARGETS["gemini"], loaded).request.body  # it has no place for the field
