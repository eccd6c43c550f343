"""How long each phase of a request may take."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen

from thinkaloud.errors import ConfigurationError


def _seconds(timeouts: Any, attribute: Attribute[Any], value: float | None) -> None:
    if value is not None and (not isinstance(value, (int, float)) or value <= 0):
        raise ConfigurationError(f"Timeouts({attribute.name}={value!r}) must be seconds above 0, or None for no limit")


@frozen(kw_only=True)
class Timeouts:
    """Time limits in seconds; None: no limit. Each raises DeadlineExceeded with its name as `kind`.

    connect: until the connection stands, TLS included.
    write: until a piece of the request is sent.
    pool: waiting for a free connection.
    silence: between two pieces of the answer, keep-alive comments counted. Long enough by default for a model that
        thinks out of sight.
    """

    connect: float | None = field(default=10.0, validator=_seconds)
    write: float | None = field(default=60.0, validator=_seconds)
    pool: float | None = field(default=60.0, validator=_seconds)
    silence: float | None = field(default=600.0, validator=_seconds)
