"""The JSON Schema of a Python type: what a model is told that it must write."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import NoneType
from typing import Any

from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.jsontext import Json
from thinkaloud.typed import kinds

Schema = dict[str, Json]

_PLAIN: dict[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number", NoneType: "null"}


def schema_of(kind: Any, *, every_field: bool = False) -> Schema:
    """The schema of a type.

    every_field: fields with a default must be written too, as strict providers demand it.

    Raises ConfigurationError, with the path, for a type that has no form in JSON.
    """
    writer = _Writer(every_field)
    return writer.whole(writer.of(kind, kinds.named(kind)))


def schema_of_members(members: Iterable[kinds.Member], owner: str) -> Schema:
    """The schema of an object with these fields, such as the arguments of a function. Raises ConfigurationError."""
    writer = _Writer(every_field=False)
    return writer.whole(writer.members(members, owner))


class _Writer:
    """Writes one schema. Classes stand in it where they are used, and those that hold themselves under `$defs`."""

    def __init__(self, every_field: bool) -> None:
        self._every_field = every_field
        self._open: list[Any] = []
        self._again: set[Any] = set()
        self._defs: dict[str, Json] = {}

    def whole(self, schema: Schema) -> Schema:
        return {**schema, "$defs": self._defs} if self._defs else schema

    def of(self, kind: Any, path: str) -> Schema:
        kind, description = kinds.bare(kind)
        schema = self._of(kind, path)
        return {**schema, "description": description} if description else schema

    def _of(self, kind: Any, path: str) -> Schema:
        if kind is Any or kind is object:
            return {}
        if kind is None:
            kind = NoneType
        try:
            hash(kind)
        except TypeError:  # a list of types, for one
            raise ConfigurationError(f"{path}: {shown(kind)} is no type") from None
        if kind in _PLAIN:
            return {"type": _PLAIN[kind]}
        if (members := kinds.union_of(kind)) is not None:
            return {"anyOf": [self.of(member, path) for member in members]}
        if (words := kinds.words_of(kind)) is not None:
            return _words(list(words))
        if (row := kinds.row_of(kind)) is not None:
            items: list[Json] = [self.of(item, f"{path}[{place}]") for place, item in enumerate(row)]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if (many := kinds.list_of(kind)) is not None:
            return {"type": "array", "items": self.of(many[1], f"{path}[]")}
        if (values := kinds.object_of(kind)) is not None:
            return {"type": "object", "additionalProperties": self.of(values, f"{path}{{}}") or True}
        if kinds.is_class(kind):
            return self._class(kind)
        raise ConfigurationError(
            f"{path}: {kinds.named(kind)} has no form in JSON; use str, int, float, bool, list, dict, Literal, an "
            "Enum, or a class of fields (attrs, dataclass, TypedDict)"
        )

    def _class(self, cls: Any) -> Schema:
        reference: Schema = {"$ref": f"#/$defs/{cls.__name__}"}
        if cls in self._open:
            self._again.add(cls)
            return reference
        self._open.append(cls)
        schema = self.members(kinds.members_of(cls), cls.__name__)
        self._open.pop()
        if text := _about(cls):
            schema["description"] = text
        if cls not in self._again:
            return schema
        self._defs[cls.__name__] = schema
        return reference

    def members(self, members: Iterable[kinds.Member], owner: str) -> Schema:
        properties: dict[str, Json] = {}
        required: list[Json] = []
        for member in members:
            schema = self.of(member.kind, f"{owner}.{member.name}")
            if member.description:
                schema.setdefault("description", member.description)
            if member.required or self._every_field:
                required.append(member.name)
            elif kinds.is_written(member.default):
                schema["default"] = member.default
            properties[member.name] = schema
        return {
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }


def _words(words: list[Any]) -> Schema:
    types = {type(word) for word in words}
    plain: list[Json] = [kinds.plain(word) for word in words]
    named: Schema = {"type": _PLAIN[types.pop()]} if len(types) == 1 else {}
    return {**named, "enum": plain}


def _about(cls: Any) -> str:
    """The first paragraph of a class's own docstring, not of the one that a dataclass is given."""
    text = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return "" if text.startswith(f"{cls.__name__}(") else text


def is_strict(schema: Any) -> bool:
    """Whether a schema is of the kind that providers hold a model to: every object closed and with all of its fields
    required, and nothing that refers to itself or has no fixed form.
    """
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if schema.keys() & {"$ref", "$defs", "prefixItems", "default"} or not schema:
        return False
    if schema.get("type") == "object" and "properties" in schema:
        if schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(schema["properties"]):
            return False
        return all(map(is_strict, schema["properties"].values()))
    if schema.get("type") == "object":
        return False
    return all(is_strict(schema[name]) for name in ("anyOf", "items") if name in schema)
