"""A loopback server in its own process that streams one event per interval to each of many connections at once.

Each delta says its number and the moment at which it was sent, on the clock that all processes of a machine share, so
that a client can tell what was lost, reordered or late. The deltas begin when all streams of a round are open, each
stream at its own moment of the interval, so that opening them is no part of what is measured.
`python benchmarks/paced_server.py` prints its port. The path is `/<streams>/<deltas>/<milliseconds>/...`; whatever
comes after is ignored.
"""

from __future__ import annotations

import asyncio
import json
import time

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _chunk(**event: object) -> bytes:
    data = f"event: {event['type']}\ndata: {json.dumps(event, separators=(',', ':'))}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(data), data)


BEGIN = _chunk(
    type="message_start",
    message={"id": "msg_1", "type": "message", "role": "assistant", "model": "bench", "content": [],
             "stop_reason": None, "usage": {"input_tokens": 9, "output_tokens": 1}},
) + _chunk(type="content_block_start", index=0, content_block={"type": "text", "text": ""})  # fmt: skip
END = (
    _chunk(type="content_block_stop", index=0)
    + _chunk(type="message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 9})
    + _chunk(type="message_stop")
    + b"0\r\n\r\n"
)


class Round:
    """Streams that begin together, once all of them are open and the client has had time to read that."""

    def __init__(self, streams: int) -> None:
        self.streams = streams
        self.open = 0
        self.begun = asyncio.Event()
        self.start = 0.0

    async def place(self) -> float:
        """Wait for the other streams; give the share of an interval by which this one begins later."""
        mine = self.open
        self.open += 1
        if self.open == self.streams:
            self.start = asyncio.get_running_loop().time() + 0.2 + self.streams / 100
            self.begun.set()
        await self.begun.wait()
        return mine / self.streams


rounds: dict[int, Round] = {}


def current_round(streams: int) -> Round:
    """The round that has room for one more stream."""
    found = rounds.get(streams)
    if found is None or found.open == streams:
        found = rounds[streams] = Round(streams)
    return found


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve the requests of one connection."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            streams, deltas, milliseconds = (int(part) for part in head.split(" ")[1].split("/")[1:4])
            await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
            writer.write(HEAD + BEGIN)
            loop = asyncio.get_running_loop()
            mine = current_round(streams)
            later = await mine.place()
            due = mine.start + later * milliseconds / 1000
            for number in range(deltas):
                due += milliseconds / 1000
                await asyncio.sleep(due - loop.time())
                text = f"{number} {time.monotonic_ns()} "
                writer.write(_chunk(type="content_block_delta", index=0, delta={"type": "text_delta", "text": text}))
            writer.write(END)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    """Listen on a free port until the process is ended."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 20, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
