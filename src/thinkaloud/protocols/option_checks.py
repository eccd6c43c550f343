"""Checks of native options: each refuses a value that cannot work, and names the field and the fix.

They are validators for attrs fields; None always passes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from attrs import Attribute

from thinkaloud.checked import whole_number
from thinkaloud.errors import ConfigurationError, shown

Check = Callable[[Any, "Attribute[Any]", Any], None]

# Bounds of OpenAI's `metadata`: pairs, and characters.
_METADATA_PAIRS, _METADATA_KEY, _METADATA_VALUE = 16, 64, 512


def one_of(choices: Any) -> Check:
    """One of the values of a Literal type."""
    allowed = get_args(choices)

    def check(instance: Any, attribute: Attribute[Any], value: Any) -> None:
        if value is not None and value not in allowed:
            raise ConfigurationError(
                f"{attribute.name}={shown(value)}: use one of {', '.join(map(repr, allowed))}, or None"
            )

    return check


def text(longest: int | None = None) -> Check:
    """A text that is not empty, of at most `longest` characters."""

    def check(instance: Any, attribute: Attribute[Any], value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, str) or not value:
            raise ConfigurationError(f"{attribute.name}={shown(value)}: give a text that is not empty, or None")
        if longest is not None and len(value) > longest:
            raise ConfigurationError(f"{attribute.name} has {len(value)} characters: give at most {longest}")

    return check


def flag(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    """True or False."""
    if value is not None and not isinstance(value, bool):
        raise ConfigurationError(f"{attribute.name}={shown(value)}: use True, False or None")


def count(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    """A whole number above 0."""
    whole_number(attribute.name, value, or_none=True)


def mapping(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    """A mapping with string keys."""
    if value is not None and not (isinstance(value, Mapping) and all(isinstance(name, str) for name in value)):
        raise ConfigurationError(f"{attribute.name}={shown(value)}: give a mapping with string keys, or None")


def metadata(instance: Any, attribute: Attribute[Any], value: Any) -> None:
    """Pairs of texts within OpenAI's bounds."""
    mapping(instance, attribute, value)
    if value is None:
        return
    if len(value) > _METADATA_PAIRS:
        raise ConfigurationError(f"{attribute.name} has {len(value)} pairs: give at most {_METADATA_PAIRS}")
    for name, said in value.items():
        if len(name) > _METADATA_KEY or not isinstance(said, str) or len(said) > _METADATA_VALUE:
            raise ConfigurationError(
                f"{attribute.name}[{name!r}]: give keys of at most {_METADATA_KEY} characters, "
                f"and values that are texts of at most {_METADATA_VALUE}"
            )
