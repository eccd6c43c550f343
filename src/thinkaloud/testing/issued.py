"""What a scripted model has issued, and whether a history gives it back: each seal with its content, in its place.

A *seal* is an opaque string that proves what it comes with: a signature, a redacted payload, encrypted thinking. The
memory knows no wire; the files beside it read their wire's turns into pieces, and say what is demanded of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from attrs import field, frozen

Flaw = Literal["foreign", "edited", "moved", "lost", "missing", "unsigned", "empty", "follower", "parent", "unkept"]
"""What can be wrong with a history.

foreign: a seal that was never issued. edited: a seal over other content. moved: a seal in another place. lost: one that
is left out while others of its turn are there. missing: thinking that must be there is not. unsigned: thinking without
its seal. empty: a seal on nothing. follower, parent: an item without the one that it led to, or that led to it.
unkept: an item by its id alone, which nobody has kept.
"""


@frozen(kw_only=True)
class Piece:
    """One block of a model's turn, as far as it can be told whether it came back.

    value: its content in a comparable form.
    seal: the opaque string that it carries.
    item, call: ids of the block itself and of the call that it is.
    path: its place in a request, as the provider says it.
    name: the wire's word for it.
    """

    kind: Literal["thinking", "text", "call", "other"]
    value: str = ""
    seal: str | None = field(default=None, repr=False)
    item: str | None = None
    call: str | None = None
    path: str = field(default="", eq=False)
    name: str = ""


@frozen(kw_only=True)
class Turn:
    """What a request gives back of one answer, in order.

    latest: it is the last turn of the model.
    open: it belongs to the work that goes on: only results of tools have come since.
    """

    pieces: tuple[Piece, ...]
    latest: bool = False
    open: bool = False


@frozen
class Issued:
    """One answer as it was given. asked: its request asked for thinking outright; None: it did not say."""

    pieces: tuple[Piece, ...]
    asked: bool | None = None


@frozen
class Match:
    """A stretch of a turn that follows one answer. places: what of it was found, and where in the answer."""

    answer: Issued
    places: tuple[tuple[Piece, int], ...]

    @property
    def lost(self) -> list[Piece]:
        """Sealed pieces of the answer whose seals are left out, though something behind them is there."""
        found = {place for piece, place in self.places if piece.seal is not None}
        before = enumerate(self.answer.pieces[: 1 + max((place for _, place in self.places), default=-1)])
        return [piece for place, piece in before if piece.seal is not None and place not in found]

    @property
    def sealed(self) -> bool:
        """Whether any seal of the answer is there."""
        return any(piece.seal is not None for piece, _ in self.places)


class Fault(Exception):
    """A history that a provider would refuse. piece: where it shows; turn: the turn with it."""

    def __init__(self, flaw: Flaw, piece: Piece, *, other: Piece | None = None) -> None:
        super().__init__(flaw)
        self.flaw: Flaw = flaw
        self.piece = piece
        self.other = other
        self.turn = Turn(pieces=(piece,))


Same = Callable[[Piece, Piece], bool]
_Places = list[tuple[int, int]]


class Memory:
    """The answers that were given in one realm: wherever a seal verifies."""

    def __init__(self) -> None:
        self._answers: list[Issued] = []
        self._known: set[Issued] = set()
        self._places: dict[tuple[str, str], _Places] = {}

    def add(self, answer: Issued) -> None:
        """Remember an answer; the same one is kept once."""
        if answer in self._known:
            return
        self._known.add(answer)
        for place, piece in enumerate(answer.pieces):
            for key in _keys(piece):
                self._places.setdefault(key, []).append((len(self._answers), place))
        self._answers.append(answer)

    def knows(self, piece: Piece) -> bool:
        """Whether just such a piece was ever issued."""
        return any(self._answers[answer].pieces[place] == piece for answer, place in self._found(piece))

    def follow(self, turn: Turn, same: Same) -> list[Match]:
        """Find the answers that a turn is made of; more than one where answers stand side by side.

        same: whether a sealed piece has the content that it was issued with.

        Raises Fault for a seal that is foreign, over other content, or in another place.
        """
        placed: list[tuple[Piece, _Places]] = []
        for piece in turn.pieces:
            places = self._found(piece)
            if piece.seal is not None and not places:
                raise Fault("foreign", piece)
            if places:
                placed.append((piece, places))
        return self._stretches(placed, same) if placed else []

    def _found(self, piece: Piece) -> _Places:
        """Where a piece was issued. A seal is looked for by itself: what it stands on is another matter."""
        return next((places for key in _keys(piece) if (places := self._places.get(key))), [])

    def _stretches(self, placed: Sequence[tuple[Piece, _Places]], same: Same) -> list[Match]:
        first: Fault | None = None
        for answer in sorted({answer for answer, _ in placed[0][1]}, reverse=True):
            try:
                return self._stretch(answer, placed, same)
            except Fault as fault:
                first = first or fault
        assert first is not None
        raise first

    def _stretch(self, answer: int, placed: Sequence[tuple[Piece, _Places]], same: Same) -> list[Match]:
        """Follow one answer as far as it goes; what comes then must be another, and no call may stand before it."""
        issued = self._answers[answer]
        found: list[tuple[Piece, int]] = []
        for count, (piece, places) in enumerate(placed):
            here = [place for owner, place in places if owner == answer]
            if not here:
                if any(piece.kind == "call" for piece, _ in found):
                    raise Fault("moved", piece)
                return [Match(issued, tuple(found)), *self._stretches(placed[count:], same)]
            ahead = [place for place in here if not found or place > found[-1][1]]
            fitting = [place for place in ahead or here if piece.seal is None or same(piece, issued.pieces[place])]
            if not fitting:
                raise Fault("edited", piece)
            if not ahead:
                raise Fault("moved", piece)
            found.append((piece, fitting[0]))
        return [Match(issued, tuple(found))]


def _keys(piece: Piece) -> Iterator[tuple[str, str]]:
    """What a piece can be found by, the surest first. A seal that is there is the only way."""
    if piece.seal is not None:
        yield "seal", piece.seal
        if not piece.path:  # as it was issued: it can come back without its seal
            yield from _other_keys(piece)
    else:
        yield from _other_keys(piece)


def _other_keys(piece: Piece) -> Iterator[tuple[str, str]]:
    if piece.item is not None:
        yield "item", piece.item
    if piece.call is not None:
        yield "call", piece.call
    elif piece.kind in ("call", "thinking"):
        yield piece.kind, piece.value


# reading requests, whatever they hold


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; none where it is no list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def inner(value: Any, *names: str) -> dict[str, Any]:
    """The object under a path of names; an empty one where there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def string(value: Any) -> str | None:
    """A string that is not empty."""
    return value if isinstance(value, str) and value else None


def comparable(value: Any) -> str:
    """JSON in one form, whatever the order of its names and the spaces in it; JSON inside a string too."""
    if isinstance(value, str):
        text: str = value
        try:
            value = json.loads(text)
        except ValueError:
            return text
    return json.dumps(value, sort_keys=True)
