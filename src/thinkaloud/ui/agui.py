"""Answers as AG-UI events, for clients of protocol 1.0 and, where the request names no version, of 0.0.x.

    run = agui.read_input(body, store=store)
    encoder = run.encoder()
    async for event in thinkaloud.stream(model, run.conversation): send(encoder.feed(event))

The client enforces an order: everything is closed before the run ends, and every stream has a terminal event.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import uuid4

from thinkaloud.content import Text, ToolCall
from thinkaloud.events import (
    OpaqueBlock,
    Progress,
    StreamEnd,
    StreamStart,
    TextEnd,
    TextStart,
    ThinkingEnd,
    ThinkingStart,
)
from thinkaloud.jsontext import Json, dumps
from thinkaloud.messages import AssistantMessage, ToolResult
from thinkaloud.notices import Notice
from thinkaloud.ui import framing
from thinkaloud.ui.agui_input import RunInput, answer_ids, parse_input, read_input, speaks_1_0
from thinkaloud.ui.answer_store import AnswerStore
from thinkaloud.ui.arguments import text_or_none
from thinkaloud.ui.encoder import AnswerEncoder, OpenBlock, is_runnable
from thinkaloud.ui.exposure import form_of, told, values_of
from thinkaloud.ui.failures import Failure, shown_notice
from thinkaloud.ui.framing import present
from thinkaloud.usage import Usage

__all__ = ["Encoder", "RunInput", "answer_ids", "parse_input", "read_input"]

_CUT = "The call was cut off or its arguments are not JSON, so it was not run."
_NAMES = {"text": "TEXT_MESSAGE", "thinking": "REASONING_MESSAGE"}


class Encoder(AnswerEncoder):
    """Events to AG-UI events.

    thread_id, run_id: of the request; made where none is given.
    protocol_version: of the request; None for peers of 0.0.x, which break at what 1.0 added.
    The rest as in AnswerEncoder. Text, thinking and calls have ids `<message_id>.<step>.<block>` in the browser.
    """

    def __init__(
        self,
        *,
        thread_id: str | None = None,
        run_id: str | None = None,
        protocol_version: str | None = "1.0",
        message_id: str | None = None,
        store: AnswerStore | None = None,
        include_signatures: bool = False,
        earlier: Sequence[AssistantMessage | ToolResult] = (),
    ) -> None:
        super().__init__(message_id=message_id, store=store, include_signatures=include_signatures, earlier=earlier)
        self._thread = text_or_none("thread_id", thread_id) or uuid4().hex
        self._run = text_or_none("run_id", run_id) or uuid4().hex
        self._is_1_0 = speaks_1_0(text_or_none("protocol_version", protocol_version))
        self._parent: str | None = None  # of the next call: the text right before it, or the first of a row of calls
        self._usage: dict[tuple[str, str], Usage] = {}

    def _say_opening(self) -> list[bytes]:
        return [_event("RUN_STARTED", threadId=self._thread, runId=self._run, protocolVersion="1.0")]

    def _say_start(self, event: StreamStart) -> list[bytes]:
        self._parent = None
        return [_event("STEP_STARTED", stepName=str(self._step))]

    def _say_thinking_start(self, event: ThinkingStart) -> list[bytes]:
        self._parent = None
        block = self._opening_block(event.index, "thinking", self._id(event.index))
        return [
            _event("REASONING_START", messageId=block.id),
            _event("REASONING_MESSAGE_START", messageId=block.id, role="reasoning"),
        ]

    def _say_thinking_end(self, event: ThinkingEnd) -> list[bytes]:
        block = self._open.pop(event.index)
        form = form_of(event.block)
        return [
            _event("REASONING_MESSAGE_END", messageId=block.id, **_metadata(form=form)),
            *self._value("message", block, event.block),
            _event("REASONING_END", messageId=block.id),
        ]

    def _say_text_start(self, event: TextStart) -> list[bytes]:
        block = self._opening_block(event.index, "text", self._id(event.index))
        self._parent = block.id
        return [_event("TEXT_MESSAGE_START", messageId=block.id, role="assistant")]

    def _say_text_end(self, event: TextEnd) -> list[bytes]:
        block = self._open.pop(event.index)
        citations = [dict(citation) for citation in event.block.citations] if self.include_signatures else []
        end = _event("TEXT_MESSAGE_END", messageId=block.id, **_metadata(citations=citations or None))
        return [end, *self._value("message", block, event.block)]

    def _say_piece(self, block: OpenBlock, piece: str) -> list[bytes]:
        if block.kind == "tool":
            return [_event("TOOL_CALL_ARGS", toolCallId=block.id, delta=piece)]
        return [_event(f"{_NAMES[block.kind]}_CONTENT", messageId=block.id, delta=piece)]

    def _say_call_opens(self, block: OpenBlock) -> list[bytes]:
        self._parent = self._parent or self._id(block.index)
        named = {"toolCallId": block.id, "toolCallName": block.name}
        return [_event("TOOL_CALL_START", **named, parentMessageId=self._parent)]

    def _say_call_closes(self, call: ToolCall, block: OpenBlock) -> list[bytes]:
        return [_event("TOOL_CALL_END", toolCallId=block.id), *self._value("tool-call", block, call)]

    def _say_opaque(self, event: OpaqueBlock) -> list[bytes]:
        self._parent = None
        value = {"protocol": event.block.protocol, "kind": event.block.kind}
        return [_event("CUSTOM", name="thinkaloud.block", value=value)]

    def _say_progress(self, event: Progress) -> list[bytes]:
        return [_event("CUSTOM", name="thinkaloud.progress", value={"tokens": event.tokens})]

    def _say_notice(self, notice: Notice) -> list[bytes]:
        return [_event("CUSTOM", name="thinkaloud.notice", value=shown_notice(notice))]

    def _say_end(self, event: StreamEnd) -> list[bytes]:
        self._count()
        return [_event("STEP_FINISHED", stepName=str(self._step))]

    def _say_result(self, call_id: str, result: ToolResult) -> list[bytes]:
        text = "".join(block.text for block in result.content if isinstance(block, Text))
        return [_result_event(call_id, text)]

    def _say_cut(self, block: OpenBlock) -> list[bytes]:
        if block.kind == "tool":
            return [_event("TOOL_CALL_END", toolCallId=block.id)]
        end = _event(f"{_NAMES[block.kind]}_END", messageId=block.id)
        return [end, _event("REASONING_END", messageId=block.id)] if block.kind == "thinking" else [end]

    def _say_finish(self) -> list[bytes]:
        sent = self._refused_calls()
        pending = [self._call_ids.get(id, id) for id, call in self._waiting.items() if is_runnable(call)]
        outcome = {"type": "success", "pendingToolCallIds": pending} if pending and self._is_1_0 else None
        return [*sent, self._finished(outcome)]

    def _say_failure(self, failure: Failure) -> list[bytes]:
        return [*self._closed_step(), self._error(failure.text, failure.kind)]

    def _say_aborted(self) -> list[bytes]:
        if self._is_1_0:
            return [*self._closed_step(), *self._refused_calls(), self._finished({"type": "cancelled"})]
        return [*self._closed_step(), self._error("The answer was stopped.", "abort")]

    def _closed_step(self) -> list[bytes]:
        if not self._in_step:
            return []
        self._count()
        return [_event("STEP_FINISHED", stepName=str(self._step))]

    def _refused_calls(self) -> list[bytes]:
        """A call without a result looks as if the browser were to run it: those that nobody can run get one."""
        cut = [id for id, call in self._waiting.items() if not is_runnable(call)]
        return [_result_event(self._call_ids[id], _CUT) for id in cut]

    def _finished(self, outcome: dict[str, Any] | None) -> bytes:
        run = {"threadId": self._thread, "runId": self._run}
        return _event("RUN_FINISHED", **run, **present(outcome=outcome, usage=self._usages()))

    def _error(self, text: str, code: str) -> bytes:
        return _event("RUN_ERROR", message=text, code=code, **present(usage=self._usages()))

    def _id(self, index: int) -> str:
        return f"{self.message_id}.{self._address(index)}"

    def _value(self, subtype: str, block: OpenBlock, content: Any) -> list[bytes]:
        if not self.include_signatures or not values_of(content):
            return []
        values = told(content, (self._step, block.index), self._origin, include_signatures=True)
        sealed = dumps({"thinkaloud": values})
        return [_event("REASONING_ENCRYPTED_VALUE", subtype=subtype, entityId=block.id, encryptedValue=sealed)]

    def _count(self) -> None:
        message = self._fold.message()
        key = (message.origin.provider, message.origin.model)
        self._usage[key] = self._usage[key] + message.usage if key in self._usage else message.usage

    def _usages(self) -> list[dict[str, Any]] | None:
        """One entry for each model that was asked."""
        return list(_token_usages(self._usage.items())) or None


def _token_usages(counted: Iterable[tuple[tuple[str, str], Usage]]) -> Iterable[dict[str, Any]]:
    for (provider, model), usage in counted:
        total = None if usage.input is None or usage.output is None else usage.input + usage.output
        counts = present(
            inputTokens=usage.input,
            outputTokens=usage.output,
            totalTokens=total,
            reasoningTokens=usage.reasoning,
            cachedInputTokens=usage.cache_read,
            cacheWriteInputTokens=usage.cache_write,
        )
        if counts:
            yield {**present(provider=provider or None, model=model or None), **counts}


def _event(type: str, **fields: Any) -> bytes:
    return framing.frame({"type": type, **fields})


def _metadata(**ours: Json) -> dict[str, Any]:
    told = present(**ours)
    return {"metadata": {"thinkaloud": told}} if told else {}


def _result_event(call_id: str, text: str) -> bytes:
    named = {"messageId": f"{call_id}-result", "toolCallId": call_id}
    return _event("TOOL_CALL_RESULT", **named, content=text, role="tool")
