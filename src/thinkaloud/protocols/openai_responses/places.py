"""Which output item an event is about: by its place, else its id, else the id of its call, else its type and the order.

Servers leave out the place, or give every item the same one; and ids may change within a stream (seen at GitHub
Copilot). So the place counts first, as long as no two items claim it, and what is absent is no identity.
"""

from __future__ import annotations

from collections import deque

from thinkaloud.protocols.fields import JsonObject
from thinkaloud.protocols.openai_responses.item_reader import ItemReader
from thinkaloud.protocols.openai_responses.items import DELTAS_OF


class OutputItems:
    """The items of one answer, open and finished.

    at: the open items by their place, where it is theirs alone.
    open, seen: those that are not finished, and all, in the order in which they were first seen.
    """

    def __init__(self) -> None:
        self.at: dict[object, ItemReader] = {}
        self.open: dict[ItemReader, None] = {}
        self.seen: list[ItemReader] = []
        self._shared: set[object] = set()
        self._places: dict[object, ItemReader] = {}
        self._known: dict[tuple[str, str], ItemReader] = {}
        self._open_of: dict[str, dict[ItemReader, None]] = {}
        self._last_of: dict[str, ItemReader] = {}

    def add(self, reader: ItemReader, place: object) -> None:
        """Note an item that is new."""
        reader.place_of_item = place if type(place) is int else None
        if type(place) is int:
            if place in self._shared or place in self.at:
                self._shared.add(place)
                self.at.pop(place, None)
            else:
                self.at[place] = reader
            self._places[place] = reader
        self.open[reader] = None
        self.seen.append(reader)
        self._open_of.setdefault(reader.kind, {})[reader] = None
        self._last_of[reader.kind] = reader
        self._learn(reader)

    def close(self, reader: ItemReader, item: JsonObject) -> None:
        """Note that an item is finished: it may have other ids than at its start."""
        self.open.pop(reader, None)
        self._open_of[reader.kind].pop(reader, None)
        if self.at.get(reader.place_of_item) is reader:
            del self.at[reader.place_of_item]
        reader.identify(item)
        self._learn(reader)

    def of_event(self, data: JsonObject, delta: str = "") -> ItemReader | None:
        """The item of an event that does not hold it. delta: the type of its deltas."""
        place = data.get("output_index")
        usable = type(place) is int and place not in self._shared
        if usable and place in self.at:
            return self.at[place]
        found = self._known.get(("id", word(data.get("item_id"))))
        if found is not None and (
            not usable or found.place_of_item in (None, place) or (found in self.open and place not in self._places)
        ):
            return found
        if usable:
            return self._places.get(place)
        last = self._last_of.get(DELTAS_OF.get(delta, "")) if delta else (self.seen[-1] if self.seen else None)
        if last is not None and last not in self.open and word(data.get("item_id")):
            return None  # an item of its own, of which no more is known
        return last

    def of_item(self, place: object, item: JsonObject, *, is_done: bool) -> ItemReader | None:
        """The item that is announced again, or finished."""
        kind, id, call_id = (word(item.get(name)) for name in ("type", "id", "call_id"))
        found = self.at.get(place) if type(place) is int else None
        if found is not None and found.may_be(kind, "" if is_done else id, call_id):
            return found
        usable = type(place) is int and place not in self._shared
        for name, value in {"call_id": call_id, "id": id}.items():
            found = self._known.get((name, value)) if value else None
            if found is None or not found.may_be(kind, "", call_id):
                continue
            if not usable or found.place_of_item in (None, place):
                return found
            if name == "id" and found in self.open and place not in self._places:
                return found
        if is_done and not usable:
            oldest = next(iter(self._open_of.get(kind, ())), None)
            if oldest is not None and oldest.may_be(kind, id, call_id):
                return oldest
        return None

    def matched(self, items: list[JsonObject]) -> dict[ItemReader, int]:
        """Which of the items of the whole output is which of those that were seen."""
        found: dict[ItemReader, int] = {}
        taken: set[int] = set()
        waiting: dict[tuple[str, str, str], deque[int]] = {}
        for number, item in enumerate(items):
            for name in ("id", "call_id", ""):
                key = (name, word(item.get("type")), word(item.get(name)))
                waiting.setdefault(key, deque()).append(number)

        def take(reader: ItemReader, number: int) -> None:
            found[reader] = number
            taken.add(number)

        for ids_too in (True, False):
            for reader in self.seen:
                place = reader.place_of_item
                if reader in found or place is None or not 0 <= place < len(items) or place in taken:
                    continue
                id, call_id = (word(items[place].get(name)) for name in ("id", "call_id"))
                same = bool(id and id == reader.id) or bool(call_id and call_id == reader.call_id)
                if reader.may_be(word(items[place].get("type")), "", call_id) and (same or not ids_too):
                    take(reader, place)
            for reader in self.seen:
                keys = (("id", reader.id), ("call_id", reader.call_id)) if ids_too else (("", ""),)
                for name, value in keys:
                    numbers = waiting.get((name, reader.kind, value), ())
                    if reader in found or (ids_too and not value):
                        continue
                    while numbers and numbers[0] in taken:
                        numbers.popleft()
                    if numbers and (ids_too or reader.may_be_item(items[numbers[0]])):
                        take(reader, numbers[0])
        return found

    def _learn(self, reader: ItemReader) -> None:
        for name, value in (("id", reader.id), ("call_id", reader.call_id)):
            if value:
                self._known[name, value] = reader


def word(value: object) -> str:
    """A string as it is, and anything else as none."""
    return value if isinstance(value, str) else ""
