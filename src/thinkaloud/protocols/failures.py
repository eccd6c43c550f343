"""What the error tables of several protocols share: what a word or a status stands for, and what is told of a body."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from thinkaloud.errors import (
    AuthenticationError,
    ContextTooLong,
    InvalidRequest,
    NotFound,
    Overloaded,
    PermissionDenied,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    ServerError,
    one_line,
)
from thinkaloud.protocols.context_length import tells_context_length
from thinkaloud.protocols.fields import unsendable
from thinkaloud.wire.hiding import hidden


@frozen
class Kind:
    """What a word of a provider stands for. retryable: None takes the default of the class."""

    error: type[ProviderError]
    status: int
    retryable: bool | None = None


# `error.status` of Google's hosts, whichever protocol their models speak.
GOOGLE_WORDS = {
    "INVALID_ARGUMENT": Kind(InvalidRequest, 400),
    "FAILED_PRECONDITION": Kind(InvalidRequest, 400),
    "OUT_OF_RANGE": Kind(InvalidRequest, 400),
    "UNAUTHENTICATED": Kind(AuthenticationError, 401),
    "PERMISSION_DENIED": Kind(PermissionDenied, 403),
    "NOT_FOUND": Kind(NotFound, 404),
    "ALREADY_EXISTS": Kind(InvalidRequest, 409),
    "ABORTED": Kind(InvalidRequest, 409, True),
    "RESOURCE_EXHAUSTED": Kind(RateLimited, 429),
    "CANCELLED": Kind(ServerError, 499, False),
    "INTERNAL": Kind(ServerError, 500),
    "UNKNOWN": Kind(ServerError, 500),
    "DATA_LOSS": Kind(ServerError, 500),
    "UNIMPLEMENTED": Kind(ServerError, 501, False),
    "UNAVAILABLE": Kind(Overloaded, 503),
    "DEADLINE_EXCEEDED": Kind(ServerError, 504),
}

# The exceptions of Amazon Bedrock, whichever protocol its models speak.
AWS_WORDS = {
    "ValidationException": Kind(InvalidRequest, 400),
    "ServiceQuotaExceededException": Kind(QuotaExceeded, 400),
    "UnrecognizedClientException": Kind(AuthenticationError, 403),
    "InvalidSignatureException": Kind(AuthenticationError, 403),
    "ExpiredTokenException": Kind(AuthenticationError, 403),
    "InvalidClientTokenId": Kind(AuthenticationError, 403),
    "MissingAuthenticationToken": Kind(AuthenticationError, 403),
    "MissingAuthenticationTokenException": Kind(AuthenticationError, 403),
    "IncompleteSignature": Kind(AuthenticationError, 403),
    "IncompleteSignatureException": Kind(AuthenticationError, 403),
    "SignatureDoesNotMatch": Kind(AuthenticationError, 403),
    "ExpiredToken": Kind(AuthenticationError, 403),
    "RequestExpired": Kind(AuthenticationError, 403),
    "AccessDeniedException": Kind(PermissionDenied, 403),
    "ResourceNotFoundException": Kind(NotFound, 404),
    "ModelTimeoutException": Kind(ServerError, 408),
    "ModelErrorException": Kind(ServerError, 424),
    "ModelStreamErrorException": Kind(ServerError, 424),
    "ThrottlingException": Kind(RateLimited, 429),
    "ModelNotReadyException": Kind(Overloaded, 429),
    "InternalServerException": Kind(ServerError, 500),
    "ServiceUnavailableException": Kind(Overloaded, 503),
}

_STATUSES = {
    401: Kind(AuthenticationError, 401),
    402: Kind(QuotaExceeded, 402),
    403: Kind(PermissionDenied, 403),
    404: Kind(NotFound, 404),
    408: Kind(ServerError, 408),
    409: Kind(InvalidRequest, 409, True),
    424: Kind(ServerError, 424),
    429: Kind(RateLimited, 429),
    499: Kind(ServerError, 499),
    503: Kind(Overloaded, 503),
    529: Kind(Overloaded, 529),
}
_REFUSED = Kind(InvalidRequest, 400)
_FAILED = Kind(ServerError, 500)

_LONGEST = 500


def by_status(status: int) -> Kind:
    """What a status stands for where no word tells it."""
    return _STATUSES.get(status) or (_FAILED if status >= 500 else _REFUSED)


def by_message(message: str, table: Iterable[tuple[str, type[ProviderError]]]) -> type[ProviderError] | None:
    """The class whose words the message holds; the table's words are in lower case and without backticks."""
    plain = message.replace("`", "").lower()
    return next((error_class for words, error_class in table if words in plain), None)


def sub_kind(
    error: type[ProviderError],
    message: str,
    tables: Mapping[type[ProviderError], Iterable[tuple[str, type[ProviderError]]]],
) -> type[ProviderError] | None:
    """The class that a message tells more exactly than the word or status before it; None: it tells no more."""
    if error is InvalidRequest and tells_context_length(message):
        return ContextTooLong
    return by_message(message, tables.get(error, ()))


# Headers that name an answer, at whatever host or gateway stands before a model; a proxy's own id is the last resort.
_REQUEST_IDS = (
    "request-id",
    "x-request-id",
    "x-amzn-requestid",
    "x-amz-request-id",
    "x-goog-request-id",
    "apim-request-id",  # Azure
    "x-ms-request-id",
    "x-ds-trace-id",  # DeepSeek
    "mistral-correlation-id",
    "x-kong-request-id",
    "cf-ray",
)


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """What to quote to the provider's support, by the headers of its answer; names are in lower case."""
    return next((one_line(hidden(headers[name])) for name in _REQUEST_IDS if headers.get(name)), None)


def readable(body: str) -> str:
    """The readable part of a body that is no JSON: a proxy's HTML page, or plain text."""
    return " ".join(_NO_TEXT.sub(" ", body[:_LONGEST_PAGE]).split())


_NO_TEXT = re.compile(r"<(style|script)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_LONGEST_PAGE = 4000


def shortened(text: str) -> str:
    """A provider's text, cut where it is long."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def quotable(body: Any) -> Any:
    """A body as an error may carry it: without what looks like a credential, and cut where JSON cannot hold it."""
    return hidden(body if unsendable(body) is None else repr(body)[:_LONGEST])
