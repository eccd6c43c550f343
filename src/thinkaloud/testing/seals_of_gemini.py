"""What Gemini wants back: the signature of the first call of each step in the turn that goes on.

Every other signature may be left out, and that of a text may stand on another part of its turn (both seen accepted);
models before Gemini 3 want none at all. One that is there must be one that was issued, and a call's must be its own.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

from thinkaloud.errors import StaleThinking
from thinkaloud.testing.issued import Fault, Match, Piece, Turn, comparable, inner, objects, string
from thinkaloud.testing.reply import Failure
from thinkaloud.testing.seal_rules import SealRules

# Google documents these for calls that no Gemini has made, as they are and in base64.
_STAND_INS = (
    "skip_thought_signature_validator",
    "context_engineering_is_the_way_to_go",
    "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
    "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv",
)
_STAND_IN = "stand-in"
_EMPTY = "empty"
_LENIENT = re.compile(r"gemini-[12]|-image")


def _part(part: dict[str, Any], path: str) -> Piece:
    seal = string(part.get("thoughtSignature"))
    if seal is not None:
        seal = seal.replace("-", "+").replace("_", "/") if seal not in _STAND_INS else seal  # both alphabets are taken
    name = "part"
    if seal in _STAND_INS:
        seal, name = None, _STAND_IN
    if call := inner(part, "functionCall"):
        value = comparable([call.get("name"), call.get("args") or {}])
        return Piece(kind="call", value=value, seal=seal, path=path, name=name)
    if "text" in part:
        return Piece(kind="text", seal=seal, path=path, name=name)
    return Piece(kind="other", seal=seal, path=path, name=_EMPTY if part.keys() <= {"thoughtSignature"} else name)


def _pieces(parts: Any, place: str) -> tuple[Piece, ...]:
    """The parts of a content; a signature that is there once more is not looked at again (seen accepted)."""
    seen: set[str] = set()
    pieces: list[Piece] = []
    for number, part in enumerate(objects(parts)):
        if part.get("thoughtSignature") in seen:
            part = {name: value for name, value in part.items() if name != "thoughtSignature"}
        elif isinstance(seal := part.get("thoughtSignature"), str):
            seen.add(seal)
        pieces.append(_part(part, place and f"{place}.parts[{number}]"))
    return tuple(pieces)


def _turns(body: Any) -> list[Turn]:
    contents = objects(body.get("contents"))
    asked = max((place for place, content in enumerate(contents) if _asks(content)), default=-1)
    return [
        Turn(pieces=_pieces(content.get("parts"), f"contents[{place}]"), open=place > asked)
        for place, content in enumerate(contents)
        if content.get("role") == "model"
    ]


def _asks(content: dict[str, Any]) -> bool:
    """Whether a user speaks here, and not only a tool."""
    return content.get("role") != "model" and any(
        "functionResponse" not in part for part in objects(content.get("parts"))
    )


def _same(sent: Piece, issued: Piece) -> bool:
    return sent.value == issued.value


def _demanded(path: str, body: Any, turn: Turn, matches: Sequence[Match]) -> None:
    for piece in turn.pieces:
        if piece.name == _EMPTY:
            raise Fault("empty", piece)
    first = next((piece for piece in turn.pieces if piece.kind == "call"), None)
    if first is None or first.seal is not None or first.name == _STAND_IN:
        return
    issued = [match.answer.pieces[place] for match in matches for piece, place in match.places if piece is first]
    never_had_one = any(piece.seal is None for piece in issued)
    if turn.open and not never_had_one and not _LENIENT.search(path):
        raise Fault("missing", first)


def _invalid(fault: Fault) -> Failure:
    return Failure(StaleThinking, f"Invalid thought signature at {fault.piece.path}.")


def _foreign(fault: Fault) -> Failure:
    try:
        b64decode(fault.piece.seal or "", validate=True)
    except ValueError:
        text = f"Invalid value at '{fault.piece.path}.thought_signature' (TYPE_BYTES), Base64 decoding failed"
        return Failure(StaleThinking, text)
    return _invalid(fault)


def _missing(fault: Fault) -> Failure:
    text = f"Function call is missing a thought_signature in functionCall parts: {fault.piece.path}."
    return Failure(StaleThinking, text)


RULES = SealRules(
    realm="gemini",
    answered=lambda body: _pieces(body["candidates"][0]["content"]["parts"], ""),
    turns=_turns,
    thinks=lambda body: None,
    same=_same,
    unsigned=True,
    demanded=_demanded,
    words={
        "foreign": _foreign,
        "edited": _invalid,
        "moved": _invalid,
        "empty": _invalid,
        "missing": _missing,
    },
)
