"""A conversation as the input items of the Responses API: every block in its place, or left out with a notice.

A reasoning item and the item that it led to belong together: the API refuses one with its id without the other. So
they are written in groups, and where a group is not whole, its thinking is left out and its ids are too, since items
without ids are not looked up. Stored messages are not changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

from attrs import define, field

from thinkaloud.content import AssistantBlock, Block, Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.messages import AssistantMessage, Origin, ToolResult, UserMessage
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.fields import unsendable
from thinkaloud.protocols.openai_responses.items import PROTOCOL_ID
from thinkaloud.protocols.sendable import image_type

Item = dict[str, Any]

_LONGEST_ID = 64

_CALLS = ("function_call", "custom_tool_call")

# Kinds of opaque blocks that are parts of what a user says; all others are items of their own.
_PARTS = ("input_text", "input_image", "input_file", "input_audio")

# Fields of a user's block that mean something to this API.
_PART_FIELDS = ("prompt_cache_breakpoint",)

# Fields of a block's `extra` that are not fields of its item.
_OF_THE_BLOCK = frozenset({"type", "part", "text", "fields", "beside", "logprobs"})


def turns(call: Call, *, stored: bool) -> tuple[list[Item], list[Notice]]:
    """The `input` of a request, and a notice for each thing left out. Raises ConfigurationError.

    stored: earlier answers are kept at the provider, so that their items can be told by their ids.
    """
    writer = _Writer(call, stored)
    for place, message in enumerate(call.messages):
        path = f"messages[{place}]"
        match message:
            case UserMessage():
                writer.user(message, path)
            case AssistantMessage():
                writer.assistant(message, path)
            case ToolResult():
                writer.result(message, path)
    return writer.items, writer.notices


def wire_id(id: str) -> str:
    """A call's id in the length that the API takes: the same for a call and its result."""
    if 0 < len(id) <= _LONGEST_ID:
        return id
    return f"call_{sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:48]}"


@define
class _Draft:
    """One item of an answer while its group is decided.

    item: None where it is left out.
    paths: the blocks that it is made of.
    beside: parts of a message that are no blocks, each with its place.
    """

    kind: Literal["reasoning", "message", "call", "opaque"]
    item: Item | None
    paths: list[str] = field(factory=list)
    beside: Any = ()


class _Writer:
    def __init__(self, call: Call, stored: bool) -> None:
        self.items: list[Item] = []
        self.notices: list[Notice] = []
        self._provider = call.model.provider
        # Seen at DeepSeek: calls that something stands between lose their results.
        self._calls_last = call.dialect.effort == "deepseek"
        self._short_ids = call.dialect.tool_id == "openai"
        self._stored = stored
        self._unsent_calls: set[str] = set()
        self._seen_ids: dict[str, int] = {}
        self._wire_ids: dict[str, str] = {}  # of the latest call with each id
        self._custom_calls: set[str] = set()

    def omit(self, block: Block, path: str, reason: str) -> None:
        """Tell of a block that is left out."""
        code = "thinking_omitted" if isinstance(block, Thinking) else "block_omitted"
        self.notices.append(Notice(code, f"left out: {reason}", path))
        if isinstance(block, ToolCall):
            self._unsent_calls.add(block.id)

    # what users say and tools give

    def user(self, message: UserMessage, path: str) -> None:
        """Add a user's message; items of their own in it stand where they are."""
        parts: list[Item] = []
        before = len(self.items)
        for place, block in enumerate(message.content):
            written = self._part(block, f"{path}.content[{place}]")
            if written is None:
                continue
            if isinstance(block, Opaque) and block.kind not in _PARTS:
                self._say(parts)
                parts = []
                self.items.append(written)
            else:
                parts.append(written)
        self._say(parts)
        if len(self.items) == before:
            self.notices.append(Notice("message_omitted", "left out: nothing of it can be sent", path))

    def _say(self, parts: list[Item]) -> None:
        if parts:
            self.items.append({"role": "user", "content": parts})

    def result(self, result: ToolResult, path: str) -> None:
        """Add a tool's result: text as a string, anything else as parts."""
        if result.call_id in self._unsent_calls:
            self.notices.append(Notice("result_omitted", "left out: its call is not sent either", path))
            return
        blocks = enumerate(result.content)
        written = [self._part(block, f"{path}.content[{place}]") for place, block in blocks]
        parts = [part for part in written if part is not None]
        plain = all(part.keys() == {"type", "text"} for part in parts)
        output: Any = "\n\n".join(part["text"] for part in parts) if plain else parts
        kind = "custom_tool_call_output" if result.call_id in self._custom_calls else "function_call_output"
        self.items.append({"type": kind, "call_id": self._result_id(result), "output": output})

    def _result_id(self, result: ToolResult) -> str:
        return self._wire_ids.get(result.call_id) or wire_id(result.call_id)

    def _call_id(self, call: ToolCall) -> str:
        """An id that no earlier call of the request has: some servers count anew in every answer (seen at Bedrock)."""
        seen = self._seen_ids[call.id] = self._seen_ids.get(call.id, 0) + 1
        self._wire_ids[call.id] = id = wire_id(call.id if seen == 1 else f"{call.id}_{seen}")
        return id

    def _part(self, block: Block, path: str) -> Item | None:
        match block:
            case Text():
                return _said(block) if block.text else None
            case Image():
                return _image(block, path)
            case Document():
                return _document(block, path)
            case Opaque():
                reason = _unsendable_opaque(block)
                if reason is None:
                    return dict(block.data)
            case _:
                reason = f"a {type(block).__name__} is not for this role"
        self.omit(block, path, reason)
        return None

    # what the model said

    def assistant(self, message: AssistantMessage, path: str) -> None:
        """Add an answer, group by group."""
        ours = self._is_ours(message.origin)
        drafts: list[_Draft] = []
        for place, block in enumerate(message.content):
            self._draft(block, f"{path}.content[{place}]", ours, drafts)
        items: list[Item] = []
        for thoughts, followers in _groups(drafts):
            items += self._group(thoughts, followers)
        if self._calls_last:
            items = self._with_calls_last(items, path)
        if items:
            self.items += items
        else:
            self.notices.append(Notice("message_omitted", "left out: nothing of it can be sent", path))

    def _is_ours(self, origin: Origin) -> bool:
        """Whether ids, and fields of the protocol, mean something to the provider; a user builds messages for it."""
        return origin.protocol in ("", PROTOCOL_ID) and origin.provider in ("", self._provider)

    def _with_calls_last(self, items: list[Item], path: str) -> list[Item]:
        moved = sorted(items, key=lambda item: item.get("type") in _CALLS)
        if moved != items:
            text = "this provider takes the calls of an answer only after all else of it"
            self.notices.append(Notice("calls_moved", text, path))
        return moved

    def _group(self, thoughts: list[_Draft], followers: list[_Draft]) -> list[Item]:
        """The items of one group: thinking only together with what it led to, ids only where all have them."""
        led_to = followers[0].item if followers else None
        thinking = [draft for draft in thoughts if draft.item is not None]
        if led_to is None:
            text = "left out: what the thinking led to is not sent"
            self.notices += (Notice("thinking_omitted", text, path) for draft in thinking for path in draft.paths)
            thinking = []
        for draft in followers:
            for place, part in draft.beside:
                if draft.item is not None:
                    draft.item["content"].insert(place, part)
        items = [draft.item for draft in (*thinking, *followers) if draft.item is not None]
        tied = [draft.item for draft in thinking if draft.item is not None] + ([led_to] if led_to else [])
        if thoughts and (len(thinking) < len(thoughts) or not all(self._has_id(item) for item in tied)):
            for item in items:
                _forget_id(item)
        for item in items:
            if not self._has_id(item):
                _forget_id(item)
        return items

    def _has_id(self, item: Item) -> bool:
        id = item.get("id")
        return isinstance(id, str) and bool(id) and (len(id) <= _LONGEST_ID or not self._short_ids)

    def _draft(self, block: AssistantBlock, path: str, ours: bool, drafts: list[_Draft]) -> None:
        written: _Draft | str | None
        match block:
            case _ if not block.complete:
                written = "it was cut off"
            case Thinking():
                written = self._thinking(block, drafts, ours)
            case Text():
                written = _message(block, drafts, ours)
            case ToolCall():
                written = self._call(block, ours)
            case Opaque():
                written = self._opaque(block, ours)
            case _:
                written = f"an assistant message cannot hold a {type(block).__name__}"
        if isinstance(written, str):
            self.omit(block, path, written)
            written = _Draft("reasoning" if isinstance(block, Thinking) else "opaque", None)
        if written is not None:
            written.paths.append(path)
            if not drafts or drafts[-1] is not written:
                drafts.append(written)

    def _thinking(self, block: Thinking, drafts: list[_Draft], ours: bool) -> _Draft | str:
        if not ours:
            return "thinking of another service cannot be read here"
        if block.redacted_data is not None:
            return "this protocol has no redacted thinking"
        raw = bool(block.extra.get("content"))
        if not block.signature and not raw and not (self._stored and block.extra.get("id")):
            return "the service does not keep it, and it has no encrypted content"
        item: Item = {name: value for name, value in block.extra.items() if name not in ("summary", "content")}
        item["type"] = "reasoning"
        summary = _filled(block.extra.get("summary"), block.text)
        content = _filled(block.extra.get("content"), block.text)
        if not summary and not content and block.text:
            summary = [{"type": "summary_text", "text": block.text}]
        item["summary"] = summary
        if content:
            item["content"] = content
        if block.signature:
            item["encrypted_content"] = block.signature
        last = drafts[-1] if drafts else None
        if last is not None and last.item is not None and _is_one_item(last.item, item):
            _merge_reasoning(last.item, item)
            return last
        return _Draft("reasoning", item)

    def _call(self, call: ToolCall, ours: bool) -> _Draft:
        extra = {name: value for name, value in call.extra.items() if name not in _OF_THE_BLOCK} if ours else {}
        item: Item = {**extra, "call_id": self._call_id(call), "name": call.name}
        if call.extra.get("type") == "custom":
            self._custom_calls.add(call.id)
            item |= {"type": "custom_tool_call", "input": call.arguments_json}
        else:
            self._custom_calls.discard(call.id)
            arguments = call.arguments_json if call.arguments_json.strip() else "{}"
            item |= {"type": "function_call", "arguments": arguments}
        self._unsent_calls.discard(call.id)
        return _Draft("call", item)

    def _opaque(self, block: Opaque, ours: bool) -> _Draft | str:
        if not ours and block.protocol == PROTOCOL_ID:
            return f"the {block.kind} item is of another service"
        return _unsendable_opaque(block) or _Draft("opaque", dict(block.data))


def _groups(drafts: Iterable[_Draft]) -> list[tuple[list[_Draft], list[_Draft]]]:
    """Runs of thinking, each with all that follows it up to the next one."""
    groups: list[tuple[list[_Draft], list[_Draft]]] = []
    for draft in drafts:
        thinks = draft.kind == "reasoning"
        if not groups or (thinks and groups[-1][1]):
            groups.append(([], []))
        groups[-1][0 if thinks else 1].append(draft)
    return groups


def _forget_id(item: Item) -> None:
    item.pop("id", None)
    if item.get("type") == "message":
        item.pop("status", None)  # goes with the id only


def _filled(parts: Any, text: str) -> list[Item]:
    """The parts of a reasoning item as they came: what has no text of its own has the block's."""
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        return []
    return [{"text": text, **part} if isinstance(part, Mapping) else part for part in parts]


def _is_one_item(item: Item, more: Item) -> bool:
    """Whether two blocks of thinking are one reasoning item, sealed once: xAI uses an id again, with a new seal."""
    if item.get("type") != "reasoning" or not item.get("id") or item["id"] != more.get("id"):
        return False
    seals = {item.get("encrypted_content"), more.get("encrypted_content")} - {None}
    return len(seals) < 2


def _merge_reasoning(item: Item, more: Item) -> None:
    """Put blocks of one reasoning item together again."""
    for name in ("summary", "content"):
        if item.get(name) or more.get(name):
            item[name] = [*(item.get(name) or ()), *(more.get(name) or ())]
    for name, value in more.items():
        item.setdefault(name, value)


def _message(block: Text, drafts: list[_Draft], ours: bool) -> _Draft | None:
    extra = block.extra if ours else {}
    if not block.text:
        return None
    part = _said_part(block, extra, ours)
    last = drafts[-1] if drafts else None
    goes_on = last is not None and last.kind == "message" and bool(extra.get("part"))
    if goes_on and last is not None and last.item is not None and last.item.get("id") == extra.get("id"):
        last.item["content"].append(part)
        return last
    item: Item = {name: value for name, value in extra.items() if name not in _OF_THE_BLOCK}
    item |= {"type": "message", "role": "assistant", "content": [part]}
    return _Draft("message", item, beside=extra.get("beside") or ())


def _said_part(block: Text, extra: Mapping[str, Json], ours: bool) -> Item:
    text = extra.get("text", block.text)
    if extra.get("type") == "refusal":
        return {"type": "refusal", "refusal": text}
    fields: Any = extra.get("fields") or {}
    annotations = [dict(citation) for citation in block.citations] if ours else []
    return {**fields, "type": "output_text", "text": text, "annotations": annotations}


def _unsendable_opaque(block: Opaque) -> str | None:
    if block.protocol != PROTOCOL_ID:
        return f"a {block.kind} block of {block.protocol} has no form here"
    if not block.complete:
        return f"the {block.kind} item was cut off"
    fault = unsendable(block.data)
    return None if fault is None else f"the {block.kind} item cannot be sent: its data {fault}"


def _said(block: Text) -> Item:
    own = {name: block.extra[name] for name in _PART_FIELDS if name in block.extra}
    return {"type": "input_text", "text": block.text, **own}


def _image(image: Image, path: str) -> Item:
    part: Item = {"type": "input_image", "detail": image.extra.get("detail", "auto")}
    part |= {name: image.extra[name] for name in _PART_FIELDS if name in image.extra}
    if image.data is not None:
        media_type = image.media_type or image_type(image.data) or "image/png"
        part["image_url"] = f"data:{media_type};base64,{image.data}"
    elif image.url is not None:
        part["image_url"] = image.url
    elif isinstance(image.extra.get("file_id"), str):
        part["file_id"] = image.extra["file_id"]
    else:
        raise ConfigurationError(f"{path}: give an Image data, a url, or extra={{'file_id': ...}}")
    return part


def _document(document: Document, path: str) -> Item:
    own = {name: document.extra[name] for name in _PART_FIELDS if name in document.extra}
    if document.text is not None:
        title = f"{document.name}\n\n" if document.name else ""
        return {"type": "input_text", "text": title + document.text, **own}
    part: Item = {"type": "input_file", **own}
    if document.data is not None:
        media_type = document.media_type or "application/pdf"
        part |= {"filename": document.name or "document.pdf"}
        part |= {"file_data": f"data:{media_type};base64,{document.data}"}
    elif document.url is not None:
        part["file_url"] = document.url
    elif isinstance(document.extra.get("file_id"), str):
        part["file_id"] = document.extra["file_id"]
    else:
        raise ConfigurationError(f"{path}: give a Document data, text, a url, or extra={{'file_id': ...}}")
    return part
