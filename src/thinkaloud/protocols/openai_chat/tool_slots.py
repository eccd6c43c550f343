"""Tool calls put together from fragments, whatever a server makes of their ids and indexes.

A fragment finds its call in one place, `ToolSlots.find`: by id, then by index, then the call written last. A call
opens as soon as its id and name are known; one without an id opens with the first arguments, under an id that we make.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from thinkaloud.block_builder import BlockBuilder, OpenBlock
from thinkaloud.fragments import Fragments
from thinkaloud.protocols.call_ids import tell_repeated
from thinkaloud.protocols.openai_chat.whole_object import WholeObject


@define(eq=False)
class Slot:
    """One call that is being written.

    id: as the wire gives it; "" where it has not.
    block: the open block, once the call has begun.
    waiting: arguments that came before the name.
    extra: fields that go back with the call.
    whole: tells whether the arguments are a whole object, once somebody has asked.
    """

    id: str
    index: int | None
    name: str = ""
    block: OpenBlock | None = None
    waiting: Fragments = field(factory=Fragments)
    extra: dict[str, Any] = field(factory=dict)
    whole: WholeObject | None = None

    @property
    def arguments(self) -> str:
        """What has been written of the arguments."""
        return str(self.waiting if self.block is None else self.block.fragments)

    def is_whole(self) -> bool:
        """Whether the arguments are one whole JSON object."""
        if self.whole is None:
            self.whole = WholeObject()
            self.whole.feed(self.arguments)
        return self.whole.holds(lambda: self.arguments)


class ToolSlots:
    """The calls of one answer, in order of arrival.

    make_id: gives the id of the call of this number, for a server that gives none.
    """

    def __init__(self, builder: BlockBuilder, make_id: Callable[[int], str]) -> None:
        self.slots: list[Slot] = []
        self._builder = builder
        self._make_id = make_id
        self._by_id: dict[str, Slot] = {}
        self._by_index: dict[int, Slot] = {}
        self._ids: set[str] = set()
        self._unopened: dict[Slot, None] = {}
        self._openable: dict[Slot, None] = {}  # those of them that have a name

    def add(self, id: str, index: int | None, name: str, arguments: str | None) -> Slot:
        """Take in a fragment; arguments: None where the fragment does not speak of them."""
        slot = self.find(id, index, name, arguments)
        if slot is None:
            self.settle()
            slot = Slot(id, index)
            self.slots.append(slot)
            self._unopened[slot] = None
            if index is not None:
                self._by_index[index] = slot
        if id:
            slot.id = slot.id or id
            self._by_id.setdefault(id, slot)
        if name and slot.block is None and name != slot.name:
            slot.name += name
            self._openable[slot] = None
        if arguments and slot.whole is not None:
            slot.whole.feed(arguments)
        if slot.block is not None:
            if arguments:
                self._builder.extend(slot.block, arguments)
            return slot
        if arguments:
            slot.waiting.append(arguments)
        if slot.name and (arguments or (slot.id and arguments is not None)):
            self._open(slot)
        return slot

    def find(self, id: str, index: int | None, name: str = "", arguments: str | None = None) -> Slot | None:
        """Find the call that a fragment belongs to; None: it begins a new one."""
        at_index = self._by_index.get(index) if index is not None else None
        if id and id in self._by_id:
            named = self._by_id[id]
            if index is None or named.index is None or named.index == index:
                return named
            return at_index if at_index is not None and at_index.id == id else None  # one id for two calls
        slot = at_index if index is not None else self.slots[-1] if self.slots else None
        if slot is None or (id and (slot.id or (index is None and name))):
            return None
        return None if name and _begins_another(slot, name, arguments or "") else slot

    def named(self, id: str) -> Slot | None:
        """The call with this id of the wire."""
        return self._by_id.get(id)

    def settle(self) -> None:
        """Open what has a name: something else follows, so no more of the name can come."""
        for slot in list(self._openable):
            self._open(slot)

    def open_nameless(self) -> None:
        """Open what never got a name: no more comes. A fragment that says nothing is no call."""
        for slot in [slot for slot in self._unopened if slot.id or slot.waiting]:
            self._open(slot)

    def _open(self, slot: Slot) -> None:
        id = slot.id
        if not id or id in self._ids:
            id = self._make_id(len(self._ids))
            if slot.id:
                tell_repeated(self._builder, slot.id, id)
        self._ids.add(id)
        del self._unopened[slot]
        self._openable.pop(slot, None)
        slot.block = self._builder.open_tool_call(id, slot.name)
        self._builder.extend(slot.block, str(slot.waiting))


def _begins_another(slot: Slot, name: str, arguments: str) -> bool:
    """Whether a named fragment that fits a call's place is all the same the start of the next call.

    It is when the call's arguments are whole and new ones begin, or when the call has another name already.
    """
    renamed = bool(slot.name) and name != slot.name
    if renamed and not slot.id and (slot.block is not None or slot.index is None):
        return True
    return arguments.lstrip().startswith("{") and slot.is_whole()
