"""What a kind of credentials is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from thinkaloud.errors import ConfigurationError
from thinkaloud.wire.http import HttpRequest


class Auth(Protocol):
    """Yields the headers that let a request in. Asked anew before every attempt, so that tokens may be refreshed."""

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """The headers to add to this request alone. Raises MissingCredentials."""
        ...


def parts_of(auth: Auth) -> Mapping[str, str]:
    """What credentials know of their provider's address, such as the region: they tell it by a method `parts`."""
    tell: Callable[[], Mapping[str, str]] | None = getattr(auth, "parts", None)
    return {} if tell is None else tell()


def checked_auth(auth: Auth | None, key: object) -> Auth | None:
    """The `auth` of a client, if it can be one. Raises ConfigurationError, also where it leaves nothing to a key."""
    if auth is None:
        return None
    if isinstance(auth, type) or not callable(getattr(auth, "headers", None)):
        name = auth.__name__ if isinstance(auth, type) else type(auth).__name__
        raise ConfigurationError(f"auth must be an object such as AwsAuth() or BearerAuth(...), not {name}")
    if key is not None and getattr(auth, "kinds", None) is None:
        raise ConfigurationError(f"give api_key or auth: {type(auth).__name__} is for every provider")
    return auth
