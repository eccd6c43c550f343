"""A real HTTP server on the loopback interface whose model answers from a script."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Literal

import anyio
import anyio.from_thread
import h11

from thinkaloud.testing.connection import ClientGone, Connection
from thinkaloud.testing.delivery import Ending
from thinkaloud.testing.memory import carry_out
from thinkaloud.testing.reply import NoAnswer, ScriptError
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.testing.scripted import Answer, Script, Scripted
from thinkaloud.testing.wires import encoder_of

_BACKLOG = 1024


class Server:
    """A running server, as `serve()` gives it. Its counts may be read from any thread.

    url: "http://127.0.0.1:PORT", without a slash at the end.
    scripted: the model that answers.
    """

    def __init__(self, scripted: Scripted, url: str) -> None:
        self.url = url
        self.scripted = scripted
        self.connections = 0
        """Connections that were ever made: fewer than requests where they are kept alive."""
        self.open_connections = 0
        """Connections that are open now."""
        self.closed_by_client = 0
        """Answers that the client left before they were whole."""
        self._changed = anyio.Event()

    @property
    def requests(self) -> list[RecordedRequest]:
        """Every request that came, in order."""
        return self.scripted.requests

    def base_url(self, protocol: str) -> str:
        """The base URL that a client of this protocol is given. Raises ScriptError for a protocol not served here."""
        return self.url + encoder_of(protocol).base_path

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition on the counts holds, in the server's own event loop.

        await server.until(lambda: server.closed_by_client == 1)
        """
        while not condition():
            await self._changed.wait()

    async def _accept(self, listener: socket.socket) -> None:
        async with anyio.create_task_group() as tasks:
            while True:
                await anyio.wait_readable(listener)
                try:
                    sock, _ = listener.accept()
                except (BlockingIOError, ConnectionError):
                    continue
                tasks.start_soon(self._converse, Connection(sock))

    async def _converse(self, connection: Connection) -> None:
        self._note(connections=1, open_connections=1)
        try:
            while (request := await connection.receive()) is not None:
                if not await self._answer(connection, request):
                    break
        except (ClientGone, h11.RemoteProtocolError):
            pass
        finally:
            connection.close()
            self._note(open_connections=-1)

    async def _answer(self, connection: Connection, request: RecordedRequest) -> bool:
        """Answer a request; False if the connection is over."""
        try:
            answer = self.scripted.answer(request)
        except ScriptError as error:
            answer = self.scripted.refusal(request, error)
        self._note()
        if isinstance(answer, NoAnswer):
            connection.reset()
            return False
        ending: Ending | None = None
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                await connection.client_leaves()
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            with suppress(ClientGone):
                ending = await _deliver(connection, answer)
            tasks.cancel_scope.cancel()
        if ending is None:
            self._note(closed_by_client=1)
            return False
        if ending is Ending.RESET:
            connection.reset()
        return ending is Ending.COMPLETE and connection.next_cycle()

    def _note(self, *, connections: int = 0, open_connections: int = 0, closed_by_client: int = 0) -> None:
        self.connections += connections
        self.open_connections += open_connections
        self.closed_by_client += closed_by_client
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


async def _deliver(connection: Connection, answer: Answer) -> Ending:
    """Send an answer as its delivery plans it. Raises ClientGone."""
    delivery = answer.delivery
    await carry_out(delivery.head_wait())
    length = {} if answer.streamed else {"content-length": str(delivery.length(answer.events))}
    await connection.send_head(answer.status, {**answer.headers, **length})
    steps = list(delivery.steps(answer.events))
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if isinstance(step, bytes):
            await connection.send_piece(step, last=following is Ending.COMPLETE)
        elif isinstance(step, Ending):
            if step is Ending.COMPLETE:
                await connection.send_end()
            elif step is Ending.STALLED:
                await anyio.sleep_forever()
            return step
        else:
            await carry_out(step)
    raise AssertionError("a delivery has an ending")


def scripted_model(scripted: Scripted | Script, *, verify_signatures: bool) -> Scripted:
    """The model that a script means. Raises TypeError where a Scripted model is to be what it is not."""
    if not isinstance(scripted, Scripted):
        return Scripted(scripted, verify_signatures=verify_signatures)
    if verify_signatures and not scripted.verifies_signatures:
        raise TypeError("this Scripted model does not verify; give Scripted(..., verify_signatures=True)")
    return scripted


@asynccontextmanager
async def serve(
    scripted: Scripted | Script, *, host: str = "127.0.0.1", port: int = 0, verify_signatures: bool = False
) -> AsyncIterator[Server]:
    """Run a server that answers from a script, for as long as the context lasts; on asyncio and on trio.

        async with serve(["Hello"]) as server:
            client = AsyncAnthropic(api_key="none", base_url=server.base_url("anthropic-messages"))

    scripted: a Scripted model, or the list of replies of one.
    port: 0 takes a free one.
    verify_signatures: as in Scripted, for a list of replies; a Scripted model says it itself.

    The path of a request decides its protocol. A fault in the script is told to the client as status 400. On leaving,
    every connection is closed and no task is left.
    """
    model = scripted_model(scripted, verify_signatures=verify_signatures)
    failure: Exception | None = None
    with socket.create_server((host, port), backlog=_BACKLOG) as listener:
        listener.setblocking(False)
        server = Server(model, f"http://{host}:{listener.getsockname()[1]}")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server._accept, listener)
            try:
                yield server
            except Exception as error:  # raised again below: here the task group would wrap it
                failure = error
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


@contextmanager
def serve_in_thread(
    scripted: Scripted | Script,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    backend: Literal["asyncio", "trio"] = "asyncio",
    verify_signatures: bool = False,
) -> Iterator[Server]:
    """Run the same server in a thread of its own, for clients that are not async.

    Gates of a delivery are opened in the server's event loop, so they are for `serve()`.
    """
    with (
        anyio.from_thread.start_blocking_portal(backend) as portal,
        portal.wrap_async_context_manager(
            serve(scripted, host=host, port=port, verify_signatures=verify_signatures)
        ) as server,
    ):
        yield server
