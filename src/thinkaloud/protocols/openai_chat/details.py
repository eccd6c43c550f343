"""The reasoning entries of OpenRouter and its kin (`reasoning_details`), put together from fragments for exact replay.

Fragments of one entry share type and index; where there is no index, type and id; where there is neither, type and
place in the list. Text, summary and data are joined; a later signature replaces an earlier one; of all else the first
value that is not null counts. Two things part what the index alone would join: different ids, and new text after a
signature, which is the last that comes of a signed block.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    for position, entry in enumerate(entries):
        late = bool(entry.get("signature")) and not any(entry.get(name) for name in _JOINED)
        earlier = (detail for detail in reversed(details) if not detail.signed and detail.continues(entry, position))
        detail = next(earlier, None) if late else None
        if detail is None:
            details.append(Detail(entry, position))
        else:
            detail.add(entry)
    return [detail.entry() for detail in details]


def whole_text(pieces: Fragments) -> str:
    """Joined pieces as one text: halves of a character that met are that character, so that stored JSON is the same."""
    text = str(pieces)
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
