"""Ids of tool calls in the characters and the length that a protocol takes."""

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
