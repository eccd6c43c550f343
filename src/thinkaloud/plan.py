"""From a call's arguments to the request that will be sent, without any network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from difflib import get_close_matches
from typing import Any, Literal, TypedDict, Unpack

from attrs import evolve, field, frozen

from thinkaloud.arguments import (
    conversation_of,
    fitting,
    headers_of,
    level_of,
    mapping_of,
    number,
    one_of,
    options_for,
    positive,
    stops_of,
    tool_choice_of,
    tools_of,
)
from thinkaloud.checked import items_of
from thinkaloud.cost import Pricing
from thinkaloud.errors import ConfigurationError, HistoryError, ProviderError, StaleThinking, UnsupportedOption, shown
from thinkaloud.history.decisions import SwitchPolicy
from thinkaloud.history.processors import Processor
from thinkaloud.history.readying import OnStale, ready, without_stale
from thinkaloud.history.switching import Switched
from thinkaloud.jsontext import Json
from thinkaloud.levels import LevelName, ThinkingLevel
from thinkaloud.messages import Conversation, LevelChoice, Message, Origin
from thinkaloud.models.address import Address, Entry, find_address
from thinkaloud.models.model import Model
from thinkaloud.models.providers import Provider
from thinkaloud.models.resolve import resolve_model
from thinkaloud.notices import Notice
from thinkaloud.protocols.base import Cache, Call, Display, ParseContext, WireProtocol
from thinkaloud.protocols.clouds import in_form_of
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.structured import Output, as_output
from thinkaloud.tools import ServerTool, Tool, ToolChoice
from thinkaloud.wire.hiding import Unshown, cover, shown_headers
from thinkaloud.wire.http import HttpRequest

Messages = str | Message | Sequence[str | Message] | Conversation
"""What a call takes as its conversation: a text, a message, several of them, or a Conversation."""


class CallOptions(TypedDict, total=False):
    """What every call takes besides the model and the messages. None, or nothing, leaves it to the provider.

    system: text that stands before the conversation.
    tools, tool_choice: what the model may call, and how it must choose.
    reasoning: the thinking level, "off" to "max".
    display: "summarized" or "omitted" thinking; visible where a level is on and nothing is said.
    max_tokens: the most that may be generated, thinking included.
    temperature, top_p, top_k, seed: sampling.
    stop: texts that end the answer.
    output: the type that the answer is read into, such as a class of attrs, or an Output.
    cache: "auto" (about five minutes) or "1h" prompt caching.
    options: one options object of the protocol, or several; each protocol takes its own. They win over the rest.
    base_model: id of the model whose facts apply, where the model's name is a deployment's own.
    extra_body, extra_headers: added to the request as they are.
    base_url: another place that speaks the protocol.
    endpoint: parts of the provider's own address, where it has any: {"region": "eu-west-1"}, {"project": ...,
        "location": ...}, {"resource": ..., "api_version": ...}; the rest is looked for in the environment. A part that
        the address has no place for is told by a notice.
    allow_http: base_url may be plain http on another machine, with the key in clear text.
    fallbacks: models that are asked in order where the one before failed before its answer began. They take the same
        arguments, without `base_model`; their native options may stand in `options`, one object for each protocol.
    processors: functions from messages to messages, run before the history is checked; see `trim_turns`.
    switch: what becomes of another model's thinking, and of calls without results; see `SwitchPolicy`.
    on_stale: for thinking whose system text, tools or earlier messages have changed since it was made, at models that
        bind it to them: "send" tells of it and lets the server judge, "error" refuses the history, "drop" lets the
        server leave it out, and sends a call that was refused for its thinking once more without it.
    """

    system: str | None
    tools: Iterable[Tool | ServerTool]
    tool_choice: ToolChoice | Literal["auto", "none", "required"] | None
    reasoning: ThinkingLevel | LevelName | None
    display: Display | None
    max_tokens: int | None
    temperature: float | None
    top_p: float | None
    top_k: int | None
    seed: int | None
    stop: str | Iterable[str]
    output: Any
    cache: Cache | None
    options: Any
    base_model: str | None
    extra_body: Mapping[str, Json] | None
    extra_headers: Mapping[str, str] | None
    base_url: str | None
    endpoint: Mapping[str, str] | None
    allow_http: bool
    fallbacks: Iterable[str | Model]
    processors: Iterable[Processor] | Processor
    switch: SwitchPolicy | None
    on_stale: OnStale | None


@frozen
class Plan:
    """What a call will send, and everything that differs from what was asked. Holds no credentials.

    model: the model with its provider's facts.
    request: the HTTP request.
    body: its JSON body.
    level: the thinking level asked for and sent.
    notices: what was clamped, left out or changed.
    fallbacks: what will be sent where this fails before its answer began, in order.
    """

    model: Model
    request: HttpRequest
    body: Mapping[str, Json] = field(repr=False)
    level: LevelChoice
    notices: tuple[Notice, ...]
    provider: Provider = field(repr=False)
    wire: WireProtocol = field(repr=False)
    context: ParseContext = field(repr=False)
    call: Call = field(repr=False)
    writing: _Writing = field(repr=False)
    fallbacks: tuple[Plan, ...] = field(default=(), repr=False)

    @property
    def url(self) -> str:
        """Where the request goes."""
        return self.request.url

    @property
    def headers(self) -> Mapping[str, str]:
        """All headers of the request, for people: the key, and whatever else may be a secret, shows as ***."""
        key = "authorization" if self.provider.key_header == "bearer" else self.provider.key_header
        shown = shown_headers(self.request.headers)
        return {**shown, key: "***"} if self.provider.key_variables else shown


def prepare(model: str | Model, messages: Messages, **options: Unpack[CallOptions]) -> Plan:
    """Build the request of a call, without network and without credentials.

    Raises ConfigurationError for arguments that cannot work, HistoryError for a history that cannot be sent.
    """
    cover(options)
    return build_plan(model, messages, options, stream=True)


def build_plan(
    model: str | Model, messages: Messages, options: CallOptions, *, stream: bool, entry: Entry = Entry()
) -> Plan:
    """As `prepare`, for a streamed or a whole answer.

    entry: what the credentials that will be used say of addresses.
    """
    refuse_unknown(options)
    plan = _one_plan(model, messages, options, stream=stream, entry=entry)
    if not (given := options.get("fallbacks")):
        return plan
    if isinstance(given, (str, Model)):
        given = (given,)
    others: CallOptions = {**options, "base_model": None}
    fallbacks: list[Plan] = []
    for place, fallback in enumerate(items_of("fallbacks", given)):
        try:
            fallbacks.append(_one_plan(fallback, messages, others, stream=stream, entry=entry, first=plan.provider))
        except (ConfigurationError, HistoryError) as error:
            error.args = (f"fallbacks[{place}]={_name_of(fallback)}: {error.message}",)
            raise
    plan, *fallbacks = _told_together([plan, *fallbacks])
    return evolve(plan, fallbacks=tuple(fallbacks))


def _told_together(plans: list[Plan]) -> list[Plan]:
    """The plans of a chain without notices of parts of an address that another one of them has a place for."""
    unused = [set(plan.writing.address.unused) for plan in plans]
    nowhere = set.intersection(*unused)
    return [
        plan if names == nowhere else plan.writing.without_notices_of(names - nowhere).plan(plan.call)
        for plan, names in zip(plans, unused, strict=True)
    ]


def _name_of(model: object) -> str:
    if isinstance(model, Model):
        return f"{model.provider}/{model.id}"
    return model if isinstance(model, str) else shown(model)


def _one_plan(
    model: str | Model,
    messages: Messages,
    options: CallOptions,
    *,
    stream: bool,
    entry: Entry,
    first: Provider | None = None,
) -> Plan:
    """first: the provider that is asked before this one."""
    resolved, provider = resolve_model(model, base_model=options.get("base_model"))
    assert resolved.protocol is not None
    wire = wire_protocol(resolved.protocol)
    conversation = conversation_of(messages, options.get("system"))
    output = as_output(options.get("output"))
    tools = tools_of(options.get("tools", ()))
    native = output is not None and _takes_output(output, wire, resolved, tools)
    if output is not None and not native:
        tools = tools_of((*tools, output.tool))
    dialect = (resolved.dialect or provider.dialect).for_model(resolved.facts_id)
    history = ready(
        conversation,
        resolved,
        dialect=dialect,
        tools=tools,
        processors=options.get("processors"),
        switch=options.get("switch"),
        on_stale=options.get("on_stale"),
    )
    call = Call(
        model=resolved,
        messages=history.messages,
        system=conversation.system,
        tools=tools,
        tool_choice=tool_choice_of(options.get("tool_choice")),
        reasoning=level_of(options.get("reasoning")),
        display=one_of("display", options.get("display"), ("summarized", "omitted")),
        max_tokens=positive("max_tokens", options.get("max_tokens")),
        temperature=number("temperature", options.get("temperature")),
        top_p=number("top_p", options.get("top_p")),
        top_k=positive("top_k", options.get("top_k")),
        seed=options.get("seed"),
        stop=stops_of(options.get("stop", ())),
        cache=one_of("cache", options.get("cache"), ("auto", "1h")),
        options=options_for(options.get("options"), wire),
        dialect=dialect,
        stream=stream,
        drop_stale=options.get("on_stale") == "drop",
        output=output,
        output_schema=output.schema if output is not None and native else None,
    )
    return _Writing(
        provider=provider,
        history=history,
        address=find_address(
            options.get("base_url"),
            resolved,
            provider,
            endpoint=options.get("endpoint"),
            entry=entry,
            first=first is None or first.id == provider.id,
            allow_http=options.get("allow_http") is True,
        ),
        extra_body=mapping_of("extra_body", options.get("extra_body")),
        extra_headers=headers_of(options.get("extra_headers")),
    ).plan(call)


def amended(plan: Plan, error: ProviderError) -> Plan | None:
    """The plan with what its endpoint refused left out, and a notice; None where nothing can be done about the error.

    For a failure before any event was handed out. The code of the last notice names the kind, which must not be amended
    twice in one call.
    """
    writing, change = plan.writing, None
    if isinstance(error, StaleThinking) and plan.call.drop_stale:
        if (found := without_stale(writing.history, plan.call, error)) is not None:
            history, change = found
            writing = evolve(writing, history=history)
    elif plan.wire.amend is not None:
        change = plan.wire.amend(plan.call, error)
    if change is None:
        return None
    return evolve(writing, amended=(*writing.amended, change.notice)).plan(change.call)


@frozen
class _Writing:
    """All that makes a request of a call, kept so that an amended call can be written in the same way.

    amended: one for each change that was made after a refusal.
    """

    provider: Provider
    history: Switched
    address: Address
    extra_body: Mapping[str, Json] = field(repr=False)
    extra_headers: Mapping[str, str] = field(repr=False)
    amended: tuple[Notice, ...] = ()

    def without_notices_of(self, parts: Set[str]) -> _Writing:
        """The same, where these parts of an address have their place in another plan."""
        unused = tuple(name for name in self.address.unused if name not in parts)
        return evolve(self, address=evolve(self.address, unused=unused))

    def plan(self, call: Call) -> Plan:
        model = call.model
        assert model.protocol is not None
        wire = wire_protocol(model.protocol)
        try:
            encoded = in_form_of(self.address, wire.encode(call), call)
        except RecursionError:
            raise ConfigurationError(
                "messages, tools or options hold JSON that is nested too deeply to be sent"
            ) from None
        body = Unshown({**encoded.body, **self.extra_body})
        headers = Unshown(
            {
                "content-type": "application/json",
                "accept": "text/event-stream" if call.stream else "application/json",
                **fitting(encoded.headers),
                **self.extra_headers,
            }
        )
        choice = LevelChoice(call.reasoning, encoded.level)
        origin = Origin(model.protocol, model.provider, model.id)
        return Plan(
            model=model,
            request=HttpRequest("POST", self.address.url + encoded.path, headers, _encoded(body)),
            body=dict(body),
            level=choice,
            notices=(*_unknown(call), *_unused(self), *self.history.told(encoded.notices), *self.amended),
            provider=self.provider,
            wire=wire,
            context=ParseContext(
                origin=origin,
                dialect=call.dialect,
                level=choice,
                prefix_digest=self.history.prefix_digest,
                price=_pricing(model, body),
            ),
            call=call,
            writing=self,
        )


def _unknown(call: Call) -> tuple[Notice, ...]:
    """Tells that a level goes to a model of which nothing is known."""
    model = call.model
    if call.reasoning is None or model.reasoning is not None or model.thinking is not None:
        return ()
    text = (
        f"nothing is known of the model {model.facts_id!r} at {model.provider}, so the level is sent as its family or "
        "its endpoint would take it; base_model= or register_model() can say more"
    )
    return (Notice("unknown_model", text, "model", {"provider": model.provider, "model": model.facts_id}),)


def _unused(writing: _Writing) -> Iterable[Notice]:
    """Tells of what the user has named of an address that has no place for it."""
    for name in writing.address.unused:
        text = f"the address that {writing.provider.id} is called at has no {name}"
        yield Notice("option_ignored", text, f"endpoint.{name}")


# Fields that choose another price than the standard one, and the values that do not.
_TIER_FIELDS = ("service_tier", "serviceTier", "speed")
_STANDARD = (None, "auto", "default", "standard", "standard_only", {"type": "default"})


def _pricing(model: Model, body: Mapping[str, Json]) -> Pricing | None:
    if model.prices is None or any(body.get(name) not in _STANDARD for name in _TIER_FIELDS):
        return None
    return Pricing(model.prices)


# Arguments of a Client that a single call does not take.
_TOLD = ("on_request", "on_response", "on_event", "tracing")
_OF_CLIENTS = ("api_key", "auth", "http_client", "transport", "timeouts", "limits", "retries", *_TOLD)


# Arguments of a run that a single answer does not take.
_LIMITS_OF_RUNS = ("max_turns", "max_tool_calls", "max_total_tokens", "max_cost", "tool_deadline")
_OF_RUNS = (*_LIMITS_OF_RUNS, "on_tool_error", "history", "approvals")


def refuse_unknown(options: Mapping[str, Any]) -> None:
    """Raise UnsupportedOption for an argument that no call takes, with the name that was probably meant."""
    known = CallOptions.__annotations__
    for name in options:
        if name in known:
            continue
        if name in _OF_CLIENTS:
            raise UnsupportedOption(f"{name} is an argument of Client: use Client({name}=...), or client=Client(...)")
        if name in _OF_RUNS:
            raise UnsupportedOption(f"{name} is an argument of run and run_stream: a call here is one answer")
        near = get_close_matches(name, [*known, *_OF_CLIENTS, *_OF_RUNS], 1)
        where = ", an argument of Client" if near and near[0] in _OF_CLIENTS else ""
        hint = f"did you mean {near[0]}{where}?" if near else f"there are: {', '.join(sorted(known))}"
        raise UnsupportedOption(f"unknown argument {name!r}; {hint}")


def _takes_output(output: Output, wire: WireProtocol, model: Model, tools: Sequence[Tool | ServerTool]) -> bool:
    """Whether the output goes as the protocol's own format, and not as a tool."""
    if output.mode != "auto":
        return output.mode == "native"
    return wire.takes_output is not None and wire.takes_output(model, output.schema, tools)


def _encoded(body: Mapping[str, Json]) -> bytes:
    try:
        return json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"the request body cannot be written as JSON: {error}") from None
