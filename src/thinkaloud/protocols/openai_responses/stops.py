"""How a response ends: what its status and its reasons mean, and what is kept beside them."""

from __future__ import annotations

from thinkaloud.jsontext import Json
from thinkaloud.messages import StopReason
from thinkaloud.protocols.fields import JsonObject, kept_field, object_field, text_field
from thinkaloud.protocols.openai_responses.places import word
from thinkaloud.protocols.tolerant import Tolerated

# The status of a whole response that has an end, where nothing more exact is told.
_STATUSES = {"completed": StopReason.END}
FAILED = frozenset({"failed", "cancelled"})
UNFINISHED = frozenset({"queued", "in_progress"})

# `incomplete_details.reason`.
_REASONS = {
    "max_output_tokens": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "content_filter": StopReason.CONTENT_FILTER,
}
REFUSABLE = frozenset({StopReason.END, StopReason.CONTENT_FILTER, StopReason.UNKNOWN})

# What becomes `stop_detail` under its own name, where it is told.
_DETAILS = ("incomplete_details", "content_filters", "moderation")


def is_failed(response: JsonObject) -> bool:
    """Whether a response is a failure."""
    return bool(response.get("error")) or word(response.get("status")) in FAILED


def stop_of(response: JsonObject, ending: str, tolerated: Tolerated) -> tuple[StopReason, str]:
    """Why a response ended, and the provider's own word for it.

    ending: the event's word for the end. tolerated: reads a field, and passes over one of a wrong type.
    """
    status: str = tolerated(text_field, response, "status") or ending
    details: JsonObject = tolerated(object_field, response, "incomplete_details") or {}
    reason: str = tolerated(text_field, details, "reason") or ""
    raw = reason or (ending if status in UNFINISHED else status)
    return (_REASONS if reason else _STATUSES).get(raw, StopReason.UNKNOWN), raw


def details_of(response: JsonObject, tolerated: Tolerated) -> dict[str, Json]:
    """What is told of the end beside its reason."""
    found: dict[str, Json] = {}
    for name in _DETAILS:
        value = response.get(name)
        if value and not (name == "content_filters" and not _is_blocked(value)):
            kept_value: Json = tolerated(kept_field, response, name)
            if kept_value is not None:
                found[name] = kept_value
    return found


def _is_blocked(filters: object) -> bool:
    """Whether one of Azure's content filters has stopped something."""
    return isinstance(filters, list) and any(isinstance(item, dict) and item.get("blocked") for item in filters)
