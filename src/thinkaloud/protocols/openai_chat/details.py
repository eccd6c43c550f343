"""The reasoning entries of OpenRouter and its kin (`reasoning_details`), put together from fragments for exact replay.

Fragments of one entry share type and index; where there is no index, type and id; where there is neither, type and
place in the list. Text, summary and data are joined; a later signature replaces an earlier one; of all else the first
value that is not null counts. Two things part what the index alone would join: different ids, and new text after a
signature, which is the last that comes of a signed block.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from thinkaloud.fragments import Fragments
from thinkaloud.jsontext import Json

KEY = "reasoning_details"
ENCRYPTED = "reasoning.encrypted"

# The field of an entry that can be shown, by type of entry.
VISIBLE = {"reasoning.text": "text", "reasoning.summary": "summary"}

_JOINED = ("text", "summary", "data")


class Detail:
    """One entry as far as it has come.

    position: its place in the list of its first delta.
    """

    def __init__(self, fragment: Mapping[str, Any], position: int) -> None:
        self.position = position
        self._fields: dict[str, Any] = {}
        self._joined: dict[str, Fragments] = {}
        self.add(fragment)

    def continues(self, fragment: Mapping[str, Any], position: int) -> bool:
        """Whether a fragment belongs to this entry."""
        ours = self._fields
        if ours.get("type") != fragment.get("type"):
            return False
        id, index = fragment.get("id"), fragment.get("index")
        our_id, our_index = ours.get("id"), ours.get("index")
        if id is not None and our_id is not None and id != our_id:
            return False
        if self.signed and any(fragment.get(name) for name in _JOINED):
            return False
        if index is not None or our_index is not None:
            return bool(index == our_index)
        if id is not None or our_id is not None:
            return bool(id == our_id)
        return position == self.position

    def add(self, fragment: Mapping[str, Any]) -> None:
        """Take in a fragment that belongs to this entry."""
        fields = self._fields
        for name, value in fragment.items():
            if name in _JOINED and type(value) is str:
                if name not in self._joined:
                    self._joined[name] = Fragments()
                    fields[name] = ""
                self._joined[name].append(value)
            elif name == "signature":
                fields[name] = value or fields.get(name, value)
            elif fields.get(name) is None:
                fields[name] = value

    @property
    def type(self) -> str:
        """The entry's type, such as "reasoning.text"."""
        return str(self._fields.get("type", ""))

    @property
    def signed(self) -> bool:
        """Whether the signature has come, which is the last of a signed entry."""
        return bool(self._fields.get("signature"))

    @property
    def data(self) -> str:
        """The encrypted payload."""
        return str(self._joined.get("data", ""))

    @property
    def format(self) -> str:
        """Who made the entry, such as "anthropic-claude-v1"."""
        return str(self._fields.get("format") or "")

    def entry(self) -> dict[str, Json]:
        """The entry as it goes back."""
        return {
            name: whole_text(self._joined[name]) if name in self._joined else value
            for name, value in self._fields.items()
        }


def replayed(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """The entries of an answer's blocks as they go back: whole ones as they are, in their order.

    An entry of a signature alone came too late for its block; it completes the entry that it belongs to.
    """
    details: list[Detail] = []
    unsigned = _Unsigned()
    for position, entry in enumerate(entries):
        late = bool(entry.get("signature")) and not any(entry.get(name) for name in _JOINED)
        detail = unsigned.last(entry) if late else None
        if detail is None:
            detail = Detail(entry, position)
            unsigned.add(entry, len(details), detail)
            details.append(detail)
        else:
            detail.add(entry)
    return [detail.entry() for detail in details]


class CallDetails:
    """The encrypted entries that name one call, in order. Type and id are the same: the index tells them apart."""

    def __init__(self) -> None:
        self.all: list[Detail] = []
        self._open: dict[Hashable, Detail] = {}

    def add(self, fragment: Mapping[str, Any], position: int) -> None:
        """Take in a fragment, of an entry that is there or of a new one."""
        index = key(fragment.get("index"))
        detail = self._open.get(index)
        if detail is not None and detail.continues(fragment, position):
            detail.add(fragment)
        else:
            detail = self._open[index] = Detail(fragment, position)
            self.all.append(detail)


class _Unsigned:
    """Entries that still have no signature, found by what a late one says of them as `Detail.continues` would."""

    def __init__(self) -> None:
        self._stacks: dict[Hashable, list[tuple[int, Detail]]] = {}

    def add(self, entry: Mapping[str, Any], place: int, detail: Detail) -> None:
        """Add an entry. One with neither index nor id is found by nothing."""
        if not detail.signed:
            type, index, id = (key(entry.get(name)) for name in ("type", "index", "id"))
            self._stacks.setdefault((type, index, id), []).append((place, detail))
            if index is not None:
                self._stacks.setdefault((type, index), []).append((place, detail))

    def last(self, entry: Mapping[str, Any]) -> Detail | None:
        """The last entry that a late signature belongs to."""
        type, index, id = (key(entry.get(name)) for name in ("type", "index", "id"))
        if index is None:
            keys: list[Hashable] = [] if id is None else [(type, None, id)]
        else:
            keys = [(type, index)] if id is None else [(type, index, id), (type, index, None)]
        found = [top for top in map(self._top, keys) if top is not None]
        return max(found, key=lambda top: top[0])[1] if found else None

    def _top(self, key: Hashable) -> tuple[int, Detail] | None:
        stack = self._stacks.get(key, [])
        while stack and stack[-1][1].signed:
            stack.pop()
        return stack[-1] if stack else None


def key(value: Any) -> Hashable:
    """A field's value as a key; what no field of an entry should hold is told apart by how it is written."""
    return value if value is None or isinstance(value, (str, int, float)) else (type(value).__name__, repr(value))


def whole_text(pieces: Fragments) -> str:
    """Joined pieces as one text: halves of a character that met are that character, so that stored JSON is the same."""
    text = str(pieces)
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
