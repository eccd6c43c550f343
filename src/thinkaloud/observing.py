"""Tells others what a call does, without its content: hooks, the log `thinkaloud`, and spans.

The log: INFO for each call's end and for each request that goes out once more or to another model, DEBUG for each
request and each answer's head. All lines of a call begin with its id. What was asked and answered stands in no record,
except those of `thinkaloud.content`, and only where that logger itself is set to DEBUG.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from attrs import field, frozen

from thinkaloud.errors import ProviderError
from thinkaloud.events import StreamEvent
from thinkaloud.messages import AssistantMessage
from thinkaloud.notices import Notice
from thinkaloud.plan import Plan
from thinkaloud.protocols.failures import request_id_of
from thinkaloud.wire.hiding import hidden, shown_headers


@frozen(kw_only=True)
class RequestInfo:
    """A request that is about to be sent, without its credentials.

    call_id: the same in all that is told of one call: by hooks, in the log and on its span.
    attempt: 1 for the first one of its call.
    """

    call_id: str
    plan: Plan
    attempt: int


@frozen(kw_only=True)
class ResponseInfo:
    """The head of an answer.

    call_id: that of its request.
    headers: names in lower case; values that may hold a secret are ***.
    seconds: from the request to the head.
    """

    call_id: str
    plan: Plan
    attempt: int
    status: int
    headers: Mapping[str, str] = field(repr=False)
    request_id: str | None
    seconds: float


@frozen(kw_only=True)
class Again:
    """A request that failed before its answer began, and how its call goes on.

    plan: what was sent.
    notice: what is done about it. Its text may quote the provider, its code and its detail do not.
    """

    call_id: str
    plan: Plan
    attempt: int
    request_id: str | None
    notice: Notice


@frozen(kw_only=True)
class CallEnd:
    """How a call ended: with a message, or with an error.

    call_id: that of its requests.
    seconds: from its first request, waits between attempts included.
    """

    call_id: str
    plan: Plan
    attempt: int
    request_id: str | None
    seconds: float
    message: AssistantMessage | None = field(repr=False)
    error: BaseException | None


class Observer(Protocol):
    """Is told of the steps of one call, in order."""

    def sent(self, info: RequestInfo) -> None: ...
    def answered(self, info: ResponseInfo) -> None: ...
    def goes_on(self, info: Again) -> None: ...
    def ended(self, info: CallEnd) -> None: ...


@frozen(kw_only=True)
class Hooks:
    """Functions of the user's, called where the call runs; what they raise ends it."""

    on_request: Callable[[RequestInfo], None] | None = None
    on_response: Callable[[ResponseInfo], None] | None = None
    on_event: Callable[[StreamEvent], None] | None = None

    def sent(self, info: RequestInfo) -> None:
        if self.on_request is not None:
            self.on_request(info)

    def answered(self, info: ResponseInfo) -> None:
        if self.on_response is not None:
            self.on_response(info)

    def goes_on(self, info: Again) -> None:
        """Nothing: there is a notice of it among the events."""

    def ended(self, info: CallEnd) -> None:
        """Nothing: an end is an event or an error."""


_log = logging.getLogger("thinkaloud")
_content = logging.getLogger("thinkaloud.content")


class Log:
    """Writes the log of one call."""

    def sent(self, info: RequestInfo) -> None:
        _log.debug("%s: request %d sent", _name(info), info.attempt)
        if _content.level and _content.level <= logging.DEBUG:
            _content.debug("%s: asked: %s", _name(info), hidden(info.plan.request.body.decode()))

    def answered(self, info: ResponseInfo) -> None:
        _log.debug(
            "%s: request %d answered with status %d after %.3f s, request id %s",
            *(_name(info), info.attempt, info.status, info.seconds, info.request_id),
        )

    def goes_on(self, info: Again) -> None:
        detail = info.notice.detail
        facts = ", ".join(f"{name} {detail[name]}" for name in ("error", "status", "wait", "model") if name in detail)
        _log.info(
            "%s: request %d failed, request id %s: %s%s",
            *(_name(info), info.attempt, info.request_id, info.notice.code, facts and f" ({facts})"),
        )

    def ended(self, info: CallEnd) -> None:
        facts = (_name(info), info.attempt, info.request_id, info.seconds)
        message, error = info.message, info.error
        if message is None:
            status = f" (status {error.status}, {error.code})" if isinstance(error, ProviderError) else ""
            _log.info(
                "%s: attempt %d failed, request id %s, after %.3f s: %s", *facts, f"{type(error).__name__}{status}"
            )
            return
        first, reason = message.timing.first_event, message.stop_reason.value if message.stop_reason else "unknown"
        usage = f"{message.usage.input} tokens in, {message.usage.output} out" if message.usage else "tokens unknown"
        _log.info(
            "%s: attempt %d answered, request id %s, after %.3f s, first event after %s s: %s, %s",
            *(*facts, "?" if first is None else f"{first:.3f}", reason, usage),
        )
        if _content.level and _content.level <= logging.DEBUG:
            _content.debug("%s: answered: %s", _name(info), hidden(message.text))


def observers(hooks: Hooks | None, trace: Callable[[Plan], Observer] | None, plan: Plan) -> Sequence[Observer]:
    """Who is told of a call: nobody, and then it costs nothing, where no hook, no trace and no log is wanted."""
    told: list[Observer] = []
    if hooks is not None:
        told.append(hooks)
    if _log.isEnabledFor(logging.INFO):
        told.append(Log())
    if trace is not None:
        told.append(trace(plan))
    return told


def response_info(
    call_id: str, plan: Plan, attempt: int, status: int, headers: Mapping[str, str], seconds: float
) -> ResponseInfo:
    """What is told of an answer's head."""
    return ResponseInfo(
        call_id=call_id,
        plan=plan,
        attempt=attempt,
        status=status,
        headers=shown_headers(headers),
        request_id=request_id_of(headers),
        seconds=seconds,
    )


def _name(info: RequestInfo | ResponseInfo | Again | CallEnd) -> str:
    return f"[{info.call_id}] {info.plan.model.provider}/{info.plan.model.id}"
