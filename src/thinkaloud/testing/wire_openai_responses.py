"""Says replies on the OpenAI Responses wire: streamed, whole, and failing.

Each block is one output item; texts that share an item id in `extra`, one after the other, are parts of one message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from attrs import frozen

from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import MalformedToolCall, ProviderError, StaleThinking
from thinkaloud.messages import StopReason
from thinkaloud.testing.encoding import (
    Asked,
    FailureWords,
    HttpError,
    WireEncoder,
    failure_words,
    http_error,
    json_bytes,
    known,
    server_sent_event,
)
from thinkaloud.testing.reply import Failure, Reply, ScriptError
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.testing.wire_openai_chat import FAILURES as FAILURES_OF_CHAT
from thinkaloud.usage import Usage

_PROTOCOL = "openai-responses"
_CREATED = 1_700_000_000  # seconds since 1970; a script has no clock

# How a response ends: its status, and why it is incomplete.
_STOPS: dict[StopReason, tuple[str, str | None]] = {
    StopReason.END: ("completed", None),
    StopReason.TOOL_USE: ("completed", None),  # told by the calls
    StopReason.REFUSAL: ("completed", None),  # told by the type of the text
    StopReason.LENGTH: ("incomplete", "max_output_tokens"),
    StopReason.CONTENT_FILTER: ("incomplete", "content_filter"),
}

_FAILURES: dict[type[ProviderError], FailureWords] = {
    **{kind: words for kind, words in FAILURES_OF_CHAT.items() if kind is not MalformedToolCall},
    StaleThinking: FailureWords(
        400, "invalid_request_error", "invalid_encrypted_content", "The encrypted content could not be verified."
    ),
}


def _asked(request: RecordedRequest, number: int) -> Asked:
    body = request.json
    return Asked(stream=body.get("stream") is True, model=body.get("model", "scripted"), number=number)


# items


@frozen
class _Item:
    """One output item, and the events between its first and its last.

    opening: the item as it is first told; done: as it is finished.
    """

    opening: dict[str, Any]
    done: dict[str, Any]
    events: Callable[[], Iterator[dict[str, Any]]] = lambda: iter(())


def _items(reply: Reply, asked: Asked) -> list[_Item]:
    runs: list[list[AssistantBlock]] = []
    for key, run in groupby(enumerate(reply.content), key=_shared_item):
        blocks = [block for _, block in run]
        runs += [blocks] if key is not None else [[block] for block in blocks]
    return [_item(blocks, place, reply, asked) for place, blocks in enumerate(runs)]


def _shared_item(entry: tuple[int, AssistantBlock]) -> object:
    """What tells that neighbours are parts of one message: the item id that they share."""
    _, block = entry
    return block.extra.get("id") if isinstance(block, Text) else None


def _item(blocks: list[AssistantBlock], place: int, reply: Reply, asked: Asked) -> _Item:
    match blocks[0]:
        case Thinking() as block:
            return _reasoning(block, _id(block, "rs", place, reply, asked), reply)
        case ToolCall() as block:
            return _call(block, _id(block, "fc", place, reply, asked), reply)
        case Opaque() as block:
            if block.protocol != _PROTOCOL:
                raise ScriptError(f"an opaque block of {block.protocol} cannot be said on {_PROTOCOL}")
            return _Item(dict(block.data), dict(block.data))
        case Text() as block:
            return _message(blocks, _id(block, "msg", place, reply, asked), reply)


def _id(block: Text | Thinking | ToolCall, prefix: str, place: int, reply: Reply, asked: Asked) -> str:
    return str(block.extra.get("id") or f"{prefix}_{reply.id or asked.number}_{place}")


def _reasoning(block: Thinking, id: str, reply: Reply) -> _Item:
    if block.redacted_data is not None:
        raise ScriptError(f"{_PROTOCOL} has no redacted thinking; it has signed thinking without text")
    start: dict[str, Any] = {"id": id, "type": "reasoning", "summary": []}
    early, sealed = {}, {}
    if block.signature is not None:
        # The encrypted thinking is told twice, and is not whole the first time.
        early, sealed = {"encrypted_content": f"partial-{id}"}, {"encrypted_content": block.signature}
    part = {"type": "summary_text", "text": block.text}

    def events() -> Iterator[dict[str, Any]]:
        if not block.text:
            return
        of = {"item_id": id, "summary_index": 0}
        yield {"type": "response.reasoning_summary_part.added", **of, "part": {**part, "text": ""}}
        for piece in reply.pieces(block.text):
            yield {"type": "response.reasoning_summary_text.delta", **of, "delta": piece}
        yield {"type": "response.reasoning_summary_text.done", **of, "text": block.text}
        yield {"type": "response.reasoning_summary_part.done", **of, "part": part}

    summary = [part] if block.text else []
    return _Item({**start, **early}, {**start, "summary": summary, **sealed}, events)


def _message(blocks: list[Any], id: str, reply: Reply) -> _Item:
    for block in blocks:
        if block.signature is not None:
            raise ScriptError(f"{_PROTOCOL} has no signed text")
    phase = {"phase": blocks[0].extra["phase"]} if "phase" in blocks[0].extra else {}
    item = {"id": id, "type": "message", "role": "assistant", **phase}

    def events() -> Iterator[dict[str, Any]]:
        for place, block in enumerate(blocks):
            yield from _part_events(block, {"item_id": id, "content_index": place}, reply)

    content = [_part(block, reply, whole=True) for block in blocks]
    return _Item(
        {**item, "status": "in_progress", "content": []}, {**item, "status": "completed", "content": content}, events
    )


def _part(block: Text, reply: Reply, *, whole: bool) -> dict[str, Any]:
    text = block.text if whole else ""
    if _refuses(block, reply):
        return {"type": "refusal", "refusal": text}
    return {"type": "output_text", "text": text, "annotations": list(block.citations) if whole else [], "logprobs": []}


def _refuses(block: Text, reply: Reply) -> bool:
    return reply.stop is StopReason.REFUSAL or block.extra.get("type") == "refusal"


def _part_events(block: Text, of: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"type": "response.content_part.added", **of, "part": _part(block, reply, whole=False)}
    if _refuses(block, reply):
        for piece in reply.pieces(block.text):
            yield {"type": "response.refusal.delta", **of, "delta": piece}
        yield {"type": "response.refusal.done", **of, "refusal": block.text}
    else:
        for piece in reply.pieces(block.text):
            yield {"type": "response.output_text.delta", **of, "delta": piece, "logprobs": []}
        for place, citation in enumerate(block.citations):
            annotation = {"annotation_index": place, "annotation": citation}
            yield {"type": "response.output_text.annotation.added", **of, **annotation}
        yield {"type": "response.output_text.done", **of, "text": block.text, "logprobs": []}
    yield {"type": "response.content_part.done", **of, "part": _part(block, reply, whole=True)}


def _call(call: ToolCall, id: str, reply: Reply) -> _Item:
    if call.signature is not None:
        raise ScriptError(f"{_PROTOCOL} has no signed calls")
    custom = call.extra.get("type") == "custom"
    field, name = ("input", "custom_tool_call_input") if custom else ("arguments", "function_call_arguments")
    item: dict[str, Any] = {"id": id, "type": "custom_tool_call" if custom else "function_call"}
    item |= {"call_id": call.id, "name": call.name}

    def events() -> Iterator[dict[str, Any]]:
        for piece in reply.argument_pieces(call.arguments_json):
            yield {"type": f"response.{name}.delta", "item_id": id, "delta": piece}
        yield {"type": f"response.{name}.done", "item_id": id, field: call.arguments_json}

    opening = {**item, "status": "in_progress", field: ""}
    status = "completed" if call.complete else "incomplete"
    return _Item(opening, {**item, "status": status, field: call.arguments_json}, events)


# streamed and whole


def _stream(reply: Reply, asked: Asked) -> list[bytes]:
    events = list(_content(reply, asked))
    if reply.error is not None:
        events = [*events[: reply.error_after], *_failing(reply, reply.error, asked)]
    else:
        status, _ = _stop(reply)
        events.append({"type": f"response.{status}", "response": _response(reply, asked)})
    return [
        server_sent_event({**event, "sequence_number": number}, event["type"]) for number, event in enumerate(events)
    ]


def _content(reply: Reply, asked: Asked) -> Iterator[dict[str, Any]]:
    begun = {**_envelope(reply, asked), "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for place, item in enumerate(_items(reply, asked)):
        yield {"type": "response.output_item.added", "output_index": place, "item": item.opening}
        for event in item.events():
            yield {**event, "output_index": place}
        yield {"type": "response.output_item.done", "output_index": place, "item": item.done}


def _failing(reply: Reply, failure: Failure, asked: Asked) -> list[dict[str, Any]]:
    words = failure_words(_PROTOCOL, _FAILURES, failure)
    told = {"type": words.type, "code": words.code, "message": words.message, "param": None}
    failed = {**_envelope(reply, asked), "status": "failed", "output": [], "usage": None}
    failed["error"] = {"code": words.code, "message": words.message}
    return [{"type": "error", "error": told}, {"type": "response.failed", "response": failed}]


def _whole(reply: Reply, asked: Asked) -> bytes:
    return json_bytes(_response(reply, asked))


def _response(reply: Reply, asked: Asked) -> dict[str, Any]:
    status, reason = _stop(reply)
    detail = {name: value for name, value in (reply.stop_detail or {}).items() if name != "incomplete_details"}
    return {
        **_envelope(reply, asked),
        "status": status,
        "incomplete_details": None if reason is None else {"reason": reason},
        "output": [item.done for item in _items(reply, asked)],
        "usage": _usage(reply.usage_or_counted),
        **detail,
    }


def _envelope(reply: Reply, asked: Asked) -> dict[str, Any]:
    return {
        "id": reply.id or f"resp_scripted_{asked.number}",
        "object": "response",
        "created_at": _CREATED,
        "model": reply.model or asked.model,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "store": False,
    }


def _stop(reply: Reply) -> tuple[str, str | None]:
    stop = reply.stop_or_default
    if isinstance(stop, str):
        return ("completed", None) if stop == "completed" else ("incomplete", stop)
    if stop is StopReason.TOOL_USE and not any(isinstance(block, ToolCall) for block in reply.content):
        raise ScriptError(f"{_PROTOCOL} tells tool use by the calls alone; give one")
    if stop not in _STOPS:
        raise ScriptError(f"{_PROTOCOL} has no word for {stop}; give the raw word")
    return _STOPS[stop]


def _usage(usage: Usage) -> dict[str, Any]:
    if usage.cache_write_1h is not None or usage.billed_usd is not None:
        raise ScriptError(f"{_PROTOCOL} tells neither how long a cache is kept nor a price")
    total = None if usage.input is None or usage.output is None else usage.input + usage.output
    counts = {"input_tokens": usage.input, "output_tokens": usage.output, "total_tokens": total}
    cached = {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}
    details = {
        "input_tokens_details": known(cached) or None,
        "output_tokens_details": known({"reasoning_tokens": usage.reasoning}) or None,
    }
    return known({**counts, **details})


def _failure(failure: Failure, number: int) -> HttpError:
    words = failure_words(_PROTOCOL, _FAILURES, failure)
    error = {"message": words.message, "type": words.type, "param": None, "code": words.code}
    return http_error(words, failure, {"error": error})


ENCODER = WireEncoder(
    protocol=_PROTOCOL,
    path=re.compile(r"/responses\Z"),
    base_path="/v1",
    asked=_asked,
    stream=_stream,
    whole=_whole,
    failure=_failure,
    request_id_header="x-request-id",
    signs_thinking=True,
)
