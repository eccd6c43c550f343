"""Says replies on the wire of Bedrock's Converse: streamed as event frames, whole, and failing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

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
from thinkaloud.jsontext import dumps
from thinkaloud.messages import StopReason
from thinkaloud.testing.aws_frames import error_frame, event_frame, exception_frame
from thinkaloud.testing.encoding import (
    Asked,
    FailureWords,
    HttpError,
    WireEncoder,
    failure_words,
    http_error,
    json_bytes,
    redacted_payload,
    with_error,
)
from thinkaloud.testing.reply import Failure, Reply, ScriptError
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.usage import Usage

_PROTOCOL = "bedrock-converse"
_PATH = re.compile(r"/model/([^/]+)/converse(-stream)?\Z")

_STOP_WORDS = {
    StopReason.END: "end_turn",
    StopReason.LENGTH: "max_tokens",
    StopReason.TOOL_USE: "tool_use",
    StopReason.STOP_SEQUENCE: "stop_sequence",
    StopReason.CONTENT_FILTER: "content_filtered",
    StopReason.REFUSAL: "refusal",
    StopReason.PAUSE: "pause_turn",
}

_FAILURES: dict[type[ProviderError], FailureWords] = {
    InvalidRequest: FailureWords(400, "ValidationException", None, "max_tokens must be greater than 0"),
    PermissionDenied: FailureWords(403, "AccessDeniedException", None, "this key may not use this model"),
    AuthenticationError: FailureWords(403, "UnrecognizedClientException", None, "the security token is invalid"),
    NotFound: FailureWords(404, "ResourceNotFoundException", None, "there is no such model"),
    RateLimited: FailureWords(429, "ThrottlingException", None, "too many requests, please wait"),
    QuotaExceeded: FailureWords(400, "ServiceQuotaExceededException", None, "the quota of the account is used up"),
    ServerError: FailureWords(500, "InternalServerException", None, "something broke inside"),
    Overloaded: FailureWords(503, "ServiceUnavailableException", None, "no capacity for now"),
    ContextTooLong: FailureWords(400, "ValidationException", None, "Input is too long for requested model."),
    ContentFiltered: FailureWords(400, "ValidationException", None, "Output blocked by content filtering policy"),
    StaleThinking: FailureWords(
        400, "ValidationException", None, "messages.1.content.0: Invalid `signature` in `thinking` block"
    ),
}

# The exceptions that a stream can tell as such; others come as plain errors.
_IN_STREAMS = frozenset(
    {
        "InternalServerException",
        "ModelStreamErrorException",
        "ValidationException",
        "ThrottlingException",
        "ServiceUnavailableException",
    }
)

# Details of the end: those of the closing event, and those that come with the counts.
_BESIDE_USAGE = ("trace", "serviceTier", "performanceConfig")

_PADDING = "abcdefghijklmnopqrstuvwxyz"


def _asked(request: RecordedRequest, number: int) -> Asked:
    found = _PATH.search(request.path)
    assert found is not None
    paths = request.json.get("additionalModelResponseFieldPaths") or ()
    return Asked(stream=found[2] is not None, model=unquote(found[1]), number=number, usage="/usage" in paths)


class _Frames:
    """The frames of an answer, each payload padded as the service pads it."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def add(self, name: str, **payload: Any) -> None:
        padding = _PADDING[: 1 + len(self.frames) * 7 % len(_PADDING)]
        self.frames.append(event_frame(name, json_bytes({**payload, "p": padding})))


def _stream(reply: Reply, asked: Asked) -> list[bytes]:
    answer = _Frames()
    answer.add("messageStart", role="assistant")
    for index, block in enumerate(reply.content):
        start, deltas = _said(block, reply)
        if start is not None:
            answer.add("contentBlockStart", contentBlockIndex=index, start=start)
        for delta in deltas:
            answer.add("contentBlockDelta", contentBlockIndex=index, delta=delta)
        answer.add("contentBlockStop", contentBlockIndex=index)
    if reply.error is not None:
        return with_error(answer.frames, reply, [_error(reply.error)])
    answer.add("messageStop", stopReason=_stop_word(reply), **_own_fields(reply, asked))
    answer.add("metadata", usage=_usage(reply.usage_or_counted), metrics={"latencyMs": 7}, **_beside_usage(reply))
    return answer.frames


def _whole(reply: Reply, asked: Asked) -> bytes:
    content = [_whole_block(block) for block in reply.content]
    return json_bytes(
        {
            "output": {"message": {"role": "assistant", "content": content}},
            "stopReason": _stop_word(reply),
            "usage": _usage(reply.usage_or_counted),
            "metrics": {"latencyMs": 7},
            **_own_fields(reply, asked),
            **_beside_usage(reply),
        }
    )


def _said(block: AssistantBlock, reply: Reply) -> tuple[Mapping[str, Any] | None, Iterator[dict[str, Any]]]:
    """A block as its start, where it has one, and its deltas."""
    match block:
        case Thinking(redacted_data=str()):
            return None, iter([{"reasoningContent": {"redactedContent": redacted_payload(block)}}])
        case Thinking():
            return None, _thinking_deltas(block, reply)
        case Text():
            return None, _text_deltas(block, reply)
        case ToolCall():
            _refuse_signature(block)
            pieces = reply.argument_pieces(block.arguments_json)
            start = {"toolUse": {"toolUseId": block.id, "name": block.name}}
            return start, ({"toolUse": {"input": piece}} for piece in pieces)
        case Opaque():
            return _opaque_start(_opaque(block))


def _thinking_deltas(block: Thinking, reply: Reply) -> Iterator[dict[str, Any]]:
    for piece in reply.pieces(block.text):
        yield {"reasoningContent": {"text": piece}}
    if block.signature is not None:
        yield {"reasoningContent": {"signature": block.signature}}


def _text_deltas(block: Text, reply: Reply) -> Iterator[dict[str, Any]]:
    _refuse_signature(block)
    for piece in reply.pieces(block.text):
        yield {"text": piece}
    for citation in block.citations:
        yield {"citation": citation}


def _opaque_start(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], Iterator[dict[str, Any]]]:
    """A block that is not modelled: the parts that the service sends as deltas come so."""
    if isinstance(use := data.get("toolUse"), Mapping):
        start = {name: value for name, value in use.items() if name != "input"}
        return {"toolUse": start}, iter([{"toolUse": {"input": dumps(use.get("input", {}))}}])
    if isinstance(result := data.get("toolResult"), Mapping):
        start = {name: value for name, value in result.items() if name != "content"}
        return {"toolResult": start}, iter([{"toolResult": result.get("content", [])}])
    return data, iter(())


def _whole_block(block: AssistantBlock) -> Mapping[str, Any]:
    match block:
        case Thinking(redacted_data=str()):
            return {"reasoningContent": {"redactedContent": redacted_payload(block)}}
        case Thinking():
            signature = {} if block.signature is None else {"signature": block.signature}
            return {"reasoningContent": {"reasoningText": {"text": block.text, **signature}}}
        case Text():
            _refuse_signature(block)
            if block.citations:
                return {"citationsContent": {"content": [{"text": block.text}], "citations": list(block.citations)}}
            return {"text": block.text}
        case ToolCall():
            _refuse_signature(block)
            return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": block.arguments}}
        case Opaque():
            return _opaque(block)


def _opaque(block: Opaque) -> Mapping[str, Any]:
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


def _own_fields(reply: Reply, asked: Asked) -> dict[str, Any]:
    """Fields of the model's own answer: the stop sequence, and the tokens of thinking where usage was asked for."""
    detail = reply.stop_detail or {}
    unknown = detail.keys() - {"stop_sequence", "additionalModelResponseFields", *_BESIDE_USAGE}
    if unknown:
        raise ScriptError(f"{_PROTOCOL} has no place for {', '.join(sorted(unknown))} in stop_detail")
    given = detail.get("additionalModelResponseFields")
    fields: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {}
    if (sequence := detail.get("stop_sequence")) is not None:
        fields |= {"delta": {"stop_sequence": sequence}} if asked.stream else {"stop_sequence": sequence}
    if asked.usage and reply.usage_or_counted.reasoning is not None:
        fields["usage"] = {"output_tokens_details": {"thinking_tokens": reply.usage_or_counted.reasoning}}
    return {"additionalModelResponseFields": fields} if fields else {}


def _beside_usage(reply: Reply) -> dict[str, Any]:
    detail = reply.stop_detail or {}
    return {name: detail[name] for name in _BESIDE_USAGE if name in detail}


def _usage(usage: Usage) -> dict[str, Any]:
    """Counts as the wire has them: its input leaves out what was read from or written to a cache."""
    if usage.billed_usd is not None:
        raise ScriptError(f"{_PROTOCOL} tells no price")
    counts: dict[str, Any] = {}
    if usage.input is not None:
        counts["inputTokens"] = usage.input - (usage.cache_read or 0) - (usage.cache_write or 0)
    if usage.output is not None:
        counts["outputTokens"] = usage.output
    if usage.input is not None and usage.output is not None:
        counts["totalTokens"] = usage.input + usage.output
    if usage.cache_read is not None:
        counts["cacheReadInputTokens"] = usage.cache_read
    if usage.cache_write is not None:
        counts["cacheWriteInputTokens"] = usage.cache_write
    if usage.cache_write_1h is not None:
        counts["cacheDetails"] = [{"ttl": "1h", "inputTokens": usage.cache_write_1h}]
    return counts


def _error(failure: Failure) -> bytes:
    words = failure_words(_PROTOCOL, _FAILURES, failure)
    if words.type in _IN_STREAMS:
        name = words.type[:1].lower() + words.type[1:]
        return exception_frame(name, json_bytes({"message": words.message}))
    return error_frame(words.type, words.message)


def _failure(failure: Failure, number: int) -> HttpError:
    words = failure_words(_PROTOCOL, _FAILURES, failure)
    # A status that no exception stands for comes from something before the service, and without a name.
    named = failure.code is not None or words.status in {row.status for row in _FAILURES.values()}
    type = {"x-amzn-errortype": f"{words.type}:http://internal.amazon.com/coral/com.amazon.bedrock/"} if named else {}
    return http_error(words, failure, {"message": words.message}, type)


ENCODER = WireEncoder(
    protocol=_PROTOCOL,
    path=_PATH,
    base_path="",
    asked=_asked,
    stream=_stream,
    whole=_whole,
    failure=_failure,
    request_id_header="x-amzn-requestid",
    signs_thinking=True,
    stream_type="application/vnd.amazon.eventstream",
)
