"""Says replies on the Anthropic Messages wire: streamed, whole, and failing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import (
    AuthenticationError,
    ContentFiltered,
    ContextTooLong,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StaleThinking,
)
from thinkaloud.messages import StopReason
from thinkaloud.testing.encoding import (
    Asked,
    FailureWords,
    HttpError,
    WireEncoder,
    failure_words,
    http_error,
    json_bytes,
    redacted_payload,
    server_sent_event,
    with_error,
)
from thinkaloud.testing.reply import Failure, Reply, ScriptError
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.usage import Usage

_PROTOCOL = "anthropic-messages"

_STOP_WORDS = {
    StopReason.END: "end_turn",
    StopReason.LENGTH: "max_tokens",
    StopReason.TOOL_USE: "tool_use",
    StopReason.STOP_SEQUENCE: "stop_sequence",
    StopReason.REFUSAL: "refusal",
    StopReason.PAUSE: "pause_turn",
}

_BESIDE_DELTA = ("context_management", "input_transformations")

_FAILURES: dict[type[ProviderError], FailureWords] = {
    InvalidRequest: FailureWords(400, "invalid_request_error", None, "max_tokens: must be greater than 0"),
    AuthenticationError: FailureWords(401, "authentication_error", None, "invalid x-api-key"),
    QuotaExceeded: FailureWords(402, "billing_error", None, "the account has no credit left"),
    PermissionDenied: FailureWords(403, "permission_error", None, "this key may not use this model"),
    NotFound: FailureWords(404, "not_found_error", None, "model: no such model"),
    RateLimited: FailureWords(429, "rate_limit_error", None, "too many requests in this minute"),
    ServerError: FailureWords(500, "api_error", None, "something broke inside"),
    Overloaded: FailureWords(529, "overloaded_error", None, "Overloaded"),
    ContextTooLong: FailureWords(
        400, "invalid_request_error", None, "prompt is too long: 210000 tokens > 200000 maximum"
    ),
    ContentFiltered: FailureWords(400, "invalid_request_error", None, "Output blocked by content filtering policy"),
    StaleThinking: FailureWords(
        400, "invalid_request_error", None, "messages.1.content.0: Invalid `signature` in `thinking` block"
    ),
}


def _asked(request: RecordedRequest, number: int) -> Asked:
    body = request.json
    return Asked(stream=body.get("stream") is True, model=body.get("model", "scripted"), number=number)


def _event(data: Mapping[str, Any]) -> bytes:
    return server_sent_event(data, data["type"])


def _stream(reply: Reply, asked: Asked) -> list[bytes]:
    events = [_event({"type": "message_start", "message": _opening(reply, asked)}), _event({"type": "ping"})]
    for index, block in enumerate(reply.content):
        start, deltas = _said(block, reply)
        events.append(_event({"type": "content_block_start", "index": index, "content_block": start}))
        events.extend(_event({"type": "content_block_delta", "index": index, "delta": delta}) for delta in deltas)
        events.append(_event({"type": "content_block_stop", "index": index}))
    if reply.error is not None:
        return with_error(events, reply, [_event(_error(reply.error, asked.number))])
    delta = {"stop_reason": _stop_word(reply), **_stop_fields(reply)}
    beside = {name: delta.pop(name) for name in _BESIDE_DELTA if name in delta}
    usage = _usage(reply.usage_or_counted)
    events.append(_event({"type": "message_delta", "delta": delta, "usage": usage, **beside}))
    events.append(_event({"type": "message_stop"}))
    return events


def _whole(reply: Reply, asked: Asked) -> bytes:
    message = _opening(reply, asked)
    message["content"] = [_whole_block(block) for block in reply.content]
    message.update(stop_reason=_stop_word(reply), **_stop_fields(reply), usage=_usage(reply.usage_or_counted))
    return json_bytes(message)


def _opening(reply: Reply, asked: Asked) -> dict[str, Any]:
    usage = _usage(reply.usage_or_counted)
    usage.pop("output_tokens_details", None)
    if "output_tokens" in usage:
        usage["output_tokens"] = min(usage["output_tokens"], 1)  # provisional; the closing delta has the count
    return {
        "id": reply.id or f"msg_scripted_{asked.number}",
        "type": "message",
        "role": "assistant",
        "model": reply.model or asked.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "stop_details": None,
        "usage": usage,
    }


def _said(block: AssistantBlock, reply: Reply) -> tuple[Mapping[str, Any], Iterator[dict[str, Any]]]:
    """A block as its start and its deltas."""
    match block:
        case Thinking(redacted_data=str()) | Opaque():
            return _whole_block(block), iter(())
        case Thinking():
            return {"type": "thinking", "thinking": "", "signature": ""}, _thinking_deltas(block, reply)
        case Text():
            _refuse_signature(block)
            return {"type": "text", "text": ""}, _text_deltas(block, reply)
        case ToolCall():
            _refuse_signature(block)
            start = {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
            pieces = reply.argument_pieces(block.arguments_json)
            return start, ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)


def _thinking_deltas(block: Thinking, reply: Reply) -> Iterator[dict[str, Any]]:
    for piece in reply.pieces(block.text):
        yield {"type": "thinking_delta", "thinking": piece}
    if block.signature is not None:
        yield {"type": "signature_delta", "signature": block.signature}


def _text_deltas(block: Text, reply: Reply) -> Iterator[dict[str, Any]]:
    for piece in reply.pieces(block.text):
        yield {"type": "text_delta", "text": piece}
    for citation in block.citations:
        yield {"type": "citations_delta", "citation": citation}


def _whole_block(block: AssistantBlock) -> Mapping[str, Any]:
    match block:
        case Thinking(redacted_data=str()):
            return {"type": "redacted_thinking", "data": redacted_payload(block)}
        case Thinking():
            return {"type": "thinking", "thinking": block.text, "signature": block.signature or ""}
        case Text():
            _refuse_signature(block)
            citations = {"citations": list(block.citations)} if block.citations else {}
            return {"type": "text", "text": block.text, **citations}
        case ToolCall():
            _refuse_signature(block)
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.arguments}
        case Opaque():
            if block.protocol != _PROTOCOL:
                raise ScriptError(f"an opaque block of {block.protocol} cannot be said on {_PROTOCOL}")
            return block.data


def _refuse_signature(block: Text | ToolCall) -> None:
    if block.signature is not None:
        raise ScriptError(f"{_PROTOCOL} signs thinking only, not {type(block).__name__}")


def _stop_word(reply: Reply) -> str:
    stop = reply.stop_or_default
    if isinstance(stop, str):
        return stop
    if stop not in _STOP_WORDS:
        raise ScriptError(f"{_PROTOCOL} has no word for {stop}; give the raw word")
    return _STOP_WORDS[stop]


def _stop_fields(reply: Reply) -> dict[str, Any]:
    """The details of the end: fields by their names on the wire, such as `stop_sequence` and `stop_details`."""
    return {"stop_sequence": None, "stop_details": None, **(reply.stop_detail or {})}


def _usage(usage: Usage) -> dict[str, Any]:
    """Counts as the wire has them: its input leaves out what was read from or written to a cache."""
    if usage.billed_usd is not None:
        raise ScriptError(f"{_PROTOCOL} states no price")
    counts: dict[str, Any] = {}
    if usage.input is not None:
        counts["input_tokens"] = usage.input - (usage.cache_read or 0) - (usage.cache_write or 0)
    if usage.cache_write is not None:
        counts["cache_creation_input_tokens"] = usage.cache_write
    if usage.cache_read is not None:
        counts["cache_read_input_tokens"] = usage.cache_read
    if usage.cache_write_1h is not None:
        short = (usage.cache_write or 0) - usage.cache_write_1h
        counts["cache_creation"] = {
            "ephemeral_5m_input_tokens": short,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        }
    if usage.output is not None:
        counts["output_tokens"] = usage.output
    if usage.reasoning is not None:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return counts


def _error(failure: Failure, number: int) -> dict[str, Any]:
    words = failure_words(_PROTOCOL, _FAILURES, failure)
    error = {"type": words.type, "message": words.message}
    return {"type": "error", "error": error, "request_id": f"req_scripted_{number}"}


def _failure(failure: Failure, number: int) -> HttpError:
    words = failure_words(_PROTOCOL, _FAILURES, failure)
    return http_error(words, failure, _error(failure, number))


ENCODER = WireEncoder(
    protocol=_PROTOCOL,
    path=re.compile(r"(/v1/messages|/publishers/anthropic/models/[^/]+:(streamRawPredict|rawPredict))\Z"),
    base_path="",
    asked=_asked,
    stream=_stream,
    whole=_whole,
    failure=_failure,
    request_id_header="request-id",
    signs_thinking=True,
)
