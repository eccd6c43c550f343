"""A scripted model in memory: the transport hands out real wire bytes, and breaks them off on purpose."""

from __future__ import annotations

import anyio
import pytest

from thinkaloud.client import Client
from thinkaloud.errors import ReadFailed
from thinkaloud.protocols.captured import parse
from thinkaloud.testing import (
    Delivery,
    Failure,
    MemoryTransport,
    NoAnswer,
    RecordedRequest,
    Reply,
    Scripted,
    ScriptError,
    encode_stream,
    encode_whole,
)
from thinkaloud.testing.memory import MemoryExchange
from thinkaloud.wire.http import HttpRequest

pytestmark = pytest.mark.anyio

STREAMED = HttpRequest("POST", "http://x.test/v1/messages", {"Accept": "any"}, b'{"model":"m","stream":true}')
WHOLE = HttpRequest("POST", "http://x.test/v1/messages", {}, b'{"model":"m"}')
CHAT = HttpRequest("POST", "http://x.test/api/v1/chat/completions", {}, b'{"model":"m","stream":true}')


async def ask(transport: MemoryTransport, request: HttpRequest = STREAMED) -> MemoryExchange:
    return await transport.send(request, {"X-Api-Key": "secret"})


async def pieces_of(exchange: MemoryExchange) -> list[bytes]:
    pieces = []
    while piece := await exchange.read():
        pieces.append(piece)
    return pieces


@pytest.mark.parametrize("model", ["anthropic/claude-opus-5", "deepseek/deepseek-v4-pro"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_client_of_ours_is_answered_from_the_script(model: str, streaming: bool) -> None:
    scripted = Scripted(["Hello"])
    async with Client(api_key="secret", transport=scripted.transport()) as client:
        message = await client.complete(model, "Why?", streaming=streaming)
    assert message.text == "Hello"
    assert "secret" in "".join(scripted.requests[0].credentials.values())
    assert "Why?" in str(scripted.requests[0].json["messages"])


async def test_an_answer_is_streamed_event_by_event() -> None:
    exchange = await ask(Scripted(["Hello"]).transport())
    assert exchange.status == 200
    assert exchange.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert exchange.headers["request-id"] == "req_scripted_1"
    assert await pieces_of(exchange) == encode_stream(
        "anthropic-messages", Reply("Hello", id="msg_scripted_1"), model="m"
    )


async def test_an_answer_is_whole_where_no_stream_was_asked_for() -> None:
    exchange = await ask(Scripted(["Hello"]).transport(), WHOLE)
    assert exchange.headers["content-type"] == "application/json"
    assert await pieces_of(exchange) == [
        encode_whole("anthropic-messages", Reply("Hello", id="msg_scripted_1"), model="m")
    ]


async def test_the_path_decides_the_protocol() -> None:
    exchange = await ask(Scripted(["Hello"]).transport(), CHAT)
    assert exchange.headers["x-request-id"] == "req_scripted_1"
    assert (await pieces_of(exchange))[-1] == b"data: [DONE]\n\n"


async def test_usage_on_chat_is_sent_when_it_is_asked_for() -> None:
    asking = HttpRequest("POST", CHAT.url, {}, b'{"model":"m","stream":true,"stream_options":{"include_usage":true}}')
    transport = Scripted(["Hello", "Hello"]).transport()
    assert b"prompt_tokens" not in b"".join(await pieces_of(await ask(transport, CHAT)))
    assert b"prompt_tokens" in b"".join(await pieces_of(await ask(transport, asking)))


async def test_replies_are_given_out_in_order_and_requests_recorded() -> None:
    scripted = Scripted(["one", "two"])
    transport = scripted.transport()
    assert [b'"one"' in b"".join(await pieces_of(await ask(transport))) for _ in range(2)] == [True, False]
    assert (
        scripted.requests
        == [
            RecordedRequest(
                method="POST",
                url="http://x.test/v1/messages",
                headers={"accept": "any"},
                credentials={"x-api-key": "secret"},
                body=STREAMED.body,
            )
        ]
        * 2
    )
    assert scripted.requests[0].json == {"model": "m", "stream": True}
    assert scripted.requests[0].path == "/v1/messages"


async def test_no_repr_of_a_request_shows_credentials() -> None:
    scripted = Scripted(["one"])
    await ask(scripted.transport())
    assert "secret" not in repr(scripted.requests)


async def test_a_script_that_has_run_out_is_a_fault_of_the_script() -> None:
    transport = Scripted([]).transport()
    with pytest.raises(ScriptError, match="0 replies, and one more request came"):
        await ask(transport)


async def test_the_last_reply_can_be_repeated() -> None:
    transport = Scripted(["one", "two"], repeat_last=True).transport()
    bodies = [b"".join(await pieces_of(await ask(transport))) for _ in range(4)]
    assert [b'"two"' in body for body in bodies] == [False, True, True, True]
    assert b"msg_scripted_4" in bodies[3]


async def test_a_reply_can_be_a_function_of_the_request() -> None:
    transport = Scripted([lambda request: f"You asked {request.json['model']}"]).transport()
    assert b"asked" in b"".join(await pieces_of(await ask(transport)))


async def test_a_failure_is_an_http_error_in_the_shape_of_the_protocol() -> None:
    exchange = await ask(Scripted([Failure(429, "slow down", headers={"Retry-After": "2"})]).transport())
    assert (exchange.status, exchange.headers["retry-after"]) == (429, "2")
    assert await pieces_of(exchange) == [
        b'{"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"req_scripted_1"}'
    ]


@pytest.mark.parametrize(
    ("body", "sent", "content_type"),
    [
        ("<html>bad gateway</html>", b"<html>bad gateway</html>", "text/html"),
        (b"\xff", b"\xff", "text/html"),
        ({"detail": "no"}, b'{"detail":"no"}', "application/json"),
        ('{"detail":"no"}', b'{"detail":"no"}', "application/json"),
    ],
)
async def test_a_failure_can_have_a_body_of_its_own(body: object, sent: bytes, content_type: str) -> None:
    exchange = await ask(Scripted([Failure(502, body=body)]).transport())  # type: ignore[arg-type]
    assert (exchange.status, exchange.headers["content-type"]) == (502, content_type)
    assert await pieces_of(exchange) == [sent]


async def test_an_error_within_an_answer_is_an_http_error_where_it_is_not_streamed() -> None:
    exchange = await ask(Scripted([Reply("Hello", error=Failure(529))]).transport(), WHOLE)
    assert exchange.status == 529


async def test_a_path_that_nothing_is_served_at_is_not_found() -> None:
    exchange = await ask(Scripted(["Hello"]).transport(), HttpRequest("GET", "http://x.test/v1/models"))
    assert exchange.status == 404
    assert b"nothing is served at /v1/models" in (await exchange.read())


@pytest.mark.parametrize("body", [b"", b"{", b"[]"])
async def test_a_request_that_is_no_json_object_is_refused_and_takes_no_reply(body: bytes) -> None:
    transport = Scripted(["Hello"]).transport()
    refused = await ask(transport, HttpRequest("POST", STREAMED.url, {}, body))
    assert refused.status == 400
    assert (await ask(transport)).status == 200


async def test_no_answer_fails_the_request() -> None:
    transport = Scripted([NoAnswer(), "Hello"]).transport()
    with pytest.raises(ReadFailed, match="before the answer began"):
        await ask(transport)
    assert (await ask(transport)).status == 200


async def test_a_body_that_is_cut_off_ends() -> None:
    exchange = await ask(Scripted([Reply("Hello", delivery=Delivery(cut_after=100))]).transport())
    assert len(b"".join(await pieces_of(exchange))) == 100
    assert await exchange.read() == b""


@pytest.mark.parametrize("how", [Delivery(reset_after=100), Delivery(close_after=100)])
async def test_a_connection_that_breaks_fails_each_further_read(how: Delivery) -> None:
    exchange = await ask(Scripted([Reply("Hello", delivery=how)]).transport())
    assert len(await exchange.read()) == 100
    for _ in range(2):
        with pytest.raises(ReadFailed, match="before the answer was whole"):
            await exchange.read()


async def test_a_stalled_body_waits_for_ever() -> None:
    exchange = await ask(Scripted([Reply("Hello", delivery=Delivery(stall_after=100))]).transport())
    assert len(await exchange.read()) == 100
    with anyio.move_on_after(0.01) as scope:
        await exchange.read()
    assert scope.cancelled_caught


async def test_a_gate_holds_a_piece_back_and_a_cancelled_read_takes_nothing_away() -> None:
    gate = anyio.Event()
    exchange = await ask(Scripted([Reply("Hello", delivery=Delivery(gates={1: gate}))]).transport())
    first = await exchange.read()
    with anyio.move_on_after(0.01) as scope:
        await exchange.read()
    assert scope.cancelled_caught
    with anyio.move_on_after(0.01) as scope:
        await exchange.read()
    assert scope.cancelled_caught
    gate.set()
    assert first + b"".join(await pieces_of(exchange)) == b"".join(
        encode_stream("anthropic-messages", Reply("Hello", id="msg_scripted_1"), model="m")
    )


async def test_the_head_can_be_held_back() -> None:
    gate = anyio.Event()
    transport = Scripted(["Hello"], delivery=Delivery(head=gate)).transport()
    async with anyio.create_task_group() as tasks:
        answered = anyio.Event()

        async def send() -> None:
            await ask(transport)
            answered.set()

        tasks.start_soon(send)
        await anyio.wait_all_tasks_blocked()
        assert not answered.is_set()
        gate.set()


async def test_pieces_can_be_of_any_size() -> None:
    transport = Scripted(["Hello"], delivery=Delivery(pieces="bytes")).transport()
    pieces = await pieces_of(await ask(transport))
    assert {len(piece) for piece in pieces} == {1}
    assert parse("anthropic-messages", pieces).text == "Hello"


async def test_a_reply_s_own_delivery_wins() -> None:
    own = Reply("Hello", delivery=Delivery())
    transport = Scripted([own], delivery=Delivery(pieces="whole")).transport()
    assert len(await pieces_of(await ask(transport))) > 1


async def test_the_transport_counts_what_becomes_of_its_answers() -> None:
    transport = Scripted(["one", "two"]).transport()
    read, left = await ask(transport), await ask(transport)
    assert (transport.open_answers, transport.left_early) == (2, 0)
    await pieces_of(read)
    await read.aclose()
    await left.read()
    await left.aclose()
    await left.aclose()
    assert (transport.open_answers, transport.left_early) == (0, 1)
    with pytest.raises(ReadFailed, match="closed"):
        await left.read()


async def test_the_transport_tells_that_it_was_closed() -> None:
    transport = Scripted([]).transport()
    assert not transport.closed
    await transport.aclose()
    assert transport.closed


def test_a_script_is_a_list() -> None:
    with pytest.raises(TypeError, match="a list of replies"):
        Scripted("Hello")
