"""The keys that a user gives: one for what is asked first, or one for each provider by its id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from thinkaloud.auth.api_key import ApiKey, Key
from thinkaloud.auth.secret import Secret, covered
from thinkaloud.errors import ConfigurationError
from thinkaloud.models.providers import Provider, provider_id

Covered = Secret | Callable[[], Any]


def covered_keys(given: Key | Mapping[str, Key]) -> Covered | dict[str, Covered]:
    """As `covered`, for one key or one for each provider."""
    if isinstance(given, Mapping):
        return {name: covered(key) for name, key in given.items()}
    return covered(given)


class Keys:
    """Chooses the key for a request, so that none goes to a provider that it is not for."""

    def __init__(self, given: Covered | dict[str, Covered] | None) -> None:
        self._one = ApiKey(given) if given is not None and not isinstance(given, dict) else None
        self._each: dict[str, ApiKey] = {}
        for name, key in given.items() if isinstance(given, dict) else ():
            if not isinstance(name, str):
                raise ConfigurationError("api_key must be a key, or a mapping of keys by the ids of their providers")
            self._each[provider_id(name)] = ApiKey(key)

    def __bool__(self) -> bool:
        return self._one is not None or bool(self._each)

    def of(self, provider: Provider, *, first: bool = True) -> ApiKey | None:
        """The key for a provider; None where the environment has to be asked.

        first: whether it is the provider that a call asks first, or its address. A key for one is not sent elsewhere.
        """
        return self._each.get(provider.id) or (self._one if first else None)
