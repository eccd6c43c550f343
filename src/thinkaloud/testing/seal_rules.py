"""What a wire's file says so that a scripted model can verify histories on it: a row for the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from thinkaloud.testing.issued import Fault, Flaw, Match, Piece, Turn
from thinkaloud.testing.reply import Failure


@frozen(kw_only=True)
class SealRules:
    """How a protocol's histories are read and judged.

    realm: where its seals verify; protocols of one realm share what was issued.
    answered: the pieces of a whole answer's body.
    turns: the model's turns of a request's body.
    thinks: whether a request asks for thinking; None: it does not say.
    same: whether a sealed piece that was sent has the content of the one that was issued.
    unsigned: thinking without a seal is taken though none such was issued.
    demanded: raises Fault where a turn lacks what the provider wants back. Given the URL's path, the request's body,
        the turn, and what of it was found.
    words: the refusal of each kind of fault.
    """

    realm: str
    answered: Callable[[Any], tuple[Piece, ...]]
    turns: Callable[[Any], list[Turn]]
    thinks: Callable[[Any], bool | None]
    same: Callable[[Piece, Piece], bool]
    unsigned: bool
    demanded: Callable[[str, Any, Turn, Sequence[Match]], None]
    words: Mapping[Flaw, Callable[[Fault], Failure]]
