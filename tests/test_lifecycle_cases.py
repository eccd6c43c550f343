"""The authored cases about the life of a connection and the end of a stream, over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

import thinkaloud as ta
from support.raw_server import HEAD, Answering, RawServer, chunk, raw_server, saying
from support.shared import Case, cases, parameters

LIFE = {case.name.partition("/")[2]: case for case in cases() if case.name.startswith("lifecycle/")}
ENDS = [case for case in cases() if case.name.startswith("stream-end/") and case.has_stream]
ERRORS: dict[str, type[ta.ThinkaloudError]] = {
    "overloaded": ta.Overloaded,
    "rate_limit": ta.RateLimited,
    "server_error": ta.ServerError,
    "timeout": ta.DeadlineExceeded,
    "truncated": ta.TruncatedStream,
    "content_filter": ta.ContentFiltered,
    "malformed_tool_call": ta.MalformedToolCall,
}

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("library", ["httpx", "httpx2", "own"])]


@asynccontextmanager
async def calling(case: Case, library: str, *answers: Answering, **options: Any) -> AsyncIterator[Any]:
    """A server with these answers, a client on it, and the model that the case is about."""
    most = options.pop("max_connections", 10)
    given = None
    if library != "own":
        module = pytest.importorskip(library) and import_module(library)
        given = module.AsyncClient(verify=False, limits=module.Limits(max_connections=most))
    async with raw_server(*answers) as server:
        model = ta.Model("tried", "test-model", protocol=case.wire, base_url=server.url)
        async with ta.Client(http_client=given, **options) as client:
            yield server, client, model
        if given is not None:
            await given.aclose()


def whole(case: Case) -> Answering:
    return saying(HEAD, *map(chunk, case.pieces), b"0\r\n\r\n")


def stalling(case: Case) -> Answering:
    return saying(HEAD, *map(chunk, case.pieces), end="hold")


async def all_closed(server: RawServer, seconds: float = 5) -> None:
    with anyio.fail_after(seconds):
        await server.until_closed()


def case_named(name: str) -> Case:
    if name not in LIFE:
        pytest.skip("THINKALOUD_SHARED is not set to the folder with the cases")
    return LIFE[name]


@pytest.mark.parametrize("case", parameters(ENDS, lambda case: case.name))
async def test_a_stream_ends_as_the_case_says(case: Case, library: str) -> None:
    async with calling(case, library, whole(case), retries=0) as (server, client, model):
        async with client.stream(model, "hi") as events:
            error: ta.ThinkaloudError | None = None
            try:
                message = await events.message()
            except ta.ThinkaloudError as raised:
                error, message = raised, events.partial
        await all_closed(server)
    if "error" in case.expect:
        assert type(error) is ERRORS[case.expect["error"]]
        wanted = case.expect["partial"]["content"]
    else:
        assert error is None
        wanted = case.expect["content"]
        assert message is not None
        if "stop" in case.expect:
            assert message.stop_reason is ta.StopReason(case.expect["stop"])
    texts = "".join(block["text"] for block in wanted if block["type"] == "text")
    assert (message.text if message is not None else "") == texts
    calls = [block for block in wanted if block["type"] == "tool_call" and not block.get("incomplete")]
    assert len(message.tool_calls if message is not None else ()) == len(calls)


async def test_connection_returns_to_pool(library: str) -> None:
    case = case_named("connection-returns-to-pool")
    async with calling(case, library, whole(case), max_connections=2) as (server, client, model):
        for _ in range(case.data["consumer"]["requests"]):
            async with client.stream(model, "hi") as events:
                assert (await events.message()).stop_reason is ta.StopReason.END
        await all_closed(server)


async def test_consumer_leaves_early(library: str) -> None:
    case = case_named("consumer-leaves-early")
    with anyio.fail_after(case.expect["seconds_at_most"]):
        async with calling(case, library, stalling(case), max_connections=2) as (server, client, model):
            for _ in range(case.data["consumer"]["requests"]):
                left = case.data["consumer"]["break_after_events"]
                async with client.stream(model, "hi") as events:
                    async for _ in events:
                        left -= 1
                        if not left:
                            break
            await all_closed(server)


async def test_early_break_stops_reading(library: str) -> None:
    case = case_named("early-break-stops-reading")
    seen = anyio.Event()

    async def endless(stream: SocketStream) -> None:
        for piece in [HEAD, *map(chunk, case.pieces)]:
            await stream.send(piece)
        try:
            while True:
                await stream.send(chunk(list(case.pieces)[-1]))
        except anyio.BrokenResourceError:
            seen.set()

    async with calling(case, library, endless) as (server, client, model):
        async with client.stream(model, "hi") as events:
            for _ in range(case.data["consumer"]["break_after_events"]):
                await anext(events)
        with anyio.fail_after(case.expect["server_sees_close_within_s"]):
            await seen.wait()
        assert events.partial is not None
        await all_closed(server)


async def test_generator_closed_from_another_task(library: str) -> None:
    case = case_named("generator-closed-from-another-task")
    async with calling(case, library, saying(HEAD, *map(chunk, list(case.pieces)[:2]), end="hold")) as made:
        server, client, model = made
        events = client.stream(model, "hi")

        async def start() -> None:
            await anext(events)

        for work in (start, events.aclose):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
        await all_closed(server)


async def test_no_retry_after_first_event(library: str) -> None:
    case = case_named("no-retry-after-first-event")
    other = case_named("works-on-trio")
    async with calling(case, library, whole(case), whole(other)) as (server, client, model):
        with pytest.raises(ERRORS[case.expect["error"]]) as caught:
            await client.complete(model, "hi")
        assert server.requests == case.expect["requests_made"]
        assert isinstance(caught.value, ta.ProviderError)
        assert caught.value.partial is not None
        assert caught.value.partial.text == case.expect["partial"]["content"][0]["text"]


async def test_silence_becomes_typed_timeout(library: str) -> None:
    case = case_named("silence-becomes-typed-timeout")
    limits = ta.Timeouts(silence=case.data["options"]["read_timeout_s"])
    async with calling(case, library, stalling(case), timeouts=limits) as (server, client, model):
        with pytest.raises(ERRORS[case.expect["error"]]) as caught:
            await client.complete(model, "hi")
        await all_closed(server)
    assert isinstance(caught.value, ta.DeadlineExceeded)
    assert caught.value.partial is not None
    assert caught.value.partial.thinking == case.expect["partial"]["content"][0]["text"]


async def test_works_on_trio(library: str) -> None:
    case = case_named("works-on-trio")
    with anyio.fail_after(case.expect["seconds_at_most"]):
        async with calling(case, library, whole(case)) as (_, client, model):
            message = await client.complete(model, "hi")
    assert message.text == case.expect["content"][0]["text"]
    assert message.stop_reason is ta.StopReason.END
