"""Calls of the caller's tools in the Responses API while they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thinkaloud.block_builder import OpenBlock
from thinkaloud.jsontext import dumps
from thinkaloud.protocols.fields import JsonObject, kept, rest, text_field
from thinkaloud.protocols.openai_responses.item_reader import ARGUMENTS_DELTA, INPUT_DELTA, ItemReader

if TYPE_CHECKING:
    from thinkaloud.protocols.openai_responses.parse import OpenAIResponsesParser


class CallReader(ItemReader):
    """A call of one of the caller's tools. It opens as soon as its name is known."""

    grows_by = ARGUMENTS_DELTA
    _field = "arguments"
    _type: str | None = None

    def __init__(self, parser: OpenAIResponsesParser, item: JsonObject) -> None:
        super().__init__(parser, item)
        self._start = item
        self._announced = self._text(item)
        self._pieces: list[str] = []  # what came before the name
        self._is_whole = False
        if text_field(item, "name"):
            self._opened(item)

    def _text(self, item: JsonObject) -> str:
        arguments = item.get(self._field)
        if isinstance(arguments, dict):
            return dumps(kept(arguments, self._field))
        return text_field(item, self._field)

    def _opened(self, item: JsonObject) -> OpenBlock:
        if self.block is None:
            id = self.parser.call_ids.own(text_field(item, "call_id"))
            self.block = self.parser.builder.open_tool_call(id, text_field(item, "name"))
            self.parser.builder.extend(self.block, "".join(self._pieces))
            self._pieces.clear()
        return self.block

    def grow(self, kind: str, place: object, piece: str) -> bool:
        """Take arguments, or keep those of a call without a name until it is known."""
        if kind != self.grows_by:
            return False
        if self.block is None:
            self._pieces.append(piece)
        else:
            self.parser.builder.extend(self.block, piece)
        return True

    def whole_part(self, kind: str, place: object, text: str) -> None:
        """Take the whole arguments: with them the end of the call is told."""
        if kind != self.grows_by:
            return
        self._is_whole = True
        if self.block is None:
            self._pieces[:] = [text or "".join(self._pieces)]
        else:
            self.parser.complete(self.block, text)

    def bring_in(self) -> None:
        """Take the announced arguments."""
        if self.block is not None and not self.block.fragments:
            self.parser.builder.extend(self.block, self._announced)

    def finish(self, item: JsonObject) -> None:
        """Close the call; one that the server does not call finished stays open, and the end decides."""
        text, extra = self._text(item), rest(item, frozenset({"type", "call_id", "name", self._field}))
        block = self._opened(item)
        if text:
            self.parser.complete(block, text)
        else:
            self.bring_in()
        block.extra.update(extra)
        self._close(block, is_cut=item.get("status") in ("incomplete", "in_progress"))

    def leave(self) -> None:
        """A call whose end was never told is complete only if its arguments are."""
        block = self._opened(self._start)
        self.bring_in()
        self._close(block, is_cut=not self._is_whole)

    def _close(self, block: OpenBlock, *, is_cut: bool) -> None:
        if self._type is not None:
            block.extra["type"] = self._type
        if is_cut:
            self.parser.saw_cut_call = True
        else:
            self.parser.builder.close(block, free_text=self._type is not None)


class CustomCallReader(CallReader):
    """A call of a tool that takes free text in place of JSON."""

    grows_by = INPUT_DELTA
    _field = "input"
    _type = "custom"
