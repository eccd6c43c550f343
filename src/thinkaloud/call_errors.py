"""What an error tells of the call that it ended: who was asked and how often, why not once more, and what to do."""

from __future__ import annotations

from collections.abc import Iterable

from thinkaloud.errors import (
    AuthenticationError,
    NotFound,
    PermissionDenied,
    ProviderError,
    StreamAborted,
    StreamError,
    ThinkaloudError,
    TransportError,
)
from thinkaloud.notices import Notice
from thinkaloud.plan import Plan


class Asked:
    """Who was asked in one call, in order, how often, and what went wrong on the way."""

    def __init__(self) -> None:
        self._times: list[tuple[str, int]] = []
        self._earlier: list[str] = []

    def note_request(self, plan: Plan) -> None:
        """A request goes out."""
        name = name_of(plan)
        times = self._times.pop()[1] if self._times and self._times[-1][0] == name else 0
        self._times.append((name, times + 1))

    def note_failure(self, notice: Notice) -> None:
        """A request has failed, and the notice tells how the call goes on."""
        self._earlier.append(notice.text)

    def tell(self, error: BaseException | None, notices: Iterable[Notice]) -> None:
        """Let the error that ends a call say what came before it. notices: what the call told."""
        if not isinstance(error, (ProviderError, TransportError, StreamError)):
            return
        error.notices = tuple(notices)
        if isinstance(error, StreamAborted) or not self._earlier:
            return
        (last, times), *before = reversed(self._times)
        text = f"{last} was asked {_often(times)}"
        if before:
            text += ", and before it " + ", ".join(f"{name} {_often(times)}" for name, times in reversed(before))
        add_to(error, f" ({text})")
        for earlier in self._earlier:
            error.add_note(f"before: {earlier}")


def _often(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def name_of(plan: Plan) -> str:
    """The model that a plan asks, as a user names it."""
    return f"{plan.model.provider}/{plan.model.id}"


def add_to(error: ThinkaloudError, text: str) -> None:
    """Write a text behind an error's own, once."""
    if text not in error.message:
        error.args = (error.message + text,)


def advise(error: ThinkaloudError, plan: Plan) -> None:
    """Let a refusal say what to look at: where keys come from (never one of them), or what was asked for."""
    if isinstance(error, AuthenticationError):
        add_to(error, f"; check the key for {plan.model.provider} ({_ways_in(plan)})")
    elif isinstance(error, PermissionDenied):
        add_to(error, f"; asked for {name_of(plan)} with the key for {plan.model.provider} ({_ways_in(plan)})")
    elif isinstance(error, NotFound):
        add_to(error, f"; asked for {name_of(plan)}")


def _ways_in(plan: Plan) -> str:
    given = "Client(api_key=...)" if plan.provider.auth == "key" else "Client(api_key=...) or Client(auth=...)"
    return " or ".join((*plan.provider.key_variables, given))
