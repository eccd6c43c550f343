"""Blocks put together from fragments: a parser tells the builder what the wire said, and the builder tells the events.

The builder keeps the rules of the event stream, so that no parser has to: StreamStart is held until the first block or
the end, indexes are dense, deltas lie between start and end, every block is closed on every way out, and a call that
was cut off never looks complete. All of it is linear in the size of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import define, field, frozen

from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import shown
from thinkaloud.events import (
    OpaqueBlock,
    Progress,
    StreamEnd,
    StreamEvent,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageUpdate,
)
from thinkaloud.fragments import Fragments
from thinkaloud.jsontext import Json, is_json_object, joined_surrogates
from thinkaloud.limits import Limits, depth_of
from thinkaloud.messages import LevelChoice, Origin, StopReason
from thinkaloud.notices import Notice
from thinkaloud.usage import Cost, Usage

# The model chose to stop: what it wrote is whole. After any other end the last call may be cut.
_CHOSEN_ENDS = frozenset({StopReason.END, StopReason.TOOL_USE, StopReason.STOP_SEQUENCE, StopReason.PAUSE})

_NOTHING_KNOWN = Usage()


@frozen
class _Kind:
    delta: Callable[[int, str], StreamEvent]
    end: Callable[[OpenBlock, bool], StreamEvent]


@define(eq=False)
class OpenBlock:
    """A block that is being written: the parser's handle on it.

    A parser may set `signature`, `redacted_data`, `extra` and `citations` until the block is closed.
    """

    kind: _Kind
    index: int
    id: str = ""
    name: str = ""
    signature: str | None = None
    redacted_data: str | None = None
    extra: dict[str, Json] = field(factory=dict)
    citations: list[Mapping[str, Json]] = field(factory=list)
    fragments: Fragments = field(factory=Fragments)
    closed: bool = False
    held: bool = False  # the wire closed it, but its arguments are no whole JSON object
    half: str = ""  # a high surrogate that waits for its mate


class BlockBuilder:
    """Opens, extends and closes blocks on a parser's word, and collects the events that tell of it.

    Every method may add events; `take()` hands them over. price: tells the cost when the answer has ended well.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        level: LevelChoice = LevelChoice(),
        prefix_digest: str | None = None,
        price: Callable[[Usage], Cost | None] | None = None,
    ) -> None:
        self.usage = _NOTHING_KNOWN
        self.started = False
        """The first block has opened: the answer has begun for its reader."""
        self.ended = False
        """The answer has ended, well or badly."""
        self.saw_call = False
        """A tool call with a name was opened."""
        self.limits: Limits | None = None
        """Bounds on the blocks; None: there are none. What passes one raises LimitExceeded."""
        self._origin = origin
        self._level = level
        self._prefix_digest = prefix_digest
        self._price = price
        self._response_id: str | None = None
        self._model = origin.model
        self._blocks = 0
        self._calls = 0
        self._open: dict[int, OpenBlock] = {}
        self._held: list[OpenBlock] = []
        self._events: list[StreamEvent] = []

    def take(self) -> list[StreamEvent]:
        """Hand over the events that came together since the last call."""
        events, self._events = self._events, []
        return events

    # the answer as a whole

    def response(self, *, id: str | None = None, model: str | None = None) -> None:
        """Note the provider's id of the answer (the first one counts) and the model that gives it (the last one)."""
        if id and self._response_id is None:
            self._response_id = id
        if model:
            self._model = model

    def update_usage(self, usage: Usage) -> None:
        """Replace what is known of the tokens by what `usage` knows."""
        updated = self.usage.updated(usage)
        if updated is not self.usage:
            self.usage = updated
            if self.started and not self.ended:
                self._events.append(UsageUpdate(updated))

    def notice(self, code: str, text: str, *, path: str = "", detail: Mapping[str, Json] | None = None) -> None:
        """Tell something beside the answer, while it lasts."""
        if not self.ended:
            self._events.append(Notice(code, text, path, detail or {}))

    def progress(self, tokens: int) -> None:
        """Tell how many tokens of thinking went by out of sight."""
        if self.started and not self.ended:
            self._events.append(Progress(tokens))

    # blocks

    def open_text(self) -> OpenBlock:
        """Open a text block."""
        block = self._opened(OpenBlock(_TEXT, self._claim()))
        self._events.append(TextStart(block.index))
        return block

    def open_thinking(self) -> OpenBlock:
        """Open a thinking block."""
        block = self._opened(OpenBlock(_THINKING, self._claim()))
        self._events.append(ThinkingStart(block.index))
        return block

    def open_tool_call(self, id: str, name: str) -> OpenBlock:
        """Open a tool call. Its id and name are final from here on.

        One without a name is kept, told of, and never complete: nobody can run it, and no server takes it back.
        """
        self._calls += 1
        if self.limits is not None and self._calls > self.limits.tool_calls:
            raise self.limits.exceeded("tool_calls", "the answer has over {} tool calls")
        block = self._opened(OpenBlock(_TOOL_CALL, self._claim(), id, name))
        self.saw_call = self.saw_call or bool(name)
        self._events.append(ToolCallStart(block.index, id, name))
        return block

    def extend(self, block: OpenBlock, text: str) -> None:
        """Add a piece of text, thinking or arguments; a closed block takes no more.

        Empty pieces are no events; halves of a surrogate pair are joined.
        """
        if block.closed or block.held:
            return
        if block.half or not text.isascii():
            text = _whole_characters(block, text)
        if text:
            block.fragments.append(text)
            self._events.append(block.kind.delta(block.index, text))

    def close(self, block: OpenBlock, *, free_text: bool = False) -> None:
        """Close a block that the wire calls finished.

        A call whose arguments are no whole JSON object is held: whether the model finished it or was cut off shows by
        what follows. free_text: the call takes text of any form, and the wire's word for its end is all there is.
        """
        if block.closed or block.held:
            return
        self._settle(block)
        if block.kind is _TOOL_CALL and not free_text and not is_json_object(str(block.fragments)):
            block.held = True
            self._held.append(block)
        else:
            self._end(block, complete=True)

    def redacted(self, data: str, *, extra: Mapping[str, Json] | None = None) -> None:
        """Add a thinking block of which only the payload came, whole."""
        block = self.open_thinking()
        block.redacted_data = data
        block.extra.update(extra or {})
        self._end(block, complete=True)

    def reserve(self) -> int:
        """Take the next index for an opaque block that is told when it is whole."""
        return self._claim()

    def opaque(self, block: Opaque, *, index: int | None = None) -> None:
        """Add a block that the library does not model, whole, at a reserved index or the next one."""
        self._events.append(OpaqueBlock(self._claim() if index is None else index, block))

    # ends

    def finish(
        self,
        stop_reason: StopReason,
        *,
        raw: str | None = None,
        detail: Mapping[str, Json] | None = None,
        cut: bool = False,
    ) -> None:
        """End the answer as a success: close what is open, and tell StreamEnd.

        After an end that the model did not choose (a limit, a filter, or `cut` says so), an open or held call is
        complete only if its arguments are a whole JSON object.
        """
        if self.ended:
            return
        self._begin()
        chosen = stop_reason in _CHOSEN_ENDS and not cut
        for block in list(self._open.values()):
            self._settle(block)
            whole = chosen or block.kind is not _TOOL_CALL or is_json_object(str(block.fragments))
            self._end(block, complete=whole)
        self.ended = True
        cost = None if self._price is None else self._price(self.usage)
        if cost is not None:
            self._events.append(UsageUpdate(self.usage, cost))
        self._events.append(StreamEnd(stop_reason, raw, detail))

    def abandon(self) -> None:
        """End the answer as a failure: close what is open as incomplete, without StreamEnd."""
        if not self.ended:
            self.ended = True
            for block in list(self._open.values()):
                self._settle(block)
                self._end(block, complete=False)

    # inside

    def _begin(self) -> None:
        if not self.started:
            self.started = True
            made_by = self._origin
            origin = Origin(made_by.protocol, made_by.provider, self._model)
            self._events.append(StreamStart(self._response_id, origin, self._level, self._prefix_digest))
            if self.usage is not _NOTHING_KNOWN:
                self._events.append(UsageUpdate(self.usage))

    def _claim(self) -> int:
        self._begin()
        # A held call that another block follows was finished by the model, however its arguments read.
        held, self._held = self._held, []
        for block in held:
            self._end(block, complete=True)
        self._blocks += 1
        if self.limits is not None and self._blocks > self.limits.blocks:
            raise self.limits.exceeded("blocks", "the answer has over {} blocks")
        return self._blocks - 1

    def _opened(self, block: OpenBlock) -> OpenBlock:
        self._open[block.index] = block
        return block

    def _settle(self, block: OpenBlock) -> None:
        """No more text comes: a surrogate half that waits for its mate has none."""
        if block.half:
            block.half = ""
            block.fragments.append("\ufffd")
            self._events.append(block.kind.delta(block.index, "\ufffd"))

    def _end(self, block: OpenBlock, *, complete: bool) -> None:
        if complete and block.kind is _TOOL_CALL and self.limits is not None:
            most = self.limits.argument_depth
            if depth_of(str(block.fragments), most) > most:
                raise self.limits.exceeded("argument_depth", f"the arguments of {shown(block.id)} are over {{}} deep")
        if block.kind is _TOOL_CALL and not block.name:
            complete = False
            text = "the model wrote a tool call without a name: nobody can run it, and it does not go back"
            self.notice("call_without_name", text, path=f"content[{block.index}]", detail={"id": block.id})
        block.closed = True
        del self._open[block.index]
        self._events.append(block.kind.end(block, complete))


def _whole_characters(block: OpenBlock, text: str) -> str:
    text, block.half = block.half + text, ""
    if "\ud800" <= text[-1:] <= "\udbff":
        text, block.half = text[:-1], text[-1]
    try:
        text.encode()
    except UnicodeEncodeError:
        return joined_surrogates(text)
    return text


def _text_end(block: OpenBlock, complete: bool) -> StreamEvent:
    text = Text(
        str(block.fragments),
        signature=block.signature,
        citations=block.citations,
        complete=complete,
        extra=block.extra,
    )
    return TextEnd(block.index, text)


def _thinking_end(block: OpenBlock, complete: bool) -> StreamEvent:
    thinking = Thinking(
        str(block.fragments),
        signature=block.signature,
        redacted_data=block.redacted_data,
        complete=complete,
        extra=block.extra,
    )
    return ThinkingEnd(block.index, thinking)


def _tool_call_end(block: OpenBlock, complete: bool) -> StreamEvent:
    call = ToolCall(
        block.id,
        name=block.name,
        arguments_json=str(block.fragments),
        signature=block.signature,
        complete=complete,
        extra=block.extra,
    )
    return ToolCallEnd(block.index, call)


_TEXT = _Kind(TextDelta, _text_end)
_THINKING = _Kind(ThinkingDelta, _thinking_end)
_TOOL_CALL = _Kind(ToolCallDelta, _tool_call_end)
