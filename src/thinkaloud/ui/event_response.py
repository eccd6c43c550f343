"""The response of an ASGI application that streams an answer, with heartbeats, and ends with its client.

    async def chat(request):                      # Starlette takes any ASGI application as the response of an endpoint
        asked = vercel.read_request(await request.json(), store=store.of(user))
        return EventResponse(thinkaloud.stream(model, asked.conversation), asked.encoder())

It runs on asyncio and on trio, and depends on no framework.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

import anyio

from thinkaloud.checked import real_number
from thinkaloud.errors import WrongValue, shown
from thinkaloud.ui.arguments import encoder_of, source_of
from thinkaloud.ui.encoder import Encoder
from thinkaloud.ui.failures import is_for_the_log
from thinkaloud.ui.framing import KEEP_ALIVE
from thinkaloud.ui.source import EventSource

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


_LINE = re.compile(r"[^\x00\r\n\u0100-\U0010ffff]*")


class EventResponse:
    """Streams one answer to one client.

    source: a stream, not entered and not yet read.
    encoder: one encoder for this answer.
    heartbeat: seconds of silence after which a comment is sent, so that proxies keep the connection; the wait for the
        model is not disturbed.
    headers: more headers, such as those of CORS.

    A failure of the stream is told to the client in the protocol's own way. What is no error of ours is told so too,
    without a word of it, and then raised for the server's log. When the client leaves, the provider's connection is
    closed at once, and what had come of the answer is kept in the encoder's store. Raises WrongValue.
    """

    def __init__(
        self,
        source: EventSource,
        encoder: Encoder,
        *,
        heartbeat: float = 15.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        check_heartbeat(heartbeat)
        self._source: EventSource = source_of(source, "__aenter__")
        self._encoder: Encoder = encoder_of(encoder)
        self._heartbeat = heartbeat
        self._headers = {**encoder.headers, **_checked(headers)}

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""

        async def answer(send: Send) -> None:
            await send_head(send, 200, self._headers)
            try:
                await self._stream(send)
            finally:
                self._encoder.leave()

        await while_client_stays(answer, receive, send)

    async def _stream(self, send: Send) -> None:
        failure: Exception | None = None
        await send_body(send, self._encoder.opening())
        try:
            async with self._source as events:
                while True:
                    frames = [KEEP_ALIVE]
                    try:
                        with anyio.move_on_after(self._heartbeat):
                            frames = self._encoder.feed(await events.__anext__())
                    except StopAsyncIteration:
                        break
                    await send_body(send, frames)
            frames = self._encoder.finish()
        except ClientGone:
            raise
        except Exception as error:
            frames = self._encoder.fail(error)
            failure = error if is_for_the_log(error) else None
        await send_body(send, frames, more=False)
        if failure is not None:
            raise failure


def check_heartbeat(heartbeat: Any) -> None:
    """Raise WrongValue where it is no number of seconds."""
    real_number("heartbeat", heartbeat, "seconds")


def _checked(headers: Any) -> Mapping[str, str]:
    """Headers that an HTTP server can send, each on a line of its own. Raises WrongValue."""
    if not isinstance(headers, Mapping | None):
        raise WrongValue(f"headers must be a mapping of names and values, not {type(headers).__name__}")
    for name, value in (headers or {}).items():
        if not all(isinstance(text, str) and _LINE.fullmatch(text) for text in (name, value)):
            raise WrongValue(f"headers[{shown(name)}] must be Latin text on one line")
    return headers or {}


class ClientGone(Exception):
    """The server cannot send any more: nobody is there."""


async def send_head(send: Send, status: int, headers: Mapping[str, str]) -> None:
    """Send the status and the headers. Raises ClientGone."""
    encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await _send(send, {"type": "http.response.start", "status": status, "headers": encoded})


async def send_body(send: Send, frames: Iterable[bytes], *, more: bool = True) -> None:
    """Send a piece of the body; the last one without `more`. Raises ClientGone."""
    body = b"".join(frames)
    if body or not more:
        await _send(send, {"type": "http.response.body", "body": body, "more_body": more})


async def _send(send: Send, message: dict[str, Any]) -> None:
    try:
        await send(message)
    except OSError:
        raise ClientGone from None


_LAST_PIECE_SECONDS = 1.0


async def while_client_stays(answer: Callable[[Send], Awaitable[None]], receive: Receive, send: Send) -> None:
    """Run the answer, and cancel it when the client leaves. Its own error comes out plain, not in a group."""
    failure: Exception | None = None
    ending = False

    async def sending(message: MutableMapping[str, Any]) -> None:
        nonlocal ending
        ending = message["type"] == "http.response.body" and not message["more_body"]
        await send(message)

    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            if ending:
                # Hypercorn says so while it closes the connection; on trio, cancelled there, it never does (0.18).
                await anyio.sleep(_LAST_PIECE_SECONDS)
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        try:
            await answer(sending)
        except ClientGone:
            pass
        except Exception as error:
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
