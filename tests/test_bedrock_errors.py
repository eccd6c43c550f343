"""Failures of Bedrock as typed errors: by the exception's name, then by the message, then by the status."""

from __future__ import annotations

from typing import Any

import pytest

from support.bedrock_streams import exception, started
from support.reading import read
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
from thinkaloud.protocols.bedrock.errors import error

NAMES: list[tuple[str, int, type[ProviderError], bool]] = [
    ("AccessDeniedException", 403, PermissionDenied, False),
    ("UnrecognizedClientException", 403, AuthenticationError, False),
    ("InvalidSignatureException", 403, AuthenticationError, False),
    ("ExpiredTokenException", 403, AuthenticationError, False),
    ("MissingAuthenticationToken", 403, AuthenticationError, False),
    ("InvalidClientTokenId", 403, AuthenticationError, False),
    ("ResourceNotFoundException", 404, NotFound, False),
    ("ThrottlingException", 429, RateLimited, True),
    ("ServiceQuotaExceededException", 400, QuotaExceeded, False),
    ("ModelNotReadyException", 429, Overloaded, True),
    ("ModelTimeoutException", 408, ServerError, True),
    ("ModelErrorException", 424, ServerError, True),
    ("ModelStreamErrorException", 424, ServerError, True),
    ("InternalServerException", 500, ServerError, True),
    ("ServiceUnavailableException", 503, Overloaded, True),
    ("ValidationException", 400, InvalidRequest, False),
    ("MPAgreementBeingCreated", 403, PermissionDenied, True),
]


def told(body: Any, status: int | None = 400, **headers: str) -> ProviderError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return error(ErrorResponse(body=body, status=status, headers=named, provider="bedrock"))


@pytest.mark.parametrize(("name", "status", "kind", "retryable"), NAMES)
def test_the_name_in_the_header_decides(name: str, status: int, kind: type[ProviderError], retryable: bool) -> None:
    errortype = f"{name}:http://internal.amazon.com/coral/com.amazon.bedrock/"
    found = told({"message": "it is so"}, status, x_amzn_errortype=errortype, x_amzn_requestid="req-1")
    assert type(found) is kind
    assert (found.message, found.status, found.code) == ("it is so", status, name)
    assert (found.retryable, found.request_id, found.provider) == (retryable, "req-1", "bedrock")


@pytest.mark.parametrize(("name", "status", "kind", "retryable"), NAMES)
def test_the_same_name_in_a_stream_gives_the_same_class(
    name: str, status: int, kind: type[ProviderError], retryable: bool
) -> None:
    frames = started() + exception(name[:1].lower() + name[1:], "it is so")
    found = read("bedrock-converse", [frames], provider="bedrock").error
    assert type(found) is kind
    assert isinstance(found, ProviderError)
    assert (found.message, found.status, found.retryable) == ("it is so", status, retryable)


@pytest.mark.parametrize(
    "body",
    [
        {"__type": "com.amazon.coral.service#ThrottlingException", "message": "m"},
        {"code": "ThrottlingException", "Message": "m"},
        {"Output": {"__type": "x#throttlingexception", "message": "m"}, "Version": "1.0"},
        {"error": {"code": "THROTTLINGEXCEPTION", "message": "m"}},
    ],
)
def test_the_name_may_stand_in_the_body_in_any_case_of_letters(body: Any) -> None:
    found = told(body, 400)
    assert type(found) is RateLimited
    assert found.message == "m"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Input is too long for requested model.", ContextTooLong),
        ("The model returned the following errors: Input Tokens Exceeded: too many", ContextTooLong),
        ("prompt is too long: 210000 tokens > 200000 maximum", ContextTooLong),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", StaleThinking),
        ("messages.1.content.0.thinking.signature: Field required", StaleThinking),
        ("`thinking` blocks in the latest assistant message cannot be modified", StaleThinking),
        ("The provided model identifier is invalid.", NotFound),
        ("Output blocked by content filtering policy", ContentFiltered),
        ("temperature is not supported", InvalidRequest),
    ],
)
def test_a_refused_request_is_told_by_its_message(message: str, kind: type[ProviderError]) -> None:
    for headers in ({}, {"x_amzn_errortype": "ValidationException"}):
        found = told({"message": message}, 400, **headers)
        assert type(found) is kind
        assert not found.retryable


@pytest.mark.parametrize(
    ("original", "kind"), [(400, InvalidRequest), (429, RateLimited), (500, ServerError), (None, ServerError)]
)
def test_what_the_models_own_host_said_decides_where_it_is_relayed(
    original: int | None, kind: type[ProviderError]
) -> None:
    body = {"message": "relayed", "originalStatusCode": original, "originalMessage": "why"}
    found = told(body, 424, x_amzn_errortype="ModelErrorException")
    assert (type(found), found.status) == (kind, 424)
    in_stream = told({"__type": "ModelStreamErrorException", **body}, None)
    assert (type(in_stream), in_stream.status) == (kind, 424)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, InvalidRequest), (401, AuthenticationError), (403, PermissionDenied), (502, ServerError), (503, Overloaded)],
)
def test_without_a_name_the_status_decides(status: int, kind: type[ProviderError]) -> None:
    assert type(told({"message": "m"}, status)) is kind
    assert type(told("<html>Bad gateway</html>", status)) is kind


def test_a_name_that_nobody_knows_is_kept() -> None:
    assert told({"message": "m"}, None).code is None
    found = told({"__type": "BrandNewException", "message": "m"}, None)
    assert (type(found), found.code, found.status) == (ProviderError, "BrandNewException", None)
    assert type(told({"message": "m"}, 400, x_amzn_errortype="BrandNewException")) is InvalidRequest


def test_a_failure_without_words_is_named() -> None:
    assert told({}, 503).message == "bedrock answered with status 503, without a message"
    named = told({}, 400, x_amzn_errortype="ValidationException").message
    assert named == "bedrock answered with status 400 (ValidationException), without a message"
    assert told(None, None).message == "bedrock failed, without a message"


def test_plain_text_is_the_message_shortened() -> None:
    assert told("upstream\n  failed", 502).message == "bedrock answered with status 502: upstream failed"
    assert len(told("x" * 5000, 502).message) < 600


def test_how_long_to_wait_is_read_from_the_headers() -> None:
    assert told({"message": "m"}, 429, retry_after="7").retry_after == 7.0


def test_keys_that_a_host_quotes_are_hidden() -> None:
    found = told({"message": "bad key AKIAIOSFODNN7EXAMPLE in Bearer abcdefghijklmnop"}, 403)
    assert "AKIA" not in repr(found.body) + found.message
    assert "abcdefghijklmnop" not in repr(found.body) + found.message


@pytest.mark.parametrize("body", [None, 7, [], [1], {"message": 7}, {"__type": []}, {"error": 3}, float("nan")])
def test_odd_bodies_are_still_typed(body: Any) -> None:
    assert type(told(body, 429)) is RateLimited
