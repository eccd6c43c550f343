"""What becomes of a history when it is sent to a model: each block kept, downgraded or left out, never half of it.

The table is in `thinkaloud.history.decisions`; here it is applied, with a notice for each loss. Stored history is never
changed.

A block that is left out stands in the sent messages as an empty one that was cut off. No encoder writes such a block,
and each of them sees where something is missing, so that what may not stand without it goes with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attrs import define, evolve, field, frozen

from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.history.decisions import ORPHAN, Decision, SwitchPolicy, Target, is_cut
from thinkaloud.jsontext import Json
from thinkaloud.messages import AssistantMessage, Message, Origin, ToolResult, UserMessage
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model
from thinkaloud.notices import Notice

# Protocols that refuse a call whose id another call of the history has.
_UNIQUE_IDS = frozenset({"anthropic-messages", "bedrock-converse"})

# Protocols that know calls whose arguments are free text.
_FREE_TEXT = frozenset({"openai-chat", "openai-responses"})

# What a model is told where a call has no result.
NO_RESULT = "The tool was not run: there is no result."


@frozen
class Switched:
    """A history as it may go to a model.

    messages: what is sent.
    notices: one for every block that is not sent as it is.
    omitted: paths of what is left out, in the messages that are sent.
    given: for each message that is sent, its number in the history as it was given; None where they are the same.
    prefix_digest: digest of all that stands before the answer to come; None: not known.
    """

    messages: tuple[Message, ...]
    notices: tuple[Notice, ...]
    omitted: frozenset[str] = frozenset()
    given: tuple[int, ...] | None = None
    prefix_digest: str | None = None

    def told(self, encoded: Sequence[Notice]) -> tuple[Notice, ...]:
        """All notices about the history and its encoding, each told once, with its place in the given history."""
        return (*self.notices, *(self.placed(notice) for notice in encoded if notice.path not in self.omitted))

    def placed(self, notice: Notice) -> Notice:
        """A notice about the messages that are sent, with its path in the history as it was given."""
        if self.given is None or not notice.path.startswith("messages["):
            return notice
        number, bracket, rest = notice.path.removeprefix("messages[").partition("]")
        if not bracket or not number.isdecimal() or int(number) >= len(self.given):
            return notice
        return evolve(notice, path=f"messages[{self.given[int(number)]}]{rest}")


@define
class _Switching:
    """The messages while they are switched."""

    target: Target
    asked_last: int  # the place of the last message of a user
    sent: list[Message] = field(factory=list)
    given: list[int] = field(factory=list)
    notices: list[Notice] = field(factory=list)
    omitted: set[str] = field(factory=set)
    waiting: dict[str, ToolCall] = field(factory=dict)  # calls that still have no result
    asked_at: int = 0
    called: set[str] = field(factory=set)  # ids of the calls of earlier answers
    renamed: dict[str, str] = field(factory=dict)  # in the latest answer

    def take(self, place: int, message: Message, answered: frozenset[str]) -> None:
        if isinstance(message, ToolResult):
            self.waiting.pop(message.call_id, None)
            if message.call_id in self.renamed:
                message = evolve(message, call_id=self.renamed[message.call_id])
        else:
            self.answer_orphans()
            self.called.update(self.renamed.values())
            self.renamed = {}
        if isinstance(message, AssistantMessage):
            message = self._assistant(place, message, answered)
        self.sent.append(message)
        self.given.append(place)

    def _assistant(self, place: int, message: AssistantMessage, answered: frozenset[str]) -> AssistantMessage:
        origin = self.target.place_of(message.origin)
        cut = is_cut(message)
        blocks: list[AssistantBlock] = []
        calls: set[str] = set()
        for index, block in enumerate(message.content):
            if isinstance(block, (Text, Thinking, ToolCall, Opaque)):
                decision = self.target.decide(block, origin, in_loop=place > self.asked_last)
                if isinstance(block, ToolCall) and block.complete and block.id not in answered:
                    if cut:
                        decision = ORPHAN
                    elif decision.outcome != "omitted":
                        self.waiting[block.id] = block
                path = f"messages[{len(self.sent)}].content[{index}]"
                if isinstance(block, ToolCall):
                    calls.add(block.id)
                given = f"messages[{place}].content[{index}]"
                block = self._with_own_id(self._done(block, decision, message.origin, path, given), given)
            blocks.append(block)
        self.called |= calls
        self.asked_at = place
        content = tuple(_parted(blocks, message.content))
        return message if content == message.content else evolve(message, content=content)

    def _with_own_id(self, block: AssistantBlock, given: str) -> AssistantBlock:
        """The block, with another id where it is a call whose id an earlier answer has and the target refuses that."""
        if not isinstance(block, ToolCall) or self.target.model.protocol not in _UNIQUE_IDS:
            return block
        if block.id in self.called and block.id not in self.renamed:
            number = 2
            while f"{block.id}_{number}" in self.called:
                number += 1
            self.renamed[block.id] = f"{block.id}_{number}"
            if block.complete:  # what is left out has been told
                text = "an earlier call has the same id, which this protocol refuses: it and its result go by another"
                detail: dict[str, Json] = {"id": block.id, "given": self.renamed[block.id]}
                self.notices.append(Notice("repeated_call_id", text, given, detail))
        own = self.renamed.get(block.id)
        return block if own is None else evolve(block, id=own)

    def _done(self, block: AssistantBlock, decision: Decision, origin: Origin, path: str, given: str) -> AssistantBlock:
        if decision.outcome == "kept":
            return block
        told = _told(block, decision, origin, self.target.model, given)
        if told is not None:
            self.notices.append(told)
        match decision.outcome:
            case "bare":
                return _bare(block, origin.protocol, self.target.model.protocol or "")
            case "downgraded":
                assert isinstance(block, Thinking)
                return Text(block.text)
            case _:
                self.omitted.add(path)
                return left_out(block)

    def answer_orphans(self) -> None:
        """Send a result that says that there is none, for each call that has none (`orphans="synthesize"`)."""
        if self.target.policy.orphans == "synthesize":
            for call in self.waiting.values():
                text = f"the call {call.id!r} of {call.name!r} has no result: one that says so is sent"
                self.notices.append(Notice("result_synthesized", text, f"messages[{self.asked_at}]", {"id": call.id}))
                self.sent.append(ToolResult(call.id, NO_RESULT, name=call.name, is_error=True))
                self.given.append(self.asked_at)
        self.waiting = {}


def for_target(
    messages: Sequence[Message],
    model: Model,
    *,
    dialect: Dialect | None = None,
    policy: SwitchPolicy = SwitchPolicy(),
) -> Switched:
    """Give the messages as they may go to a model, whose protocol is known. Pure, and linear in their number."""
    asked = max((place for place, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
    switching = _Switching(Target.of(model, dialect, policy), asked)
    for place, (message, answered) in enumerate(_with_answered(messages)):
        switching.take(place, message, answered)
    switching.answer_orphans()
    moved = len(switching.sent) > len(messages)
    return Switched(
        tuple(switching.sent),
        tuple(switching.notices),
        frozenset(switching.omitted),
        tuple(switching.given) if moved else None,
    )


def without_seals(switched: Switched, sent: Sequence[Message], *, reason: str) -> Switched:
    """Messages that were sent, without their sealed thinking and without signatures: for after a refusal of these."""
    notices: list[Notice] = []
    omitted = set(switched.omitted)
    messages: list[Message] = []
    for place, message in enumerate(sent):
        if isinstance(message, AssistantMessage):
            blocks: list[AssistantBlock] = []
            for index, block in enumerate(message.content):
                path = f"messages[{place}].content[{index}]"
                if path not in omitted and (bare := _unsealed(block)) is not block:
                    gone = not bare.complete
                    kind = "thinking" if isinstance(block, Thinking) else "block" if gone else "signature"
                    code = f"{kind}_omitted"
                    notices.append(Notice(code, f"left out: {reason}", path, {"reason": "stale"}))
                    if gone:
                        omitted.add(path)
                    block = bare
                blocks.append(block)
            message = evolve(message, content=tuple(blocks))
        messages.append(message)
    fresh = tuple(map(switched.placed, notices))
    return evolve(switched, messages=tuple(messages), notices=(*switched.notices, *fresh), omitted=frozenset(omitted))


def _unsealed(block: AssistantBlock) -> AssistantBlock:
    match block:
        case Thinking() if (
            block.signature is not None or block.redacted_data is not None or _SEALS & block.extra.keys()
        ):
            return left_out(block)
        case Text() | ToolCall() if block.signature is not None or _SEALS & block.extra.keys():
            return evolve(
                block, signature=None, extra={name: value for name, value in block.extra.items() if name not in _SEALS}
            )
        case Opaque() if block.kind.startswith("reasoning.") or "thoughtSignature" in block.data:
            return left_out(block)
        case _:
            return block


# Fields of `extra` that hold seals of chat endpoints.
_SEALS = frozenset({"reasoning_details", "extra_content"})


def left_out(block: AssistantBlock) -> AssistantBlock:
    """What stands in a sent message for a block that is left out: nothing of it but its kind and its call's id."""
    match block:
        case Thinking():
            return Thinking(complete=False)
        case ToolCall():
            return ToolCall(block.id, name=block.name, complete=False)
        case Opaque():
            return Opaque(block.protocol, kind=block.kind, data={}, complete=False)
        case _:
            return Text("", complete=False)


def _with_answered(messages: Sequence[Message]) -> Iterator[tuple[Message, frozenset[str]]]:
    """Each message with the ids that are answered right after it."""
    answers: list[frozenset[str]] = []
    after: set[str] = set()
    for message in reversed(messages):
        answers.append(frozenset(after) if isinstance(message, AssistantMessage) else frozenset())
        if isinstance(message, ToolResult):
            after.add(message.call_id)
        else:
            after = set()
    return zip(messages, reversed(answers), strict=True)


def _parted(sent: Sequence[AssistantBlock], given: Sequence[AssistantBlock]) -> Iterator[AssistantBlock]:
    """The blocks, with blank lines around thinking that became text: some wires join the texts of an answer."""
    last_text = max((place for place, block in enumerate(sent) if isinstance(block, Text)), default=-1)
    after_text = False
    for place, (block, before) in enumerate(zip(sent, given, strict=True)):
        if isinstance(block, Text) and isinstance(before, Thinking):
            start, end = "\n\n" * after_text, "\n\n" * (place < last_text)
            yield Text(start + block.text.strip() + end)
            after_text = False
        else:
            yield block
            after_text = after_text or (isinstance(block, Text) and bool(block.text))


def _bare(block: AssistantBlock, made_by: str, goes_to: str) -> AssistantBlock:
    match block:
        case Text():
            return evolve(block, signature=None, extra={}, citations=())
        case ToolCall():
            custom = {made_by, goes_to} <= _FREE_TEXT and block.extra.get("type") == "custom"
            return evolve(block, signature=None, extra={"type": "custom"} if custom else {})
        case _:
            return block


def _told(block: AssistantBlock, decision: Decision, origin: Origin, target: Model, path: str) -> Notice | None:
    """The notice of what a block loses; None where that is nothing."""
    maker = origin.provider or origin.protocol
    detail: dict[str, Json] = {"reason": decision.reason}
    if decision.reason == "foreign":
        detail |= {"origin": maker, "target": target.provider}
    match decision.outcome:
        case "bare":
            lost = [name for name in ("signature", "citations") if getattr(block, name, None)]
            if not lost:
                return None
            text = f"sent without its {' and '.join(lost)}: {decision.text}"
            return Notice("signature_omitted" if "signature" in lost else "citations_omitted", text, path, detail)
        case "downgraded":
            return Notice("thinking_downgraded", decision.text, path, detail)
        case _:
            if isinstance(block, Text) and not block.text:
                return None  # an empty leftover
            code = "thinking_omitted" if isinstance(block, Thinking) else "block_omitted"
            name = ""
            if isinstance(block, (Opaque, ToolCall)):
                name = f"{block.kind if isinstance(block, Opaque) else block.id!r}: "
            return Notice(code, f"left out: {name}{decision.text}", path, detail)
