"""Replies in the frames of Converse, as whole bodies, and as failures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import MalformedToolCall, Overloaded, PermissionDenied, RateLimited
from thinkaloud.messages import StopReason
from thinkaloud.testing import Failure, RecordedRequest, Reply, Scripted, ScriptError, encode_stream, encode_whole
from thinkaloud.testing.chunking import event_ends
from thinkaloud.testing.scripted import Answer
from thinkaloud.usage import Usage
from thinkaloud.wire.awsevents import AwsEventDecoder
from thinkaloud.wire.server_event import ServerEvent

CALL = ToolCall("tooluse_1", name="add", arguments_json='{"a":1}')


def decoded(frames: list[bytes]) -> list[ServerEvent]:
    return AwsEventDecoder().feed(b"".join(frames))


def said(reply: Reply, **how: Any) -> list[tuple[str, Any]]:
    """Names and payloads, without the padding."""
    found = []
    for event in decoded(encode_stream("bedrock-converse", reply, **how)):
        payload = json.loads(event.data)
        if not event.event.startswith(("exception:", "error:")):
            assert payload.pop("p")
        found.append((event.event, payload))
    return found


def test_an_answer_is_framed_event_by_event_with_its_counts_last() -> None:
    reply = Reply("Hi you", usage=Usage(input=5, output=3))
    assert said(reply) == [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hi"}}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": " you"}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
        (
            "metadata",
            {"usage": {"inputTokens": 5, "outputTokens": 3, "totalTokens": 8}, "metrics": {"latencyMs": 7}},
        ),
    ]


def test_only_calls_have_a_start() -> None:
    blocks: list[Any] = [Thinking.signed("So", "c2ln"), Thinking.redacted_payload("b3Bh"), "Hi", CALL]
    events = said(Reply(blocks, chunk_size=4))
    deltas = [payload["delta"] for name, payload in events if name == "contentBlockDelta"]
    starts = [payload["start"] for name, payload in events if name == "contentBlockStart"]
    assert deltas == [
        {"reasoningContent": {"text": "So"}},
        {"reasoningContent": {"signature": "c2ln"}},
        {"reasoningContent": {"redactedContent": "b3Bh"}},
        {"text": "Hi"},
        {"toolUse": {"input": '{"a"'}},
        {"toolUse": {"input": ":1}"}},
    ]
    assert starts == [{"toolUse": {"toolUseId": "tooluse_1", "name": "add"}}]


def test_a_whole_answer_has_its_blocks_in_order() -> None:
    reply = Reply(
        [Thinking.signed("So", "c2ln"), Text("Hi", citations=[{"title": "T"}]), CALL],
        usage=Usage(input=100, output=9, reasoning=4, cache_read=50, cache_write=30, cache_write_1h=20),
        stop_detail={"stop_sequence": "END", "trace": {"guardrail": {}}},
    )
    assert json.loads(encode_whole("bedrock-converse", reply)) == {
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"reasoningContent": {"reasoningText": {"text": "So", "signature": "c2ln"}}},
                    {"citationsContent": {"content": [{"text": "Hi"}], "citations": [{"title": "T"}]}},
                    {"toolUse": {"toolUseId": "tooluse_1", "name": "add", "input": {"a": 1}}},
                ],
            }
        },
        "stopReason": "tool_use",
        "usage": {
            "inputTokens": 20,
            "outputTokens": 9,
            "totalTokens": 109,
            "cacheReadInputTokens": 50,
            "cacheWriteInputTokens": 30,
            "cacheDetails": [{"ttl": "1h", "inputTokens": 20}],
        },
        "metrics": {"latencyMs": 7},
        "additionalModelResponseFields": {
            "stop_sequence": "END",
            "usage": {"output_tokens_details": {"thinking_tokens": 4}},
        },
        "trace": {"guardrail": {}},
    }


def test_the_tokens_of_thinking_are_told_only_where_they_are_asked_for() -> None:
    for paths, told in ((["/usage"], True), ([], False)):
        body = json.dumps({"messages": [], "additionalModelResponseFieldPaths": paths}).encode()
        request = RecordedRequest(method="POST", url="http://x/model/m/converse", body=body)
        answer = Scripted([Reply("Hi", usage=Usage(input=1, output=2, reasoning=1))]).answer(request)
        assert isinstance(answer, Answer)
        assert ("additionalModelResponseFields" in json.loads(answer.events[0])) is told


def test_the_path_tells_the_form_of_the_answer_and_its_type() -> None:
    for path, type in (("converse", "application/json"), ("converse-stream", "application/vnd.amazon.eventstream")):
        request = RecordedRequest(method="POST", url=f"http://x/any/model/a%2Fb/{path}", body=b"{}")
        answer = Scripted(["Hi"]).answer(request)
        assert isinstance(answer, Answer)
        assert answer.headers["content-type"] == type
        assert answer.headers["x-amzn-requestid"] == "req_scripted_1"


def test_an_exception_takes_the_place_of_the_end() -> None:
    *_, last = said(Reply("Hi", error=Failure(RateLimited, "slow down")))
    assert last == ("exception:throttlingException", {"message": "slow down"})
    assert said(Reply("Hi", error=Failure(Overloaded), error_after=0))[0][0] == "exception:serviceUnavailableException"


def test_a_failure_that_a_stream_cannot_model_is_a_plain_error() -> None:
    *_, last = said(Reply("Hi", error=Failure(PermissionDenied, "größe")))
    assert last == ("error:AccessDeniedException", {"message": "größe"})


def test_the_ends_of_events_are_those_of_frames() -> None:
    frames = encode_stream("bedrock-converse", "Hi you")
    body = b"".join(frames)
    assert event_ends(body) == [len(b"".join(frames[: count + 1])) for count in range(len(frames))]
    assert event_ends(body[:-1]) == event_ends(body)[:-1]


UNSAYABLE = {
    "a signed call": Reply([ToolCall("c", name="f", signature="c2ln")]),
    "signed text": Reply([Text("Hi", signature="c2ln")]),
    "a redacted block with text": Reply([Thinking("So", redacted_data="b3Bh")]),
    "a block of another wire": Reply([Opaque("gemini", kind="x", data={})]),
    "a stop reason without a word": Reply("Hi", stop=StopReason.UNKNOWN),
    "a detail without a place": Reply("Hi", stop_detail={"container": {"id": "c"}}),
    "a price": Reply("Hi", usage=Usage(billed_usd=0.5)),
    "a failure that the wire has not": Reply("Hi", error=Failure(MalformedToolCall)),
}


@pytest.mark.parametrize("name", UNSAYABLE)
def test_what_the_wire_cannot_say_is_a_fault_of_the_script(name: str) -> None:
    with pytest.raises(ScriptError):
        encode_stream("bedrock-converse", UNSAYABLE[name])
