"""When a failed request is sent again, and after how long: pure policy, without a clock."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from attrs import Attribute, field, frozen

from thinkaloud.checked import real_number, whole_number
from thinkaloud.errors import (
    AuthenticationError,
    ConnectFailed,
    DeadlineExceeded,
    InvalidRequest,
    NotFound,
    PermissionDenied,
    ProviderError,
    QuotaExceeded,
    ReadFailed,
    ThinkaloudError,
    TruncatedStream,
    WrongValue,
    shown,
)

# Failures of the way to the provider: until an answer has begun, the same request may be sent again.
_BROKEN_WAY = (ConnectFailed, ReadFailed, DeadlineExceeded, TruncatedStream)
# What says something about one provider or one account, and nothing about the request: another model may do.
_ANOTHER_MAY_DO = (QuotaExceeded, AuthenticationError, PermissionDenied, NotFound)
# Statuses below 500 that pass.
_PASSING = frozenset({408, 409, 429})
_JITTER = 0.25  # the official clients of Anthropic and OpenAI wait up to a quarter less, by chance


def _count(_instance: Any, attribute: Attribute[Any], value: object) -> None:
    whole_number(f"Retry.{attribute.name}", value, least=0)


def _seconds(_instance: Any, attribute: Attribute[Any], value: object) -> None:
    real_number(f"Retry.{attribute.name}", value, "seconds", above_zero=False)


@frozen(kw_only=True)
class Retry:
    """How often and when a request is sent again that failed before any event of its answer was handed out.

    limit: how many times at most; 0 never sends again.
    first_wait, longest_wait: seconds between two requests, doubled each time from the first to the longest, and up to
        a quarter less by chance. What a provider asks for goes before.
    max_wait: the longest wait that a provider may ask for, in seconds; a longer one raises its error at once, with
        `retry_after`.

    Sent again is what failed on the way, ran out of time before its first event, or is `retryable` by the provider's
    word: 408, 409, 429, 5xx, or what `x-should-retry` says. A quota that is used up is not.
    Raises ConfigurationError.
    """

    limit: int = field(default=2, validator=_count)
    first_wait: float = field(default=0.5, validator=_seconds)
    longest_wait: float = field(default=8.0, validator=_seconds)
    max_wait: float = field(default=60.0, validator=_seconds)

    def __attrs_post_init__(self) -> None:
        if self.first_wait > self.longest_wait:
            raise WrongValue(
                f"Retry.first_wait={shown(self.first_wait)} is longer than longest_wait={shown(self.longest_wait)}: "
                "give both"
            )

    def wait(self, error: ThinkaloudError, taken: int, *, chance: Callable[[], float] = random.random) -> float | None:
        """Seconds to wait before the request is sent again; None: it is not.

        taken: how many times it was sent again so far.
        chance: gives a number from 0 to 1.
        """
        if taken >= self.limit or not is_passing(error):
            return None
        asked = error.retry_after if isinstance(error, ProviderError) else None
        if asked:
            return None if asked > self.max_wait else _waited(asked)
        doubled = min(self.first_wait * 2.0 ** min(taken, 64), self.longest_wait)
        return _waited(doubled * (1 - _JITTER * chance()))

    def refuses(self, error: ThinkaloudError, taken: int) -> str:
        """Why what would pass is not sent again: the provider asks for more than `max_wait`; "" for other reasons."""
        asked = error.retry_after if isinstance(error, ProviderError) else None
        if not asked or asked <= self.max_wait or taken >= self.limit or not is_passing(error):
            return ""
        return f"a wait of {asked:g} s is asked for, which is more than Retry(max_wait={self.max_wait:g})"


def heed_answer(error: ThinkaloudError, status: int, headers: Mapping[str, str]) -> None:
    """Let an error be retryable, or not, as the provider says in `x-should-retry`, or else as its status says.

    headers: names in lower case.

    A status says nothing where the error's words tell more: a prompt that is too long stays too long.
    """
    if status < 400 or not isinstance(error, ProviderError):
        return
    said = headers.get("x-should-retry", "").strip().lower()
    if said in ("true", "false"):
        error.retryable = said == "true"
    elif type(error) is InvalidRequest and (status in _PASSING or status >= 500):
        error.retryable = True


def is_passing(error: ThinkaloudError) -> bool:
    """Whether the same request may succeed later."""
    if isinstance(error, ProviderError):
        return error.retryable and not isinstance(error, QuotaExceeded)
    if isinstance(error, DeadlineExceeded):
        return error.kind != "total"
    return isinstance(error, _BROKEN_WAY)


def another_may_do(error: ThinkaloudError) -> bool:
    """Whether another model may answer where this one failed: the failure is not the request's own."""
    return is_passing(error) or isinstance(error, _ANOTHER_MAY_DO)


_backoff = True


def _waited(seconds: float) -> float:
    return seconds if _backoff else 0.0


@contextmanager
def no_backoff() -> Iterator[None]:
    """Retry without waiting, for tests: `with no_backoff(): ...`. Everything else stays as it is.

    A provider's wish to wait longer than `Retry(max_wait=...)` still raises at once.
    """
    global _backoff
    before, _backoff = _backoff, False
    try:
        yield
    finally:
        _backoff = before
