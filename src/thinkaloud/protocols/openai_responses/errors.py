"""Failures of the Responses API as typed errors, whether they come as an HTTP status or inside a stream.

The words are those of OpenAI's errors everywhere, and so the table is that of chat completions; only the wrapping is
of its own: a flat `error` event, a nested one, or the `error` of a failed response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from thinkaloud.errors import ProviderError
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.failures import quotable
from thinkaloud.protocols.openai_chat import errors as openai


def error(response: ErrorResponse) -> ProviderError:
    """Turn a provider's failure into its typed error."""
    failure = openai.error(evolve(response, body=_unwrapped(response.body)))
    failure.body = quotable(response.body)
    return failure


def is_failure(body: Any) -> bool:
    """Whether a decoded body, which is no answer, tells of an error."""
    return openai.is_failure(body)


def _unwrapped(body: Any) -> Any:
    """The error object by itself: what lies around it is no word for the error. Its code says more than its type."""
    if not isinstance(body, Mapping):
        return body
    response = body.get("response")
    holder = response if isinstance(response, Mapping) else body
    told = holder.get("error")
    if not told and body.get("type") == "error":
        told = {name: value for name, value in body.items() if name != "type"}
    if not isinstance(told, Mapping):
        return {"error": told} if told else body
    return {"error": {"provider_code": told.get("code"), **told}, "request_id": body.get("request_id")}
