"""API keys: from an argument, a callable or the environment, sent in the header that the provider wants."""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Mapping

from thinkaloud.errors import ConfigurationError, MissingCredentials
from thinkaloud.models.providers import Provider
from thinkaloud.wire.http import HttpRequest

Key = str | Callable[[], str] | Callable[[], Awaitable[str]]


class Credentials(dict[str, str]):
    """Headers that hold a secret: they show their names alone, in tracebacks too."""

    def __repr__(self) -> str:
        return f"Credentials({', '.join(self)})"

    __str__ = __repr__


class NoAuth:
    """For servers that ask for no key."""

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """No headers."""
        return {}


class ApiKey:
    """A key, or a callable that gives one, in the header `header` ("bearer" means Authorization)."""

    __slots__ = ("_header", "_key")

    def __init__(self, key: Key, header: str = "bearer") -> None:
        self._key = key if callable(key) else _checked(key)
        self._header = header

    def __repr__(self) -> str:
        return f"ApiKey(header={self._header!r}, key=***)"

    def __reduce__(self) -> str:
        raise TypeError("an API key cannot be pickled")

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """The one header that holds the key."""
        key = self._key
        if not isinstance(key, str):
            given = key()
            key = _checked(await given if inspect.isawaitable(given) else given)
        return Credentials({"authorization": f"Bearer {key}"} if self._header == "bearer" else {self._header: key})

    def in_header(self, header: str) -> ApiKey:
        """The same key, sent in another header."""
        return ApiKey(self._key, header)


def find_auth(provider: Provider, key: ApiKey | None) -> ApiKey | NoAuth:
    """Choose the credentials for a provider: the given key, else the environment.

    Raises MissingCredentials, which names the variables that were looked at.
    """
    if key is not None:
        return key.in_header(provider.key_header)
    for variable in provider.key_variables:
        if found := os.environ.get(variable, "").strip():
            return ApiKey(found, provider.key_header)
    if not provider.key_required:
        return NoAuth()
    wanted = " or ".join(provider.key_variables)
    hint = f"set the environment variable {wanted}, or use Client(api_key=...)" if wanted else "use Client(api_key=...)"
    raise MissingCredentials(f"no key for provider {provider.id!r}: {hint}", variables=provider.key_variables)


def _checked(key: object) -> str:
    if not isinstance(key, str):
        raise ConfigurationError(f"api_key must be a string or give one, not {type(key).__name__}")
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError("api_key is empty or holds characters that no HTTP header may hold")
    return key
