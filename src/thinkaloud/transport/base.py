"""The seam between a stream and the network: what a transport is, whoever implements it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from thinkaloud.wire.http import HttpRequest


class Exchange(Protocol):
    """One HTTP answer whose body is read piece by piece.

    status: the HTTP status.
    headers: names in lower case.
    keeps_silence: `read` itself keeps the limit on silence; otherwise who reads does.
    """

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def keeps_silence(self) -> bool: ...

    async def read(self) -> bytes:
        """The next piece of the body; b"" at its end. Raises ReadFailed or DeadlineExceeded."""
        ...

    def interrupt(self) -> None:
        """Make a read that another task is waiting in end at once, with b"" or ReadFailed. Close the exchange then."""
        ...

    async def aclose(self) -> None:
        """Give the connection back if the body was read to its end, else close it."""
        ...


class Transport(Protocol):
    """Sends requests. Our own speaks HTTP through httpx; the test kit's answers from memory.

    For a way of your own give `Client(transport=...)` any object with these two methods. Time limits, retries and the
    reading of the answer are not its matter: a wait that takes too long is cancelled. It must not follow redirects.
    """

    async def send(self, request: HttpRequest, credentials: Mapping[str, str]) -> Exchange:
        """Send a request and give its answer as soon as the head of it has come.

        credentials: headers that are added to this request alone and never leave its host.
        Raises ConnectFailed, ReadFailed or DeadlineExceeded.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection that the transport made itself."""
        ...
