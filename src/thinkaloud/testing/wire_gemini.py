"""Says replies on the Gemini wire: streamed, whole, and failing.

The wire has no block boundaries: unsigned blocks of one kind in a row become one. A stream has the signature of a text
on an empty part behind it, a whole body on the text itself, as the real server does; `signed_from` in a block's `extra`
says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import (
    AuthenticationError,
    ContextTooLong,
    InvalidRequest,
    MalformedToolArguments,
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
    with_error,
)
from thinkaloud.testing.reply import Failure, Reply, ScriptError
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.usage import Usage

_PROTOCOL = "gemini"
_PATH = re.compile(r":(?:generate|streamGenerate)Content\Z")
_METHOD = re.compile(r"([^/]+):(generate|streamGenerate)Content\Z")

_STOP_WORDS = {
    StopReason.END: "STOP",
    StopReason.TOOL_USE: "STOP",
    StopReason.LENGTH: "MAX_TOKENS",
    StopReason.CONTENT_FILTER: "SAFETY",
    StopReason.PAUSE: "CONTINUATION",
}

# Details of the end that stand beside the candidates and not in one.
_OF_CHUNK = ("promptFeedback", "modelStatus")

_FAILURES: dict[type[ProviderError], FailureWords] = {
    InvalidRequest: FailureWords(400, "INVALID_ARGUMENT", None, "Invalid value at 'generation_config'."),
    AuthenticationError: FailureWords(401, "UNAUTHENTICATED", None, "Request had invalid authentication credentials."),
    PermissionDenied: FailureWords(403, "PERMISSION_DENIED", None, "This key may not use this model."),
    NotFound: FailureWords(404, "NOT_FOUND", None, "The model is not found for this version of the API."),
    RateLimited: FailureWords(429, "RESOURCE_EXHAUSTED", None, "Too many requests in this minute."),
    ServerError: FailureWords(500, "INTERNAL", None, "An internal error has occurred."),
    Overloaded: FailureWords(503, "UNAVAILABLE", None, "The model is overloaded."),
    QuotaExceeded: FailureWords(429, "RESOURCE_EXHAUSTED", None, "The quota of this day is used up."),
    ContextTooLong: FailureWords(
        400, "INVALID_ARGUMENT", None, "The input token count exceeds the maximum number of tokens allowed (1048576)."
    ),
    StaleThinking: FailureWords(
        400, "INVALID_ARGUMENT", None, "Function call is missing a thought_signature in functionCall parts."
    ),
}
_DAILY: list[dict[str, Any]] = [
    {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "RequestsPerDayPerModel"}]}
]


def _asked(request: RecordedRequest, number: int) -> Asked:
    method = _METHOD.search(request.path)
    assert method is not None
    return Asked(stream=method[2] != "generate", model=unquote(method[1]), number=number)


def _event(data: Any) -> bytes:
    return b"data: " + json_bytes(data) + b"\r\n\r\n"


def _stream(reply: Reply, asked: Asked) -> list[bytes]:
    first = {name: count for name, count in _usage(reply).items() if name == "promptTokenCount"}
    chunks = [
        _event(_chunk(reply, asked, [part], first)) for block in reply.content for part in _streamed(block, reply)
    ]
    if reply.error is not None:
        return with_error(chunks, reply, [_event(_error(reply.error))])
    return [*chunks, _event(_closing(reply, asked, [{"text": ""}]))]


def _whole(reply: Reply, asked: Asked) -> bytes:
    return json_bytes(_closing(reply, asked, [part for block in reply.content for part in _whole_parts(block)]))


def _chunk(reply: Reply, asked: Asked, parts: list[dict[str, Any]], usage: dict[str, int]) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}],
        "usageMetadata": usage,
        "modelVersion": reply.model or asked.model,
        "responseId": reply.id or f"scripted{asked.number}",
    }


def _closing(reply: Reply, asked: Asked, parts: list[dict[str, Any]]) -> dict[str, Any]:
    chunk = _chunk(reply, asked, parts, _usage(reply))
    detail = dict(reply.stop_detail or {})
    chunk |= {name: detail.pop(name) for name in _OF_CHUNK if name in detail}
    chunk["candidates"][0] |= {"finishReason": _stop_word(reply), **detail}
    return chunk


def _streamed(block: AssistantBlock, reply: Reply) -> Iterator[dict[str, Any]]:
    """A block as parts, each in a chunk of its own."""
    if not isinstance(block, Text | Thinking):
        yield from _whole_parts(block)
        return
    mark = _mark(block)
    begins = _signed_from(block, len(block.text))
    for piece in reply.pieces(block.text[:begins]):
        yield {"text": piece, **mark}
    if block.signature is not None:
        yield {"text": block.text[begins:], **mark, "thoughtSignature": block.signature}


def _whole_parts(block: AssistantBlock) -> list[dict[str, Any]]:
    match block:
        case Text() | Thinking():
            mark = _mark(block)
            if block.signature is None:
                return [{"text": block.text, **mark}] if block.text else []
            begins = _signed_from(block, 0)
            before: list[dict[str, Any]] = [{"text": block.text[:begins], **mark}] if begins else []
            return [*before, {"text": block.text[begins:], **mark, "thoughtSignature": block.signature}]
        case ToolCall():
            id = block.extra.get("wire_id", block.id)
            call: dict[str, Any] = {"id": id} if isinstance(id, str) else {}
            try:
                arguments = block.arguments
            except MalformedToolArguments as error:
                raise ScriptError(f"{_PROTOCOL} has arguments as an object, and {error}") from None
            call |= {"name": block.name} | ({"args": arguments} if arguments else {})
            signature = {} if block.signature is None else {"thoughtSignature": block.signature}
            return [{"functionCall": call, **signature}]
        case Opaque():
            if block.protocol != _PROTOCOL:
                raise ScriptError(f"an opaque block of {block.protocol} cannot be said on {_PROTOCOL}")
            return [dict(block.data)]


def _mark(block: Text | Thinking) -> dict[str, Any]:
    if isinstance(block, Thinking):
        if block.redacted_data is not None:
            raise ScriptError(f"{_PROTOCOL} has no redacted thinking")
        return {"thought": True}
    if block.citations:
        raise ScriptError(f"{_PROTOCOL} has its citations beside the text; give them as stop_detail")
    return {}


def _signed_from(block: Text | Thinking, default: int) -> int:
    """Where in its text the part begins that carries the signature."""
    if block.signature is None:
        return len(block.text)
    begins = block.extra.get("signed_from", default)
    return begins if isinstance(begins, int) else default


def _stop_word(reply: Reply) -> str:
    stop = reply.stop_or_default
    if isinstance(stop, str):
        return stop
    if stop not in _STOP_WORDS:
        raise ScriptError(f"{_PROTOCOL} has no word for {stop}; give the raw word")
    return _STOP_WORDS[stop]


def _usage(reply: Reply) -> dict[str, int]:
    """Counts as the wire has them: thoughts on top of the visible output."""
    usage: Usage = reply.usage_or_counted
    if usage.billed_usd is not None or usage.cache_write is not None or usage.cache_write_1h is not None:
        raise ScriptError(f"{_PROTOCOL} states no price and no tokens written to a cache")
    counts: dict[str, int] = {}
    if usage.input is not None:
        counts["promptTokenCount"] = usage.input
    if usage.cache_read is not None:
        counts["cachedContentTokenCount"] = usage.cache_read
    if usage.output is not None:
        counts["candidatesTokenCount"] = usage.output - (usage.reasoning or 0)
    if usage.reasoning is not None:
        counts["thoughtsTokenCount"] = usage.reasoning
    return {**counts, "totalTokenCount": (usage.input or 0) + (usage.output or 0)}


def _error(failure: Failure) -> dict[str, Any]:
    words = failure_words(_PROTOCOL, _FAILURES, failure)
    error: dict[str, Any] = {"code": words.status, "message": words.message, "status": words.type}
    return {"error": error | ({"details": _DAILY} if failure.what is QuotaExceeded else {})}


def _failure(failure: Failure, number: int) -> HttpError:
    words = failure_words(_PROTOCOL, _FAILURES, failure)
    return http_error(words, failure, _error(failure))


ENCODER = WireEncoder(
    protocol=_PROTOCOL,
    path=_PATH,
    base_path="/v1beta",
    asked=_asked,
    stream=_stream,
    whole=_whole,
    failure=_failure,
    request_id_header="x-goog-request-id",
    signs_thinking=False,
    stream_type="text/event-stream",
)
