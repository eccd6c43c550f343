"""What every request needs before it is sent: strings that can be encoded, and pictures that name their type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thinkaloud.jsontext import joined_surrogates

# How the base64 text of an image begins.
_IMAGE_STARTS = {"iVBORw0KGgo": "image/png", "/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}


def sendable(value: Any) -> Any:
    """A copy of a JSON value in which every string can be encoded: half a surrogate pair becomes U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else joined_surrogates(value)
    if isinstance(value, Mapping):
        return {sendable(name): sendable(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [sendable(item) for item in value]
    return value


def image_type(data: str | None) -> str | None:
    """The media type of an image by the start of its base64 text; None where it is not known."""
    return next((media_type for start, media_type in _IMAGE_STARTS.items() if data and data.startswith(start)), None)
