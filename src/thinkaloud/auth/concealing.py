"""Takes the credentials of a call out of its failures: providers and gateways quote what they got, in any form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from thinkaloud.auth.credentials import Credentials
from thinkaloud.auth.secret import Secret
from thinkaloud.errors import ConfigurationError, ProviderError, ThinkaloudError, shown
from thinkaloud.wire.hiding import HIDDEN, names_secret

_SHORTEST = 8  # characters; what is shorter is no secret, and stands in many texts
_SCHEMES = frozenset({"bearer", "basic", "aws4-hmac-sha256"})
_FRAMING = frozenset({"content-length", "transfer-encoding", "connection"})
_KEPT = 32  # credentials of a call that are remembered; each refresh brings another one


class Concealer:
    """Remembers what the requests of a call were let in with, and hides it in errors."""

    def __init__(self) -> None:
        self._known: list[Secret] = []

    def __repr__(self) -> str:
        return "Concealer()"

    def checked(self, credentials: Mapping[str, str]) -> Credentials:
        """Headers of credentials, if HTTP can carry them, which are hidden from now on.

        Raises ConfigurationError, which names the header and does not show its value.
        """
        if not isinstance(credentials, Mapping):
            raise ConfigurationError(f"auth must give headers as a mapping, not {type(credentials).__name__}")
        held = Credentials(credentials)
        for name in held:
            if isinstance(name, str) and name.lower() in _FRAMING:
                raise ConfigurationError(f"auth gives {name}, which only the HTTP library can set")
            if not (isinstance(name, str) and name.isascii() and name.isprintable() and _is_value(held[name])):
                raise ConfigurationError(f"auth gives a value for {shown(name)} that no HTTP header may hold")
        self.note(held)
        return held

    def note(self, headers: Mapping[str, str], *, all_of_them: bool = True) -> None:
        """Hide the values of these headers from now on, or only of those whose names tell of a secret."""
        for name in headers:
            if all_of_them or names_secret(name):
                self._known += [Secret(word) for word in headers[name].split() if self._is_new(word)]
        del self._known[:-_KEPT]

    def conceal(self, error: ThinkaloudError) -> None:
        """Take the credentials out of all that an error says, and out of the frames that it came through so far."""
        error.__traceback__ = None  # they hold what came and what was sent, as it is
        error.args = tuple(self._without(part) for part in error.args)
        if isinstance(error, ProviderError):
            error.body = self._without(error.body)
            error.code = self._without(error.code)
            error.request_id = self._without(error.request_id)

    def _is_new(self, word: str) -> bool:
        secret = len(word) >= _SHORTEST and word.lower() not in _SCHEMES
        return secret and all(known.reveal() != word for known in self._known)

    def _without(self, value: Any) -> Any:
        if isinstance(value, str):
            for secret in self._known:
                value = _cut_out(value, secret)
            return value
        if isinstance(value, list):
            return [self._without(item) for item in value]
        if isinstance(value, dict):
            return {self._without(name): self._without(item) for name, item in value.items()}
        return value


def _is_value(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable()


def _cut_out(text: str, secret: Secret) -> str:
    text = text.replace(secret.reveal(), HIDDEN).replace(quote(secret.reveal(), safe=""), HIDDEN)
    # A text that was shortened may end within the credential.
    for length in range(min(len(secret.reveal()) - 1, len(text)), _SHORTEST - 1, -1):
        for end in ("", "…", "'"):
            if text.endswith(secret.reveal()[:length] + end):
                return text[: len(text) - length - len(end)] + HIDDEN + end
    return text
