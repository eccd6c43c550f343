"""What a stream hands out while a model answers.

Rules: only notices come before StreamStart; the deltas of an index lie between its start and its end and join to the
finished block; indexes are dense in order of first start; every block is closed on every way out; StreamEnd comes
once, last, and only on success. The union may grow in a minor release, so match with a default.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen
from attrs.converters import optional

from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.jsontext import Json, copied_object
from thinkaloud.messages import AssistantMessage, LevelChoice, Origin, StopReason, ToolResult
from thinkaloud.notices import Notice
from thinkaloud.stored import Stored
from thinkaloud.usage import Cost, Usage


@frozen(match_args=False)
class StreamStart(Stored):
    """The answer begins: held back until the first block opens or the stream ends."""

    response_id: str | None = None
    origin: Origin = Origin()
    level: LevelChoice = LevelChoice()
    prefix_digest: str | None = None


@frozen(match_args=False)
class ThinkingStart(Stored):
    """A thinking block opens at `index`."""

    index: int


@frozen(match_args=False)
class ThinkingDelta(Stored):
    """More visible thinking of the block at `index`."""

    index: int
    text: str


@frozen(match_args=False)
class ThinkingEnd(Stored):
    """The thinking block at `index` is closed; `block` is whole, signature or payload included."""

    index: int
    block: Thinking


@frozen(match_args=False)
class TextStart(Stored):
    """A text block opens at `index`."""

    index: int


@frozen(match_args=False)
class TextDelta(Stored):
    """More of the answer's text, in the block at `index`."""

    index: int
    text: str


@frozen(match_args=False)
class TextEnd(Stored):
    """The text block at `index` is closed; `block` is whole."""

    index: int
    block: Text


@frozen(match_args=False)
class ToolCallStart(Stored):
    """The model begins to write a call of the tool `name`."""

    index: int
    id: str
    name: str


@frozen(match_args=False)
class ToolCallDelta(Stored):
    """More of the call's arguments, as a piece of JSON text."""

    index: int
    json: str


@frozen(match_args=False)
class ToolCallEnd(Stored):
    """The call is closed. Run it only if `call.complete`."""

    index: int
    call: ToolCall


@frozen(match_args=False)
class OpaqueBlock(Stored):
    """A block that this library does not model, whole."""

    index: int
    block: Opaque


@frozen(match_args=False)
class UsageUpdate(Stored):
    """Tokens so far; each update replaces the one before. cost: in USD, where prices are known."""

    usage: Usage
    cost: Cost | None = None


@frozen(match_args=False)
class Progress(Stored):
    """A provider's estimate of the tokens spent on thinking that it does not show."""

    tokens: int


@frozen(match_args=False)
class StreamEnd(Stored):
    """The answer is complete. message: the fold of all events before this one."""

    stop_reason: StopReason
    raw_stop_reason: str | None = None
    stop_detail: Mapping[str, Json] | None = field(default=None, converter=optional(copied_object), hash=False)
    message: AssistantMessage | None = None


StreamEvent = (
    StreamStart
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | TextStart
    | TextDelta
    | TextEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | OpaqueBlock
    | UsageUpdate
    | Progress
    | Notice
    | StreamEnd
)


# What a run hands out besides


@frozen(match_args=False)
class TurnStart(Stored):
    """A run asks the model: the events of its answer follow. turn: counted from 1."""

    turn: int


@frozen(match_args=False)
class TurnEnd(Stored):
    """The answer of a turn is complete, and part of the evidence."""

    turn: int
    message: AssistantMessage


@frozen(match_args=False)
class ToolStarted(Stored):
    """A tool begins to run; several may run at once."""

    call: ToolCall


@frozen(match_args=False)
class ToolFinished(Stored):
    """A tool has ended, well or with an error: what the model will be told of it."""

    call: ToolCall
    result: ToolResult


RunEvent = StreamEvent | TurnStart | TurnEnd | ToolStarted | ToolFinished
