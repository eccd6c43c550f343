"""What a kind of credentials is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from thinkaloud.wire.http import HttpRequest


class Auth(Protocol):
    """Yields the headers that let a request in. Asked anew before every attempt, so that tokens may be refreshed."""

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """The headers to add to this request alone. Raises MissingCredentials."""
        ...
