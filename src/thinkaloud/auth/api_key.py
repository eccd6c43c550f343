"""API keys: from an argument or a callable, sent in the header that the provider wants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from thinkaloud.auth.asking import ask_for_secret
from thinkaloud.auth.credentials import Credentials
from thinkaloud.auth.secret import Secret, covered
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

    def __init__(self, key: Key | Secret, header: str = "bearer") -> None:
        given = covered(key)
        del key
        self._header = header
        self._key = given.checked("api_key") if isinstance(given, Secret) else given

    def __repr__(self) -> str:
        return f"ApiKey(header={self._header!r}, key=***)"

    def __reduce__(self) -> str:
        raise TypeError("an API key cannot be pickled")

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """The one header that holds the key. Raises AuthenticationError where a callable that gives it fails."""
        key = self._key
        if not isinstance(key, Secret):
            key = (await ask_for_secret(key, "api_key")).checked("api_key")
        if self._header == "bearer":
            return Credentials({"authorization": f"Bearer {key.reveal()}"})
        return Credentials({self._header: key.reveal()})

    def in_header(self, header: str) -> ApiKey:
        """The same key, sent in another header."""
        return ApiKey(self._key, header)
