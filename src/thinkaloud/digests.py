"""Digests that tell whether a stored message still is what the model gave."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from thinkaloud.content import Block, Opaque, Text, Thinking, ToolCall

_VERSION = "v1"


def _entry(block: Block) -> list[Any]:
    """What a block adds to the digest: all that its signature covers, or only its kind where it has none."""
    match block:
        case Thinking():
            return ["thinking", block.text, block.signature, block.redacted_data]
        case Text(signature=str() as signature):
            return ["text", block.text, signature]
        case ToolCall(signature=str() as signature):
            return ["tool_call", block.id, block.name, block.arguments_json, signature]
        case Opaque():
            return ["opaque", block.kind]
        case _:
            return [type(block).__name__]


def _signed(block: Block) -> bool:
    match block:
        case Thinking(signature=None, redacted_data=None):
            return False
        case Thinking():
            return True
        case Text() | ToolCall():
            return block.signature is not None
        case _:
            return False


def content_digest(blocks: Iterable[Block]) -> str | None:
    """Digest of the signed blocks and of the places they stand in; None where nothing is signed."""
    blocks = tuple(blocks)
    if not any(_signed(block) for block in blocks):
        return None
    from hashlib import sha256

    text = json.dumps([_entry(block) for block in blocks], separators=(",", ":"))
    return f"{_VERSION}:{sha256(text.encode()).hexdigest()}"
