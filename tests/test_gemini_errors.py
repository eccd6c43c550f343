"""HTTP failures of Gemini as typed errors, by their words, details and statuses."""

from __future__ import annotations

from typing import Any

import pytest

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
    StaleThinking,
)
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.gemini.errors import error


def failure(status: int | None, word: str = "", message: str = "it is so", details: Any = None, **headers: str) -> Any:
    told: dict[str, Any] = {"message": message, "status": word, "details": details}
    if status is not None:
        told["code"] = status
    body = {"error": told}
    return error(ErrorResponse(body=body, status=status, headers=headers, provider="google"))


@pytest.mark.parametrize(
    ("status", "word", "kind", "retryable"),
    [
        (400, "INVALID_ARGUMENT", InvalidRequest, False),
        (400, "FAILED_PRECONDITION", InvalidRequest, False),
        (401, "UNAUTHENTICATED", AuthenticationError, False),
        (403, "PERMISSION_DENIED", PermissionDenied, False),
        (404, "NOT_FOUND", NotFound, False),
        (409, "ABORTED", InvalidRequest, True),
        (429, "RESOURCE_EXHAUSTED", RateLimited, True),
        (499, "CANCELLED", ServerError, False),
        (500, "INTERNAL", ServerError, True),
        (501, "UNIMPLEMENTED", ServerError, False),
        (503, "UNAVAILABLE", Overloaded, True),
        (504, "DEADLINE_EXCEEDED", ServerError, True),
    ],
)
def test_a_word_has_its_class_with_and_without_a_status(
    status: int, word: str, kind: type[ProviderError], retryable: bool
) -> None:
    for found in (failure(status, word), failure(None, word), failure(status)):
        assert type(found) is kind
        assert (found.status, found.retryable) == (status, retryable)
    assert failure(status, word).code == word
    assert failure(status, word).message == "it is so"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("The input token count (9) exceeds the maximum number of tokens allowed (8).", ContextTooLong),
        ("Function call is missing a thought_signature in functionCall parts.", StaleThinking),
        ("Invalid thought signature.", StaleThinking),
        ("Base64 decoding failed for 'sig'", StaleThinking),
        ("API key not valid. Please pass a valid API key.", AuthenticationError),
        ("Thinking level MINIMAL is not supported for this model.", InvalidRequest),
    ],
)
def test_a_refused_request_is_told_apart_by_its_message(message: str, kind: type[ProviderError]) -> None:
    assert type(failure(400, "INVALID_ARGUMENT", message)) is kind


def test_a_bad_key_is_known_by_the_reason_in_the_details() -> None:
    assert type(failure(400, "INVALID_ARGUMENT", details=[{"reason": "API_KEY_INVALID"}])) is AuthenticationError


def test_a_daily_quota_is_not_worth_waiting_for() -> None:
    def of(quota: str) -> Any:
        return failure(429, "RESOURCE_EXHAUSTED", details=[{"violations": [{"quotaId": quota}]}])

    assert (type(of("RequestsPerDayPerModel")), of("RequestsPerDayPerModel").retryable) == (QuotaExceeded, False)
    assert type(of("RequestsPerMinutePerModel")) is RateLimited


def test_the_wait_is_read_from_the_details_unless_a_header_tells_it() -> None:
    details = [{"retryDelay": "0.5s"}]
    assert failure(429, "RESOURCE_EXHAUSTED", details=details).retry_after == 0.5
    assert failure(429, "RESOURCE_EXHAUSTED", details=details, **{"retry-after": "7"}).retry_after == 7
    assert failure(429, "RESOURCE_EXHAUSTED", details=[{"retryDelay": "soon"}]).retry_after is None


@pytest.mark.parametrize(
    "body", ["", "busy", "<html><b>Bad</b> gateway</html>", None, [], {}, [5], {"error": 5}, {"error": "text"},
             {"error": {"details": 5, "status": 5, "code": "x"}}, {"error": {"details": [5]}}, [[[]]]],
)  # fmt: skip
def test_a_body_of_any_form_has_a_class_and_a_message(body: Any) -> None:
    found = error(ErrorResponse(body=body, status=502))
    assert type(found) is ServerError
    assert found.message
    assert found.status == 502


def test_a_page_of_a_proxy_is_read_without_its_tags() -> None:
    found = error(ErrorResponse(body="<b>Bad</b>\n gateway", status=502))
    assert found.message == "the provider answered with status 502: Bad gateway"


def test_an_error_in_an_array_is_unwrapped() -> None:
    body = [{"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}]
    found = error(ErrorResponse(body=body, status=429))
    assert (type(found), found.message) == (RateLimited, "slow")


def test_a_key_that_a_host_quotes_is_hidden() -> None:
    key = "AIza" + "x" * 35
    found = failure(400, "INVALID_ARGUMENT", f"bad key {key}")
    assert key not in f"{found} {found.body!r}"


def test_the_request_is_named_by_its_header() -> None:
    assert failure(500, **{"x-goog-request-id": "abc"}).request_id == "abc"
