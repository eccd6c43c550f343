"""A conversation as the `contents` of a request: every part in its place, byte for byte, or left out with a notice.

A signature goes back on the part that carried it, and on no other. Results stand alone in their content, in the order
of their calls; whatever else a tool gave follows in the next one. Stored messages are not changed.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from mimetypes import guess_type
from typing import Any

from attrs import define, field

from thinkaloud.content import Block, Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import ConfigurationError, MalformedToolArguments
from thinkaloud.jsontext import Json, joined_surrogates
from thinkaloud.messages import AssistantMessage, Message, Origin, ToolResult, UserMessage
from thinkaloud.notices import Notice
from thinkaloud.protocols.fields import unsendable
from thinkaloud.protocols.gemini.families import Family
from thinkaloud.protocols.gemini.parse import PROTOCOL_ID, SIGNATURE_ALONE
from thinkaloud.protocols.sendable import image_type

Part = dict[str, Json]

# What Google documents for calls that were made elsewhere and so have no signature.
STAND_IN_SIGNATURE = "skip_thought_signature_validator"

# Fields of a block's `extra` that mean something to this API in what a user says.
_USER_EXTRA = ("mediaResolution", "videoMetadata", "partMetadata")

# What the result of a tool may hold beside its text.
_RESULT_TYPES = ("image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain")

_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,", re.ASCII)


@define
class _Call:
    """A call that was sent: its place in its turn, and its id and name as they were sent."""

    place: int
    id: str | None
    name: str


@define
class Turns:
    """What became of the messages."""

    contents: list[Json] = field(factory=list)
    notices: list[Notice] = field(factory=list)


def turns(messages: Sequence[Message], *, family: Family, provider: str, call_ids: bool) -> Turns:
    """The `contents` of a request, and a notice for each thing left out. Raises ConfigurationError.

    provider: who will read them. call_ids: ids of calls and results go along.
    """
    writer = _Writer(family, provider, call_ids)
    for place, message in enumerate(messages):
        if not isinstance(message, ToolResult):
            writer.end_results()
        _WRITERS[type(message)](writer, message, f"messages[{place}]")
    writer.end_results()
    if writer.done.contents and isinstance(first := writer.done.contents[0], dict) and first["role"] == "model":
        writer.done.contents.insert(0, {"role": "user", "parts": [{"text": ""}]})
    return writer.done


class _Writer:
    def __init__(self, family: Family, provider: str, call_ids: bool) -> None:
        self.done = Turns()
        self._family = family
        self._provider = provider
        self._call_ids = call_ids
        self._calls: dict[str, _Call] = {}
        self._unsent: set[str] = set()
        self._results: list[tuple[int, Part]] = []
        self._beside: list[Json] = []  # what results hold that has no place in them

    def notice(self, code: str, text: str, path: str) -> None:
        self.done.notices.append(Notice(code, text, path))

    def omit(self, block: Block, path: str, reason: str) -> None:
        code = "thinking_omitted" if isinstance(block, Thinking) else "block_omitted"
        self.notice(code, f"left out: {reason}", path)
        if isinstance(block, ToolCall):
            self._unsent.add(block.id)

    def add(self, role: str, parts: list[Json]) -> None:
        if parts:
            self.done.contents.append({"role": role, "parts": parts})

    # messages

    def user(self, message: UserMessage, path: str) -> None:
        self.add("user", self._said(message.content, f"{path}.content"))

    def _said(self, blocks: Iterable[Block], path: str) -> list[Json]:
        parts: list[Json] = []
        for place, block in enumerate(blocks):
            where = f"{path}[{place}]"
            written = _SAID.get(type(block), _not_said)(block, where)
            if isinstance(written, str):
                self.omit(block, where, written)
            elif written is not None:
                parts.append(written)
        return parts

    def assistant(self, message: AssistantMessage, path: str) -> None:
        parts: list[Json] = []
        first_call = None
        for place, block in enumerate(message.content):
            where = f"{path}.content[{place}]"
            if not block.complete:
                self.omit(block, where, "it was cut off")
                continue
            written = _ANSWERED.get(type(block), _not_an_answer)(self, block, message.origin)
            if isinstance(written, str):
                self.omit(block, where, written)
                continue
            if isinstance(block, ToolCall):
                self._unsent.discard(block.id)
                if first_call is None:
                    first_call = where, written[0]
            parts += written
        if self._family.signs_calls and first_call is not None and "thoughtSignature" not in first_call[1]:
            where, call = first_call
            call["thoughtSignature"] = STAND_IN_SIGNATURE
            self.notice("signature_replaced", "the call has no signature of this model: sent with a stand-in", where)
        self.add("model", parts)

    def result(self, message: ToolResult, path: str) -> None:
        if message.call_id in self._unsent:
            self.notice("result_omitted", "left out: its call is not sent either", path)
            return
        call = self._calls.get(message.call_id) or _Call(len(self._calls), message.call_id, message.name or "")
        texts: list[str] = []
        media: list[Json] = []
        for place, block in enumerate(message.content):
            where = f"{path}.content[{place}]"
            if isinstance(block, Text):
                texts.append(block.text)
                continue
            if isinstance(block, Document) and block.text is not None:
                texts.append(block.text)
                continue
            written = _SAID.get(type(block), _not_said)(block, where)
            if isinstance(written, str):
                self.omit(block, where, written)
            elif written is not None and self._may_hold(written):
                media.append(written)
            elif written is not None:
                self._beside.append(written)
                self.notice("moved_behind_results", "a result cannot hold it here: it follows the results", where)
        response: Part = {"name": call.name, "response": {"error" if message.is_error else "output": "\n".join(texts)}}
        if media:
            response["parts"] = media
        if self._call_ids and call.id:
            response = {"id": call.id, **response}
        self._results.append((call.place, {"functionResponse": response}))

    def _may_hold(self, part: Part) -> bool:
        data = part.get("inlineData")
        return self._family.result_media and isinstance(data, dict) and data["mimeType"] in _RESULT_TYPES

    def end_results(self) -> None:
        """Write the results that have come together: the server wants them in the order of their calls."""
        self.add("user", [part for _, part in sorted(self._results, key=lambda result: result[0])])
        self.add("user", self._beside)
        self._results, self._beside = [], []

    # blocks of an answer: the parts, [] to drop the block silently, or the reason why it is left out

    def text(self, block: Text, origin: Origin) -> list[Part] | str:
        return _pieces(block, origin, {})

    def thought(self, block: Thinking, origin: Origin) -> list[Part] | str:
        if not _is_ours(origin):
            return "thinking of another protocol cannot be verified here"
        if block.redacted_data is not None:
            return "Gemini has no redacted thinking"
        return _pieces(block, origin, {"thought": True})

    def call(self, block: ToolCall, origin: Origin) -> list[Part] | str:
        try:
            arguments = block.arguments
        except MalformedToolArguments as error:
            return f"a call is sent as an object, and {error}"
        fault = unsendable(arguments)
        if fault is not None:
            return f"the arguments cannot be sent as JSON: the object {fault}"
        extra = block.extra if _is_ours(origin) else {}
        wire_id = extra.get("wire_id", block.id)
        id = wire_id if isinstance(wire_id, str) and self._call_ids else None
        self._calls[block.id] = _Call(len(self._calls), id, block.name)
        call: Part = {**_object(extra, "function_call")}
        if id:
            call["id"] = id
        part: Part = {**_object(extra, "part"), "functionCall": {**call, "name": block.name, "args": arguments}}
        if block.signature is not None and _is_ours(origin):
            part["thoughtSignature"] = block.signature
        return [part]

    def opaque(self, block: Opaque, origin: Origin) -> list[Part] | str:
        written = _opaque(block)
        if isinstance(written, str):
            return written
        elsewhere = bool(origin.provider) and origin.provider != self._provider
        if elsewhere and "thoughtSignature" in block.data:
            return f"the signature of the {block.kind} part does not verify at {self._provider}"
        if block.kind in ("toolCall", "toolResponse"):
            step = block.data.get(block.kind)
            if elsewhere:
                return f"a {block.kind} part is taken only by the service that made it"
            if not isinstance(step, Mapping) or not (step.get("toolType") or step.get("tool_type")):
                return "a media-processing step is refused"
        return [written]


_WRITERS: dict[type, Callable[[_Writer, Any, str], None]] = {
    UserMessage: _Writer.user,
    ToolResult: _Writer.result,
    AssistantMessage: _Writer.assistant,
}


def _not_an_answer(writer: _Writer, block: Any, origin: Origin) -> list[Part] | str:
    return f"an assistant message cannot hold a {type(block).__name__}"


_ANSWERED: dict[type, Callable[[_Writer, Any, Origin], list[Part] | str]] = {
    Text: _Writer.text,
    Thinking: _Writer.thought,
    ToolCall: _Writer.call,
    Opaque: _Writer.opaque,
}


def _is_ours(origin: Origin) -> bool:
    return origin.protocol in ("", PROTOCOL_ID)


def _object(extra: Mapping[str, Json], name: str) -> Part:
    value = extra.get(name)
    return dict(value) if isinstance(value, Mapping) else {}


def _pieces(block: Text | Thinking, origin: Origin, mark: Part) -> list[Part]:
    """A block as the parts that it came in, as far as a signature tells them apart."""
    extra: Mapping[str, Json] = block.extra if _is_ours(origin) else {}
    signature = block.signature if _is_ours(origin) else None
    mark = {**_object(extra, "part"), **mark}
    if signature is None:
        return [{"text": block.text, **mark}] if block.text else []
    begins = extra.get("signed_from")
    begins = min(begins, len(block.text)) if isinstance(begins, int) and begins > 0 else 0
    unsigned: list[Part] = [{"text": block.text[:begins], **mark}] if begins else []
    return [*unsigned, {"text": block.text[begins:], **mark, "thoughtSignature": signature}]


# What a user or a tool said.


def _said_text(block: Text, path: str) -> Part | str | None:
    return {"text": block.text, **_user_extra(block.extra)} if block.text else None


def _image(block: Image, path: str) -> Part | str | None:
    part = _media(block.data, block.media_type or image_type(block.data), block.url, None)
    if part is None:
        raise ConfigurationError(f"{path}: give an Image data with media_type, or a url")
    return {**part, **_user_extra(block.extra)}


def _document(block: Document, path: str) -> Part | str | None:
    data, media_type = block.data, block.media_type
    if block.text is not None:
        data, media_type = b64encode(joined_surrogates(block.text).encode()).decode("ascii"), "text/plain"
    elif data is not None:
        media_type = media_type or "application/pdf"
    part = _media(data, media_type, block.url, block.name)
    if part is None:
        raise ConfigurationError(f"{path}: give a Document data with media_type, text, or a url")
    return {**part, **_user_extra(block.extra)}


def _said_opaque(block: Opaque, path: str) -> Part | str | None:
    return _opaque(block)


def _not_said(block: Any, path: str) -> Part | str | None:
    return f"a user message cannot hold a {type(block).__name__}"


_SAID: dict[type, Callable[[Any, str], Part | str | None]] = {
    Text: _said_text,
    Image: _image,
    Document: _document,
    Opaque: _said_opaque,
}


def _opaque(block: Opaque) -> Part | str:
    if block.protocol != PROTOCOL_ID:
        return f"a {block.kind} block of {block.protocol} has no form here"
    if not block.complete:
        return f"the {block.kind} part was cut off"
    if block.kind == SIGNATURE_ALONE:
        return "a part that is nothing but a signature is refused"
    fault = unsendable(block.data)
    return dict(block.data) if fault is None else f"the {block.kind} part cannot be sent: its data {fault}"


def _user_extra(extra: Mapping[str, Json]) -> Part:
    return {name: extra[name] for name in _USER_EXTRA if name in extra}


def _media(data: str | None, media_type: str | None, url: str | None, name: str | None) -> Part | None:
    if data is None and url is not None and (inline := _DATA_URL.match(url)):
        media_type, data = inline[1], url[inline.end() :]
    if data is not None and media_type is not None:
        return {"inlineData": {"mimeType": media_type, "data": data}}
    if url is not None:
        media_type = media_type or guess_type(url.partition("?")[0])[0]
        return {"fileData": {"mimeType": media_type, "fileUri": url} if media_type else {"fileUri": url}}
    return None
