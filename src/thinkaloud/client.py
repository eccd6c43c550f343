"""Calls to models: `stream` and `complete`, for one call alone or on a Client that keeps defaults and connections."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from inspect import isawaitable, iscoroutinefunction
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack
from urllib.parse import urlsplit

from thinkaloud.abandoned import Abandoned
from thinkaloud.attempts import Source
from thinkaloud.auth.api_key import Key
from thinkaloud.auth.base import Auth, checked_auth, parts_of
from thinkaloud.auth.choice import find_auth, fits
from thinkaloud.auth.concealing import Concealer
from thinkaloud.auth.keys import Keys, covered_keys
from thinkaloud.corrected import answered
from thinkaloud.errors import ConfigurationError, UnsupportedOption, shown
from thinkaloud.event_stream import EventStream
from thinkaloud.events import StreamEvent
from thinkaloud.limits import Limits
from thinkaloud.messages import AssistantMessage, Origin
from thinkaloud.models.address import Entry
from thinkaloud.models.model import Model
from thinkaloud.models.providers import Provider
from thinkaloud.observing import Hooks, RequestInfo, ResponseInfo, observers
from thinkaloud.plan import CallOptions, Messages, Plan, build_plan, refuse_unknown
from thinkaloud.tracing import tracer
from thinkaloud.transport.base import Exchange, Transport
from thinkaloud.transport.http import HttpTransport
from thinkaloud.transport.retry import Retry
from thinkaloud.transport.timeouts import Timeouts
from thinkaloud.wire.hiding import cover

if TYPE_CHECKING:
    from thinkaloud.batch import OnDone, Outcome
    from thinkaloud.run_result import RunResult
    from thinkaloud.runs.loop import ModuleRunOptions, RunOptions
    from thinkaloud.runs.stream import RunStream


class Client:
    """Keeps connections, credentials and defaults for many calls.

    api_key: a key for the providers that this client calls, or a callable (plain or async) that gives one before each
        request; or a mapping of keys by the ids of their providers. None looks into the environment, and so does a
        fallback at another provider and another address than what is asked first: a lone key is not sent there.
        A callable that fails is told as an AuthenticationError.
    auth: credentials of a cloud (AwsAuth, GoogleAuth), a BearerAuth, or an object of yours with `headers(request)`.
        It wins over api_key, at the providers that it is for, and may know the region or project of their addresses.
    base_url: another place that speaks the protocol, such as a gateway; a model's own `base_url` wins over it.
    http_client: an httpx or httpx2 AsyncClient of yours; it is used as it is and never closed here.
    transport: another way to send requests; the test kit has one that answers from memory.
    timeouts, limits: time limits and bounds. A client opens as many connections as calls run at the same time, up to
        1,024, and keeps up to 112 idle ones, for 5 s.
    retries: when a request that failed before its answer began is sent again: a Retry, or how many times; 0 for never.
    on_request, on_response, on_event: functions that are told of each request, each answer's head and each event of
        every call, where the call runs; what they raise ends it.
    tracing: True makes OpenTelemetry spans with the global provider of tracers, or give a provider (extra `otel`).
    defaults: any argument of a call (reasoning="high", max_tokens=..., system=...), used where a call says nothing.

    Use it as `async with Client(...) as client`, or await `aclose()` at the end. One client serves several event loops,
    one after the other or in several threads: each loop has connections of its own, which are closed at its end. Only
    an `http_client` of yours belongs to one loop. Raises ConfigurationError.
    """

    def __init__(
        self,
        *,
        api_key: Key | Mapping[str, Key] | None = None,
        auth: Auth | None = None,
        http_client: Any = None,
        transport: Transport | None = None,
        timeouts: Timeouts = Timeouts(),
        limits: Limits = Limits(),
        retries: Retry | int = Retry(),
        on_request: Callable[[RequestInfo], None] | None = None,
        on_response: Callable[[ResponseInfo], None] | None = None,
        on_event: Callable[[StreamEvent], None] | None = None,
        tracing: Any = False,
        **defaults: Unpack[CallOptions],
    ) -> None:
        keys = None if api_key is None else covered_keys(api_key)
        del api_key
        cover(defaults)
        if transport is not None and http_client is not None:
            raise ConfigurationError("give http_client or transport, not both")
        refuse_unknown(defaults)
        retry = Retry(limit=retries) if isinstance(retries, int) else retries
        checked = (("timeouts", timeouts, Timeouts), ("limits", limits, Limits), ("retries", retry, Retry))
        for name, value, wanted in checked:
            if not isinstance(value, wanted):
                raise ConfigurationError(f"{name} must be {wanted.__name__}(...), not {type(value).__name__}")
        self._keys = Keys(keys)
        self._auth = checked_auth(auth, self._keys or None)
        if transport is not None and not all(callable(getattr(transport, name, None)) for name in ("send", "aclose")):
            raise ConfigurationError(f"transport must have send and aclose, as a Transport, not {shown(transport)}")
        self._transport = transport or HttpTransport(http_client=http_client, timeouts=timeouts)
        self._limits = limits
        self._hooks = _hooks(on_request, on_response, on_event)
        self._trace = tracer(tracing) if tracing else None
        self._retry = retry
        self._timeouts = timeouts
        self._defaults = defaults
        self._abandoned = Abandoned()

    def __repr__(self) -> str:
        defaults = sorted(getattr(self, "_defaults", ()))  # missing in a client that was refused
        return f"Client(defaults={defaults})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections of this client, and the answers that were left open."""
        await self._abandoned.close()
        await self._transport.aclose()

    async def _disconnect(self) -> None:
        """Let go of what belongs to this event loop, which ends."""
        await self._abandoned.close()
        if isinstance(self._transport, HttpTransport):
            await self._transport.disconnect()

    def prepare(self, model: str | Model, messages: Messages, **options: Unpack[CallOptions]) -> Plan:
        """Build the request of a call, without network and without credentials; see `thinkaloud.prepare`."""
        cover(options)
        return self._plan(model, messages, options, stream=True)

    def stream(self, model: str | Model, messages: Messages, **options: Unpack[CallOptions]) -> EventStream:
        """Start an answer as a stream of events; see `thinkaloud.stream`."""
        cover(options)
        return self._open(model, messages, options, stream=True)

    async def complete(
        self, model: str | Model, messages: Messages, *, streaming: bool = True, **options: Unpack[CallOptions]
    ) -> AssistantMessage:
        """Give the whole answer; see `thinkaloud.complete`."""
        cover(options)
        return await answered(lambda said: self._open(model, said, options, stream=streaming), messages)

    async def complete_many(
        self,
        model: str | Model,
        conversations: Iterable[Messages],
        *,
        limit: int = 8,
        on_done: OnDone | None = None,
        streaming: bool = True,
        **options: Unpack[CallOptions],
    ) -> list[Outcome]:
        """Give the answers to many conversations; see `thinkaloud.complete_many`."""
        cover(options)
        from thinkaloud.batch import complete_many

        _refuse_client(options)
        through: ModuleCallOptions = {**options, "client": self}
        return await complete_many(model, conversations, limit=limit, on_done=on_done, streaming=streaming, **through)

    async def run(
        self, model: str | Model, messages: Messages | None = None, **options: Unpack[RunOptions]
    ) -> RunResult:
        """Ask, run the tools that are called, and ask again, until there is an answer; see `thinkaloud.run`."""
        cover(options)
        return await self.run_stream(model, messages, **options).result()

    def run_stream(
        self, model: str | Model, messages: Messages | None = None, **options: Unpack[RunOptions]
    ) -> RunStream:
        """As `run`, handing out the events of every answer and of the tools; see `thinkaloud.run_stream`."""
        cover(options)
        from thinkaloud.runs.loop import run_stream

        _refuse_client(options)
        through: ModuleRunOptions = {**options, "client": self}
        return run_stream(model, messages, **through)

    def _merged(self, options: CallOptions) -> CallOptions:
        given = {name: value for name, value in options.items() if value is not None}
        defaults = {name: value for name, value in self._defaults.items() if name != "base_url"}
        return {**defaults, **given}  # type: ignore[typeddict-item]

    def _plan(self, model: str | Model, messages: Messages, options: CallOptions, *, stream: bool) -> Plan:
        entry = Entry(
            {} if self._auth is None else parts_of(self._auth), self._keyed, self._defaults.get("base_url") or ""
        )
        return build_plan(model, messages, self._merged(options), stream=stream, entry=entry)

    def _keyed(self, provider: Provider, first: bool) -> bool:
        key = self._keys.of(provider, first=first)
        return key is not None and (self._auth is None or not fits(self._auth, provider, first=first))

    def _open(self, model: str | Model, messages: Messages, options: CallOptions, *, stream: bool) -> EventStream:
        plan = self._plan(model, messages, options, stream=stream)
        concealer = Concealer()
        source = Source(
            _sender(self._transport, plan, self._keys, self._auth, concealer),
            conceal=concealer.conceal,
            observers=observers(self._hooks, self._trace, plan),
            on_event=None if self._hooks is None else self._hooks.on_event,
            abandoned=self._abandoned,
            limits=self._limits,
            retry=self._retry,
            timeouts=self._timeouts,
        )
        return EventStream(plan, source)


def _refuse_client(options: Mapping[str, Any]) -> None:
    if "client" in options:
        raise UnsupportedOption("client is no argument here: the client whose method this is makes the calls")


def _hooks(on_request: Any, on_response: Any, on_event: Any) -> Hooks | None:
    given = {"on_request": on_request, "on_response": on_response, "on_event": on_event}
    for name, hook in given.items():
        if hook is not None and (not callable(hook) or iscoroutinefunction(hook)):
            raise ConfigurationError(f"{name} must be a plain function")
    return Hooks(**given) if any(hook is not None for hook in given.values()) else None


class ClientOption(TypedDict, total=False):
    """client: the Client to call through; None opens a connection for this call alone."""

    client: Client | None


class ModuleCallOptions(CallOptions, ClientOption):
    """All that the module-level calls take."""


_abandoned = Abandoned()


def stream(model: str | Model, messages: Messages, **options: Unpack[ModuleCallOptions]) -> EventStream:
    """Ask a model and read its thinking and its answer as they are made.

    model: "provider/model", such as "anthropic/claude-opus-5", or a Model.
    messages: a string, messages, or a Conversation.
    options: see CallOptions, and `client`.

    A plain function that prepares at once: raises ConfigurationError (MissingCredentials, UnknownModel, ...) and
    HistoryError here, before any network. The network is used when the stream is entered or iterated, or when its
    `message()` is awaited.
    """
    cover(options)
    client, rest = _split(options)
    if client is not None:
        return client.stream(model, messages, **rest)
    return _open_alone(model, messages, rest, stream=True)


async def complete(
    model: str | Model, messages: Messages, *, streaming: bool = True, **options: Unpack[ModuleCallOptions]
) -> AssistantMessage:
    """Ask a model and wait for its whole answer.

    streaming: True streams underneath, so that no limit on the length of whole answers applies; False asks for the
        body in one piece. Both give the same message.
    The rest as in `stream`. With `output` the message has the value that was read as its `.output`; an answer that does
    not fit is corrected first, and the usage and cost are those of all answers. An answer that calls other tools has
    none yet.

    Raises what ends the stream, with `.partial`, and OutputError, with `.raw`.
    """
    cover(options)
    client, rest = _split(options)
    if client is not None:
        return await client.complete(model, messages, streaming=streaming, **rest)
    return await answered(lambda said: _open_alone(model, said, rest, stream=streaming), messages)


def complete_sync(
    model: str | Model, messages: Messages, *, streaming: bool = True, **options: Unpack[ModuleCallOptions]
) -> AssistantMessage:
    """As `complete`, for scripts without an event loop. Raises ConfigurationError inside a running one.

    A `client` may be given to any number of calls, also beside an event loop that uses it; each opens connections of
    its own.
    """
    cover(options)
    import anyio
    from anyio.lowlevel import current_token

    try:
        current_token()
    except RuntimeError:  # no event loop runs here
        pass
    else:
        raise ConfigurationError("complete_sync cannot run inside an event loop; await complete(...) there")

    async def call() -> AssistantMessage:
        try:
            return await complete(model, messages, streaming=streaming, **options)
        finally:
            if isinstance(client := options.get("client"), Client):
                await client._disconnect()

    return anyio.run(call)


def open_stream(
    model: str | Model, messages: Messages, options: CallOptions, *, client: Client | None, streaming: bool
) -> EventStream:
    """As `stream`; streaming: False asks for the body in one piece."""
    if client is not None:
        return client._open(model, messages, options, stream=streaming)
    return _open_alone(model, messages, options, stream=streaming)


def _split(options: ModuleCallOptions) -> tuple[Client | None, CallOptions]:
    rest = dict(options)
    client = rest.pop("client", None)
    if client is not None and not isinstance(client, Client):
        raise ConfigurationError(f"client must be a Client, not {type(client).__name__}")
    return client, rest  # type: ignore[return-value]


def _open_alone(model: str | Model, messages: Messages, options: CallOptions, *, stream: bool) -> EventStream:
    plan = build_plan(model, messages, options, stream=stream)
    transport = HttpTransport()
    concealer = Concealer()
    source = Source(
        _sender(transport, plan, Keys(None), None, concealer),
        aclose=transport.aclose,
        abandoned=_abandoned,
        conceal=concealer.conceal,
        observers=observers(None, None, plan),
    )
    return EventStream(plan, source)


def _sender(
    transport: Transport, plan: Plan, keys: Keys, auth: Auth | None, concealer: Concealer
) -> Callable[[Plan], Awaitable[Exchange]]:
    """Find the credentials of every plan now, before any network; ask them for headers anew before each request."""
    known: dict[Origin, Auth] = {}
    for each in (plan, *plan.fallbacks):
        first = each.provider.id == plan.provider.id or _host(each) == _host(plan)
        key = keys.of(each.provider, first=first)
        found = find_auth(each.provider, key, auth=auth, url=each.request.url, first=first)
        known[each.context.origin] = found

    async def send(plan: Plan) -> Exchange:
        concealer.note(plan.request.headers, all_of_them=False)
        asked: Any = known[plan.context.origin].headers(plan.request)
        if not isawaitable(asked):
            raise ConfigurationError("auth must have an async method headers(request)")
        credentials = concealer.checked(await asked)
        return await transport.send(plan.request, credentials)

    return send


def _host(plan: Plan) -> str:
    return urlsplit(plan.request.url).netloc
