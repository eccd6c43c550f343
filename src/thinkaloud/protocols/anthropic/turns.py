"""A conversation as the turns of the Messages API: every block in its place, byte for byte, or left out with a notice.

What the API would refuse is never sent: thinking without a signature, blocks and calls that were cut off, empty text.
Stored messages are not changed.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

from attrs import define, field

from thinkaloud.content import Block, Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import ConfigurationError, MalformedToolArguments
from thinkaloud.jsontext import Json
from thinkaloud.messages import AssistantMessage, Message, Origin, ToolResult, UserMessage
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.blocks import PROTOCOL_ID
from thinkaloud.protocols.fields import unsendable
from thinkaloud.protocols.sendable import image_type

WireBlock = dict[str, Json]

# Fields of a block's `extra` that mean something to this API in what a user says.
_USER_EXTRA = ("cache_control", "citations", "context", "title")

# Where a message may come from for its signatures to be valid here; "" is a message that the user built.
_SIGNED_HERE = ("", PROTOCOL_ID, "bedrock-converse")

_PLAIN_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,", re.ASCII)


def turns(messages: Sequence[Message]) -> tuple[list[WireBlock], list[Notice]]:
    """The `messages` of a request, and a notice for each thing left out. Raises ConfigurationError."""
    writer = _Writer()
    for place, message in enumerate(messages):
        _WRITERS[type(message)](writer, message, f"messages[{place}]")
    return [turn.body() for turn in writer.turns if turn.results or turn.blocks], writer.notices


def wire_id(id: str) -> str:
    """A call's id in the characters and the length that the API takes: the same for a call and its result."""
    if _PLAIN_ID.match(id):
        return id
    plain = re.sub(r"[^a-zA-Z0-9_-]", "_", id)[:47]
    return f"{plain}_{sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


@define
class _Turn:
    role: Literal["user", "assistant"]
    results: list[Json] = field(factory=list)
    blocks: list[Json] = field(factory=list)

    def body(self) -> WireBlock:
        # Results stand before all else that the user says (the API refuses any other order).
        return {"role": self.role, "content": [*self.results, *self.blocks]}


class _Writer:
    def __init__(self) -> None:
        self.turns: list[_Turn] = []
        self.notices: list[Notice] = []
        self.unsent_calls: set[str] = set()

    def turn(self, role: Literal["user", "assistant"]) -> _Turn:
        """The turn to write to: neighbours of one role are one turn."""
        if not self.turns or self.turns[-1].role != role:
            self.turns.append(_Turn(role))
        return self.turns[-1]

    def omit(self, block: Block, path: str, reason: str) -> None:
        code = "thinking_omitted" if isinstance(block, Thinking) else "block_omitted"
        self.notices.append(Notice(code, f"left out: {reason}", path))
        if isinstance(block, ToolCall):
            self.unsent_calls.add(block.id)

    # messages

    def user(self, message: UserMessage, path: str) -> None:
        blocks = self.said(message.content, f"{path}.content")
        if blocks:
            self.turn("user").blocks.extend(blocks)

    def result(self, message: ToolResult, path: str) -> None:
        if message.call_id in self.unsent_calls:
            self.notices.append(Notice("result_omitted", "left out: its call is not sent either", path))
            return
        result: WireBlock = {"type": "tool_result", "tool_use_id": wire_id(message.call_id)}
        if content := self.said(message.content, f"{path}.content"):
            result["content"] = content
        if message.is_error:
            result["is_error"] = True
        self.turn("user").results.append(result)

    def assistant(self, message: AssistantMessage, path: str) -> None:
        # Before the last fallback block stands what a model wrote that then refused: thinking and calls of it are
        # not taken back.
        kinds = [block.kind if isinstance(block, Opaque) else "" for block in message.content]
        refused = len(kinds) - kinds[::-1].index("fallback") - 1 if "fallback" in kinds else 0
        answered = [block.data.get("tool_use_id") for block in message.content if isinstance(block, Opaque)]
        blocks: list[Json] = []
        for place, block in enumerate(message.content):
            where = f"{path}.content[{place}]"
            if place < refused and _is_refused(block, answered):
                self.omit(block, where, "the model that wrote it refused, and another one took over")
                continue
            written = _ANSWERED.get(type(block), _not_an_answer)(block, message.origin)
            if isinstance(written, str):
                self.omit(block, where, written)
            elif written is not None:
                blocks.append(written)
                if isinstance(block, ToolCall):
                    self.unsent_calls.discard(block.id)
        if blocks:
            self.turn("assistant").blocks.extend(blocks)

    def said(self, blocks: Iterable[Block], path: str) -> list[Json]:
        """What a user or a tool says."""
        content: list[Json] = []
        for place, block in enumerate(blocks):
            where = f"{path}[{place}]"
            written = _SAID.get(type(block), _not_said)(block, where)
            if isinstance(written, str):
                self.omit(block, where, written)
            elif written is not None:
                content.append(written)
        return content


_WRITERS: dict[type, Callable[[_Writer, Any, str], None]] = {
    UserMessage: _Writer.user,
    ToolResult: _Writer.result,
    AssistantMessage: _Writer.assistant,
}


# What a model answered. Each gives the wire's block, None to drop it silently, or the reason why it is left out.


def _is_ours(origin: Origin) -> bool:
    return origin.protocol in ("", PROTOCOL_ID)


def _signed(block: Text | ToolCall, origin: Origin) -> Mapping[str, Json]:
    """The unmodelled fields of a block of this protocol, and the signature that some gateways put on it."""
    if not _is_ours(origin):
        return {}
    return block.extra if block.signature is None else {**block.extra, "signature": block.signature}


def _answered_text(block: Text, origin: Origin) -> WireBlock | str | None:
    if not block.text.strip():
        return None
    if not block.complete:
        return "the text was cut off"
    text: WireBlock = {**_signed(block, origin), "type": "text", "text": block.text}
    if block.citations and _is_ours(origin):
        text["citations"] = [dict(citation) for citation in block.citations]
    return text


def _thought(block: Thinking, origin: Origin) -> WireBlock | str | None:
    if not block.complete:
        return "the thinking was cut off"
    if origin.protocol not in _SIGNED_HERE:
        return "thinking of another protocol cannot be verified here"
    extra = block.extra if _is_ours(origin) else {}
    if block.redacted_data is not None:
        return {**extra, "type": "redacted_thinking", "data": block.redacted_data}
    if not block.signature:
        return "thinking without a signature is refused"
    return {**extra, "type": "thinking", "thinking": block.text, "signature": block.signature}


def _called(block: ToolCall, origin: Origin) -> WireBlock | str | None:
    if not block.complete:
        return "the call was cut off"
    try:
        arguments = block.arguments
    except MalformedToolArguments as error:
        return f"a call is sent as an object, and {error}"
    fault = unsendable(arguments)
    if fault is not None:
        return f"the arguments cannot be sent as JSON: the object {fault}"
    extra = _signed(block, origin)
    return {**extra, "type": "tool_use", "id": wire_id(block.id), "name": block.name, "input": arguments}


def _answered_opaque(block: Opaque, origin: Origin) -> WireBlock | str | None:
    return _opaque(block)


def _not_an_answer(block: Any, origin: Origin) -> WireBlock | str | None:
    return f"an assistant message cannot hold a {type(block).__name__}"


_ANSWERED: dict[type, Callable[[Any, Origin], WireBlock | str | None]] = {
    Text: _answered_text,
    Thinking: _thought,
    ToolCall: _called,
    Opaque: _answered_opaque,
}


def _is_refused(block: Block, answered: list[Json]) -> bool:
    match block:
        case Thinking() | ToolCall() | Opaque(kind="connector_text"):
            return True
        case Opaque(kind="server_tool_use"):
            return block.data.get("id") not in answered
        case _:
            return False


# What a user or a tool said.


def _said_text(block: Text, path: str) -> WireBlock | str | None:
    return {**_user_extra(block.extra), "type": "text", "text": block.text} if block.text.strip() else None


def _image(block: Image, path: str) -> WireBlock | str | None:
    source = _source(block.data, block.media_type or image_type(block.data), block.url, block.extra)
    if source is None:
        raise ConfigurationError(f"{path}: give an Image data with media_type, a url, or extra={{'file_id': ...}}")
    return {**_user_extra(block.extra), "type": "image", "source": source}


def _document(block: Document, path: str) -> WireBlock | str | None:
    media_type = block.media_type or ("application/pdf" if block.data is not None else None)
    source = _source(block.data, media_type, block.url, block.extra)
    if block.text is not None:
        source = {"type": "text", "media_type": "text/plain", "data": block.text}
    elif block.data is not None and media_type is not None and media_type.startswith("text/"):
        source = {"type": "text", "media_type": "text/plain", "data": _decoded(block.data, path)}
    elif isinstance(content := block.extra.get("content"), str | list):
        source = {"type": "content", "content": content}
    if source is None:
        raise ConfigurationError(
            f"{path}: give a Document data with media_type, text, a url, or extra={{'file_id': ...}}"
        )
    document: WireBlock = {**_user_extra(block.extra), "type": "document", "source": source}
    if block.name is not None:
        document["title"] = block.name
    return document


def _said_opaque(block: Opaque, path: str) -> WireBlock | str | None:
    return _opaque(block)


def _not_said(block: Any, path: str) -> WireBlock | str | None:
    return f"a user message cannot hold a {type(block).__name__}"


_SAID: dict[type, Callable[[Any, str], WireBlock | str | None]] = {
    Text: _said_text,
    Image: _image,
    Document: _document,
    Opaque: _said_opaque,
}


def _opaque(block: Opaque) -> WireBlock | str:
    if block.protocol != PROTOCOL_ID:
        return f"a {block.kind} block of {block.protocol} has no form here"
    if not block.complete:
        return f"the {block.kind} block was cut off"
    fault = unsendable(block.data)
    return dict(block.data) if fault is None else f"the {block.kind} block cannot be sent: its data {fault}"


def _user_extra(extra: Mapping[str, Json]) -> WireBlock:
    return {name: extra[name] for name in _USER_EXTRA if name in extra}


def _source(data: str | None, media_type: str | None, url: str | None, extra: Mapping[str, Json]) -> WireBlock | None:
    if data is not None and media_type is not None:
        return {"type": "base64", "media_type": media_type, "data": data}
    if url is not None:
        if inline := _DATA_URL.match(url):
            return {"type": "base64", "media_type": inline[1], "data": url[inline.end() :]}
        return {"type": "url", "url": url}
    if isinstance(file_id := extra.get("file_id"), str):
        return {"type": "file", "file_id": file_id}
    return None


def _decoded(data: str, path: str) -> str:
    try:
        return b64decode(data, validate=True).decode()
    except ValueError:
        raise ConfigurationError(f"{path}: the data of a text document must be base64 of UTF-8 text") from None
