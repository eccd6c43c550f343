"""A conversation as the turns of the Messages API: every block in its place, byte for byte, or left out with a notice.

What the API would refuse is never sent: thinking without a signature, blocks and calls that were cut off, empty text.
Stored messages are not changed.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence

from thinkaloud.content import Block, Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.messages import AssistantMessage, Message, Origin, ToolResult
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.blocks import PROTOCOL_ID
from thinkaloud.protocols.call_ids import plain_id
from thinkaloud.protocols.redacted import payload_for
from thinkaloud.protocols.sendable import image_type
from thinkaloud.protocols.turn_writer import TurnWriter, WireBlock, Written, arguments_of, opaque_block

# Fields of a block's `extra` that mean something to this API in what a user says.
_USER_EXTRA = ("cache_control", "citations", "context", "title")

# Where a message may come from for its signatures to be valid here; "" is a message that the user built.
_SIGNED_HERE = ("", PROTOCOL_ID, "bedrock-converse")

_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,", re.ASCII)


def turns(messages: Sequence[Message]) -> tuple[list[WireBlock], list[Notice]]:
    """The `messages` of a request, and a notice for each thing left out. Raises ConfigurationError."""
    writer = _Writer()
    return writer.write(messages), writer.notices


def wire_id(id: str) -> str:
    """A call's id in the characters and the length that the API takes: the same for a call and its result."""
    return plain_id(id, "a-zA-Z0-9_-")


# What a model answered. Each gives the wire's block, None to drop it silently, or the reason why it is left out.


def _is_ours(origin: Origin) -> bool:
    return origin.protocol in ("", PROTOCOL_ID)


def _signed(block: Text | ToolCall, origin: Origin) -> Mapping[str, Json]:
    """The unmodelled fields of a block of this protocol, and the signature that some gateways put on it."""
    if not _is_ours(origin):
        return {}
    return block.extra if block.signature is None else {**block.extra, "signature": block.signature}


def _answered_text(block: Text, origin: Origin) -> Written:
    if not block.text.strip():
        return None
    if not block.complete:
        return "the text was cut off"
    text: WireBlock = {**_signed(block, origin), "type": "text", "text": block.text}
    if block.citations and _is_ours(origin):
        text["citations"] = [dict(citation) for citation in block.citations]
    return text


def _thought(block: Thinking, origin: Origin) -> Written:
    if not block.complete:
        return "the thinking was cut off"
    if origin.protocol not in _SIGNED_HERE:
        return "thinking of another protocol cannot be verified here"
    extra = block.extra if _is_ours(origin) else {}
    if block.redacted_data is not None:
        payload = payload_for(PROTOCOL_ID, block.redacted_data, origin.protocol)
        if payload is None:
            return "its payload is none of Claude's"
        return {**extra, "type": "redacted_thinking", "data": payload}
    if not block.signature:
        return "thinking without a signature is refused"
    return {**extra, "type": "thinking", "thinking": block.text, "signature": block.signature}


def _called(block: ToolCall, origin: Origin) -> Written:
    arguments = arguments_of(block)
    if isinstance(arguments, str):
        return arguments
    extra = _signed(block, origin)
    return {**extra, "type": "tool_use", "id": wire_id(block.id), "name": block.name, "input": arguments}


def _answered_opaque(block: Opaque, origin: Origin) -> Written:
    return opaque_block(block, PROTOCOL_ID)


def _is_refused(block: Block, answered: set[str]) -> bool:
    match block:
        case Thinking() | ToolCall() | Opaque(kind="connector_text"):
            return True
        case Opaque(kind="server_tool_use"):
            id = block.data.get("id")
            return not isinstance(id, str) or id not in answered
        case _:
            return False


# What a user or a tool said.


def _said_text(block: Text, path: str) -> Written:
    return {**_user_extra(block.extra), "type": "text", "text": block.text} if block.text.strip() else None


def _image(block: Image, path: str) -> Written:
    source = _source(block.data, block.media_type or image_type(block.data), block.url, block.extra)
    if source is None:
        raise ConfigurationError(f"{path}: give an Image data with media_type, a url, or extra={{'file_id': ...}}")
    return {**_user_extra(block.extra), "type": "image", "source": source}


def _document(block: Document, path: str) -> Written:
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


def _said_opaque(block: Opaque, path: str) -> Written:
    return opaque_block(block, PROTOCOL_ID)


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


class _Writer(TurnWriter):
    def __init__(self) -> None:
        super().__init__(
            {Text: _answered_text, Thinking: _thought, ToolCall: _called, Opaque: _answered_opaque},
            {Text: _said_text, Image: _image, Document: _document, Opaque: _said_opaque},
        )

    def result_block(self, result: ToolResult, content: list[Json]) -> WireBlock:
        written: WireBlock = {"type": "tool_result", "tool_use_id": wire_id(result.call_id)}
        if content:
            written["content"] = content
        if result.is_error:
            written["is_error"] = True
        return written

    def is_thinking(self, block: Json) -> bool:
        return isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")

    def withheld(self, message: AssistantMessage) -> Callable[[int], str | None]:
        # Before the last fallback block stands what a model wrote that then refused: thinking and calls of it are
        # not taken back.
        kinds = [block.kind if isinstance(block, Opaque) else "" for block in message.content]
        refused = len(kinds) - kinds[::-1].index("fallback") - 1 if "fallback" in kinds else 0
        ids = (block.data.get("tool_use_id") for block in message.content if isinstance(block, Opaque))
        answered = {id for id in ids if isinstance(id, str)}

        def reason(place: int) -> str | None:
            if place < refused and _is_refused(message.content[place], answered):
                return "the model that wrote it refused, and another one took over"
            return None

        return reason
