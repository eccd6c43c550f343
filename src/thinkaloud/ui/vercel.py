"""Answers as the UI message stream of the Vercel AI SDK, for clients of `ai` 5, 6 and 7.

    encoder = vercel.Encoder(store=store)
    async for event in thinkaloud.stream(model, messages): send(encoder.feed(event))

The chunk types are a closed union at the client, so only those that all three versions know are used; what is ours
rides in `data-*` chunks and under `thinkaloud` in metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import asdict

from thinkaloud.content import Image, Text, ToolCall
from thinkaloud.errors import MalformedToolArguments
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
from thinkaloud.jsontext import Json
from thinkaloud.messages import AssistantMessage, StopReason, ToolResult
from thinkaloud.notices import Notice
from thinkaloud.ui import framing
from thinkaloud.ui.answer_store import AnswerStore
from thinkaloud.ui.arguments import names_or_flag
from thinkaloud.ui.encoder import AnswerEncoder, OpenBlock
from thinkaloud.ui.exposure import VERSION, told
from thinkaloud.ui.failures import Failure, shown_notice
from thinkaloud.ui.framing import present
from thinkaloud.ui.vercel_messages import ChatRequest, answer_ids, parse_messages, read_request

__all__ = ["ChatRequest", "Encoder", "answer_ids", "parse_messages", "read_request"]

# The words that versions 5, 6 and 7 all take.
_FINISH = {
    StopReason.END: "stop",
    StopReason.STOP_SEQUENCE: "stop",
    StopReason.LENGTH: "length",
    StopReason.TOOL_USE: "tool-calls",
    StopReason.CONTENT_FILTER: "content-filter",
    StopReason.REFUSAL: "content-filter",
    StopReason.ERROR: "error",
}
_CUT = "The call was cut off."
_NOT_JSON = "The arguments of the call are not JSON."


class Encoder(AnswerEncoder):
    """Events to chunks of the UI message stream.

    dynamic_tools: names of the tools that the front end does not declare: their parts have the type `dynamic-tool`.
        True: all of them. Other parts have the type `tool-<name>`.
    The rest as in AnswerEncoder. To go on with an answer after the browser ran a tool, use `ChatRequest.encoder()`.
    """

    headers: Mapping[str, str] = {**framing.HEADERS, "x-vercel-ai-ui-message-stream": "v1"}

    def __init__(
        self,
        *,
        message_id: str | None = None,
        store: AnswerStore | None = None,
        include_signatures: bool = False,
        earlier: Sequence[AssistantMessage | ToolResult] = (),
        dynamic_tools: bool | Sequence[str] = (),
    ) -> None:
        super().__init__(message_id=message_id, store=store, include_signatures=include_signatures, earlier=earlier)
        self._dynamic = names_or_flag("dynamic_tools", dynamic_tools)
        self._started = False
        self._steps: list[Json] = [_step(message) for message in self._kept if isinstance(message, AssistantMessage)]

    def _say_opening(self) -> list[bytes]:
        return [b": stream-open\n\n"]

    def _say_start(self, event: StreamStart) -> list[bytes]:
        return [*self._say_message(), _chunk("start-step")]

    def _say_message(self) -> list[bytes]:
        if self._started:
            return []
        self._started = True
        return [_chunk("start", messageId=self.message_id, messageMetadata=self._metadata())]

    def _say_thinking_start(self, event: ThinkingStart) -> list[bytes]:
        block = self._opening_block(event.index, "reasoning", self._address(event.index))
        return [_chunk("reasoning-start", id=block.id)]

    def _say_thinking_end(self, event: ThinkingEnd) -> list[bytes]:
        block = self._open.pop(event.index)
        return [_chunk("reasoning-end", id=block.id, providerMetadata=self._told(event.index, event.block))]

    def _say_text_start(self, event: TextStart) -> list[bytes]:
        block = self._opening_block(event.index, "text", self._address(event.index))
        return [_chunk("text-start", id=block.id)]

    def _say_text_end(self, event: TextEnd) -> list[bytes]:
        block = self._open.pop(event.index)
        end = _chunk("text-end", id=block.id, providerMetadata=self._told(event.index, event.block))
        return [end, *_sources(block.id, event.block)]

    def _say_piece(self, block: OpenBlock, piece: str) -> list[bytes]:
        if block.kind == "tool":
            return [_chunk("tool-input-delta", toolCallId=block.id, inputTextDelta=piece)]
        return [_chunk(f"{block.kind}-delta", id=block.id, delta=piece)]

    def _say_call_opens(self, block: OpenBlock) -> list[bytes]:
        return [_chunk("tool-input-start", toolCallId=block.id, toolName=block.name, **self._dynamics(block.name))]

    def _say_call_closes(self, call: ToolCall, block: OpenBlock) -> list[bytes]:
        if not call.complete:
            return [self._input_error(block, call.arguments_json, _CUT)]
        try:
            return [
                _chunk(
                    "tool-input-available",
                    toolCallId=block.id,
                    toolName=call.name,
                    input=call.arguments,
                    providerMetadata=self._told(block.index, call),
                    **self._dynamics(call.name),
                )
            ]
        except (MalformedToolArguments, ValueError):  # a number too large for JSON is no argument either
            return [self._input_error(block, call.arguments_json, _NOT_JSON)]

    def _input_error(self, block: OpenBlock, text: str, error: str) -> bytes:
        known = self._dynamics(block.name)
        return _chunk(
            "tool-input-error", toolCallId=block.id, toolName=block.name, input=text, errorText=error, **known
        )

    def _dynamics(self, name: str) -> dict[str, bool]:
        dynamic = self._dynamic is True or (self._dynamic is not False and name in self._dynamic)
        return {"dynamic": True} if dynamic else {}

    def _say_opaque(self, event: OpaqueBlock) -> list[bytes]:
        data = {"protocol": event.block.protocol, "kind": event.block.kind}
        return [_chunk("data-thinkaloud-block", id=self._address(event.index), data=data)]

    def _say_progress(self, event: Progress) -> list[bytes]:
        return [_chunk("data-thinkaloud-progress", data={"tokens": event.tokens}, transient=True)]

    def _say_notice(self, notice: Notice) -> list[bytes]:
        return [_chunk("data-thinkaloud-notice", data=shown_notice(notice), transient=True)]

    def _say_end(self, event: StreamEnd) -> list[bytes]:
        self._steps.append(_step(event.message or self._fold.message()))
        return [_chunk("message-metadata", messageMetadata=self._metadata()), _chunk("finish-step")]

    def _say_result(self, call_id: str, result: ToolResult) -> list[bytes]:
        if result.is_error:
            text = "".join(block.text for block in result.content if isinstance(block, Text))
            return [_chunk("tool-output-error", toolCallId=call_id, errorText=text or "The tool failed.")]
        return [_chunk("tool-output-available", toolCallId=call_id, output=_output(result))]

    def _say_cut(self, block: OpenBlock) -> list[bytes]:
        if block.kind == "tool":
            return [self._input_error(block, "", _CUT)]
        return [_chunk(f"{block.kind}-end", id=block.id)]

    def _say_finish(self) -> list[bytes]:
        reason = "other" if self._stop is None else _FINISH.get(self._stop, "other")
        finish = _chunk("finish", finishReason=reason, messageMetadata=self._metadata())
        return [*self._say_message(), finish, framing.DONE]

    def _say_failure(self, failure: Failure) -> list[bytes]:
        """The chat reads nothing behind the `error` chunk, so it comes last (seen in versions 5, 6 and 7)."""
        return [
            *self._say_message(),
            *self._broken_off(kind=failure.kind, retryable=failure.retryable),
            _chunk("finish", finishReason="error"),
            _chunk("error", errorText=failure.text),
            framing.DONE,
        ]

    def _say_aborted(self) -> list[bytes]:
        broken_off = self._broken_off(kind="stream_aborted", retryable=False)
        return [
            *self._say_message(),
            *broken_off,
            _chunk("abort"),
            _chunk("finish", finishReason="other"),
            framing.DONE,
        ]

    def _broken_off(self, **error: Json) -> list[bytes]:
        """What is known of an answer that ends early, and the end of its step."""
        if self._in_step:
            self._steps.append(_step(self._fold.message()))
        metadata = _chunk("message-metadata", messageMetadata=self._metadata(error=error))
        return [metadata, _chunk("finish-step")] if self._in_step else [metadata]

    def _told(self, index: int, block: Any) -> dict[str, Json]:
        at = (self._step, index)
        return {"thinkaloud": told(block, at, self._origin, include_signatures=self.include_signatures)}

    def _metadata(self, **more: Json) -> dict[str, Json]:
        """The client merges objects but replaces arrays, so the steps are told anew each time."""
        start = present(provider=self._origin.provider or None, model=self._origin.model or None)
        return {"thinkaloud": {"v": VERSION, **start, "steps": list(self._steps), **more}}


def _chunk(type: str, **fields: Any) -> bytes:
    return framing.frame({"type": type, **fields})


def _step(message: AssistantMessage) -> dict[str, Json]:
    """What a page may show of a step: why it ended, its tokens, its cost and its seconds."""
    level = message.level.sent
    return present(
        provider=message.origin.provider or None,
        model=message.origin.model or None,
        level=level and level.value,
        stop_reason=message.stop_reason and message.stop_reason.value,
        raw_stop_reason=message.raw_stop_reason,
        usage=present(**asdict(message.usage)) or None,
        cost=message.cost and message.cost.total,
        timing=present(**message.timing._asdict()) or None,
    )


def _output(result: ToolResult) -> Json:
    """What the model was given: a text as it is, other content as a list of parts."""
    if all(isinstance(block, Text) for block in result.content):
        return "".join(block.text for block in result.content if isinstance(block, Text))
    return [_output_part(block) for block in result.content]


def _output_part(block: Any) -> dict[str, Json]:
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Image():
            url = block.url or f"data:{block.media_type or 'image/png'};base64,{block.data}"
            return {"type": "image", "url": url}
        case _:
            return {"type": type(block).__name__.lower()}


def _sources(id: str, block: Text) -> Iterator[bytes]:
    """The web pages that a text cites, each once, in whatever field the provider names them."""
    seen: set[str] = set()
    for citation in block.citations:
        for holder in (citation, *(value for value in citation.values() if isinstance(value, Mapping))):
            url = holder.get("url") or holder.get("uri")
            if isinstance(url, str) and url.startswith(("https://", "http://")) and url not in seen:
                title = holder.get("title")
                more = present(title=title if isinstance(title, str) else None)
                yield _chunk("source-url", sourceId=f"{id}.{len(seen)}", url=url, **more)
                seen.add(url)
