"""The content blocks of Converse while they are read: one small reader per kind.

On this wire most blocks have no start: the first delta of an unseen index opens one. A whole body gives its blocks to
the same readers, as blocks of a single delta.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from thinkaloud.block_builder import OpenBlock
from thinkaloud.content import Opaque
from thinkaloud.errors import MalformedStream
from thinkaloud.jsontext import dumps, joined_surrogates, loads_exact
from thinkaloud.protocols.fields import JsonObject, as_object, kept, list_field, object_field, rest, text_field

if TYPE_CHECKING:
    from thinkaloud.protocols.bedrock.parse import BedrockParser

PROTOCOL_ID = "bedrock-converse"

Exactly = Callable[[], JsonObject]

SERVER_TOOL = "server_tool_use"

# What stands in place of thinking that a model keeps to itself (seen at Nova 2).
_KEPT_BACK = "[REDACTED]"


class BlockReader:
    """Reads one block: given its deltas, then settled.

    open: the builder's handle; None while nothing of the block has come, and for a block that is told in one piece.
    key, piece: where text lies that goes straight into `open`: the only key of a delta, and the only one inside that;
        "" where the key itself holds it.
    replaceable: a delta that does not fit may begin a new block in its place.
    """

    open: OpenBlock | None = None
    key = ""
    piece = ""
    replaceable = True

    def __init__(self, parser: BedrockParser) -> None:
        self.parser = parser

    def take(self, kind: str, value: object, exactly: Exactly) -> bool:
        """Read a delta, given as its only key and that key's value; False: it does not fit here.

        exactly: gives the event decoded again, for values that must keep every digit.
        """
        return False

    def settle(self, *, complete: bool) -> None:
        """Bring in what is still pending, before the block is closed. complete: False when the answer was cut off."""


class TextReader(BlockReader):
    """A piece of the answer, with its citations."""

    key = "text"

    def take(self, kind: str, value: object, exactly: Exactly) -> bool:
        """Text, or a citation of it. Empty text opens no block."""
        if kind == "text":
            if not isinstance(value, str):
                value = text_field({kind: value}, kind)
            if value:
                self.parser.builder.extend(self.open or self._opened(), value)
            return True
        if kind == "citation":
            cited = object_field(object_field(exactly(), "delta"), kind)
            self.cite(cited)
            return True
        return False

    def cite(self, citation: JsonObject) -> None:
        """Add a citation."""
        (self.open or self._opened()).citations.append(kept(citation, "citation"))

    def read_cited(self, content: JsonObject) -> None:
        """Read a whole block of text with citations."""
        pieces = [as_object(kept(piece, "content"), "content") for piece in list_field(content, "content")]
        for piece in pieces:
            self.take("text", piece.get("text"), dict)
        for citation in list_field(content, "citations"):
            self.cite(as_object(citation, "citations"))
        if len(pieces) > 1 or any(piece.keys() != {"text"} for piece in pieces):
            (self.open or self._opened()).extra["content"] = pieces  # type: ignore[assignment]

    def settle(self, *, complete: bool) -> None:
        """Note whether there was any text."""
        if self.open is not None and self.open.fragments:
            self.parser.has_text = True

    def _opened(self) -> OpenBlock:
        self.open = self.parser.builder.open_text()
        return self.open


class ThinkingReader(BlockReader):
    """Thinking with its signature, visible or withheld."""

    key = "reasoningContent"
    piece = "text"
    _known = frozenset({"text", "signature"})

    def __init__(self, parser: BedrockParser) -> None:
        super().__init__(parser)
        self._signature: list[str] = []

    def take(self, kind: str, value: object, exactly: Exactly) -> bool:
        """Text and signature, each in deltas of its own or together. Empty ones open no block."""
        if kind != "reasoningContent":
            return False
        delta = value if isinstance(value, dict) else as_object(value, kind)
        if "text" in delta:
            text = delta["text"] if isinstance(delta["text"], str) else text_field(delta, "text")
        elif "signature" in delta:
            text = ""
        else:
            return False
        if text:
            if text == _KEPT_BACK and self.open is None:
                self._opened().extra["text"] = text
            else:
                self.parser.builder.extend(self.open or self._opened(), text)
        if "signature" in delta:
            signature = text_field(delta, "signature")
            if signature:
                self._signature.append(signature)
                if self.open is None:
                    self._opened()
        return True

    def read_whole(self, content: JsonObject) -> None:
        """Read a whole block."""
        extra = rest(content, self._known)
        self.take("reasoningContent", content, dict)
        if extra:
            (self.open or self._opened()).extra.update(extra)

    def settle(self, *, complete: bool) -> None:
        """Join the pieces of the signature."""
        if self.open is not None and self._signature:
            self.open.signature = "".join(self._signature)

    def _opened(self) -> OpenBlock:
        self.open = self.parser.builder.open_thinking()
        return self.open


class RedactedReader(BlockReader):
    """Thinking of which only the payload comes, in one delta or several."""

    def __init__(self, parser: BedrockParser) -> None:
        super().__init__(parser)
        self._pieces: list[str] = []

    def take(self, kind: str, value: object, exactly: Exactly) -> bool:
        """A piece of the payload."""
        if kind != "reasoningContent" or not isinstance(value, dict) or value.get("redactedContent") is None:
            return False
        piece = text_field(value, "redactedContent")
        if piece:
            if self.open is None:
                self.open = self.parser.builder.open_thinking()
            self._pieces.append(piece)
        return True

    def settle(self, *, complete: bool) -> None:
        """Join the payload."""
        if self.open is not None:
            self.open.redacted_data = joined_base64(self._pieces)


class ToolUseReader(BlockReader):
    """A call whose arguments stream as pieces of JSON text, or come whole."""

    key = "toolUse"
    piece = "input"
    replaceable = False
    _known = frozenset({"toolUseId", "name", "input"})

    def __init__(self, parser: BedrockParser, start: JsonObject) -> None:
        super().__init__(parser)
        id, name, extra = text_field(start, "toolUseId"), text_field(start, "name"), rest(start, self._known)
        if extra.get("type") == "tool_use":  # says nothing, and is refused when it goes back
            del extra["type"]
        self._id, self._name = id, name
        self._input = _input_text(start.get("input"))
        self.open = self._block = parser.builder.open_tool_call(parser.call_ids.own(id), name)
        self._block.extra.update(extra)

    def resume(self, start: JsonObject) -> bool:
        """Go on where the start of this very call is repeated; False: it is the start of another one."""
        if not self._id or (text_field(start, "toolUseId"), text_field(start, "name")) != (self._id, self._name):
            return False
        self._input = _input_text(start.get("input")) or self._input
        return True

    def take(self, kind: str, value: object, exactly: Exactly) -> bool:
        """A piece of the arguments."""
        if kind != "toolUse":
            return False
        piece = value.get("input") if isinstance(value, dict) else None
        if not isinstance(piece, str):
            piece = text_field(as_object(value, kind), "input")
        self.parser.builder.extend(self._block, piece)
        return True

    def settle(self, *, complete: bool) -> None:
        """Use the arguments of the start where no pieces have followed it."""
        if self._input and not self._block.fragments:
            self.parser.builder.extend(self._block, self._input)


def _input_text(value: object) -> str:
    """The arguments that came as an object, as JSON text; "" for none."""
    if value is None or value == "":
        return ""
    arguments = as_object(kept(value, "input"), "input")
    return dumps(arguments) if arguments else ""


class OpaqueReader(BlockReader):
    """A block that is not modelled: kept whole, with all its deltas merged in, so that it can be replayed.

    key: the key that the block stands under on the wire.
    """

    replaceable = False

    def __init__(self, parser: BedrockParser, key: str, start: JsonObject) -> None:
        super().__init__(parser)
        self._key = key
        self._value = start
        self._pieces: dict[str, list[str]] = {}
        self._bytes: dict[str, list[str]] = {}  # of each source, joined at the end
        self._index = parser.builder.reserve()

    def take(self, kind: str, value: object, exactly: Exactly) -> bool:
        """Merge a delta of any kind."""
        value = kept(object_field(exactly(), "delta").get(kind), kind)
        if kind == self._key == "toolUse":
            self._pieces.setdefault("input", []).append(text_field(as_object(value, kind), "input"))
        elif isinstance(value, list):
            self._extend("content", value)
        elif isinstance(value, dict):
            for name, item in value.items():
                self._merge(name, item)
        else:
            self._merge(kind, value)
        return True

    def settle(self, *, complete: bool) -> None:
        """Tell the block."""
        for name, pieces in self._pieces.items():
            text = "".join(pieces)
            self._value[name] = text if text.isascii() else joined_surrogates(text)
        for name, pieces in self._bytes.items():
            source = self._value[name]
            if isinstance(source, dict):
                source["bytes"] = joined_base64(pieces)
        if self._key == "toolUse":
            complete = self._decode_input() and complete
        elif self._key == "toolResult":
            self._value.setdefault("content", [])
        data: JsonObject = {self._key: self._value}
        block = Opaque(PROTOCOL_ID, kind=opaque_kind(data), data=data, complete=complete)  # type: ignore[arg-type]
        self.parser.builder.opaque(block, index=self._index)

    def _merge(self, name: str, item: object) -> None:
        """Append texts and lists, join the bytes of a source, replace the rest."""
        standing = self._value.get(name)
        if isinstance(item, str) and (standing is None or name in self._pieces):
            self._pieces.setdefault(name, []).append(item)
        elif isinstance(item, list):
            self._extend(name, item)
        elif isinstance(item, dict) and isinstance(standing, dict):
            grown = {**standing, **item}
            if isinstance(standing.get("bytes"), str) and isinstance(item.get("bytes"), str):
                self._bytes.setdefault(name, [standing["bytes"]]).append(item["bytes"])
            self._value[name] = grown
        elif item is not None:
            self._value[name] = item

    def _extend(self, name: str, items: list[object]) -> None:
        standing = self._value.get(name)
        if isinstance(standing, list):
            cast("list[object]", standing).extend(items)
        else:
            self._value[name] = list(items)

    def _decode_input(self) -> bool:
        """Put the arguments in as an object; False where they were cut off and can no longer be replayed."""
        text = self._value.get("input", "")
        if not isinstance(text, str):
            return True
        try:
            self._value["input"] = as_object(kept(loads_exact(text), "input"), "input") if text.strip() else {}
        except (ValueError, MalformedStream):
            return False
        return True


def opaque_kind(block: JsonObject) -> str:
    """The name of a block that is not modelled: its key, except where a tool is the provider's own."""
    use = block.get("toolUse")
    if isinstance(use, dict) and use.get("type") == SERVER_TOOL:
        return SERVER_TOOL
    return next(iter(block), "")


def joined_base64(pieces: list[str]) -> str:
    """The base64 text of joined bytes. A single piece stays as it came."""
    if len(pieces) == 1:
        return pieces[0]
    try:
        return b64encode(b"".join(b64decode(piece, validate=True) for piece in pieces)).decode("ascii")
    except ValueError:
        return "".join(pieces)
