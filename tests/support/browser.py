"""A browser as an ASGI application sees one: it takes what is sent, and leaves when it wants."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

import anyio
import anyio.lowlevel


class Browser:
    """Calls an ASGI application and keeps what it answers."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.body = b""
        self.ended = False
        self.refuses = False
        """As a server does whose socket is gone: sending raises OSError, and nothing else tells."""
        self._asked = False
        self._left = anyio.Event()
        self._news = anyio.Event()

    async def visit(self, application: Any) -> None:
        """Ask, and read until the answer ends or the browser leaves."""
        await application({"type": "http"}, self._receive, self._send)

    def leave(self) -> None:
        """Close the connection."""
        self._left.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until what has come fulfils a condition."""
        with anyio.fail_after(45):
            while not condition():
                await self._news.wait()

    async def _receive(self) -> dict[str, Any]:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        if self.refuses:
            raise OSError("the socket is gone")
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message["body"]
            self.ended = not message["more_body"]
        news, self._news = self._news, anyio.Event()
        news.set()
        await anyio.lowlevel.checkpoint()
