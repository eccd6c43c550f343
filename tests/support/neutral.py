"""Our messages in the neutral shape of the oracle (`expected.json`), and in the shape that the walkers collect.

What the oracle counts is the provider's own; `Usage` has one meaning on all wires. The mapping between the two is
`provider_usage` of a wire's row (`support.wires`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from support.walkers import Collected, first_arrivals
from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import MalformedToolArguments
from thinkaloud.messages import AssistantMessage

Neutral = dict[str, Any]


def known(**entries: Any) -> Neutral:
    """A neutral object: absent means null."""
    return {name: value for name, value in entries.items() if value is not None and value != []}


def details(block: Thinking | ToolCall) -> list[Mapping[str, Any]]:
    """The gateway's own reasoning entries that a block keeps for its replay."""
    found: Any = block.extra.get("reasoning_details") or ()
    return list(found)


def neutral_block(block: AssistantBlock) -> Neutral:
    """One block in the neutral shape."""
    match block:
        case Text():
            return known(
                type="text", text=block.text, signature=block.signature, citations=len(block.citations) or None
            )
        case Thinking():
            # Where a gateway's entries carry the opaque strings, the oracle shows them there, and only there.
            inside = {detail.get(name) for detail in details(block) for name in ("signature", "data")}
            return known(
                type="thinking",
                text=block.text,
                signature=None if block.signature in inside else block.signature,
                redacted_data=None if block.redacted_data in inside else block.redacted_data,
                field=block.extra.get("field"),
                details=[known(**detail) for detail in details(block)],
            )
        case ToolCall():
            return known(type="tool_call", id=block.id, name=block.name, **neutral_arguments(block))
        case Opaque():
            data = block.data
            return known(
                type="other",
                kind=block.kind,
                **({"id": data.get("id"), "name": data.get("name"), "arguments": data.get("input")})
                if "input" in data
                else {},
            )


def neutral_arguments(call: ToolCall) -> Neutral:
    """The arguments of a call, raw where the call was cut off or they are no JSON object."""
    if not call.complete:
        return {"arguments_raw": call.arguments_json, "incomplete": True}
    try:
        return {"arguments": call.arguments}
    except MalformedToolArguments as error:
        return {"arguments_raw": error.raw}


def blocks_in_order(message: AssistantMessage) -> list[Neutral]:
    """The blocks one by one: for wires that tell where a block begins and ends."""
    return [neutral_block(block) for block in message.content]


def kinds_in_order(message: AssistantMessage) -> list[Neutral]:
    """Thinking and text each joined to one entry, where it first arrived: for wires without blocks.

    Opaque blocks are left out: the oracle of such a wire does not know them.
    """
    joined: dict[str, Neutral] = {}
    entries: list[Neutral] = []
    for block in message.content:
        if isinstance(block, Opaque):
            continue
        entry = neutral_block(block)
        kind = entry["type"]
        if kind == "tool_call" or kind not in joined:
            entries.append(entry)
            joined[kind] = entry
        else:
            first = joined[kind]
            first["text"] += entry["text"]
            for name in ("field", "signature"):
                if name in entry:
                    first.setdefault(name, entry[name])
            if "details" in entry:
                first["details"] = [*first.get("details", ()), *entry["details"]]
    return entries


Content = Callable[[AssistantMessage], list[Neutral]]


def opaque_strings(blocks: Iterable[AssistantBlock]) -> list[str]:
    """Every string that must go back unchanged, in order."""
    found: list[str] = []
    for block in blocks:
        match block:
            case Thinking() if details(block):
                found += [
                    detail[name] for detail in details(block) for name in ("signature", "data") if detail.get(name)
                ]
            case Thinking():
                found += [opaque for opaque in (block.signature, block.redacted_data) if opaque is not None]
            case ToolCall(signature=str() as signature) | Text(signature=str() as signature):
                found.append(signature)
            case _:
                pass
    return found


def name_of(block: AssistantBlock) -> str:
    """What an order of blocks calls it."""
    match block:
        case Thinking():
            return "thinking"
        case Text():
            return "text"
        case ToolCall():
            return block.id
        case Opaque():
            return block.kind


def collected(message: AssistantMessage | None) -> Collected:
    """A message as the walkers collect it."""
    blocks = message.content if message is not None else ()
    return Collected(
        thinking="".join(block.text for block in blocks if isinstance(block, Thinking)),
        text="".join(block.text for block in blocks if isinstance(block, Text)),
        calls=tuple((block.id, block.name, block.arguments_json) for block in blocks if isinstance(block, ToolCall)),
        opaque=tuple(opaque_strings(blocks)),
        others=tuple(block.kind for block in blocks if isinstance(block, Opaque)),
        order=first_arrivals(name_of(block) for block in blocks),
    )
