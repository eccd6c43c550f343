"""The JSON of messages, conversations and events, field by field: other programs read it too."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, get_args

import pytest

from thinkaloud import codec
from thinkaloud.content import Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.events import (
    OpaqueBlock,
    Progress,
    StreamEnd,
    StreamEvent,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import (
    AssistantMessage,
    Conversation,
    LevelChoice,
    Origin,
    StopReason,
    Timing,
    ToolResult,
    UserMessage,
)
from thinkaloud.notices import Notice
from thinkaloud.usage import Cost, Usage

TEXT: dict[str, Any] = {"type": "text", "text": "hi", "signature": None, "citations": [], "complete": True, "extra": {}}


def written(value: codec.Value) -> Any:
    return json.loads(codec.dumps(value))


def test_an_assistant_message_has_all_its_fields() -> None:
    message = AssistantMessage(
        (
            Thinking.signed("hm", "c2ln"),
            Thinking.redacted_payload("cGF5"),
            Text("hi", citations=[{"url": "u"}]),
            ToolCall("call_1", name="look", arguments_json='{"q":1}', signature="Y2Fs", extra={"index": 0}),
            Opaque("anthropic-messages", kind="fallback", data={"type": "fallback"}, complete=False),
        ),
        origin=Origin("anthropic-messages", "anthropic", "claude-test"),
        stop_reason=StopReason.TOOL_USE,
        raw_stop_reason="tool_use",
        stop_detail={"why": "call"},
        usage=Usage(input=100, output=50, reasoning=30, cache_read=20, cache_write=10, cache_write_1h=5),
        cost=Cost(input=0.5, output=0.25),
        response_id="msg_1",
        level=LevelChoice(ThinkingLevel.MAX, ThinkingLevel.HIGH),
        prefix_digest="v1:ab",
        content_digest="v1:cd",
        notices=(Notice("level_clamped", "max became high", "reasoning", {"sent": "high"}),),
        timing=Timing(0.5, None, 2.0),
    )
    assert written(message) == {
        "version": 1,
        "role": "assistant",
        "content": [
            {
                "type": "thinking",
                "text": "hm",
                "signature": "c2ln",
                "redacted_data": None,
                "complete": True,
                "extra": {},
            },
            {
                "type": "thinking",
                "text": "",
                "signature": None,
                "redacted_data": "cGF5",
                "complete": True,
                "extra": {},
            },
            {**TEXT, "citations": [{"url": "u"}]},
            {
                "type": "tool_call",
                "id": "call_1",
                "name": "look",
                "arguments_json": '{"q":1}',
                "signature": "Y2Fs",
                "complete": True,
                "extra": {"index": 0},
            },
            {
                "type": "opaque",
                "protocol": "anthropic-messages",
                "kind": "fallback",
                "data": {"type": "fallback"},
                "complete": False,
            },
        ],
        "origin": {"protocol": "anthropic-messages", "provider": "anthropic", "model": "claude-test"},
        "stop_reason": "tool_use",
        "raw_stop_reason": "tool_use",
        "stop_detail": {"why": "call"},
        "usage": {
            "input": 100,
            "output": 50,
            "reasoning": 30,
            "cache_read": 20,
            "cache_write": 10,
            "cache_write_1h": 5,
            "billed_usd": None,
        },
        "cost": {"input": 0.5, "output": 0.25, "cache_read": None, "cache_write": None},
        "response_id": "msg_1",
        "level": {"asked": "max", "sent": "high"},
        "prefix_digest": "v1:ab",
        "content_digest": "v1:cd",
        "notices": [
            {
                "type": "notice",
                "code": "level_clamped",
                "text": "max became high",
                "path": "reasoning",
                "detail": {"sent": "high"},
            }
        ],
        "timing": {"first_event": 0.5, "thinking": None, "total": 2.0},
    }


def test_a_user_message_has_a_role_and_content() -> None:
    message = UserMessage(
        [Text("hi"), Image("aGk=", media_type="image/png"), Document.from_url("https://a.example/b.pdf", name="b")]
    )
    assert written(message) == {
        "version": 1,
        "role": "user",
        "content": [
            TEXT,
            {"type": "image", "data": "aGk=", "media_type": "image/png", "url": None, "extra": {}},
            {
                "type": "document",
                "data": None,
                "media_type": None,
                "text": None,
                "url": "https://a.example/b.pdf",
                "name": "b",
                "extra": {},
            },
        ],
    }


def test_a_tool_result_has_the_role_tool() -> None:
    assert written(ToolResult("call_1", "hi", name="look", is_error=True)) == {
        "version": 1,
        "role": "tool",
        "call_id": "call_1",
        "content": [TEXT],
        "name": "look",
        "is_error": True,
    }


def test_a_conversation_has_its_messages_and_its_system_text() -> None:
    assert written(Conversation("hi", system="Be brief.")) == {
        "version": 1,
        "messages": [{"role": "user", "content": [TEXT]}],
        "system": "Be brief.",
    }


EVENTS: list[tuple[StreamEvent, dict[str, Any]]] = [
    (
        StreamStart("msg_1", Origin("p", "q", "m"), LevelChoice(ThinkingLevel.LOW, None), "v1:ab"),
        {
            "type": "stream_start",
            "response_id": "msg_1",
            "origin": {"protocol": "p", "provider": "q", "model": "m"},
            "level": {"asked": "low", "sent": None},
            "prefix_digest": "v1:ab",
        },
    ),
    (ThinkingStart(0), {"type": "thinking_start", "index": 0}),
    (ThinkingDelta(0, "hm"), {"type": "thinking_delta", "index": 0, "text": "hm"}),
    (
        ThinkingEnd(0, Thinking("hm")),
        {
            "type": "thinking_end",
            "index": 0,
            "block": {
                "type": "thinking",
                "text": "hm",
                "signature": None,
                "redacted_data": None,
                "complete": True,
                "extra": {},
            },
        },
    ),
    (TextStart(1), {"type": "text_start", "index": 1}),
    (TextDelta(1, "hi"), {"type": "text_delta", "index": 1, "text": "hi"}),
    (TextEnd(1, Text("hi")), {"type": "text_end", "index": 1, "block": TEXT}),
    (ToolCallStart(2, "c", "look"), {"type": "tool_call_start", "index": 2, "id": "c", "name": "look"}),
    (ToolCallDelta(2, "{"), {"type": "tool_call_delta", "index": 2, "json": "{"}),
    (
        ToolCallEnd(2, ToolCall("c", name="look", arguments_json="{", complete=False)),
        {
            "type": "tool_call_end",
            "index": 2,
            "call": {
                "type": "tool_call",
                "id": "c",
                "name": "look",
                "arguments_json": "{",
                "signature": None,
                "complete": False,
                "extra": {},
            },
        },
    ),
    (
        OpaqueBlock(3, Opaque("p", kind="k", data={"a": 1})),
        {
            "type": "opaque_block",
            "index": 3,
            "block": {"type": "opaque", "protocol": "p", "kind": "k", "data": {"a": 1}, "complete": True},
        },
    ),
    (
        UsageUpdate(Usage(output=5), Cost(output=0.5)),
        {
            "type": "usage_update",
            "usage": {
                "input": None,
                "output": 5,
                "reasoning": None,
                "cache_read": None,
                "cache_write": None,
                "cache_write_1h": None,
                "billed_usd": None,
            },
            "cost": {"input": None, "output": 0.5, "cache_read": None, "cache_write": None},
        },
    ),
    (Progress(7), {"type": "progress", "tokens": 7}),
    (Notice("retrying", "again"), {"type": "notice", "code": "retrying", "text": "again", "path": "", "detail": {}}),
    (
        StreamEnd(StopReason.END, "end_turn", {"a": 1}),
        {
            "type": "stream_end",
            "stop_reason": "end",
            "raw_stop_reason": "end_turn",
            "stop_detail": {"a": 1},
            "message": None,
        },
    ),
]


@pytest.mark.parametrize(("event", "shape"), EVENTS, ids=lambda it: it["type"] if isinstance(it, dict) else "")
def test_an_event_has_its_type_and_its_fields(event: StreamEvent, shape: dict[str, Any]) -> None:
    assert written(event) == {"version": 1, **shape}


def test_every_event_is_in_the_table() -> None:
    assert {type(event) for event, _ in EVENTS} == set(get_args(StreamEvent))


def test_the_end_carries_its_message_with_its_role() -> None:
    end = StreamEnd(StopReason.END, message=AssistantMessage("hi"))
    assert written(end)["message"]["role"] == "assistant"


def test_the_json_is_one_line_of_ascii() -> None:
    text = codec.dumps(UserMessage("é\n😀\u2028"))
    assert text.isascii()
    assert len(text.splitlines()) == 1


def test_fields_with_defaults_may_be_missing() -> None:
    text = '{"role":"assistant","content":[{"type":"thinking"},{"type":"tool_call","id":"c","name":"n"}]}'
    assert codec.loads(text) == AssistantMessage([Thinking(), ToolCall("c", name="n")])
    assert codec.loads('{"role":"tool","call_id":"c"}') == ToolResult("c")
    assert codec.loads('{"messages":[]}') == Conversation()
    assert codec.loads('{"type":"stream_start"}') == StreamStart()


def test_a_missing_version_is_the_first() -> None:
    assert codec.loads('{"role":"user","content":[]}') == codec.loads('{"version":1,"role":"user","content":[]}')


def test_bytes_are_read_as_utf8() -> None:
    assert codec.loads(codec.dumps(UserMessage("é")).encode()) == UserMessage("é")


def test_data_is_fresh_and_shares_nothing_with_the_message() -> None:
    message = AssistantMessage([Text("hi", extra={"ids": [1]})], stop_detail={"a": [1]})
    data: Any = codec.to_data(message)
    data["content"][0]["extra"]["ids"].append(2)
    data["stop_detail"]["a"].append(2)
    assert message == AssistantMessage([Text("hi", extra={"ids": [1]})], stop_detail={"a": [1]})


def test_a_message_shares_nothing_with_the_data_it_was_read_from() -> None:
    message = AssistantMessage([Text("hi", extra={"ids": [1]})])
    data: Any = codec.to_data(message)
    data["mood"] = newer = ["calm"]
    loaded = codec.from_data(data)
    data["content"][0]["extra"]["ids"].append(2)
    newer.append("wild")
    assert loaded == message
    assert codec.to_data(loaded)["mood"] == ["calm"]


@pytest.mark.parametrize("value", [None, "text", {"role": "user"}, [UserMessage("hi")], Text("hi"), Usage()])
def test_only_messages_conversations_and_events_are_written(value: Any) -> None:
    with pytest.raises(TypeError, match="wanted"):
        codec.dumps(value)


def test_importing_the_codec_does_not_import_cattrs() -> None:
    code = "import sys, thinkaloud.codec; sys.exit('cattrs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
