"""What can be left out of a call that was refused: visible thinking, for organisations that may not have it.

OpenAI gives summaries of thinking to verified organisations alone, and refuses the whole request of others (its
documentation). Thinking itself, and its encrypted form, are taken as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from thinkaloud.errors import InvalidRequest, PermissionDenied, ProviderError
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Amended, Call
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions

SUMMARY_REFUSED = "summary_refused"


def amend(call: Call, error: ProviderError) -> Amended | None:
    """The call without the summary that was refused; None for other errors, and where the caller chose the summary.

    Pure.
    """
    options = call.options or OpenAIResponsesOptions()
    if options.summary is not None or not _refuses_summary(error):
        return None
    text = "the endpoint refuses to show thinking, so the call was sent again without asking for it"
    notice = Notice(SUMMARY_REFUSED, text, "reasoning", {"told": str(error)})
    return Amended(evolve(call, options=evolve(options, summary="none")), notice)


def _refuses_summary(error: ProviderError) -> bool:
    """Whether the refusal is about the summary: it names the field, or speaks of it."""
    if not isinstance(error, (InvalidRequest, PermissionDenied)):
        return False
    parameter = _parameter(error.body)
    if parameter is not None:
        return parameter in ("reasoning.summary", "reasoning.generate_summary")
    said = str(error).lower()
    return "reasoning.summary" in said or "reasoning summar" in said


def _parameter(body: Any) -> str | None:
    """The field that an error names as its cause."""
    told = body.get("error") if isinstance(body, Mapping) else None
    name = told.get("param") if isinstance(told, Mapping) else None
    return name if isinstance(name, str) and name else None
