"""Events out of order, blocks that were never seen, and arguments of the wrong kind: each is refused in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.ui import ByteStream, EventResponse, LiveAnswer, MemoryStore, agui, failure_of, sse, vercel
from thinkaloud.ui.encoder import AnswerEncoder

ENCODERS = [vercel.Encoder, agui.Encoder, sse.Encoder]
ODD: list[list[ta.StreamEvent]] = [
    [ta.TextDelta(0, "a")],
    [ta.ThinkingDelta(0, "a")],
    [ta.ToolCallDelta(0, "{}")],
    [ta.TextEnd(0, ta.Text("a"))],
    [ta.ThinkingEnd(0, ta.Thinking("a"))],
    [ta.ToolCallEnd(0, ta.ToolCall.of("c", "f", {}))],
    [ta.TextStart(0), ta.ThinkingDelta(0, "a")],
    [ta.TextStart(0), ta.TextStart(0)],
]


@pytest.mark.parametrize("make", ENCODERS)
@pytest.mark.parametrize("events", ODD, ids=lambda events: "-".join(type(event).__name__ for event in events))
def test_an_event_of_a_block_that_is_not_open_is_refused_and_the_answer_can_still_fail(
    make: type[AnswerEncoder], events: list[ta.StreamEvent]
) -> None:
    encoder = make()
    encoder.feed(ta.StreamStart())
    for event in events[:-1]:
        encoder.feed(event)
    with pytest.raises(ta.ConfigurationError, match="block 0"):
        encoder.feed(events[-1])
    assert encoder.fail(ta.StreamAborted())
    assert encoder.ended


@pytest.mark.parametrize("make", ENCODERS)
def test_an_answer_fails_well_behind_a_block_whose_turn_came_out_of_sight(make: type[AnswerEncoder]) -> None:
    encoder = make()
    for event in (ta.StreamStart(), ta.TextStart(1), ta.TextDelta(1, "half a word")):
        encoder.feed(event)
    assert b"".join(encoder.fail(ta.TruncatedStream("cut")))
    assert [block for message in encoder.messages for block in message.content] == [
        ta.Text("half a word", complete=False)
    ]


def test_a_result_without_a_form_in_json_is_refused_with_its_path() -> None:
    part = {"type": "tool-f", "toolCallId": "c", "state": "output-available", "input": {}, "output": float("nan")}
    messages = [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
        {"id": "2", "role": "assistant", "parts": [part]},
    ]
    with pytest.raises(ta.CodecError, match=r"messages\[1\]\.parts\[0\]\.output has no form in JSON"):
        vercel.read_request({"id": "chat", "messages": messages})


class Silent:
    async def __aenter__(self) -> Any: ...
    async def __aexit__(self, *error: object) -> None: ...


@pytest.mark.parametrize("heartbeat", [0, -1, True, "1", float("nan")])
def test_a_heartbeat_that_is_no_time_is_refused(heartbeat: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match="heartbeat"):
        EventResponse(Silent(), sse.Encoder(), heartbeat=heartbeat)


@pytest.mark.parametrize("headers", [3, {"a": "b\r\nc: d"}, {"a\n": "b"}, {"a": "\u20ac"}, {"a": 1}])
def test_headers_that_no_server_can_send_are_refused(headers: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match="headers"):
        EventResponse(Silent(), sse.Encoder(), headers=headers)


@pytest.mark.parametrize("limit", [0, True, "many", 1.5])
def test_a_store_of_no_size_is_refused(limit: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match="limit"):
        MemoryStore(limit=limit)


@pytest.mark.anyio
async def test_a_last_event_that_is_no_text_is_refused() -> None:
    place: Any = 3
    with pytest.raises(ta.ConfigurationError, match="last_event_id"):
        LiveAnswer(Silent(), sse.Encoder(ids=True)).response(place)


WRONG: Any = 3
A_STREAM = "source must be a stream for `async with`, such as thinkaloud.stream"
AN_ENCODER = "encoder must be an encoder such as vercel.Encoder"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: EventResponse(WRONG, sse.Encoder()), A_STREAM + r"\(...\), not 3"),
        (lambda: EventResponse(ta.complete, sse.Encoder()), A_STREAM),  # type: ignore[arg-type]
        (lambda: EventResponse(Silent(), WRONG), AN_ENCODER + r"\(\), not 3"),
        (lambda: EventResponse(Silent(), vercel.Encoder), AN_ENCODER + r"\(\), not the class Encoder"),  # type: ignore[arg-type]
        (lambda: ByteStream(Silent(), sse.Encoder()), "source must be a stream for `async for`"),  # type: ignore[arg-type]
        (lambda: ByteStream(ta.stream("vllm/m", "hi"), vercel.Encoder), AN_ENCODER),  # type: ignore[arg-type]
        (lambda: LiveAnswer(WRONG, sse.Encoder()), A_STREAM),
        (lambda: LiveAnswer(Silent(), sse.Encoder), AN_ENCODER),  # type: ignore[arg-type]
        (lambda: LiveAnswer(Silent(), sse.Encoder(), limit=0), "limit=0 must be a whole number above 0"),
        (lambda: failure_of(WRONG), "error must be an exception, not int"),
        (lambda: sse.Encoder(retry=WRONG - 4), "retry=-1 must be a whole number, 0 or more"),
        (lambda: sse.Encoder(ids=WRONG), "ids must be True or False, not 3"),
        (lambda: sse.Encoder(names=WRONG), "names must be True or False, not 3"),
        (lambda: vercel.Encoder(dynamic_tools=WRONG), "dynamic_tools must be a sequence, not int"),
        (lambda: vercel.Encoder(dynamic_tools="search"), "dynamic_tools must be True, False or names of tools"),
        (lambda: vercel.Encoder(dynamic_tools=[WRONG]), "dynamic_tools must be True, False or names of tools"),
        (lambda: agui.Encoder(thread_id=WRONG), "thread_id must be a string, or None, not int"),
        (lambda: agui.Encoder(run_id=WRONG), "run_id must be a string, or None, not int"),
        (lambda: agui.Encoder(protocol_version=WRONG), "protocol_version must be a string, or None, not int"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_refused_by_its_name(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=told):
        make()


@pytest.mark.parametrize("make", ENCODERS)
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"message_id": 3}, "message_id must be a string, or None, not int"),
        ({"store": 3}, "store must have load and save, as a MemoryStore, not 3"),
        ({"store": MemoryStore}, "store must have load and save, as a MemoryStore, not the class MemoryStore"),
        ({"include_signatures": "no"}, "include_signatures must be True or False, not 'no'"),
        ({"earlier": 3}, "earlier must be a sequence, not int"),
        ({"earlier": ["hi"]}, r"earlier\[0\] must be an AssistantMessage or a ToolResult, not str"),
    ],
)
def test_every_encoder_refuses_what_it_cannot_take(make: Any, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=told):
        make(**arguments)
