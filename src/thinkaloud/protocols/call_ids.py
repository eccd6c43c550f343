"""Ids of tool calls in the characters and the length that a protocol takes, and new ones for calls without."""

from __future__ import annotations

import re
from hashlib import sha256

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
