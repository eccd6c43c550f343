"""Structured output at Bedrock: which models take it, and how it is said."""

from __future__ import annotations

import json
from collections.abc import Sequence

from thinkaloud.jsontext import Json
from thinkaloud.models.model import Model
from thinkaloud.protocols.anthropic.output import takes_output as claude_takes_output
from thinkaloud.protocols.bedrock.families import family_of
from thinkaloud.structured import OutputSchema
from thinkaloud.tools import ServerTool, Tool

# Claude models that take it at Anthropic and not here (Amazon's documentation).
_LACKS_IT = "claude-sonnet-5-5"


def takes_output(model: Model, schema: OutputSchema, tools: Sequence[Tool | ServerTool]) -> bool:
    """Whether a model is known to take the schema: Claude does, with one exception; of other vendors it is not sure."""
    if not family_of(model).claude or _LACKS_IT in model.facts_id:
        return False
    return claude_takes_output(model, schema, tools)


def output_config(schema: OutputSchema | None) -> dict[str, Json]:
    """`outputConfig`, whose schema is JSON text."""
    if schema is None:
        return {}
    text = json.dumps(schema.schema, separators=(",", ":"), ensure_ascii=False)
    form: Json = {"type": "json_schema", "structure": {"jsonSchema": {"name": schema.name, "schema": text}}}
    return {"outputConfig": {"textFormat": form}}
