"""The loopback server: real HTTP from a script, and every way in which a connection can end."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.abc
import httpx
import pytest

from thinkaloud.testing import (
    Delivery,
    Failure,
    NoAnswer,
    Reply,
    Scripted,
    ScriptError,
    Server,
    encode_stream,
    serve,
    serve_in_thread,
)

pytestmark = pytest.mark.anyio

HELLO = b"".join(encode_stream("anthropic-messages", Reply("Hello", id="msg_scripted_1"), model="m"))


async def post(server: Server, *, stream: bool = True, path: str = "/v1/messages") -> httpx.Response:
    body = {"model": "m", "stream": stream}
    async with httpx.AsyncClient(verify=False) as client:
        return await client.post(server.url + path, json=body, headers={"x-api-key": "secret"})


async def connect(server: Server) -> anyio.abc.SocketStream:
    """Open a plain connection and send a request on it."""
    host, port = server.url.removeprefix("http://").split(":")
    connection = await anyio.connect_tcp(host, int(port))
    await connection.send(
        b'POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 27\r\n\r\n{"model":"m","stream":true}'
    )
    return connection


async def receive_all(connection: anyio.abc.SocketStream) -> bytes:
    received = b""
    async with connection:
        try:
            while True:
                received += await connection.receive()
        except anyio.EndOfStream:
            return received


async def soon(waiting: Callable[[], Awaitable[Any]]) -> None:
    with anyio.fail_after(5):
        await waiting()


async def test_an_answer_is_streamed_over_http() -> None:
    async with serve(["Hello"]) as server:
        response = await post(server)
    assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    assert response.headers["transfer-encoding"] == "chunked"
    assert response.content == HELLO


async def test_each_wire_event_is_one_http_chunk() -> None:
    async with serve(["Hello"]) as server:
        connection = await connect(server)
        received = b""
        while not received.endswith(b"0\r\n\r\n"):
            received += await connection.receive()
        await connection.aclose()
    chunks = received.partition(b"\r\n\r\n")[2]
    for event in encode_stream("anthropic-messages", Reply("Hello", id="msg_scripted_1"), model="m"):
        size, _, chunks = chunks.partition(b"\r\n")
        assert int(size, 16) == len(event)
        assert chunks.startswith(event + b"\r\n")
        chunks = chunks[len(event) + 2 :]
    assert chunks == b"0\r\n\r\n"


async def test_a_whole_answer_has_its_length() -> None:
    async with serve(["Hello"]) as server:
        response = await post(server, stream=False)
    assert int(response.headers["content-length"]) == len(response.content)
    assert response.json()["content"] == [{"type": "text", "text": "Hello"}]


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/chat/completions", "/openai/deployments/d/chat/completions"]
)
async def test_the_path_decides_the_protocol(path: str) -> None:
    async with serve(["Hello"]) as server:
        response = await post(server, stream=False, path=path)
    assert response.json()["choices"][0]["message"]["content"] == "Hello"


async def test_base_urls_are_what_the_clients_of_a_protocol_expect() -> None:
    async with serve([]) as server:
        assert server.url.startswith("http://127.0.0.1:")
        assert server.base_url("anthropic-messages") == server.url
        assert server.base_url("openai-chat") == server.url + "/v1"
        with pytest.raises(ScriptError):
            server.base_url("smoke-signals")


async def test_requests_are_recorded_with_their_credentials_apart() -> None:
    async with serve(["Hello"]) as server:
        await post(server, path="/v1/messages?beta=true")
        (request,) = server.requests
    assert (request.method, request.url) == ("POST", server.url + "/v1/messages?beta=true")
    assert request.json == {"model": "m", "stream": True}
    assert request.credentials == {"x-api-key": "secret"}
    assert "x-api-key" not in request.headers
    assert request.headers["content-type"] == "application/json"


async def test_a_connection_is_kept_for_the_next_request() -> None:
    async with serve(["one", "two", Failure(500)]) as server, httpx.AsyncClient(verify=False) as client:
        for _ in range(3):
            await client.post(server.url + "/v1/messages", json={"stream": True})
        assert (server.connections, server.open_connections) == (1, 1)


async def test_several_answers_run_at_once() -> None:
    gate = anyio.Event()
    scripted = Scripted([Reply("slow", delivery=Delivery(gates={2: gate})), "quick"])
    async with serve(scripted) as server:
        slow = await connect(server)
        await slow.receive()
        assert b"quick" in (await post(server)).content
        gate.set()
        received = b""
        while b"message_stop" not in received:
            received += await slow.receive()
        await slow.aclose()


@pytest.mark.parametrize(
    ("reply", "status", "kind"),
    [
        (Failure(429, headers={"retry-after": "2"}), 429, "rate_limit_error"),
        (Failure(529), 529, "overloaded_error"),
        (Failure(418), 418, "invalid_request_error"),
        (Failure(503), 503, "overloaded_error"),
    ],
)
async def test_a_failure_is_an_error_status(reply: Failure, status: int, kind: str) -> None:
    async with serve([reply]) as server:
        response = await post(server)
    assert (response.status_code, response.json()["error"]["type"]) == (status, kind)
    assert response.headers.get("retry-after") == reply.headers.get("retry-after")


async def test_an_error_can_come_in_the_middle_of_a_stream() -> None:
    async with serve([Reply("Hello", error=Failure(529), error_after=4)]) as server:
        response = await post(server)
    assert response.status_code == 200
    assert [line for line in response.text.splitlines() if line.startswith("event:")] == [
        "event: message_start",
        "event: ping",
        "event: content_block_start",
        "event: content_block_delta",
        "event: error",
    ]


async def test_a_fault_of_the_script_is_told_to_the_client() -> None:
    async with serve([]) as server:
        response = await post(server)
    assert response.status_code == 400
    assert "fault in the script: the script has 0 replies" in response.json()["error"]["message"]


async def test_a_body_can_be_cut_and_still_end_well_as_http() -> None:
    async with serve([Reply("Hello", delivery=Delivery(cut_after=100))] * 2) as server:
        streamed, whole = await post(server), await post(server, stream=False)
    assert streamed.content == HELLO[:100]
    assert len(whole.content) == 100


async def test_a_connection_can_be_closed_in_the_middle() -> None:
    async with serve([Reply("Hello", delivery=Delivery(close_after=100))]) as server:
        received = await receive_all(await connect(server))
        assert received.endswith(b"\r\n")
        assert not received.endswith(b"0\r\n\r\n")
        assert server.closed_by_client == 0


async def test_a_connection_can_be_reset_in_the_middle() -> None:
    gate = anyio.Event()
    async with serve([Reply("Hello", delivery=Delivery(gates={1: gate}, reset_after=400))]) as server:
        connection = await connect(server)
        assert await connection.receive()
        gate.set()
        with pytest.raises(anyio.BrokenResourceError):
            await receive_all(connection)


async def test_a_client_of_http_sees_a_reset_as_a_read_error() -> None:
    async with serve([Reply("Hello", delivery=Delivery(reset_after=0))]) as server:
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            await post(server)


async def test_a_connection_can_break_before_any_answer() -> None:
    async with serve([NoAnswer(), "Hello"]) as server:
        with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
            await post(server)
        assert (await post(server)).status_code == 200


async def test_a_stalled_answer_ends_when_the_client_leaves() -> None:
    async with serve([Reply("Hello", delivery=Delivery(stall_after=100))]) as server:
        connection = await connect(server)
        received = b""
        while HELLO[98:100] not in received:
            received += await connection.receive()
        assert server.open_connections == 1
        await connection.aclose()
        await soon(lambda: server.until(lambda: server.closed_by_client == 1 and server.open_connections == 0))


async def test_the_head_can_be_held_back() -> None:
    gate = anyio.Event()
    async with serve([Reply("Hello", delivery=Delivery(head=gate))]) as server:
        connection = await connect(server)
        await soon(lambda: server.until(lambda: len(server.requests) == 1))
        with anyio.move_on_after(0.02) as scope:
            await connection.receive()
        assert scope.cancelled_caught
        gate.set()
        assert (await connection.receive()).startswith(b"HTTP/1.1 200")
        await connection.aclose()


async def test_pace_holds_each_event_back() -> None:
    async with serve([Reply("Hello", delivery=Delivery(pace=0.01))]) as server:
        before = anyio.current_time()
        response = await post(server)
        assert anyio.current_time() - before >= 0.01 * (response.text.count("event:") - 1)


async def test_the_server_sees_a_client_that_leaves_in_the_middle() -> None:
    async with serve([Reply("Hello", delivery=Delivery(gates={2: anyio.Event()}))]) as server:
        connection = await connect(server)
        await connection.receive()
        assert (server.closed_by_client, server.open_connections) == (0, 1)
        await connection.aclose()
        await soon(lambda: server.until(lambda: server.closed_by_client == 1))
        await soon(lambda: server.until(lambda: server.open_connections == 0))


async def test_a_client_that_leaves_after_the_end_is_not_counted() -> None:
    async with serve(["Hello"]) as server:
        await post(server)
        await soon(lambda: server.until(lambda: server.open_connections == 0))
        assert server.closed_by_client == 0


async def test_a_slow_client_gets_a_large_answer_whole() -> None:
    text = "~" * 8_000_000
    async with serve([Reply(text, chunk_size=len(text))]) as server:
        connection = await connect(server)
        await anyio.wait_all_tasks_blocked()  # the server waits for room in the socket
        received = b""
        while not received.endswith(b"0\r\n\r\n"):
            received += await connection.receive(1_000_000)
        await connection.aclose()
    assert received.count(b"~") == len(text)


async def test_a_client_that_does_not_speak_http_is_let_go() -> None:
    async with serve(["Hello"]) as server:
        host, port = server.url.removeprefix("http://").split(":")
        async with await anyio.connect_tcp(host, int(port)) as connection:
            await connection.send(b"\x16\x03\x01 not http\r\n\r\n")
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await connection.receive()
        assert (await post(server)).status_code == 200


async def test_leaving_the_server_closes_what_is_open() -> None:
    async with serve([Reply("Hello", delivery=Delivery(stall_after=10))]) as server:
        connection = await connect(server)
        await connection.receive()
    assert server.open_connections == 0
    with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
        while True:
            await connection.receive()
    await connection.aclose()
    with pytest.raises(OSError):  # noqa: PT011  a refused connection, each loop in its own words
        await connect(server)


async def test_an_exception_in_the_body_comes_out_as_it_is() -> None:
    error = LookupError("mine")
    with pytest.raises(LookupError) as caught:
        async with serve(["Hello"]):
            raise error
    assert caught.value is error


async def test_a_deadline_around_the_server_works() -> None:
    with anyio.move_on_after(0.02) as scope:
        async with serve(["Hello"]):
            await anyio.sleep_forever()
    assert scope.cancelled_caught


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_server_in_a_thread_serves_clients_that_are_not_async(backend: Any) -> None:
    with serve_in_thread(["Hello"], backend=backend) as server, httpx.Client(verify=False) as client:
        response = client.post(server.url + "/v1/messages", content=json.dumps({"model": "m", "stream": True}))
        assert response.content == HELLO
        assert (server.connections, len(server.requests)) == (1, 1)
    assert server.open_connections == 0
