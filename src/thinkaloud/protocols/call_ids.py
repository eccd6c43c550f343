"""Ids of tool calls in the characters and the length that a protocol takes, and new ones for calls without."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thinkaloud.block_builder import BlockBuilder

_LONGEST = 64


def plain_id(id: str, characters: str) -> str:
    """The id itself where it fits, else another one that is the same for a call and its result.

    characters: what may stand in an id, as the inside of a regular expression's brackets; 64 of them at most.
    """
    if re.fullmatch(f"[{characters}]{{1,{_LONGEST}}}", id):
        return id
    plain = re.sub(f"[^{characters}]", "_", id)[:47]
    return f"{plain}_{sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def made_id(kind: str, number: int, *, answer: str = "", prefix_digest: str | None = None) -> str:
    """An id for a call that came without one, or with another call's: unique from answer to answer.

    kind: how it begins. number: of the ids that are made in this answer, from 1.
    answer: the provider's id of the answer; where it has none, what stands before the answer tells it from others.
    """
    if not answer and prefix_digest:
        answer = sha256(prefix_digest.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{kind}_{answer or 'unnamed'}_{number}"


class CallIds:
    """The ids of the calls of one answer: each call has its own, and the same one however the answer is read.

    kind: how ids begin that are made here.
    answer: the provider's id of the answer, as soon as it is known; prefix_digest: what stands before the answer.
    """

    def __init__(self, builder: BlockBuilder, kind: str, *, prefix_digest: str | None) -> None:
        self.answer = ""
        self._builder = builder
        self._kind = kind
        self._prefix_digest = prefix_digest
        self._taken: set[str] = set()
        self._made = 0

    def own(self, id: str) -> str:
        """The id of a call; another one where it has none, or an earlier call has the same: then it is told."""
        own = id
        while not own or own in self._taken:
            self._made += 1
            own = made_id(self._kind, self._made, answer=self.answer, prefix_digest=self._prefix_digest)
        if id and own != id:
            tell_repeated(self._builder, id, own)
        self._taken.add(own)
        return own


def tell_repeated(builder: BlockBuilder, id: str, given: str) -> None:
    """Tell that a call came with the id of an earlier one, and which it was given."""
    text = "two calls of the answer have the same id: the later one got an id of its own"
    builder.notice("repeated_call_id", text, detail={"id": id, "given": given})
