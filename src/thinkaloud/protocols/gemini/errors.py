"""A failure of Gemini, on either surface, as one of our exceptions: tables from words to classes.

The same function reads an HTTP error body and an error inside a 200 stream, so both give the same class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from thinkaloud.errors import (
    AuthenticationError,
    InvalidRequest,
    PermissionDenied,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    StaleThinking,
)
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.error_bodies import code_in, message_in, opened, text_of
from thinkaloud.protocols.failures import (
    GOOGLE_WORDS,
    Kind,
    by_status,
    quotable,
    request_id_of,
    sub_kind,
)
from thinkaloud.protocols.fields import JsonObject
from thinkaloud.wire.retry_after import retry_after

# Statuses that mean another thing here than elsewhere.
_STATUSES = {499: Kind(ServerError, 499, False), 501: Kind(ServerError, 501, False)}

# `reason` of an ErrorInfo among the details: says more than the status.
_REASONS: dict[str, type[ProviderError]] = {
    "API_KEY_INVALID": AuthenticationError,
    "API_KEY_EXPIRED": AuthenticationError,
    "ACCESS_TOKEN_EXPIRED": AuthenticationError,
    "CREDENTIALS_MISSING": AuthenticationError,
    "BILLING_DISABLED": QuotaExceeded,
}

# Sub-kinds of a refused request, by what the message says, in lower case. Wording is unstable: what matches nothing
# stays what its status says.
_MESSAGES: tuple[tuple[str, type[ProviderError]], ...] = (
    ("missing a thought_signature", StaleThinking),
    ("invalid thought signature", StaleThinking),
    ("thought signature is not valid", StaleThinking),
    ("base64 decoding failed", StaleThinking),
    ("api key not valid", AuthenticationError),
    ("api key expired", AuthenticationError),
)

# What is said of a key where the word is that of a missing permission.
_KEY_MESSAGES: tuple[tuple[str, type[ProviderError]], ...] = (
    ("unregistered callers", AuthenticationError),
    ("api key was reported as leaked", AuthenticationError),
)
_BY_MESSAGE = {InvalidRequest: _MESSAGES, PermissionDenied: _KEY_MESSAGES}

# A quota of a whole day does not come back by waiting as long as a caller would.
_DAILY = re.compile("per_?day", re.IGNORECASE)

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s\Z")


def error(response: ErrorResponse) -> ProviderError:
    """Build the typed error of a failure. Never raises, whatever the body holds."""
    body = quotable(response.body)
    read = opened(body)
    objects = list(_objects(read))
    details = [detail for item in objects for detail in _listed(item, "details")]
    word = _first_text(objects, "status")
    message = _first_text(objects, "message", "error") or message_in(read)
    kind, status = _kind(word, objects, response.status)
    error_class, retryable = kind.error, kind.retryable
    if (told := _sub_kind(error_class, message, details)) is not None:
        error_class, retryable = told, None
    code = word or code_in(read) or None
    return error_class(
        text_of(message, read, provider=response.provider, status=status, code=code),
        provider=response.provider,
        status=status,
        code=code,
        request_id=request_id_of(response.headers),
        body=body,
        retryable=retryable,
        retry_after=_delay(details, response),
    )


def _objects(body: object) -> Iterator[JsonObject]:
    """The objects that may tell of the failure, the innermost first; some endpoints wrap them in an array."""
    if isinstance(body, list):
        for item in cast("list[object]", body)[:8]:
            if isinstance(item, dict):
                yield from _objects(item)
    elif isinstance(body, dict):
        outer = cast("JsonObject", body)
        inner = outer.get("error")
        if isinstance(inner, dict):
            yield cast("JsonObject", inner)
        yield outer


def _listed(item: JsonObject, name: str) -> list[JsonObject]:
    value = item.get(name)
    entries = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("JsonObject", entry) for entry in entries if isinstance(entry, dict)]


def _first_text(objects: list[JsonObject], *names: str) -> str:
    for name in names:
        for item in objects:
            value = item.get(name)
            if isinstance(value, str) and value:
                return value
    return ""


def _kind(word: str, objects: list[JsonObject], status: int | None) -> tuple[Kind, int | None]:
    codes = [code for item in objects if isinstance(code := item.get("code"), int) and 400 <= code < 600]
    status = status if status is not None and status >= 400 else next(iter(codes), None)
    if word in GOOGLE_WORDS:
        return GOOGLE_WORDS[word], status or GOOGLE_WORDS[word].status
    if status is None:
        return Kind(ServerError, 0), None
    kind = _STATUSES.get(status) or by_status(status)
    return kind, status


def _sub_kind(error: type[ProviderError], message: str, details: list[JsonObject]) -> type[ProviderError] | None:
    if error is RateLimited:
        quotas = [violation for detail in details for violation in _listed(detail, "violations")]
        return QuotaExceeded if any(_DAILY.search(_first_text([quota], "quotaId")) for quota in quotas) else None
    reasons = [_first_text([detail], "reason") for detail in details]
    if (told := next((_REASONS[reason] for reason in reasons if reason in _REASONS), None)) is not None:
        return told
    return sub_kind(error, message, _BY_MESSAGE)


def _delay(details: list[JsonObject], response: ErrorResponse) -> float | None:
    """Seconds to wait: the header where there is one, else the duration of a RetryInfo."""
    told = retry_after(response.headers)
    if told is not None:
        return told
    durations = [_DURATION.match(_first_text([detail], "retryDelay")) for detail in details]
    return next((float(duration[1]) for duration in durations if duration), None)
