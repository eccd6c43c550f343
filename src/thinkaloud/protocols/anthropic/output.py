"""Structured output of Claude: which models take it, and where it goes in a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thinkaloud.jsontext import Json
from thinkaloud.models.model import Model
from thinkaloud.protocols.anthropic.families import family_of
from thinkaloud.structured import OutputSchema
from thinkaloud.tools import ServerTool, Tool


def takes_output(model: Model, schema: OutputSchema, tools: Sequence[Tool | ServerTool]) -> bool:
    """Whether a model is known to take the schema.

    Recent models do, where every object is closed (Anthropic's documentation). Those that think adaptively are recent;
    of older ones it is not sure.
    """
    return schema.strict and family_of(model).control.mode == "adaptive"


def with_output(fields: Mapping[str, Json], schema: OutputSchema | None) -> dict[str, Json]:
    """The fields of thinking, with the format in `output_config` beside the effort."""
    if schema is None:
        return dict(fields)
    config = fields.get("output_config")
    form: Json = {"type": "json_schema", "schema": dict(schema.schema)}
    return {**fields, "output_config": {**(config if isinstance(config, dict) else {}), "format": form}}
