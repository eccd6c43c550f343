"""Many streams on one client are spread over small pools, and few use few connections again and again."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream

import thinkaloud as ta
from support.calling import MODELS, calling
from support.raw_server import HEAD, chunk, raw_server, saying
from support.streams import anthropic, said, started, stopped
from thinkaloud.testing import Delivery, Reply, Scripted
from thinkaloud.transport.pools import KEEPING_POOLS, MOST_POOLS, PER_POOL, Pools

CLAUDE = MODELS["anthropic-messages"]


class Made:
    def __init__(self, keep: int) -> None:
        self.keep = keep


def test_the_first_pool_with_room_is_taken() -> None:
    pools = Pools(Made)
    first = [pools.take() for _ in range(PER_POOL)]
    other = pools.take()
    assert len({id(share) for share in first}) == 1
    assert other is not first[0]
    pools.give_back(first[0])
    assert pools.take() is first[0]


def test_idle_connections_are_kept_in_the_first_pools_only() -> None:
    pools = Pools(Made)
    made: list[Any] = [pools.take().pool for _ in range(PER_POOL * (KEEPING_POOLS + 1))]
    assert {pool.keep for pool in made[: PER_POOL * KEEPING_POOLS]} == {PER_POOL}
    assert {pool.keep for pool in made[PER_POOL * KEEPING_POOLS :]} == {0}


def test_when_all_pools_are_full_the_one_with_the_fewest_takes_more() -> None:
    pools = Pools(Made)
    shares = [pools.take() for _ in range(PER_POOL * MOST_POOLS)]
    pools.take()
    more = [pools.take() for _ in range(MOST_POOLS - 1)]
    assert len({id(share) for share in [*shares, *more]}) == MOST_POOLS
    assert {share.open for share in shares} == {PER_POOL + 1}


@pytest.mark.anyio
async def test_one_call_after_the_other_uses_one_connection() -> None:
    async with calling(["Hello"], library="own") as (server, client):
        for _ in range(5):
            await client.complete(CLAUDE, "hi")
        assert server.connections == 1


@pytest.mark.anyio
async def test_more_streams_than_a_pool_holds_are_open_at_once_and_their_connections_serve_again() -> None:
    gate = anyio.Event()
    count = PER_POOL * 2 + 3
    script = Scripted([Reply("one two", delivery=Delivery(gates={3: gate}))], repeat_last=True)
    answers: list[ta.AssistantMessage] = []
    async with calling(script, library="own") as (server, client):

        async def call() -> None:
            answers.append(await client.complete(CLAUDE, "hi"))

        for _ in range(2):
            async with anyio.create_task_group() as tasks:
                for _ in range(count):
                    tasks.start_soon(call)
                if not gate.is_set():
                    await server.until(lambda: len(server.requests) == count)
                    gate.set()
        assert [answer.text for answer in answers] == ["one two"] * count * 2
        assert server.connections == count


def answer(text: str) -> bytes:
    return anthropic(started(input_tokens=9, output_tokens=1), *said(0, text), *stopped("end_turn", output_tokens=2))


FIRST, STALE, OTHER = (HEAD + chunk(answer(text)) + b"0\r\n\r\n" for text in ("first", "stale", "other"))
SIZED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b"


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("more", [STALE, b"\r\n", b"x"], ids=["an answer", "a line end", "a byte"])
@pytest.mark.parametrize(
    "first",
    [FIRST, SIZED % (len(answer("first")), answer("first")), b"HTTP/1.1 100 Continue\r\n\r\n" * 2000 + FIRST],
    ids=["in chunks", "sized", "early answers before it"],
)
async def test_what_comes_after_the_end_of_an_answer_is_no_answer_to_the_next_request(
    monkeypatch: pytest.MonkeyPatch, library: str, first: bytes, more: bytes
) -> None:
    module = pytest.importorskip(library)
    monkeypatch.setattr("thinkaloud.transport.http._default_library", lambda: module)
    async with (
        raw_server(saying(first + more, end="hold"), saying(OTHER)) as server,
        ta.Client(api_key="test-key", base_url=server.url, retries=0) as client,
    ):
        assert [(await client.complete(CLAUDE, "hi")).text for _ in range(2)] == ["first", "other"]
        assert server.requests == 2


@pytest.mark.anyio
@pytest.mark.parametrize("proxy", [None, "http://127.0.0.1:9"])
async def test_what_an_answer_sets_goes_to_no_other_call(monkeypatch: pytest.MonkeyPatch, proxy: str | None) -> None:
    if proxy is not None:  # it is not gone through: any proxy makes the client another one
        monkeypatch.setenv("ftp_proxy", proxy)
    requests: list[bytes] = []

    async def setting(stream: SocketStream) -> None:
        head = HEAD[:-2] + b"set-cookie: session=1; path=/\r\n\r\n"
        await stream.send(head + chunk(answer("first")) + b"0\r\n\r\n")
        while not requests or not requests[-1].endswith(b"}"):
            requests.append(await stream.receive())
        await stream.send(OTHER)

    async with (
        raw_server(setting) as server,
        ta.Client(api_key="test-key", base_url=server.url, retries=0) as client,
    ):
        assert [(await client.complete(CLAUDE, "hi")).text for _ in range(2)] == ["first", "other"]
    assert requests
    assert b"cookie:" not in b"".join(requests).lower()
