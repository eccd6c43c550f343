"""Structured output on the Responses API: which models take it, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence

from thinkaloud.jsontext import Json
from thinkaloud.models.model import Model
from thinkaloud.protocols.openai_chat.families import OPENAI_HOSTS
from thinkaloud.protocols.openai_responses.families import openai_family
from thinkaloud.structured import OutputSchema
from thinkaloud.tools import ServerTool, Tool


def takes_output(model: Model, schema: OutputSchema, tools: Sequence[Tool | ServerTool]) -> bool:
    """Whether a model is known to take the schema: OpenAI's own do, at their own hosts."""
    return model.provider in OPENAI_HOSTS and openai_family(model.facts_id) is not None


def text_format(schema: OutputSchema | None) -> dict[str, Json]:
    """`text.format`."""
    if schema is None:
        return {}
    return {
        "format": {
            "type": "json_schema",
            "name": schema.name,
            "schema": dict(schema.schema),
            "strict": schema.strict,
        }
    }
