"""Digests that tell whether a stored message still is what the model gave."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from thinkaloud.content import Block, Text, Thinking, ToolCall
from thinkaloud.jsontext import dumps

if TYPE_CHECKING:
    from thinkaloud.messages import AssistantMessage

_VERSION = "v1"


def _covered(block: Block) -> list[Any] | None:
    """All that a block's signature covers; None for a block without one."""
    match block:
        case Thinking(signature=None, redacted_data=None):
            return None
        case Thinking():
            return ["thinking", block.text, block.signature, block.redacted_data]
        case Text(signature=str() as signature):
            return ["text", block.text, signature]
        case ToolCall(signature=str() as signature):
            return ["tool_call", block.id, block.name, block.arguments_json, signature]
        case _:
            return None


def content_digest(blocks: Iterable[Block]) -> str | None:
    """Digest of the signed blocks and of the places they stand in; None where nothing is signed.

    Blocks without a signature do not count: they may be edited, and added or dropped after the last signed one.
    """
    signed = [[place, *covered] for place, block in enumerate(blocks) if (covered := _covered(block)) is not None]
    if not signed:
        return None
    return f"{_VERSION}:{sha256(dumps(signed).encode()).hexdigest()}"


def is_edited(message: AssistantMessage) -> bool:
    """Whether signed blocks of a message are no longer what its digest was made of; False for a digest of a version
    that is not known here.
    """
    told = message.content_digest
    return told is not None and told.startswith(f"{_VERSION}:") and told != content_digest(message.content)
