"""Every wait has a limit: a typed error that names it, with what had arrived, and the connection is closed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import anyio
import pytest

import thinkaloud as ta
from support.raw_server import HEAD, RawServer, chunk, gone, raw_server, saying
from support.streams import anthropic, said, started, stopped, thought
from thinkaloud.testing import Delivery, Reply, Scripted, no_backoff
from thinkaloud.testing.event_rules import check_event_rules

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize(
        ("library", "form"),
        [("own", "entered"), ("own", "bare"), ("own", "message"), ("httpx", "entered"), ("httpx2", "bare")],
    ),
]

CLAUDE = "anthropic/claude-opus-5"
BEGUN = anthropic(started(input_tokens=9, output_tokens=1))
THOUGHT = anthropic(*thought(0, "c2ln", "one two")[:2])
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
WHOLE = anthropic(started(input_tokens=9, output_tokens=1), *said(0, "Hello"), *stopped("end_turn", output_tokens=2))
SHORT = 0.15


@pytest.fixture(autouse=True)
def _no_waiting(library: str) -> Iterator[None]:
    if library != "own":
        pytest.importorskip(library)
    with no_backoff():
        yield


async def read(events: ta.EventStream, form: str, seen: list[ta.StreamEvent]) -> ta.AssistantMessage:
    if form == "message":
        return await events.message()
    if form == "bare":
        async for event in events:
            seen.append(event)  # noqa: PERF401
        return await events.message()
    async with events:
        async for event in events:
            seen.append(event)  # noqa: PERF401
        return await events.message()


async def calls(server: RawServer, library: str, form: str, **options: Any) -> ta.AssistantMessage:
    """Read one answer from the server; whatever comes of it, no connection stays open."""
    given = None if library == "own" else import_module(library).AsyncClient(verify=False)
    options = {"retries": 0, **options}
    seen: list[ta.StreamEvent] = []
    try:
        async with ta.Client(api_key="test-key", base_url=server.url, http_client=given, **options) as client:
            try:
                message = await read(client.stream(CLAUDE, "hi"), form, seen)
            except ta.ThinkaloudError:
                check_event_rules(seen, complete=False)
                await server.until_closed()  # before the client is closed
                raise
            check_event_rules(seen, complete=True) if seen else None
            return message
    finally:
        if given is not None:
            await given.aclose()


async def runs_out(server: RawServer, library: str, form: str, kind: str, **limits: float | None) -> Any:
    with anyio.fail_after(10), pytest.raises(ta.DeadlineExceeded) as caught:
        await calls(server, library, form, timeouts=ta.Timeouts(**limits))
    assert caught.value.kind == kind
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.__context__ is None
    return caught.value


async def test_first_event_a_silent_server(library: str, form: str) -> None:
    async with raw_server(gone) as server:
        error = await runs_out(server, library, form, "first_event", first_event=SHORT)
    assert error.partial is None


async def test_first_event_answers_of_1xx_without_end(library: str, form: str) -> None:
    early = saying(*[b"HTTP/1.1 102 Processing\r\n\r\n"] * 1000, pause=0.02)
    async with raw_server(early) as server:
        await runs_out(server, library, form, "first_event", first_event=SHORT, silence=5)


async def test_first_event_a_head_that_drips(library: str, form: str) -> None:
    drip = saying(*[bytes([byte]) for byte in HEAD + b"x-more: " + b"z" * 500], pause=0.01)
    async with raw_server(drip) as server:
        await runs_out(server, library, form, "first_event", first_event=SHORT, silence=5)


async def test_first_event_keep_alives_do_not_count(library: str, form: str) -> None:
    pings = saying(HEAD, chunk(BEGUN), *[chunk(PING), chunk(b": here\n\n")] * 500, pause=0.01)
    async with raw_server(pings) as server:
        await runs_out(server, library, form, "first_event", first_event=SHORT, silence=5)


async def test_first_event_is_no_limit_once_it_has_come(library: str, form: str) -> None:
    slow = saying(HEAD, *[chunk(piece + b"\n\n") for piece in WHOLE.split(b"\n\n")[:-1]], b"0\r\n\r\n", pause=0.06)
    async with raw_server(slow) as server:
        assert (await calls(server, library, form, timeouts=ta.Timeouts(first_event=0.3))).text == "Hello"


async def test_first_event_starts_anew_with_each_request(library: str, form: str) -> None:
    good = saying(HEAD, chunk(WHOLE), b"0\r\n\r\n")
    async with raw_server(gone, gone, good) as server:
        message = await calls(server, library, form, timeouts=ta.Timeouts(first_event=0.25), retries=2)
    assert message.text == "Hello"
    assert [notice.code for notice in message.notices] == ["retrying", "retrying"]
    assert server.requests == 3


async def test_silence_in_the_middle(library: str, form: str) -> None:
    async with raw_server(saying(HEAD, chunk(BEGUN), chunk(THOUGHT), end="hold")) as server:
        error = await runs_out(server, library, form, "silence", silence=SHORT)
    assert error.partial.thinking == "one two"
    assert error.partial.content[0].complete is False


async def test_silence_is_broken_by_keep_alives(library: str, form: str) -> None:
    pinging = saying(HEAD, chunk(BEGUN), chunk(THOUGHT), *[chunk(b": here\n\n")] * 20, chunk(WHOLE[:9]), pause=0.03)
    async with raw_server(pinging) as server:
        with pytest.raises(ta.ReadFailed):  # the end of the connection, long after the limit
            await calls(server, library, form, timeouts=ta.Timeouts(silence=0.3))


async def test_content_silence_is_not_broken_by_keep_alives(library: str, form: str) -> None:
    pinging = saying(HEAD, chunk(BEGUN), chunk(THOUGHT), *[chunk(PING)] * 500, pause=0.01)
    async with raw_server(pinging) as server:
        error = await runs_out(server, library, form, "content_silence", content_silence=SHORT, silence=5)
    assert error.partial.thinking == "one two"


async def test_content_silence_starts_anew_with_each_event(library: str, form: str) -> None:
    words = [f"{number} " for number in range(12)]
    pieces = anthropic(
        started(input_tokens=9, output_tokens=1), *said(0, *words), *stopped("end_turn", output_tokens=2)
    ).split(b"\n\n")[:-1]
    slow = saying(HEAD, *[chunk(piece + b"\n\n") for piece in pieces], b"0\r\n\r\n", pause=0.03)
    async with raw_server(slow) as server:
        message = await calls(server, library, form, timeouts=ta.Timeouts(content_silence=0.3))
    assert message.text == "".join(words)


async def test_total_ends_an_answer_that_goes_on_and_on(library: str, form: str) -> None:
    more = anthropic(*thought(0, "c2ln", *["word "] * 2)[2:3])
    endless = saying(HEAD, chunk(BEGUN), chunk(THOUGHT), *[chunk(more)] * 1000, pause=0.01)
    async with raw_server(endless) as server:
        error = await runs_out(server, library, form, "total", total=0.3)
    assert error.partial.thinking.startswith("one twoword word ")


async def test_total_counts_all_attempts(library: str, form: str) -> None:
    async with raw_server(gone) as server:
        with anyio.fail_after(10), pytest.raises(ta.DeadlineExceeded) as caught:
            limits = ta.Timeouts(first_event=0.2, total=0.5)
            await calls(server, library, form, timeouts=limits, retries=100)
    assert caught.value.kind in ("total", "first_event")
    assert server.requests <= 4


async def test_a_slow_reader_is_no_silence(library: str, form: str) -> None:
    if form != "bare":
        pytest.skip("only the bare form reads at its reader's pace")
    rest = anthropic(*thought(0, "c2ln", "x")[2:])
    good = saying(HEAD, chunk(BEGUN), chunk(THOUGHT), chunk(rest), pause=0.05, end="hold")
    given = None if library == "own" else import_module(library).AsyncClient(verify=False)
    limits = ta.Timeouts(content_silence=0.2)
    async with (
        raw_server(good) as server,
        ta.Client(api_key="k", base_url=server.url, http_client=given, timeouts=limits) as client,
    ):
        events = client.stream(CLAUDE, "hi")
        while not isinstance(await anext(events), ta.ThinkingDelta):
            pass
        await anyio.sleep(0.4)
        assert isinstance(await anext(events), ta.ThinkingEnd)
        await events.aclose()
        if given is not None:
            await given.aclose()


async def test_a_reader_that_lets_the_channel_fill_up_is_no_silence(library: str, form: str) -> None:
    if form != "entered":
        pytest.skip("only the form under `async with` has a channel")
    words = anthropic(started(input_tokens=9, output_tokens=1), *said(0, *["x"] * 200), *stopped("end_turn"))
    held = saying(HEAD, chunk(words), b"0\r\n\r\n")
    given = None if library == "own" else import_module(library).AsyncClient(verify=False)
    limits = ta.Timeouts(silence=0.2, content_silence=0.2)
    async with (
        raw_server(held) as server,
        ta.Client(api_key="k", base_url=server.url, http_client=given, timeouts=limits) as client,
    ):
        async with client.stream(CLAUDE, "hi") as events:
            await anext(events)
            await anyio.sleep(0.5)
            assert (await events.message()).text == "x" * 200
        if given is not None:
            await given.aclose()


async def test_a_script_in_memory_keeps_the_same_limits(library: str, form: str) -> None:
    scripted = Scripted([Reply("one two three", delivery=Delivery(stall_after=700))])
    client = ta.Client(transport=scripted.transport(), api_key="k", timeouts=ta.Timeouts(silence=0.1), retries=0)
    with pytest.raises(ta.DeadlineExceeded) as caught:
        await read(client.stream(CLAUDE, "hi"), form, [])
    assert caught.value.kind == "silence"
    assert scripted.transport().open_answers == 0
