"""A failure as one line for people, without the secrets that a provider's message may repeat."""

from __future__ import annotations

import os
import re

from thinkaloud.cli.arguments import WrongUse
from thinkaloud.cli.output import one_line
from thinkaloud.errors import ProviderError
from thinkaloud.models.providers import PROVIDERS

_LONGEST_MESSAGE = 1000
_SHORTEST_KEY = 8


def complaint(error: Exception) -> str:
    """What went wrong, and the facts of a provider's error."""
    return without_secrets(_description(error))


def _description(error: Exception) -> str:
    if isinstance(error, WrongUse):
        return str(error)
    text = str(error)
    if len(text) > _LONGEST_MESSAGE:
        text = f"{text[:_LONGEST_MESSAGE]}… ({len(text)} characters)"
    facts = ", ".join(_facts(error)) if isinstance(error, ProviderError) else ""
    return f"{type(error).__name__}: {text}" + (f" ({facts})" if facts else "")


def _facts(error: ProviderError) -> list[str]:
    facts = (
        (error.provider, "{}"),
        (error.status, "status {}"),
        (error.code, "{}"),
        (error.request_id, "request {}"),
        (error.retry_after, "retry after {:g} s"),
    )
    return [shape.format(value) for value, shape in facts if value not in (None, "")]


def without_secrets(text: str) -> str:
    """One line, with keys and passwords blanked out."""
    variables = {variable for row in PROVIDERS.values() for variable in row.key_variables}
    for key in filter(None, (os.environ.get(variable, "").strip() for variable in variables)):
        if len(key) >= _SHORTEST_KEY:
            text = text.replace(key, "***")
    return one_line(re.sub(r"//[^/@\s]+@", "//***@", text))
