"""A transport that answers from a script, in memory: real wire bytes, without a network."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import anyio
import anyio.lowlevel

from thinkaloud.errors import ReadFailed
from thinkaloud.testing.delivery import Ending, Step, Wait
from thinkaloud.testing.reply import NoAnswer
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.testing.scripted import Answer, Scripted
from thinkaloud.wire.http import HttpRequest


class MemoryTransport:
    """Implements Transport over a Scripted model, and counts what becomes of its answers.

    A body that is cut ends; one that is closed or reset raises ReadFailed; one that is stalled waits for ever.
    """

    def __init__(self, scripted: Scripted) -> None:
        self.open_answers = 0
        """Answers that were begun and are not closed yet."""
        self.left_early = 0
        """Answers that were closed before their end was read."""
        self.closed = False
        """The transport itself was closed."""
        self._scripted = scripted

    async def send(self, request: HttpRequest, credentials: Mapping[str, str]) -> MemoryExchange:
        """Answer a request from the script. Raises ReadFailed for NoAnswer, ScriptError for a fault of the script."""
        await anyio.lowlevel.checkpoint()
        recorded = RecordedRequest(
            method=request.method,
            url=request.url,
            headers=dict(request.headers),
            credentials={name.lower(): value for name, value in credentials.items()},
            body=request.body,
        )
        answer = self._scripted.answer(recorded)
        if isinstance(answer, NoAnswer):
            raise ReadFailed("the connection broke before the answer began")
        await carry_out(answer.delivery.head_wait())
        return MemoryExchange(answer, self)

    async def aclose(self) -> None:
        """Note that the transport was closed."""
        self.closed = True
        await anyio.lowlevel.checkpoint()


class MemoryExchange:
    """Implements Exchange over one scripted answer."""

    keeps_silence = False

    def __init__(self, answer: Answer, transport: MemoryTransport) -> None:
        self.status = answer.status
        self.headers: Mapping[str, str] = dict(answer.headers)
        self._steps: deque[Step] = deque(answer.delivery.steps(answer.events))
        self._closed = False
        self._reading = anyio.CancelScope()
        self._transport = transport
        transport.open_answers += 1

    async def read(self) -> bytes:
        """The next piece of the body; b"" at its end. Raises ReadFailed where the script breaks the connection."""
        await anyio.lowlevel.checkpoint()
        if self._closed:
            raise ReadFailed("the answer was closed")
        with anyio.CancelScope() as self._reading:
            return await self._next()
        raise ReadFailed("the read was interrupted")

    def interrupt(self) -> None:
        """End a read that waits."""
        self._reading.cancel()

    async def _next(self) -> bytes:
        while True:
            step = self._steps[0]
            if isinstance(step, Ending):
                return await _end(step)
            if isinstance(step, Wait):
                await carry_out(step)  # cancelled, it is taken up again by the next read
            self._steps.popleft()
            if isinstance(step, bytes):
                return step

    async def aclose(self) -> None:
        """Close the answer."""
        if not self._closed:
            self._closed = True
            self._transport.open_answers -= 1
            self._transport.left_early += self._steps[0] is not Ending.COMPLETE
        await anyio.lowlevel.checkpoint()


async def _end(ending: Ending) -> bytes:
    if ending is Ending.STALLED:
        await anyio.sleep_forever()
    if ending is not Ending.COMPLETE:
        raise ReadFailed(f"the connection was {ending.value} before the answer was whole")
    return b""


async def carry_out(wait: Wait) -> None:
    """Wait as a step says."""
    if wait.gate is not None:
        await wait.gate.wait()
    elif wait.seconds:
        await anyio.sleep(wait.seconds)
