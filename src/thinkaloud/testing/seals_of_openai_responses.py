"""What the Responses API wants back: encrypted thinking as it was, and a reasoning item beside the item it led to.

Items are tied by their ids: a turn may go back without its thinking where its items have no ids, and reasoning without
an id is not paired with anything. A summary may be left out, since it is for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from thinkaloud.errors import StaleThinking
from thinkaloud.testing.issued import Fault, Match, Piece, Turn, comparable, objects, string
from thinkaloud.testing.reply import Failure
from thinkaloud.testing.seal_rules import SealRules

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_RAW = "raw reasoning"


def _item(item: dict[str, Any], path: str) -> Piece:
    kind = str(item.get("type", "message"))
    id = string(item.get("id"))
    if kind == "reasoning":
        raw = _texts(item.get("content"))
        value = comparable([_texts(item.get("summary")), raw]) if raw or item.get("summary") else ""
        seal = string(item.get("encrypted_content"))
        return Piece(kind="thinking", value=value, seal=seal, item=id, path=path, name=_RAW if raw else kind)
    if kind in _CALLS:
        value = comparable([item.get("name"), comparable(item.get(_CALLS[kind]))])
        return Piece(kind="call", value=value, item=id, call=string(item.get("call_id")), path=path, name=kind)
    if kind == "message":
        return Piece(kind="text", value=comparable(_texts(item.get("content"))), item=id, path=path, name=kind)
    return Piece(kind="other", item=id, path=path, name=kind)


def _texts(content: Any) -> list[Any]:
    return (
        [content] if isinstance(content, str) else [part.get("text", part.get("refusal")) for part in objects(content)]
    )


def _is_of_the_model(item: dict[str, Any]) -> bool:
    kind = str(item.get("type", ""))
    return item.get("role") == "assistant" or kind in ("reasoning", "mcp_list_tools") or kind.endswith("_call")


def _turns(body: Any) -> list[Turn]:
    turns: list[Turn] = []
    run: list[Piece] = []
    for place, item in enumerate(objects(body.get("input"))):
        if _is_of_the_model(item):
            run.append(_item(item, f"input[{place}]"))
        elif run:
            turns.append(Turn(pieces=tuple(run)))
            run = []
    return [*turns, Turn(pieces=tuple(run))] if run else turns


def _same(sent: Piece, issued: Piece) -> bool:
    return sent.value in (issued.value, "") and sent.item in (issued.item, None)


def _demanded(path: str, body: Any, turn: Turn, matches: Sequence[Match]) -> None:
    for piece in turn.pieces:
        if piece.kind == "thinking" and piece.seal is None and piece.name != _RAW and body.get("store") is False:
            raise Fault("unkept", piece)
    for match in matches:
        _check_pairs(turn, match)


def _check_pairs(turn: Turn, match: Match) -> None:
    """Check the neighbours of each item with an id. A message is found by its own id, a call by its call id too."""
    answer = match.answer.pieces
    place_of = {id(piece): place for piece, place in match.places}
    for before, piece, after in zip((None, *turn.pieces), turn.pieces, (*turn.pieces[1:], None), strict=False):
        place = place_of.get(id(piece))
        if place is None or piece.item is None:
            continue
        if piece.kind == "thinking":
            led_to = answer[place + 1] if place + 1 < len(answer) else None
            is_next = after is not None and place_of.get(id(after)) == place + 1
            if led_to is not None and (after is None or not is_next or after.value != led_to.value):
                raise Fault("follower", piece)
        else:
            came_from = answer[place - 1] if place else piece
            is_before = before is not None and place_of.get(id(before)) == place - 1
            if came_from.kind == "thinking" and not is_before:
                raise Fault("parent", piece, other=came_from)


def _invalid(fault: Fault) -> Failure:
    start = (fault.piece.seal or "")[:8]
    return Failure(StaleThinking, f"The encrypted content {start}... could not be verified.")


def _refused(message: str) -> Failure:
    error = {"message": message, "type": "invalid_request_error", "param": "input", "code": None}
    return Failure(StaleThinking, message, body={"error": error})


def _without_follower(fault: Fault) -> Failure:
    piece = fault.piece
    if piece.item is None:
        return _invalid(fault)
    return _refused(f"Item '{piece.item}' of type 'reasoning' was provided without its required following item.")


def _without_parent(fault: Fault) -> Failure:
    piece, thinking = fault.piece, fault.other
    needed = "" if thinking is None or thinking.item is None else f": '{thinking.item}'"
    text = f"Item '{piece.item}' of type '{piece.name}' was provided without its required 'reasoning' item{needed}."
    return _refused(text)


def _unkept(fault: Fault) -> Failure:
    return _refused(
        f"Item with id '{fault.piece.item}' not found. Items are not persisted when `store` is set to false."
    )


def _out_of_order(fault: Fault) -> Failure:
    return _without_follower(fault) if fault.piece.kind == "thinking" else _without_parent(fault)


RULES = SealRules(
    realm="openai-responses",
    answered=lambda body: tuple(_item(item, "") for item in objects(body["output"])),
    turns=_turns,
    thinks=lambda body: None,
    same=_same,
    unsigned=True,
    demanded=_demanded,
    words={
        "foreign": _invalid,
        "edited": _invalid,
        "moved": _out_of_order,
        "follower": _without_follower,
        "parent": _without_parent,
        "unkept": _unkept,
    },
)
