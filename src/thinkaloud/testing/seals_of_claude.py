"""What Claude wants back, over the Messages API and over Converse: thinking as it was, before the calls it led to.

What Anthropic's documentation says is tolerated passes: older turns without their thinking, a last turn without any
where no tool loop is open, calls and texts that were edited, and everything where thinking is turned off. Thinking that
an open tool loop lacks is refused as with a thinking budget; adaptive thinking takes it, and goes on without.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from thinkaloud.errors import InvalidRequest, StaleThinking
from thinkaloud.protocols.redacted import CONVERSE, MESSAGES, payload_for
from thinkaloud.testing.issued import Fault, Match, Piece, Turn, comparable, inner, objects, string
from thinkaloud.testing.reply import Failure
from thinkaloud.testing.seal_rules import SealRules

ReadBlock = Callable[[dict[str, Any], str], Piece]


def _block_of_messages(block: dict[str, Any], path: str) -> Piece:
    kind = str(block.get("type"))
    match kind:
        case "thinking":
            seal = string(block.get("signature"))
            return Piece(kind="thinking", value=str(block.get("thinking", "")), seal=seal, path=path, name=kind)
        case "redacted_thinking":
            return Piece(kind="thinking", seal=string(block.get("data")), path=path, name=kind)
        case "tool_use":
            value = comparable([block.get("name"), block.get("input")])
            return Piece(kind="call", value=value, call=string(block.get("id")), path=path, name=kind)
        case _:
            return Piece(kind="text" if kind == "text" else "other", path=path, name=kind)


def _block_of_converse(block: dict[str, Any], path: str) -> Piece:
    if use := inner(block, "toolUse"):
        value = comparable([use.get("name"), use.get("input")])
        return Piece(kind="call", value=value, call=string(use.get("toolUseId")), path=path, name="tool_use")
    if data := string(inner(block, "reasoningContent").get("redactedContent")):
        payload = payload_for(MESSAGES, data, CONVERSE) or data
        return Piece(kind="thinking", seal=payload, path=path, name="redacted_thinking")
    if "reasoningContent" in block:
        told = inner(block, "reasoningContent", "reasoningText")
        seal = string(told.get("signature"))
        return Piece(kind="thinking", value=str(told.get("text", "")), seal=seal, path=path, name="thinking")
    return Piece(kind="text" if "text" in block else "other", path=path, name="text")


def _turns(body: Any, read: ReadBlock, is_result: Callable[[dict[str, Any]], bool]) -> list[Turn]:
    messages = objects(body.get("messages"))
    last = max((place for place, message in enumerate(messages) if message.get("role") == "assistant"), default=-1)
    after = messages[last + 1 :]
    open = bool(after) and all(any(map(is_result, objects(message.get("content")))) for message in after)
    turns: list[Turn] = []
    for place, message in enumerate(messages):
        if message.get("role") == "assistant":
            blocks = enumerate(objects(message.get("content")))
            pieces = tuple(read(block, f"messages.{place}.content.{number}") for number, block in blocks)
            turns.append(Turn(pieces=pieces, latest=place == last, open=open and place == last))
    return turns


def _thinks(told: dict[str, Any]) -> bool | None:
    return None if "type" not in told else told["type"] != "disabled"


def _same(sent: Piece, issued: Piece) -> bool:
    """Of withheld thinking the text is not looked at."""
    return sent.name == issued.name and (sent.value == issued.value or not issued.value)


def _demanded(path: str, body: Any, turn: Turn, matches: Sequence[Match]) -> None:
    for match in matches:
        if not match.lost or not turn.latest:
            continue
        if match.sealed:
            raise Fault("lost", match.places[0][0])
        if turn.open:
            raise Fault("missing", turn.pieces[0])


def _modified(fault: Fault) -> Failure:
    text = "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified"
    return Failure(StaleThinking, f"{fault.piece.path}: {text}") if fault.turn.latest else _invalid(fault)


def _invalid(fault: Fault) -> Failure:
    return Failure(StaleThinking, f"{fault.piece.path}: Invalid `signature` in `{fault.piece.name}` block")


def _unsigned(fault: Fault) -> Failure:
    return Failure(StaleThinking, f"{fault.piece.path}.{fault.piece.name}.signature: Field required")


def _missing(fault: Fault) -> Failure:
    found = f"{fault.piece.path}.type: Expected `thinking` or `redacted_thinking`, but found `{fault.piece.name}`."
    rule = "When `thinking` is enabled, a final `assistant` message must start with a thinking block"
    return Failure(InvalidRequest, f"{found} {rule}")


_WORDS: Any = {
    "foreign": _invalid,
    "edited": _modified,
    "moved": _modified,
    "lost": _modified,
    "missing": _missing,
    "unsigned": _unsigned,
}

_CLAUDE: dict[str, Any] = {
    "realm": "claude",
    "same": _same,
    "unsigned": False,
    "demanded": _demanded,
    "words": _WORDS,
}


def _pieces(content: Any, read: ReadBlock) -> tuple[Piece, ...]:
    return tuple(read(block, "") for block in objects(content))


MESSAGES_RULES = SealRules(
    answered=lambda body: _pieces(body["content"], _block_of_messages),
    turns=lambda body: _turns(body, _block_of_messages, lambda block: block.get("type") == "tool_result"),
    thinks=lambda body: _thinks(inner(body, "thinking")),
    **_CLAUDE,
)

CONVERSE_RULES = SealRules(
    answered=lambda body: _pieces(body["output"]["message"]["content"], _block_of_converse),
    turns=lambda body: _turns(body, _block_of_converse, lambda block: "toolResult" in block),
    thinks=lambda body: _thinks(inner(body, "additionalModelRequestFields", "thinking")),
    **_CLAUDE,
)
