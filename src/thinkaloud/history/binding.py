"""A digest of all that stands before an answer: tells whether thinking still follows what it was made for.

Newer Claude models bind thinking to the system text, the tools and the earlier messages. Every answer keeps the digest
of its own prefix, over a neutral JSON of this library that no wire, no stored form and no later field has a part in.
A digest of another version is not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import frozen

from thinkaloud.content import Block, Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.jsontext import dumps
from thinkaloud.messages import AssistantMessage, Message, ToolResult
from thinkaloud.tools import ServerTool, Tool

_VERSION = "p1"


@frozen
class Prefixes:
    """The prefixes of a conversation.

    last: digest of all of it, for the answer to come.
    stale: places of the answers whose prefix is no longer what it was.
    """

    last: str
    stale: tuple[int, ...]


def prefixes(system: str | None, tools: Iterable[Tool | ServerTool], messages: Sequence[Message]) -> Prefixes:
    """Digest a conversation once, from its start to its end. Linear in its size."""
    from hashlib import sha256

    hasher = sha256()

    def add(value: Any) -> None:
        hasher.update(dumps(value).encode())
        hasher.update(b"\n")

    def digest() -> str:
        return f"{_VERSION}:{hasher.copy().hexdigest()}"

    add(["system", system or None])
    add(["tools", [_tool(tool) for tool in tools]])
    stale: list[int] = []
    for place, message in enumerate(messages):
        told = message.prefix_digest if isinstance(message, AssistantMessage) else None
        if told is not None and told.startswith(f"{_VERSION}:") and told != digest():
            stale.append(place)
        add(_message(message))
    return Prefixes(digest(), tuple(stale))


def is_bound(message: Message) -> bool:
    """Whether an answer holds thinking that a server may check against its prefix."""
    return isinstance(message, AssistantMessage) and any(
        block.complete and (block.signature is not None or block.redacted_data is not None)
        for block in message.thinking_blocks
    )


def _tool(tool: Tool | ServerTool) -> list[Any]:
    if isinstance(tool, ServerTool):
        return ["server", dict(tool.data)]
    return ["tool", tool.name, tool.description, tool.schema]


def _message(message: Message) -> list[Any]:
    blocks = list(_blocks(message.content))
    match message:
        case AssistantMessage():
            return ["assistant", blocks]
        case ToolResult():
            return ["result", message.call_id, message.is_error, blocks]
        case _:
            return ["user", blocks]


def _blocks(blocks: Iterable[Block]) -> Iterator[list[Any]]:
    for block in blocks:
        match block:
            case Text():
                yield ["text", block.text, block.signature]
            case Thinking():
                yield ["thinking", block.text, block.signature, block.redacted_data]
            case ToolCall():
                yield ["call", block.id, block.name, block.arguments_json, block.signature]
            case Image():
                yield ["image", block.media_type, block.data, block.url]
            case Document():
                yield ["document", block.name, block.media_type, block.data, block.text, block.url]
            case Opaque():
                yield ["opaque", block.protocol, block.kind, dict(block.data)]
