"""What a browser is told of a failure: a kind and a fixed sentence, never the provider's words, a key or a path."""

from __future__ import annotations

import re

from attrs import frozen

from thinkaloud import errors
from thinkaloud.notices import Notice


@frozen
class Failure:
    """A failure as it may be shown.

    kind: the error's class in snake case, such as "rate_limited"; "internal_error" for what is no error of ours.
    text: one sentence for the user.
    retryable: asking again may succeed.
    """

    kind: str
    text: str
    retryable: bool = False


# The most special class first: the first row that fits is taken.
_TEXTS: tuple[tuple[type[BaseException], str], ...] = (
    (errors.StreamAborted, "The answer was stopped."),
    (errors.RateLimited, "The model gets too many requests right now. Please try again in a moment."),
    (errors.Overloaded, "The model is overloaded right now. Please try again in a moment."),
    (errors.ServerError, "The model's service failed. Please try again."),
    (errors.ContextTooLong, "The conversation has become too long for the model."),
    (errors.ContentFiltered, "The answer was stopped by a content filter."),
    (errors.MalformedToolCall, "The model made a mistake while calling a tool. Please try again."),
    (errors.StaleThinking, "The conversation cannot be continued in this form."),
    (errors.ProviderError, "The model's service refused the request."),
    (errors.DeadlineExceeded, "The model took too long to answer. Please try again."),
    (errors.TransportError, "The connection to the model was lost. Please try again."),
    (errors.LimitExceeded, "The answer is too large."),
    (errors.StreamError, "The answer ended too early. Please try again."),
    (errors.HistoryError, "The conversation cannot be continued in this form."),
    (errors.RunError, "The run ended before it was finished."),
    (errors.ThinkaloudError, "The request could not be made."),
)
_RETRYABLE = (errors.TransportError, errors.TruncatedStream, errors.MalformedStream)
_WORD_STARTS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def root_of(error: BaseException) -> BaseException:
    """What ended a run, where it was an error of a call; any other error as it is."""
    cause = error.__cause__
    return cause if isinstance(error, errors.RunError) and isinstance(cause, errors.ThinkaloudError) else error


def cause_of(error: BaseException) -> BaseException:
    """What made a run fail, where it was a stream's error or an end on purpose; any other error is its own cause."""
    cause = error.__cause__ if isinstance(error, errors.RunError) else None
    return cause if isinstance(cause, errors.ThinkaloudError) else error


def is_for_the_log(error: Exception) -> bool:
    """Whether an error is no failure of a model or a network but one of the application, such as a tool's bug."""
    inside = error.__cause__ if isinstance(error, errors.RunError) else None
    return not isinstance(inside or error, errors.ThinkaloudError)


def failure_of(error: BaseException) -> Failure:
    """What may be shown of an error. Raises WrongValue for what is none."""
    if not isinstance(error, BaseException):
        raise errors.WrongValue(f"error must be an exception, not {type(error).__name__}")
    error = cause_of(error)
    error = root_of(error)
    for cls, text in _TEXTS:
        if isinstance(error, cls):
            retryable = isinstance(error, _RETRYABLE) or bool(getattr(error, "retryable", False))
            return Failure(_WORD_STARTS.sub("_", type(error).__name__).lower(), text, retryable)
    return Failure("internal_error", "Something went wrong on the server.")


# Notices whose texts quote what a provider said.
_REWORDED = {
    "retrying": "The model is asked again.",
    "fallback": "Another model is asked instead.",
    "newer_event": "",
}


def shown_notice(notice: Notice) -> dict[str, str]:
    """What may be shown of a notice: its code and its text; its details may hold anything."""
    return {"code": notice.code, "text": _REWORDED.get(notice.code, notice.text)}
