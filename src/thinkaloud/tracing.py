"""Spans of OpenTelemetry for calls, by its conventions for generative AI (the extra `otel`); no content is in them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from thinkaloud.errors import ConfigurationError, ProviderError, StreamAborted
from thinkaloud.observing import Again, CallEnd, Observer, RequestInfo, ResponseInfo
from thinkaloud.plan import Plan

# `gen_ai.provider.name` in the conventions, where it is not our own name (OpenTelemetry's registry of attributes).
_PROVIDERS = {
    "bedrock": "aws.bedrock",
    "amazon-bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "google": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "google-vertex-anthropic": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
    "moonshotai": "moonshot_ai",
}


def tracer(tracing: Any) -> Callable[[Plan], Observer] | None:
    """What makes the span of a call. tracing: True for the global provider of tracers, or a provider; False for none.

    Raises ConfigurationError where OpenTelemetry is not installed.
    """
    if tracing is False or tracing is None:
        return None
    try:
        trace = import_module("opentelemetry.trace")
    except ModuleNotFoundError:
        raise ConfigurationError("tracing needs OpenTelemetry: pip install 'thinkaloud[otel]'") from None
    if tracing is not True and not callable(getattr(tracing, "get_tracer", None)):
        raise ConfigurationError(f"tracing must be True or a TracerProvider, not {type(tracing).__name__}")
    made = (trace if tracing is True else tracing).get_tracer("thinkaloud")
    return lambda plan: Span(trace, made, plan)


class Span:
    """One call as a span, over all its attempts."""

    def __init__(self, trace: Any, made: Any, plan: Plan) -> None:
        self._trace, self._tracer = trace, made
        self._context = import_module("opentelemetry.context").get_current()  # of whoever began the call
        self._span: Any = None
        self._asked: dict[str, Any] = {}
        self._model = ""

    def sent(self, info: RequestInfo) -> None:
        before, self._asked = self._asked, _asked(info.plan)
        model, self._model = self._model, f"{info.plan.model.provider}/{info.plan.model.id}"
        if self._span is None:
            self._span = self._tracer.start_span(
                f"chat {info.plan.model.id}",
                context=self._context,
                kind=self._trace.SpanKind.CLIENT,
                attributes={"thinkaloud.call_id": info.call_id, **self._asked},
            )
            return
        # The span tells of the model that answers in the end; its events tell what was different this time.
        changed = {name: value for name, value in self._asked.items() if before.get(name) != value}
        kind = "retry" if model == self._model else "fallback"
        self._span.add_event(kind, {"thinkaloud.attempt": info.attempt, **changed})
        self._span.set_attributes(changed)
        self._span.update_name(f"chat {info.plan.model.id}")

    def answered(self, info: ResponseInfo) -> None:
        self._span.set_attribute("http.response.status_code", info.status)

    def goes_on(self, info: Again) -> None:
        """Nothing: the next request is an event."""

    def ended(self, info: CallEnd) -> None:
        if self._span is None:  # no request was sent
            return
        self._span.set_attributes(_answered(info))
        if isinstance(info.error, StreamAborted):  # its reader wanted no more
            self._span.set_attribute("thinkaloud.aborted", True)
        elif info.error is not None:
            self._span.set_attributes(_failed(info.error))
            self._span.set_status(self._trace.StatusCode.ERROR, type(info.error).__name__)
        self._span.end()


def _failed(error: BaseException) -> dict[str, Any]:
    code = error.code if isinstance(error, ProviderError) else None
    return _known({"error.type": type(error).__name__, "thinkaloud.error.code": code})


def _asked(plan: Plan) -> dict[str, Any]:
    call, address = plan.call, urlsplit(plan.url)
    level = plan.level.sent
    return _known(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(plan.model.provider, plan.model.provider),
            "gen_ai.request.model": plan.model.id,
            "gen_ai.request.max_tokens": call.max_tokens,
            "gen_ai.request.temperature": call.temperature,
            "gen_ai.request.top_p": call.top_p,
            "gen_ai.request.top_k": call.top_k,
            "gen_ai.request.seed": call.seed,
            "gen_ai.request.stop_sequences": list(call.stop) or None,
            "server.address": address.hostname,
            "server.port": address.port or (443 if address.scheme == "https" else 80),
            "thinkaloud.reasoning.level": None if level is None else level.value,
        }
    )


def _answered(info: CallEnd) -> dict[str, Any]:
    told: dict[str, Any] = {"thinkaloud.request_id": info.request_id, "thinkaloud.attempts": info.attempt}
    message = info.message
    if message is not None:
        told |= {
            "gen_ai.response.id": message.response_id,
            "gen_ai.response.model": message.origin.model if message.origin else None,
            "gen_ai.response.finish_reasons": [message.raw_stop_reason or str(message.stop_reason)],
        }
        if message.usage is not None:
            told |= {
                "gen_ai.usage.input_tokens": message.usage.input,
                "gen_ai.usage.output_tokens": message.usage.output,
            }
    return _known(told)


def _known(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}
