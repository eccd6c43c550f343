"""Structured output of Gemini: which models take it, and how it is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from thinkaloud.jsontext import Json
from thinkaloud.models.model import Model
from thinkaloud.protocols.gemini.schema import gemini_schema
from thinkaloud.structured import OutputSchema
from thinkaloud.tools import ServerTool, Tool

_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")


def takes_output(model: Model, schema: OutputSchema, tools: Sequence[Tool | ServerTool]) -> bool:
    """Whether a model is known to take the schema: from 2.5 on, and beside tools from 3 on (Google's documentation)."""
    found = _VERSION.match(model.facts_id.rpartition("/")[2])
    if found is None or "image" in model.facts_id:
        return False
    version = (int(found[1]), int(found[2] or 0))
    return version >= ((3, 0) if tools else (2, 5))


def output_fields(schema: OutputSchema | None) -> dict[str, Json]:
    """The members of `generationConfig`."""
    if schema is None:
        return {}
    return {"responseMimeType": "application/json", "responseJsonSchema": gemini_schema(schema.schema)}
