"""What becomes of each block of a history when it is sent to a model: kept or left out, never half of it.

A signature verifies only where it was made. The place is called its signing realm: Claude's is the same on every host,
every other provider's is its own. In the same realm blocks go verbatim and in order; elsewhere signed thinking is left
out as a whole, and texts and calls go without their foreign signatures. Stored history is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

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


@frozen
class Switched:
    """A history as it may go to a model.

    messages: what is sent.
    notices: one for every block that is left out.
    places: for each message that lost blocks, where its remaining ones stood.
    """

    messages: tuple[Message, ...]
    notices: tuple[Notice, ...]
    places: Mapping[int, tuple[int, ...]]

    def as_given(self, notice: Notice) -> Notice:
        """A notice about the messages that are sent, with its path in the history as it was given."""
        found = _PATH.match(notice.path)
        if found is None or int(found[1]) not in self.places:
            return notice
        place = self.places[int(found[1])][int(found[2])]
        return evolve(notice, path=f"messages[{found[1]}].content[{place}]{notice.path[found.end() :]}")


_PATH = re.compile(r"messages\[(\d+)\]\.content\[(\d+)\]")


def for_target(messages: Sequence[Message], target: Model) -> Switched:
    """Give the messages as they may go to `target`."""
    notices: list[Notice] = []
    sent: list[Message] = []
    places: dict[int, tuple[int, ...]] = {}
    for place, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            blocks = list(enumerate(message.content))
            if message.stop_reason in _CUT:
                blocks = _without_orphans(place, blocks, _answered(messages, place), notices)
            if not _same_realm(message.origin, target):
                blocks = _foreign(place, blocks, message.origin, target, notices)
            content = tuple(block for _, block in blocks)
            if len(content) < len(message.content):
                places[place] = tuple(index for index, _ in blocks)
            if content != message.content:
                message = evolve(message, content=content)
        sent.append(message)
    return Switched(tuple(sent), tuple(notices), places)


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


_Placed = list[tuple[int, AssistantBlock]]


def _without_orphans(place: int, blocks: _Placed, answered: set[str], notices: list[Notice]) -> _Placed:
    kept: _Placed = []
    for index, block in blocks:
        if isinstance(block, ToolCall) and block.complete and block.id not in answered:
            text = f"the call {block.id!r} of an answer that was cut off has no result; left out"
            notices.append(Notice("block_omitted", text, f"messages[{place}].content[{index}]", {"reason": "orphan"}))
        else:
            kept.append((index, block))
    return kept


def _foreign(place: int, blocks: _Placed, origin: Origin, target: Model, notices: list[Notice]) -> _Placed:
    maker = origin.provider or origin.protocol
    kept: _Placed = []
    for index, block in blocks:
        path = f"messages[{place}].content[{index}]"
        match block:
            case Thinking():
                text = f"thinking of {maker} does not verify at {target.provider}; left out"
                notices.append(Notice("thinking_omitted", text, path, {"reason": "foreign"}))
            case Opaque() if block.protocol != target.protocol:
                text = f"{block.kind!r} is a block of {block.protocol} only; left out"
                notices.append(Notice("block_omitted", text, path, {"reason": "foreign"}))
            case Text() | ToolCall():
                kept.append((index, evolve(block, signature=None, extra={})))
            case _:
                kept.append((index, block))
    return kept
