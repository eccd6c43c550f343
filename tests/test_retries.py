"""A request that fails before its answer begins is sent again by a policy, and never afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

import thinkaloud as ta
from support.calling import MODELS, calling
from thinkaloud.testing import Delivery, Failure, NoAnswer, Reply, Scripted, no_backoff
from thinkaloud.testing.event_rules import check_event_rules
from thinkaloud.transport import retry as policy
from thinkaloud.transport.retry import another_may_do, heed_answer

CLAUDE = MODELS["anthropic-messages"]
FORMS = ["entered", "bare", "message", "whole"]
UNVERIFIED = Failure(
    400,
    body={"error": {"message": "Verify first.", "type": "invalid_request_error", "param": "reasoning.summary"}},
)
GOOD = Reply([ta.Thinking("one two"), "three four"])


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with no_backoff():
        yield


@contextmanager
def waiting() -> Iterator[None]:
    """Wait after all, inside `no_backoff`."""
    policy._backoff = True
    try:
        yield
    finally:
        policy._backoff = False


KEYS = {"anthropic": "test-key", "deepseek": "test-key", "openai": "test-key"}


def client_of(*replies: Any, **options: Any) -> tuple[Scripted, ta.Client]:
    scripted = Scripted(replies)
    return scripted, ta.Client(transport=scripted.transport(), api_key=KEYS, **options)


async def read(
    client: ta.Client, form: str, model: str = CLAUDE, **options: Any
) -> tuple[list[ta.StreamEvent], ta.AssistantMessage]:
    """Read an answer in one of the forms there are; give its events, where the form has any, and the message."""
    seen: list[ta.StreamEvent] = []
    if form == "whole":
        return seen, await client.complete(model, "hi", streaming=False, **options)
    events = client.stream(model, "hi", **options)
    if form == "entered":
        async with events:
            seen += [event async for event in events]
            return seen, await events.message()
    if form == "bare":
        seen += [event async for event in events]
    return seen, await events.message()


def said(message: ta.AssistantMessage) -> tuple[str, str]:
    return message.thinking, message.text


GOOD_SAID = ("one two", "three four")


def codes(message: ta.AssistantMessage) -> list[str]:
    return [notice.code for notice in message.notices]


# the policy alone


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (ta.ConnectFailed("x"), True),
        (ta.ReadFailed("x"), True),
        (ta.DeadlineExceeded("x", kind="connect"), True),
        (ta.DeadlineExceeded("x", kind="first_event"), True),
        (ta.DeadlineExceeded("x", kind="silence"), True),
        (ta.DeadlineExceeded("x", kind="total"), False),
        (ta.TruncatedStream("x"), True),
        (ta.MalformedStream("x"), False),
        (ta.LimitExceeded("x"), False),
        (ta.StreamAborted("x"), False),
        (ta.RateLimited("x", status=429), True),
        (ta.QuotaExceeded("x", status=429), False),
        (ta.QuotaExceeded("x", status=429, retryable=True), False),
        (ta.Overloaded("x", status=529), True),
        (ta.ServerError("x", status=500), True),
        (ta.MalformedToolCall("x"), True),
        (ta.InvalidRequest("x", status=409, retryable=True), True),
        (ta.InvalidRequest("x", status=400), False),
        (ta.AuthenticationError("x", status=401), False),
        (ta.ContextTooLong("x", status=400), False),
        (ta.ConfigurationError("x"), False),
    ],
)
def test_what_is_sent_again(error: ta.ThinkaloudError, again: bool) -> None:
    assert (ta.Retry().wait(error, 0) is not None) is again


def test_waits_double_up_to_the_longest_less_up_to_a_quarter_by_chance() -> None:
    retry = ta.Retry(limit=9)
    error = ta.ConnectFailed("x")
    with waiting():
        assert [retry.wait(error, taken, chance=lambda: 0.0) for taken in range(7)] == [0.5, 1, 2, 4, 8, 8, 8]
        assert retry.wait(error, 2, chance=lambda: 1.0) == 1.5
        assert retry.wait(error, 9) is None
        assert retry.wait(ta.RateLimited("x", retry_after=7.5), 0) == 7.5
        assert retry.wait(ta.RateLimited("x", retry_after=0.0), 0, chance=lambda: 0.0) == 0.5
        assert ta.Retry(limit=5000, first_wait=1).wait(error, 4000, chance=lambda: 0.0) == 8


def test_no_wait_is_longer_than_the_longest_that_may_be_asked_for() -> None:
    retry = ta.Retry(max_wait=10)
    assert retry.wait(ta.RateLimited("x", retry_after=10), 0) is not None
    assert retry.wait(ta.RateLimited("x", retry_after=10.5), 0) is None


@pytest.mark.parametrize(
    ("status", "said", "retryable"),
    [
        (400, "", False),
        (408, "", True),
        (409, "", True),
        (429, "", True),
        (500, "", True),
        (500, "false", False),
        (409, "False", False),
        (400, "true", True),
        (400, "perhaps", False),
        (200, "true", False),
    ],
)
def test_the_provider_has_the_word_on_an_error_status(status: int, said: str, retryable: bool) -> None:
    error = ta.InvalidRequest("x")
    heed_answer(error, status, {"x-should-retry": said})
    assert error.retryable is retryable


@pytest.mark.parametrize(
    ("error", "asked"),
    [
        (ta.Overloaded("x"), True),
        (ta.QuotaExceeded("x"), True),
        (ta.NotFound("x"), True),
        (ta.AuthenticationError("x"), True),
        (ta.PermissionDenied("x"), True),
        (ta.InvalidRequest("x"), False),
        (ta.ContentFiltered("x"), False),
        (ta.ContextTooLong("x"), False),
        (ta.MalformedStream("x"), False),
    ],
)
def test_another_model_is_asked_unless_the_request_itself_is_at_fault(error: ta.ThinkaloudError, asked: bool) -> None:
    assert another_may_do(error) is asked


@pytest.mark.parametrize(
    "options", [{"limit": -1}, {"limit": 1.5}, {"limit": True}, {"first_wait": -1}, {"max_wait": "long"}]
)
def test_a_policy_that_cannot_be_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ta.ConfigurationError, match=f"Retry\\.{next(iter(options))}="):
        ta.Retry(**options)


def test_retries_of_a_client_are_a_policy_or_a_number() -> None:
    with pytest.raises(ta.ConfigurationError, match="retries must be Retry"):
        ta.Client(retries="often")  # type: ignore[arg-type]
    with pytest.raises(ta.ConfigurationError, match="limit=-1"):
        ta.Client(retries=-1)
    with pytest.raises(ta.UnsupportedOption, match=r"use Client\(retries=\.\.\.\)"):
        ta.prepare(CLAUDE, "hi", retries=3)  # type: ignore[call-arg]


# sending again


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "failure",
    [Failure(429), Failure(500), Failure(529), Failure(408), Failure(409), Failure(503, body="<html>"), NoAnswer()],
)
async def test_a_failed_request_is_sent_again_and_said_so(form: str, failure: Any) -> None:
    scripted, client = client_of(failure, failure, GOOD)
    seen, message = await read(client, form)
    assert said(message) == GOOD_SAID
    assert len(scripted.requests) == 3
    assert codes(message) == ["retrying", "retrying"]
    assert [notice.detail["attempt"] for notice in message.notices] == [2, 3]
    if seen:
        assert [type(event) for event in seen[:3]] == [ta.Notice, ta.Notice, ta.StreamStart]
        check_event_rules(seen, complete=True)
        fold = ta.Accumulator()
        fold.add_all(seen)
        assert fold.message() == message


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS)
async def test_the_last_error_is_raised_when_all_attempts_failed(form: str) -> None:
    scripted, client = client_of(Failure(500), Failure(429), Failure(529, "full"), GOOD)
    with pytest.raises(ta.Overloaded, match="full"):
        await read(client, form)
    assert len(scripted.requests) == 3


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS)
async def test_nothing_is_sent_again_where_that_is_switched_off(form: str) -> None:
    scripted, client = client_of(Failure(500), GOOD, retries=0)
    with pytest.raises(ta.ServerError):
        await read(client, form)
    assert len(scripted.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("failure", [Failure(400), Failure(401), Failure(ta.QuotaExceeded, status=429)])
async def test_what_waiting_does_not_cure_is_raised_at_once(failure: Failure) -> None:
    scripted, client = client_of(failure, GOOD)
    with pytest.raises(ta.ProviderError):
        await client.complete(CLAUDE, "hi")
    assert len(scripted.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize(("word", "requests"), [("true", 2), ("false", 1)])
async def test_the_header_of_the_provider_decides(word: str, requests: int) -> None:
    status = 400 if word == "true" else 500
    scripted, client = client_of(Failure(status, headers={"x-should-retry": word}), GOOD)
    if word == "true":
        await client.complete(CLAUDE, "hi")
    else:
        with pytest.raises(ta.ServerError) as caught:
            await client.complete(CLAUDE, "hi")
        assert caught.value.retryable is False
    assert len(scripted.requests) == requests


@pytest.mark.anyio
async def test_a_wait_that_is_too_long_is_raised_with_its_seconds() -> None:
    scripted, client = client_of(Failure(429, headers={"retry-after": "3600"}), GOOD)
    with pytest.raises(ta.RateLimited) as caught:
        await client.complete(CLAUDE, "hi")
    assert caught.value.retry_after == 3600
    assert len(scripted.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS[:3])
@pytest.mark.parametrize("protocol", MODELS)
async def test_an_error_inside_a_stream_is_sent_again_before_the_first_event(form: str, protocol: str) -> None:
    model = MODELS[protocol]
    scripted, client = client_of(Reply(error=Failure(529), error_after=1), GOOD)
    seen, message = await read(client, form, model)
    assert said(message) == GOOD_SAID
    assert codes(message) == ["retrying"]
    assert len(scripted.requests) == 2
    check_event_rules(seen, complete=True) if seen else None


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS[:3])
async def test_a_stream_that_ends_before_its_first_event_is_sent_again(form: str) -> None:
    scripted, client = client_of(Reply("x", delivery=Delivery(cut_after=0)), GOOD)
    _, message = await read(client, form)
    assert said(message) == GOOD_SAID
    assert len(scripted.requests) == 2


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS[:3])
@pytest.mark.parametrize("protocol", MODELS)
async def test_nothing_is_sent_again_once_an_event_was_handed_out(form: str, protocol: str) -> None:
    scripted, client = client_of(Reply(["one two"], error=Failure(429, "slow")), GOOD)
    with pytest.raises(ta.RateLimited) as caught:
        await read(client, form, MODELS[protocol])
    assert caught.value.partial is not None
    assert caught.value.partial.text == "one two"
    assert len(scripted.requests) == 1


@pytest.mark.anyio
async def test_credentials_are_asked_for_anew_before_each_attempt() -> None:
    given: list[str] = []

    async def key() -> str:
        given.append(f"key-{len(given)}")
        return given[-1]

    scripted = Scripted([Failure(500), Failure(500), "Hello"])
    client = ta.Client(transport=scripted.transport(), api_key=key)
    await client.complete(CLAUDE, "hi")
    assert [request.credentials["x-api-key"] for request in scripted.requests] == ["key-0", "key-1", "key-2"]


@pytest.mark.anyio
async def test_notices_of_the_request_are_told_once() -> None:
    _, client = client_of(Failure(500), GOOD)
    seen, message = await read(client, "bare", "deepseek/deepseek-v4-pro", top_k=3)
    assert codes(message).count("retrying") == 1
    assert len(set(codes(message))) == len(codes(message))
    assert [event for event in seen if isinstance(event, ta.Notice)] == list(message.notices)


@pytest.mark.anyio
async def test_cancelling_during_the_wait_ends_it() -> None:
    scripted, client = client_of(Failure(500), GOOD)
    events = client.stream(CLAUDE, "hi")
    assert isinstance(await anext(events), ta.Notice)
    events.cancel()
    with pytest.raises(ta.StreamAborted):
        await events.message()
    assert len(scripted.requests) == 1


@pytest.mark.anyio
async def test_the_wait_ends_with_an_entered_stream() -> None:
    scripted, client = client_of(Failure(429, headers={"retry-after": "50"}), GOOD)
    with waiting():
        async with client.stream(CLAUDE, "hi") as events:
            notice = await anext(events)
    assert isinstance(notice, ta.Notice)
    assert notice.detail["wait"] == 50
    assert len(scripted.requests) == 1


@pytest.mark.anyio
async def test_a_wait_that_ends_after_the_total_deadline_is_not_begun() -> None:
    scripted, client = client_of(Failure(429, headers={"retry-after": "50"}), GOOD, timeouts=ta.Timeouts(total=20))
    with waiting(), pytest.raises(ta.RateLimited):
        await client.complete(CLAUDE, "hi")
    assert len(scripted.requests) == 1


@asynccontextmanager
async def retrying(library: str, *replies: Any, **options: Any) -> AsyncIterator[tuple[Any, ta.Client]]:
    if library != "own":
        pytest.importorskip(library)
    async with calling(Scripted(replies), library=library, retries=2, **options) as (server, client):
        yield server, client


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["httpx", "httpx2", "own"])
async def test_over_real_connections_nothing_stays_open(library: str) -> None:
    async with retrying(library, Failure(500), NoAnswer(), GOOD, max_connections=1) as (server, client):
        message = await client.complete(CLAUDE, "hi")
        assert said(message) == GOOD_SAID
        assert len(server.requests) == 3
        assert server.connections == 2  # the error was read to its end, so its connection served the next request


# amending


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS)
async def test_what_a_provider_refuses_is_left_out_once_and_is_no_retry(form: str) -> None:
    scripted, client = client_of(UNVERIFIED, GOOD, retries=0)
    seen, message = await read(client, form, "openai/gpt-5", reasoning="high")
    assert said(message)[1] == "three four"
    assert len(scripted.requests) == 2
    assert "summary" in scripted.requests[0].json["reasoning"]
    assert "summary" not in scripted.requests[1].json["reasoning"]
    assert codes(message).count("summary_refused") == 1
    check_event_rules(seen, complete=True) if seen else None


@pytest.mark.anyio
async def test_the_same_refusal_after_amending_is_raised() -> None:
    scripted, client = client_of(UNVERIFIED, UNVERIFIED, GOOD)
    with pytest.raises(ta.InvalidRequest):
        await client.complete("openai/gpt-5", "hi", reasoning="high")
    assert len(scripted.requests) == 2


# fallbacks


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS)
async def test_another_model_answers_where_the_first_one_cannot(form: str) -> None:
    scripted, client = client_of(Failure(529), GOOD, retries=0)
    seen, message = await read(client, form, fallbacks=["deepseek/deepseek-v4-pro"])
    assert said(message) == GOOD_SAID
    assert message.origin.provider == "deepseek"
    assert "fallback" in codes(message)
    assert [request.json["model"] for request in scripted.requests] == ["claude-opus-5", "deepseek-v4-pro"]
    check_event_rules(seen, complete=True) if seen else None


@pytest.mark.anyio
async def test_each_model_has_its_own_attempts_and_the_last_error_counts() -> None:
    scripted, client = client_of(*[Failure(500)] * 3, Failure(503, "busy"), retries=1)
    with pytest.raises(ta.Overloaded):
        await client.complete(CLAUDE, "hi", fallbacks=["openai/gpt-x"])
    assert len(scripted.requests) == 4


@pytest.mark.anyio
async def test_a_quota_that_is_used_up_falls_back_and_a_bad_request_does_not() -> None:
    scripted, client = client_of(Failure(ta.QuotaExceeded), GOOD)
    await client.complete(CLAUDE, "hi", fallbacks=["deepseek/deepseek-v4-pro"])
    scripted, client = client_of(Failure(400), GOOD)
    with pytest.raises(ta.InvalidRequest):
        await client.complete(CLAUDE, "hi", fallbacks=["deepseek/deepseek-v4-pro"])
    assert len(scripted.requests) == 1


@pytest.mark.anyio
async def test_no_fallback_after_the_first_event() -> None:
    scripted, client = client_of(Reply(["one"], error=Failure(529)), GOOD)
    with pytest.raises(ta.Overloaded):
        await client.complete(CLAUDE, "hi", fallbacks=["deepseek/deepseek-v4-pro"])
    assert len(scripted.requests) == 1


def test_a_plan_shows_its_fallbacks() -> None:
    plan = ta.prepare(CLAUDE, "hi", fallbacks=["deepseek/deepseek-v4-pro", ta.Model("openai", "gpt-x")])
    assert [other.model.id for other in plan.fallbacks] == ["deepseek-v4-pro", "gpt-x"]
    assert ta.prepare(CLAUDE, "hi", fallbacks="openai/gpt-x").fallbacks[0].model.id == "gpt-x"


def test_a_fallback_that_cannot_be_planned_is_refused_at_the_call() -> None:
    with pytest.raises(ta.UnknownModel, match=r"^fallbacks\[1\]=nowhere/x: "):
        ta.prepare(CLAUDE, "hi", fallbacks=["openai/gpt-x", "nowhere/x"])
    with pytest.raises(ta.ConfigurationError, match=r"^fallbacks\[0\]=5: model must be"):
        ta.prepare(CLAUDE, "hi", fallbacks=[5])  # type: ignore[list-item]


def test_the_key_of_a_fallback_is_looked_for_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    with pytest.raises(ta.MissingCredentials, match="DEEPSEEK_API_KEY"):
        ta.stream(CLAUDE, "hi", fallbacks=["deepseek/deepseek-v4-pro"])


def test_native_options_of_a_chain_are_a_tuple_with_one_for_each_protocol() -> None:
    from thinkaloud.protocols.anthropic.options import AnthropicOptions
    from thinkaloud.protocols.openai_chat.options import OpenAIChatOptions

    chain = ["deepseek/deepseek-v4-pro"]
    with pytest.raises(ta.ConfigurationError, match=r"^fallbacks\[0\]"):
        ta.prepare(CLAUDE, "hi", fallbacks=chain, options=AnthropicOptions())
    plan = ta.prepare(CLAUDE, "hi", fallbacks=chain, options=(AnthropicOptions(), OpenAIChatOptions()))
    assert len(plan.fallbacks) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS[:3])
async def test_nothing_is_sent_again_after_the_first_event_where_no_time_is_limited(form: str) -> None:
    unlimited = ta.Timeouts(first_event=None, silence=None)
    scripted, client = client_of(Reply("one two three", delivery=Delivery(cut_after=700)), "other", timeouts=unlimited)
    with pytest.raises(ta.ThinkaloudError) as caught:
        await read(client, form)
    assert len(scripted.requests) == 1
    assert getattr(caught.value, "partial", None) is not None
