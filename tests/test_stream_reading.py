"""Reading a stream to its end: both forms, whole answers, and what comes after the end."""

from __future__ import annotations

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

import thinkaloud as ta
from support.calling import MODELS, calling
from thinkaloud.testing import Delivery, Failure, Reply, Scripted
from thinkaloud.testing.event_rules import check_event_rules

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("library", ["httpx", "httpx2", "own"])]

THINKING = ta.Thinking.signed("First I look, then I answer.", "c2lnbmF0dXJl")
CALL = ta.ToolCall("call_1", name="search", arguments_json='{"query":"sky"}')
REPLY = Reply([THINKING, ta.Text("The sky is blue."), CALL], usage=ta.Usage(input=12, output=34), id="msg_1")
CLAUDE = MODELS["anthropic-messages"]


@pytest.fixture(autouse=True)
def _library_is_installed(library: str) -> None:
    if library != "own":
        pytest.importorskip(library)


async def test_both_forms_and_the_message_alone_agree(library: str) -> None:
    async with calling([REPLY], library=library) as (_, client):
        async with client.stream(CLAUDE, "hi") as events:
            entered = [event async for event in events]
            message = await events.message()
        bare = [event async for event in client.stream(CLAUDE, "hi")]
        assert await client.complete(CLAUDE, "hi") == message
    check_event_rules(entered, complete=True)
    assert [event for event in entered if not isinstance(event, ta.StreamEnd | ta.StreamStart)] == [
        event for event in bare if not isinstance(event, ta.StreamEnd | ta.StreamStart)
    ]
    assert message.content == REPLY.content
    assert message.stop_reason is ta.StopReason.TOOL_USE
    assert (message.usage.input, message.usage.output) == (12, 34)
    assert isinstance(entered[-1], ta.StreamEnd)
    assert entered[-1].message == message


@pytest.mark.parametrize("protocol", MODELS)
async def test_a_streamed_and_a_whole_answer_are_the_same_message(library: str, protocol: str) -> None:
    content: list[ta.AssistantBlock] = [ta.Text("The sky is blue."), CALL]
    async with calling([Reply(content, id="r1")], library=library, protocol=protocol) as (server, client):
        streamed = await client.complete(MODELS[protocol], "hi")
        whole = await client.complete(MODELS[protocol], "hi", streaming=False)
    assert streamed == whole
    assert [request.json.get("stream", False) for request in server.requests] == [True, False]


async def test_the_module_level_calls_read_their_key_from_the_environment(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-environment")
    async with calling([REPLY], library=library) as (server, _):
        message = await ta.complete(CLAUDE, "hi", base_url=server.url)
        async with ta.stream(CLAUDE, "hi", base_url=server.url) as events:
            assert await events.message() == message
        await server.until(lambda: server.open_connections == 0)
    assert server.requests[0].credentials["x-api-key"] == "key-of-the-environment"


async def test_a_client_can_be_passed_to_the_module_level_calls(library: str) -> None:
    async with calling([REPLY], library=library) as (server, client):
        await ta.complete(CLAUDE, "hi", client=client)
        async for _ in ta.stream(CLAUDE, "hi", client=client):
            pass
    assert len(server.requests) == 2


async def test_a_second_iteration_ends_at_once(library: str) -> None:
    async with calling([REPLY], library=library) as (server, client):
        events = client.stream(CLAUDE, "hi")
        assert [event async for event in events]
        assert [event async for event in events] == []
        async with client.stream(CLAUDE, "hi") as entered:
            assert [event async for event in entered]
            assert [event async for event in entered] == []
        assert [event async for event in entered] == []
    assert len(server.requests) == 2


async def test_the_message_can_be_asked_again_and_after_leaving(library: str) -> None:
    async with calling([REPLY], library=library) as (_, client):
        async with client.stream(CLAUDE, "hi") as events:
            message = await events.message()
            assert await events.message() is message
        assert await events.message() is message


async def test_the_message_drains_what_was_not_iterated(library: str) -> None:
    async with calling([REPLY], library=library) as (_, client):
        events = client.stream(CLAUDE, "hi")
        await anext(events)
        assert (await events.message()).content == REPLY.content
        async with client.stream(CLAUDE, "hi") as entered:
            await anext(entered)
            assert (await entered.message()).content == REPLY.content


async def test_the_error_is_the_same_object_each_time(library: str) -> None:
    script = Scripted([Failure(401), Failure(401)])
    async with calling(script, library=library) as (_, client):
        bare = client.stream(CLAUDE, "hi")
        with pytest.raises(ta.AuthenticationError) as first:
            await bare.message()
        with pytest.raises(ta.AuthenticationError) as second:
            await anext(bare)
        assert first.value is second.value
        async with client.stream(CLAUDE, "hi") as entered:
            with pytest.raises(ta.AuthenticationError) as first:
                await anext(entered)
            with pytest.raises(ta.AuthenticationError) as second:
                await entered.message()
        assert first.value is second.value
        assert "test-key" not in str(first.value) + repr(first.value)


async def test_a_connection_serves_the_next_request_when_the_answer_was_read(library: str) -> None:
    async with calling([REPLY], library=library) as (server, client):
        for _ in range(3):
            async with client.stream(CLAUDE, "hi") as events:
                await events.message()
            async for _event in client.stream(CLAUDE, "hi"):
                pass
    assert server.connections == 1


@pytest.mark.parametrize("pieces", ["bytes", "whole", 7])
async def test_the_network_may_cut_the_bytes_anywhere(library: str, pieces: str | int) -> None:
    script = Scripted([REPLY], delivery=Delivery(pieces=pieces))  # type: ignore[arg-type]
    async with calling(script, library=library) as (_, client):
        assert (await client.complete(CLAUDE, "hi")).content == REPLY.content


async def test_the_message_tells_how_long_the_model_thought(library: str) -> None:
    async with calling([REPLY], library=library) as (_, client):
        timing = (await client.complete(CLAUDE, "hi")).timing
    assert timing.first_event is not None
    assert timing.thinking is not None
    assert timing.total is not None
    assert 0 <= timing.first_event <= timing.total
    assert 0 <= timing.thinking <= timing.total


async def test_notices_of_the_plan_come_first_and_stay_on_the_message(library: str) -> None:
    foreign = ta.AssistantMessage([ta.Thinking("hm"), ta.Text("yes")], origin=ta.Origin("gemini", "google", "g"))
    history: list[ta.Message] = [ta.UserMessage("a"), foreign, ta.UserMessage("b")]
    async with calling([REPLY], library=library) as (server, client):
        events = client.stream(CLAUDE, history)
        first = await anext(events)
        message = await events.message()
    assert isinstance(first, ta.Notice)
    assert (first.code, first.path) == ("thinking_omitted", "messages[1].content[0]")
    assert first in events.plan.notices
    assert message.notices[0] == first
    assert "hm" not in server.requests[0].body.decode()


async def test_a_failed_connection_is_typed_and_not_chained_to_secrets(library: str) -> None:
    async with calling([REPLY], library=library) as (_, client):
        with pytest.raises(ta.ConnectFailed) as caught:
            await client.complete(CLAUDE, "hi", base_url="http://127.0.0.1:9")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


async def test_a_closed_client_says_so(library: str) -> None:
    async with calling([REPLY], library=library) as (_, client):
        await client.aclose()
        with pytest.raises(ta.ConfigurationError, match="closed"):
            await client.complete(CLAUDE, "hi")


async def test_a_redirect_is_not_followed_so_that_the_key_stays(library: str) -> None:
    async with calling([REPLY], library=library) as (elsewhere, client):
        moved = f"HTTP/1.1 307 Moved\r\nlocation: {elsewhere.url}/v1/messages\r\ncontent-length: 0\r\n\r\n"

        async def redirect(stream: SocketStream) -> None:
            async with stream:
                await stream.receive()
                await stream.send(moved.encode())

        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, redirect)
            port = listener.extra(SocketAttribute.local_port)
            with pytest.raises(ta.ConfigurationError, match=r"redirects to http://127.0.0.1:\d+ \(status 307\)"):
                await client.complete(CLAUDE, "hi", base_url=f"http://127.0.0.1:{port}")
            tasks.cancel_scope.cancel()
        assert elsewhere.requests == []
