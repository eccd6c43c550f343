"""Reads an answer of Gemini, streamed or whole: a whole body is one chunk more.

A part of a candidate has no index and no end. Neighbouring texts of one kind are one block; a signature ends its block,
and one that comes on an empty part signs the block that is open. Where in a block the signed part began is noted in
`extra`, so that a replay puts the signature back on the very part that carried it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from thinkaloud.block_builder import OpenBlock
from thinkaloud.content import Opaque
from thinkaloud.errors import MalformedStream, ProviderError, TruncatedStream
from thinkaloud.jsontext import Json, loads
from thinkaloud.messages import StopReason
from thinkaloud.protocols.base import AnyServerEvent, ErrorResponse, ParseContext
from thinkaloud.protocols.fields import (
    JsonObject,
    as_object,
    count_field,
    exact,
    kept,
    list_field,
    object_field,
    rest,
    text_field,
)
from thinkaloud.protocols.gemini.calls import Calls
from thinkaloud.protocols.gemini.errors import error
from thinkaloud.protocols.gemini.finish import (
    FAILED_ENDS,
    STOP_REASONS,
    UNSPECIFIED_BLOCK,
    UNSPECIFIED_END,
    blocked,
    failed_end,
)
from thinkaloud.protocols.gemini.usage import COUNTS, usage_of
from thinkaloud.protocols.tolerant import TolerantParser

PROTOCOL_ID = "gemini"

# Fields that say something about a part beside its payload.
ATTRIBUTES = frozenset({"thought", "thoughtSignature", "mediaResolution", "videoMetadata", "partMetadata"})
SIGNATURE_ALONE = "thoughtSignature"

_OF_TEXT = frozenset({"text", "thought", "thoughtSignature"})

# What is read of a chunk and of a candidate; all else becomes `stop_detail` under its own name.
_OF_CHUNK = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId", "createTime"})
_OF_CANDIDATE = frozenset({"content", "finishReason", "index", "tokenCount"})


class GeminiParser(TolerantParser):
    """Reads one answer of the protocol `gemini`."""

    def __init__(self, context: ParseContext) -> None:
        super().__init__(context)
        self._block: OpenBlock | None = None  # the text or thinking that is open; never signed
        self._is_thought = False
        self._fields: dict[str, Json] = {}  # the further fields of its parts
        self._calls = Calls(self)
        self.response_id = ""
        self._model = ""
        self._counts: JsonObject = {}  # the last value of each, checked when they are told
        self._finish_reason = ""
        self._detail: dict[str, Json] = {}
        self._block_reason = ""
        self._has_content = self._has_text = False
        self._exact: tuple[str, list[object]] = ("", [])  # the candidates of a chunk with every digit
        self._candidate = 0  # the place in its chunk of the candidate that is read

    # the ways in

    def read(self, event: AnyServerEvent) -> None:
        """Read one server event. Raises the ProviderError that it carries, or MalformedStream."""
        raw = event.data
        try:
            chunk = loads(raw)
        except ValueError as fault:
            if event.event == "error":
                raise self._failure(raw) from None
            if raw.startswith("[DONE]"):  # a gateway's end marker: the finish reason decides
                return
            raise MalformedStream(f"an event's data is not JSON: {fault}") from None
        if event.event == "error":
            raise self._failure(chunk)
        if type(chunk) is dict:
            self._read_chunk(chunk, raw)
        elif isinstance(chunk, list):
            self._read_list(chunk)
        else:
            as_object(chunk, "data")

    def read_end(self) -> None:
        """End the answer if its finish reason, or the reason why the prompt was blocked, has come.

        Raises ContentFiltered for a blocked prompt, and TruncatedStream.
        """
        self._tell_usage()
        reason = STOP_REASONS.get(self._finish_reason, StopReason.UNKNOWN)
        if not self._finish_reason:
            if not self._block_reason:
                raise TruncatedStream("the stream ended without a finish reason")
            if not self._has_content:
                raise blocked(self._block_reason, self._detail, self.context.origin.provider)
            reason = StopReason.CONTENT_FILTER
        if reason is StopReason.END and self.builder.saw_call:
            reason = StopReason.TOOL_USE
        if reason is StopReason.LENGTH and not self._has_text:
            self.builder.notice("answer_truncated", "the output limit was reached before any text")
        if reason is StopReason.END and not self._has_content:
            self.builder.notice("empty_answer", "the model stopped without saying anything; asking again may help")
        raw = self._finish_reason or self._block_reason
        # A pause is where the server cut the output, however long the model would have gone on.
        cut = reason is StopReason.PAUSE or self._calls.lost_end or self._calls.open is not None
        self.builder.finish(reason, raw=raw, detail=self._detail or None, cut=cut)

    def read_whole(self, body: Any) -> None:
        """Read a body that was not streamed, or a stream that came as a JSON array. Raises as `read` and `read_end`."""
        if isinstance(body, list):
            self._read_list(body)
        else:
            chunk = as_object(body, "body")
            if not chunk.keys() & {"candidates", "promptFeedback", "error"}:
                raise MalformedStream("the body is no answer: it has no candidates")
            self._read_chunk(chunk, None)
        self.read_end()

    def pending(self) -> Sequence[Callable[[], object]]:
        """The tokens that were told of."""
        return (self._tell_usage,)

    def _read_list(self, items: list[Any]) -> None:
        for item in items:
            self._read_chunk(as_object(item, "data"), None)

    # chunks

    def _read_chunk(self, chunk: JsonObject, raw: str | None) -> None:
        """Read one chunk. raw: its text, where it was not decoded with every digit kept."""
        if chunk.get("error"):
            raise self._failure(chunk)
        if not self.response_id or chunk.get("modelVersion") != self._model:
            self._take_origin(chunk)
        usage = chunk.get("usageMetadata")
        if usage is not None:
            self._take_usage(usage)
        if not chunk.keys() <= _OF_CHUNK:
            self._take_details(chunk, _OF_CHUNK)
        candidates = chunk.get("candidates")
        if candidates:
            if type(candidates) is not list:
                candidates = list_field(chunk, "candidates")
            for self._candidate, candidate in enumerate(candidates):
                self._read_candidate(candidate if type(candidate) is dict else as_object(candidate, "candidates"), raw)

    def _read_candidate(self, candidate: JsonObject, raw: str | None) -> None:
        if candidate.get("index"):  # another candidate, which nobody has asked for
            self.tell_once("unknown_candidate", str(candidate["index"]), "a further candidate, passed over")
            return
        content = candidate.get("content")
        if content is not None:
            content = content if type(content) is dict else as_object(content, "content")
            parts = content.get("parts")
            if type(parts) is list:
                self._read_parts(parts, raw)
            elif parts is not None:
                list_field(content, "parts")
        if not candidate.keys() <= _OF_CANDIDATE:
            self._take_details(candidate, _OF_CANDIDATE)
        if "finishReason" in candidate:
            reason = text_field(candidate, "finishReason")
            if reason and reason != UNSPECIFIED_END:
                self._finish_reason = reason
            if reason in FAILED_ENDS:
                raise failed_end(reason, self._detail, self.context.origin.provider)

    def _read_parts(self, parts: list[object], raw: str | None) -> None:
        for place, item in enumerate(parts):
            part: JsonObject = item if type(item) is dict else as_object(item, "parts")
            # Nearly all parts are text and nothing else, with or without the mark of a thought; or more of a string.
            text = part.get("text")
            if type(text) is str and text:
                thought = part.get("thought") is True
                if len(part) == (2 if thought else 1):
                    block = self._block
                    if block is None or self._is_thought is not thought or self._fields:
                        block = self._opened(thought, {})
                    self.builder.extend(block, text)
                    continue
            elif self._calls.open is not None and len(part) == 1 and self._calls.grow(part.get("functionCall")):
                continue
            if raw is not None and _has_values(part):
                part = self._exactly(raw, place)
            self._read_part(part)

    def _exactly(self, raw: str, place: int) -> JsonObject:
        """The part at a place, with every digit of its numbers."""
        if self._exact[0] is not raw:
            self._exact = raw, list_field(exact(raw), "candidates")
        candidate = as_object(self._exact[1][self._candidate], "candidates")
        return as_object(list_field(object_field(candidate, "content"), "parts")[place], "parts")

    def _read_part(self, part: JsonObject) -> None:
        signature = text_field(part, "thoughtSignature")
        text = text_field(part, "text")
        thought = part.get("thought") is True
        if part.get("functionCall") is not None:
            if text:  # seen in one part with the call
                self._read_text(text, thought, "", {})
            self._calls.read(part, signature)
            return
        payload = [name for name in part if name not in ATTRIBUTES and not (name == "text" and not text)]
        if text or not payload:
            if signature and "text" not in part and not thought:
                self.keep_signature(part)
            elif text or signature:
                self._read_text(text, thought, signature, rest(part, _OF_TEXT))
        else:
            self._read_opaque(payload[0], part)

    # text and thinking

    def _read_text(self, text: str, thought: bool, signature: str, fields: dict[str, Json]) -> None:
        block = self._block
        if block is None or self._is_thought is not thought or self._fields != fields:
            block = self._opened(thought, fields)
        if signature:
            before = len(str(block.fragments))
            if before:
                block.extra["signed_from"] = before
            block.signature = signature
        self.builder.extend(block, text)
        if signature:
            self.close_text()

    def _opened(self, thought: bool, fields: dict[str, Json]) -> OpenBlock:
        self.make_way()
        block = self.builder.open_thinking() if thought else self.builder.open_text()
        if fields:
            block.extra["part"] = fields
        self._block, self._is_thought, self._fields = block, thought, fields
        if not thought:
            self._has_text = True
        return block

    def make_way(self) -> None:
        """A block begins: close the one that is open, and tell the counts that came before."""
        self.close_text()
        self._tell_usage()
        self._has_content = True

    def close_text(self) -> None:
        """Close the text or thinking that is open."""
        if self._block is not None:
            self.builder.close(self._block)
            self._block = None

    # all else

    def keep_signature(self, part: JsonObject) -> None:
        """Keep a part that has a signature and no payload that it could sign."""
        self._read_opaque(SIGNATURE_ALONE, part)

    def _read_opaque(self, kind: str, part: JsonObject) -> None:
        self.make_way()
        self.builder.opaque(Opaque(PROTOCOL_ID, kind=kind, data=kept(part, kind)))

    def _take_origin(self, chunk: JsonObject) -> None:
        self.response_id = self.response_id or text_field(chunk, "responseId")
        self._model = text_field(chunk, "modelVersion") or self._model
        self.builder.response(id=self.response_id, model=self._model)

    def _take_details(self, data: JsonObject, known: frozenset[str]) -> None:
        """Keep what is not modelled. A later value replaces an earlier one."""
        for name, value in data.items():
            if name in known or value is None or value == [] or value == {}:
                continue
            self._detail[name] = kept(value, name)
            if name == "promptFeedback":
                reason = text_field(as_object(value, name), "blockReason")
                self._block_reason = "" if reason == UNSPECIFIED_BLOCK else reason

    def _take_usage(self, value: object) -> None:
        """Put the counts that have come in the place of the earlier ones; one that is missing keeps its value."""
        if not isinstance(value, dict):
            self.tell_once("unreadable_field", "usageMetadata", "the token counts are no object")
            return
        usage: JsonObject = value
        if None in usage.values():
            usage = {name: count for name, count in usage.items() if count is not None}
        self._counts.update(usage)

    def _tell_usage(self) -> None:
        """Tell the counts: where a block begins and at the end, as nearly every chunk has new ones."""
        counts: dict[str, int] = {}
        for name in COUNTS:
            try:
                count = count_field(self._counts, name)
            except MalformedStream as fault:
                self.tell_once("unreadable_field", name, str(fault))
            else:
                if count is not None:
                    counts[name] = count
        self.builder.update_usage(usage_of(counts))

    # failures

    def _failure(self, body: Any) -> ProviderError:
        return error(ErrorResponse(body=body, provider=self.context.origin.provider or None))


def _has_values(part: JsonObject) -> bool:
    """Whether a part may hold numbers that a fast decoder rounds: all but signed text, and arguments of other types."""
    if part.keys() <= _OF_TEXT:
        return False
    call = part.get("functionCall")
    if not isinstance(call, dict) or call.get("args") or len(part) > 2:
        return True
    entries = call.get("partialArgs")
    return isinstance(entries, list) and any(
        isinstance(entry, dict) and isinstance(entry.get("numberValue"), float) for entry in entries
    )
