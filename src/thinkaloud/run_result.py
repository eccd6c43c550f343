"""What a run has come to: the complete evidence of its turns, as a value that can be stored and gone on from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import field, frozen

from thinkaloud.checked import each, instance_of, items_of, one_of, optional
from thinkaloud.content import ToolCall
from thinkaloud.messages import (
    AssistantMessage,
    Conversation,
    Message,
    StopReason,
    ToolResult,
    UserMessage,
)
from thinkaloud.stored import NOT_STORED, Stored
from thinkaloud.usage import Cost, Usage

# Answers that ended so offer no call for running (as in the rules of histories).
_NO_CALLS = frozenset({StopReason.ERROR, StopReason.ABORTED, StopReason.REFUSAL, StopReason.CONTENT_FILTER})


_all_messages = each(instance_of(UserMessage, AssistantMessage, ToolResult))


def _as_messages(value: Iterable[Message]) -> tuple[Message, ...]:
    return items_of("messages", value)


@frozen
class RunResult(Stored):
    """The evidence of a run: all messages, thinking with its signatures, calls and results, in order.

    messages: the whole history, with what stood before the run.
    system: the system text that stands before it.
    status: "finished"; "approval" where it waits for calls to be approved or answered (`pending`); "stopped" where it
        ended early: it can go on from here.
    turns, tool_calls: answers of the model, and calls that were run.
    usage, cost: of all answers in sum, cut-off and corrected ones included; None where one of them does not tell.
    interrupted: the answer that the run was stopped in. It is no part of the messages: going on asks for it anew.
    output: the structured output, where one was asked for; not stored, not compared.

    `run(model, "more", history=result)` goes on with another question; without one it goes on with an early end.
    """

    messages: tuple[Message, ...] = field(default=(), converter=_as_messages, validator=_all_messages)
    system: str | None = field(default=None, validator=optional(instance_of(str)), kw_only=True)
    status: str = field(default="finished", validator=one_of("finished", "approval", "stopped"), kw_only=True)
    turns: int = field(default=0, validator=instance_of(int), kw_only=True)
    tool_calls: int = field(default=0, validator=instance_of(int), kw_only=True)
    usage: Usage = field(factory=Usage, validator=instance_of(Usage), kw_only=True)
    cost: Cost | None = field(default=None, validator=optional(instance_of(Cost)), kw_only=True)
    interrupted: AssistantMessage | None = field(
        default=None, validator=optional(instance_of(AssistantMessage)), kw_only=True
    )
    output: Any = field(default=None, kw_only=True, eq=False, repr=False, metadata=NOT_STORED)

    @property
    def conversation(self) -> Conversation:
        """The messages with their system text."""
        return Conversation(self.messages, system=self.system)

    @property
    def message(self) -> AssistantMessage | None:
        """The last answer; None where there is none."""
        return next((each for each in reversed(self.messages) if isinstance(each, AssistantMessage)), None)

    @property
    def text(self) -> str:
        """The text of the last answer, with that of the paused ones which it goes on from."""
        texts: list[str] = []
        for message in reversed(self.messages):
            if isinstance(message, AssistantMessage):
                if texts and message.stop_reason is not StopReason.PAUSE:
                    break
                texts.append(message.text)
            elif texts:
                break
        return "".join(reversed(texts))

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the last answer ended."""
        return None if self.message is None else self.message.stop_reason

    @property
    def pending(self) -> tuple[ToolCall, ...]:
        """The calls at the end that have no result yet."""
        return tuple(call for call, result in open_calls(self.messages)[1] if result is None)

    def to_json(self) -> str:
        """The result as one line of JSON in pure ASCII, to be stored. Raises CodecError."""
        from thinkaloud.codec import dumps

        return dumps(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> RunResult:
        """Read what `to_json` wrote. Raises CodecError, with the path of the fault, for anything else."""
        from thinkaloud.codec import run_result_from

        return run_result_from(text)


Calls = list[tuple[ToolCall, ToolResult | None]]


def open_calls(messages: Sequence[Message]) -> tuple[int, Calls]:
    """The calls of the last answer, each with its result if it has one already; and the place behind that answer.

    Nothing where something was said since then, where all of them have results, or where the answer was cut off.
    """
    results: dict[str, ToolResult] = {}
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, ToolResult):
            results[message.call_id] = message
            continue
        if not isinstance(message, AssistantMessage) or _offers_none(message):
            break
        calls: Calls = [(call, results.get(call.id)) for call in message.tool_calls]
        if all(result is not None for _, result in calls):
            break
        return place + 1, calls
    return len(messages), []


def _offers_none(message: AssistantMessage) -> bool:
    cut = message.stop_reason is None and bool(message.origin.protocol)
    return cut or message.stop_reason in _NO_CALLS
