"""Facts as JSON rows: reads a row into the plain class that it stands for, and tells where it does not fit.

A row has the field names of its class; what it leaves out is the field's default. Nothing is guessed or converted: a
wrong name, type or word is refused with its place, such as `models[3].thinking.mode`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import date
from enum import Enum
from functools import cache
from math import inf
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs

from thinkaloud.errors import ConfigurationError, WrongValue
from thinkaloud.models.model import ThinkingControl

T = TypeVar("T")


def read_row(cls: type[T], row: Any, path: str) -> T:
    """Read a row into an object of `cls`. Raises ConfigurationError with the path of the field that is wrong."""
    value: T = _object(cls, row, path)
    return value


def path_of(path: Any) -> str:
    """The path of a file, as text. Raises ConfigurationError for what is no path."""
    try:
        name = os.fspath(path)
    except TypeError:
        raise ConfigurationError(f"path must be the path of a file, not {type(path).__name__}") from None
    if "\0" in (text := os.fsdecode(name)):
        raise ConfigurationError("path has a character that no path may hold")
    return text


def _object(cls: type, row: Any, path: str) -> Any:
    if not isinstance(row, dict):
        raise _wrong(path, "an object", row)
    known, required = _fields(cls)
    for name in row:
        if name not in known:
            raise ConfigurationError(f"{path}.{name} is no field; there are: {', '.join(known)}")
    for name in required:
        if name not in row:
            raise ConfigurationError(f"{path}.{name} is missing")
    values = {name: _value(known[name], value, f"{path}.{name}") for name, value in row.items()}
    if cls is ThinkingControl:
        values = _with_levels(values, path)
    try:
        return cls(**values)
    except WrongValue as error:
        raise ConfigurationError(f"{path}.{error.message.removeprefix(f'{cls.__name__}.')}") from None


@cache
def _fields(cls: type) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The types of a class's fields, and the names of those without a default."""
    hints = get_type_hints(cls)
    fields = attrs.fields(cls)
    types = {field.name: hints[field.name] for field in fields}
    return types, tuple(field.name for field in fields if field.default is attrs.NOTHING)


def _with_levels(values: dict[str, Any], path: str) -> dict[str, Any]:
    """The levels are those that have a native value, where the row does not name them; always in order."""
    native = values.get("native", {})
    levels = values.get("levels", tuple(native))
    if extra := [level.value for level in native if level not in levels]:
        raise ConfigurationError(f"{path}.native has {extra[0]!r}, which is not in {path}.levels")
    return {**values, "levels": tuple(sorted(set(levels)))}


def _value(type: Any, value: Any, path: str) -> Any:
    origin = get_origin(type)
    if origin in (Union, UnionType):
        return _one_of(get_args(type), value, path)
    if origin is Literal:
        return _word(get_args(type), value, path)
    if origin is tuple:
        return _items(get_args(type), value, path)
    if origin is not None and issubclass(origin, Mapping):
        keys, values = get_args(type)
        if not isinstance(value, dict):
            raise _wrong(path, "an object", value)
        return {_value(keys, key, path): _value(values, item, f"{path}.{key}") for key, item in value.items()}
    if attrs.has(type):
        return _object(type, value, path)
    if issubclass(type, Enum):
        return type(_word([member.value for member in type], value, path))
    if type is date:
        return _day(value, path)
    return _plain(type, value, path)


def _items(types: tuple[Any, ...], value: Any, path: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _wrong(path, "a list", value)
    if types[-1] is Ellipsis:
        types = types[:1] * len(value)
    if len(types) != len(value):
        raise ConfigurationError(f"{path} must be a list of {len(types)}, not {len(value)}")
    return tuple(
        _value(type, item, f"{path}[{place}]") for place, (type, item) in enumerate(zip(types, value, strict=True))
    )


def _one_of(types: tuple[Any, ...], value: Any, path: str) -> Any:
    if value is None and NoneType in types:
        return None
    types = tuple(type for type in types if type is not NoneType)
    exact = [type for type in types if value.__class__ is type]
    if exact or len(types) == 1:
        return _value((exact or types)[0], value, path)
    raise _wrong(path, " or ".join(_NAMES[type] for type in types), value)


def _word(words: Any, value: Any, path: str) -> Any:
    if not isinstance(value, str) or value not in words:
        raise ConfigurationError(f"{path} is {value!r}, but must be one of: {', '.join(words)}")
    return value


def _day(value: Any, path: str) -> date:
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ConfigurationError(f'{path} is {value!r}, but must be a day such as "2026-12-01"') from None


_TOO_LARGE = 2**1023  # for a float

_SURROGATE = re.compile("[\ud800-\udfff]")

_NAMES: dict[Any, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _plain(type: Any, value: Any, path: str) -> Any:
    if type is float and value.__class__ is int:
        value = float(value) if abs(value) < _TOO_LARGE else inf
    if value.__class__ is not type:
        raise _wrong(path, _NAMES[type], value)
    if type is str and _SURROGATE.search(value):
        raise ConfigurationError(f"{path} has half a character (a surrogate), which no text may hold")
    signed = path.endswith(".dynamic_budget") or ".native." in path
    if (type is float and not 0 <= value < inf) or (type is int and value < 0 and not signed):
        raise ConfigurationError(f"{path} is {value!r}, but must be a number from 0 up")
    return value


def _wrong(path: str, wanted: str, value: Any) -> ConfigurationError:
    return ConfigurationError(f"{path} must be {wanted}, not {value.__class__.__name__}")
