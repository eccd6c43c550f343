"""A failure of the Messages API, whichever host told it, as one of our exceptions: tables from words to classes.

The same function reads an HTTP error body and an error event inside a 200 stream, so both give the same class.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from attrs import frozen

from thinkaloud.errors import (
    AuthenticationError,
    ContentFiltered,
    ContextTooLong,
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
from thinkaloud.protocols.fields import JsonObject, unsendable
from thinkaloud.wire.retry_after import retry_after


@frozen
class _Kind:
    """What a word of the provider stands for. retryable: None takes the default of the class."""

    error: type[ProviderError]
    status: int
    retryable: bool | None = None


# The provider's words: `error.type` of the Messages API, `error.status` of Google's hosts, the exception names of AWS.
_WORDS = {
    "invalid_request_error": _Kind(InvalidRequest, 400),
    "authentication_error": _Kind(AuthenticationError, 401),
    "billing_error": _Kind(QuotaExceeded, 402),
    "permission_error": _Kind(PermissionDenied, 403),
    "not_found_error": _Kind(NotFound, 404),
    "conflict_error": _Kind(InvalidRequest, 409, True),
    "request_too_large": _Kind(InvalidRequest, 413),
    "rate_limit_error": _Kind(RateLimited, 429),
    "api_error": _Kind(ServerError, 500),
    "timeout_error": _Kind(ServerError, 504),
    "overloaded_error": _Kind(Overloaded, 529),
    "INVALID_ARGUMENT": _Kind(InvalidRequest, 400),
    "FAILED_PRECONDITION": _Kind(InvalidRequest, 400),
    "OUT_OF_RANGE": _Kind(InvalidRequest, 400),
    "UNAUTHENTICATED": _Kind(AuthenticationError, 401),
    "PERMISSION_DENIED": _Kind(PermissionDenied, 403),
    "NOT_FOUND": _Kind(NotFound, 404),
    "ABORTED": _Kind(InvalidRequest, 409, True),
    "RESOURCE_EXHAUSTED": _Kind(RateLimited, 429),
    "CANCELLED": _Kind(ServerError, 499),
    "INTERNAL": _Kind(ServerError, 500),
    "UNKNOWN": _Kind(ServerError, 500),
    "UNAVAILABLE": _Kind(Overloaded, 503),
    "DEADLINE_EXCEEDED": _Kind(ServerError, 504),
    "ValidationException": _Kind(InvalidRequest, 400),
    "ServiceQuotaExceededException": _Kind(QuotaExceeded, 400),
    "UnrecognizedClientException": _Kind(AuthenticationError, 403),
    "InvalidSignatureException": _Kind(AuthenticationError, 403),
    "ExpiredTokenException": _Kind(AuthenticationError, 403),
    "InvalidClientTokenId": _Kind(AuthenticationError, 403),
    "MissingAuthenticationToken": _Kind(AuthenticationError, 403),
    "AccessDeniedException": _Kind(PermissionDenied, 403),
    "ResourceNotFoundException": _Kind(NotFound, 404),
    "ModelTimeoutException": _Kind(ServerError, 408),
    "ModelErrorException": _Kind(ServerError, 424),
    "ModelStreamErrorException": _Kind(ServerError, 424),
    "ThrottlingException": _Kind(RateLimited, 429),
    "ModelNotReadyException": _Kind(Overloaded, 429),
    "InternalServerException": _Kind(ServerError, 500),
    "ServiceUnavailableException": _Kind(Overloaded, 503),
}

_STATUSES = {
    401: _Kind(AuthenticationError, 401),
    402: _Kind(QuotaExceeded, 402),
    403: _Kind(PermissionDenied, 403),
    404: _Kind(NotFound, 404),
    408: _Kind(ServerError, 408),
    409: _Kind(InvalidRequest, 409, True),
    424: _Kind(ServerError, 424),
    429: _Kind(RateLimited, 429),
    499: _Kind(ServerError, 499),
    503: _Kind(Overloaded, 503),
    529: _Kind(Overloaded, 529),
}
_REFUSED = _Kind(InvalidRequest, 400)
_FAILED = _Kind(ServerError, 500)

# Sub-kinds of a refused request, by what the message says, in lower case and without backticks. Wording is unstable:
# what matches nothing stays what its word or status says.
_MESSAGES: tuple[tuple[str, type[ProviderError]], ...] = (
    ("prompt is too long", ContextTooLong),
    ("input is too long", ContextTooLong),
    ("input tokens exceeded", ContextTooLong),
    ("exceed context limit", ContextTooLong),
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

_REQUEST_IDS = ("request-id", "x-request-id", "x-amzn-requestid", "x-goog-request-id")
_LONGEST = 500

# What looks like a credential is never told on, even where a host quotes the one it got.
_SECRET = re.compile(
    r"(?i)\b(?:sk-[\w-]{8,}|AIza[\w-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|ya29\.[\w.-]+|(?<=bearer )\S{8,})"
)
_HIDDEN = "[hidden]"


def error(response: ErrorResponse) -> ProviderError:
    """Build the typed error of a failure. Never raises, whatever the body holds."""
    body = response.body if unsendable(response.body) is None else repr(response.body)[:_LONGEST]
    body = _hidden(body)
    told = _Told.of(body, response.headers)
    kind, status = _kind(told, response.status)
    error_class = _sub_kind(told) if kind.error is InvalidRequest else None
    if told.detail_code.endswith(_SPENT):
        error_class = QuotaExceeded
    return (error_class or kind.error)(
        _message(told, body, status),
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
            word=next((word for word in (*known, *words) if word), None),
            detail_code=_first_text([item for outer in objects for item in _inner(outer, "details")], "error_code"),
            message=_first_text(objects, "message", "Message", "error", "detail"),
            status=next((code for code in codes if 400 <= code < 600), None),
            request_id=next((headers[name] for name in _REQUEST_IDS if headers.get(name)), None)
            or _first_text(objects, "request_id")
            or None,
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


def _kind(told: _Told, status: int | None) -> tuple[_Kind, int | None]:
    if told.word is not None and told.word in _WORDS:
        kind = _WORDS[told.word]
        return kind, status or told.status or kind.status
    status = status or told.status
    if status is None:
        return _Kind(ProviderError, 0), None
    return _STATUSES.get(status) or (_FAILED if status >= 500 else _REFUSED), status


def _sub_kind(told: _Told) -> type[ProviderError] | None:
    message = told.message.replace("`", "").lower()
    return next((error_class for words, error_class in _MESSAGES if words in message), None)


def _message(told: _Told, body: object, status: int | None) -> str:
    """The provider's own text, shortened where it is long; a name for the failure where there is none."""
    text = told.message or (" ".join(body.split()) if isinstance(body, str) else "")
    if not text.strip():
        return f"{told.word or (f'HTTP {status}' if status is not None else 'an error')}, without a message"
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _hidden(value: Any) -> Any:
    if isinstance(value, str):
        return _SECRET.sub(_HIDDEN, value)
    if isinstance(value, list):
        return [_hidden(item) for item in value]
    if isinstance(value, dict):
        return {_hidden(name): _hidden(item) for name, item in value.items()}
    return value
