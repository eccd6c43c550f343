"""The HTTP client that this library makes itself: an event costs it little more than the network does.

It is put together from the public parts of the HTTP library: its client, a transport of ours, its connection pools, and
a network backend of ours whose connections hand bodies in chunks straight to their reader.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from thinkaloud.transport.network import Connection, Network
from thinkaloud.transport.pools import PER_POOL, Pools, Share

if TYPE_CHECKING:
    import ssl
    from http.cookiejar import CookieJar


def core_of(library: Any) -> Any:
    """The package below an HTTP library that makes its connections: httpcore for httpx, httpcore2 for httpx2."""
    return import_module(library.__name__.replace("httpx", "httpcore"))


def no_cookies() -> CookieJar:
    """A jar that takes none: what one answer sets goes to no other call, and the headers of requests do not grow."""
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


def own_client(library: Any, tls: ssl.SSLContext | None) -> Any:
    """Make an AsyncClient. The limit on silence is kept for heads only: who reads a body keeps it there."""
    core = core_of(library)

    def make(keep: int) -> Any:
        return core.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=PER_POOL,
            max_keepalive_connections=keep,
            keepalive_expiry=5.0,
            network_backend=Network(core),
        )

    pools = Pools(make)

    class Body(library.AsyncByteStream):  # type: ignore[misc]  # the base is known only here
        def __init__(self, connection: Connection, pieces: Any, share: Share) -> None:
            self._connection: Connection | None = connection
            self._pieces = pieces
            self._rest: AsyncIterator[bytes] | None = None  # what the HTTP library reads of the body
            self._share: Share | None = share

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self

        async def __anext__(self) -> bytes:
            if self._connection is not None:
                if piece := await self._connection.read_body():
                    return piece
                self._connection = None
            if self._rest is None:
                if self._share is None:
                    raise StopAsyncIteration
                self._rest = aiter(self._pieces)
            return await anext(self._rest)

        async def aclose(self) -> None:
            share, self._share = self._share, None
            self._connection = None
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
            body = Body(answer.extensions["network_stream"], answer.stream, share)
            return library.Response(answer.status, headers=answer.headers, stream=body, extensions=answer.extensions)

        async def aclose(self) -> None:
            await pools.aclose()

    return library.AsyncClient(transport=Spread(), cookies=no_cookies())
