"""Failures of chat endpoints come as the right class, in whatever shape the endpoint tells them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from thinkaloud.errors import (
    AuthenticationError,
    ContentFiltered,
    ContextTooLong,
    InvalidRequest,
    MalformedToolCall,
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
from thinkaloud.protocols.openai_chat import PROTOCOL


def error(body: Any, status: int | None = None, *, provider: str | None = "openai", **headers: str) -> ProviderError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return PROTOCOL.error(ErrorResponse(body=body, status=status, headers=named, provider=provider))


def said(message: str = "no", **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, InvalidRequest, False),
        (401, AuthenticationError, False),
        (402, QuotaExceeded, False),
        (403, PermissionDenied, False),
        (404, NotFound, False),
        (408, ServerError, True),
        (409, InvalidRequest, True),
        (413, InvalidRequest, False),
        (422, InvalidRequest, False),
        (424, RateLimited, True),
        (429, RateLimited, True),
        (498, Overloaded, True),
        (499, ServerError, True),
        (500, ServerError, True),
        (502, ServerError, True),
        (503, Overloaded, True),
        (504, ServerError, True),
        (520, ServerError, True),
        (529, Overloaded, True),
    ],
)
def test_the_status_decides_where_nothing_says_more(status: int, kind: type[ProviderError], retryable: bool) -> None:
    found = error(said(), status)
    assert (type(found), found.status, found.retryable) == (kind, status, retryable)


@pytest.mark.parametrize(
    ("status", "fields", "kind"),
    [
        (400, {"code": "context_length_exceeded"}, ContextTooLong),
        (400, {"code": "content_filter"}, ContentFiltered),
        (400, {"code": "content_policy_violation"}, ContentFiltered),
        (400, {"code": "unsupported_value", "param": "reasoning_effort"}, InvalidRequest),
        (401, {"code": "invalid_api_key"}, AuthenticationError),
        (404, {"code": "DeploymentNotFound"}, NotFound),
        (429, {"code": "insufficient_quota"}, QuotaExceeded),
        (429, {"code": "billing_hard_limit_reached"}, QuotaExceeded),
        (429, {"code": "rate_limit_exceeded"}, RateLimited),
        (503, {"code": "server_is_overloaded"}, Overloaded),
        (429, {"type": "exceeded_current_quota_error"}, QuotaExceeded),
        (429, {"type": "engine_overloaded_error"}, Overloaded),
        (429, {"code": "1302"}, RateLimited),
        (429, {"code": "1305"}, Overloaded),
        (429, {"code": "1113"}, QuotaExceeded),
        (429, {"code": "1310"}, QuotaExceeded),
        (429, {"code": "1316"}, QuotaExceeded),
        (400, {"code": "Arrearage"}, QuotaExceeded),
        (429, {"code": "Throttling.RateQuota"}, RateLimited),
        (400, {"code": "data_inspection_failed"}, ContentFiltered),
        (429, {"code": "queue_exceeded"}, Overloaded),
        (
            400,
            {"code": "tool_use_failed", "type": "invalid_request_error", "failed_generation": "{"},
            MalformedToolCall,
        ),
        (400, {"type": "too_many_prompt_tokens", "code": 400}, ContextTooLong),
        (400, {"code": 400, "type": "exceed_context_size_error", "n_ctx": 4096}, ContextTooLong),
        (503, {"code": 503, "type": "unavailable_error"}, Overloaded),
    ],
)
def test_a_word_of_the_provider_decides_before_the_status(
    status: int, fields: dict[str, Any], kind: type[ProviderError]
) -> None:
    assert type(error(said(**fields), status)) is kind


@pytest.mark.parametrize(
    ("fields", "kind", "status"),
    [
        ({"code": 429}, RateLimited, 429),
        ({"code": "503"}, Overloaded, 503),
        ({"code": 502}, ServerError, 502),
        ({"code": 400}, InvalidRequest, 400),
        ({"status_code": 401}, AuthenticationError, 401),
        ({"status": 413}, InvalidRequest, 413),
        ({"type": "invalid_request_error"}, InvalidRequest, None),
        ({"type": "server_error"}, ServerError, None),
        ({"type": "something_new"}, ServerError, None),
        ({"code": 1234}, ServerError, None),
        ({}, ServerError, None),
    ],
)
def test_inside_a_stream_a_number_stands_for_the_status(
    fields: dict[str, Any], kind: type[ProviderError], status: int | None
) -> None:
    found = error(said(**fields))
    assert (type(found), found.status) == (kind, status)


# the shapes


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "why", "type": "t", "param": None, "code": None}}, "why"),
        ({"error": "why"}, "why"),
        ({"code": "c", "error": "why"}, "why"),
        ({"message": "why", "request_id": "r"}, "why"),
        ({"object": "error", "message": "why", "type": "t", "param": None, "code": "1800"}, "why"),
        ({"detail": "why"}, "why"),
        ({"detail": [{"loc": ["body", "seed"], "msg": "why", "type": "extra_forbidden"}]}, "why"),
        ([{"error": {"code": 400, "message": "why", "status": "INVALID_ARGUMENT"}}], "why"),
        ({"error_msg": "why"}, "why"),
        ({"errors": [{"message": "why"}]}, "why"),
        ({"error": {"message": json.dumps({"error": {"message": "why"}})}}, "why"),
        ("why", "openai answered with status 422: why"),
        ("<html><head></head><body><h1>why</h1></body></html>", "openai answered with status 422: why"),
        ("", "openai answered with status 422, without a message"),
        (None, "openai answered with status 422, without a message"),
        ({"error": {}}, "openai answered with status 422, without a message"),
    ],
)
def test_the_text_is_found_in_every_shape(body: Any, message: str) -> None:
    found = error(body, 422)
    assert (type(found), found.message, found.body) == (InvalidRequest, message, body)


@pytest.mark.parametrize(
    "body", [7, True, [], [1], {"error": 5}, {"error": [None]}, {"error": {"code": {}, "message": []}}]
)
def test_odd_bodies_are_errors_all_the_same(body: Any) -> None:
    assert type(error(body, 500)) is ServerError


def test_the_provider_s_own_word_is_kept() -> None:
    assert error(said(code="model_not_found", type="invalid_request_error"), 404).code == "model_not_found"
    assert error(said(type="api_error", code=None), 401).code == "api_error"
    assert error(said(code="401"), 401).code == "401"
    assert error(said(code=400, metadata={"error_type": "rate_limit_exceeded"}), 429).code == "rate_limit_exceeded"


# what a gateway wraps


def test_what_the_upstream_provider_says_is_looked_into() -> None:
    raw = json.dumps({"error": {"message": "prompt is too long: 300000 tokens", "type": "invalid_request_error"}})
    found = error(said("Provider returned error", code=400, metadata={"raw": raw, "provider_name": "Anthropic"}), 400)
    assert type(found) is ContextTooLong
    assert found.message == "Provider returned error: prompt is too long: 300000 tokens"
    plain = error(said("Provider returned error", code=429, metadata={"raw": "too busy, upstream"}), 429)
    assert (type(plain), plain.message) == (RateLimited, "Provider returned error: too busy, upstream")


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("context_length_exceeded", ContextTooLong),
        ("rate_limit_exceeded", RateLimited),
        ("provider_overloaded", Overloaded),
        ("provider_unavailable", ServerError),
        ("payment_required", QuotaExceeded),
        ("content_policy_violation", ContentFiltered),
        ("authentication", AuthenticationError),
    ],
)
def test_the_gateway_s_error_type_decides(word: str, kind: type[ProviderError]) -> None:
    assert type(error(said(code=502, metadata={"error_type": word}))) is kind


def test_flagged_input_is_a_filter_and_not_a_lack_of_permission() -> None:
    metadata = {"reasons": ["violence"], "flagged_input": "..."}
    assert type(error(said(code=403, metadata=metadata), 403)) is ContentFiltered


def test_a_blocked_prompt_at_azure_is_a_filter() -> None:
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"jailbreak": {"detected": True}}}
    assert (
        type(error(said(type=None, param="prompt", code="content_filter", status=400, innererror=inner), 400))
        is ContentFiltered
    )


# the context window


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens",
        "This endpoint's maximum context length is 200000 tokens. However, you requested about 250000 tokens",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "Input tokens exceed the configured limit of 272000 tokens.",
        "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        "Please reduce the length of the messages or completion.",
        "request (9000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "The number of tokens to keep from the initial prompt is greater than the context length",
        "The input (9000 tokens) is longer than the model's context length (4096 tokens).",
        "Your request exceeded model token limit: 262144 (requested: 300000)",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "Current length is 70000 while limit is 65536",
        "Range of input length should be [1, 98304]",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193",
        "The prompt is too long: 300000, model maximum context length: 131072",
    ],
)
def test_texts_about_the_context_window_are_known(text: str) -> None:
    assert type(error(said(text), 400)) is ContextTooLong
    assert type(error(said(text))) is ContextTooLong


@pytest.mark.parametrize(
    ("status", "fields", "kind"),
    [
        (
            400,
            {"message": "string too long: maximum context length 128", "code": "string_above_max_length"},
            InvalidRequest,
        ),
        (413, {"message": "Request too large for model on tokens per minute (TPM): input too long"}, InvalidRequest),
        (429, {"message": "tokens per min limit; reduce the length of the messages"}, RateLimited),
    ],
)
def test_texts_that_only_sound_like_it_are_not(status: int, fields: dict[str, Any], kind: type[ProviderError]) -> None:
    assert type(error({"error": fields}, status)) is kind


@pytest.mark.parametrize("status", [400, 413])
def test_an_empty_body_at_cerebras_is_a_prompt_too_long(status: int) -> None:
    assert type(error("", status, provider="cerebras")) is ContextTooLong
    assert type(error("", status, provider="openai")) is InvalidRequest


# thinking that was refused


@pytest.mark.parametrize(
    "text",
    [
        "The reasoning_content in the thinking mode must be passed back to the API.",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        "Gemini models require OpenRouter reasoning details to be preserved in each request",
        "Function call is missing a thought_signature in functionCall parts",
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
    ],
)
def test_refused_thinking_has_its_own_class(text: str) -> None:
    assert type(error(said(text, type="invalid_request_error"), 400)) is StaleThinking


def test_capacity_texts() -> None:
    assert type(error({"message": "Service tier capacity exceeded for this model."}, 400)) is RateLimited
    assert type(error({"code": "The service is currently unavailable", "error": "try later"})) is Overloaded


# what else an error tells


def test_the_request_id_is_found() -> None:
    assert error(said(), 500, x_request_id="req_1", cf_ray="ray").request_id == "req_1"
    assert error(said(), 500, apim_request_id="apim").request_id == "apim"
    assert error(said(), 500, x_ds_trace_id="trace").request_id == "trace"
    assert error({"message": "no", "request_id": "in the body"}, 500).request_id == "in the body"
    assert error(said(), 500).request_id is None


def test_waiting_time_and_the_server_s_own_word_on_retries() -> None:
    assert error(said(), 429, retry_after="7").retry_after == 7.0
    assert error(said(), 400, x_should_retry="true").retryable
    assert not error(said(), 500, x_should_retry="false").retryable
    assert error(said(), 500, x_should_retry="perhaps").retryable


def test_provider_and_body_are_kept() -> None:
    body = said("no", code="tool_use_failed", failed_generation="<raw>")
    found = error(body, 400, provider="groq")
    assert (found.provider, found.body) == ("groq", body)


def test_a_huge_body_takes_no_time() -> None:
    text = "reasoning_content " * 100_000
    assert type(error(said(text), 400)) is InvalidRequest
    deep: Any = {"error": "end"}
    for _ in range(500):
        deep = {"error": deep}
    assert type(error(deep, 400)) is InvalidRequest


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_body_framed_as_a_stream_is_read_all_the_same(end: str) -> None:
    told = json.dumps({"error": {"message": "too busy", "type": "overloaded_error", "code": 529}})
    body = end.join((": hello", "event: error", "data: ", f"data: {told}", "", "data: [DONE]", ""))
    found = error(body, 529)
    assert (type(found), found.message, found.code) == (Overloaded, "too busy", "overloaded_error")
    assert error("data: nothing of use", 529).message == "openai answered with status 529: data: nothing of use"
