"""Answers as plain server-sent events of our own, for a page with an `EventSource` or a few lines around `fetch`.

    id: 3
    event: thinking_delta
    data: {"step":0,"index":0,"text":"Let me "}

Events: stream_start, step_start, thinking_start, thinking_delta, thinking_end, text_start, text_delta, text_end,
tool_call_start, tool_call_delta, tool_call_end, tool_started, tool_result, opaque_block, usage, progress, notice,
step_end, then stream_end or stream_error; after a resume from too far back also snapshot. A page listens to those that
it knows and must close its EventSource at stream_end and stream_error: a browser reconnects after every other end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import asdict

from thinkaloud.checked import whole_number
from thinkaloud.content import AssistantBlock, Text, Thinking, ToolCall
from thinkaloud.events import (
    OpaqueBlock,
    Progress,
    StreamEnd,
    StreamStart,
    TextEnd,
    TextStart,
    ThinkingEnd,
    ThinkingStart,
    UsageUpdate,
)
from thinkaloud.jsontext import Json
from thinkaloud.messages import AssistantMessage, StopReason, ToolResult
from thinkaloud.notices import Notice
from thinkaloud.ui import framing
from thinkaloud.ui.answer_store import AnswerStore
from thinkaloud.ui.arguments import flag
from thinkaloud.ui.encoder import AnswerEncoder, OpenBlock
from thinkaloud.ui.exposure import VERSION, form_of, origin_values, values_of
from thinkaloud.ui.failures import Failure, shown_notice
from thinkaloud.ui.framing import present

_DELTAS = {"thinking": ("thinking_delta", "text"), "text": ("text_delta", "text"), "tool": ("tool_call_delta", "json")}


class Encoder(AnswerEncoder):
    """Events to named server-sent events.

    ids: number the events from 1, for a server that keeps them and can resume (`LiveAnswer`).
    names: name each event in its frame; False puts a "type" into its data instead, for readers around `fetch`.
    retry: milliseconds after which an EventSource connects again.
    The rest as in AnswerEncoder.
    """

    def __init__(
        self,
        *,
        ids: bool = False,
        names: bool = True,
        retry: int = 2000,
        message_id: str | None = None,
        store: AnswerStore | None = None,
        include_signatures: bool = False,
        earlier: Sequence[AssistantMessage | ToolResult] = (),
    ) -> None:
        super().__init__(message_id=message_id, store=store, include_signatures=include_signatures, earlier=earlier)
        whole_number("retry", retry, least=0)
        self._ids = flag("ids", ids)
        self._names = flag("names", names)
        self._retry = retry
        self._last_id = 0
        self._started = False

    def snapshot(self, last_id: int) -> list[bytes]:
        """The answer so far in two events, for a reader that has missed what is no longer kept.

        last_id: number of the newest event that the snapshot covers; reading goes on behind it.
        """
        data = {"v": VERSION, "message_id": self.message_id}
        messages = [self._message(step, message) for step, message in enumerate(self.messages)]
        return [
            self._frame("stream_start", data, None),
            self._frame("snapshot", {**data, "messages": messages}, last_id),
        ]

    def _say_opening(self) -> list[bytes]:
        return [f"retry: {self._retry}\n\n".encode("ascii")]

    def _say_start(self, event: StreamStart) -> list[bytes]:
        level = [level and level.value for level in event.level]
        about = present(model=event.origin.model or None, provider=event.origin.provider or None, level=level)
        return [*self._say_stream(**about), self._event("step_start", step=self._step, **about)]

    def _say_stream(self, **about: Json) -> list[bytes]:
        if self._started:
            return []
        self._started = True
        return [self._event("stream_start", v=VERSION, message_id=self.message_id, **about)]

    def _say_thinking_start(self, event: ThinkingStart) -> list[bytes]:
        self._opening_block(event.index, "thinking", "")
        return [self._event("thinking_start", step=self._step, index=event.index)]

    def _say_thinking_end(self, event: ThinkingEnd) -> list[bytes]:
        return [self._block_end("thinking_end", event.index, event.block)]

    def _say_text_start(self, event: TextStart) -> list[bytes]:
        self._opening_block(event.index, "text", "")
        return [self._event("text_start", step=self._step, index=event.index)]

    def _say_text_end(self, event: TextEnd) -> list[bytes]:
        return [self._block_end("text_end", event.index, event.block)]

    def _say_piece(self, block: OpenBlock, piece: str) -> list[bytes]:
        name, field = _DELTAS[block.kind]
        return [self._event(name, step=self._step, index=block.index, **{field: piece})]

    def _say_call_opens(self, block: OpenBlock) -> list[bytes]:
        return [self._event("tool_call_start", step=self._step, index=block.index, id=block.id, name=block.name)]

    def _say_call_closes(self, call: ToolCall, block: OpenBlock) -> list[bytes]:
        told = {**self._block(call), "id": block.id}
        return [self._event("tool_call_end", step=self._step, index=block.index, block=told)]

    def _say_opaque(self, event: OpaqueBlock) -> list[bytes]:
        return [self._event("opaque_block", step=self._step, index=event.index, block=self._block(event.block))]

    def _say_usage(self, event: UsageUpdate) -> list[bytes]:
        cost = event.cost and event.cost.total
        return [self._event("usage", step=self._step, usage=present(**asdict(event.usage)), **present(cost=cost))]

    def _say_progress(self, event: Progress) -> list[bytes]:
        return [self._event("progress", step=self._step, tokens=event.tokens)]

    def _say_notice(self, notice: Notice) -> list[bytes]:
        return [self._event("notice", step=self._step, **shown_notice(notice))]

    def _say_end(self, event: StreamEnd) -> list[bytes]:
        return [self._event("step_end", step=self._step, **_told_of(event.message or self._fold.message()))]

    def _say_tool_started(self, call_id: str) -> list[bytes]:
        return [self._event("tool_started", call_id=call_id)]

    def _say_result(self, call_id: str, result: ToolResult) -> list[bytes]:
        return [self._event("tool_result", **_told_result(call_id, result))]

    def _say_cut(self, block: OpenBlock) -> list[bytes]:
        content = self._fold.block(block.index)
        if isinstance(content, ToolCall):
            return self._say_call_closes(content, block)
        return [self._event(f"{block.kind}_end", step=self._step, index=block.index, block=self._block(content))]

    def _say_finish(self) -> list[bytes]:
        reason = self._stop or StopReason.UNKNOWN
        return [*self._say_stream(), self._event("stream_end", stop_reason=reason.value)]

    def _say_failure(self, failure: Failure) -> list[bytes]:
        error = {"kind": failure.kind, "text": failure.text, "retryable": failure.retryable}
        return [*self._say_stream(), self._event("stream_error", **error)]

    def _say_aborted(self) -> list[bytes]:
        return [*self._say_stream(), self._event("stream_end", stop_reason=StopReason.ABORTED.value)]

    def _block_end(self, name: str, index: int, block: Text | Thinking) -> bytes:
        self._open.pop(index)
        return self._event(name, step=self._step, index=index, block=self._block(block))

    def _block(self, block: AssistantBlock) -> dict[str, Json]:
        values = values_of(block) if self.include_signatures else {}
        exposed = {"origin": origin_values(self._origin), **values} if values else {}
        return {**_shown(block), **exposed}

    def _message(self, step: int, message: AssistantMessage | ToolResult) -> dict[str, Json]:
        if isinstance(message, ToolResult):
            return {"role": "tool", **_told_result(self._call_ids.get(message.call_id, ""), message)}
        content = [_shown(block) for block in message.content]
        return {"role": "assistant", "content": content, **_told_of(message)}

    def _event(self, kind: str, /, **data: Any) -> bytes:
        self._last_id += 1
        return self._frame(kind, data, self._last_id)

    def _frame(self, name: str, data: dict[str, Any], number: int | None) -> bytes:
        if not self._names:
            return framing.frame({"type": name, **data}, id=number if self._ids else None)
        return framing.frame(data, event=name, id=number if self._ids else None)


def _shown(block: AssistantBlock) -> dict[str, Json]:
    """A block as a page may see it."""
    match block:
        case Thinking():
            return {"type": "thinking", "text": block.text, **present(form=form_of(block))}
        case Text():
            return {"type": "text", "text": block.text, "complete": block.complete}
        case ToolCall():
            named = {"type": "tool_call", "id": block.id, "name": block.name}
            return {**named, "arguments_json": block.arguments_json, "complete": block.complete}
        case _:
            return {"type": "opaque", "protocol": block.protocol, "kind": block.kind}


def _told_of(message: AssistantMessage) -> dict[str, Json]:
    return present(
        stop_reason=message.stop_reason and message.stop_reason.value,
        raw_stop_reason=message.raw_stop_reason,
        usage=present(**asdict(message.usage)) or None,
        cost=message.cost and message.cost.total,
        timing=present(**message.timing._asdict()) or None,
    )


def _told_result(call_id: str, result: ToolResult) -> dict[str, Json]:
    text = "".join(block.text for block in result.content if isinstance(block, Text))
    return {"call_id": call_id, "text": text, "is_error": result.is_error}
