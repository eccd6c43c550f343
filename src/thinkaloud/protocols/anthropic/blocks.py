"""The content blocks of the Messages API while they are read: one small reader per kind.

A whole body gives its blocks to the same readers, as blocks that get no deltas.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from thinkaloud.block_builder import OpenBlock
from thinkaloud.content import Opaque
from thinkaloud.errors import MalformedStream
from thinkaloud.jsontext import dumps, joined_surrogates, loads_exact
from thinkaloud.protocols.fields import (
    JsonObject,
    as_object,
    count_field,
    exact,
    kept,
    list_field,
    object_field,
    rest,
    text_field,
)

if TYPE_CHECKING:
    from thinkaloud.protocols.anthropic.parse import AnthropicParser

_Container = TypeVar("_Container", list[Any], dict[str, Any])

PROTOCOL_ID = "anthropic-messages"


class BlockReader:
    """Reads one block: made from its start, then given its deltas, then settled.

    open: the builder's handle; None for a block that is told in one piece.
    grows_by, piece: the type of delta that goes straight into `open`, and the field of it that does.
    replaceable: a readable delta of another type may begin a new block in its place.
    """

    open: OpenBlock | None = None
    grows_by = ""
    piece = ""
    replaceable = False

    def __init__(self, parser: AnthropicParser, start: JsonObject) -> None:
        self.parser = parser

    def resume(self, start: JsonObject) -> None:
        """Go on with a block that the opening message has begun: this is its own start, so nothing is told twice."""

    def note(self, delta: JsonObject) -> None:
        """Read the further fields of a delta that has gone into `open`."""

    def take(self, kind: str, delta: JsonObject, raw: str) -> bool:
        """Read a delta of another type; False: it is not known here."""
        return False

    def settle(self, *, complete: bool) -> None:
        """Bring in what is still pending, before the block is closed. complete: False when the answer was cut off."""


def _take_remainder(parser: AnthropicParser, block: OpenBlock, text: str) -> None:
    """Add what a repeated start has beyond the text that stands."""
    standing = str(block.fragments)
    if text.startswith(standing):
        parser.builder.extend(block, text[len(standing) :])


def _take_signature(block: OpenBlock, data: JsonObject) -> None:
    """Keep a signature wherever it stands. The last one counts; an empty one is none."""
    signature = text_field(data, "signature")
    if signature:
        block.signature = signature


class TextReader(BlockReader):
    """A piece of the answer, with its citations."""

    grows_by = "text_delta"
    piece = "text"
    replaceable = True
    _known = frozenset({"type", "text", "citations"})

    def __init__(self, parser: AnthropicParser, start: JsonObject) -> None:
        super().__init__(parser, start)
        text, extra = text_field(start, "text"), rest(start, self._known)
        citations = [as_object(kept(item, "citations"), "citations") for item in list_field(start, "citations")]
        self.open = self._block = parser.builder.open_text()
        self._block.extra.update(extra)
        self._block.citations.extend(citations)  # type: ignore[arg-type]
        parser.builder.extend(self._block, text)

    def resume(self, start: JsonObject) -> None:
        """Take what the start has more of the text."""
        _take_remainder(self.parser, self._block, text_field(start, "text"))
        self._block.extra.update(rest(start, self._known))

    def take(self, kind: str, delta: JsonObject, raw: str) -> bool:
        """Citations, and the signatures that some gateways put on text."""
        if kind == "citations_delta":
            citation = object_field(delta, "citation")
            self._block.citations.append(kept(citation, "citation"))
            return True
        if kind == "signature_delta":
            _take_signature(self._block, delta)
            return True
        return False

    def settle(self, *, complete: bool) -> None:
        """Note whether there was any text."""
        if self._block.fragments:
            self.parser.has_text = True


class ThinkingReader(BlockReader):
    """Thinking with its signature, visible or withheld."""

    grows_by = "thinking_delta"
    piece = "thinking"
    replaceable = True
    _known = frozenset({"type", "thinking", "signature"})

    def __init__(self, parser: AnthropicParser, start: JsonObject) -> None:
        super().__init__(parser, start)
        text, extra = text_field(start, "thinking"), rest(start, self._known)
        text_field(start, "signature")
        self.open = self._block = parser.builder.open_thinking()
        self._block.extra.update(extra)
        _take_signature(self._block, start)
        parser.builder.extend(self._block, text)

    def resume(self, start: JsonObject) -> None:
        """Take what the start has more of the thinking, and its signature."""
        _take_remainder(self.parser, self._block, text_field(start, "thinking"))
        _take_signature(self._block, start)
        self._block.extra.update(rest(start, self._known))

    def note(self, delta: JsonObject) -> None:
        """A signature in the wrong place (seen at gateways), and the estimate of withheld thinking."""
        _take_signature(self._block, delta)
        tokens = self.parser.tolerated(count_field, delta, "estimated_tokens")
        if tokens:  # an increment on the wire
            self.parser.estimated_tokens += tokens
            self.parser.builder.progress(self.parser.estimated_tokens)

    def take(self, kind: str, delta: JsonObject, raw: str) -> bool:
        """The signature."""
        if kind == "signature_delta":
            _take_signature(self._block, delta)
            return True
        return False


class RedactedReader(BlockReader):
    """Thinking of which only the payload comes, whole with the start."""

    _known = frozenset({"type", "data"})

    def __init__(self, parser: AnthropicParser, start: JsonObject) -> None:
        super().__init__(parser, start)
        data, extra = text_field(start, "data"), rest(start, self._known)
        if data:
            parser.builder.redacted(data, extra=extra)
        else:
            parser.builder.notice("redacted_without_data", "redacted thinking without its payload was left out")


class ToolUseReader(BlockReader):
    """A call whose arguments stream as pieces of JSON text, or come whole with the start."""

    grows_by = "input_json_delta"
    piece = "partial_json"
    _known = frozenset({"type", "id", "name", "input"})

    def __init__(self, parser: AnthropicParser, start: JsonObject) -> None:
        super().__init__(parser, start)
        id, name, extra = text_field(start, "id"), text_field(start, "name"), rest(start, self._known)
        self._input = object_field(start, "input")
        kept(self._input, "input")
        self.open = self.call = parser.builder.open_tool_call(parser.call_ids.own(id), name)
        self.call.extra.update(extra)

    def resume(self, start: JsonObject) -> None:
        """Take the input of the start, if it has one."""
        self._input = kept(object_field(start, "input"), "input") or self._input
        self.call.extra.update(rest(start, self._known))

    def take(self, kind: str, delta: JsonObject, raw: str) -> bool:
        """The signatures that some gateways put on calls."""
        if kind == "signature_delta":
            _take_signature(self.call, delta)
            return True
        return False

    def settle(self, *, complete: bool) -> None:
        """Use the input of the start where no pieces have followed it."""
        if self._input and not self.call.fragments:
            self.parser.builder.extend(self.call, dumps(self._input))


class NamelessReader(BlockReader):
    """A call without a name. It opens with its first arguments or its end: until then a start may name it."""

    def __init__(self, parser: AnthropicParser, start: JsonObject) -> None:
        super().__init__(parser, start)
        self._id, self._extra = text_field(start, "id"), rest(start, ToolUseReader._known)
        self._input = kept(object_field(start, "input"), "input")

    def _opened(self) -> OpenBlock:
        if self.open is None:
            self.open = self.parser.builder.open_tool_call(self.parser.call_ids.own(self._id), "")
            self.open.extra.update(self._extra)
        return self.open

    def take(self, kind: str, delta: JsonObject, raw: str) -> bool:
        """A piece of the arguments, or the signature."""
        if kind == "input_json_delta":
            self.parser.builder.extend(self._opened(), text_field(delta, "partial_json"))
        elif kind == "signature_delta":
            _take_signature(self._opened(), delta)
        else:
            return False
        return True

    def settle(self, *, complete: bool) -> None:
        """Use the input of the start where no pieces have followed it."""
        if not self._opened().fragments and self._input:
            self.parser.builder.extend(self._opened(), dumps(self._input))


class OpaqueReader(BlockReader):
    """A block that is not modelled: kept whole, with all its deltas merged in, so that it can be replayed."""

    def __init__(self, parser: AnthropicParser, start: JsonObject) -> None:
        super().__init__(parser, start)
        self._kind = text_field(start, "type")
        self._data: JsonObject = dict(kept(start, self._kind))
        self._input: list[str] = []
        self._growing: dict[str, list[str]] = {}
        self._grown: set[str] = set()  # lists and objects that are ours, so that they grow in place
        self._index = parser.builder.reserve()

    def resume(self, start: JsonObject) -> None:
        """Take the fields of the start in the place of the earlier ones."""
        for name, value in kept(start, self._kind).items():
            self._replace(name, value)

    def take(self, kind: str, delta: JsonObject, raw: str) -> bool:
        """Merge a delta of any type."""
        if kind == "input_json_delta":
            self._input.append(text_field(delta, "partial_json"))
            return True
        delta = kept(object_field(exact(raw), "delta"), kind)
        if kind == "citations_delta":
            self._merge("citations", [delta.get("citation")])
            return True
        if kind not in _MERGED and kind not in _REPLACED:
            self.parser.tell_once("unknown_delta", kind, "a delta of an unknown type, merged into its block")
        for name, value in delta.items():
            if name == "type":
                continue
            if kind in _REPLACED:
                self._replace(name, value)
            else:
                self._merge(name, value)
        return True

    def _replace(self, name: str, value: object) -> None:
        self._growing.pop(name, None)
        self._grown.discard(name)
        self._data[name] = value

    def _merge(self, name: str, value: object) -> None:
        """Append texts and lists, update objects, replace the rest."""
        standing = self._data.get(name)
        if isinstance(value, str) and (standing is None or isinstance(standing, str)):
            self._growing.setdefault(name, [standing or ""]).append(value)
        elif isinstance(value, list) and isinstance(standing, list):
            self._own(name, standing).extend(value)
        elif isinstance(value, dict) and isinstance(standing, dict):
            self._own(name, standing).update(value)
        elif value is not None:
            self._replace(name, value)

    def _own(self, name: str, standing: _Container) -> _Container:
        """The list or object in a field, copied once, before it grows."""
        if name not in self._grown:
            self._grown.add(name)
            standing = copy(standing)
            self._data[name] = standing
        return standing

    def settle(self, *, complete: bool) -> None:
        """Tell the block."""
        for name, pieces in self._growing.items():
            self._data[name] = _whole("".join(pieces))
        text = _whole("".join(self._input))
        if text.strip():
            value = _as_input(text)
            if value is None:
                # Cut off: it can be looked at, but no longer replayed.
                self._data["partial_json"], complete = text, False
            else:
                self._data["input"] = value
        block = Opaque(PROTOCOL_ID, kind=self._kind, data=self._data, complete=complete)  # type: ignore[arg-type]
        self.parser.builder.opaque(block, index=self._index)


# Types of delta whose fields are known to grow, and those whose fields replace what stands.
_MERGED = frozenset({"text_delta", "thinking_delta"})
_REPLACED = frozenset({"signature_delta", "compaction_delta"})

BLOCKS: dict[str, type[BlockReader]] = {
    "text": TextReader,
    "thinking": ThinkingReader,
    "redacted_thinking": RedactedReader,
    "tool_use": ToolUseReader,
}

# Readable deltas, and the block that they mean where none is open for them.
IMPLIED = {"text_delta": "text", "thinking_delta": "thinking"}


def reader_for(block: JsonObject) -> type[BlockReader]:
    """The class that reads a block of this start. Raises MalformedStream."""
    kind = text_field(block, "type")
    if kind == "tool_use" and not text_field(block, "name"):
        return NamelessReader
    return BLOCKS.get(kind, OpaqueReader)


def is_repeated(block: JsonObject, prefilled: JsonObject) -> bool:
    """Whether a start is that of a block which the opening message has held already.

    It is the same block, a call of the same id and name, or one whose text has grown since.
    """
    if block.get("type") != prefilled.get("type"):
        return False
    if block == prefilled:
        return True
    if block.get("id"):
        return block["id"] == prefilled.get("id") and block.get("name") == prefilled.get("name")
    if prefilled.get("signature") and block.get("signature") != prefilled["signature"]:
        return False
    text, standing = (data.get("text", data.get("thinking")) for data in (block, prefilled))
    return isinstance(text, str) and isinstance(standing, str) and text.startswith(standing)


def names(block: JsonObject, prefilled: JsonObject) -> bool:
    """Whether a start is that of a call which the opening message has held without its name."""
    same = block.get("type") == prefilled.get("type") == "tool_use" and block.get("id") == prefilled.get("id")
    return same and bool(block.get("name")) and not prefilled.get("name")


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return joined_surrogates(text)
    return text


def _as_input(text: str) -> JsonObject | None:
    try:
        return as_object(kept(loads_exact(text), "input"), "input")
    except (ValueError, MalformedStream):
        return None
