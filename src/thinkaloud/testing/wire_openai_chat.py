"""Says replies on the OpenAI chat wire and its dialects: streamed, whole, and failing.

The wire has no block boundaries: blocks of one kind in a row become one. A whole body has one place for each kind, so
the order among kinds is lost, as with a real server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen

from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import (
    AuthenticationError,
    ContentFiltered,
    ContextTooLong,
    InvalidRequest,
    MalformedToolCall,
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
    ThinkingIn,
    WireEncoder,
    failure_words,
    http_error,
    json_bytes,
    known,
    redacted_payload,
    server_sent_event,
    with_error,
)
from thinkaloud.testing.reply import Failure, Reply, ScriptError
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.usage import Usage

_PROTOCOL = "openai-chat"
_CREATED = 1_700_000_000  # seconds since 1970; a script has no clock
_DONE = server_sent_event("[DONE]")

_STOP_WORDS = {
    StopReason.END: "stop",
    StopReason.LENGTH: "length",
    StopReason.TOOL_USE: "tool_calls",
    StopReason.CONTENT_FILTER: "content_filter",
    StopReason.REFUSAL: "stop",  # told by the field that the text comes in
}

FAILURES: dict[type[ProviderError], FailureWords] = {
    InvalidRequest: FailureWords(400, "invalid_request_error", "invalid_value", "Invalid value for 'max_tokens'."),
    AuthenticationError: FailureWords(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    PermissionDenied: FailureWords(403, "permission_error", "permission_denied", "This key may not use this model."),
    NotFound: FailureWords(404, "invalid_request_error", "model_not_found", "The model does not exist."),
    RateLimited: FailureWords(429, "requests", "rate_limit_exceeded", "Rate limit reached: too many requests."),
    ServerError: FailureWords(500, "server_error", "server_error", "The server had an error."),
    Overloaded: FailureWords(503, "service_unavailable_error", "server_is_overloaded", "The server is overloaded."),
    QuotaExceeded: FailureWords(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota."),
    ContextTooLong: FailureWords(
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens, and the messages have more.",
    ),
    ContentFiltered: FailureWords(
        400, "invalid_request_error", "content_filter", "The prompt was stopped by a content filter."
    ),
    StaleThinking: FailureWords(
        400,
        "invalid_request_error",
        "invalid_request_error",
        "The reasoning_content in the thinking mode must be passed back to the API.",
    ),
    MalformedToolCall: FailureWords(
        400, "invalid_request_error", "tool_use_failed", "Failed to call a function: the model's call is malformed."
    ),
}


def _asked(request: RecordedRequest, number: int) -> Asked:
    body = request.json
    options = body.get("stream_options") or {}
    return Asked(
        stream=body.get("stream") is True,
        model=body.get("model", "scripted"),
        number=number,
        usage=options.get("include_usage") is True,
    )


# where thinking goes


@frozen
class _ThinkingWay:
    """One way to say thinking: as deltas, and as fields of a whole message. `place` counts thinking blocks from 0."""

    deltas: Callable[[Thinking, Reply, int], Iterator[dict[str, Any]]]
    fields: Callable[[list[Thinking]], dict[str, Any]]


def _unsigned(block: Thinking, way: str) -> str:
    if block.signature is not None or block.redacted_data is not None:
        raise ScriptError(f"thinking in {way!r} has no place for signatures and payloads; use 'reasoning_details'")
    return block.text


def _in_field(name: str) -> _ThinkingWay:
    def deltas(block: Thinking, reply: Reply, place: int) -> Iterator[dict[str, Any]]:
        return ({name: piece} for piece in reply.pieces(_unsigned(block, name)))

    def fields(blocks: list[Thinking]) -> dict[str, Any]:
        return {name: "".join(_unsigned(block, name) for block in blocks)}

    return _ThinkingWay(deltas, fields)


def _detail(kind: str, place: int, **values: Any) -> dict[str, Any]:
    return {"type": f"reasoning.{kind}", **values, "format": "anthropic-claude-v1", "index": place}


def _details_deltas(block: Thinking, reply: Reply, place: int) -> Iterator[dict[str, Any]]:
    payload = redacted_payload(block)
    if payload is not None:
        yield {"reasoning": None, "reasoning_details": [_detail("encrypted", place, data=payload)]}
        return
    signed = block.signature is not None
    opening = {"text": "", "signature": ""} if signed else {"text": ""}
    yield {"reasoning": "", "reasoning_details": [_detail("text", place, **opening)]}
    for piece in reply.pieces(block.text):
        yield {"reasoning": piece, "reasoning_details": [_detail("text", place, text=piece)]}
    if signed:
        yield {"reasoning": None, "reasoning_details": [_detail("text", place, signature=block.signature)]}


def _details_fields(blocks: list[Thinking]) -> dict[str, Any]:
    details = [_whole_detail(block, place) for place, block in enumerate(blocks)]
    return {"reasoning": "".join(block.text for block in blocks) or None, "reasoning_details": details}


def _whole_detail(block: Thinking, place: int) -> dict[str, Any]:
    payload = redacted_payload(block)
    if payload is not None:
        return _detail("encrypted", place, data=payload)
    if block.signature is not None:
        return _detail("text", place, text=block.text, signature=block.signature)
    return _detail("text", place, text=block.text)


def _part_deltas(block: Thinking, reply: Reply, place: int) -> Iterator[dict[str, Any]]:
    if block.redacted_data is not None:
        _unsigned(block, "content")
    for piece in reply.pieces(block.text):
        yield {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]}
    signature = {} if block.signature is None else {"signature": block.signature}
    yield {"content": [{"type": "thinking", "thinking": [], **signature}]}


def _part_fields(blocks: list[Thinking]) -> dict[str, Any]:
    parts = []
    for block in blocks:
        if block.redacted_data is not None:
            _unsigned(block, "content")
        signature = {} if block.signature is None else {"signature": block.signature}
        parts.append({"type": "thinking", "thinking": [{"type": "text", "text": block.text}], **signature})
    return {"content": parts}


def _tagged(text: str) -> str:
    return f"<think>\n{text}</think>\n\n"


def _tag_deltas(block: Thinking, reply: Reply, place: int) -> Iterator[dict[str, Any]]:
    if place:
        raise ScriptError("tags hold thinking at the start of the text only")
    return ({"content": piece} for piece in reply.pieces(_tagged(_unsigned(block, "think_tags"))))


def _tag_fields(blocks: list[Thinking]) -> dict[str, Any]:
    return {"content": _tagged("".join(_unsigned(block, "think_tags") for block in blocks))}


_THINKING: dict[ThinkingIn, _ThinkingWay] = {
    "reasoning_content": _in_field("reasoning_content"),
    "reasoning": _in_field("reasoning"),
    "reasoning_details": _ThinkingWay(_details_deltas, _details_fields),
    "content": _ThinkingWay(_part_deltas, _part_fields),
    "think_tags": _ThinkingWay(_tag_deltas, _tag_fields),
}


# streamed


def _stream(reply: Reply, asked: Asked) -> list[bytes]:
    envelope = _envelope(reply, asked, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
        return server_sent_event({**envelope, "choices": choices, **({"usage": None} if asked.usage else {})})

    events = [chunk({"role": "assistant", "content": ""}), *(chunk(delta) for delta in _deltas(reply, asked))]
    if reply.error is not None:
        return with_error(events, reply, [server_sent_event(_error(reply.error)), _DONE])
    events.append(chunk({}, _stop_word(reply)))
    if asked.usage:
        events.append(server_sent_event({**envelope, "choices": [], "usage": _usage(reply.usage_or_counted)}))
    return [*events, _DONE]


def _deltas(reply: Reply, asked: Asked) -> Iterator[dict[str, Any]]:
    text_field = _text_field(reply)
    thoughts = calls = 0
    for block in reply.content:
        match block:
            case Thinking():
                yield from _THINKING[asked.thinking_in].deltas(block, reply, thoughts)
                thoughts += 1
            case Text():
                _refuse_signature(block)
                yield from ({text_field: piece} for piece in reply.pieces(block.text))
                if block.citations:
                    yield {"annotations": list(block.citations)}
            case ToolCall():
                yield from _call_deltas(block, reply, calls)
                calls += 1
            case Opaque():
                yield {"content": [_part(block)]}


def _call_deltas(call: ToolCall, reply: Reply, index: int) -> Iterator[dict[str, Any]]:
    yield {"tool_calls": [{"index": index, **_call(call, "")}]}
    for piece in reply.argument_pieces(call.arguments_json):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _call(call: ToolCall, arguments: str) -> dict[str, Any]:
    said: dict[str, Any] = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }
    if call.signature is not None:
        said["extra_content"] = {"google": {"thought_signature": call.signature}}
    return said


# whole


def _whole(reply: Reply, asked: Asked) -> bytes:
    choice = {"index": 0, "message": _message(reply, asked), "logprobs": None, "finish_reason": _stop_word(reply)}
    body = {**_envelope(reply, asked, "chat.completion"), "choices": [choice]}
    return json_bytes({**body, "usage": _usage(reply.usage_or_counted)})


def _message(reply: Reply, asked: Asked) -> dict[str, Any]:
    thoughts = [block for block in reply.content if isinstance(block, Thinking)]
    texts = [block for block in reply.content if isinstance(block, Text)]
    calls = [block for block in reply.content if isinstance(block, ToolCall)]
    parts = [_part(block) for block in reply.content if isinstance(block, Opaque)]
    for block in texts:
        _refuse_signature(block)
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    if thoughts:
        message.update(_THINKING[asked.thinking_in].fields(thoughts))
    text = "".join(block.text for block in texts)
    text_field = _text_field(reply)
    if isinstance(message["content"], list) or parts:
        text_parts = [{"type": "text", "text": text}] if text else []
        message["content"] = [*(message["content"] or ()), *text_parts, *parts]
    elif text:
        message[text_field] = (message[text_field] or "") + text
    annotations = [citation for block in texts for citation in block.citations]
    if annotations:
        message["annotations"] = annotations
    if calls:
        message["tool_calls"] = [_call(call, call.arguments_json) for call in calls]
    return message


# parts of both


def _envelope(reply: Reply, asked: Asked, kind: str) -> dict[str, Any]:
    return {
        "id": reply.id or f"chatcmpl-scripted-{asked.number}",
        "object": kind,
        "created": _CREATED,
        "model": reply.model or asked.model,
    }


def _text_field(reply: Reply) -> str:
    return "refusal" if reply.stop is StopReason.REFUSAL else "content"


def _part(block: Opaque) -> Any:
    if block.protocol != _PROTOCOL:
        raise ScriptError(f"an opaque block of {block.protocol} cannot be said on {_PROTOCOL}")
    return block.data


def _refuse_signature(block: Text) -> None:
    if block.signature is not None:
        raise ScriptError(f"{_PROTOCOL} has no signed text")


def _stop_word(reply: Reply) -> str:
    stop = reply.stop_or_default
    if isinstance(stop, str):
        return stop
    if stop not in _STOP_WORDS:
        raise ScriptError(f"{_PROTOCOL} has no word for {stop}; give the raw word")
    return _STOP_WORDS[stop]


def _usage(usage: Usage) -> dict[str, Any]:
    if usage.cache_write_1h is not None:
        raise ScriptError(f"{_PROTOCOL} does not tell how long a cache is kept")
    counts: dict[str, Any] = {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": None if usage.input is None or usage.output is None else usage.input + usage.output,
    }
    prompt = {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}
    counts["prompt_tokens_details"] = known(prompt) or None
    counts["completion_tokens_details"] = known({"reasoning_tokens": usage.reasoning}) or None
    counts["cost"] = usage.billed_usd
    return known(counts)


def _error(failure: Failure) -> dict[str, Any]:
    words = failure_words(_PROTOCOL, FAILURES, failure)
    return {"error": {"message": words.message, "type": words.type, "param": None, "code": words.code}}


def _failure(failure: Failure, number: int) -> HttpError:
    words = failure_words(_PROTOCOL, FAILURES, failure)
    return http_error(words, failure, _error(failure))


ENCODER = WireEncoder(
    protocol=_PROTOCOL,
    path=re.compile(r"/chat/completions\Z"),
    base_path="/v1",
    asked=_asked,
    stream=_stream,
    whole=_whole,
    failure=_failure,
    request_id_header="x-request-id",
    signs_thinking=False,
)
