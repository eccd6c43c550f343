"""Fields of a JSON object from the wire, read by their type: a field of another type is told, never stumbled over.

A decoded payload is typed as a mapping to `object`, so that the type checkers refuse every use of a value that does not
go through one of these readers (or an isinstance of its own). That rules out AttributeError, TypeError and KeyError for
all payloads, instead of case by case.
"""

from __future__ import annotations

from math import isfinite
from typing import Any, cast

from thinkaloud.errors import MalformedStream
from thinkaloud.jsontext import Json, loads_exact

JsonObject = dict[str, object]

# Far more than any real payload has, and far less than copying it can take.
_DEEPEST = 200


def as_object(value: object, name: str) -> JsonObject:
    """The value as an object. Raises MalformedStream."""
    if isinstance(value, dict):
        return cast("JsonObject", value)
    raise _unfit(value, name, "an object")


def object_field(data: JsonObject, name: str) -> JsonObject:
    """The object in a field; {} where the field is absent or null. Raises MalformedStream."""
    value = data.get(name)
    return {} if value is None else as_object(value, name)


def list_field(data: JsonObject, name: str) -> list[object]:
    """The array in a field; [] where the field is absent or null. Raises MalformedStream."""
    value = data.get(name)
    if value is None:
        return []
    if isinstance(value, list):
        return cast("list[object]", value)
    raise _unfit(value, name, "an array")


def text_field(data: JsonObject, name: str) -> str:
    """The string in a field; "" where the field is absent or null. Raises MalformedStream."""
    value = data.get(name)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise _unfit(value, name, "a string")


def count_field(data: JsonObject, name: str) -> int | None:
    """The whole number in a field; None where the field is absent or null. Raises MalformedStream."""
    value = data.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _unfit(value, name, "a whole number")


def index_field(data: JsonObject) -> int | None:
    """The place of a block; None where a server leaves it out. Raises MalformedStream."""
    return count_field(data, "index")


def exact(raw: str) -> JsonObject:
    """Decode an event again with every digit kept. Raises MalformedStream."""
    try:
        return as_object(loads_exact(raw), "data")
    except ValueError as error:
        raise MalformedStream(f"an event's data is not JSON: {error}") from None


def kept(value: object, name: str) -> Any:
    """A value that will be stored and sent back, as it is. Raises MalformedStream where it cannot be."""
    fault = unsendable(value)
    if fault is not None:
        raise MalformedStream(f"{name!r} {fault}")
    return value


def kept_field(data: JsonObject, name: str) -> Any:
    """The value in a field as it is; None where the field is absent. Raises MalformedStream where it cannot be kept."""
    return kept(data.get(name), name)


def rest(data: JsonObject, known: frozenset[str]) -> dict[str, Json]:
    """The fields of a block that are not modelled, for its replay. Raises MalformedStream."""
    return {name: kept(value, name) for name, value in data.items() if name not in known}


def unsendable(value: object) -> str | None:
    """Why decoded JSON cannot be stored and written as JSON again; None where it can."""
    level: list[object] = [value]
    for _ in range(_DEEPEST):
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(cast("JsonObject", item).values())
            elif isinstance(item, list | tuple):
                below.extend(cast("list[object]", item))
            elif isinstance(item, float) and not isfinite(item):
                return "has a number that JSON cannot hold"
        if not below:
            return None
        level = below
    return "is nested too deeply"


def _unfit(value: object, name: str, wanted: str) -> MalformedStream:
    kind = _KINDS.get(type(value), "of an unknown type")
    return MalformedStream(f"{name!r} is {kind}, not {wanted}")


_KINDS = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
    dict: "an object",
}
