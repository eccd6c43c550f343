"""A scripted model that verifies: what it issued must come back as its provider wants it, or the request is refused."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from thinkaloud.content import AssistantBlock, ToolCall
from thinkaloud.errors import MalformedToolArguments
from thinkaloud.testing import (
    seals_of_claude,
    seals_of_gemini,
    seals_of_openai_chat,
    seals_of_openai_responses,
)
from thinkaloud.testing.issued import Fault, Issued, Memory, Turn
from thinkaloud.testing.reply import Failure, Reply
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.testing.seal_rules import SealRules

RULES: dict[str, SealRules] = {
    "anthropic-messages": seals_of_claude.MESSAGES_RULES,
    "bedrock-converse": seals_of_claude.CONVERSE_RULES,
    "gemini": seals_of_gemini.RULES,
    "openai-chat": seals_of_openai_chat.RULES,
    "openai-responses": seals_of_openai_responses.RULES,
}


class Verifier:
    """Remembers what was issued, on every wire, and judges what comes back."""

    def __init__(self) -> None:
        self._memories: dict[str, Memory] = {rules.realm: Memory() for rules in RULES.values()}

    def remember(self, protocol: str, request: RecordedRequest, body: Any) -> None:
        """Note an answer, given as the decoded body of one that is not streamed."""
        rules = RULES[protocol]
        self._memories[rules.realm].add(Issued(rules.answered(body), rules.thinks(request.json)))

    def refusal(self, protocol: str, request: RecordedRequest) -> Failure | None:
        """Why a request is refused, in its provider's words; None where it is taken."""
        rules, body = RULES[protocol], request.json
        thinks = rules.thinks(body)
        if thinks is False:  # blocks that come all the same are passed over
            return None
        for turn in rules.turns(body):
            try:
                _judge(rules, self._memories[rules.realm], turn, request.path, body, thinks)
            except Fault as fault:
                fault.turn = turn
                return rules.words[fault.flaw](fault)
        return None


def _judge(rules: SealRules, memory: Memory, turn: Turn, path: str, body: Any, thinks: bool | None) -> None:
    """Judge one turn. Raises Fault."""
    for piece in turn.pieces:
        unproved = piece.kind == "thinking" and piece.seal is None
        if unproved and not rules.unsigned and not memory.knows(piece):
            raise Fault("unsigned", piece)
    matches = memory.follow(turn, rules.same)
    # A request that no longer asks for thinking has turned it off, if it was asked for before.
    rules.demanded(path, body, turn, [match for match in matches if thinks or not match.answer.asked])


def can_come_back(reply: Reply) -> Reply:
    """A reply with the blocks alone that a history can hold, to an end that every wire can say."""
    content = tuple(block for block in reply.content if _is_whole(block))
    return evolve(reply, content=content, stop=None, stop_detail=None, error=None)


def _is_whole(block: AssistantBlock) -> bool:
    if not block.complete:
        return False
    if isinstance(block, ToolCall):
        try:
            _ = block.arguments
        except MalformedToolArguments:
            return block.extra.get("type") == "custom"
    return True
