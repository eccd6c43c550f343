"""The messages of a conversation, and what is known about an answer besides its content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from attrs import field, frozen
from attrs.converters import optional as optional_converter

from thinkaloud.checked import each, instance_of, items_of, optional
from thinkaloud.content import (
    AssistantBlock,
    Document,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    UserBlock,
)
from thinkaloud.errors import WrongValue
from thinkaloud.jsontext import Json, copied_object
from thinkaloud.levels import ThinkingLevel
from thinkaloud.notices import Notice
from thinkaloud.stored import NOT_STORED, Stored
from thinkaloud.usage import Cost, Usage

_BLOCKS = (Text, Thinking, ToolCall, Image, Document, Opaque)


def _as_blocks(value: Any) -> tuple[Any, ...]:
    """Blocks, of which one may stand alone, and where a string is a Text."""
    if isinstance(value, (str, *_BLOCKS)):
        value = (value,)
    elif isinstance(value, Mapping):
        raise WrongValue(f"content must be text or blocks, not {type(value).__name__}")
    items = items_of("content", value)
    if not any(isinstance(item, str) for item in items):
        return items
    return tuple(Text(item) if isinstance(item, str) else item for item in items)


def _as_user_blocks(value: str | UserBlock | Iterable[str | UserBlock]) -> tuple[UserBlock, ...]:
    return _as_blocks(value)


def _as_assistant_blocks(value: str | AssistantBlock | Iterable[str | AssistantBlock]) -> tuple[AssistantBlock, ...]:
    return _as_blocks(value)


def _as_level(value: LevelChoice | tuple[ThinkingLevel | None, ThinkingLevel | None]) -> LevelChoice:
    return LevelChoice(*_some("level", value, 2))


def _as_timing(value: Timing | tuple[float | None, float | None, float | None]) -> Timing:
    return Timing(*_some("timing", value, 3))


def _some(name: str, value: Any, most: int) -> tuple[Any, ...]:
    items = items_of(name, value)
    if len(items) > most:
        raise WrongValue(f"{name} has {len(items)} values, of at most {most}")
    return items


def _as_notices(value: Iterable[Notice]) -> tuple[Notice, ...]:
    return items_of("notices", value)


_opt_text = optional(instance_of(str))
_levels = each(optional(instance_of(ThinkingLevel)))
_seconds = each(optional(instance_of(int, float)))
_all_blocks = each(instance_of(*_BLOCKS))


class StopReason(Enum):
    """Why an answer ended, in one vocabulary; the provider's own word is kept beside it."""

    END = "end"
    LENGTH = "length"
    TOOL_USE = "tool_use"
    STOP_SEQUENCE = "stop_sequence"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    PAUSE = "pause"
    UNKNOWN = "unknown"
    ERROR = "error"
    ABORTED = "aborted"


@frozen
class Origin(Stored):
    """Who made an answer: decides what may be sent back to whom.

    protocol: wire protocol id, such as "anthropic-messages".
    provider: provider id, such as "anthropic".
    model: the model's id as the provider answered it, else as it was asked for.
    """

    protocol: str = field(default="", validator=instance_of(str))
    provider: str = field(default="", validator=instance_of(str))
    model: str = field(default="", validator=instance_of(str))


class LevelChoice(NamedTuple):
    """The thinking level that was asked for and the one that was sent; None: nothing."""

    asked: ThinkingLevel | None = None
    sent: ThinkingLevel | None = None


class Timing(NamedTuple):
    """Seconds from the start of the request to the first event, spent in thinking blocks, and in all."""

    first_event: float | None = None
    thinking: float | None = None
    total: float | None = None


@frozen
class UserMessage(Stored):
    """What the user says: text, images, documents. A plain string, also one in a list, is a text block."""

    content: tuple[UserBlock, ...] = field(converter=_as_user_blocks, validator=_all_blocks)


@frozen
class ToolResult(Stored):
    """The outcome of one tool call.

    call_id: id of the call that it answers.
    content: text and images; a plain string, also one in a list, is a text block.
    name: the tool's name; some protocols need it, and it is found in the history when left out.
    is_error: the tool failed, and the content says how.
    """

    call_id: str = field(validator=instance_of(str))
    content: tuple[UserBlock, ...] = field(default=(), converter=_as_user_blocks, validator=_all_blocks)
    name: str | None = field(default=None, validator=_opt_text, kw_only=True)
    is_error: bool = field(default=False, validator=instance_of(bool), kw_only=True)


@frozen
class AssistantMessage(Stored):
    """One answer of a model, with everything that sending it back needs.

    content: blocks in the order of the wire; nothing ever sorts or merges them.
    origin: who made it.
    stop_reason, raw_stop_reason, stop_detail: why it ended, in our word, the provider's word, and its details.
    usage, cost: tokens, and USD at the time of the answer.
    response_id: the provider's id of the answer.
    level: the thinking level asked for and sent.
    prefix_digest: digest of all that stood before this message when it was made.
    content_digest: digest of its signed blocks and their places; tells an edited message.
    notices: what was changed or left out on the way.
    timing: seconds; not compared.
    output: the structured output that `complete(..., output=...)` read from the content; not stored, not compared.
    """

    content: tuple[AssistantBlock, ...] = field(default=(), converter=_as_assistant_blocks, validator=_all_blocks)
    origin: Origin = field(factory=Origin, validator=instance_of(Origin), kw_only=True)
    stop_reason: StopReason | None = field(default=None, validator=optional(instance_of(StopReason)), kw_only=True)
    raw_stop_reason: str | None = field(default=None, validator=_opt_text, kw_only=True)
    stop_detail: Mapping[str, Json] | None = field(
        default=None, converter=optional_converter(copied_object), kw_only=True, hash=False
    )
    usage: Usage = field(factory=Usage, validator=instance_of(Usage), kw_only=True)
    cost: Cost | None = field(default=None, validator=optional(instance_of(Cost)), kw_only=True)
    response_id: str | None = field(default=None, validator=_opt_text, kw_only=True)
    level: LevelChoice = field(default=LevelChoice(), converter=_as_level, validator=_levels, kw_only=True)
    prefix_digest: str | None = field(default=None, validator=_opt_text, kw_only=True)
    content_digest: str | None = field(default=None, validator=_opt_text, kw_only=True)
    notices: tuple[Notice, ...] = field(
        default=(), converter=_as_notices, validator=each(instance_of(Notice)), kw_only=True
    )
    timing: Timing = field(default=Timing(), converter=_as_timing, validator=_seconds, kw_only=True, eq=False)
    output: Any = field(default=None, kw_only=True, eq=False, repr=False, metadata=NOT_STORED)

    @property
    def text(self) -> str:
        """The visible answer as one string."""
        return "".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def thinking(self) -> str:
        """The visible thinking as one string, blocks parted by a blank line."""
        return "\n\n".join(block.text for block in self.thinking_blocks if block.text)

    @property
    def thinking_blocks(self) -> tuple[Thinking, ...]:
        """The thinking blocks, redacted and withheld ones included."""
        return tuple(block for block in self.content if isinstance(block, Thinking))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that arrived whole: only these may be run."""
        return tuple(block for block in self.content if isinstance(block, ToolCall) and block.complete)

    @property
    def incomplete_tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that were cut off, and those without a name: never run them."""
        return tuple(block for block in self.content if isinstance(block, ToolCall) and not block.complete)


Message = UserMessage | AssistantMessage | ToolResult
_MESSAGES = (UserMessage, AssistantMessage, ToolResult)


def _as_messages(value: str | Message | Iterable[str | Message], *, start: int = 0) -> tuple[Message, ...]:
    if isinstance(value, (str, *_MESSAGES)):
        value = (value,)
    return tuple(_as_message(place, item) for place, item in enumerate(items_of("messages", value), start))


def _as_message(place: int, item: object) -> Message:
    if isinstance(item, str):
        return UserMessage(item)
    if isinstance(item, _MESSAGES):
        return item
    wanted = "UserMessage, AssistantMessage or ToolResult, or a string for what the user says"
    raise WrongValue(f"messages[{place}] must be a {wanted}, not {type(item).__name__}")


@frozen
class Conversation(Stored):
    """A history: messages in order, and the system text that stands before them."""

    messages: tuple[Message, ...] = field(default=(), converter=_as_messages)
    system: str | None = field(default=None, validator=_opt_text, kw_only=True)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def usage(self) -> Usage:
        """The tokens of all answers in sum; a count is None where one of them does not tell it."""
        counts = [answer.usage for answer in self._answers()]
        return reduce(add, counts) if counts else Usage()

    @property
    def cost(self) -> Cost | None:
        """The cost of all answers in sum; None where that of one is not known, or where there is none."""
        costs = [answer.cost for answer in self._answers()]
        known = [cost for cost in costs if cost is not None]
        return reduce(add, known) if known and len(known) == len(costs) else None

    def _answers(self) -> Iterator[AssistantMessage]:
        """What models said. A message that was written by hand has no origin and used nothing."""
        for message in self.messages:
            if isinstance(message, AssistantMessage) and (message.origin, message.usage) != (Origin(), Usage()):
                yield message

    def adding(self, *messages: str | Message | Iterable[str | Message]) -> Conversation:
        """A conversation with these at its end: messages, strings for what the user says, or sequences of both."""
        added: list[str | Message] = []
        for item in messages:
            if isinstance(item, (str, *_MESSAGES)):
                added.append(item)
            elif item is None:
                raise WrongValue(
                    "adding() got None: a `.partial` is None where no part of an answer had come, so there is nothing "
                    "to add"
                )
            else:
                added.extend(items_of("messages", item))
        whole = Conversation(system=self.system)  # what is here already is not read anew
        object.__setattr__(whole, "messages", self.messages + _as_messages(added, start=len(self.messages)))
        return whole

    def to_json(self) -> str:
        """The conversation as one line of JSON in pure ASCII, to be stored.

        Raises CodecError for provider fields that JSON cannot hold.
        """
        from thinkaloud.codec import dumps

        return dumps(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Conversation:
        """Read what `to_json` wrote, also by another version of this library.

        The next request of it is the same, byte for byte, as before it was stored. Raises CodecError, with the path of
        the fault, for anything else.
        """
        from thinkaloud.codec import conversation_from

        return conversation_from(text)
