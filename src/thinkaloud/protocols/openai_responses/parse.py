"""Reads an answer of the Responses API, streamed or whole, through one builder and one set of item readers.

What is not modelled is kept: unknown items whole, as `Opaque`, unknown fields of known items in `extra`; unknown events
are told once per kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from thinkaloud.block_builder import OpenBlock
from thinkaloud.errors import MalformedStream, ProviderError, TruncatedStream
from thinkaloud.jsontext import joined_surrogates, loads
from thinkaloud.messages import StopReason
from thinkaloud.protocols.base import AnyServerEvent, ErrorResponse, ParseContext
from thinkaloud.protocols.call_ids import CallIds
from thinkaloud.protocols.fields import JsonObject, as_object, exact, list_field, object_field, text_field
from thinkaloud.protocols.openai_responses.errors import error, is_failure
from thinkaloud.protocols.openai_responses.item_reader import (
    ARGUMENTS_DELTA,
    INPUT_DELTA,
    REASONING_DELTA,
    REFUSAL_DELTA,
    SUMMARY_DELTA,
    TEXT_DELTA,
    ItemReader,
)
from thinkaloud.protocols.openai_responses.items import IMPLIED, READERS, OpaqueReader
from thinkaloud.protocols.openai_responses.places import OutputItems, word
from thinkaloud.protocols.openai_responses.stops import FAILED, REFUSABLE, UNFINISHED, details_of, is_failed, stop_of
from thinkaloud.protocols.openai_responses.usage import read_usage
from thinkaloud.protocols.tolerant import TolerantParser


class OpenAIResponsesParser(TolerantParser):
    """Reads one answer of the protocol `openai-responses`."""

    def __init__(self, context: ParseContext) -> None:
        super().__init__(context)
        self._items = OutputItems()
        self._early: dict[object, list[tuple[str, str]]] = {}  # arguments that came before their call

        self.call_ids = CallIds(self.builder, "call", prefix_digest=context.prefix_digest)
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
        if status in UNFINISHED:
            raise TruncatedStream(f"the answer is not there yet: its status is {status!r}")
        self._end(response, lambda: response, "")

    def pending(self) -> Sequence[Callable[[], object]]:
        """What the open items hold back."""
        return [item.abandon for item in self._items.open]

    # for the items

    def complete(self, block: OpenBlock, text: str) -> bool:
        """Add what of a finished text has not streamed. False, with a notice: another text had streamed, and stays."""
        written = str(block.fragments)
        text = _normal(text)
        if text.startswith(written):
            block.half = ""  # half a character that had streamed is in the finished text
            self.builder.extend(block, text[len(written) :])
            return True
        if not text:
            return True
        self.tell_once("text_differs", "output", "a finished text is not the one that had streamed")
        return False

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
        if ending in FAILED:
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
        self.call_ids.answer = self.call_ids.answer or id
        self.builder.response(id=id, model=self.tolerated(text_field, response, "model"))

    def _count(self, response: JsonObject) -> None:
        usage = self.tolerated(object_field, response, "usage")
        if usage:
            self.builder.update_usage(read_usage(usage, self.tolerated))

    def _end(self, response: JsonObject, exactly: Callable[[], JsonObject], ending: str) -> None:
        """End the answer. ending: the event's word for it.

        exactly: gives the response with all digits of its numbers.
        """
        status = self.tolerated(text_field, response, "status") or ending
        if not response or status in UNFINISHED:
            self.saw_cut_call = True  # no word of the response itself that it is whole
        self._count(response)
        if is_failed(response):
            raise self._failure(response)
        output = self.tolerated(list_field, response, "output") or []
        if self._items.open or len(output) > len(self._items.seen):
            self._settle(list_field(exactly(), "output"))
        stop, raw = stop_of(response, ending, self.tolerated)
        if self.saw_refusal and stop in REFUSABLE:
            stop = StopReason.REFUSAL
        elif self.builder.saw_call and stop is StopReason.END:
            stop = StopReason.TOOL_USE
        if stop is StopReason.LENGTH and not self.saw_text:
            self.builder.notice("answer_truncated", "the output limit was reached before any text")
        self._tell_transformations(response)
        detail = details_of(response, self.tolerated) or None
        self.builder.finish(stop, raw=raw or None, detail=detail, cut=self.saw_cut_call)

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


def _normal(text: str) -> str:
    """A text as the builder writes it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return joined_surrogates(text)
    return text
