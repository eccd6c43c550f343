"""Server-sent events for browsers: one line of JSON, a bare line feed as line end, a blank line after each event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thinkaloud import jsontext

KEEP_ALIVE = b": keep-alive\n\n"
"""A comment: every reader passes over it, and no proxy finds the connection idle."""

DONE = b"data: [DONE]\n\n"

HEADERS: Mapping[str, str] = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",  # no-transform: middleboxes must not compress, which would hold it back
    "x-accel-buffering": "no",  # nginx, and those that copy it
}
"""What a response of server-sent events says of itself."""


def frame(data: Mapping[str, Any], *, event: str | None = None, id: int | None = None) -> bytes:
    """One event. Pure ASCII, so that half a surrogate pair passes and joins its mate in the browser.

    Raises ValueError for what JSON cannot hold.
    """
    lines = [f"data: {jsontext.dumps(data)}\n\n"]
    if event is not None:
        lines.insert(0, f"event: {event}\n")
    if id is not None:
        lines.insert(0, f"id: {id}\n")
    return "".join(lines).encode("ascii")


def present(**fields: Any) -> dict[str, Any]:
    """The fields that have a value: these protocols take no null where a field is optional."""
    return {name: value for name, value in fields.items() if value is not None}
