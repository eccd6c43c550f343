"""Replies as bytes of the wire, event by event, and as whole bodies; failures as error bodies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import MalformedToolCall, Overloaded, RateLimited
from thinkaloud.messages import StopReason
from thinkaloud.testing import Failure, Reply, ScriptError, encode_stream, encode_whole
from thinkaloud.usage import Usage

CALL = ToolCall("call_1", name="add", arguments_json='{"a":1}')
EMPTY = Usage()


def payloads(events: Sequence[bytes]) -> list[Any]:
    return [json.loads(event.partition(b"data: ")[2]) for event in events if b"[DONE]" not in event]


def anthropic(reply: Reply) -> list[Any]:
    """The payloads between the opening and the ping, and the end."""
    return payloads(encode_stream("anthropic-messages", reply))[2:-2]


def deltas(reply: Reply, **how: Any) -> list[Any]:
    """The deltas between the opening chunk and the finish reason."""
    chunks = payloads(encode_stream("openai-chat", reply, usage=False, **how))
    return [chunk["choices"][0]["delta"] for chunk in chunks[1:-1]]


# anthropic-messages


def test_a_message_is_framed_as_named_events() -> None:
    reply = Reply("Hi", id="msg_1", usage=Usage(input=5, output=3))
    assert encode_stream("anthropic-messages", reply, model="m") == [
        b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message",'
        b'"role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,'
        b'"usage":{"input_tokens":5,"output_tokens":1}}}\n\n',
        b'event: ping\ndata: {"type":"ping"}\n\n',
        b'event: content_block_start\ndata: {"type":"content_block_start","index":0,'
        b'"content_block":{"type":"text","text":""}}\n\n',
        b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,'
        b'"delta":{"type":"text_delta","text":"Hi"}}\n\n',
        b'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
        b'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn",'
        b'"stop_sequence":null,"stop_details":null},"usage":{"input_tokens":5,"output_tokens":3}}\n\n',
        b'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    ]


def test_signed_thinking_has_its_signature_in_one_delta_before_the_stop() -> None:
    assert [event.get("delta") for event in anthropic(Reply([Thinking.signed("So be", "c2ln")]))] == [
        None,
        {"type": "thinking_delta", "thinking": "So"},
        {"type": "thinking_delta", "thinking": " be"},
        {"type": "signature_delta", "signature": "c2ln"},
        None,
    ]


def test_withheld_thinking_is_a_signature_alone() -> None:
    start, signature, _ = anthropic(Reply([Thinking.signed("", "c2ln")]))
    assert start["content_block"] == {"type": "thinking", "thinking": "", "signature": ""}
    assert signature["delta"] == {"type": "signature_delta", "signature": "c2ln"}


def test_a_redacted_block_is_whole_in_its_start() -> None:
    start, stop = anthropic(Reply([Thinking.redacted_payload("b3Bh")]))
    assert start["content_block"] == {"type": "redacted_thinking", "data": "b3Bh"}
    assert stop["type"] == "content_block_stop"


def test_arguments_are_pieces_of_json_text() -> None:
    start, *pieces, _ = anthropic(Reply([CALL], chunk_size=4))
    assert start["content_block"] == {"type": "tool_use", "id": "call_1", "name": "add", "input": {}}
    assert [piece["delta"]["partial_json"] for piece in pieces] == ['{"a"', ":1}"]


def test_citations_follow_their_text() -> None:
    citation = {"type": "char_location", "cited_text": "so"}
    assert anthropic(Reply([Text("So", citations=[citation])]))[2]["delta"] == {
        "type": "citations_delta",
        "citation": citation,
    }


def test_an_opaque_block_goes_out_as_it_is() -> None:
    data: dict[str, Any] = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": "x"}}
    block = Opaque("anthropic-messages", kind="server_tool_use", data=data)
    assert anthropic(Reply([block]))[0]["content_block"] == data


def test_cached_tokens_are_taken_out_of_the_input_of_the_messages_api() -> None:
    usage = Usage(input=100, output=9, reasoning=4, cache_read=50, cache_write=30, cache_write_1h=20)
    body = json.loads(encode_whole("anthropic-messages", Reply("Hi", usage=usage)))
    assert body["usage"] == {
        "input_tokens": 20,
        "cache_creation_input_tokens": 30,
        "cache_read_input_tokens": 50,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 4},
    }


def test_details_of_the_end_stand_in_the_closing_delta() -> None:
    reply = Reply("Hi", stop=StopReason.STOP_SEQUENCE, stop_detail={"stop_sequence": "END"})
    closing = payloads(encode_stream("anthropic-messages", reply))[-2]
    assert closing["delta"] == {"stop_reason": "stop_sequence", "stop_sequence": "END", "stop_details": None}


def test_a_whole_message_has_its_blocks_in_order() -> None:
    reply = Reply([Thinking.signed("So", "c2ln"), Thinking.redacted_payload("b3Bh"), "Hi", CALL], usage=EMPTY, id="i")
    assert json.loads(encode_whole("anthropic-messages", reply, model="m")) == {
        "id": "i",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "thinking", "thinking": "So", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "b3Bh"},
            {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "call_1", "name": "add", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "stop_details": None,
        "usage": {},
    }


def test_an_error_event_takes_the_place_of_the_end() -> None:
    events = payloads(encode_stream("anthropic-messages", Reply("Hi", error=Failure(Overloaded, "busy"))))
    assert [event["type"] for event in events] == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "error",
    ]
    assert events[-1]["error"] == {"type": "overloaded_error", "message": "busy"}


def test_an_error_event_comes_after_so_many_events() -> None:
    events = payloads(encode_stream("anthropic-messages", Reply("Hi", error=Failure(529), error_after=0)))
    assert [event["type"] for event in events] == ["error"]


# openai-chat


def test_a_completion_is_framed_as_chunks_and_done() -> None:
    reply = Reply("Hi", id="c1", usage=Usage(input=5, output=3, reasoning=1, cache_read=2))
    head = b'data: {"id":"c1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":['
    assert encode_stream("openai-chat", reply, model="m") == [
        head + b'{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],'
        b'"usage":null}\n\n',
        head + b'{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"usage":null}\n\n',
        head + b'{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}\n\n',
        head + b'],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8,'
        b'"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":1}}}\n\n',
        b"data: [DONE]\n\n",
    ]


def test_usage_that_was_not_asked_for_is_not_streamed() -> None:
    chunks = payloads(encode_stream("openai-chat", Reply("Hi"), usage=False))
    assert all("usage" not in chunk for chunk in chunks)
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_can_stand_in_a_field_of_its_own(name: Any) -> None:
    reply = Reply([Thinking("So be"), "Hi"])
    assert deltas(reply, thinking_in=name) == [{name: "So"}, {name: " be"}, {"content": "Hi"}]
    message = json.loads(encode_whole("openai-chat", reply, thinking_in=name))["choices"][0]["message"]
    assert (message[name], message["content"]) == ("So be", "Hi")


def test_thinking_can_stand_in_details_with_signatures_and_payloads() -> None:
    reply = Reply([Thinking.signed("So", "c2ln"), Thinking.redacted_payload("b3Bh"), "Hi"])
    known = {"format": "anthropic-claude-v1"}
    assert deltas(reply, thinking_in="reasoning_details") == [
        {
            "reasoning": "",
            "reasoning_details": [{"type": "reasoning.text", "text": "", "signature": "", **known, "index": 0}],
        },
        {"reasoning": "So", "reasoning_details": [{"type": "reasoning.text", "text": "So", **known, "index": 0}]},
        {
            "reasoning": None,
            "reasoning_details": [{"type": "reasoning.text", "signature": "c2ln", **known, "index": 0}],
        },
        {
            "reasoning": None,
            "reasoning_details": [{"type": "reasoning.encrypted", "data": "b3Bh", **known, "index": 1}],
        },
        {"content": "Hi"},
    ]
    body = json.loads(encode_whole("openai-chat", reply, thinking_in="reasoning_details"))
    assert body["choices"][0]["message"]["reasoning_details"] == [
        {"type": "reasoning.text", "text": "So", "signature": "c2ln", **known, "index": 0},
        {"type": "reasoning.encrypted", "data": "b3Bh", **known, "index": 1},
    ]


def test_thinking_can_stand_in_parts_of_the_content() -> None:
    reply = Reply([Thinking("So"), "Hi"])
    assert deltas(reply, thinking_in="content") == [
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "So"}]}]},
        {"content": [{"type": "thinking", "thinking": []}]},
        {"content": "Hi"},
    ]
    message = json.loads(encode_whole("openai-chat", reply, thinking_in="content"))["choices"][0]["message"]
    assert message["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "So"}]},
        {"type": "text", "text": "Hi"},
    ]


def test_thinking_can_stand_between_tags_that_are_cut_anywhere() -> None:
    reply = Reply([Thinking("So"), "Hi"], chunk_size=5)
    assert [delta["content"] for delta in deltas(reply, thinking_in="think_tags")] == [
        "<thin",
        "k>\nSo",
        "</thi",
        "nk>\n\n",
        "Hi",
    ]
    message = json.loads(encode_whole("openai-chat", reply, thinking_in="think_tags"))["choices"][0]["message"]
    assert message["content"] == "<think>\nSo</think>\n\nHi"


def test_calls_are_opened_once_and_then_grow_by_index() -> None:
    other = ToolCall("call_2", name="now")
    assert deltas(Reply([CALL, other], chunk_size=4)) == [
        {
            "tool_calls": [
                {"index": 0, "id": "call_1", "type": "function", "function": {"name": "add", "arguments": ""}}
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]},
        {
            "tool_calls": [
                {"index": 1, "id": "call_2", "type": "function", "function": {"name": "now", "arguments": ""}}
            ]
        },
    ]


def test_a_whole_call_has_its_arguments_as_text() -> None:
    choice = json.loads(encode_whole("openai-chat", Reply([CALL])))["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert choice["message"]["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
    ]


def test_a_refusal_has_a_field_of_its_own() -> None:
    assert deltas(Reply("No.", stop=StopReason.REFUSAL)) == [{"refusal": "No."}]


def test_an_error_object_takes_the_place_of_the_end_and_done_follows() -> None:
    events = encode_stream("openai-chat", Reply("Hi", error=Failure(RateLimited, "slow", code="too_fast")))
    assert json.loads(events[-2][6:]) == {
        "error": {"message": "slow", "type": "too_fast", "param": None, "code": "too_fast"}
    }
    assert events[-1] == b"data: [DONE]\n\n"


# both


@pytest.mark.parametrize("protocol", ["anthropic-messages", "openai-chat"])
def test_text_is_utf_8_and_lone_surrogates_are_escaped(protocol: str) -> None:
    assert "größe" in b"".join(encode_stream(protocol, "größe")).decode()
    assert b"\\ud83d" in b"".join(encode_stream(protocol, "\ud83d"))


@pytest.mark.parametrize("protocol", ["anthropic-messages", "openai-chat"])
def test_a_raw_stop_word_goes_out_as_it_is(protocol: str) -> None:
    assert b'"odd_word"' in b"".join(encode_stream(protocol, Reply("Hi", stop="odd_word")))


def test_a_protocol_that_is_not_spoken_is_a_fault_of_the_script() -> None:
    with pytest.raises(ScriptError, match="does not speak 'smoke-signals'"):
        encode_stream("smoke-signals", "Hi")


UNSAYABLE = {
    "a stop reason without a word": ("anthropic-messages", Reply("Hi", stop=StopReason.CONTENT_FILTER)),
    "a stop reason that chat has not": ("openai-chat", Reply("Hi", stop=StopReason.PAUSE)),
    "a signed call": ("anthropic-messages", Reply([ToolCall("c", name="f", signature="c2ln")])),
    "signed text": ("anthropic-messages", Reply([Text("Hi", signature="c2ln")])),
    "signed text on chat": ("openai-chat", Reply([Text("Hi", signature="c2ln")])),
    "signed thinking in a plain field": ("openai-chat", Reply([Thinking.signed("So", "c2ln")])),
    "a payload in a plain field": ("openai-chat", Reply([Thinking.redacted_payload("b3Bh")])),
    "a block of another wire": ("openai-chat", Reply([Opaque("gemini", kind="x", data={})])),
    "a block of another wire on Anthropic's": ("anthropic-messages", Reply([Opaque("gemini", kind="x", data={})])),
    "a redacted block with text": ("anthropic-messages", Reply([Thinking("So", redacted_data="b3Bh")])),
    "a price on the Messages API": ("anthropic-messages", Reply("Hi", usage=Usage(billed_usd=0.5))),
    "a cache for an hour on chat": ("openai-chat", Reply("Hi", usage=Usage(cache_write_1h=5))),
    "a failure that the wire has not": ("anthropic-messages", Reply("Hi", error=Failure(MalformedToolCall))),
}


def test_a_redacted_block_with_text_is_a_fault_of_the_script_in_details_too() -> None:
    reply = Reply([Thinking("So", redacted_data="b3Bh")])
    for encode in (encode_stream, encode_whole):
        with pytest.raises(ScriptError):
            encode("openai-chat", reply, thinking_in="reasoning_details")


@pytest.mark.parametrize("name", UNSAYABLE)
def test_what_a_wire_cannot_say_is_a_fault_of_the_script(name: str) -> None:
    protocol, reply = UNSAYABLE[name]
    with pytest.raises(ScriptError):
        encode_stream(protocol, reply)
