"""A loopback server that says what a test tells it, byte for byte, to every request."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import ByteReceiveStream, SocketAttribute, SocketStream

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class RawServer:
    """url: without a slash at the end. requests, open_connections: counts."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests = 0
        self.open_connections = 0
        self._changed = anyio.Event()

    async def until_closed(self) -> None:
        """Wait until every connection is closed."""
        while self.open_connections:
            await self._changed.wait()

    def _note(self, change: int) -> None:
        self.open_connections += change
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


Answering = Callable[[SocketStream], Awaitable[None]]


def chunk(data: bytes) -> bytes:
    """Frame a piece of a body as one HTTP chunk."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def saying(*pieces: bytes, pause: float = 0.0, end: str = "close") -> Answering:
    """Answer with these pieces, then end: "close", "reset", or "hold" the connection until the client leaves."""

    async def answer(stream: SocketStream) -> None:
        for piece in pieces:
            await stream.send(piece)
            if pause:
                await anyio.sleep(pause)
        if end == "hold":
            await gone(stream)
        elif end == "reset":
            raw = stream.extra(SocketAttribute.raw_socket)
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return answer


async def gone(stream: ByteReceiveStream) -> None:
    """Return when the client has closed its end."""
    try:
        while True:
            await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        pass


async def _request(stream: SocketStream) -> bool:
    """Read one request; False where the client left instead."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            data += await stream.receive()
        head, _, body = data.partition(b"\r\n\r\n")
        found = _LENGTH.search(head)
        while found and len(body) < int(found[1]):
            body += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return False
    return True


@asynccontextmanager
async def raw_server(*answers: Answering) -> AsyncIterator[RawServer]:
    """Serve the answers in turn, one a request, the last one for all that follow; each ends its connection."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(SocketAttribute.local_port)
        server = RawServer(f"http://127.0.0.1:{port}")

        async def converse(stream: SocketStream) -> None:
            server._note(1)
            try:
                async with stream:
                    if await _request(stream):
                        server.requests += 1
                        with suppress(anyio.BrokenResourceError):
                            await answers[min(server.requests, len(answers)) - 1](stream)
            finally:
                server._note(-1)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, converse)
            yield server
            tasks.cancel_scope.cancel()
