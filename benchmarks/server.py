"""A loopback server in its own process that streams prepared answers, one event per HTTP chunk, as fast as it is read.

`python benchmarks/server.py` prints its port. The path is `/<wire>/<deltas>/...`; whatever comes after is ignored.
"""

from __future__ import annotations

import asyncio

from wires import WIRES

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_answers: dict[tuple[str, int], list[bytes]] = {}


def chunks(wire: str, deltas: int) -> list[bytes]:
    """The answer as HTTP chunks."""
    if (wire, deltas) not in _answers:
        pieces = WIRES[wire][1](deltas)
        _answers[wire, deltas] = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces] + [b"0\r\n\r\n"]
    return _answers[wire, deltas]


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve the requests of one connection."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            _, wire, deltas = lines[0].split(" ")[1].split("/")[:3]
            for line in lines[1:]:
                name, _, value = line.partition(":")
                if name.lower() == "content-length":
                    await reader.readexactly(int(value))
            writer.write(HEAD)
            for chunk in chunks(wire, int(deltas)):
                writer.write(chunk)
                await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    """Listen on a free port until the process is ended."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
