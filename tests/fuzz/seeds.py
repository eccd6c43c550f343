"""The seeds of the protocols: answers with every feature that a wire can say, and recorded ones where there are any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import thinkaloud as ta
from support.shared import cases, recordings
from support.streams import LITERAL
from thinkaloud.testing import Reply, encode_stream, encode_whole
from thinkaloud.testing.encoding import ThinkingIn
from thinkaloud.testing.reply import ScriptError

PROTOCOLS = ("anthropic-messages", "bedrock-converse", "gemini", "openai-chat", "openai-responses")

ERROR = b'{"error": {"type": "invalid_request_error", "code": 400, "message": "prompt is too long", "details": [{}]}}'

_LARGEST = 40_000  # bytes of a recorded seed
_PACKED = {"other": "anthropic-messages"}  # recorded in frames of AWS

_SIGNED = ta.Thinking.signed("Let me see. \U0001f914", "c2lnbmF0dXJl")
_PLAIN = ta.Thinking("Hm, größe.")
_CALL = ta.ToolCall(
    "call_1", name="search", arguments_json='{"q": "weather", "n": [1, {"a": null}], "big": 12345678901234567890}'
)
_NOW = ta.ToolCall("call_2", name="now", arguments_json="{}")
_CITED = ta.Text("Sourced.", citations=[{"type": "url_citation", "url": "https://example.org", "title": "A"}])
_USAGE = ta.Usage(input=100, output=50, reasoning=20, cache_read=30)

# What is tried on every wire; what one cannot say is left out there.
_CONTENTS: tuple[list[Any], ...] = (
    [_SIGNED, "The answer is 42.", _CALL],
    [_PLAIN, "First. ", _CALL, _NOW],
    [ta.Thinking.redacted_payload("cmVkYWN0ZWQ="), _SIGNED, ta.Thinking("", signature="d2l0aGhlbGQ="), "Seen."],
    ["One, ", _CITED, "two."],
    [ta.Text("Signed.", signature="dGV4dA==")],
    [ta.ToolCall("call_3", name="add", arguments_json='{"a": 1}', signature="Y2FsbA=="), "Done."],
    [ta.ToolCall("call_4", name="shell", arguments_json="ls -l", extra={"type": "custom"}), _NOW],
    ["Part one.", ta.Text("I will not.", extra={"type": "refusal"})],
    [],
)
_OPAQUE: dict[str, tuple[dict[str, Any], ...]] = {
    "anthropic-messages": (
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "sky"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"title": "Sky"}]},
        {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
    ),
    "bedrock-converse": (
        {"toolUse": {"toolUseId": "t1", "name": "nova_search", "input": {"q": "x"}, "type": "server_tool_use"}},
        {"toolResult": {"toolUseId": "t1", "type": "nova_result", "content": [{"json": {"a": 1}}]}},
        {"image": {"format": "png", "source": {"bytes": "aWk="}}},
    ),
    "gemini": (
        {"executableCode": {"language": "PYTHON", "code": "2+2"}, "thoughtSignature": "Y29kZQ=="},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4"}},
        {"inlineData": {"mimeType": "image/png", "data": "aWk="}},
    ),
    "openai-chat": ({"type": "reference", "reference_ids": [1]},),
    "openai-responses": (
        {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"query": "sky"}},
        {"id": "ci_1", "type": "code_interpreter_call", "code": "2+2", "outputs": [], "status": "completed"},
        {"id": "ctc_1", "type": "compaction", "encrypted_content": "Y29tcGFjdA=="},
    ),
}
_STOPS = (*ta.StopReason, "invented")
_ERRORS = (ta.Overloaded, ta.RateLimited, ta.ContextTooLong)
_WAYS: tuple[ThinkingIn, ...] = ("reasoning_content", "reasoning", "reasoning_details", "content", "think_tags")

# What no Reply says.
_MORE: dict[str, tuple[Any, ...]] = {
    "anthropic-messages": (
        {"type": "ping"},
        {"type": "vertex_event", "x": 1},
        *(
            {"type": "content_block_delta", "index": 0, "delta": delta}
            for delta in (
                {"type": "thinking_delta", "thinking": "", "estimated_tokens": 50},
                {"type": "compaction_delta", "content": "short"},
            )
        ),
        {"type": "content_block_start", "index": 0, "content_block": {"type": "mcp_tool_use", "id": "m", "input": {}}},
    ),
    "gemini": (
        {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}},
        {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "call:f{"}]},
        [{"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}],
    ),
    "openai-chat": (
        *(
            {"choices": [{"index": 0, "delta": delta, "finish_reason": "function_call"}]}
            for delta in (
                {"function_call": {"name": "f", "arguments": "{}"}},
                {"audio": {"id": "a", "data": "aWk=", "transcript": "Hi"}},
            )
        ),
        {"choices": [{"index": 0, "message": {"content": "Cumulative."}}], "citations": ["https://example.org"]},
        {"provider": {"choices": [{"message": {"content": "Nested."}, "finish_reason": "stop"}]}},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}], "x_groq": {"usage": {"prompt_tokens": 1}}},
    ),
    "openai-responses": (
        {"type": "response.output_text.annotation.added", "output_index": 0, "content_index": 0, "annotation": {}},
        {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "raw"},
        {"type": "response.queued", "response": {"status": "queued"}},
        {"type": "keepalive", "sequence_number": 3},
        {"type": "response.cancelled", "response": {"status": "cancelled", "output": []}},
        *(
            {"type": f"response.reasoning_{kind}", "output_index": 0, "item_id": "rs_1", "content_index": 0, **part}
            for kind, part in (
                ("part.added", {"part": {"type": "reasoning_text", "text": ""}}),
                ("text.done", {"text": "raw"}),
                ("part.done", {"part": {"type": "reasoning_text", "text": "raw"}}),
            )
        ),
    ),
}


def bodies(protocol: str, way: ThinkingIn | None = None) -> tuple[bytes, ...]:
    """The seeds of a protocol. way: where a chat endpoint puts thinking; None: in each place in turn."""
    return tuple(dict.fromkeys((*literal(protocol, way), *_shared(protocol))))


def literal(protocol: str, way: ThinkingIn | None = None) -> tuple[bytes, ...]:
    """The seeds that need no shared folder."""
    return (
        *_said(protocol, way),
        *_written(protocol),
        ERROR,
        b"data: " + ERROR,
        b"<html><body>Bad gateway</body></html>",
    )


def _said(protocol: str, way: ThinkingIn | None) -> Iterator[bytes]:
    for number, reply in enumerate(_replies(protocol)):
        thinking_in = way or _WAYS[number % len(_WAYS)]
        for thought in dict.fromkeys((thinking_in, "reasoning_details", "reasoning_content")):
            try:
                yield b"".join(encode_stream(protocol, reply, thinking_in=thought))
                if reply.error is None:
                    yield encode_whole(protocol, reply, thinking_in=thought)
                break
            except (ScriptError, ta.MalformedToolArguments):
                continue


def _replies(protocol: str) -> Iterator[Reply]:
    opaque = [
        ta.Opaque(protocol, kind=str(data.get("type", next(iter(data)))), data=data) for data in _OPAQUE[protocol]
    ]
    for content in (*_CONTENTS, [*opaque, "After."]):
        yield Reply(content)
        yield Reply(content, usage=_USAGE, chunk_size=5)
    for stop in _STOPS:
        yield Reply(["Short.", _NOW] if stop is ta.StopReason.TOOL_USE else ["Short."], stop=stop)
    for place, kind in enumerate(_ERRORS):
        yield Reply([_PLAIN, "So far.", _CALL], error=Reply.failure(kind), error_after=(None, 4, 8)[place])


def _written(protocol: str) -> Iterator[bytes]:
    yield from (
        stream.body for stream in LITERAL if stream.every_byte and _PACKED.get(stream.wire, stream.wire) == protocol
    )
    for payload in _MORE.get(protocol, ()):
        yield b"data: " + json.dumps(payload).encode() + b"\n\n"


def _shared(protocol: str) -> Iterator[bytes]:
    """Recorded answers, small ones first, as long as they show a feature that no other has; and the authored cases."""
    wires = (protocol, *(wire for wire, packed in _PACKED.items() if packed == protocol))
    found = [recording for wire in wires for recording in recordings(wire) if len(recording.body) <= _LARGEST]
    seen: dict[tuple[str, str], int] = {}
    for recording in sorted(found, key=lambda recording: len(recording.body)):
        features = [(recording.endpoint, name) for name in (*recording.meta["features"], str(recording.streamed))]
        if any(seen.get(feature, 0) < 1 for feature in features):
            seen.update((feature, seen.get(feature, 0) + 1) for feature in features)
            yield recording.body
    for case in cases():
        if case.data.get("wire") == protocol and case.has_stream and not case.is_generated:
            yield b"".join(case.pieces)
