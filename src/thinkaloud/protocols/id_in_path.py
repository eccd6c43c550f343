"""A model's id as part of an address: it stays one piece of the path, whatever is in it."""

from __future__ import annotations

from urllib.parse import quote

from thinkaloud.errors import ConfigurationError, shown


def quoted(id: str, *, safe: str = "") -> str:
    """An id for a path, with all that could lead elsewhere in escapes, but for the characters in `safe`.

    Raises ConfigurationError for an id that HTTP libraries would take as a way to another path, and for one that is no
    text.
    """
    if any(step in (".", "..") for step in (id.split("/") if "/" in safe else [id])):
        raise ConfigurationError(f"model={shown(id)} cannot be part of an address: give an id without '.' and '..'")
    try:
        return quote(id, safe=safe)
    except UnicodeEncodeError:
        raise ConfigurationError(f"model={shown(id)} has characters that cannot be part of an address") from None
