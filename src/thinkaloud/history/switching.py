"""What becomes of each block of a history when it is sent to a model: kept or left out, never half of it.

A signature verifies only where it was made. The place is called its signing realm: Claude's is the same on every host,
every other provider's is its own. In the same realm blocks go verbatim and in order; elsewhere signed thinking is left
out as a whole, and texts and calls go without their foreign signatures. Stored history is never changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage, Message, Origin, StopReason, ToolResult
from thinkaloud.models.bedrock_ids import is_claude, vendor
from thinkaloud.models.model import Model
from thinkaloud.models.providers import provider_id
from thinkaloud.notices import Notice

_CUT = frozenset({StopReason.ERROR, StopReason.ABORTED})


def signing_realm(protocol: str, provider: str, model: str) -> str:
    """Name the realm in which a provider's signatures verify. Bedrock serves models of several vendors."""
    if protocol == "anthropic-messages" or (protocol == "bedrock-converse" and is_claude(model)):
        return "claude"
    maker = f" by {vendor(model)}" if protocol == "bedrock-converse" else ""
    return f"{protocol} at {provider_id(provider)}{maker}"


def for_target(messages: Sequence[Message], target: Model) -> tuple[tuple[Message, ...], tuple[Notice, ...]]:
    """Give the messages as they may go to `target`, and a notice for every block that is left out."""
    notices: list[Notice] = []
    sent: list[Message] = []
    for place, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            answered = _answered(messages, place)
            blocks = list(message.content)
            if message.stop_reason in _CUT:
                blocks = [block for block in blocks if not _is_orphan(block, answered)]
            if not _same_realm(message.origin, target):
                blocks = _foreign(place, blocks, message.origin, target, notices)
            message = message if blocks == list(message.content) else evolve(message, content=tuple(blocks))
        sent.append(message)
    return tuple(sent), tuple(notices)


def _same_realm(origin: Origin, target: Model) -> bool:
    """A message without an origin was built by hand for this very model."""
    if not origin.protocol:
        return True
    if origin == Origin(target.protocol or "", target.provider, target.id):
        return True
    # Not every answer names its model: a captured one is taken for what it is sent to.
    model = origin.model or (target.facts_id if origin.protocol == target.protocol else "")
    made = signing_realm(origin.protocol, origin.provider, model)
    return made == signing_realm(target.protocol or "", target.provider, target.facts_id)


def _answered(messages: Sequence[Message], place: int) -> set[str]:
    answered: set[str] = set()
    for message in messages[place + 1 :]:
        if not isinstance(message, ToolResult):
            break
        answered.add(message.call_id)
    return answered


def _is_orphan(block: AssistantBlock, answered: set[str]) -> bool:
    return isinstance(block, ToolCall) and block.id not in answered


def _foreign(
    place: int, blocks: list[AssistantBlock], origin: Origin, target: Model, notices: list[Notice]
) -> list[AssistantBlock]:
    kept: list[AssistantBlock] = []
    for index, block in enumerate(blocks):
        path = f"messages[{place}].content[{index}]"
        match block:
            case Thinking():
                text = (
                    f"thinking of {origin.provider or origin.protocol} does not verify at {target.provider}; left out"
                )
                notices.append(Notice("thinking_omitted", text, path, {"reason": "foreign"}))
            case Opaque() if block.protocol != target.protocol:
                text = f"{block.kind!r} is a block of {block.protocol} only; left out"
                notices.append(Notice("block_omitted", text, path, {"reason": "foreign"}))
            case Text() | ToolCall():
                kept.append(evolve(block, signature=None, extra={}))
            case _:
                kept.append(block)
    return kept
