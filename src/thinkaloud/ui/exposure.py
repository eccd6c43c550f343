"""What a browser learns of a block's opaque values: an address and a form by default, the values only when asked for.

{"v": 1, "at": [step, block], "form": "text"}                                              always
{..., "origin": [protocol, provider, model], "signature": "...", "extra": {...}}           with include_signatures
"""

from __future__ import annotations

from typing import Any

from attrs import evolve

from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.jsontext import Json
from thinkaloud.messages import Origin
from thinkaloud.ui.framing import present

VERSION = 1


def form_of(block: Thinking) -> str | None:
    """How a thinking block may be shown; None for one of which there is nothing to show."""
    if not block.complete:
        return "incomplete"
    if block.redacted:
        return "redacted"
    if block.withheld:
        return "withheld"
    return "text" if block.text else None


def told(block: AssistantBlock, at: tuple[int, int], origin: Origin, *, include_signatures: bool) -> dict[str, Json]:
    """What goes with a block to the browser."""
    form = form_of(block) if isinstance(block, Thinking) else None
    told: dict[str, Json] = {"v": VERSION, "at": list(at), **present(form=form)}
    values = values_of(block) if include_signatures else {}
    return {**told, "origin": origin_values(origin), **values} if values else told


def origin_values(origin: Origin) -> list[Json]:
    """An origin as it is exposed."""
    return [origin.protocol, origin.provider, origin.model]


def values_of(block: AssistantBlock) -> dict[str, Json]:
    """The opaque values of a whole block, for those who let them out. A cut block has none that could be used."""
    if isinstance(block, Opaque) or not block.complete:
        return {}
    redacted = block.redacted_data if isinstance(block, Thinking) else None
    return present(signature=block.signature, redacted=redacted, extra=dict(block.extra) or None)


def restored(block: Any, values: Any) -> Any:
    """A block with the values that were exposed; values that have another shape are not taken."""
    if not isinstance(values, dict) or values.get("v") != VERSION:
        return block
    signature, extra = values.get("signature"), values.get("extra")
    if isinstance(signature, str) and signature:
        block = evolve(block, signature=signature)
    if isinstance(block, Thinking) and isinstance(values.get("redacted"), str):
        block = evolve(block, redacted_data=values["redacted"])
    if isinstance(block, (Text, Thinking, ToolCall)) and isinstance(extra, dict):
        block = evolve(block, extra=extra)
    return block


def restored_origin(values: Any) -> Origin | None:
    """The origin that goes with exposed values; None where there is none."""
    parts = values.get("origin") if isinstance(values, dict) and values.get("v") == VERSION else None
    if isinstance(parts, list) and len(parts) == 3 and all(isinstance(part, str) for part in parts):
        return Origin(*parts)
    return None
