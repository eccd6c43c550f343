"""A failure of Bedrock as one of our exceptions: an HTTP error, or an exception frame inside a 200 stream.

What decides is the exception's name, wherever it stands (a header, the body, the frame), in any case of letters; then
the message, for refusals that say more than their name; then the status.
"""

from __future__ import annotations

from typing import cast

from attrs import evolve

from thinkaloud.errors import (
    AuthenticationError,
    ContentFiltered,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    ProviderError,
    ServerError,
    StaleThinking,
)
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.error_bodies import code_in, message_in, opened, text_of
from thinkaloud.protocols.failures import (
    AWS_WORDS,
    Kind,
    by_status,
    quotable,
    request_id_of,
    sub_kind,
)
from thinkaloud.protocols.fields import JsonObject
from thinkaloud.wire.retry_after import retry_after

_WORDS = {
    **{word.lower(): kind for word, kind in AWS_WORDS.items()},
    "mpagreementbeingcreated": Kind(PermissionDenied, 403, True),  # access is being granted: some minutes
    "internalfailure": Kind(ServerError, 500),
    "requesttimeoutexception": Kind(ServerError, 408),
}

# Names under which the service hides what the model's own host answered, with that host's status beside them.
_RELAYED = ("modelerrorexception", "modelstreamerrorexception")

# By what the message says, in lower case and without backticks. Wording is unstable: what matches nothing stays what
# its name or status says.
_MESSAGES: tuple[tuple[str, type[ProviderError]], ...] = (
    ("invalid signature", StaleThinking),
    ("thinking.signature: field required", StaleThinking),
    ("cannot be modified", StaleThinking),
    ("bound to a different conversation", StaleThinking),
    ("blocked by content filtering", ContentFiltered),
    ("provided model identifier is invalid", NotFound),
)

# What is said of a key where the name is that of a missing permission (AWS's documentation of Bedrock keys).
_KEY_MESSAGES: tuple[tuple[str, type[ProviderError]], ...] = (
    ("make sure your api key is valid", AuthenticationError),
    ("invalid api key", AuthenticationError),
    ("bearer token has expired", AuthenticationError),
    ("security token included in the request", AuthenticationError),
    ("signature expired", AuthenticationError),
)
_BY_MESSAGE = {InvalidRequest: _MESSAGES, PermissionDenied: _KEY_MESSAGES}


def error(response: ErrorResponse) -> ProviderError:
    """Build the typed error of a failure. Never raises, whatever the body holds."""
    body = quotable(response.body)
    read = opened(body)
    told = _told(read)
    word = _code(told, response)
    code = word or code_in(read) or None
    message = _first(told, "message", "Message", "errorMessage", "originalMessage") or message_in(read)
    kind = _kind(word, told, response.status)
    error_class = sub_kind(kind.error, message or (read if isinstance(read, str) else ""), _BY_MESSAGE)
    status = response.status or kind.status or None
    return (error_class or kind.error)(
        text_of(message, read, provider=response.provider, status=status, code=code),
        provider=response.provider,
        status=status,
        code=code,
        request_id=request_id_of(response.headers),
        body=body,
        retryable=None if error_class else kind.retryable,
        retry_after=retry_after(response.headers),
    )


def _told(body: object) -> JsonObject:
    """The object that tells of the failure; gateways put it inside another one."""
    outer = cast("JsonObject", body) if isinstance(body, dict) else {}
    inner = (outer.get(name) for name in ("error", "Output"))
    return next((cast("JsonObject", value) for value in inner if isinstance(value, dict)), outer)


def _code(told: JsonObject, response: ErrorResponse) -> str:
    """The exception's name, without the namespace before it and the address after it."""
    word = response.headers.get("x-amzn-errortype") or _first(told, "__type", "code", "Code")
    return word.partition(":")[0].rpartition("#")[2].strip()


def _kind(code: str, told: JsonObject, status: int | None) -> Kind:
    word = code.lower()
    kind = _WORDS.get(word)
    if kind is None:
        # In a stream a name that nobody knows tells nothing of its cause.
        return by_status(status) if status is not None else Kind(ProviderError, 0)
    original = told.get("originalStatusCode")
    if word in _RELAYED and isinstance(original, int) and 400 <= original < 600:
        return evolve(by_status(original), status=kind.status)
    return kind


def _first(told: JsonObject, *names: str) -> str:
    for name in names:
        value = told.get(name)
        if isinstance(value, str) and value:
            return value
    return ""
