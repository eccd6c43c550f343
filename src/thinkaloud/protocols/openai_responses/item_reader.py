"""What a reader of one output item does, whatever its kind, and the deltas by which items grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thinkaloud.block_builder import OpenBlock
from thinkaloud.protocols.fields import JsonObject, text_field

if TYPE_CHECKING:
    from thinkaloud.protocols.openai_responses.parse import OpenAIResponsesParser

TEXT_DELTA = "response.output_text.delta"
REFUSAL_DELTA = "response.refusal.delta"
SUMMARY_DELTA = "response.reasoning_summary_text.delta"
REASONING_DELTA = "response.reasoning_text.delta"
ARGUMENTS_DELTA = "response.function_call_arguments.delta"
INPUT_DELTA = "response.custom_tool_call_input.delta"

UNPLACED = -1


class ItemReader:
    """Reads one output item.

    block: the open block that grows; None where none is open.
    grows_by, place_name, place: the delta that goes straight into `block`: its type, the field that tells its part,
        and the part that `block` holds.
    """

    block: OpenBlock | None = None
    grows_by = ""
    place_name = ""
    place: object = None

    def __init__(self, parser: OpenAIResponsesParser, item: JsonObject) -> None:
        self.parser = parser
        self.place_of_item: int | None = None
        self.kind = text_field(item, "type")
        self.id = self.call_id = self.seal = ""
        self.identify(item)

    def identify(self, item: JsonObject) -> None:
        """Take the ids and the seal that tell the item from others."""
        id, call_id, seal = (item.get(name) for name in ("id", "call_id", "encrypted_content"))
        self.id = id if isinstance(id, str) and id else self.id
        self.call_id = call_id if isinstance(call_id, str) and call_id else self.call_id
        self.seal = seal if isinstance(seal, str) else ""

    def may_be(self, kind: str, id: str, call_id: str) -> bool:
        """Whether nothing says that an item is another one. Empty ids say nothing."""
        if kind != self.kind or (id and self.id and id != self.id):
            return False
        return not (call_id and self.call_id and call_id != self.call_id)

    def may_be_item(self, item: JsonObject) -> bool:
        """Whether nothing in a whole item says that it is another one."""
        told = (item.get(name) for name in ("type", "id", "call_id"))
        kind, id, call_id = (value if isinstance(value, str) else "" for value in told)
        return self.may_be(kind, id, call_id)

    def grow(self, kind: str, place: object, piece: str) -> bool:
        """Take a piece that does not go straight into the open block; False: it is none of this item."""
        return False

    def whole_part(self, kind: str, place: object, text: str) -> None:
        """Take the whole text of a part, told after its deltas or in place of them. kind: the type of its deltas."""
        if self.block is not None and (self.grows_by, self.place) == (kind, place):
            self.parser.complete(self.block, text)
        else:
            self.grow(kind, place, text)

    def annotate(self, place: object, annotation: JsonObject) -> None:
        """Take a citation, before the finished item repeats it."""

    def finish(self, item: JsonObject) -> None:
        """Take the finished item, and close what is open."""

    def bring_in(self) -> None:
        """Take what the item was announced with, where nothing has followed that would say it again."""

    def leave(self) -> None:
        """Take the end of an answer that has never told the end of the item."""
        self.abandon()

    def abandon(self) -> None:
        """Bring in what is still pending, when the answer has been cut off."""
        self.bring_in()


def index_of(place: object) -> int:
    """The place of a part as a key, whatever the server says."""
    return place if isinstance(place, int) else UNPLACED
