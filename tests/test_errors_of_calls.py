"""What an error of a call tells: its request's id, who was asked how often, why not again, and what to look at."""

from __future__ import annotations

import pickle
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

import thinkaloud as ta
from support.calling import MODELS
from support.raw_server import raw_server
from thinkaloud.testing import Delivery, Failure, NoAnswer, Reply, Scripted, no_backoff

CLAUDE = MODELS["anthropic-messages"]
CHAT = "deepseek/deepseek-v4-pro"
BROKEN = Failure(500, "something broke inside")


async def failed(*replies: Any, model: str = CLAUDE, call: dict[str, Any] | None = None, **options: Any) -> Any:
    """The error of a call."""
    client = ta.Client(
        transport=Scripted(replies).transport(),
        api_key=dict.fromkeys(("anthropic", "openai", *(id.split("/")[0] for id in MODELS.values())), "test-key"),
        **options,
    )
    with no_backoff(), pytest.raises(ta.ThinkaloudError) as raised:
        told: Any = call or {}
        await client.complete(model, "hi", **told)
    return raised.value


# the id of the request


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", MODELS)
async def test_an_answer_that_breaks_off_has_the_id_of_its_request(protocol: str) -> None:
    half = Reply(["Hello there"], headers={"x-request-id": "r1"}, delivery=Delivery(cut_after=300))
    error = await failed(half, model=MODELS[protocol], retries=0)
    assert isinstance(error, ta.StreamError)
    assert error.request_id


@pytest.mark.anyio
async def test_headers_over_their_limit_leave_the_id_and_no_answer_has_none() -> None:
    large = Reply(["Hello"], headers={"x-large": "x" * 1000, "request-id": "r1"})
    error = await failed(large, limits=ta.Limits(header_size=500))
    assert (error.which, error.limit, error.request_id) == ("header_size", 500, "r1")
    error = await failed(NoAnswer(), retries=0)
    assert (type(error), error.request_id, error.notices) == (ta.ReadFailed, None, ())


@pytest.mark.anyio
@pytest.mark.parametrize("deadline", ["first_event", "silence", "total"])
async def test_a_deadline_after_the_head_has_the_id_of_its_request(deadline: str) -> None:
    stalled = Reply(["Hello"], headers={"request-id": "r1"}, delivery=Delivery(stall_after=0))
    error = await failed(stalled, retries=0, timeouts=ta.Timeouts(**{deadline: 0.01}))
    assert (str(error), error.request_id) == (f"the {deadline} deadline of 0.01 s ran out", "r1")


# who was asked, how often, and why not again


@pytest.mark.anyio
async def test_the_last_error_tells_who_was_asked_and_keeps_what_came_before() -> None:
    overloaded = Failure(ta.Overloaded, "too busy")
    fallback = "openai/gpt-5.2"
    error = await failed(overloaded, overloaded, BROKEN, BROKEN, retries=1, call={"fallbacks": [fallback]})
    assert str(error) == (f"something broke inside ({fallback} was asked 2 times, and before it {CLAUDE} 2 times)")
    assert [notice.code for notice in error.notices] == ["retrying", "fallback", "retrying"]
    assert error.notices[1].detail == {"model": fallback, "failed": CLAUDE, "error": "Overloaded", "status": 529}
    assert error.__notes__[1] == f"before: {CLAUDE}: Overloaded: too busy; {fallback} is asked instead"
    assert pickle.loads(pickle.dumps(error)).notices == error.notices


@pytest.mark.anyio
async def test_one_request_that_fails_is_told_in_the_provider_s_words_alone() -> None:
    error = await failed(BROKEN, retries=0)
    assert (str(error), error.notices, getattr(error, "__notes__", None)) == ("something broke inside", (), None)


@pytest.mark.anyio
async def test_a_wait_over_the_limit_says_why_it_was_not_sent_again() -> None:
    slow = Failure(429, "slow down", headers={"retry-after": "120"})
    error = await failed(slow, retries=ta.Retry(max_wait=5))
    assert str(error) == "slow down; not sent again: a wait of 120 s is asked for, which is more than Retry(max_wait=5)"


@pytest.mark.anyio
async def test_a_call_without_time_for_another_try_says_so() -> None:
    client = ta.Client(
        transport=Scripted([Failure(429, "slow down", headers={"retry-after": "50"})]).transport(),
        api_key="k",
        timeouts=ta.Timeouts(total=30),
    )
    with pytest.raises(ta.RateLimited, match="a wait of 50 s is over after the total deadline of 30 s"):
        await client.complete(CLAUDE, "hi")


@pytest.mark.anyio
async def test_a_prompt_that_is_too_long_goes_to_a_model_that_may_hold_more() -> None:
    def model(name: str, size: int | None) -> ta.Model:
        return ta.Model("anthropic", name, context_window=size)

    scripted = Scripted([Failure(ta.ContextTooLong), "Hello"])
    client = ta.Client(transport=scripted.transport(), api_key="k")
    larger = [model("same", 1000), model("larger", 2000)]
    message = await client.complete(model("small", 1000), "hi", fallbacks=larger)
    assert message.origin is not None
    assert message.origin.model == "larger"
    error = await failed(Failure(ta.ContextTooLong), call={"fallbacks": [model("tiny", 10)]}, model=model("a", 1000))  # type: ignore[arg-type]
    assert type(error) is ta.ContextTooLong
    assert type(await failed(Failure(400), call={"fallbacks": [larger[1]]})) is ta.InvalidRequest


# what to look at


@pytest.mark.anyio
async def test_a_refused_key_says_where_keys_come_from_and_a_missing_model_is_named() -> None:
    error = await failed(Failure(401, "invalid key"))
    assert str(error) == "invalid key; check the key for anthropic (ANTHROPIC_API_KEY or Client(api_key=...))"
    error = await failed(Failure(403, "no"))
    assert str(error) == f"no; asked for {CLAUDE} with the key for anthropic (ANTHROPIC_API_KEY or Client(api_key=...))"
    error = await failed(Failure(404, "no such model"))
    assert str(error) == f"no such model; asked for {CLAUDE}"


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", MODELS)
async def test_the_kit_s_401_speaks_of_the_key_on_every_wire(protocol: str) -> None:
    error = await failed(Failure(401), model=MODELS[protocol])
    assert type(error) is ta.AuthenticationError
    assert "max_tokens" not in str(error)


# the partial message


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", MODELS)
async def test_the_partial_of_a_stream_that_failed_is_that_of_its_error(protocol: str) -> None:
    scripted = Scripted([Reply(["one two"], error=Failure(429, "slow"))])
    client = ta.Client(transport=scripted.transport(), api_key="k")
    events = client.stream(MODELS[protocol], "hi")
    with pytest.raises(ta.RateLimited) as raised:
        await events.message()
    assert events.partial is raised.value.partial
    assert events.partial is not None
    assert events.partial.stop_reason is ta.StopReason.ERROR
    assert events.partial.timing.total is not None


# limits and policies


@pytest.mark.anyio
async def test_a_limit_says_how_to_raise_it() -> None:
    calls = Reply([ta.ToolCall(f"c{number}", name="f", arguments_json="{}") for number in range(3)])
    error = await failed(calls, limits=ta.Limits(tool_calls=2))
    assert str(error) == "the answer has over 2 tool calls; Client(limits=ta.Limits(tool_calls=...)) allows more"


def test_a_first_wait_over_the_longest_is_refused_by_name() -> None:
    with pytest.raises(ta.WrongValue, match=r"Retry\.first_wait=9 is longer than longest_wait=2"):
        ta.Retry(first_wait=9, longest_wait=2)


# the connection


@pytest.mark.anyio
async def test_a_connection_that_breaks_before_the_answer_is_told_so() -> None:
    async def serve(stream: SocketStream) -> None:
        await stream.aclose()

    async with raw_server(serve) as server, ta.Client(api_key="k", base_url=server.url, retries=0) as client:
        with pytest.raises(ta.ReadFailed, match="the connection broke before the answer began"):
            await client.complete(CHAT, "hi")


@pytest.mark.anyio
async def test_a_pool_without_room_is_told_with_its_limit() -> None:
    import httpx

    async def serve(stream: SocketStream) -> None:
        await anyio.sleep_forever()

    limits = httpx.Limits(max_connections=1)
    async with (
        raw_server(serve) as server,
        httpx.AsyncClient(limits=limits) as http,
        anyio.create_task_group() as tasks,
    ):
        client = ta.Client(
            api_key="k", base_url=server.url, http_client=http, retries=0, timeouts=ta.Timeouts(pool=0.05)
        )
        tasks.start_soon(client.complete, CHAT, "hi")
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(ta.DeadlineExceeded) as raised:
            await client.complete(CHAT, "hi")
        assert (str(raised.value), raised.value.kind) == ("the pool deadline of 0.05 s ran out", "pool")
        tasks.cancel_scope.cancel()
