"""Reads the structured output of a whole answer, and has the model correct one that does not fit."""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve

from thinkaloud.errors import OutputError
from thinkaloud.event_stream import EventStream
from thinkaloud.messages import AssistantMessage, Conversation
from thinkaloud.notices import Notice
from thinkaloud.plan import Messages
from thinkaloud.structured import correction, is_answer
from thinkaloud.usage import Cost

CORRECTED = "output_corrected"


async def answered(open: Callable[[Messages], EventStream], messages: Messages) -> AssistantMessage:
    """The answer to messages, with its output where one is asked for. Raises what ends a stream, and OutputError.

    A corrected answer counts the usage and cost of those before it too, and says so in a notice. Its thinking follows
    what was said between, so a conversation that goes on from there is better held with `run`, which keeps that.
    """
    events = open(messages)
    message = await events.message()
    call = events.plan.call
    if call.output is None:
        return message
    output, by_tool, left = call.output, call.output_schema is None, call.output.corrections
    while is_answer(message, output, by_tool=by_tool):
        try:
            return evolve(message, output=output.read(message, by_tool=by_tool))
        except OutputError as error:
            said = correction(message, output, error, by_tool=by_tool) if left else None
            if said is None:
                raise
            fault = error.message
        left -= 1
        messages = _adding(messages, message, *said)
        before, message = message, await open(messages).message()
        notice = Notice(CORRECTED, f"an answer before this one was corrected: {fault}", "output")
        message = evolve(
            message,
            usage=before.usage + message.usage,
            cost=_sum(before.cost, message.cost),
            notices=(*message.notices, notice),
        )
    return message


def _adding(messages: Messages, *more: object) -> Conversation:
    conversation = messages if isinstance(messages, Conversation) else Conversation(messages)
    return conversation.adding(*more)  # type: ignore[arg-type]


def _sum(one: Cost | None, other: Cost | None) -> Cost | None:
    return None if one is None or other is None else one + other
