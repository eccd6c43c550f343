"""Connections for an HTTP library's pools, made with anyio; bodies that come in chunks they hand straight to us."""

from __future__ import annotations

import selectors
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSAttribute, TLSStream

from thinkaloud.transport.chunks import Dechunker

_READ_SIZE = 64 * 1024


class Network:
    """A network backend as an HTTP library's core expects it.

    core: the package whose errors are raised, httpcore or httpcore2.
    """

    def __init__(self, core: Any) -> None:
        self._core = core

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: object = None,
    ) -> Connection:
        core = self._core
        with _errors(core.ConnectTimeout, core.ConnectError), anyio.fail_after(timeout):
            return Connection(core, await anyio.connect_tcp(host, port, local_host=local_address))

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep(seconds)


class Connection:
    """One connection, before or inside TLS."""

    def __init__(self, core: Any, stream: ByteStream) -> None:
        self._core = core
        self._stream = stream
        self._chunks = Dechunker()
        self._rest = b""  # for the HTTP library, come while a body was read
        self._ended = False
        self._more = False  # the last read brought as much as it could: more may have come from the network already

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """What comes next for the HTTP library; b"" at the end."""
        while not (rest := self._rest):
            if not (data := await self._receive(max_bytes, timeout)):
                return b""
            self._rest = self._chunks.feed(data)
        self._rest = b""
        return rest

    async def read_body(self) -> bytes:
        """What comes next of a body in chunks; b"" where the HTTP library goes on, which may be before its end."""
        chunks = self._chunks
        while not (piece := chunks.take()):
            if not chunks.inside or not (data := await self._receive(_READ_SIZE, None)):
                return b""
            self._rest = chunks.feed(data)
        return piece

    async def _receive(self, max_bytes: int, timeout: float | None) -> bytes:  # noqa: ASYNC109
        if self._ended:
            return b""
        try:
            if timeout is None:
                data = await self._stream.receive(max_bytes)
            else:
                with anyio.fail_after(timeout):
                    data = await self._stream.receive(max_bytes)
        except anyio.EndOfStream:
            self._ended = True
            return b""
        except TimeoutError as error:
            raise self._core.ReadTimeout(error) from error
        except anyio.ClosedResourceError:
            raise self._core.ReadError("it was closed on this side") from None
        except _BROKEN as error:
            raise self._core.ReadError(error) from error
        self._more = len(data) >= max_bytes
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self._chunks.expect_answer()
        if buffer:
            with _errors(self._core.WriteTimeout, self._core.WriteError), anyio.fail_after(timeout):
                await self._stream.send(buffer)

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Connection:
        core = self._core
        try:
            with _errors(core.ConnectTimeout, core.ConnectError), anyio.fail_after(timeout):
                inside = await TLSStream.wrap(
                    self._stream,
                    hostname=server_hostname,
                    ssl_context=ssl_context,
                    server_side=False,
                    standard_compatible=False,
                )
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.aclose()
            raise
        return Connection(core, inside)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return self._dirty or _readable(self._stream.extra(SocketAttribute.raw_socket))
        return self._stream.extra(_FACTS[info], None) if info in _FACTS else None

    @property
    def _dirty(self) -> bool:
        """More may have been read than the answers to our requests: the rest would pass for the next answer."""
        inside = self._stream.extra(TLSAttribute.ssl_object, None)
        return not self._chunks.at_end or self._more or (inside is not None and _holds(inside))


_FACTS = {
    "ssl_object": TLSAttribute.ssl_object,
    "client_addr": SocketAttribute.local_address,
    "server_addr": SocketAttribute.remote_address,
    "socket": SocketAttribute.raw_socket,
}
_BROKEN = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)


@contextmanager
def _errors(too_late: type[Exception], broken: type[Exception]) -> Iterator[None]:
    """Raise the errors of the HTTP library's core for those of the network."""
    try:
        yield
    except TimeoutError as error:
        raise too_late(error) from error
    except _BROKEN as error:
        raise broken(error) from error


def _holds(inside: Any) -> bool:
    """A TLS object has bytes, or an end, that nobody has read."""
    try:
        inside.read(1)
    except ssl.SSLWantReadError:
        return False
    except ssl.SSLError:
        pass
    return True


def _readable(connection: Any) -> bool:
    """Something has come on an idle connection, where nothing but its end may come."""
    if connection.fileno() < 0:
        return True
    with getattr(selectors, "PollSelector", selectors.SelectSelector)() as selector:
        selector.register(connection, selectors.EVENT_READ)
        return bool(selector.select(0))
