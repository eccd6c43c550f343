"""What all web encoders share: the id of the answer, its steps, what is open, and the messages that it comes to.

An encoder does no I/O: `feed(event)` gives the bytes to send, `fail(error)` and `finish()` those of the two ends, and
`leave()` says that nobody reads any more. One answer is all that a user's turn brings forth: one call of a model, or
the calls of a tool loop, each of which is a step.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import uuid4

from attrs import evolve, frozen

from thinkaloud.accumulator import Accumulator
from thinkaloud.content import ToolCall
from thinkaloud.errors import ConfigurationError, MalformedToolArguments, StreamAborted, TruncatedStream
from thinkaloud.events import (
    OpaqueBlock,
    Progress,
    StreamEnd,
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
    ToolFinished,
    ToolStarted,
    UsageUpdate,
)
from thinkaloud.messages import AssistantMessage, Origin, StopReason, ToolResult
from thinkaloud.notices import Notice
from thinkaloud.ui import framing
from thinkaloud.ui.answer_store import Answer, AnswerStore
from thinkaloud.ui.arguments import flag, messages_of_answer, store_or_none, text_or_none
from thinkaloud.ui.failures import Failure, cause_of, failure_of, root_of


class Encoder(Protocol):
    """What a response needs of an encoder."""

    headers: Mapping[str, str]

    def opening(self) -> list[bytes]: ...
    def feed(self, event: Any) -> list[bytes]: ...
    def fail(self, error: BaseException) -> list[bytes]: ...
    def finish(self) -> list[bytes]: ...
    def leave(self) -> None: ...


@frozen
class OpenBlock:
    """A block whose end has not come. kind: "text", "thinking" or "tool"; id: as the browser knows it."""

    index: int
    kind: str
    id: str
    name: str = ""


class AnswerEncoder(ABC):
    """Base of the encoders: folds the events and keeps the answer, while its subclasses say each event in their words.

    message_id: the id of the answer at the browser; one is made where none is given.
    store: where the whole answer is kept, signatures included, at every step's end and on every way out.
    include_signatures: let signatures, payloads and provider fields out to the browser. Off, they stay in the store.
    earlier: the messages of this answer before the browser was asked for something; the steps go on behind them.

    Raises WrongValue.
    """

    headers: Mapping[str, str] = framing.HEADERS

    def __init__(
        self,
        *,
        message_id: str | None = None,
        store: AnswerStore | None = None,
        include_signatures: bool = False,
        earlier: Sequence[AssistantMessage | ToolResult] = (),
    ) -> None:
        self.message_id = text_or_none("message_id", message_id) or uuid4().hex
        self.include_signatures = flag("include_signatures", include_signatures)
        self._store: AnswerStore | None = store_or_none(store)
        earlier = messages_of_answer("earlier", earlier)
        self._kept: list[AssistantMessage | ToolResult] = list(earlier)
        self._step = sum(isinstance(message, AssistantMessage) for message in earlier) - 1
        self._fold = Accumulator()
        self._origin = Origin()
        self._in_step = False
        self._open: dict[int, OpenBlock] = {}
        self._begun: dict[int, type] = {}
        self._held: list[Notice] = []
        # calls by the provider's id, as the browser knows them, and those without a result
        self._call_ids: dict[str, str] = {}
        self._used_ids: set[str] = set()
        self._waiting: dict[str, ToolCall] = {}
        self._stop: StopReason | None = None
        self._opened = False
        self.ended = False
        """No more bytes will come."""
        step = -1
        for message in earlier:
            if isinstance(message, ToolResult):
                self._waiting.pop(message.call_id, None)
                continue
            step += 1
            for index, block in enumerate(message.content):
                if isinstance(block, ToolCall):
                    self._know_call(block.id, f"{step}.{index}")
                    self._waiting[block.id] = block

    # what users call

    @property
    def messages(self) -> Answer:
        """The answer as far as it has come, signatures included: what a history keeps of it."""
        return (*self._kept, self._fold.message()) if self._in_step else tuple(self._kept)

    def opening(self) -> list[bytes]:
        """What is sent at once, before the model says anything; once, and by itself if it is never asked for."""
        if self._opened or self.ended:
            return []
        self._opened = True
        return self._say_opening()

    def feed(self, event: Any) -> list[bytes]:
        """Give the bytes for an event.

        event: a StreamEvent or a RunEvent, or the ToolResult of a tool that was run; anything else is passed over.

        Raises ConfigurationError for events of blocks that are not in the order of a stream.
        """
        if self.ended:
            return []
        sent = self.opening()
        if isinstance(event, (ToolResult, ToolFinished)):
            return sent + self._result(event.result if isinstance(event, ToolFinished) else event)
        if isinstance(event, ToolStarted):
            return sent + self._say_tool_started(self._call_ids.get(event.call.id, event.call.id))
        say = _SAYINGS.get(type(event))
        if say is None:
            return sent
        if isinstance(event, StreamStart):
            self._begin_step(event)
        elif not self._in_step:
            if isinstance(event, Notice):
                self._held.append(event)
            return sent
        self._check_place(event)
        self._fold.add(event)
        said: list[bytes] = getattr(self, say)(event)
        if isinstance(event, StreamStart):
            held, self._held = self._held, []
            for notice in held:
                self._fold.add(notice)
                said += self._say_notice(notice)
        if isinstance(event, StreamEnd):
            self._end_step(event)
        return sent + said

    def finish(self) -> list[bytes]:
        """The answer is complete. An answer that stops inside a step is none: it is told as a truncated one."""
        if self.ended:
            return []
        if self._in_step:
            return self.fail(TruncatedStream("the events end inside an answer"))
        sent = self.opening() + self._say_finish()
        self.ended = True
        self._save()
        return sent

    def fail(self, error: BaseException) -> list[bytes]:
        """Say that the answer failed, everything open closed first. No word of the provider is passed on."""
        if self.ended:
            return []
        error = root_of(error)
        failure, error = failure_of(error), cause_of(error)
        sent = self.opening()
        for block in list(self._open.values()):
            sent += self._say_cut(block)
        self._open.clear()
        aborted = isinstance(error, StreamAborted)
        said = self._say_aborted() if aborted else self._say_failure(failure)
        self._keep_partial(error, StopReason.ABORTED if aborted else StopReason.ERROR)
        self.ended = True
        self._save()
        return sent + said

    def leave(self) -> None:
        """Nobody reads any more: keep what there is of the answer. Nothing happens after an end."""
        if not self.ended:
            self._keep_partial(None, StopReason.ABORTED)
            self.ended = True
            self._save()

    # bookkeeping

    def _check_place(self, event: Any) -> None:
        """Raise ConfigurationError for an event of a block that stands where no stream of ours has it."""
        if isinstance(event, _BEGINNINGS):
            if event.index in self._begun:
                raise ConfigurationError(f"{type(event).__name__}: the block {event.index} has begun already")
            self._begun[event.index] = type(event)
            return
        start = _INSIDE.get(type(event))
        if start is not None and (event.index not in self._open or self._begun.get(event.index) is not start):
            raise ConfigurationError(f"{type(event).__name__}: no block {event.index} of its kind is open")

    def _begin_step(self, event: StreamStart) -> None:
        self._step += 1
        self._fold = Accumulator()
        self._begun.clear()
        self._open.clear()
        self._origin = event.origin
        self._in_step = True

    def _end_step(self, event: StreamEnd) -> None:
        self._kept.append(event.message or self._fold.message())
        self._in_step = False
        self._stop = event.stop_reason
        self._save()

    def _keep_partial(self, error: BaseException | None, reason: StopReason) -> None:
        if self._in_step:
            partial = getattr(error, "partial", None)
            message = partial if isinstance(partial, AssistantMessage) else self._fold.message()
            self._kept.append(message if message.stop_reason else evolve(message, stop_reason=reason))
            self._in_step = False

    def _save(self) -> None:
        if self._store is not None and self._kept:
            self._store.save(self.message_id, tuple(self._kept))

    def _address(self, index: int) -> str:
        return f"{self._step}.{index}"

    def _opening_block(self, index: int, kind: str, id: str, name: str = "") -> OpenBlock:
        block = self._open[index] = OpenBlock(index, kind, id, name)
        return block

    def _know_call(self, own: str, address: str) -> str:
        """The id of a call at the browser: the provider's own, unless it is empty or was used in this answer before."""
        known = own if own and own not in self._used_ids else f"{self.message_id}.{address}"
        self._used_ids.add(known)
        self._call_ids[own] = known
        return known

    def _result(self, result: ToolResult) -> list[bytes]:
        """Tools may end in any order; a history has their results in the order of their calls."""
        self._kept.append(result)
        answer = max((place for place, m in enumerate(self._kept) if isinstance(m, AssistantMessage)), default=-1)
        calls = [call.id for call in getattr(self._kept[answer], "tool_calls", ())]
        self._kept[answer + 1 :] = sorted(
            self._kept[answer + 1 :],
            key=lambda m: calls.index(m.call_id) if isinstance(m, ToolResult) and m.call_id in calls else len(calls),
        )
        self._waiting.pop(result.call_id, None)
        self._save()
        known = self._call_ids.get(result.call_id)
        return [] if known is None else self._say_result(known, result)

    def _say_call_start(self, event: ToolCallStart) -> list[bytes]:
        known = self._know_call(event.id, self._address(event.index))
        return self._say_call_opens(self._opening_block(event.index, "tool", known, event.name))

    def _say_call_end(self, event: ToolCallEnd) -> list[bytes]:
        self._waiting[event.call.id] = event.call
        return self._say_call_closes(event.call, self._open.pop(event.index))

    def _say_delta(self, event: TextDelta | ThinkingDelta) -> list[bytes]:
        return self._say_piece(self._open[event.index], event.text) if event.text else []

    def _say_call_delta(self, event: ToolCallDelta) -> list[bytes]:
        return self._say_piece(self._open[event.index], event.json) if event.json else []

    def _say_tool_started(self, call_id: str) -> list[bytes]:
        """Most protocols have no word for it: a call that is whole is taken for running."""
        return []

    def _say_usage(self, event: UsageUpdate) -> list[bytes]:
        """Told at the end of the step: a count in mid-stream is worth no bytes."""
        return []

    # what each protocol says in its own words

    @abstractmethod
    def _say_opening(self) -> list[bytes]: ...

    @abstractmethod
    def _say_start(self, event: StreamStart) -> list[bytes]: ...

    @abstractmethod
    def _say_thinking_start(self, event: ThinkingStart) -> list[bytes]: ...

    @abstractmethod
    def _say_thinking_end(self, event: ThinkingEnd) -> list[bytes]: ...

    @abstractmethod
    def _say_text_start(self, event: TextStart) -> list[bytes]: ...

    @abstractmethod
    def _say_text_end(self, event: TextEnd) -> list[bytes]: ...

    @abstractmethod
    def _say_call_opens(self, block: OpenBlock) -> list[bytes]: ...

    @abstractmethod
    def _say_call_closes(self, call: ToolCall, block: OpenBlock) -> list[bytes]: ...

    @abstractmethod
    def _say_piece(self, block: OpenBlock, piece: str) -> list[bytes]: ...

    @abstractmethod
    def _say_opaque(self, event: OpaqueBlock) -> list[bytes]: ...

    @abstractmethod
    def _say_progress(self, event: Progress) -> list[bytes]: ...

    @abstractmethod
    def _say_notice(self, notice: Notice) -> list[bytes]: ...

    @abstractmethod
    def _say_end(self, event: StreamEnd) -> list[bytes]: ...

    @abstractmethod
    def _say_result(self, call_id: str, result: ToolResult) -> list[bytes]: ...

    @abstractmethod
    def _say_cut(self, block: OpenBlock) -> list[bytes]:
        """Close a block that a failure left open."""

    @abstractmethod
    def _say_finish(self) -> list[bytes]: ...

    @abstractmethod
    def _say_failure(self, failure: Failure) -> list[bytes]: ...

    @abstractmethod
    def _say_aborted(self) -> list[bytes]: ...


def is_runnable(call: ToolCall) -> bool:
    """Whether a call is whole and its arguments are JSON: no other call waits for a result."""
    try:
        return call.complete and call.arguments is not None
    except MalformedToolArguments:
        return False


_BEGINNINGS = (ThinkingStart, TextStart, ToolCallStart)
# Events that need a block which began with this one.
_INSIDE: dict[type, type] = {
    ThinkingDelta: ThinkingStart,
    ThinkingEnd: ThinkingStart,
    TextDelta: TextStart,
    TextEnd: TextStart,
    ToolCallDelta: ToolCallStart,
    ToolCallEnd: ToolCallStart,
}


# The turns of a run need no row: each begins and ends with the events of its stream.
_SAYINGS: dict[type, str] = {
    StreamStart: "_say_start",
    ThinkingStart: "_say_thinking_start",
    ThinkingDelta: "_say_delta",
    ThinkingEnd: "_say_thinking_end",
    TextStart: "_say_text_start",
    TextDelta: "_say_delta",
    TextEnd: "_say_text_end",
    ToolCallStart: "_say_call_start",
    ToolCallDelta: "_say_call_delta",
    ToolCallEnd: "_say_call_end",
    OpaqueBlock: "_say_opaque",
    UsageUpdate: "_say_usage",
    Progress: "_say_progress",
    Notice: "_say_notice",
    StreamEnd: "_say_end",
}
