"""Reads an answer of the Messages API, streamed or whole, through one builder and one set of block functions.

Blocks are keyed by their index on the wire. What is not modelled is kept: unknown blocks whole, as `Opaque`, unknown
fields of known blocks in `extra`; unknown events and deltas are told once per kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from thinkaloud.block_builder import OpenBlock
from thinkaloud.errors import MalformedStream, ProviderError, TruncatedStream
from thinkaloud.jsontext import Json, is_json_object, loads
from thinkaloud.messages import StopReason
from thinkaloud.protocols.anthropic.blocks import IMPLIED, BlockReader, ToolUseReader, is_repeated, names, reader_for
from thinkaloud.protocols.anthropic.errors import error
from thinkaloud.protocols.anthropic.usage import Counts
from thinkaloud.protocols.base import AnyServerEvent, ErrorResponse, ParseContext
from thinkaloud.protocols.call_ids import CallIds
from thinkaloud.protocols.fields import (
    JsonObject,
    as_object,
    exact,
    index_field,
    kept,
    kept_field,
    list_field,
    object_field,
    text_field,
)
from thinkaloud.protocols.indexed_blocks import IndexedBlocks
from thinkaloud.protocols.tolerant import TolerantParser

_STOP_REASONS = {
    "end_turn": StopReason.END,
    "max_tokens": StopReason.LENGTH,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "tool_use": StopReason.TOOL_USE,
    "pause_turn": StopReason.PAUSE,
    "refusal": StopReason.REFUSAL,
    "model_context_window_exceeded": StopReason.LENGTH,
    "compaction": StopReason.END,
    "sensitive": StopReason.REFUSAL,  # seen at compatible servers
}

# What becomes `stop_detail` under its own name, wherever the end of a message tells it.
_DETAILS = ("stop_details", "stop_sequence", "container", "context_management", "input_transformations")

_TRANSFORMATIONS = {
    "thinking_dropped": ("thinking_dropped_by_server", "the server left out a thinking block"),
    "thinking_mismatch_allowed": (
        "thinking_mismatch_allowed",
        "the server let a thinking block pass that does not fit",
    ),
}


class AnthropicParser(TolerantParser):
    """Reads one answer of the protocol `anthropic-messages`."""

    def __init__(self, context: ParseContext) -> None:
        super().__init__(context)
        self._indexed: IndexedBlocks[BlockReader] = IndexedBlocks(self.builder, ToolUseReader)
        self._blocks = self._indexed.at
        self._prefilled: dict[int | None, JsonObject] = {}  # what the opening message has begun and nothing followed
        self._open_calls: list[OpenBlock] = []
        self._late = False
        self._begun = False
        self._counts = Counts()
        self._stop_reason = ""
        self._detail: dict[str, Json] = {}

        self.call_ids = CallIds(self.builder, "call", prefix_digest=context.prefix_digest)
        self.estimated_tokens = 0
        self.has_text = False
        self.last_kind = ""

    # the three ways in

    def read(self, event: AnyServerEvent) -> None:
        """Read one server event. Raises the ProviderError that it carries, or MalformedStream."""
        raw = event.data
        try:
            data = loads(raw)
        except ValueError as fault:
            self._read_other(event, str(fault))
            return
        if not isinstance(data, dict):
            self._read_other(event, "it is no object", data)
            return
        kind = data.get("type")
        if kind == "content_block_delta" and "error" not in data:  # nearly all events are these
            self._on_block_delta(data, raw)
            return
        if kind == "error" or data.get("error"):
            raise self._failure(data)
        read = _EVENTS.get(kind) if isinstance(kind, str) else None
        if read is None:
            read = _EVENTS.get(event.event)
            if read is None:
                self.tell_once("unknown_event", kind if isinstance(kind, str) else event.event, "an unknown event")
                return
        read(self, data, raw)

    def read_end(self) -> None:
        """End the answer if its stop reason has come. Raises TruncatedStream."""
        if not self._stop_reason:
            raise TruncatedStream("the stream ended without message_stop and without a stop reason")
        self._finish(cut=True)

    def read_whole(self, body: Any) -> None:
        """Read a body that was not streamed. Raises the ProviderError that it carries, or MalformedStream."""
        if isinstance(body, list) and any(isinstance(item, dict) and item.get("error") for item in body):
            raise self._failure(body)
        message = as_object(body, "body")
        if message.get("type") == "error" or message.get("error"):
            raise self._failure(body)
        if not isinstance(message.get("content"), list):
            raise MalformedStream("the body is no message: it has no content")
        self._counts.output_is_final = True
        self._begin(message)
        for index, block in enumerate(list_field(message, "content")):
            self._open(index, as_object(block, "content"))
            self._stop(index)
        self._take_end(message)
        self._finish()

    def pending(self) -> Sequence[Callable[[], object]]:
        """What the open blocks hold back."""
        return self._indexed.pending()

    # events

    def _on_message_start(self, data: JsonObject, raw: str) -> None:
        if data.get("message") is None:  # a chunk without content of its own (seen at Bedrock)
            return
        message = object_field(data, "message")
        if self._begun:  # aggregating proxies start twice: the first one counts
            self._take_usage(message)
            return
        self._begin(message)
        if not message.get("content"):
            return
        for index, block in enumerate(list_field(object_field(exact(raw), "message"), "content")):
            self._open(index, as_object(block, "content"))
            self._prefilled[index] = as_object(block, "content")

    def _on_block_start(self, data: JsonObject, raw: str) -> None:
        index, block = index_field(data), object_field(exact(raw), "content_block")
        if self._prefilled and self._resumed(index, block):
            return
        self._open(index, block)

    def _resumed(self, index: int | None, block: JsonObject) -> bool:
        """Go on with the block of the opening message that this is the start of; else close all that it has begun."""
        place = next(iter(self._prefilled)) if index is None else index
        prefilled = self._prefilled.get(place)
        if prefilled is not None and names(block, prefilled):
            del self._prefilled[place], self._blocks[place]
            return False
        if prefilled is None or not is_repeated(block, prefilled):
            for begun in list(self._prefilled):
                self._displace(begun)
            return False
        if place != index:
            self._displace(index)
            self._blocks[index] = self._blocks.pop(place)
        del self._prefilled[place]
        self._blocks[index].resume(block)
        return True

    def _on_block_delta(self, data: JsonObject, raw: str) -> None:
        delta = data.get("delta")
        index = data.get("index")
        if not isinstance(delta, dict) or not isinstance(index, int):
            delta, index = object_field(data, "delta"), index_field(data)
        block = self._blocks.get(index)
        if block is None or block.open is None or delta.get("type") != block.grows_by:
            self._other_delta(index, block, delta, raw)
            return
        piece = delta.get(block.piece)
        self.builder.extend(block.open, piece if isinstance(piece, str) else text_field(delta, block.piece))
        if len(delta) > 2:
            block.note(delta)

    def _other_delta(self, index: int | None, block: BlockReader | None, delta: JsonObject, raw: str) -> None:
        kind = delta.get("type")
        if not isinstance(kind, str):
            self.tell_once("unknown_delta", str(kind), "a delta of no known type")
        elif block is not None and block.take(kind, delta, raw):
            pass
        elif kind in IMPLIED and (block is None or block.replaceable):
            # A server that gives the block no start, or changes its type midway: nothing that is readable gets lost.
            self._open(index, {"type": IMPLIED[kind]})
            self._on_block_delta({"index": index, "delta": delta}, raw)
        else:
            if kind == "input_json_delta":
                self._indexed.stray(index)
            self.tell_once("unknown_delta", kind, "a delta that fits no open block")

    def _on_block_stop(self, data: JsonObject, raw: str) -> None:
        self._stop(index_field(data))

    def _on_message_delta(self, data: JsonObject, raw: str) -> None:
        self._take_end(object_field(data, "delta"))
        self._take_end(data)
        self._take_usage(data, final=True)

    def _on_message_stop(self, data: JsonObject, raw: str) -> None:
        self._finish()

    def _on_error(self, data: JsonObject, raw: str) -> None:
        raise self._failure(data)

    def _pass(self, data: JsonObject, raw: str) -> None:
        pass

    def _read_other(self, event: AnyServerEvent, fault: str, data: object = None) -> None:
        """An event whose data is no JSON object."""
        if event.event == "error" or (isinstance(data, list) and any(isinstance(item, dict) for item in data)):
            raise self._failure(event.data if data is None else data)
        if not event.data.startswith("[DONE]"):  # a gateway's end marker: the stop reason decides
            raise MalformedStream(f"an event's data cannot be read: {fault}")

    # blocks

    def _open(self, index: int | None, block: JsonObject) -> None:
        kind = block.get("type")
        if not isinstance(kind, str):
            raise MalformedStream("a content block has no type")
        self._displace(index)
        self._indexed.close_empty_calls()
        if kind == "fallback":
            self._take_model_change(block)
        reader = self._blocks[index] = reader_for(block)(self, block)
        if isinstance(reader, ToolUseReader):
            self._open_calls.append(reader.call)
            self._late = self._late or bool(self._stop_reason)
        if kind != "tool_use" or block.get("name"):
            self.last_kind = kind

    def _stop(self, index: int | None) -> None:
        self._prefilled.pop(index, None)
        self._indexed.stop(index)

    def _displace(self, index: int | None) -> None:
        self._prefilled.pop(index, None)
        self._indexed.displace(index)

    # the message

    def _begin(self, message: JsonObject) -> None:
        self._begun = True
        self.call_ids.answer = self.tolerated(text_field, message, "id") or ""
        self.builder.response(id=self.call_ids.answer, model=self.tolerated(text_field, message, "model"))
        self._take_usage(message)
        self._take_details(message)

    def _take_end(self, data: JsonObject) -> None:
        self._stop_reason = text_field(data, "stop_reason") or self._stop_reason
        self._take_details(data)

    def _take_details(self, data: JsonObject) -> None:
        for name in _DETAILS:
            value = data.get(name)
            if value:
                self._detail[name] = self.tolerated(kept_field, data, name)
        if "input_transformations" in data:
            self.tolerated(self._tell_transformations, data, "input_transformations")

    def _tell_transformations(self, data: JsonObject, name: str) -> None:
        for item in list_field(data, name):
            entry = as_object(kept(item, name), name)
            kind, path, reason = (text_field(entry, field) for field in ("type", "path", "reason"))
            if kind in _TRANSFORMATIONS and (kind, path) not in self._told:
                self._told.add((kind, path))
                code, text = _TRANSFORMATIONS[kind]
                self.builder.notice(code, f"{text}: {reason}", path=path, detail=entry)  # type: ignore[arg-type]

    def _take_model_change(self, block: JsonObject) -> None:
        model = self.tolerated(text_field, self.tolerated(object_field, block, "to") or {}, "model")
        if model and self.builder.started:
            self.builder.notice("model_changed", f"from here on {model} answers", detail={"model": model})
        self.builder.response(model=model)

    def _take_usage(self, message: JsonObject, *, final: bool = False) -> None:
        usage = self.tolerated(object_field, message, "usage")
        if usage:
            self._counts.take(usage, self.tolerated, final=final)
            self.builder.update_usage(self._counts.usage())

    def _finish(self, *, cut: bool = False) -> None:
        """End the answer. cut: the body ended before the wire said so, though a stop reason has come."""
        self._indexed.settle()
        self._indexed.close_empty_calls()
        calls = [call for call in self._open_calls if not call.closed]
        if cut:
            cut = any(call.fragments or self._late or not call.held for call in calls)
        else:
            cut = any(not call.held and not is_json_object(str(call.fragments)) for call in calls)
        if not self._counts.output_is_final:
            self._counts.output_is_final = True
            self.builder.update_usage(self._counts.usage())
        reason = _STOP_REASONS.get(self._stop_reason, StopReason.UNKNOWN)
        if reason is StopReason.END and self.last_kind == "tool_use":
            reason = StopReason.TOOL_USE
        if reason is StopReason.LENGTH and not self.has_text:
            self.builder.notice("answer_truncated", "the output limit was reached before any text")
        self.builder.finish(reason, raw=self._stop_reason or None, detail=self._detail or None, cut=cut)

    def _failure(self, body: Any) -> ProviderError:
        return error(ErrorResponse(body=body, provider=self.context.origin.provider or None))


_EVENTS: dict[str, Callable[[AnthropicParser, JsonObject, str], None]] = {
    "content_block_delta": AnthropicParser._on_block_delta,
    "content_block_start": AnthropicParser._on_block_start,
    "content_block_stop": AnthropicParser._on_block_stop,
    "message_start": AnthropicParser._on_message_start,
    "message_delta": AnthropicParser._on_message_delta,
    "message_stop": AnthropicParser._on_message_stop,
    "error": AnthropicParser._on_error,
    "ping": AnthropicParser._pass,
    "vertex_event": AnthropicParser._pass,
}
