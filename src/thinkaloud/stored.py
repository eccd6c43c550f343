"""Room in every stored value for fields that a newer version of this library wrote: carried along, never read.

They live in a slot beside the fields of the class, so they cost nothing where there are none, take no part in
comparison, and survive pickle and copies. A changed value (`attrs.evolve`) leaves them behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from thinkaloud.jsontext import Json

NOT_STORED: Mapping[str, bool] = {"stored": False}
"""Metadata of a field that is never written as JSON."""

_Value = TypeVar("_Value", bound="Stored")


class Stored:
    """Base of the blocks, messages and events, and of the values in them."""

    __slots__ = ("_newer",)

    def __reduce_ex__(self, protocol: Any) -> Any:
        newer = newer_fields(self)
        if not newer:
            return super().__reduce_ex__(protocol)
        return _rebuilt, (type(self), self.__getstate__(), newer)


def newer_fields(value: Stored) -> Mapping[str, Json]:
    """The fields of a newer version that came with the value."""
    fields: Mapping[str, Json] = getattr(value, "_newer", {})
    return fields


def with_newer_fields(value: _Value, fields: Mapping[str, Json]) -> _Value:
    """Give a value that was just made the fields of a newer version."""
    object.__setattr__(value, "_newer", fields)
    return value


def _rebuilt(cls: type[Stored], state: Any, newer: Mapping[str, Json]) -> Stored:
    value = cls.__new__(cls)
    value.__setstate__(state)  # type: ignore[attr-defined]
    return with_newer_fields(value, newer)
