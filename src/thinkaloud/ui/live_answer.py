"""An answer that outlives its readers: a page that reloads, or loses its connection, reads on where it was.

    live = LiveAnswer(thinkaloud.stream(model, asked.conversation), sse.Encoder(ids=True, store=store))
    tasks.start_soon(live.run)                                     # a task group of the application, not of a request
    return live.response(request.headers.get("last-event-id"))     # for the first reader, and for everyone later

The run belongs to the server: a client that leaves does not end it, `stop()` does.
"""

from __future__ import annotations

import re
from typing import Any

import anyio

from thinkaloud.checked import whole_number
from thinkaloud.errors import StreamAborted, WrongValue
from thinkaloud.ui.arguments import encoder_of, source_of
from thinkaloud.ui.encoder import AnswerEncoder
from thinkaloud.ui.event_response import Receive, Send, check_heartbeat, send_body, send_head, while_client_stays
from thinkaloud.ui.failures import is_for_the_log
from thinkaloud.ui.framing import KEEP_ALIVE
from thinkaloud.ui.replay_log import ReplayLog
from thinkaloud.ui.source import EventSource
from thinkaloud.ui.sse import Encoder as SseEncoder


class LiveAnswer:
    """One answer, read by any number of clients, each from where it wants.

    source: a stream, not entered and not yet read.
    encoder: of any protocol. With `sse.Encoder(ids=True)` a reader goes on behind the event that it had last; a reader
        of the others, which have no such numbers, is sent the whole answer again under the same message id.
    limit: bytes of events that are kept. A reader of `sse` who needs forgotten ones gets a snapshot instead; others
        get status 204, as if nothing ran.

    It may be made anywhere, also outside of an event loop. Raises WrongValue.
    """

    def __init__(self, source: EventSource, encoder: AnswerEncoder, *, limit: int = 4 * 1024 * 1024) -> None:
        whole_number("limit", limit)
        self._source: EventSource = source_of(source, "__aenter__")
        self._encoder: AnswerEncoder = encoder_of(encoder)
        self._log = ReplayLog(limit=limit)
        self._opening = encoder.opening()
        self._news: anyio.Event | None = None  # for whoever waits for it
        self._scope: anyio.CancelScope | None = None  # of the run
        self._stopped = False
        self.over = False
        """The answer has ended, well or badly."""

    @property
    def message_id(self) -> str:
        """The id of the answer at the browser."""
        return self._encoder.message_id

    def stop(self) -> None:
        """End the answer now: the provider's connection is closed, and readers are told that it was stopped."""
        self._stopped = True
        if self._scope is not None:
            self._scope.cancel()

    async def run(self) -> None:
        """Read the stream to its end. Raises only what is no error of ours, after it has been told to the readers."""
        failure: Exception | None = None
        try:
            with anyio.CancelScope() as self._scope:
                if self._stopped:
                    self._scope.cancel()
                async with self._source as events:
                    async for event in events:
                        self._tell(self._encoder.feed(event))
                self._tell(self._encoder.finish())
            self._tell(self._encoder.fail(StreamAborted("the answer was stopped")))  # nothing after a finish
        except Exception as error:
            self._tell(self._encoder.fail(error))
            failure = error if is_for_the_log(error) else None
        finally:
            self._encoder.leave()
            self.over = True
            self._tell([])
        if failure is not None:
            raise failure

    def response(self, last_event_id: str | None = None, *, heartbeat: float = 15.0) -> LiveResponse:
        """An ASGI response for one reader, who had this event last; None: from the beginning."""
        return LiveResponse(self, last_event_id, heartbeat)

    def _tell(self, frames: list[bytes]) -> None:
        self._log.add(frames)
        if self._news is not None:
            self._news.set()
            self._news = None

    def _after(self, place: int) -> tuple[list[bytes], int] | None:
        """What a reader at this place is sent next, and its place then; None where it cannot be helped."""
        frames = self._log.after(place)
        if frames is not None:
            return frames, self._log.last
        if not isinstance(self._encoder, SseEncoder):
            return None
        ending = (self._log.after(self._log.last - 1) or []) if self.over else []
        return [*self._encoder.snapshot(self._log.last - len(ending)), *ending], self._log.last


_NUMBER = re.compile(r"[0-9]{1,15}")


class LiveResponse:
    """Streams a live answer to one client; see `LiveAnswer.response`."""

    def __init__(self, live: LiveAnswer, last_event_id: str | None, heartbeat: float) -> None:
        self._live = live
        if not isinstance(last_event_id, str | None):
            raise WrongValue(f"last_event_id must be a string, or None, not {type(last_event_id).__name__}")
        check_heartbeat(heartbeat)
        known = last_event_id is not None and _NUMBER.fullmatch(last_event_id)
        self._resumes = last_event_id is not None
        self._place = int(last_event_id) if known and last_event_id is not None else -1 if self._resumes else 0
        self._heartbeat = heartbeat

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer as an ASGI application."""

        await while_client_stays(self._answer, receive, send)

    async def _answer(self, send: Send) -> None:
        live = self._live
        following = live._after(self._place)
        if following is None or (live.over and self._resumes and not following[0]):
            await send_head(send, 204, {})  # a browser does not come back after it
            await send_body(send, [], more=False)
            return
        await send_head(send, 200, live._encoder.headers)
        await send_body(send, live._opening)
        while following is not None:
            frames, self._place = following
            await send_body(send, frames)
            if live.over and self._place == live._log.last:
                break
            if self._place == live._log.last:
                news = live._news = live._news or anyio.Event()
                with anyio.move_on_after(self._heartbeat):
                    await news.wait()
                if not news.is_set():
                    await send_body(send, [KEEP_ALIVE])
            following = live._after(self._place)
        await send_body(send, [], more=False)
