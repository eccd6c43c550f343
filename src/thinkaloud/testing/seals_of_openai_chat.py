"""What endpoints of chat completions want back, each way of saying thinking as its strictest endpoint takes it.

`reasoning_content` must be there with the calls of an open tool loop, whatever it says (as DeepSeek and Moonshot do).
Entries of `reasoning_details` go back all, in order and as they were (OpenRouter), and so does the signature of a call
(Gemini's endpoint). Thinking in another field, in parts or in tags may be left out; a signature that is there must fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from thinkaloud.errors import StaleThinking
from thinkaloud.testing.issued import Fault, Match, Piece, Turn, comparable, inner, objects, string
from thinkaloud.testing.reply import Failure
from thinkaloud.testing.seal_rules import SealRules

_WANTED_FIELD = "reasoning_content"
_DETAILS = "reasoning_details"


def _pieces(message: dict[str, Any], path: str) -> Iterator[Piece]:
    if isinstance(said := message.get(_WANTED_FIELD), str):
        yield Piece(kind="other", value=said, path=path, name=_WANTED_FIELD)
    for place, entry in enumerate(objects(message.get(_DETAILS))):
        seal = string(entry.get("signature")) or string(entry.get("data"))
        value = str(entry.get("text") or entry.get("summary") or "")
        where = path and f"{path}.{_DETAILS}[{place}]"
        yield Piece(kind="thinking", value=value, seal=seal, path=where, name=_DETAILS)
    for place, part in enumerate(objects(message.get("content"))):
        if part.get("type") == "thinking":
            value = "".join(str(piece.get("text", "")) for piece in objects(part.get("thinking")))
            seal = string(part.get("signature"))
            yield Piece(
                kind="thinking", value=value, seal=seal, path=path and f"{path}.content[{place}]", name="thinking"
            )
    for place, call in enumerate(objects(message.get("tool_calls"))):
        function = inner(call, "function") or inner(call, "custom")
        arguments = function.get("arguments", function.get("input"))
        yield Piece(
            kind="call",
            value=comparable([function.get("name"), comparable(arguments)]),
            seal=string(inner(call, "extra_content", "google").get("thought_signature")),
            call=string(call.get("id")),
            path=path and f"{path}.tool_calls[{place}]",
            name="tool call",
        )


def _turns(body: Any) -> list[Turn]:
    messages = objects(body.get("messages"))
    asked = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    return [
        Turn(pieces=tuple(_pieces(message, f"messages[{place}]")), open=place > asked)
        for place, message in enumerate(messages)
        if message.get("role") == "assistant"
    ]


def _thinks(body: Any) -> bool | None:
    """Whether thinking is turned off, in any of the dialects."""
    told = inner(body, "reasoning")
    off = inner(body, "thinking").get("type") == "disabled" or body.get("reasoning_effort") == "none"
    return False if off or told.get("enabled") is False or told.get("effort") == "none" else None


def _demanded(path: str, body: Any, turn: Turn, matches: Sequence[Match]) -> None:
    if not turn.open:
        return
    for match in matches:
        if any(piece.kind == "thinking" for piece in match.lost):
            raise Fault("lost", turn.pieces[0])
        unsealed = [piece for piece, place in match.places if not piece.seal and match.answer.pieces[place].seal]
        calls = [piece for piece in turn.pieces if piece.kind == "call"]
        if calls and any(piece is calls[0] for piece in unsealed):
            raise Fault("unsigned", calls[0])
        wanted = any(piece.name == _WANTED_FIELD for piece in match.answer.pieces)
        if wanted and all(piece.name != _WANTED_FIELD for piece in turn.pieces):
            raise Fault("missing", turn.pieces[0])


def _same(sent: Piece, issued: Piece) -> bool:
    return sent.value == issued.value


def _invalid(fault: Fault) -> Failure:
    if fault.piece.kind == "call":
        return _unsigned(fault)
    return Failure(StaleThinking, f"{fault.piece.path}: Invalid `signature` in `thinking` block")


def _modified(fault: Fault) -> Failure:
    text = "`thinking` or `redacted_thinking` blocks in an assistant message cannot be modified"
    return Failure(StaleThinking, f"{fault.piece.path}: {text}")


def _lost(fault: Fault) -> Failure:
    return Failure(StaleThinking, f"{fault.piece.path}: this model needs its reasoning details to be preserved")


def _unsigned(fault: Fault) -> Failure:
    return Failure(StaleThinking, f"{fault.piece.path}: Function call is missing a thought_signature")


def _missing(fault: Fault) -> Failure:
    return Failure(StaleThinking, "The reasoning_content in the thinking mode must be passed back to the API.")


RULES = SealRules(
    realm="openai-chat",
    answered=lambda body: tuple(_pieces(body["choices"][0]["message"], "")),
    turns=_turns,
    thinks=_thinks,
    same=_same,
    unsigned=True,
    demanded=_demanded,
    words={
        "foreign": _invalid,
        "edited": _modified,
        "moved": _modified,
        "lost": _lost,
        "unsigned": _unsigned,
        "missing": _missing,
    },
)
