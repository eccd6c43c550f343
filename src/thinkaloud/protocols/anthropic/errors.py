"""A failure of the Messages API, whichever host told it, as one of our exceptions: tables from words to classes.

The same function reads an HTTP error body and an error event inside a 200 stream, so both give the same class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from attrs import frozen

from thinkaloud.errors import (
    AuthenticationError,
    ContentFiltered,
    InvalidRequest,
    NotFound,
    Overloaded,
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
    AWS_WORDS,
    GOOGLE_WORDS,
    Kind,
    by_status,
    quotable,
    request_id_of,
    sub_kind,
)
from thinkaloud.protocols.fields import JsonObject
from thinkaloud.wire.retry_after import retry_after

# The provider's words: `error.type` of the Messages API, `error.status` of Google's hosts, the exception names of AWS.
_WORDS = {
    "invalid_request_error": Kind(InvalidRequest, 400),
    "authentication_error": Kind(AuthenticationError, 401),
    "billing_error": Kind(QuotaExceeded, 402),
    "permission_error": Kind(PermissionDenied, 403),
    "not_found_error": Kind(NotFound, 404),
    "conflict_error": Kind(InvalidRequest, 409, True),
    "request_too_large": Kind(InvalidRequest, 413),
    "rate_limit_error": Kind(RateLimited, 429),
    "api_error": Kind(ServerError, 500),
    "timeout_error": Kind(ServerError, 504),
    "overloaded_error": Kind(Overloaded, 529),
    **GOOGLE_WORDS,
    **AWS_WORDS,
}

# Sub-kinds of a refused request, by what the message says, in lower case and without backticks. Wording is unstable:
# what matches nothing stays what its word or status says.
_MESSAGES: tuple[tuple[str, type[ProviderError]], ...] = (
    ("credit balance is too low", QuotaExceeded),
    ("spend limit", QuotaExceeded),
    ("usage limits", QuotaExceeded),
    ("invalid signature", StaleThinking),
    ("thinking.signature: field required", StaleThinking),
    ("cannot be modified", StaleThinking),
    ("bound to a different conversation", StaleThinking),
    ("blocked by content filtering", ContentFiltered),
    ("provided model identifier is invalid", NotFound),
)
_SPENT = "_spend_limit_reached"


def error(response: ErrorResponse) -> ProviderError:
    """Build the typed error of a failure. Never raises, whatever the body holds."""
    body = quotable(response.body)
    read = opened(body)
    told = _Told.of(read, response.headers)
    kind, status = _kind(told, response.status)
    error_class = sub_kind(kind.error, told.message, {InvalidRequest: _MESSAGES})
    if told.detail_code.endswith(_SPENT):
        error_class = QuotaExceeded
    return (error_class or kind.error)(
        text_of(told.message, read, provider=response.provider, status=status, code=told.word),
        provider=response.provider,
        status=status,
        code=told.word,
        request_id=told.request_id,
        body=body,
        retryable=None if error_class else kind.retryable,
        retry_after=retry_after(response.headers),
    )


@frozen
class _Told:
    """What a failure says of itself, wherever it says it."""

    word: str | None
    detail_code: str
    message: str
    status: int | None
    request_id: str | None

    @classmethod
    def of(cls, body: object, headers: Mapping[str, str]) -> _Told:
        objects = list(_objects(body))
        codes = [value for item in objects if isinstance(value := item.get("code"), int)]
        header_word = headers.get("x-amzn-errortype", "").partition(":")[0].rpartition("#")[2]
        words = [
            _first_text(objects, "type", passing={"error"}),
            _first_text(objects, "status"),
            header_word,
            _first_text(objects, "code"),
        ]
        known = [word for word in words if word in _WORDS]
        return cls(
            word=next((word for word in (*known, *words) if word), None) or code_in(body) or None,
            detail_code=_first_text([item for outer in objects for item in _inner(outer, "details")], "error_code"),
            message=_first_text(objects, "message", "Message", "error", "detail") or message_in(body),
            status=next((code for code in codes if 400 <= code < 600), None),
            request_id=request_id_of(headers) or _first_text(objects, "request_id") or None,
        )


def _objects(body: object) -> Iterator[JsonObject]:
    """The objects that may tell of the failure, the innermost first."""
    if isinstance(body, list):
        for item in cast("list[object]", body):
            yield from _objects(item)
    elif isinstance(body, dict):
        outer = cast("JsonObject", body)
        yield from _inner(outer, "error")
        yield outer


def _inner(outer: JsonObject, name: str) -> Iterator[JsonObject]:
    value = outer.get(name)
    if isinstance(value, dict):
        yield cast("JsonObject", value)
    elif isinstance(value, list):
        yield from (cast("JsonObject", item) for item in cast("list[object]", value) if isinstance(item, dict))


def _first_text(objects: list[JsonObject], *names: str, passing: frozenset[str] | set[str] = frozenset()) -> str:
    for name in names:
        for item in objects:
            value = item.get(name)
            if isinstance(value, str) and value and value not in passing:
                return value
    return ""


def _kind(told: _Told, status: int | None) -> tuple[Kind, int | None]:
    if told.word is not None and told.word in _WORDS:
        kind = _WORDS[told.word]
        return kind, status or told.status or kind.status
    status = status or told.status
    if status is None:
        return Kind(ProviderError, 0), None
    return by_status(status), status
