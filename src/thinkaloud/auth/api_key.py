"""API keys: from an argument or a callable, sent in the header that the provider wants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from thinkaloud.auth.asking import ask
from thinkaloud.auth.credentials import Credentials
from thinkaloud.errors import ConfigurationError
from thinkaloud.wire.http import HttpRequest

Key = str | Callable[[], str] | Callable[[], Awaitable[str]]


class NoAuth:
    """For servers that ask for no key."""

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """No headers."""
        return {}


class ApiKey:
    """A key, or a callable that gives one, in the header `header` ("bearer" means Authorization)."""

    __slots__ = ("_header", "_key")

    def __init__(self, key: Key, header: str = "bearer") -> None:
        self._key = key if callable(key) else checked(key)
        self._header = header

    def __repr__(self) -> str:
        return f"ApiKey(header={self._header!r}, key=***)"

    def __reduce__(self) -> str:
        raise TypeError("an API key cannot be pickled")

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """The one header that holds the key."""
        key = self._key
        if not isinstance(key, str):
            key = checked(await ask(key))
        return Credentials({"authorization": f"Bearer {key}"} if self._header == "bearer" else {self._header: key})

    def in_header(self, header: str) -> ApiKey:
        """The same key, sent in another header."""
        return ApiKey(self._key, header)


def checked(key: object, name: str = "api_key") -> str:
    """A key or token as a header may hold it. Raises ConfigurationError, which does not show it."""
    if not isinstance(key, str):
        raise ConfigurationError(f"{name} must be a string or give one, not {type(key).__name__}")
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(f"{name} is empty or holds characters that no HTTP header may hold")
    return key
