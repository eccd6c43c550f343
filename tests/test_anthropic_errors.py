"""Failures of the Messages API, from every host of it, as our exceptions."""

from __future__ import annotations

import json
from typing import Any

import pytest

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
from thinkaloud.protocols.anthropic.errors import error
from thinkaloud.protocols.base import ErrorResponse


def failure(body: Any, status: int | None = 400, **headers: str) -> ProviderError:
    lowered = {name.replace("_", "-"): value for name, value in headers.items()}
    return error(ErrorResponse(body=body, status=status, headers=lowered, provider="anthropic"))


def said(word: str, message: str = "said so", **fields: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": word, "message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "word", "kind", "retryable"),
    [
        (400, "invalid_request_error", InvalidRequest, False),
        (401, "authentication_error", AuthenticationError, False),
        (402, "billing_error", QuotaExceeded, False),
        (403, "permission_error", PermissionDenied, False),
        (404, "not_found_error", NotFound, False),
        (409, "conflict_error", InvalidRequest, True),
        (413, "request_too_large", InvalidRequest, False),
        (429, "rate_limit_error", RateLimited, True),
        (500, "api_error", ServerError, True),
        (504, "timeout_error", ServerError, True),
        (529, "overloaded_error", Overloaded, True),
    ],
)
def test_a_word_gives_one_class_with_a_status_and_without(
    status: int, word: str, kind: type[ProviderError], retryable: bool
) -> None:
    for given in (status, None):
        told = failure(said(word), given)
        assert type(told) is kind
        assert (told.status, told.code, told.retryable) == (status, word, retryable)


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, InvalidRequest, False),
        (401, AuthenticationError, False),
        (403, PermissionDenied, False),
        (404, NotFound, False),
        (408, ServerError, True),
        (409, InvalidRequest, True),
        (418, InvalidRequest, False),
        (429, RateLimited, True),
        (500, ServerError, True),
        (502, ServerError, True),
        (503, Overloaded, True),
        (529, Overloaded, True),
    ],
)
def test_without_a_known_word_the_status_decides(status: int, kind: type[ProviderError], retryable: bool) -> None:
    bodies: list[Any] = [{}, said("new_error"), "<html>gone</html>", "", None, [], 7]
    for body in bodies:
        told = failure(body, status)
        assert type(told) is kind
        assert told.retryable is retryable


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("prompt is too long: 250000 tokens > 200000 maximum", ContextTooLong),
        ("input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000", ContextTooLong),
        ("Your credit balance is too low to access the API", QuotaExceeded),
        ("You have reached your specified API usage limits.", QuotaExceeded),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", StaleThinking),
        ("messages.1.content.0.thinking.signature: Field required", StaleThinking),
        ("`thinking` or `redacted_thinking` blocks in the latest assistant message CANNOT BE MODIFIED", StaleThinking),
        ("messages.1.content.0: The block is bound to a different conversation", StaleThinking),
        ("Output blocked by content filtering policy", ContentFiltered),
        ("temperature is not supported for this model", InvalidRequest),
    ],
)
def test_the_message_of_a_refused_request_tells_its_sub_kind(message: str, kind: type[ProviderError]) -> None:
    told = failure(said("invalid_request_error", message))
    assert type(told) is kind
    assert told.message == message
    assert not told.retryable


def test_words_in_the_message_of_another_kind_change_nothing() -> None:
    assert type(failure(said("overloaded_error", "prompt is too long for now"), 529)) is Overloaded


def test_a_spent_limit_is_a_quota_whatever_its_status() -> None:
    spent = said("rate_limit_error", details={"error_code": "organization_spend_limit_reached"})
    told = failure(spent, 429)
    assert type(told) is QuotaExceeded
    assert not told.retryable


@pytest.mark.parametrize("wrap", [lambda body: body, lambda body: [body]], ids=["object", "array"])
def test_google_s_shape_is_read(wrap: Any) -> None:
    body = wrap({"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED"}})
    for status in (429, None):
        told = failure(body, status)
        assert type(told) is RateLimited
        assert (told.status, told.code, told.message) == (429, "RESOURCE_EXHAUSTED", "Quota exceeded")


@pytest.mark.parametrize(
    "header",
    ["ThrottlingException", "ThrottlingException:http://internal.amazon.com/", "com.amazon#ThrottlingException"],
)
def test_amazon_s_shape_is_read(header: str) -> None:
    told = failure({"message": "Too many requests"}, 429, x_amzn_errortype=header, x_amzn_requestid="id-1")
    assert type(told) is RateLimited
    assert (told.code, told.message, told.request_id) == ("ThrottlingException", "Too many requests", "id-1")


def test_amazon_s_word_wins_over_its_status() -> None:
    assert type(failure({"message": "quota"}, 400, x_amzn_errortype="ServiceQuotaExceededException")) is QuotaExceeded
    assert type(failure({"Message": "key"}, 403, x_amzn_errortype="ExpiredTokenException")) is AuthenticationError
    assert (
        type(failure({"message": "Input is too long."}, 400, x_amzn_errortype="ValidationException")) is ContextTooLong
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "plain"}, "plain"),
        ({"detail": "from a framework"}, "from a framework"),
        ({"type": "overloaded_error", "message": "flat"}, "flat"),
        ("  upstream\n  connect error ", "anthropic answered with status 500: upstream connect error"),
        ("", "anthropic answered with status 500, without a message"),
        ({}, "anthropic answered with status 500, without a message"),
        (
            {"error": {"type": "api_error", "message": ""}},
            "anthropic answered with status 500 (api_error), without a message",
        ),
    ],
)
def test_the_provider_s_own_text_is_found_wherever_it_stands(body: Any, message: str) -> None:
    assert failure(body, 500).message == message


def test_a_long_text_is_shortened_in_the_message_and_whole_in_the_body() -> None:
    told = failure("x" * 5000, 502)
    assert len(told.message) < 600
    assert told.body == "x" * 5000


def test_the_request_id_comes_from_the_header_or_else_the_body() -> None:
    body = {**said("api_error"), "request_id": "req_body"}
    assert failure(body, 500, request_id="req_header").request_id == "req_header"
    assert failure(body, 500).request_id == "req_body"
    assert failure(said("api_error"), 500).request_id is None


def test_the_wait_comes_from_the_headers() -> None:
    assert failure(said("rate_limit_error"), 429, retry_after="7").retry_after == 7.0
    assert failure(said("rate_limit_error"), 429, retry_after_ms="250", retry_after="7").retry_after == 0.25
    assert failure(said("rate_limit_error"), 429).retry_after is None


def test_a_credential_that_a_host_quotes_is_hidden_in_message_and_body() -> None:
    secrets = ["sk-ant-api03-abcdefgh", "AIzaSyA1234567890abcdefghijk", "AKIAABCDEFGHIJKLMNOP"]
    for secret in [*secrets, "Bearer abcdef123456"]:
        told = failure(said("authentication_error", f"Incorrect key provided: {secret}. Check it."), 401)
        shown = f"{told!r} {told} {json.dumps(told.body)}"
        assert secret.removeprefix("Bearer ") not in shown
        assert "Incorrect key provided" in told.message


def test_unknown_words_in_a_stream_give_the_plain_class() -> None:
    told = failure(said("new_error"), None)
    assert type(told) is ProviderError
    assert (told.status, told.retryable) == (None, False)


def test_no_shape_of_a_body_is_too_odd() -> None:
    deep: Any = {}
    for _ in range(900):
        deep = {"error": deep}
    odd: list[Any] = [deep, {"error": [1, {"message": "m"}]}, {"error": {"type": ["x"], "message": {}, "code": "x"}}]
    for body in [
        *odd,
        {"error": {"details": [7]}},
        [[[]]],
        [None],
        1.5,
        True,
        {"message": ["x"]},
        {"error": {"code": 7}},
    ]:
        assert isinstance(failure(body, 400), ProviderError)
        assert isinstance(failure(body, None), ProviderError)
