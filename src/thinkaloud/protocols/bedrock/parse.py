"""Reads an answer of Converse or ConverseStream through one builder and one set of block readers.

Blocks are keyed by their index on the wire. What is not modelled is kept: unknown blocks whole, as `Opaque`, unknown
fields of known blocks in `extra`; unknown events and deltas are told once per kind. The counts of tokens come after the
stop, so the answer ends with both of them, or with the body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from thinkaloud.content import Opaque
from thinkaloud.errors import MalformedStream, ProviderError, TruncatedStream
from thinkaloud.jsontext import Json, loads
from thinkaloud.messages import StopReason
from thinkaloud.protocols.base import AnyServerEvent, ErrorResponse, ParseContext, decoded
from thinkaloud.protocols.bedrock.blocks import (
    PROTOCOL_ID,
    SERVER_TOOL,
    BlockReader,
    Exactly,
    OpaqueReader,
    RedactedReader,
    TextReader,
    ThinkingReader,
    ToolUseReader,
    opaque_kind,
)
from thinkaloud.protocols.bedrock.errors import error
from thinkaloud.protocols.bedrock.stops import BOTCHED, STOP_REASONS
from thinkaloud.protocols.bedrock.usage import read_usage
from thinkaloud.protocols.bedrock.whole import WHOLE, begun_readably
from thinkaloud.protocols.call_ids import CallIds
from thinkaloud.protocols.fields import (
    JsonObject,
    as_object,
    count_field,
    exact,
    kept,
    kept_field,
    list_field,
    object_field,
    text_field,
)
from thinkaloud.protocols.indexed_blocks import IndexedBlocks
from thinkaloud.protocols.tolerant import TolerantParser
from thinkaloud.usage import Usage
from thinkaloud.wire.awsevents import exception_name

# What becomes `stop_detail` under its own name.
_DETAILS = ("trace", "serviceTier", "performanceConfig")

# Fields that we ask of Claude ourselves: they are read, and kept only beside others.
_ASKED_FIELDS = frozenset({"usage", "delta", "stop_sequence"})

# Blocks that are told by a start; another one may have any form.
_STARTS = frozenset({"toolUse", "toolResult", "image"})

# Deltas without a start, and the reader of the block that each begins.
_BEGINS: dict[str, type[BlockReader]] = {"text": TextReader, "citation": TextReader}


class BedrockParser(TolerantParser):
    """Reads one answer of the protocol `bedrock-converse`."""

    def __init__(self, context: ParseContext) -> None:
        super().__init__(context)
        self._indexed: IndexedBlocks[BlockReader] = IndexedBlocks(self.builder, ToolUseReader)
        self._blocks = self._indexed.at
        self._stop_reason = ""
        self._counted = False
        self._detail: dict[str, Json] = {}

        self.call_ids = CallIds(self.builder, "tooluse", prefix_digest=context.prefix_digest)
        self.has_text = False

    # the three ways in

    def read(self, event: AnyServerEvent) -> None:
        """Read one server event. Raises the ProviderError that it carries, or MalformedStream."""
        if event.event != "contentBlockDelta":  # nearly all events are deltas
            self._read_rare(event)
            return
        raw = event.data
        try:
            data = loads(raw)
        except ValueError:
            data = decoded(raw)
        if type(data) is not dict:
            data = as_object(data, "data")
        delta = data.get("delta")
        if type(delta) is not dict:
            delta = object_field(data, "delta")
        index = data.get("contentBlockIndex")
        if type(index) is not int:
            index = _index(data)
        block = self._blocks.get(index)
        if block is not None and len(delta) == 1 and (growing := block.open) is not None:
            piece = delta.get(block.key)
            if block.piece and type(piece) is dict and len(piece) == 1:
                piece = piece.get(block.piece)
            if type(piece) is str:  # nearly all deltas
                self.builder.extend(growing, piece)
                return
        exactly = cache(partial(exact, raw))  # once for all of them: a delta may have any number of keys
        content = delta.get("reasoningContent")
        if isinstance(content, dict) and len(content) > 1 and content.get("redactedContent") is not None:
            self._take_both(index, content, exactly)
            return
        for kind, value in delta.items():
            if block is None or not block.take(kind, value, exactly):
                self._begin(index, block, kind, value, exactly)
                block = self._blocks.get(index)

    def _read_rare(self, event: AnyServerEvent) -> None:
        name = event.event
        read = _EVENTS.get(name)
        if read is not None:
            read(self, exact(event.data))
            return
        failed = exception_name(name)
        if failed is not None:
            raise self._exception(failed, event.data)
        self.tell_once("unknown_event", name, "an unknown event")

    def read_end(self) -> None:
        """End the answer if its stop has come. Raises TruncatedStream."""
        if not self._stop_reason:
            raise TruncatedStream("the stream ended without messageStop")
        self._finish()

    def read_whole(self, body: Any) -> None:
        """Read a body that was not streamed. Raises the ProviderError that it carries, or MalformedStream."""
        answer = as_object(body, "body")
        output = answer.get("output")
        if output is None:
            if any(name in answer for name in ("message", "Message", "__type", "error", "Output")):
                raise self._failure(answer)
            raise MalformedStream("the body is no answer: it has no output")
        message = object_field(as_object(output, "output"), "message")
        if not isinstance(message.get("content"), list):
            raise MalformedStream("the body is no answer: its message has no content")
        for index, block in enumerate(list_field(message, "content")):
            self._read_block(index, as_object(block, "content"))
        self._on_message_stop(answer)
        if not self._stop_reason:
            raise TruncatedStream("the body has no stopReason")
        self._on_metadata(answer)
        if not self.builder.ended:
            self._finish()

    def pending(self) -> Sequence[Callable[[], object]]:
        """What the open blocks hold back."""
        return self._indexed.pending()

    # events

    def _on_message_start(self, data: JsonObject) -> None:
        pass

    def _on_block_start(self, data: JsonObject) -> None:
        index = _index(data)
        start = object_field(data, "start")
        for key, value in start.items():
            if value is None:
                continue
            block = self._blocks.get(index)
            if key == "toolUse" and isinstance(block, ToolUseReader) and block.resume(as_object(value, key)):
                return
            self._make_way(index)
            reader = self._started(key, kept(value, key))
            if reader is not None:
                self._blocks[index] = reader
            return
        self._indexed.displace(index)

    def _take_both(self, index: int | None, content: JsonObject, exactly: Exactly) -> None:
        """Thinking and a payload in one delta: they are two blocks."""
        readable = {name: value for name, value in content.items() if name != "redactedContent"}
        for part in (readable, {"redactedContent": content["redactedContent"]}):
            if not any(part.values()):
                continue
            block = self._blocks.get(index)
            if block is None or not block.take("reasoningContent", part, exactly):
                self._begin(index, block, "reasoningContent", part, exactly)

    def _begin(self, index: int | None, block: BlockReader | None, kind: str, value: object, exactly: Exactly) -> None:
        """A delta that no open block takes: it begins one, unless it is empty or would tear another apart."""
        if value is None or value == {}:
            return
        if block is not None and not block.replaceable:
            self.tell_once("unknown_delta", kind, "a delta that fits no open block")
            return
        if kind == "toolUse":
            self._indexed.stray(index)
            self.tell_once("unknown_delta", kind, "arguments of a call that is not open")
            return
        self._make_way(index)
        begins = _BEGINS.get(kind)
        if kind == "reasoningContent":
            content = as_object(value, kind)
            if content.get("redactedContent") is not None:
                begins = RedactedReader
            elif content.keys() & {"text", "signature"}:
                begins = ThinkingReader
        if begins is not None:
            self._blocks[index] = begins(self)
        else:
            self.tell_once("unknown_delta", kind, "a delta of an unknown kind, kept as a block")
            self._blocks[index] = OpaqueReader(self, kind, {})
        self._blocks[index].take(kind, value, exactly)

    def _on_block_stop(self, data: JsonObject) -> None:
        self._indexed.stop(_index(data))

    def _on_message_stop(self, data: JsonObject) -> None:
        self._stop_reason = text_field(data, "stopReason") or self._stop_reason
        self._take_fields(data)
        if self._counted and self._stop_reason:
            self._finish()

    def _on_metadata(self, data: JsonObject) -> None:
        usage = self.tolerated(object_field, data, "usage")
        if usage:
            self._counted = True
            self.builder.update_usage(read_usage(usage, self.tolerated))
        for name in _DETAILS:
            value = self.tolerated(kept_field, data, name)
            if value:
                self._detail[name] = value
        if self._stop_reason:
            self._finish()

    # blocks

    def _started(self, key: str, value: object) -> BlockReader | None:
        """The reader of a block that begins; None where the start says nothing that its deltas do not."""
        if key in WHOLE and key != "toolUse":
            return begun_readably(self, key, value)
        if key not in _STARTS and not isinstance(value, dict):
            value = {"start": value}
        start = as_object(value, key)
        if key == "toolUse" and start.get("type") != SERVER_TOOL:
            return ToolUseReader(self, start)
        return OpaqueReader(self, key, dict(start))

    def _read_block(self, index: int, block: JsonObject) -> None:
        """Read a block of a whole body."""
        read = next((WHOLE[key] for key in block if key in WHOLE), None)
        reader = read(self, block) if read is not None else None
        if reader is not None:
            self._blocks[index] = reader
            self._indexed.stop(index)
        elif block:
            kind = opaque_kind(block)
            self.builder.opaque(Opaque(PROTOCOL_ID, kind=kind, data=kept(block, kind)))

    def _make_way(self, index: int | None) -> None:
        """A block begins: what stands at its index gives way, and calls that were stopped empty are whole."""
        self._indexed.displace(index)
        self._indexed.close_empty_calls()

    # the message

    def _take_fields(self, data: JsonObject) -> None:
        """The fields of the model's own answer that were asked for beside Converse's."""
        value = self.tolerated(kept_field, data, "additionalModelResponseFields")
        if not value:
            return
        fields = value if isinstance(value, dict) else {}
        delta = fields.get("delta")
        for holder in (fields, delta if isinstance(delta, dict) else {}):
            if isinstance(holder.get("stop_sequence"), str):
                self._detail["stop_sequence"] = holder["stop_sequence"]
        usage = self.tolerated(object_field, fields, "usage")
        details = self.tolerated(object_field, usage, "output_tokens_details") if usage else None
        if details:
            self.builder.update_usage(Usage(reasoning=self.tolerated(count_field, details, "thinking_tokens")))
        if not isinstance(value, dict) or value.keys() - _ASKED_FIELDS:
            self._detail["additionalModelResponseFields"] = value

    def _finish(self) -> None:
        botched = BOTCHED.get(self._stop_reason)
        if botched is not None:
            error_class, text = botched
            raise error_class(text, provider=self.context.origin.provider or None, code=self._stop_reason)
        for index in list(self._blocks):
            self._indexed.displace(index)
        self._indexed.close_empty_calls()
        reason = STOP_REASONS.get(self._stop_reason, StopReason.UNKNOWN)
        if reason is StopReason.END and self.builder.saw_call:
            reason = StopReason.TOOL_USE
        if reason is StopReason.LENGTH and not self.has_text:
            self.builder.notice("answer_truncated", "the output limit was reached before any text")
        detail, cut = self._detail or None, self._indexed.left_call
        self.builder.finish(reason, raw=self._stop_reason or None, detail=detail, cut=cut)

    def _exception(self, name: str, raw: str) -> ProviderError:
        try:
            payload = loads(raw) if raw else {}
        except ValueError:
            payload = {"message": raw}
        return self._failure({"__type": name, **payload} if isinstance(payload, dict) else {"__type": name})

    def _failure(self, body: Any) -> ProviderError:
        return error(ErrorResponse(body=body, provider=self.context.origin.provider or None))


_EVENTS: dict[str, Callable[[BedrockParser, JsonObject], None]] = {
    "messageStart": BedrockParser._on_message_start,
    "contentBlockStart": BedrockParser._on_block_start,
    "contentBlockStop": BedrockParser._on_block_stop,
    "messageStop": BedrockParser._on_message_stop,
    "metadata": BedrockParser._on_metadata,
}


def _index(data: JsonObject) -> int | None:
    return count_field(data, "contentBlockIndex")
