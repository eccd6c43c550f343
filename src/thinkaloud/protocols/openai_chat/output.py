"""Structured output on chat completions: which models take it, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence

from thinkaloud.jsontext import Json
from thinkaloud.models.model import Model
from thinkaloud.protocols.openai_chat.families import is_openai
from thinkaloud.structured import OutputSchema
from thinkaloud.tools import ServerTool, Tool


def takes_output(model: Model, schema: OutputSchema, tools: Sequence[Tool | ServerTool]) -> bool:
    """Whether a model is known to take the schema: OpenAI's own do.

    Others that speak the protocol refuse it (DeepSeek), refuse it while a model thinks (Alibaba), or pass it over
    (Ollama's cloud), each in its documentation.
    """
    return is_openai(model)


def response_format(schema: OutputSchema | None) -> dict[str, Json]:
    """`response_format`."""
    if schema is None:
        return {}
    form: Json = {"name": schema.name, "schema": dict(schema.schema), "strict": schema.strict}
    return {"response_format": {"type": "json_schema", "json_schema": form}}
