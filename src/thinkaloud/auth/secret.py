"""A key or token that shows itself to nobody: not in a repr, a pickle, a log or the locals of a traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from thinkaloud.errors import ConfigurationError


class Secret:
    """Holds a text that only `reveal()` gives."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return "***"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key or token cannot be pickled")

    def reveal(self) -> str:
        """The text itself, for the one header that it goes into."""
        assert isinstance(self._value, str)
        return self._value

    def checked(self, name: str) -> Secret:
        """The text as a header may hold it. Raises ConfigurationError, which does not show it."""
        if not isinstance(self._value, str):
            raise ConfigurationError(f"{name} must be a string or give one, not {type(self._value).__name__}")
        if not _fits_a_header(self._value.strip()):
            raise ConfigurationError(f"{name} is empty or holds characters that no HTTP header may hold")
        return Secret(self._value.strip())


def covered(key: object) -> Secret | Callable[[], Any]:
    """A callable that gives a key as it is, and the key itself as a Secret.

    For the first line of a function that is handed a key, which then forgets the key itself: what a frame holds may be
    shown when something fails.
    """
    if isinstance(key, Secret):
        return key
    return key if callable(key) else Secret(key)


def _fits_a_header(text: str) -> bool:
    return bool(text) and text.isascii() and text.isprintable() and " " not in text
