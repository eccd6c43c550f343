"""Every exception of the library, in one tree.

    ThinkaloudError
    ├── ConfigurationError        wrong arguments, found before any network call
    │   ├── WrongValue            also a TypeError and a ValueError
    │   ├── MissingCredentials    .variables
    │   ├── UnknownModel
    │   └── UnsupportedOption
    ├── HistoryError              .issues
    ├── CodecError                .path
    ├── ProviderError             .provider .status .code .body .retryable .retry_after .request_id .notices .partial
    │   ├── AuthenticationError
    │   ├── PermissionDenied
    │   ├── NotFound
    │   ├── InvalidRequest
    │   │   └── StaleThinking     replayed thinking was refused
    │   ├── ContextTooLong
    │   ├── ContentFiltered
    │   ├── RateLimited
    │   ├── QuotaExceeded
    │   ├── Overloaded
    │   ├── ServerError
    │   └── MalformedToolCall     the model botched its own call
    ├── TransportError            .request_id .notices .partial
    │   ├── ConnectFailed
    │   ├── ReadFailed
    │   └── DeadlineExceeded      .kind; also a TimeoutError
    ├── StreamError               .request_id .notices .partial
    │   ├── TruncatedStream
    │   ├── MalformedStream
    │   ├── LimitExceeded         .which .limit
    │   └── StreamAborted
    ├── MalformedToolArguments    .raw
    ├── OutputError               .raw .partial
    └── RunError                  .partial .limit

A failure has the same class whether it came as an HTTP status or inside a 200 stream. Every exception takes its
message first and its fields as keywords, so each one survives pickle and deepcopy. What a provider or a server said in
a message is one line of printable text: an error may be logged as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thinkaloud.messages import AssistantMessage
    from thinkaloud.notices import Issue, Notice
    from thinkaloud.run_result import RunResult


class ThinkaloudError(Exception):
    """Catches everything that this library raises on purpose."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)

    @property
    def message(self) -> str:
        """The text of the error, as one string."""
        return str(self.args[0]) if self.args else ""


class ConfigurationError(ThinkaloudError):
    """Arguments that cannot work; the text names the field and the fix. Raised before any network call."""


class WrongValue(ConfigurationError, TypeError, ValueError):
    """A block, message or other value was made of what it cannot hold. As with Python's own types, a TypeError too."""


def shown(value: Any) -> str:
    """A wrong value as an error tells it: plain values, or a few of them, as they are; all others by their type."""
    if value is None or isinstance(value, (bool, float)):
        return repr(value)
    if isinstance(value, int):
        return repr(value) if value.bit_length() <= 256 else f"a number of {value.bit_length()} bits"
    if isinstance(value, str):
        text = str.__str__(value)
        return repr(text) if len(text) <= 100 else f"{text[:80]!r}… ({len(text)} characters)"
    if type(value) in (list, tuple, dict, set) and len(value) <= 4:
        items = [*value, *value.values()] if isinstance(value, dict) else [*value]
        if all(item is None or type(item) in (bool, int, float, str) for item in items):
            text = f"{value!r}" if all(len(shown(item)) <= 100 for item in items) else ""
            if 0 < len(text) <= 100:
                return text
    return f"<{type(value).__name__}>"


def one_line(text: str) -> str:
    """A text of others as an error tells it: white space folded, and as escapes all that is not printable."""
    if text.isprintable():
        return text
    folded = " ".join(text.split())
    return folded if folded.isprintable() else "".join(map(_visible, folded))


def _visible(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


class MissingCredentials(ConfigurationError):
    """No key was given and none was found.

    variables: the environment variables that were looked at, in order.
    """

    def __init__(self, message: str = "", *, variables: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.variables = tuple(variables)


class UnknownModel(ConfigurationError):
    """The provider or the model is not known and cannot be guessed."""


class UnsupportedOption(ConfigurationError):
    """The option exists, but this protocol, provider or model does not take it."""


class HistoryError(ThinkaloudError):
    """The conversation cannot be sent as it is.

    issues: every fault that was found, each with a code, a path and a fix.
    """

    def __init__(self, message: str = "", *, issues: Sequence[Issue] = ()) -> None:
        super().__init__(message)
        self.issues = tuple(issues)


class CodecError(ThinkaloudError):
    """Stored JSON that is no message, conversation or event of ours.

    path: where in the JSON, such as `messages[3].content[1].signature`.
    """

    def __init__(self, message: str = "", *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class ProviderError(ThinkaloudError):
    """The provider answered with a failure.

    provider: id of the provider, if known.
    status: the HTTP status, or the one that an error inside a stream stands for; None if there is none.
    code: the provider's own word for the error (its `type` or `code`).
    request_id: what to quote to the provider's support.
    body: the decoded error body, or its text where it is not JSON.
    retryable: waiting and sending the same request again may succeed.
    retry_after: seconds that the provider asks to wait.
    notices: what the call told before: earlier failures as "retrying" and "fallback", and what was changed.
    partial: the message as far as it had arrived; None before the first block.
    """

    default_retryable = False

    def __init__(
        self,
        message: str = "",
        *,
        provider: str | None = None,
        status: int | None = None,
        code: str | None = None,
        request_id: str | None = None,
        body: Any = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
        notices: Sequence[Notice] = (),
        partial: AssistantMessage | None = None,
    ) -> None:
        super().__init__(one_line(message))
        self.provider = provider
        self.status = status
        self.code = None if code is None else one_line(code)
        self.request_id = None if request_id is None else one_line(request_id)
        self.body = body
        self.retryable = self.default_retryable if retryable is None else retryable
        self.retry_after = retry_after
        self.notices = tuple(notices)
        self.partial = partial


class AuthenticationError(ProviderError):
    """The key is wrong, expired or missing."""


class PermissionDenied(ProviderError):
    """The key is valid but may not do this."""


class NotFound(ProviderError):
    """No such model or deployment."""


class InvalidRequest(ProviderError):
    """The provider refuses the request as it is."""


class StaleThinking(InvalidRequest):
    """Replayed thinking was refused: its signature does not fit, or what stood before it has changed."""


class ContextTooLong(ProviderError):
    """The prompt does not fit the model's context window."""


class ContentFiltered(ProviderError):
    """A filter of the provider stopped the prompt or the answer."""


class RateLimited(ProviderError):
    """Too many requests for now."""

    default_retryable = True


class QuotaExceeded(ProviderError):
    """Credit or quota is used up: waiting does not help."""


class Overloaded(ProviderError):
    """The provider has no capacity for now."""

    default_retryable = True


class ServerError(ProviderError):
    """The provider failed inside."""

    default_retryable = True


class MalformedToolCall(ProviderError):
    """The model botched its own tool call, and the provider says so; asking again may succeed."""

    default_retryable = True


class TransportError(ThinkaloudError):
    """The network failed.

    request_id: what to quote to the provider's support; None before the head of an answer.
    notices: what the call told before, as in ProviderError.
    partial: the message as far as it had arrived.
    """

    def __init__(
        self,
        message: str = "",
        *,
        request_id: str | None = None,
        notices: Sequence[Notice] = (),
        partial: AssistantMessage | None = None,
    ) -> None:
        super().__init__(one_line(message))
        self.request_id = request_id
        self.notices = tuple(notices)
        self.partial = partial


class ConnectFailed(TransportError):
    """No connection could be made."""


class ReadFailed(TransportError):
    """The connection broke before the answer was whole."""


class DeadlineExceeded(TransportError, TimeoutError):
    """A time limit ran out.

    kind: which one: "connect", "write", "pool", "first_event", "silence", "content_silence" or "total".
    """

    def __init__(
        self,
        message: str = "",
        *,
        kind: str = "",
        request_id: str | None = None,
        notices: Sequence[Notice] = (),
        partial: AssistantMessage | None = None,
    ) -> None:
        super().__init__(message, request_id=request_id, notices=notices, partial=partial)
        self.kind = kind


class StreamError(ThinkaloudError):
    """The answer's bytes ended wrongly or make no sense.

    request_id: what to quote to the provider's support; None before the head of an answer.
    notices: what the call told before, as in ProviderError.
    partial: the message as far as it had arrived.
    """

    def __init__(
        self,
        message: str = "",
        *,
        request_id: str | None = None,
        notices: Sequence[Notice] = (),
        partial: AssistantMessage | None = None,
    ) -> None:
        super().__init__(one_line(message))
        self.request_id = request_id
        self.notices = tuple(notices)
        self.partial = partial


class TruncatedStream(StreamError):
    """The body ended before the protocol's terminal signal: never a success."""


class MalformedStream(StreamError):
    """Bytes that are not the protocol."""


class LimitExceeded(StreamError):
    """The answer is larger than a bound of ours.

    which: the bound, such as "event_size".
    limit: its value.
    """

    def __init__(
        self,
        message: str = "",
        *,
        which: str = "",
        limit: int | None = None,
        request_id: str | None = None,
        notices: Sequence[Notice] = (),
        partial: AssistantMessage | None = None,
    ) -> None:
        super().__init__(message, request_id=request_id, notices=notices, partial=partial)
        self.which = which
        self.limit = limit


def over_limit(which: str, limit: int, what: str) -> LimitExceeded:
    """The error for a bound of Limits. what: what has too much, such as "the body has over 10 bytes"."""
    return LimitExceeded(f"{what}; Client(limits=ta.Limits({which}=...)) allows more", which=which, limit=limit)


class StreamAborted(StreamError):
    """The reader itself ended the stream: by `cancel()`, by leaving it early, or by cancelling a wait."""


class MalformedToolArguments(ThinkaloudError):
    """The arguments of a tool call are not a JSON object, or do not fit the tool. raw: what the model wrote."""

    def __init__(self, message: str = "", *, raw: str = "") -> None:
        super().__init__(one_line(message))
        self.raw = raw


class OutputError(ThinkaloudError):
    """The structured output does not fit its type.

    raw: what the model wrote.
    partial: its answer.
    """

    def __init__(self, message: str = "", *, raw: str = "", partial: AssistantMessage | None = None) -> None:
        super().__init__(one_line(message))
        self.raw = raw
        self.partial = partial


class RunError(ThinkaloudError):
    """A tool loop ended early; its cause (`__cause__`), if it has one, is the error that ended it.

    partial: the run's evidence so far, which `run(..., history=partial)` goes on from.
    limit: the limit of the run that was reached, such as "max_turns"; None for other reasons.
    """

    def __init__(self, message: str = "", *, partial: RunResult | None = None, limit: str | None = None) -> None:
        super().__init__(message)
        self.partial = partial
        self.limit = limit
