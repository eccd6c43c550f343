"""An HTTP client that merges small chunks right at the socket, for the clients that this library makes itself.

It is put together from the public parts of the HTTP library: its client, a transport of ours, its connection pools, and
a network backend that lets each connection's bytes go through a ChunkMerger.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from thinkaloud.transport.chunks import ChunkMerger
from thinkaloud.transport.pools import PER_POOL, Pools, Share

if TYPE_CHECKING:
    import ssl


def core_of(library: Any) -> Any:
    """The package below an HTTP library that makes its connections: httpcore for httpx, httpcore2 for httpx2."""
    return import_module(library.__name__.replace("httpx", "httpcore"))


def merging_client(library: Any, tls: ssl.SSLContext | None) -> Any:
    """Make an AsyncClient whose connections merge the chunks that arrive together."""
    core = core_of(library)

    def make(keep: int) -> Any:
        return core.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=PER_POOL,
            max_keepalive_connections=keep,
            keepalive_expiry=5.0,
            network_backend=_Backend(core.AnyIOBackend()),
        )

    pools = Pools(make)

    class Body(library.AsyncByteStream):  # type: ignore[misc]  # the base is known only here
        def __init__(self, pieces: Any, share: Share) -> None:
            self._pieces = pieces
            self._share: Share | None = share

        def __aiter__(self) -> AsyncIterator[bytes]:
            pieces: AsyncIterator[bytes] = aiter(self._pieces)
            return pieces

        async def aclose(self) -> None:
            share, self._share = self._share, None
            try:
                await self._pieces.aclose()
            finally:
                if share is not None:
                    pools.give_back(share)

    class Spread(library.AsyncBaseTransport):  # type: ignore[misc]
        async def handle_async_request(self, request: Any) -> Any:
            url = request.url
            address = core.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
            share = pools.take()
            try:
                answer = await share.pool.handle_async_request(
                    core.Request(
                        method=request.method,
                        url=address,
                        headers=request.headers.raw,
                        content=request.stream,
                        extensions=request.extensions,
                    )
                )
            except BaseException:
                pools.give_back(share)
                raise
            return library.Response(
                answer.status, headers=answer.headers, stream=Body(answer.stream, share), extensions=answer.extensions
            )

        async def aclose(self) -> None:
            await pools.aclose()

    return library.AsyncClient(transport=Spread())


class _Backend:
    """Opens connections through another backend, and lets each go through a merger."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    async def connect_tcp(self, *arguments: Any, **options: Any) -> _Stream:
        return _Stream(await self._backend.connect_tcp(*arguments, **options))

    async def connect_unix_socket(self, *arguments: Any, **options: Any) -> _Stream:
        return _Stream(await self._backend.connect_unix_socket(*arguments, **options))

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


class _Stream:
    """One connection, before or inside TLS."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._merger = ChunkMerger()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        while data := await self._stream.read(max_bytes, timeout):
            if merged := self._merger.feed(data):
                return merged
        return b""

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self._merger.expect_answer()
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(self, *arguments: Any, **options: Any) -> _Stream:
        return _Stream(await self._stream.start_tls(*arguments, **options))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
