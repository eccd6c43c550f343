"""What shortens or rewrites a history before it is checked and sent: functions from messages to messages.

A call is never parted from its result, nor thinking from the call that it led to: answers stay whole, and go together
with the results that follow them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import frozen

from thinkaloud.checked import items_of, whole_number
from thinkaloud.content import Block, Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import dumps
from thinkaloud.messages import Conversation, Message, ToolResult, UserMessage

Processor = Callable[[tuple[Message, ...]], Sequence[Message]]


def processed(messages: tuple[Message, ...], processors: Iterable[Processor] | Processor) -> tuple[Message, ...]:
    """Run processors one after another. Raises ConfigurationError for one that gives no messages."""
    if callable(processors):
        processors = (processors,)
    for processor in items_of("processors", () if processors is None else processors):
        if not callable(processor):
            raise ConfigurationError(f"processors must be functions of messages, not {type(processor).__name__}")
        name = getattr(processor, "__name__", type(processor).__name__)
        given: Any = processor(messages)
        if isinstance(given, str) or not isinstance(given, (Sequence, Conversation)):
            raise ConfigurationError(f"the processor {name} must give the messages, not {type(given).__name__}")
        try:
            messages = Conversation(given).messages
        except TypeError as error:
            raise ConfigurationError(f"the processor {name} must give messages: {error}") from None
        if not messages:
            raise ConfigurationError(f"the processor {name} left no message to send")
    return messages


# A step is one user message or one answer, together with the results behind it; a turn is all from what a user says to
# what the user says next.
Step = tuple[Message, ...]


def _steps(messages: Iterable[Message]) -> list[Step]:
    steps: list[list[Message]] = []
    for message in messages:
        if isinstance(message, ToolResult) and steps:
            steps[-1].append(message)
        else:
            steps.append([message])
    return [tuple(step) for step in steps]


def _turns(messages: Iterable[Message]) -> list[list[Step]]:
    turns: list[list[Step]] = []
    for step in _steps(messages):
        asks = isinstance(step[0], UserMessage)
        goes_on = bool(turns) and (not asks or all(isinstance(said[0], UserMessage) for said in turns[-1]))
        if goes_on:
            turns[-1].append(step)
        else:
            turns.append([step])
    return turns


def _flat(turns: Iterable[Iterable[Step]]) -> tuple[Message, ...]:
    return tuple(message for turn in turns for step in turn for message in step)


@frozen
class _TrimTurns:
    turns: int

    def __call__(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return _flat(_turns(messages)[-self.turns :])


@frozen
class _TrimTokens:
    budget: int
    count: Callable[[Message], int]

    def __call__(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        turns = _turns(messages)
        if not turns:
            return ()
        kept: list[list[Step]] = [self._last(turns[-1])]
        room = self.budget - sum(map(self._cost, kept[0]))
        whole = kept[0] == turns[-1]
        for turn in reversed(turns[:-1]) if whole else ():
            room -= sum(map(self._cost, turn))
            if room < 0:
                break
            kept.append(turn)
        return _flat(reversed(kept))

    def _cost(self, step: Step) -> int:
        return sum(map(self.count, step))

    def _last(self, turn: list[Step]) -> list[Step]:
        """The last turn: what the user says in it, its last step, and as many of the latest others as there is room."""
        asked = [step for step in turn if isinstance(step[0], UserMessage)]
        others = [step for step in turn if not isinstance(step[0], UserMessage)]
        room = self.budget - sum(map(self._cost, asked))
        kept = 0
        for step in reversed(others):
            room -= self._cost(step)
            if room < 0 and kept:
                break
            kept += 1
        return [*asked, *others[len(others) - kept :]]


def trim_turns(turns: int) -> Processor:
    """A processor that keeps the last turns of a history, each from what the user says to what the user says next.

    Raises ConfigurationError unless `turns` is a whole number above 0.
    """
    whole_number("turns", turns)
    return _TrimTurns(turns)


def trim_tokens(budget: int, *, count: Callable[[Message], int] | None = None) -> Processor:
    """A processor that keeps as many of the latest turns as a budget of tokens has room for.

    budget: tokens. The last question is kept whatever it costs, with the latest step of its answer.
    count: counts the tokens of a message; None estimates them, a token for every four characters or so.

    Raises ConfigurationError unless `budget` is a whole number above 0.
    """
    whole_number("budget", budget)
    if count is not None and not callable(count):
        raise ConfigurationError(f"count must be a function from a message to its tokens, not {type(count).__name__}")
    return _TrimTokens(budget, count or estimated_tokens)


# Rough costs, in tokens: what a message, a picture or a document has around or inside it that is no text of ours.
_PER_MESSAGE = 4
_PER_IMAGE = 1_600
_CHARACTERS = 4
_BYTES_OF_A_DOCUMENT = 25


def estimated_tokens(message: Message) -> int:
    """A rough count of the tokens that a message takes in a prompt."""
    return _PER_MESSAGE + sum(_estimate(block) for block in message.content)


def _estimate(block: Block) -> int:
    match block:
        case Text():
            size = len(block.text)
        case Thinking():
            size = max(len(block.text), len(block.signature or "") // 2, len(block.redacted_data or "") // 2)
        case ToolCall():
            size = len(block.name) + len(block.arguments_json)
        case Image():
            return _PER_IMAGE
        case Document():
            if block.text is None:
                return max(_PER_IMAGE, len(block.data or "") // _BYTES_OF_A_DOCUMENT)
            size = len(block.text)
        case Opaque():
            size = len(dumps(dict(block.data)))
    return size // _CHARACTERS + 1
