"""JSON Schemas of tools in the form that Gemini reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from thinkaloud.jsontext import Json

# Keywords that the API ignores or stumbles over.
_DROPPED = frozenset({"$schema", "title", "discriminator", "examples", "exclusiveMinimum", "exclusiveMaximum"})
_SAYS_NOTHING = _DROPPED | {"type", "required", "description"}
_OF_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMAS = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"})


def has_parameters(schema: Mapping[str, Json]) -> bool:
    """Whether a schema says anything about arguments: a function without any is declared without one."""
    return any(value for name, value in schema.items() if name not in _SAYS_NOTHING)


def gemini_schema(schema: Any) -> Any:
    """A schema whose keywords are all understood: `const` becomes an `enum` of one value, some are left out."""
    if not isinstance(schema, Mapping):
        return schema
    written: dict[str, Any] = {}
    for name, value in schema.items():
        if name in _DROPPED:
            continue
        if name == "const":
            written["enum"] = [value]
        elif name in _OF_SCHEMAS and isinstance(value, Mapping):
            written[name] = {key: gemini_schema(inner) for key, inner in value.items()}
        elif name in _LISTS and isinstance(value, list | tuple):
            written[name] = [gemini_schema(inner) for inner in value]
        elif name in _SCHEMAS:
            written[name] = gemini_schema(value)
        else:
            written[name] = value
    return written
