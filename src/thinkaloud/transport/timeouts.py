"""How long each phase of a request may take."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen

from thinkaloud.checked import real_number


def _seconds(_timeouts: Any, attribute: Attribute[Any], value: float | None) -> None:
    real_number(f"Timeouts.{attribute.name}", value, "seconds", or_none=True)


@frozen(kw_only=True)
class Timeouts:
    """Time limits in seconds; None: no limit. Each raises DeadlineExceeded with its name as `kind`.

    connect: until the connection stands, TLS included.
    write: until a piece of the request is sent.
    pool: waiting for a free connection.
    first_event: from sending the request to the first event of the answer, keep-alive comments and early HTTP answers
        (1xx) not counted. Each time that a request is sent again it starts anew.
    silence: between two pieces of the answer, keep-alive comments counted.
    content_silence: between two events, keep-alive comments not counted; off by default, because models may think out
        of sight for long.
    total: the whole call, retries and their waits included; off by default. Where the wait for another try would not
        fit in, the last error is raised at once instead.

    Under `async with` the limits on silence may run out up to 2 % later, as they are not set anew for every piece.
    The defaults let a model think out of sight for minutes.
    """

    connect: float | None = field(default=10.0, validator=_seconds)
    write: float | None = field(default=60.0, validator=_seconds)
    pool: float | None = field(default=60.0, validator=_seconds)
    first_event: float | None = field(default=1800.0, validator=_seconds)
    silence: float | None = field(default=600.0, validator=_seconds)
    content_silence: float | None = field(default=None, validator=_seconds)
    total: float | None = field(default=None, validator=_seconds)
