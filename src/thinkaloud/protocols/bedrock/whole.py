"""Blocks of Converse that come in one piece: those of a whole body, and starts that have content with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from thinkaloud.protocols.bedrock.blocks import (
    SERVER_TOOL,
    BlockReader,
    OpaqueReader,
    RedactedReader,
    TextReader,
    ThinkingReader,
    ToolUseReader,
)
from thinkaloud.protocols.fields import JsonObject, as_object, object_field

if TYPE_CHECKING:
    from thinkaloud.protocols.bedrock.parse import BedrockParser


def _text(parser: BedrockParser, block: JsonObject) -> BlockReader:
    reader = TextReader(parser)
    reader.take("text", block["text"], dict)
    return reader


def _cited_text(parser: BedrockParser, block: JsonObject) -> BlockReader:
    reader = TextReader(parser)
    reader.read_cited(object_field(block, "citationsContent"))
    return reader


def _thinking(parser: BedrockParser, block: JsonObject) -> BlockReader | None:
    content = object_field(block, "reasoningContent")
    readable: ThinkingReader | None = None
    if content.get("reasoningText") is not None:
        readable = ThinkingReader(parser)
        readable.read_whole(object_field(content, "reasoningText"))
    if content.get("redactedContent") is None:
        return readable
    if readable is not None and readable.open is not None:  # both in one: they are two blocks
        readable.settle(complete=True)
        parser.builder.close(readable.open)
    redacted = RedactedReader(parser)
    redacted.take("reasoningContent", content, dict)
    return redacted


def _tool_use(parser: BedrockParser, block: JsonObject) -> BlockReader | None:
    use = object_field(block, "toolUse")
    return None if use.get("type") == SERVER_TOOL else ToolUseReader(parser, use)


# Readers of whole blocks by their key; each gives None for one that is not modelled.
WHOLE: dict[str, Callable[[BedrockParser, JsonObject], BlockReader | None]] = {
    "text": _text,
    "citationsContent": _cited_text,
    "reasoningContent": _thinking,
    "toolUse": _tool_use,
}


def begun_readably(parser: BedrockParser, key: str, value: object) -> BlockReader | None:
    """The reader of a readable block's start; None where it says nothing that its deltas do not."""
    if value == "" or (isinstance(value, dict) and all(item in (None, "") for item in value.values())):
        return None
    if key == "text" and isinstance(value, str):
        return _text(parser, {key: value})
    reader: BlockReader | None = None
    if key == "citationsContent":
        reader = _cited_text(parser, {key: value})
    elif key == "reasoningContent":
        content = as_object(value, key)
        reader = _thinking(parser, {key: content})
        if reader is None and content.keys() & {"text", "signature"}:
            reader = ThinkingReader(parser)
            reader.take(key, content, dict)
    return reader or OpaqueReader(parser, key, value if isinstance(value, dict) else {"start": value})
