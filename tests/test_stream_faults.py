"""A server that stalls, resets, cuts or fails in the middle: a typed error with what had arrived, and no open ends."""

from __future__ import annotations

from typing import Any

import pytest

import thinkaloud as ta
from support.calling import MODELS, calling
from thinkaloud.testing import Delivery, Failure, NoAnswer, Reply, Scripted
from thinkaloud.testing.event_rules import check_event_rules

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("library", ["httpx", "httpx2", "own"]),
    pytest.mark.parametrize("protocol", MODELS),
    pytest.mark.parametrize("entered", [True, False]),
]

CONTENT: list[ta.AssistantBlock] = [ta.Thinking("one two three four"), ta.Text("five six seven eight nine ten")]


@pytest.fixture(autouse=True)
def _library_is_installed(library: str) -> None:
    if library != "own":
        pytest.importorskip(library)


async def fails(
    reply: Any, expected: type[Exception], library: str, protocol: str, entered: bool, **options: Any
) -> Any:
    """Read a stream that must fail; check what every failure owes; give the error."""
    seen: list[ta.StreamEvent] = []
    async with calling(Scripted([reply]), library=library, protocol=protocol, **options) as (server, client):
        events = client.stream(MODELS[protocol], "hi")
        with pytest.raises(expected) as caught:
            if entered:
                async with events:
                    async for event in events:
                        seen.append(event)  # noqa: PERF401
            else:
                async for event in events:
                    seen.append(event)  # noqa: PERF401
        await client.aclose()
        assert server.closed_by_client <= 1
    check_event_rules(seen, complete=False)
    error = caught.value
    assert type(error) is expected
    partial = getattr(error, "partial", None)
    if partial is not None:
        fold = ta.Accumulator()
        fold.add_all(seen)
        assert fold.message().content == partial.content
        assert partial.stop_reason is ta.StopReason.ERROR
    return error


async def test_a_stall_is_a_deadline_with_the_partial(library: str, protocol: str, entered: bool) -> None:
    reply = Reply(CONTENT, delivery=Delivery(stall_after=900))
    timeouts = ta.Timeouts(silence=0.2)
    error = await fails(reply, ta.DeadlineExceeded, library, protocol, entered, timeouts=timeouts)
    assert error.kind == "silence"
    assert issubclass(ta.DeadlineExceeded, TimeoutError)
    assert error.partial.thinking.startswith("one")


async def test_a_silent_head_is_a_deadline(library: str, protocol: str, entered: bool) -> None:
    reply = Reply(CONTENT, delivery=Delivery(head=30.0))
    error = await fails(reply, ta.DeadlineExceeded, library, protocol, entered, timeouts=ta.Timeouts(silence=0.2))
    assert error.partial is None


async def test_a_reset_is_a_failed_read_with_the_partial(library: str, protocol: str, entered: bool) -> None:
    reply = Reply(CONTENT, delivery=Delivery(reset_after=900))
    error = await fails(reply, ta.ReadFailed, library, protocol, entered)
    assert error.__context__ is None


async def test_a_connection_closed_inside_the_body_is_a_failed_read(library: str, protocol: str, entered: bool) -> None:
    reply = Reply(CONTENT, delivery=Delivery(close_after=900))
    error = await fails(reply, ta.ReadFailed, library, protocol, entered)
    assert error.partial.thinking.startswith("one")


async def test_a_clean_end_without_the_terminal_signal_is_truncated(library: str, protocol: str, entered: bool) -> None:
    reply = Reply(CONTENT, delivery=Delivery(cut_after=900))
    error = await fails(reply, ta.TruncatedStream, library, protocol, entered)
    assert error.partial.thinking.startswith("one")


async def test_no_answer_at_all_is_a_failed_read(library: str, protocol: str, entered: bool) -> None:
    error = await fails(NoAnswer(), ta.ReadFailed, library, protocol, entered)
    assert error.partial is None


@pytest.mark.parametrize(
    "expected", [ta.RateLimited, ta.Overloaded, ta.ServerError, ta.AuthenticationError, ta.InvalidRequest]
)
async def test_an_error_has_the_same_class_as_a_status_and_inside_the_stream(
    library: str, protocol: str, entered: bool, expected: type[ta.ProviderError]
) -> None:
    outside = await fails(Failure(expected, "no"), expected, library, protocol, entered)
    inside = await fails(Reply(CONTENT, error=Failure(expected, "no")), expected, library, protocol, entered)
    assert outside.partial is None
    assert inside.partial.text == "five six seven eight nine ten"
    assert outside.retryable == inside.retryable
    assert "test-key" not in repr(outside) + str(outside.body)


async def test_a_wait_that_the_provider_asks_for_is_on_the_error(library: str, protocol: str, entered: bool) -> None:
    failure = Failure(429, headers={"retry-after": "7"})
    error = await fails(failure, ta.RateLimited, library, protocol, entered)
    assert error.retry_after == 7


async def test_an_error_page_of_a_proxy_is_typed_by_its_status(library: str, protocol: str, entered: bool) -> None:
    failure = Failure(502, body="<html><body>Bad gateway</body></html>")
    error = await fails(failure, ta.ServerError, library, protocol, entered)
    assert error.status == 502
    assert "Bad gateway" in str(error.body)


async def test_an_event_over_the_limit_is_refused(library: str, protocol: str, entered: bool) -> None:
    reply = Reply(["x" * 5000], chunk_size=5000)
    limits = ta.Limits(event_size=2000)
    error = await fails(reply, ta.LimitExceeded, library, protocol, entered, limits=limits)
    assert error.which == "event_size"


async def test_an_error_body_over_the_limit_is_refused(library: str, protocol: str, entered: bool) -> None:
    failure = Failure(500, body="x" * 5000)
    limits = ta.Limits(body_size=2000)
    error = await fails(failure, ta.LimitExceeded, library, protocol, entered, limits=limits)
    assert error.which == "body_size"
