"""How an answer of Gemini ends: its finish reasons, and the ends that are failures."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from thinkaloud.errors import (
    ContentFiltered,
    InvalidRequest,
    MalformedToolCall,
    ProviderError,
    ServerError,
    StaleThinking,
)
from thinkaloud.jsontext import Json
from thinkaloud.messages import StopReason

STOP_REASONS = {
    "STOP": StopReason.END,
    "MAX_TOKENS": StopReason.LENGTH,
    "CONTINUATION": StopReason.PAUSE,
    **dict.fromkeys(
        (
            "SAFETY",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "RECITATION",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
            "MODEL_ARMOR",
            "ESCALATION",
            "PUP_LIMITED_DISABLED",
        ),
        StopReason.CONTENT_FILTER,
    ),
}


@frozen
class FailedEnd:
    """An end that is no answer. retryable: None takes the default of the class."""

    error: type[ProviderError]
    text: str
    retryable: bool | None = None


FAILED_ENDS = {
    "MALFORMED_FUNCTION_CALL": FailedEnd(MalformedToolCall, "the model wrote a call that cannot be read"),
    "UNEXPECTED_TOOL_CALL": FailedEnd(MalformedToolCall, "the model called a tool that was not declared"),
    "TOO_MANY_TOOL_CALLS": FailedEnd(ServerError, "the server's tool loop reached its limit", False),
    "MALFORMED_RESPONSE": FailedEnd(ServerError, "the model's output is broken"),
    "MISSING_THOUGHT_SIGNATURE": FailedEnd(StaleThinking, "the history lacks a thought signature"),
    "LANGUAGE": FailedEnd(InvalidRequest, "the language is not supported"),
    "NO_IMAGE": FailedEnd(ServerError, "an image was expected, and none was made"),
    "IMAGE_OTHER": FailedEnd(ServerError, "the image could not be made"),
}

# The values that stand for "not set" where a server writes them out: no block and no end at all.
UNSPECIFIED_BLOCK = "BLOCKED_REASON_UNSPECIFIED"
UNSPECIFIED_END = "FINISH_REASON_UNSPECIFIED"


def failed_end(reason: str, detail: Mapping[str, Json], provider: str) -> ProviderError:
    """The error that a finish reason of FAILED_ENDS is. detail: what was told beside it."""
    end = FAILED_ENDS[reason]
    return end.error(
        _with_message(end.text, detail.get("finishMessage")),
        provider=provider or None,
        code=reason,
        body={"finishReason": reason, **detail},
        retryable=end.retryable,
    )


def blocked(reason: str, detail: Mapping[str, Json], provider: str) -> ProviderError:
    """The error of a prompt that was blocked before anything was generated. detail: what was told beside it."""
    feedback = detail.get("promptFeedback")
    message = feedback.get("blockReasonMessage") if isinstance(feedback, Mapping) else None
    return ContentFiltered(
        _with_message(f"the prompt was blocked: {reason}", message),
        provider=provider or None,
        code=reason,
        body=dict(detail),
    )


def _with_message(text: str, message: object) -> str:
    return f"{text}: {message}" if isinstance(message, str) and message else text
