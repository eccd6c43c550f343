"""Failures of chat endpoints, in the shapes that they come in, as typed errors.

The same tables serve an HTTP answer and an error object inside a 200 stream. What decides, in this order: a word of
the provider that says it exactly, a text about the context window, then the HTTP status or the number that stands for
one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

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
from thinkaloud.protocols.context_length import tells_context_length
from thinkaloud.protocols.error_bodies import TEXT_FIELDS, objects_in, opened, text_of, texts_of, words_of
from thinkaloud.protocols.failures import quotable, readable, request_id_of
from thinkaloud.wire.hiding import hidden
from thinkaloud.wire.retry_after import retry_after


@frozen
class _Kind:
    """A class of error; retryable: None takes the class's own."""

    type: type[ProviderError]
    retryable: bool | None = None


def _words(kind: type[ProviderError], *words: str, retryable: bool | None = None) -> dict[str, _Kind]:
    return dict.fromkeys(words, _Kind(kind, retryable))


# The provider's `code`, `type`, `error_type` or finish reason, in lower case. Only words that say more than the status.
_WORDS: dict[str, _Kind] = {
    **_words(
        ContextTooLong,
        "context_length_exceeded",
        "exceed_context_size_error",  # llama.cpp
        "model_context_window_exceeded",
        "too_many_prompt_tokens",  # Perplexity
        "1261",  # Z.ai
    ),
    **_words(
        ContentFiltered,
        "content_filter",  # Azure
        "content_policy_violation",
        "responsibleaipolicyviolation",
        "data_inspection_failed",  # Alibaba
        "datainspectionfailed",
        "refusal",  # OpenRouter
        "bio_policy",
        "misalignment_policy_violation",
        "image_content_policy_violation",
        "1301",  # Z.ai
    ),
    **_words(
        QuotaExceeded,
        "insufficient_quota",
        "billing_hard_limit_reached",
        "credit_balance_exhausted",
        "organization_spend_limit_exceeded",
        "project_spend_limit_exceeded",
        "organization_usage_limit_exceeded",
        "exceeded_current_quota_error",  # Moonshot
        "payment_required",  # OpenRouter
        "arrearage",  # Alibaba
        "1113",  # Z.ai: this one and the next are quota or plan limits, though their status is 429
        *(str(code) for code in (*range(1308, 1312), *range(1313, 1322))),
    ),
    **_words(
        RateLimited,
        "rate_limit_exceeded",
        "rate_limit_error",
        "rate_limit_reached_error",  # Moonshot
        "token_quota_exceeded",  # Cerebras: per minute
        "request_quota_exceeded",
        "throttling",  # Alibaba
        "throttling.ratequota",
        "throttling.allocationquota",
        "limit_requests",
        "too_many_requests",  # Azure, inside a stream
        "1302",  # Z.ai
    ),
    **_words(
        Overloaded,
        "server_is_overloaded",
        "service_unavailable",
        "overloaded_error",
        "engine_overloaded_error",  # Moonshot
        "provider_overloaded",  # OpenRouter
        "queue_exceeded",  # Cerebras
        "unavailable_error",  # llama.cpp: the model is loading
        "insufficient_system_resource",  # DeepSeek, as a finish reason
        "1305",  # Z.ai
    ),
    **_words(
        ServerError,
        "server_error",
        "provider_unavailable",  # OpenRouter
        "network_error",  # Z.ai, as a finish reason
        "vector_store_timeout",
    ),
    **_words(MalformedToolCall, "tool_use_failed"),  # Groq
    **_words(StaleThinking, "invalid_encrypted_content"),
    **_words(AuthenticationError, "invalid_api_key", "authentication_error", "authentication"),
    **_words(
        PermissionDenied,
        "permission_denied",
        "permissiondenied",
        "permission_error",
        "unsupported_country_region_territory",
    ),
    **_words(NotFound, "model_not_found", "deploymentnotfound", "not_found_error", "not_found"),
    **_words(
        InvalidRequest,
        "unsupported_parameter",
        "unsupported_value",
        "invalid_value",
        "string_above_max_length",
        "invalid_prompt",
        "payload_too_large",
        "unprocessable",
        "previous_response_not_found",
        "data_residency_mismatch",
        *(f"invalid_{image}" for image in ("image", "image_format", "base64_image", "image_url", "image_mode")),
        *(f"image_{fault}" for fault in ("too_large", "too_small", "parse_error", "file_too_large", "file_not_found")),
        "unsupported_image_media_type",
        "empty_image_file",
        "failed_to_download_image",
    ),
}

# A weaker word: it names the kind only where neither status nor number does.
_WEAK_WORDS: dict[str, _Kind] = _words(
    InvalidRequest, "invalid_request_error", "badrequesterror", "bad_request", "invalid_request"
)

_STATUSES: dict[int, _Kind] = {
    401: _Kind(AuthenticationError),
    402: _Kind(QuotaExceeded),
    403: _Kind(PermissionDenied),
    404: _Kind(NotFound),
    408: _Kind(ServerError),
    409: _Kind(InvalidRequest, retryable=True),
    424: _Kind(RateLimited),
    425: _Kind(RateLimited),
    429: _Kind(RateLimited),
    498: _Kind(Overloaded),
    499: _Kind(ServerError),
    503: _Kind(Overloaded),
    529: _Kind(Overloaded),
}

# The provider wants its thinking back as it was, or refuses it as it is.
_STALE_THINKING = re.compile(
    r"""reasoning_(?:content|text).*must\ be\ passed\ back
    | without\ its\ required\ (?:following\ item|'reasoning'\ item)
    | encrypted\ content\ .*could\ not\ be\ (?:verified|decrypted)
    | item\ with\ id\ '[^']{1,200}'\ not\ found
    | reasoning_content\ is\ missing
    | missing\ a\ thought_signature
    | reasoning\ details\ to\ be\ preserved
    | (?:invalid|expired)\ `?signature`?\ in\ `?thinking`?
    | `?thinking`?\ .{0,40}blocks?\ .*cannot\ be\ modified""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)

# Texts that name the kind where the status does not: inside a stream, or under a general 5xx.
_UNAVAILABLE = re.compile("currently unavailable|overloaded|at capacity", re.IGNORECASE)  # xAI
_TIER_CAPACITY = re.compile("service tier capacity exceeded", re.IGNORECASE)  # Mistral


def error(response: ErrorResponse) -> ProviderError:
    """Turn a provider's failure into its typed error."""
    body = opened(response.body)
    found = _Found.of(body)
    came = hidden(body) if isinstance(body, str) else None
    status = response.status if response.status is not None and response.status >= 400 else found.status
    kind = _kind(found, status, response)
    return kind.type(
        text_of(hidden(found.message), came, provider=response.provider, status=status, code=found.code),
        provider=response.provider,
        status=status,
        code=found.code,
        request_id=request_id_of(response.headers) or found.request_id,
        body=quotable(response.body),
        retryable=_RETRY_WORDS.get(response.headers.get("x-should-retry", ""), kind.retryable),
        retry_after=retry_after(response.headers),
    )


_RETRY_WORDS = {"true": True, "false": False}


def is_failure(body: Any) -> bool:
    """Whether a decoded body or chunk is an error and no answer."""
    if type(body) is list:  # seen at Gemini's endpoint
        return any(type(item) is dict and is_failure(item) for item in body)
    if type(body) is not dict:
        return False
    if tells_error(body):
        return True
    if body.get("object") == "error" or body.get("type") == "error":
        return True
    if "choices" in body or "usage" in body:
        return False
    return any(type(body.get(name)) is str for name in TEXT_FIELDS) or type(body.get("errors")) is list


def tells_error(holder: Mapping[str, Any]) -> bool:
    """Whether an object's `error` says anything; some servers fill it with nothing."""
    told = holder.get("error")
    return any(told.values()) if type(told) is dict else bool(told)


def _kind(found: _Found, status: int | None, response: ErrorResponse) -> _Kind:
    texts = "\n".join((*found.texts, *found.words))
    if _STALE_THINKING.search(texts):
        return _Kind(StaleThinking)
    for word in found.words:
        if word in _WORDS:
            return _WORDS[word]
    if found.flagged:
        return _Kind(ContentFiltered)
    if tells_context_length(texts):
        return _Kind(ContextTooLong)
    if _TIER_CAPACITY.search(texts):
        return _Kind(RateLimited)
    if (status is None or status >= 500) and _UNAVAILABLE.search(texts):
        return _Kind(Overloaded)
    if status in (400, 413) and response.provider == "cerebras" and not response.body:
        return _Kind(ContextTooLong)
    if status is not None:
        if status in _STATUSES:
            return _STATUSES[status]
        return _Kind(ServerError if status >= 500 else InvalidRequest)
    for word in found.words:
        if word in _WEAK_WORDS:
            return _WEAK_WORDS[word]
    return _Kind(ServerError)


# Said of every failure (seen at OpenRouter): what the upstream provider says stands after it.
_EMPTY_PHRASES = frozenset({"provider returned error"})

_LONGEST = 4000  # characters of one text that are looked at


@frozen
class _Found:
    """What an error body says, wherever it says it.

    words: the provider's words for the error, lower case, the most exact first.
    texts: everything written in sentences.
    status: a number that stands for an HTTP status.
    flagged: a moderation says what it minds.
    """

    message: str
    code: str | None
    words: tuple[str, ...]
    texts: tuple[str, ...]
    status: int | None
    flagged: bool
    request_id: str | None

    @classmethod
    def of(cls, body: Any) -> _Found:
        objects = list(objects_in(body))
        told = [text[:_LONGEST] for part in objects for text in texts_of(part)]
        texts = [readable(body)] if type(body) is str and not objects else told
        words = [word for part in objects for word in words_of(part)]
        numbers = (number for part in objects for number in _numbers(part))
        exact = [word for word in words if word.lower() in _WORDS]
        named = exact or [word for word in words if not word.isdigit()] or words
        return cls(
            message=": ".join(told[: 2 if told[0].lower() in _EMPTY_PHRASES else 1]) if told else "",
            code=named[0] if named else None,
            words=tuple(word.lower() for word in words),
            texts=tuple(texts),
            status=next(numbers, None),
            flagged=any(part.get("flagged_input") or part.get("reasons") for part in objects),
            request_id=next((text for part in objects if (text := _text(part, "request_id"))), None),
        )


def _numbers(part: Mapping[str, Any]) -> Iterator[int]:
    for name in ("status_code", "status", "code"):
        value = part.get(name)
        if type(value) is str and re.fullmatch("[45][0-9][0-9]", value):
            value = int(value)
        if type(value) is int and 400 <= value <= 599:
            yield value


def _text(part: Mapping[str, Any], name: str) -> str:
    value = part.get(name)
    return value if type(value) is str else ""
