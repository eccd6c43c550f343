"""The bytes of an answer for frameworks that take an async iterator of them, such as Starlette's StreamingResponse.

    encoder = vercel.Encoder()
    return StreamingResponse(ByteStream(thinkaloud.stream(model, messages), encoder), headers=encoder.headers)

It reads the bare form of a stream, so it holds no task and may be abandoned anywhere. It sends no heartbeats:
`EventResponse` does.
"""

from __future__ import annotations

from collections import deque
from typing import Self

from thinkaloud.ui.arguments import encoder_of, source_of
from thinkaloud.ui.encoder import Encoder
from thinkaloud.ui.failures import is_for_the_log
from thinkaloud.ui.source import BareSource


class ByteStream:
    """Iterates over the bytes of an answer. A failure is told in them; what is no error of ours is raised as well.

    source: a stream, not entered and not yet read.
    encoder: one encoder for this answer.

    Raises WrongValue.
    """

    def __init__(self, source: BareSource, encoder: Encoder) -> None:
        self._source: BareSource = source_of(source, "__anext__")
        self._encoder: Encoder = encoder_of(encoder)
        self._ready = deque(encoder.opening())
        self._over = False
        self._error: BaseException | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._ready:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self._over:
                raise StopAsyncIteration
            await self._read()
        return self._ready.popleft()

    async def aclose(self) -> None:
        """End the answer early: its connection is closed, and what had come of it is kept. Safe in any state."""
        self._over = True
        self._ready.clear()
        self._encoder.leave()
        await self._source.aclose()

    async def _read(self) -> None:
        try:
            self._ready += self._encoder.feed(await self._source.__anext__())
        except StopAsyncIteration:
            self._over = True
            self._ready += self._encoder.finish()
        except Exception as error:
            self._over = True
            self._ready += self._encoder.fail(error)
            self._error = error if is_for_the_log(error) else None
        except BaseException:  # cancelled: the stream has ended itself
            self._over = True
            self._encoder.leave()
            raise
