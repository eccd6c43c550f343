"""The output items of the Responses API while they are read: one small reader per kind.

An item is first seen, then grows by deltas, then is finished; the finished item is the truth, and gives what did not
stream. A whole body gives its items to the same readers, finished at once. What of a finished item is not in its block
is kept in `extra`, so that the item goes back as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from thinkaloud.block_builder import OpenBlock
from thinkaloud.content import Opaque
from thinkaloud.jsontext import Json
from thinkaloud.protocols.fields import JsonObject, as_object, kept, list_field, rest, text_field
from thinkaloud.protocols.openai_responses.calls import CallReader, CustomCallReader
from thinkaloud.protocols.openai_responses.item_reader import (
    ARGUMENTS_DELTA,
    INPUT_DELTA,
    REASONING_DELTA,
    REFUSAL_DELTA,
    SUMMARY_DELTA,
    TEXT_DELTA,
    UNPLACED,
    ItemReader,
    index_of,
)

if TYPE_CHECKING:
    from thinkaloud.protocols.openai_responses.parse import OpenAIResponsesParser

PROTOCOL_ID = "openai-responses"

BETWEEN_PARTS = "\n\n"
"""What stands between the parts of one reasoning item in the text of its block."""


class ReasoningReader(ItemReader):
    """Thinking: parts of a summary, or the raw text of open models, with the encrypted thinking as signature.

    One item is one block. Where a server gives both a summary and raw text, the block shows what came first.
    """

    _shown = frozenset({"type", "encrypted_content", "summary", "content"})

    def __init__(self, parser: OpenAIResponsesParser, item: JsonObject) -> None:
        super().__init__(parser, item)
        self.block = self._block = parser.builder.open_thinking()
        self._told: set[object] = set()  # parts whose text has begun
        self._announced: JsonObject | None = item

    def bring_in(self) -> None:
        """Take the announced parts. The announced seal is that of unfinished thinking, and no signature."""
        item, self._announced = self._announced, None
        if item is None or self._block.fragments:
            return
        for kind, (field, _) in _REASONING_PARTS.items():
            for place, text in enumerate(_texts(list_field(item, field))):
                self.grow(kind, place, text)

    def grow(self, kind: str, place: object, piece: str) -> bool:
        """Begin a part, with a blank line before it, or the first one."""
        if kind not in _REASONING_PARTS:
            return False
        if not piece or self.grows_by not in ("", kind):
            return True
        if self.grows_by and self.place != place:
            piece = BETWEEN_PARTS + piece
        self.grows_by, self.place_name, self.place = kind, _REASONING_PARTS[kind][1], place
        self._told.add(index_of(place))
        self.parser.builder.extend(self._block, piece)
        return True

    def whole_part(self, kind: str, place: object, text: str) -> None:
        """Take the text of a part that had no deltas. What is missing of one that had comes with the item."""
        if self.grows_by not in ("", kind) or index_of(place) not in self._told:
            self.grow(kind, place, text)

    def finish(self, item: JsonObject) -> None:
        """Close the block with its signature."""
        block, extra = self._block, rest(item, self._shown)
        parts = {kind: list_field(item, field) for kind, (field, _) in _REASONING_PARTS.items()}
        texts = {kind: _texts(found) for kind, found in parts.items()}
        shown = self.grows_by or next((kind for kind, found in texts.items() if any(found)), "")
        if not any(map(any, texts.values())):
            self.bring_in()
        elif shown:
            self.parser.complete(block, BETWEEN_PARTS.join(text for text in texts[shown] if text))
        written = str(block.fragments)
        for kind, (field, _) in _REASONING_PARTS.items():
            if parts[kind]:
                extra[field] = [_without_text(part, written) for part in kept(parts[kind], field)]
        block.signature = text_field(item, "encrypted_content") or None
        block.extra.update(extra)
        self.parser.builder.close(block)


_REASONING_PARTS = {SUMMARY_DELTA: ("summary", "summary_index"), REASONING_DELTA: ("content", "content_index")}


def _texts(parts: list[object]) -> list[str]:
    return [text_field(cast("JsonObject", part), "text") for part in parts if isinstance(part, dict)]


def _without_text(part: Any, text: str) -> Json:
    """A part for `extra`: its text is left out where it is the block's."""
    if isinstance(part, dict) and text and part.get("text") == text:
        return {name: value for name, value in part.items() if name != "text"}
    return cast("Json", part)


class MessageReader(ItemReader):
    """What the model says. Each part of it that has text is a block; a refusal is text as well."""

    place_name = "content_index"
    _shown = frozenset({"type", "role", "content"})

    def __init__(self, parser: OpenAIResponsesParser, item: JsonObject) -> None:
        super().__init__(parser, item)
        self._blocks: dict[int, OpenBlock] = {}
        self._whole: set[int] = set()  # parts whose whole text was told
        self._announced: JsonObject | None = item

    def bring_in(self) -> None:
        """Take the announced parts."""
        item, self._announced = self._announced, None
        if item is None or self._blocks:
            return
        for place, entry in enumerate(list_field(item, "content")):
            text, refusal = _said(as_object(entry, "content"))
            if text:
                self.grow(REFUSAL_DELTA if refusal else TEXT_DELTA, place, text)

    def grow(self, kind: str, place: object, piece: str) -> bool:
        """Open a part, or go back to one."""
        if kind not in (TEXT_DELTA, REFUSAL_DELTA):
            return False
        if piece and index_of(place) not in self._whole:
            self.grows_by, self.place = kind, place
            self.block = self._opened(index_of(place), refusal=kind == REFUSAL_DELTA)
            self.parser.builder.extend(self.block, piece)
        return True

    def whole_part(self, kind: str, place: object, text: str) -> None:
        """Take the text of a part, whether it had deltas or not."""
        block = self._blocks.get(index_of(place))
        if block is None:
            self.grow(kind, place, text)
        else:
            self.parser.complete(block, text)
        self._whole.add(index_of(place))
        if self.place == place:
            self.grows_by = ""  # what still comes of the part says the same again

    def annotate(self, place: object, annotation: JsonObject) -> None:
        """Keep a citation with its part."""
        block = self._blocks.get(index_of(place))
        if block is not None:
            block.citations.append(kept(annotation, "annotation"))

    def finish(self, item: JsonObject) -> None:
        """Close the parts, and open those that did not stream."""
        extra = rest(item, self._shown)
        content = list_field(item, "content")
        if not content:
            self.bring_in()
        waiting = self._placed([bool(_said(as_object(entry, "content"))[0]) for entry in content])
        beside: list[Json] = []
        blocks: list[OpenBlock] = []
        for number, entry in enumerate(content):
            part = as_object(entry, "content")
            text, refusal = _said(part)
            if text:
                block = waiting.pop(number, None) or self._opened(UNPLACED - number, refusal=refusal)
                self._finish_part(block, part, text)
                blocks.append(block)
            elif part.get("type") not in ("output_text", "refusal"):
                beside.append([number, kept(part, "content")])
        blocks += waiting.values()
        for number, block in enumerate(blocks):
            if number:
                block.extra |= {"part": number, **({"id": extra["id"]} if "id" in extra else {})}
            else:
                block.extra |= {**extra, "beside": beside} if beside else extra
            self.parser.builder.close(block)
        if not blocks:
            # Nothing that could be shown, but the item that a reasoning item led to: it goes back in its place.
            self.parser.builder.opaque(Opaque(PROTOCOL_ID, kind="message", data=kept(item, "message")))

    def _placed(self, has_text: list[bool]) -> dict[int, OpenBlock]:
        """The streamed parts by their place in the finished item. has_text: which of its parts have any.

        Some servers count the parts of their deltas otherwise (seen at Bedrock): then the order decides.
        """
        if all(0 <= place < len(has_text) and has_text[place] for place in self._blocks):
            return dict(self._blocks)
        places = [place for place, has in enumerate(has_text) if has]
        places += range(len(has_text), len(has_text) + len(self._blocks))
        blocks = (block for _, block in sorted(self._blocks.items()))
        return dict(zip(places, blocks, strict=False))

    def _opened(self, place: int, *, refusal: bool) -> OpenBlock:
        block = self._blocks.get(place)
        if block is None:
            block = self._blocks[place] = self.parser.builder.open_text()
            self.parser.saw_text = True
            if refusal:
                block.extra["type"] = "refusal"
                self.parser.saw_refusal = True
        return block

    def _finish_part(self, block: OpenBlock, part: JsonObject, text: str) -> None:
        known = frozenset({"type", "text", "refusal", "annotations", "logprobs"})
        extra = rest(part, known)
        if part.get("logprobs"):
            extra["logprobs"] = kept(part["logprobs"], "logprobs")
        annotations = list_field(part, "annotations")
        if annotations:
            block.citations[:] = [
                cast("Mapping[str, Json]", as_object(kept(note, "annotations"), "annotations")) for note in annotations
            ]
        if not self.parser.complete(block, text):
            block.extra["text"] = text
        if extra:
            block.extra["fields"] = extra


def _said(part: JsonObject) -> tuple[str, bool]:
    """The text of a part of a message, and whether it is a refusal."""
    kind = part.get("type")
    if kind == "refusal":
        return text_field(part, "refusal"), True
    return (text_field(part, "text") if kind == "output_text" else ""), False


class OpaqueReader(ItemReader):
    """An item that is not modelled, such as a call of the provider's own tools: told whole when it is finished."""

    def __init__(self, parser: OpenAIResponsesParser, item: JsonObject) -> None:
        super().__init__(parser, item)
        self._kind = text_field(item, "type")
        self._first = kept(item, self._kind)
        self._index = parser.builder.reserve()

    def finish(self, item: JsonObject) -> None:
        """Tell it."""
        block = Opaque(PROTOCOL_ID, kind=self._kind, data=kept(item, self._kind))
        self.parser.builder.opaque(block, index=self._index)

    def abandon(self) -> None:
        """Tell it as far as it is known."""
        block = Opaque(PROTOCOL_ID, kind=self._kind, data=self._first, complete=False)
        self.parser.builder.opaque(block, index=self._index)


READERS: dict[str, type[ItemReader]] = {
    "reasoning": ReasoningReader,
    "message": MessageReader,
    "function_call": CallReader,
    "custom_tool_call": CustomCallReader,
}

IMPLIED = {
    TEXT_DELTA: "message",
    REFUSAL_DELTA: "message",
    SUMMARY_DELTA: "reasoning",
    REASONING_DELTA: "reasoning",
}
"""Deltas that can be read without their item having been told, and the type of the item that they mean."""

DELTAS_OF = {**IMPLIED, ARGUMENTS_DELTA: "function_call", INPUT_DELTA: "custom_tool_call"}
"""The type of the item that each delta is of."""
