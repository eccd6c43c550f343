"""A conversation as the turns of Converse: every block in its place, byte for byte, or left out with a notice.

What the service would refuse is never sent: thinking without a signature, blocks and calls that were cut off, blank
text. Stored messages are not changed.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, cast

from thinkaloud.content import Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json, joined_surrogates
from thinkaloud.messages import Message, Origin, ToolResult, UserMessage
from thinkaloud.notices import Notice
from thinkaloud.protocols.bedrock.blocks import PROTOCOL_ID
from thinkaloud.protocols.bedrock.families import Family
from thinkaloud.protocols.call_ids import plain_id
from thinkaloud.protocols.redacted import MESSAGES, payload_for
from thinkaloud.protocols.sendable import image_type
from thinkaloud.protocols.turn_writer import Turn, TurnWriter, WireBlock, Written, arguments_of, opaque_block

# Where a message may come from for its signatures to be valid here; "" is a message that the user built.
_SIGNED_HERE = ("", PROTOCOL_ID, MESSAGES)

_IMAGES = {"image/png": "png", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_DOCUMENTS = {
    "application/pdf": "pdf",
    "text/csv": "csv",
    "application/msword": "doc",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.ms-excel": "xls",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "text/html": "html",
    "text/plain": "txt",
    "text/markdown": "md",
}
_LONGEST_NAME = 200

# Fields of a document's `extra` that mean something here.
_DOCUMENT_EXTRA = ("context", "citations")

_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,", re.ASCII)

# What a model is taken to have said where results of tools may not stand beside what the user says next (seen
# accepted by Writer's models).
_NOTHING = "."


def turns(messages: Sequence[Message], family: Family) -> tuple[list[WireBlock], list[Notice]]:
    """The `messages` of a request, and a notice for each thing left out. Raises ConfigurationError."""
    writer = _Writer(family)
    written = writer.write(messages)
    _trim_prefill(written, writer.notices)
    return written, writer.notices


def wire_id(id: str) -> str:
    """A call's id in the characters and the length that the service takes: the same for a call and its result."""
    return plain_id(id, "a-zA-Z0-9_.:-")


def _trim_prefill(written: list[WireBlock], notices: list[Notice]) -> None:
    """White space at the end of an answer that the model is to go on with is refused."""
    if not written or written[-1]["role"] != "assistant":
        return
    last = cast("list[dict[str, Any]]", written[-1]["content"])[-1]
    text = last.get("text")
    if isinstance(text, str) and text != text.rstrip():
        last["text"] = text.rstrip()
        notices.append(Notice("text_trimmed", "white space at the end of the last answer is refused", "messages"))


# What a model answered. Each gives the wire's block, None to drop it silently, or the reason why it is left out.


def _is_ours(origin: Origin) -> bool:
    return origin.protocol in ("", PROTOCOL_ID)


def _answered_text(block: Text, origin: Origin) -> Written:
    if not block.text.strip() and not (block.citations and _is_ours(origin)):
        return None
    if not block.complete:
        return "the text was cut off"
    if not _is_ours(origin):
        return {"text": block.text}
    if not block.citations:
        return {**block.extra, "text": block.text}
    extra = dict(block.extra)
    content = extra.pop("content", None) or [{"text": block.text}]
    return {**extra, "citationsContent": {"content": content, "citations": [dict(item) for item in block.citations]}}


def _thought(block: Thinking, origin: Origin) -> Written:
    if not block.complete:
        return "the thinking was cut off"
    if origin.protocol not in _SIGNED_HERE:
        return "thinking of another protocol cannot be verified here"
    if block.redacted_data is not None:
        return {"reasoningContent": {"redactedContent": payload_for(PROTOCOL_ID, block.redacted_data, origin.protocol)}}
    if not block.signature:
        return "thinking without a signature is refused"
    extra = {name: value for name, value in block.extra.items() if name != "text"} if _is_ours(origin) else {}
    return {"reasoningContent": {"reasoningText": {**extra, "text": block.text, "signature": block.signature}}}


def _called(block: ToolCall, origin: Origin) -> Written:
    arguments = arguments_of(block)
    if isinstance(arguments, str):
        return arguments
    extra = block.extra if _is_ours(origin) else {}
    return {"toolUse": {**extra, "toolUseId": wire_id(block.id), "name": block.name, "input": arguments}}


def _answered_opaque(block: Opaque, origin: Origin) -> Written:
    return opaque_block(block, PROTOCOL_ID)


# What a user or a tool said.


def _said_text(block: Text, path: str) -> Written:
    return {"text": block.text} if block.text.strip() else None


def _image(block: Image, path: str) -> Written:
    data, media_type = _inline(block.data, block.media_type, block.url)
    source = _source(data, block.url, block.extra.get("bucketOwner"))
    format = _IMAGES.get((media_type or image_type(data) or "").lower()) or block.extra.get("format")
    if source is None or not format:
        raise ConfigurationError(
            f"{path}: give an Image data with the media_type of a PNG, JPEG, GIF or WebP, or an s3:// url with "
            "extra={'format': 'png'}; the service fetches no other urls"
        )
    return {"image": {"format": format, "source": source}}


def _document_source(block: Document, path: str) -> tuple[WireBlock, str]:
    """The source and the format of a document."""
    if block.text is not None:
        return {"bytes": b64encode(joined_surrogates(block.text).encode()).decode("ascii")}, "txt"
    content = block.extra.get("content")
    if isinstance(content, list):
        return {"content": content}, "txt"
    data, media_type = _inline(block.data, block.media_type, block.url)
    source = _source(data, block.url, block.extra.get("bucketOwner"))
    format = _DOCUMENTS.get((media_type or "application/pdf").lower()) or block.extra.get("format")
    if source is None or not isinstance(format, str):
        kinds = ", ".join(sorted(set(_DOCUMENTS.values())))
        raise ConfigurationError(
            f"{path}: give a Document text, data with the media_type of one of {kinds}, or an s3:// url; "
            "the service fetches no other urls"
        )
    return source, format


def _said_opaque(block: Opaque, path: str) -> Written:
    return opaque_block(block, PROTOCOL_ID)


def _inline(data: str | None, media_type: str | None, url: str | None) -> tuple[str | None, str | None]:
    """Data and media type, out of a data URL where they stand in one."""
    if data is None and url is not None and (inline := _DATA_URL.match(url)):
        return url[inline.end() :], media_type or inline[1]
    return data, media_type


def _source(data: str | None, url: str | None, owner: Json) -> WireBlock | None:
    if data is not None:
        return {"bytes": data}
    if url is not None and url.startswith("s3://"):
        return {"s3Location": {"uri": url, **({"bucketOwner": owner} if owner else {})}}
    return None


class _Writer(TurnWriter):
    def __init__(self, family: Family) -> None:
        super().__init__(
            {Text: _answered_text, Thinking: _thought, ToolCall: _called, Opaque: _answered_opaque},
            {Text: _said_text, Image: _image, Document: self._document, Opaque: _said_opaque},
        )
        self._family = family
        self._names: dict[str, int] = {}  # with the number that each was given last

    def user(self, message: UserMessage, path: str) -> None:
        """Write what a user says, apart from results of tools where these cannot stand beside it."""
        apart = self._family.results_alone or (
            self._family.claude and any(isinstance(block, Document) for block in message.content)
        )
        if apart and self.turns and self.turns[-1].results:
            self.turns.append(Turn("assistant", blocks=[{"text": _NOTHING}]))
            self.notices.append(
                Notice("turn_inserted", "this model takes results of tools only apart from what follows", path)
            )
        super().user(message, path)

    def result_block(self, result: ToolResult, content: list[Json]) -> WireBlock:
        written: WireBlock = {"toolUseId": wire_id(result.call_id), "content": content}
        if result.is_error and self._family.status:
            written["status"] = "error"
        return {"toolResult": written}

    def _document(self, block: Document, path: str) -> Written:
        source, format = _document_source(block, path)
        extra = {name: block.extra[name] for name in _DOCUMENT_EXTRA if name in block.extra}
        return {"document": {**extra, "format": format, "name": self._name(block.name), "source": source}}

    def _name(self, name: str | None) -> str:
        """A document's name in the characters that are taken, and another one for each."""
        plain = re.sub(r"\s+", " ", re.sub(r"[^a-zA-Z0-9\s()\[\]-]", " ", name or "")).strip()
        plain = plain[: _LONGEST_NAME - 5] or "document"
        number, own = self._names.get(plain, 1), plain
        while own in self._names:
            number += 1
            own = f"{plain} {number}"
        self._names[plain] = number
        self._names.setdefault(own, 1)
        return own
