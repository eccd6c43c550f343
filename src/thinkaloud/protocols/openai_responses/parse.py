"""Reads an answer of the Responses API, streamed or whole, through one builder and one set of item readers.

What is not
modelled is kept: unknown items whole, as `Opaque`, unknown fields of known items in `extra`; unknown events are told
once per kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar, cast

from thinkaloud.block_builder import OpenBlock
from thinkaloud.errors import MalformedStream, ProviderError, TruncatedStream
from thinkaloud.events import StreamEvent
from thinkaloud.jsontext import Json, loads
from thinkaloud.messages import StopReason
from thinkaloud.protocols.base import AnyServerEvent, ErrorResponse, ParseContext, Parser
from thinkaloud.protocols.call_ids import made_id
from thinkaloud.protocols.fields import JsonObject, as_object, exact, kept, list_field, object_field, text_field
from thinkaloud.protocols.openai_responses.errors import error, is_failure
from thinkaloud.protocols.openai_responses.items import (
    ARGUMENTS_DELTA,
    IMPLIED,
    INPUT_DELTA,
    READERS,
    REASONING_DELTA,
    REFUSAL_DELTA,
    SUMMARY_DELTA,
    TEXT_DELTA,
    ItemReader,
    OpaqueReader,
    normal,
)
from thinkaloud.protocols.openai_responses.places import OutputItems, word
from thinkaloud.protocols.openai_responses.usage import read_usage

_T = TypeVar("_T")

# The status of a whole response that has an end, where nothing more exact is told.
_STATUSES = {"completed": StopReason.END}
_FAILED = frozenset({"failed", "cancelled"})
_UNFINISHED = frozenset({"queued", "in_progress"})

# `incomplete_details.reason`.
_REASONS = {
    "max_output_tokens": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "content_filter": StopReason.CONTENT_FILTER,
}
_REFUSABLE = frozenset({StopReason.END, StopReason.CONTENT_FILTER, StopReason.UNKNOWN})

# What becomes `stop_detail` under its own name, where it is told.
_DETAILS = ("incomplete_details", "content_filters", "moderation")


class OpenAIResponsesParser(Parser):
    """Reads one answer of the protocol `openai-responses`."""

    def __init__(self, context: ParseContext) -> None:
        super().__init__(context)
        self._items = OutputItems()
        self._told: set[tuple[str, str]] = set()
        self._response_id = ""
        self._call_ids: set[str] = set()
        self._made_ids = 0
        self._early: dict[object, list[tuple[str, str]]] = {}  # arguments that came before their call

        self.saw_text = False
        self.saw_refusal = False
        self.saw_cut_call = False

    # the three ways in

    def read(self, event: AnyServerEvent) -> None:
        """Read one server event. Raises the ProviderError that it carries, or MalformedStream."""
        raw = event.data
        try:
            data = loads(raw)
        except ValueError as fault:
            self._read_other(event, str(fault))
            return
        if type(data) is not dict:
            self._read_other(event, "it is no object", data)
            return
        kind = data.get("type")
        if data.get("error") or kind == "error":
            raise self._failure(data)
        if type(kind) is not str:
            kind = data["type"] = event.event
            if is_failure(data):
                raise self._failure(data)
        if kind in _GROWTH:  # nearly all events are these
            place = data.get("output_index")
            item = self._items.at.get(place) if type(place) is int else None
            piece = data.get("delta")
            if (
                item is not None
                and item.grows_by == kind
                and item.block is not None
                and data.get(item.place_name) == item.place
                and type(piece) is str
            ):
                self.builder.extend(item.block, piece)
            else:
                self._grow(kind, data)
            return
        read = _EVENTS.get(kind)
        if read is not None:
            read(self, data, raw)
        elif kind.split(".")[1:2] not in _SILENT:
            self.tell_once("unknown_event", kind, "an unknown event")

    def read_end(self) -> None:
        """The answer ends with an event of its own. Raises TruncatedStream."""
        raise TruncatedStream("the stream ended without response.completed, response.incomplete or response.failed")

    def read_whole(self, body: Any) -> None:
        """Read a body that was not streamed. Raises the ProviderError that it carries, or MalformedStream."""
        if (type(body) is not dict or type(body.get("output")) is not list) and is_failure(body):
            raise self._failure(body)
        response = as_object(body, "body")
        if not isinstance(response.get("output"), list):
            raise MalformedStream("the body is no response: it has no output")
        self._begin(response)
        status = self.tolerated(text_field, response, "status") or ""
        if status in _UNFINISHED:
            raise TruncatedStream(f"the answer is not there yet: its status is {status!r}")
        self._end(response, lambda: response, "")

    def abandon(self) -> list[StreamEvent]:
        """Close what is open as incomplete, with all that had come of it."""
        if not self.builder.ended:
            for item in self._items.open:
                item.abandon()
            self._items.open.clear()
        return super().abandon()

    # for the items

    def complete(self, block: OpenBlock, text: str) -> bool:
        """Add what of a finished text has not streamed. False, with a notice: another text had streamed, and stays."""
        written = str(block.fragments)
        text = normal(text)
        if text.startswith(written):
            block.half = ""  # half a character that had streamed is in the finished text
            self.builder.extend(block, text[len(written) :])
            return True
        if not text:
            return True
        self.tell_once("text_differs", "output", "a finished text is not the one that had streamed")
        return False

    def own_call_id(self, id: str) -> str:
        """The id of a call; another one where it has none or an earlier call has the same: however it is read."""
        own = id
        while not own or own in self._call_ids:
            self._made_ids += 1
            answer, digest = self._response_id or "", self.context.prefix_digest
            own = made_id("call", self._made_ids, answer=answer, prefix_digest=digest)
        if id and own != id:
            text = "two calls of the answer have the same id: the later one got an id of its own"
            self.builder.notice("repeated_call_id", text, detail={"id": id, "given": own})
        self._call_ids.add(own)
        return own

    def tell_once(self, code: str, kind: str, text: str) -> None:
        """Tell of something odd, once per kind."""
        if (code, kind) not in self._told:
            self._told.add((code, kind))
            self.builder.notice(code, f"{text}: {kind!r}", detail={"kind": kind})

    def tolerated(self, read: Callable[[JsonObject, str], _T], data: JsonObject, name: str) -> _T | None:
        """Read a field that the answer can do without: a wrong type is told, and the field passed over."""
        try:
            return read(data, name)
        except MalformedStream as fault:
            self.tell_once("unreadable_field", name, str(fault))
            return None

    # events

    def _on_response(self, data: JsonObject, raw: str) -> None:
        response = object_field(data, "response")
        self._begin(response)
        if response.get("error"):
            self._count(response)
            raise self._failure(data)

    def _on_terminal(self, data: JsonObject, raw: str) -> None:
        response = object_field(data, "response")
        self._begin(response)
        ending = text_field(data, "type").rpartition(".")[2]
        if ending in _FAILED:
            self._count(response)
            raise self._failure(data)
        self._end(response, lambda: object_field(exactly(data, raw), "response"), ending)

    def _on_item_added(self, data: JsonObject, raw: str) -> None:
        item = object_field(data, "item")
        place = data.get("output_index")
        if self._items.of_item(place, item, is_done=False) is None:  # else told twice
            self._open(place, object_field(exactly(data, raw), "item"))

    def _on_item_done(self, data: JsonObject, raw: str) -> None:
        item = object_field(exactly(data, raw), "item")
        place = data.get("output_index")
        reader = self._items.of_item(place, item, is_done=True)
        if reader is not None and reader not in self._items.open:
            seal = word(item.get("encrypted_content"))
            if reader.kind != "reasoning" or seal in ("", reader.seal):
                return  # told twice
            reader = None  # an id that is used again, with a new seal (seen at xAI)
        reader = reader or self._open(place, item)
        self._items.close(reader, item)
        reader.finish(item)

    def _on_part_text(self, data: JsonObject, raw: str) -> None:
        delta, field, place_name = _WHOLE_PARTS[text_field(data, "type")]
        text = text_field(data, field)
        item = self._item(data, delta)
        if item is not None and (text or not place_name):
            item.whole_part(delta, data.get(place_name) if place_name else None, text)

    def _on_annotation(self, data: JsonObject, raw: str) -> None:
        item = self._item(data)
        if item is not None:
            item.annotate(data.get("content_index"), object_field(exactly(data, raw), "annotation"))

    def _pass(self, data: JsonObject, raw: str) -> None:
        pass

    def _grow(self, kind: str, data: JsonObject) -> None:
        """A delta that begins something, or fits nothing that is open."""
        piece = text_field(data, "delta")  # null at some gateways
        item = self._item(data, kind)
        if item is None and not _GROWTH[kind]:
            place = data.get("output_index")
            key = place if type(place) is int else word(data.get("item_id"))
            self._early.setdefault(key, []).append((kind, piece))
        if item is None or not item.grow(kind, data.get(_GROWTH[kind]), piece):
            self.tell_once("unknown_delta", kind, "a delta that fits no open item")

    def _read_other(self, event: AnyServerEvent, fault: str, data: object = None) -> None:
        """An event whose data is no JSON object."""
        if event.event == "error" or is_failure(data):
            raise self._failure(event.data if data is None else data)
        if not event.data.startswith("[DONE]"):  # a gateway's end marker: the terminal event decides
            raise MalformedStream(f"an event's data cannot be read: {fault}")

    # items

    def _item(self, data: JsonObject, delta: str = "") -> ItemReader | None:
        """The open item that an event is about; begun here where the delta alone says what it is."""
        reader = self._items.of_event(data, delta)
        if reader is None and delta in IMPLIED:
            item: JsonObject = {"type": IMPLIED[delta], "id": word(data.get("item_id"))}
            reader = self._open(data.get("output_index"), item)
        return reader if reader in self._items.open else None

    def _open(self, place: object, item: JsonObject) -> ItemReader:
        kind = item.get("type")
        if not isinstance(kind, str):
            raise MalformedStream("an output item has no type")
        if self._items.seen and self._items.seen[-1] in self._items.open:
            self._items.seen[-1].bring_in()  # before what follows, so that the order stays
        reader = READERS.get(kind, OpaqueReader)(self, item)
        self._items.add(reader, place)
        for key in (place if type(place) is int else "", reader.id):
            for delta, piece in self._early.pop(key, ()):
                reader.grow(delta, None, piece)
        return reader

    # the answer

    def _begin(self, response: JsonObject) -> None:
        id = self.tolerated(text_field, response, "id") or ""
        self._response_id = self._response_id or id
        self.builder.response(id=self._response_id, model=self.tolerated(text_field, response, "model"))

    def _count(self, response: JsonObject) -> None:
        usage = self.tolerated(object_field, response, "usage")
        if usage:
            self.builder.update_usage(read_usage(usage, self.tolerated))

    def _end(self, response: JsonObject, exactly: Callable[[], JsonObject], ending: str) -> None:
        """End the answer. ending: the event's word for it.

        exactly: gives the response with all digits of its numbers.
        """
        status = self.tolerated(text_field, response, "status") or ending
        if not response or status in _UNFINISHED:
            self.saw_cut_call = True  # no word of the response itself that it is whole
        self._count(response)
        if _is_failed(response):
            raise self._failure(response)
        output = self.tolerated(list_field, response, "output") or []
        if self._items.open or len(output) > len(self._items.seen):
            self._settle(list_field(exactly(), "output"))
        details = self.tolerated(object_field, response, "incomplete_details") or {}
        reason = self.tolerated(text_field, details, "reason") or ""
        raw = reason or (ending if status in _UNFINISHED else status)
        stop = (_REASONS if reason else _STATUSES).get(raw, StopReason.UNKNOWN)
        if self.saw_refusal and stop in _REFUSABLE:
            stop = StopReason.REFUSAL
        elif self.builder.saw_call and stop is StopReason.END:
            stop = StopReason.TOOL_USE
        if stop is StopReason.LENGTH and not self.saw_text:
            self.builder.notice("answer_truncated", "the output limit was reached before any text")
        self._tell_transformations(response)
        self.builder.finish(stop, raw=raw or None, detail=self._details(response) or None, cut=self.saw_cut_call)

    def _settle(self, output: list[object]) -> None:
        """Finish what is open, and bring in what did not stream, from the whole output."""
        items = [as_object(item, "output") for item in output]
        matched = self._items.matched(items)
        late = bool(self._items.seen)
        for reader in list(self._items.open):
            item = items[matched[reader]] if reader in matched else {}
            self._items.close(reader, item)
            if item:
                reader.finish(item)
            else:
                reader.leave()
        if len(items) <= len(self._items.seen):
            return
        known = set(matched.values())
        for place, item in enumerate(items):
            if place in known:
                continue
            if late:
                self.tell_once("late_item", str(item.get("type")), "an item came with the end of the answer only")
            reader = self._open(None, item)
            self._items.close(reader, item)
            reader.finish(item)

    def _details(self, response: JsonObject) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for name in _DETAILS:
            value = response.get(name)
            if value and not (name == "content_filters" and not _is_blocked(value)):
                kept_value = self.tolerated(_kept_field, response, name)
                if kept_value is not None:
                    found[name] = kept_value
        return found

    def _tell_transformations(self, response: JsonObject) -> None:
        for entry in self.tolerated(list_field, response, "input_transformations") or ():
            if isinstance(entry, dict):
                told = cast("JsonObject", entry)
                detail = {name: value for name, value in told.items() if isinstance(value, str)}
                text = f"the server left out an item of the history: {detail.get('reason', '')}"
                self.builder.notice("thinking_dropped_by_server", text, path=detail.get("id", ""), detail=detail)

    def _failure(self, body: Any) -> ProviderError:
        return error(ErrorResponse(body=body, provider=self.context.origin.provider or None))


_GROWTH = {
    TEXT_DELTA: "content_index",
    REFUSAL_DELTA: "content_index",
    SUMMARY_DELTA: "summary_index",
    REASONING_DELTA: "content_index",
    ARGUMENTS_DELTA: "",
    INPUT_DELTA: "",
}
"""The deltas that are read, and the field that tells the part of the item that they are of."""

# Type of the deltas, field of the whole text, and the field that tells the part.
_WHOLE_PARTS = {
    "response.output_text.done": (TEXT_DELTA, "text", "content_index"),
    "response.refusal.done": (REFUSAL_DELTA, "refusal", "content_index"),
    "response.reasoning_summary_text.done": (SUMMARY_DELTA, "text", "summary_index"),
    "response.reasoning_text.done": (REASONING_DELTA, "text", "content_index"),
    "response.function_call_arguments.done": (ARGUMENTS_DELTA, "arguments", ""),
    "response.custom_tool_call_input.done": (INPUT_DELTA, "input", ""),
}

_EVENTS: dict[str, Callable[[OpenAIResponsesParser, JsonObject, str], None]] = {
    "response.created": OpenAIResponsesParser._on_response,
    "response.queued": OpenAIResponsesParser._on_response,
    "response.in_progress": OpenAIResponsesParser._on_response,
    "response.output_item.added": OpenAIResponsesParser._on_item_added,
    "response.output_item.done": OpenAIResponsesParser._on_item_done,
    "response.content_part.added": OpenAIResponsesParser._pass,
    "response.content_part.done": OpenAIResponsesParser._pass,
    "response.reasoning_summary_part.added": OpenAIResponsesParser._pass,
    "response.reasoning_summary_part.done": OpenAIResponsesParser._pass,
    "response.reasoning_part.added": OpenAIResponsesParser._pass,  # seen at Bedrock
    "response.reasoning_part.done": OpenAIResponsesParser._pass,
    "response.output_text.annotation.added": OpenAIResponsesParser._on_annotation,
    **dict.fromkeys(_WHOLE_PARTS, OpenAIResponsesParser._on_part_text),
    "response.completed": OpenAIResponsesParser._on_terminal,
    "response.incomplete": OpenAIResponsesParser._on_terminal,
    "response.failed": OpenAIResponsesParser._on_terminal,
    "response.cancelled": OpenAIResponsesParser._on_terminal,
    "keepalive": OpenAIResponsesParser._pass,
}

# Progress within items that are kept whole, by the second word of the event's type: the finished item says it all.
_SILENT = tuple(
    [word]
    for word in (
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "code_interpreter_call_code",
        "image_generation_call",
        "mcp_call",
        "mcp_call_arguments",
        "mcp_list_tools",
        "shell_call_command",
        "shell_call_output_content",
        "apply_patch_call_operation_diff",
        "audio",
        "compaction",
    )
)


# A whole number that the fast decoder may not hold has more digits than this.
_MANY_DIGITS = re.compile(r"\d{19}")


def exactly(data: JsonObject, raw: str) -> JsonObject:
    """An event with all digits of its numbers: decoded again where it may have lost some."""
    return exact(raw) if _MANY_DIGITS.search(raw) else data


def _kept_field(data: JsonObject, name: str) -> Any:
    return kept(data.get(name), name)


def _is_failed(response: JsonObject) -> bool:
    return bool(response.get("error")) or word(response.get("status")) in _FAILED


def _is_blocked(filters: object) -> bool:
    """Whether one of Azure's content filters has stopped something."""
    return isinstance(filters, list) and any(isinstance(item, dict) and item.get("blocked") for item in filters)
