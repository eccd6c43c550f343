"""Every provider's failure is the same class for the same reason: prompts too long, filters, proxies, wrong types."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.context_length import TEXTS, tells_context_length
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.testing import Reply, encode_stream

PROTOCOLS = ["anthropic-messages", "bedrock-converse", "gemini", "openai-chat", "openai-responses"]


def error(protocol: str, body: Any, status: int | None, headers: dict[str, str] | None = None) -> ta.ProviderError:
    return wire_protocol(protocol).error(ErrorResponse(body=body, status=status, headers=headers or {}, provider="p"))


def refusal(protocol: str, message: str) -> Any:
    """A refused request as the protocol's own host writes it."""
    return {
        "anthropic-messages": {"type": "error", "error": {"type": "invalid_request_error", "message": message}},
        "bedrock-converse": {"__type": "ValidationException", "message": message},
        "gemini": {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": message}},
        "openai-chat": {"error": {"message": message, "type": "invalid_request_error", "code": None}},
        "openai-responses": {"error": {"message": message, "type": "invalid_request_error", "code": None}},
    }[protocol]


# prompts that are too long

# One sentence for each row of the table, in its order.
TOO_LONG = [
    "Provider says: context_length_exceeded",
    "This model's maximum context length is 8 tokens. However, you requested 9 tokens",
    "Your input exceeds the context window of this model.",
    "Input tokens exceed the configured limit of 8 tokens.",
    "prompt is too long: 9 tokens > 8 maximum",
    "input length and `max_tokens` exceed context limit: 4 + 5 > 8",
    "Input is too long for requested model.",
    "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
    "The input token count (9) exceeds the maximum number of tokens allowed (8).",
    "This model's maximum prompt length is 8 but the request contains 9 tokens.",
    "Please reduce the length of the messages or completion.",
    "The total length of all messages is too long.",
    "request (9 tokens) exceeds the available context size (8 tokens)",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "The input (9 tokens) is longer than the model's context length (8 tokens).",
    "Your request exceeded model token limit: 8 (requested: 9)",
    "Prompt contains 9 tokens, too large for model with 8 maximum context length",
    "Current length is 9 while limit is 8",
    "invalid params, context window exceeds limit (2013)",
    "Range of input length should be [1, 8]",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8",
    "input too long",
    "prompt tokens (9) exceeds the maximum of 8",
    "stopped: model_context_window_exceeded",
]


def test_every_row_about_the_context_window_has_its_sentence_and_a_source() -> None:
    assert len(TOO_LONG) == len(TEXTS)
    for text, (pattern, source) in zip(TOO_LONG, TEXTS, strict=True):
        assert re.search(pattern, text.replace("`", ""), re.IGNORECASE), pattern
        assert source


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_prompt_too_long_is_known_in_any_provider_s_words_on_every_protocol(protocol: str) -> None:
    for text in TOO_LONG:
        found = error(protocol, refusal(protocol, text), 400)
        assert (type(found), found.retryable, found.message) == (ta.ContextTooLong, False, text)


@pytest.mark.parametrize(
    "text",
    [
        "string too long: maximum context length 128 (string_above_max_length)",
        "Request too large on tokens per minute (TPM): input too long",
        "max_tokens is too large: this model supports at most 8 completion tokens",
        "image is too large",
    ],
)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_only_sounds_like_it_stays_a_refused_request(protocol: str, text: str) -> None:
    assert type(error(protocol, refusal(protocol, text), 400)) is ta.InvalidRequest


def test_a_long_text_about_nothing_takes_no_time() -> None:
    assert not tells_context_length("prompt tokens 1 exceeds " * 200_000)


# content filters, in the shapes of Azure


@pytest.mark.parametrize("protocol", ["openai-chat", "openai-responses"])
@pytest.mark.parametrize(
    "told",
    [
        {"code": "content_filter", "message": "filtered", "param": "prompt", "type": None, "status": 400},
        {"code": "content_filter", "message": "filtered", "content_filters": [{"blocked": True}]},
        {
            "code": None,
            "message": "filtered",
            "innererror": {
                "code": "ResponsibleAIPolicyViolation",
                "content_filter_result": {"jailbreak": {"filtered": True, "detected": True}},
            },
        },
        {"code": "content_policy_violation", "message": "filtered"},
    ],
)
def test_a_prompt_that_azure_filters_is_filtered_whatever_shape_tells_it(protocol: str, told: dict[str, Any]) -> None:
    for status in (400, None):
        found = error(protocol, {"error": told}, status)
        assert (type(found), found.message, found.retryable) == (ta.ContentFiltered, "filtered", False)


# proxies

PAGE = "<html><head><title>Bad</title><style>h1 {color: red}</style></head>\n<body><h1>Bad</h1><p>x</p></body></html>"
BY_STATUS = [
    (400, ta.InvalidRequest),
    (401, ta.AuthenticationError),
    (402, ta.QuotaExceeded),
    (403, ta.PermissionDenied),
    (404, ta.NotFound),
    (413, ta.InvalidRequest),
    (422, ta.InvalidRequest),
    (429, ta.RateLimited),
    (500, ta.ServerError),
    (502, ta.ServerError),
    (503, ta.Overloaded),
    (504, ta.ServerError),
    (522, ta.ServerError),
    (529, ta.Overloaded),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(("status", "kind"), BY_STATUS)
def test_a_proxy_s_page_text_or_silence_is_judged_by_its_status(
    protocol: str, status: int, kind: type[ta.ProviderError]
) -> None:
    for body, message in ((PAGE, "Bad Bad x"), ("nobody\n is there", "nobody is there"), ("", None), (None, None)):
        found = error(protocol, body, status)
        assert (type(found), found.status, found.body) == (kind, status, body)
        said = f"p answered with status {status}"
        assert found.message == (f"{said}: {message}" if message else f"{said}, without a message")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "header", ["request-id", "x-request-id", "x-amzn-requestid", "x-goog-request-id", "apim-request-id", "cf-ray"]
)
def test_the_id_of_a_failed_request_is_found_whatever_stands_before_the_model(protocol: str, header: str) -> None:
    assert error(protocol, "", 500, {header: "r1"}).request_id == "r1"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_provider_s_id_goes_before_a_proxy_s(protocol: str) -> None:
    assert error(protocol, "", 500, {"cf-ray": "proxy", "x-request-id": "theirs"}).request_id == "theirs"


# the same body has the same words everywhere


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({}, "p answered with status 422, without a message", None),
        ({"error": {"code": "out_of_tea"}}, "p answered with status 422 (out_of_tea), without a message", "out_of_tea"),
        ("nope", "p answered with status 422: nope", None),
        ({"detail": [{"loc": ["body", "seed"], "msg": "field required"}]}, "field required", None),
        ({"error": {"message": "why", "code": "out_of_tea"}}, "why", "out_of_tea"),
        ({"message": "why", "code": "out_of_tea"}, "why", "out_of_tea"),
        ({"errors": [{"message": "why"}]}, "why", None),
        ('event: error\ndata: {"error": {"message": "why", "code": "out_of_tea"}}\n', "why", "out_of_tea"),
    ],
)
def test_the_same_body_has_the_same_words_on_every_protocol(
    protocol: str, body: Any, message: str, code: str | None
) -> None:
    found = error(protocol, body, 422)
    assert (type(found), found.message, found.code, found.body) == (ta.InvalidRequest, message, code, body)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_long_text_is_shortened_on_every_protocol(protocol: str) -> None:
    for body in (refusal(protocol, "x" * 5000), "x" * 5000):
        found = error(protocol, body, 400)
        assert len(found.message) < 600
        assert found.message.endswith("x…")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_providers_words_are_one_line_of_printable_text_and_its_body_stays(protocol: str) -> None:
    body = refusal(protocol, "red\x1b[31m\n\n  and\x00 \u202eback")
    found = error(protocol, body, 400)
    assert str(found) == r"red\x1b[31m and\x00 \u202eback"
    assert str(found).isprintable()
    assert repr(found).isprintable()
    assert found.body == body


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_providers_code_and_id_are_one_line_of_printable_text(protocol: str) -> None:
    found = error(protocol, {"error": {"message": "why", "code": "a\nb\x1b"}}, 400, {"x-request-id": "r\t1\x07"})
    assert (found.code, found.request_id) == (r"a b\x1b", r"r 1\x07")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_json_behind_a_byte_order_mark_is_read(protocol: str) -> None:
    body = b"\xef\xbb\xbf" + json.dumps(refusal(protocol, "why")).encode()
    for status in (400, 200):
        with pytest.raises(ta.InvalidRequest) as raised:
            ta.parse(protocol, body, status=status)
        assert raised.value.message == "why"
        assert raised.value.body == refusal(protocol, "why")


# the id of a request that fails after its head has come


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("header", ["request-id", "x-request-id", "x-amzn-requestid", "cf-ray"])
def test_a_failure_inside_a_200_has_the_request_id_of_its_head(protocol: str, header: str) -> None:
    refused = json.dumps({**refusal(protocol, "why"), "request_id": "of-the-body"}).encode()
    answer = b"".join(encode_stream(protocol, Reply(["Hello"])))
    cut = answer[: len(answer) // 3]
    for body in (refused, cut, b"<html>", b"", b"{"):
        with pytest.raises((ta.ProviderError, ta.StreamError)) as raised:
            ta.parse(protocol, body, headers={header: "r1"})
        assert isinstance(raised.value, (ta.ProviderError, ta.StreamError))
        assert raised.value.request_id == "r1"


@pytest.mark.parametrize("protocol", ["anthropic-messages", "openai-chat", "openai-responses"])
def test_an_id_in_the_body_counts_where_the_head_has_none(protocol: str) -> None:
    with pytest.raises(ta.ProviderError) as raised:
        ta.parse(protocol, json.dumps({**refusal(protocol, "why"), "request_id": "of-the-body"}).encode())
    assert raised.value.request_id == "of-the-body"


# wrong types of content


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_web_page_with_status_200_is_no_answer(protocol: str) -> None:
    with pytest.raises(ta.MalformedStream, match=r"is HTML, not .*'Bad Bad x'"):
        ta.parse(protocol, PAGE.encode(), headers={"content-type": "text/html"})


@pytest.mark.parametrize("protocol", ["anthropic-messages", "gemini", "openai-chat", "openai-responses"])
def test_a_plain_text_with_status_200_is_no_answer_and_the_error_says_what_came(protocol: str) -> None:
    with pytest.raises(ta.TruncatedStream, match="it is 'text/plain' and begins with 'upstream connect error'"):
        ta.parse(protocol, b"upstream connect error", headers={"content-type": "text/plain; charset=utf-8"})


def test_a_plain_text_with_status_200_is_no_frame() -> None:
    with pytest.raises(ta.MalformedStream):
        ta.parse("bedrock-converse", b"upstream connect error", headers={"content-type": "text/plain"})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_empty_body_with_status_200_is_no_answer(protocol: str) -> None:
    for headers in ({}, {"content-type": "application/json"}, {"content-type": "text/event-stream"}):
        with pytest.raises(ta.TruncatedStream):
            ta.parse(protocol, b"", headers=headers)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("content_type", ["application/json", "text/html", "text/event-stream", ""])
def test_an_error_with_status_200_is_read_whatever_type_it_calls_itself(protocol: str, content_type: str) -> None:
    body = refusal(protocol, "prompt is too long")
    with pytest.raises(ta.ProviderError, match="prompt is too long"):
        ta.parse(protocol, json.dumps(body).encode(), headers={"content-type": content_type})
