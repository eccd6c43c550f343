"""HTTP through httpx, or httpx2 where it is installed: the user's own client, or one made when first needed."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from anyio.lowlevel import current_token

from thinkaloud.errors import (
    ConfigurationError,
    ConnectFailed,
    DeadlineExceeded,
    LimitExceeded,
    ReadFailed,
    ThinkaloudError,
    TransportError,
)
from thinkaloud.loop_end import close_at_end, has_ended
from thinkaloud.transport.timeouts import Timeouts
from thinkaloud.wire.compressed import Inflater
from thinkaloud.wire.http import HttpRequest

if TYPE_CHECKING:
    import ssl


@cache
def _default_library() -> Any:
    """Prefer httpx2, the maintained fork with the same interface."""
    try:
        return import_module("httpx2")
    except ModuleNotFoundError:
        return import_module("httpx")


def _library_of(client: Any) -> Any:
    """Find the library that a user's client comes from, through subclasses too."""
    for base in type(client).__mro__:
        package = base.__module__.partition(".")[0]
        if package in ("httpx", "httpx2"):
            library = import_module(package)
            if not isinstance(client, library.AsyncClient):
                raise ConfigurationError(f"http_client must be an {package}.AsyncClient, not {type(client).__name__}")
            return library
    raise ConfigurationError(f"http_client must be an httpx or httpx2 AsyncClient, not {type(client).__name__}")


@cache
def _tls_context() -> ssl.SSLContext:
    """One context for the process: building one takes about as long as a whole cold start without it."""
    context: ssl.SSLContext = _default_library().create_ssl_context()
    return context


class HttpTransport:
    """Sends requests over HTTP and never follows a redirect, so that credentials stay with their host.

    http_client: an httpx or httpx2 AsyncClient of yours, which is never closed here; None makes one for each event
        loop that sends, and closes it when its loop ends.
    """

    def __init__(self, *, http_client: Any = None, timeouts: Timeouts = Timeouts()) -> None:
        self._library = _library_of(http_client) if http_client is not None else None
        self._given = http_client
        self._made: dict[object, _Made] = {}  # by event loop
        self._timeout = {
            "connect": timeouts.connect,
            "write": timeouts.write,
            "pool": timeouts.pool,
            "read": timeouts.silence,
        }
        self._closed = False

    def __repr__(self) -> str:
        return f"HttpTransport(closed={self._closed})"

    async def send(self, request: HttpRequest, credentials: Mapping[str, str]) -> HttpExchange:
        """Send a request and give its answer as soon as the head of it has come."""
        client, reads_here = await self._client(request.url)
        library = self._library
        assert library is not None
        failure: ThinkaloudError
        try:
            sent = client.build_request(
                request.method,
                request.url,
                headers={"accept-encoding": "identity", **request.headers, **credentials},
                content=request.body,
                timeout=library.Timeout(**self._timeout),
            )
            response = await client.send(sent, stream=True, follow_redirects=False)
        except _errors_of(library) as error:
            failure = _failure(error, self._timeout, "before the answer began", _host_of(request.url))
        except RuntimeError as error:
            failure = ConfigurationError(
                f"the HTTP client cannot be used here ({error}); it may be closed, or belong to another event loop or "
                "thread: an http_client of yours serves the event loop that it was first used in"
            )
        else:
            if not 300 <= response.status_code < 400:
                return HttpExchange(library, response, keeps_silence=not reads_here, seconds=self._timeout)
            await response.aclose()
            failure = ConfigurationError(
                f"base_url redirects{_host_of(response.headers.get('location', ''))} (status {response.status_code}), "
                "and redirects are never followed: give the final address"
            )
        raise failure

    async def aclose(self) -> None:
        """Close the connections that were made here; a given client stays open.

        Those of other event loops are closed when these end.
        """
        self._closed = True
        await self.disconnect()

    async def disconnect(self) -> None:
        """Close the connections that were made on this event loop; new ones may be made."""
        made = self._made.pop(current_token(), None)
        if made is not None:
            await made.aclose()

    async def _client(self, url: str) -> tuple[Any, bool]:
        """The HTTP client to use here, and whether it keeps the limit on silence for heads only."""
        if self._closed:
            raise ConfigurationError("the client is closed; make a new one")
        if self._given is not None:
            return self._given, False
        loop = current_token()
        made = self._made.get(loop)
        if made is None:
            for other in list(self._made):
                if has_ended(other):
                    self._made.pop(other, None)
            made = self._made[loop] = _Made()
            await close_at_end(made)
        scheme = urlsplit(url).scheme
        if scheme not in made.clients:
            library = self._library = self._library or _default_library()
            made.add(library, scheme)
        return made.clients[scheme], made.clients[scheme] in made.reading_here


class _Made:
    """The HTTP clients that were made for one event loop, by the scheme of the addresses that they are for."""

    def __init__(self) -> None:
        self.clients: dict[str, Any] = {}
        self.reading_here: list[Any] = []
        """Clients that keep the limit on silence for heads only."""

    def add(self, library: Any, scheme: str) -> None:
        from thinkaloud.transport.own_client import no_cookies, own_client  # loads TLS

        # Plain HTTP needs no TLS context, and building one takes long.
        tls = None if scheme == "http" else _tls_context()
        if _proxies():  # the library's own transports know how to go through them
            limits = library.Limits(max_connections=1000, max_keepalive_connections=100)
            self.clients[scheme] = library.AsyncClient(verify=tls or False, limits=limits, cookies=no_cookies())
            return
        client = self.clients[scheme] = own_client(library, tls)
        self.reading_here.append(client)

    async def aclose(self) -> None:
        clients, self.clients, self.reading_here = self.clients, {}, []
        for client in clients.values():
            await client.aclose()


def _proxies() -> dict[str, str]:
    """What the environment says of proxies."""
    from urllib.request import getproxies

    return getproxies()


class HttpExchange:
    """One HTTP answer whose body is read piece by piece."""

    def __init__(
        self, library: Any, response: Any, *, keeps_silence: bool, seconds: Mapping[str, float | None]
    ) -> None:
        self.keeps_silence = keeps_silence
        self.status: int = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers.items())
        self._errors = _errors_of(library)
        self._seconds = seconds
        self._response = response
        self._pieces: AsyncIterator[bytes] | None = None
        self._inflater: Inflater | None = None
        self._inflated: Iterator[bytes] = iter(())
        self._at_end = False  # of a compressed body

    async def read(self) -> bytes:
        """The next piece of the body; b"" at its end."""
        pieces = self._pieces
        failure: ThinkaloudError
        try:
            if pieces is None:
                pieces = self._pieces = self._open()
            if self._inflater is not None:
                return await self._inflate(pieces, self._inflater)
            while not (piece := await anext(pieces)):
                pass
            return piece
        except StopAsyncIteration:
            return b""
        except ValueError as error:  # of a compressed body
            failure = ReadFailed(str(error))
        except RuntimeError as error:  # the event loop that the connection belongs to is gone
            failure = ReadFailed(f"the connection cannot be read here ({error})")
        except self._errors as error:
            failure = _failure(error, self._seconds, "in the middle of the answer")
        raise failure

    def interrupt(self) -> None:
        """Shut the connection down, so that a read that waits on it ends.

        On HTTP/2, where answers share a connection, the read goes on until its next piece.
        """
        stream = self._response.extensions.get("network_stream")
        shared = self._response.http_version == "HTTP/2"
        connection = None if stream is None or shared else stream.get_extra_info("socket")
        if connection is not None:
            # Some event loops wrap their sockets so that they cannot be shut down; a duplicate always can.
            with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as duplicate:
                duplicate.shutdown(socket.SHUT_RDWR)

    async def aclose(self) -> None:
        """Give the connection back if the body was read to its end, else close it."""
        pieces, self._pieces = self._pieces, None
        with suppress(*self._errors, RuntimeError):  # whatever happens to a connection that is given up
            await self._response.aclose()
        if pieces is not None:
            # On a closed connection the library's nested generators run out; dropped in the middle they would warn.
            with suppress(*self._errors, RuntimeError):
                async for _ in pieces:
                    pass

    def _open(self) -> AsyncIterator[bytes]:
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity"):
            self._inflater = Inflater(encoding)
        # The bare stream skips the library's layers for compressed bodies, which know no bounds.
        pieces: AsyncIterator[bytes] = aiter(self._response.stream)
        return pieces

    async def _inflate(self, pieces: AsyncIterator[bytes], inflater: Inflater) -> bytes:
        """The next piece of what a compressed body holds."""
        while True:
            if (piece := next(self._inflated, b"")) or self._at_end:
                return piece
            try:
                self._inflated = inflater.feed(await anext(pieces))
            except StopAsyncIteration:
                self._at_end = True
                inflater.close()


def _host_of(location: str) -> str:
    """Name the host of an address, and nothing else of it: it may hold credentials, or nonsense."""
    try:
        target = urlsplit(location)
        host, port = target.hostname, target.port
    except ValueError:
        return ""
    if not host or not location.isprintable():
        return ""
    return f" to {target.scheme}://{host}{'' if port is None else f':{port}'}"


@cache
def _errors_of(library: Any) -> tuple[type[Exception], ...]:
    """What an HTTP library raises for the network and bad requests, and what its core raises where it is used bare.

    A TLS record that is none comes as an OSError through both.
    """
    from thinkaloud.transport.own_client import core_of

    core = core_of(library)
    below = (core.TimeoutException, core.NetworkError, core.ProtocolError, core.ProxyError, core.UnsupportedProtocol)
    return (library.HTTPError, library.InvalidURL, *below, OSError)


# The limit behind an error's name, and what the HTTP library calls that limit.
_DEADLINES = {
    "ConnectTimeout": ("connect", "connect"),
    "WriteTimeout": ("write", "write"),
    "PoolTimeout": ("pool", "pool"),
    "ReadTimeout": ("silence", "read"),
}
_CONFIGURATION = {
    "InvalidURL": "base_url is no usable URL",
    "UnsupportedProtocol": "base_url is no usable URL",
    "LocalProtocolError": "the request cannot be sent as HTTP",
}
_HEAD_TOO_LARGE = "Receive buffer too long"  # h11
_LARGEST_HEAD = 100 * 1024  # bytes: what the cores of the HTTP libraries set
_CONNECTING = frozenset({"ConnectError", "ProxyError"})


def _failure(error: Exception, seconds: Mapping[str, float | None], when: str, host: str = "") -> ThinkaloudError:
    """Put an error of the HTTP library in our words. The original is not chained: it holds the request's headers.

    seconds: the limits, by the HTTP library's names.
    """
    name = type(error).__name__
    said = _said(error)
    text = f"{name}: {said}" if said else name
    if name in _DEADLINES:
        kind, limit = _DEADLINES[name]
        of = "" if seconds[limit] is None else f" of {seconds[limit]:g} s"
        return DeadlineExceeded(f"the {kind} deadline{of} ran out", kind=kind)
    if text.endswith(_HEAD_TOO_LARGE):
        return LimitExceeded(
            f"the answer's headers have over {_LARGEST_HEAD} bytes, which is all that the HTTP library reads",
            which="header_size",
            limit=_LARGEST_HEAD,
        )
    if name in _CONFIGURATION:
        return ConfigurationError(f"{_CONFIGURATION[name]} ({text})")
    failure: type[TransportError] = ConnectFailed if name in _CONNECTING else ReadFailed
    doing = f"no connection could be made{host}" if failure is ConnectFailed else f"the connection broke {when}"
    return failure(f"{doing} ({text})")


def _said(error: BaseException) -> str:
    """What an error says, or else what lies behind it (on trio a certificate that is refused is named only there)."""
    behind: BaseException | None = error
    while behind is not None:
        if text := str(behind):
            return text
        behind = behind.__cause__ or behind.__context__
    return ""
