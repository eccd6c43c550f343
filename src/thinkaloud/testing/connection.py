"""One HTTP/1.1 connection of the loopback server: requests in, answers out, and every way to break off.

It works on a plain socket, because only that can be reset on purpose.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping

import anyio
import anyio.lowlevel
import h11

from thinkaloud.testing.request import CREDENTIAL_HEADERS, RecordedRequest

_READ_SIZE = 65536
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class ClientGone(Exception):
    """The client closed or broke the connection."""


class Connection:
    """Speaks HTTP on an accepted socket. Owns the socket."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = sock
        self._http = h11.Connection(h11.SERVER)

    async def receive(self) -> RecordedRequest | None:
        """The next request, whole; None when the client wants no more. Raises ClientGone, h11.RemoteProtocolError."""
        head: h11.Request | None = None
        body: list[bytes] = []
        while True:
            match self._http.next_event():
                case h11.NEED_DATA:
                    self._http.receive_data(await self._read())
                case h11.Request() as head:
                    pass
                case h11.Data(data=data):
                    body.append(bytes(data))
                case h11.EndOfMessage():
                    assert head is not None
                    return _recorded(head, b"".join(body))
                case _:
                    return None

    async def client_leaves(self) -> None:
        """Return when the client closes or breaks the connection; keep what it sends meanwhile."""
        try:
            while data := await self._read():
                self._http.receive_data(data)
        except ClientGone:
            pass

    async def send_head(self, status: int, headers: Mapping[str, str]) -> None:
        """Send the status line and the headers. Raises ClientGone."""
        await self._write(self._http.send(h11.Response(status_code=status, headers=list(headers.items()))))

    async def send_piece(self, piece: bytes, *, last: bool) -> None:
        """Send a piece of the body, with the end of the body where it is the last. Raises ClientGone."""
        data = self._http.send(h11.Data(data=piece)) or b""
        await self._write(data + self._end() if last else data)

    async def send_end(self) -> None:
        """Send the end of the body, where it was not sent with the last piece. Raises ClientGone."""
        if self._http.our_state is h11.SEND_BODY:
            await self._write(self._end())

    def next_cycle(self) -> bool:
        """Make ready for another request; False if the connection must be closed."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def reset(self) -> None:
        """Break the connection, so that the client's read fails."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _end(self) -> bytes:
        return self._http.send(h11.EndOfMessage()) or b""

    async def _read(self) -> bytes:
        while True:
            await anyio.wait_readable(self._socket)
            try:
                return self._socket.recv(_READ_SIZE)
            except BlockingIOError:
                continue
            except OSError as error:
                raise ClientGone from error

    async def _write(self, data: bytes | None) -> None:
        await anyio.lowlevel.checkpoint()
        rest = memoryview(data or b"")
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._socket)
            except OSError as error:
                raise ClientGone from error


def _recorded(head: h11.Request, body: bytes) -> RecordedRequest:
    headers = {name.decode("ascii").lower(): value.decode("latin-1") for name, value in head.headers}
    return RecordedRequest(
        method=head.method.decode("ascii"),
        url=f"http://{headers.get('host', '127.0.0.1')}{head.target.decode('ascii')}",
        headers={name: value for name, value in headers.items() if name not in CREDENTIAL_HEADERS},
        credentials={name: value for name, value in headers.items() if name in CREDENTIAL_HEADERS},
        body=body,
    )
