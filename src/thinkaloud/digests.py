"""Digests that tell whether a stored message still is what the model gave, and which block is not.

Version 2, as in "v2:0-9f86d081884c7d65.3-60303ae22b998861", tells the place of each signed block and a digest of what
its signature covers. Version 1 was one digest over all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from attrs import frozen

from thinkaloud.content import Block, Text, Thinking, ToolCall
from thinkaloud.jsontext import dumps

if TYPE_CHECKING:
    from thinkaloud.messages import AssistantMessage

_VERSION = "v2"
_SIZE = 16  # hexadecimal digits: enough to tell edits, which are no attack


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


def _signed(blocks: Iterable[Block]) -> Iterable[tuple[int, list[Any]]]:
    for place, block in enumerate(blocks):
        if (covered := _covered(block)) is not None:
            yield place, covered


def content_digest(blocks: Iterable[Block]) -> str | None:
    """Digest of the signed blocks and of the places they stand in; None where nothing is signed.

    Blocks without a signature do not count: they may be edited, and added or dropped after the last signed one.
    """
    told = [f"{place}-{sha256(dumps(covered).encode()).hexdigest()[:_SIZE]}" for place, covered in _signed(blocks)]
    return f"{_VERSION}:{'.'.join(told)}" if told else None


@frozen
class Edit:
    """Signed blocks of a message are not what its digest was made of.

    place: of the first block that is not as it was, or stands where another one was; None where that cannot be told.
    """

    place: int | None


def edit_of(message: AssistantMessage) -> Edit | None:
    """What was edited, dropped or moved of the signed blocks of a message; None for nothing, and for a digest of a
    version that is not known here.
    """
    version, _, told = (message.content_digest or "").partition(":")
    if version == "v1":
        return None if told == _first_version(message.content) else Edit(None)
    if version != _VERSION:
        return None
    now = (content_digest(message.content) or "").partition(":")[2]
    if told == now:
        return None
    places = [
        int(number)
        for number in (entry.partition("-")[0] for entry in {*told.split(".")} ^ {*now.split(".")})
        if number.isdecimal() and len(number) < _SIZE
    ]
    place = min(places, default=len(message.content))
    return Edit(place if place < len(message.content) else None)


def _first_version(blocks: Iterable[Block]) -> str | None:
    signed = [[place, *covered] for place, covered in _signed(blocks)]
    return sha256(dumps(signed).encode()).hexdigest() if signed else None
