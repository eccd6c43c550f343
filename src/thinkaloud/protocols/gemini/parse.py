"""Reads an answer of Gemini, streamed or whole: a whole body is one chunk more.

A part of a candidate has no index and no end. Neighbouring texts of one kind are one block; a signature ends its block,
and one that comes on an empty part signs the block that is open. Where in a block the signed part began is noted in
`extra`, so that a replay puts the signature back on the very part that carried it.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from thinkaloud.block_builder import OpenBlock
from thinkaloud.content import Opaque
from thinkaloud.errors import ContentFiltered, MalformedStream, ProviderError, TruncatedStream
from thinkaloud.events import StreamEvent
from thinkaloud.jsontext import Json, dumps, loads
from thinkaloud.messages import StopReason
from thinkaloud.protocols.base import AnyServerEvent, ErrorResponse, ParseContext, Parser
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
from thinkaloud.protocols.gemini.arguments import StreamedArguments
from thinkaloud.protocols.gemini.errors import error
from thinkaloud.protocols.gemini.finish import FAILED_ENDS, STOP_REASONS, UNSPECIFIED_BLOCK, UNSPECIFIED_END
from thinkaloud.protocols.gemini.usage import COUNTS, usage_of

PROTOCOL_ID = "gemini"

# Fields that say something about a part beside its payload.
ATTRIBUTES = frozenset({"thought", "thoughtSignature", "mediaResolution", "videoMetadata", "partMetadata"})
SIGNATURE_ALONE = "thoughtSignature"

_OF_TEXT = frozenset({"text", "thought", "thoughtSignature"})
_OF_CALL_PART = frozenset({"functionCall", "text", "thoughtSignature"})
_OF_CALL = frozenset({"id", "name", "args", "partialArgs", "willContinue"})

# What is read of a chunk and of a candidate; all else becomes `stop_detail` under its own name.
_OF_CHUNK = frozenset({"candidates", "usageMetadata", "modelVersion", "responseId", "createTime"})
_OF_CANDIDATE = frozenset({"content", "finishReason", "index", "tokenCount"})


class GeminiParser(Parser):
    """Reads one answer of the protocol `gemini`."""

    def __init__(self, context: ParseContext) -> None:
        super().__init__(context)
        self._block: OpenBlock | None = None  # the text or thinking that is open; never signed
        self._is_thought = False
        self._fields: dict[str, Json] = {}  # the further fields of its parts
        self._call: OpenBlock | None = None  # the call whose arguments stream
        self._call_id = ""  # the id that the wire gives it
        self._repeats_name = False  # every part of it has its name (seen at gateways)
        self._lost_end = False  # the wire never told the end of a call
        self._arguments = StreamedArguments()
        self._ids: set[str] = set()
        self._unnamed_calls = 0
        self._response_id = ""
        self._model = ""
        self._counts: JsonObject = {}  # the last value of each, checked when they are told
        self._finish_reason = ""
        self._detail: dict[str, Json] = {}
        self._block_reason = ""
        self._has_content = self._has_text = False
        self._told: set[tuple[str, str]] = set()
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
                raise self._blocked()
            reason = StopReason.CONTENT_FILTER
        if reason is StopReason.END and self.builder.saw_call:
            reason = StopReason.TOOL_USE
        if reason is StopReason.LENGTH and not self._has_text:
            self.builder.notice("answer_truncated", "the output limit was reached before any text")
        if reason is StopReason.END and not self._has_content:
            self.builder.notice("empty_answer", "the model stopped without saying anything; asking again may help")
        raw = self._finish_reason or self._block_reason
        # A pause is where the server cut the output, however long the model would have gone on.
        cut = reason is StopReason.PAUSE or self._lost_end or self._call is not None
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

    def abandon(self) -> list[StreamEvent]:
        """Close what is open as incomplete, with the tokens that were told of."""
        self._tell_usage()
        return super().abandon()

    def _read_list(self, items: list[Any]) -> None:
        for item in items:
            self._read_chunk(as_object(item, "data"), None)

    # chunks

    def _read_chunk(self, chunk: JsonObject, raw: str | None) -> None:
        """Read one chunk. raw: its text, where it was not decoded with every digit kept."""
        if chunk.get("error"):
            raise self._failure(chunk)
        if not self._response_id or chunk.get("modelVersion") != self._model:
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
            self._tell_once("unknown_candidate", str(candidate["index"]), "a further candidate, passed over")
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
                raise self._failed_end(reason)

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
            elif self._call is not None and len(part) == 1 and self._grow(part.get("functionCall")):
                continue
            if raw is not None and _has_values(part):
                part = self._exactly(raw, place)
            self._read_part(part)

    def _grow(self, call: object) -> bool:
        """Read a part that does nothing but make the open string of the open call longer; False: it is another one."""
        if type(call) is not dict or len(call) != 2 or call.get("willContinue") is not True:
            return False
        entries = call.get("partialArgs")
        if type(entries) is not list or len(entries) != 1 or type(entries[0]) is not dict:
            return False
        text = self._arguments.grow(entries[0])
        if text is None or self._call is None:
            return False
        self.builder.extend(self._call, text)
        return True

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
            self._read_call(part, signature)
            return
        payload = [name for name in part if name not in ATTRIBUTES and not (name == "text" and not text)]
        if text or not payload:
            if signature and "text" not in part and not thought:
                self._read_opaque(SIGNATURE_ALONE, part)
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
            self._close_text()

    def _opened(self, thought: bool, fields: dict[str, Json]) -> OpenBlock:
        self._close_text()
        self._tell_usage()
        block = self.builder.open_thinking() if thought else self.builder.open_text()
        if fields:
            block.extra["part"] = fields
        self._block, self._is_thought, self._fields = block, thought, fields
        self._has_content = True
        if not thought:
            self._has_text = True
        return block

    def _close_text(self) -> None:
        if self._block is not None:
            self.builder.close(self._block)
            self._block = None

    # calls

    def _read_call(self, part: JsonObject, signature: str) -> None:
        """Read a part that holds a call: a whole one, the start of one that streams, or more of it."""
        call = object_field(part, "functionCall")
        name, id = text_field(call, "name"), text_field(call, "id")
        entries = list_field(call, "partialArgs")
        args = call.get("args")
        goes_on = call.get("willContinue") is True
        if self._call is not None and self._is_more(self._call, id, name, args, entries):
            block = self._call
        elif name or args is not None:
            block = self._open_call(id, name, part, call, signature)
        else:
            if entries:
                self._tell_once("unknown_delta", "partialArgs", "arguments that belong to no open call")
            if signature:  # it comes after its call has ended: kept as if it had come alone
                self._read_opaque(SIGNATURE_ALONE, {name: part[name] for name in part if name != "functionCall"})
            return  # a keep-alive, or the end of a call that has ended
        if signature:
            if block.signature is None:
                block.signature = signature
            elif block.signature != signature:
                self._tell_once("signature_ignored", "functionCall", "a second signature of one call, passed over")
        if args and not isinstance(args, str) and (entries or goes_on) and not block.fragments:
            self.builder.extend(block, self._arguments.begin(kept(object_field(call, "args"), "args")))
        for item in entries:
            entry = as_object(item, "partialArgs")
            self.builder.extend(block, self._arguments.add(entry))
            goes_on = goes_on or entry.get("willContinue") is True
        if goes_on:
            if isinstance(args, str) and args and not block.fragments:  # text, which no entry can go on with
                self.builder.extend(block, args)
                self._call, self._lost_end = None, True
        elif args is not None and not entries and not block.fragments:
            self._call = None
            text = args if isinstance(args, str) else dumps(kept(object_field(call, "args"), "args"))
            self.builder.extend(block, text or "{}")
            self.builder.close(block)
        else:
            self._end_call()

    def _is_more(self, open: OpenBlock, id: str, name: str, args: object, entries: list[Any]) -> bool:
        """Whether a part goes on with the open call: it has no name, or repeats that of the call."""
        if not name:
            return True
        if name != open.name:
            return False
        if id:
            return id == self._call_id
        if args:
            return False
        self._repeats_name = self._repeats_name or bool(entries)
        return self._repeats_name

    def _open_call(self, id: str, name: str, part: JsonObject, call: JsonObject, signature: str) -> OpenBlock:
        self._close_text()
        self._lost_end |= self._call is not None  # it stays open, and is closed as incomplete at the end
        self._call_id, self._repeats_name = id, False
        extra: dict[str, Json] = {}
        if fields := rest(part, _OF_CALL_PART):
            extra["part"] = fields
        if fields := rest(call, _OF_CALL):
            extra["function_call"] = fields
        if not id or id in self._ids:
            extra["wire_id"] = id or None
            id = self._next_id(name, call, signature)
            if repeated := extra["wire_id"]:
                text = "two calls of the answer have the same id: the later one got an id of its own"
                self.builder.notice("repeated_call_id", text, detail={"id": repeated, "given": id})
        self._ids.add(id)
        self._tell_usage()
        block = self.builder.open_tool_call(id, name)
        block.extra.update(extra)
        self._call, self._arguments = block, StreamedArguments()
        self._has_content = True
        return block

    def _end_call(self) -> None:
        if self._call is not None:
            self.builder.extend(self._call, self._arguments.close())
            self.builder.close(self._call)
            self._call = None

    def _next_id(self, name: str, call: JsonObject, signature: str) -> str:
        """An id for a call that came without one, or with that of another call: the same however the answer is read."""
        answer = self._response_id
        if not answer:  # old models name neither
            told = dumps([name, kept(call, "functionCall"), signature, self.context.prefix_digest])
            answer = sha256(told.encode()).hexdigest()[:12]
        id = ""
        while not id or id in self._ids:
            self._unnamed_calls += 1
            id = f"call_{answer}_{self._unnamed_calls}"
        return id

    # all else

    def _read_opaque(self, kind: str, part: JsonObject) -> None:
        self._close_text()
        self._tell_usage()
        self._has_content = True
        self.builder.opaque(Opaque(PROTOCOL_ID, kind=kind, data=kept(part, kind)))

    def _take_origin(self, chunk: JsonObject) -> None:
        self._response_id = self._response_id or text_field(chunk, "responseId")
        self._model = text_field(chunk, "modelVersion") or self._model
        self.builder.response(id=self._response_id, model=self._model)

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
            self._tell_once("unreadable_field", "usageMetadata", "the token counts are no object")
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
                self._tell_once("unreadable_field", name, str(fault))
            else:
                if count is not None:
                    counts[name] = count
        self.builder.update_usage(usage_of(counts))

    def _tell_once(self, code: str, kind: str, text: str) -> None:
        if (code, kind) not in self._told:
            self._told.add((code, kind))
            self.builder.notice(code, f"{text}: {kind!r}", detail={"kind": kind})

    # failures

    def _failed_end(self, reason: str) -> ProviderError:
        end = FAILED_ENDS[reason]
        message = self._detail.get("finishMessage")
        return end.error(
            f"{end.text}: {message}" if isinstance(message, str) and message else end.text,
            provider=self.context.origin.provider or None,
            code=reason,
            body={"finishReason": reason, **self._detail},
            retryable=end.retryable,
        )

    def _blocked(self) -> ProviderError:
        feedback = self._detail.get("promptFeedback")
        message = feedback.get("blockReasonMessage") if isinstance(feedback, dict) else None
        text = f"the prompt was blocked: {self._block_reason}"
        return ContentFiltered(
            f"{text}: {message}" if isinstance(message, str) and message else text,
            provider=self.context.origin.provider or None,
            code=self._block_reason,
            body=dict(self._detail),
        )

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
