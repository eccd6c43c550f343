"""Hooks, the log and spans tell what a call does, and nothing of what is said in it."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.testing import Delivery, Failure, MemoryTransport, Reply, Scripted, no_backoff

CLAUDE = "anthropic/claude-opus-5"
QUESTION, THOUGHT, ANSWER = "a private question", "a private thought", "a private answer"


def client(*replies: Any, retries: int = 0, **options: Any) -> ta.Client:
    script = list(replies) or [Reply([ta.Thinking.signed(THOUGHT, "c2ln"), ANSWER])]
    return ta.Client(api_key="test-key", transport=MemoryTransport(Scripted(script)), retries=retries, **options)


# hooks


@pytest.mark.anyio
@pytest.mark.parametrize("form", ["entered", "bare", "message"])
async def test_hooks_are_told_of_requests_heads_and_every_event(form: str) -> None:
    requests: list[ta.RequestInfo] = []
    responses: list[ta.ResponseInfo] = []
    heard: list[ta.StreamEvent] = []
    calling = client(on_request=requests.append, on_response=responses.append, on_event=heard.append)
    events = calling.stream(CLAUDE, QUESTION)
    seen: list[ta.StreamEvent] = []
    if form == "entered":
        async with events:
            seen = [event async for event in events]
    elif form == "bare":
        seen = [event async for event in events]
    message = await events.message()
    assert [info.attempt for info in requests] == [1]
    assert [(info.status, info.attempt) for info in responses] == [(200, 1)]
    assert responses[0].request_id == "req_scripted_1"
    assert responses[0].seconds >= 0
    assert heard == (seen or heard)
    assert isinstance(heard[-1], ta.StreamEnd)
    assert heard[-1].message == message


@pytest.mark.anyio
async def test_each_attempt_is_told_with_its_number_and_status() -> None:
    told: list[tuple[int, int]] = []
    calling = client(Failure(529), ANSWER, retries=1, on_response=lambda info: told.append((info.attempt, info.status)))
    with no_backoff():
        await calling.complete(CLAUDE, QUESTION)
    assert told == [(1, 529), (2, 200)]


@pytest.mark.anyio
async def test_what_a_hook_raises_ends_the_call_and_closes_its_answer() -> None:
    def fail(event: ta.StreamEvent) -> None:
        raise LookupError("no place for it")

    transport = MemoryTransport(Scripted([ANSWER]))
    calling = ta.Client(api_key="test-key", transport=transport, on_event=fail)
    with pytest.raises(LookupError):
        await calling.complete(CLAUDE, QUESTION)
    assert transport.open_answers == 0


@pytest.mark.anyio
@pytest.mark.parametrize("form", ["entered", "bare"])
@pytest.mark.parametrize("kind", [ta.StreamStart, ta.TextDelta, ta.StreamEnd])
async def test_what_a_hook_raises_reaches_the_reader_though_the_answer_is_whole(
    form: str, kind: type[ta.StreamEvent]
) -> None:
    def fail(event: ta.StreamEvent) -> None:
        if isinstance(event, kind):
            raise LookupError("no place for it")

    # all of the answer comes in one piece
    transport = MemoryTransport(Scripted([Reply("Hello", delivery=Delivery(pieces="whole"))]))
    calling = ta.Client(api_key="test-key", transport=transport, on_event=fail)
    events = calling.stream(CLAUDE, QUESTION)
    with pytest.raises(LookupError) as caught:
        if form == "entered":
            async with events:
                async for event in events:
                    assert not isinstance(event, ta.StreamEnd)
        else:
            async for event in events:
                assert not isinstance(event, ta.StreamEnd)
    with pytest.raises(LookupError) as again:
        await events.message()
    assert again.value is caught.value
    assert transport.open_answers == 0


@pytest.mark.parametrize("name", ["on_request", "on_response", "on_event"])
def test_a_hook_that_is_no_plain_function_is_refused(name: str) -> None:
    async def later(told: object) -> None:
        """Nobody would await it."""

    for hook in (later, 5):
        arguments: Any = {name: hook}
        with pytest.raises(ta.ConfigurationError, match=f"{name} must be a plain function"):
            ta.Client(**arguments)
    with pytest.raises(ta.UnsupportedOption, match="is an argument of Client"):
        unknown: Any = {name: print}
        ta.prepare(CLAUDE, QUESTION, **unknown)


# the log


@pytest.mark.anyio
async def test_the_log_names_the_call_and_none_of_its_content(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "thinkaloud")
    message = await client().complete(CLAUDE, QUESTION)
    lines = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "thinkaloud"]
    assert [level for level, _ in lines] == ["DEBUG", "DEBUG", "INFO"]
    (call_id,) = {text.partition(" ")[0] for _, text in lines}
    assert re.fullmatch(r"\[[0-9a-f]{8}\]", call_id)
    assert all(text.startswith(f"{call_id} anthropic/claude-opus-5: ") for _, text in lines)
    assert "request id req_scripted_1" in lines[2][1]
    assert f"end, {message.usage.input} tokens in, {message.usage.output} out" in lines[2][1]
    assert not any(word in caplog.text for word in ("private", "test-key"))


@pytest.mark.anyio
async def test_a_failure_is_logged_by_its_kind_and_status_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "thinkaloud")
    body = {"error": {"type": "invalid_request_error", "message": f"what is {QUESTION}?"}}
    with pytest.raises(ta.InvalidRequest):
        await client(Failure(400, body=body)).complete(CLAUDE, QUESTION)
    assert len(caplog.records) == 1
    assert caplog.records[0].getMessage().endswith("InvalidRequest (status 400, invalid_request_error)")


@pytest.mark.anyio
async def test_a_retry_and_a_fallback_have_a_line_each_without_content(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    caplog.set_level(logging.INFO, "thinkaloud")
    told: list[ta.RequestInfo | ta.ResponseInfo] = []
    busy = Failure(529, body={"error": {"type": "overloaded_error", "message": f"busy with {QUESTION}"}})
    calling = client(busy, busy, ANSWER, retries=1, on_request=told.append, on_response=told.append)
    with no_backoff():
        await calling.complete(CLAUDE, QUESTION, fallbacks=["openai/gpt-5.2"])
    (call_id,) = {info.call_id for info in told}
    lines = [record.getMessage() for record in caplog.records]
    start = f"[{call_id}] {CLAUDE}: request "
    facts = "error Overloaded, status 529"
    assert lines[:2] == [
        f"{start}1 failed, request id req_scripted_1: retrying ({facts}, wait 0.0, model {CLAUDE})",
        f"{start}2 failed, request id req_scripted_2: fallback ({facts}, model openai/gpt-5.2)",
    ]
    assert lines[2].startswith(f"[{call_id}] openai/gpt-5.2: attempt 3 answered")
    assert "private" not in caplog.text


@pytest.mark.anyio
async def test_each_call_has_an_id_of_its_own() -> None:
    told: list[ta.RequestInfo] = []
    calling = client(ANSWER, ANSWER, on_request=told.append)
    for _ in range(2):
        await calling.complete(CLAUDE, QUESTION)
    assert told[0].call_id != told[1].call_id


@pytest.mark.anyio
async def test_content_is_logged_only_where_its_own_logger_asks_for_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "thinkaloud.content")
    await client().complete(CLAUDE, QUESTION)
    said = [record.getMessage() for record in caplog.records if record.name == "thinkaloud.content"]
    assert len(said) == 2
    assert QUESTION in said[0]
    assert ANSWER in said[1]


@pytest.mark.anyio
async def test_a_root_logger_that_hears_everything_hears_no_content(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await client().complete(CLAUDE, QUESTION)
    assert caplog.records
    assert "private" not in caplog.text


def test_nobody_is_told_where_nobody_listens() -> None:
    logging.getLogger("thinkaloud").setLevel(logging.WARNING)
    try:
        events = client().stream(CLAUDE, QUESTION)
    finally:
        logging.getLogger("thinkaloud").setLevel(logging.NOTSET)
    assert events._attempts._source.observers == []
    assert events._attempts.step == events._attempts._step


# spans


def exported() -> tuple[Any, Any]:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export")
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter").InMemorySpanExporter()
    provider = sdk.TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(export.SimpleSpanProcessor(memory))
    return provider, memory


@pytest.mark.anyio
async def test_a_call_is_a_span_with_the_conventions_attributes_and_no_content() -> None:
    provider, memory = exported()
    with provider.get_tracer("mine").start_as_current_span("outer"):
        message = await client(tracing=provider).complete(CLAUDE, QUESTION, max_tokens=5000, stop="END")
    span, outer = memory.get_finished_spans()
    assert len(span.attributes["thinkaloud.call_id"]) == 8
    assert (span.name, span.kind.name) == ("chat claude-opus-5", "CLIENT")
    assert span.parent.span_id == outer.context.span_id
    assert dict(span.attributes) == {
        "thinkaloud.call_id": span.attributes["thinkaloud.call_id"],
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-opus-5",
        "gen_ai.request.max_tokens": 5000,
        "gen_ai.request.stop_sequences": ("END",),
        "server.address": "api.anthropic.com",
        "server.port": 443,
        "http.response.status_code": 200,
        "gen_ai.response.id": message.response_id,
        "gen_ai.response.model": message.origin.model if message.origin else None,
        "gen_ai.response.finish_reasons": ("end_turn",),
        "gen_ai.usage.input_tokens": message.usage.input,
        "gen_ai.usage.output_tokens": message.usage.output,
        "thinkaloud.request_id": "req_scripted_1",
        "thinkaloud.attempts": 1,
    }
    assert "private" not in span.to_json()


@pytest.mark.anyio
async def test_a_failed_call_is_a_span_with_its_error_and_its_retries() -> None:
    provider, memory = exported()
    with no_backoff(), pytest.raises(ta.Overloaded):
        await client(Failure(529), Failure(529), retries=1, tracing=provider).complete(CLAUDE, QUESTION)
    (span,) = memory.get_finished_spans()
    assert (span.status.status_code.name, span.status.description) == ("ERROR", "Overloaded")
    assert span.attributes["error.type"] == "Overloaded"
    assert span.attributes["thinkaloud.error.code"] == "overloaded_error"
    assert [(event.name, dict(event.attributes)) for event in span.events] == [("retry", {"thinkaloud.attempt": 2})]


@pytest.mark.anyio
async def test_a_span_tells_of_the_model_that_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key")
    provider, memory = exported()
    calling = client(Failure(529), ANSWER, tracing=provider)
    await calling.complete(CLAUDE, QUESTION, fallbacks=["openai/gpt-5.2"])
    (span,) = memory.get_finished_spans()
    assert (span.name, span.status.status_code.name) == ("chat gpt-5.2", "UNSET")
    other = {
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5.2",
        "server.address": "api.openai.com",
    }
    assert other.items() <= dict(span.attributes).items()
    (event,) = span.events
    assert event.name == "fallback"
    assert dict(event.attributes) == {"thinkaloud.attempt": 2, **other}


@pytest.mark.anyio
async def test_a_call_that_its_reader_leaves_ends_its_span() -> None:
    provider, memory = exported()
    long = Reply(["word " * 500], chunk_size=5)
    async with client(long, tracing=provider).stream(CLAUDE, QUESTION) as events:
        await anext(events)
    (span,) = memory.get_finished_spans()
    assert span.attributes["thinkaloud.aborted"] is True
    assert "error.type" not in span.attributes
    assert span.status.status_code.name == "UNSET"


def test_tracing_without_opentelemetry_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from thinkaloud import tracing

    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(tracing, "import_module", missing)
    with pytest.raises(ta.ConfigurationError, match=r"pip install 'thinkaloud\[otel\]'"):
        ta.Client(tracing=True)


def test_tracing_takes_a_provider_of_tracers() -> None:
    pytest.importorskip("opentelemetry")
    with pytest.raises(ta.ConfigurationError, match="TracerProvider, not int"):
        ta.Client(tracing=5)
    ta.Client(tracing=True)
