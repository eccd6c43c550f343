"""Many browsers at one server process: what is lost, how late heartbeats are, and what is left when all have gone.

    python benchmarks/browsers.py [--browsers 200] [--trio]

The web server (uvicorn, or hypercorn on trio) is a process of its own. This one plays the model's provider, which
streams at a pace and falls silent in the middle, and the browsers, which are bare sockets. Half of them leave during a
second silence.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import time
from typing import Any

import thinkaloud as ta
from thinkaloud.testing import Delivery, Reply, Scripted, serve
from thinkaloud.ui import EventResponse, vercel

HEARTBEAT = 0.5
SILENCE = 3.0
PACE = 0.2
WORDS = [f"word{number} " for number in range(80)]
CONTENT = [ta.Thinking.signed("".join(WORDS[:40]).strip(), "c2ln"), ta.Text("".join(WORDS[40:]).strip())]


def web_app(provider: str) -> Any:
    """The application under test: every request starts an answer."""
    client = ta.Client(api_key="none", base_url=provider, retries=0)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"this application knows no {scope['type']}")
        response = EventResponse(client.stream("anthropic/bench", "hi"), vercel.Encoder(), heartbeat=HEARTBEAT)
        await response(scope, receive, send)

    return app


def run_web_server(descriptor: int, trio: bool) -> None:
    """Serve in this process until it is ended."""
    app = web_app(os.environ["PROVIDER"])
    if trio:
        import trio as trio_library
        from hypercorn.config import Config
        from hypercorn.trio import serve as serve_app

        config = Config()
        config.bind, config.loglevel = [f"fd://{descriptor}"], "ERROR"
        trio_library.run(serve_app, app, config)
    else:
        import uvicorn

        config_of_uvicorn = uvicorn.Config(app, log_level="error", lifespan="off", ws="none", backlog=2048)
        server = uvicorn.Server(config_of_uvicorn)
        asyncio.run(server.serve(sockets=[socket.socket(fileno=descriptor)]))


class Browser:
    """One connection, with the moments at which something came."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.beats: list[float] = []
        self.silent_since = 0.0
        self.writer: asyncio.StreamWriter | None = None

    async def visit(self, port: int) -> None:
        """Ask, and read to the end of the connection."""
        reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.writer.write(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        while piece := await reader.read(1 << 16):
            now = time.monotonic()
            if b": keep-alive" in piece and self.is_fed:
                self.beats.append(now - self.silent_since)
            self.silent_since = now
            self.body += piece
            if self.body.endswith(b"\r\n0\r\n\r\n"):  # the last chunk; some servers keep the connection
                break
        self.writer.close()

    def leave(self) -> None:
        """Close the connection at once."""
        if self.writer is not None:
            self.writer.transport.abort()

    @property
    def is_fed(self) -> bool:
        """Events have come: before, all browsers were connecting at once."""
        return b"reasoning-delta" in self.body

    @property
    def is_whole(self) -> bool:
        """Every word came, in order."""
        places = [self.body.find(word.strip().encode()) for word in WORDS]
        return -1 not in places and places == sorted(places) and b"data: [DONE]" in self.body


async def main(browsers: int, trio: bool) -> None:
    """Measure and print."""
    gates = {20: asyncio.Event(), 60: asyncio.Event()}
    script = Scripted([Reply(CONTENT, delivery=Delivery(pace=PACE, gates=gates))], repeat_last=True)  # type: ignore[arg-type]
    async with serve(script) as provider:
        with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
            port, descriptor = listener.getsockname()[1], listener.fileno()
            command = [sys.executable, __file__, "--serve", str(descriptor), *(["--trio"] if trio else [])]
            environment = {**os.environ, "PROVIDER": provider.base_url("anthropic-messages")}
            web = subprocess.Popen(command, pass_fds=[descriptor], env=environment)  # noqa: ASYNC220  it returns at once
            try:
                await _measure(provider, port, browsers, gates)
            finally:
                web.terminate()
                web.wait()


async def _measure(provider: Any, port: int, browsers: int, gates: dict[int, asyncio.Event]) -> None:
    everyone = [Browser() for _ in range(browsers)]
    leaving = everyone[::2]
    visits = [asyncio.create_task(browser.visit(port)) for browser in everyone]
    await provider.until(lambda: provider.open_connections == browsers)
    print(f"browsers                       {browsers}, each with a provider connection of its own")
    await asyncio.sleep(25 * PACE + SILENCE)
    gates[20].set()
    await asyncio.sleep(45 * PACE + SILENCE)
    for browser in leaving:
        browser.leave()
    left_at = time.monotonic()
    await provider.until(lambda: provider.closed_by_client == len(leaving))
    seconds = time.monotonic() - left_at
    print(f"half of them left              all their provider connections were closed {seconds:.2f} s later")
    gates[60].set()
    await asyncio.gather(*visits, return_exceptions=True)
    stayed = [browser for browser in everyone if browser not in leaving]
    whole = sum(browser.is_whole for browser in stayed)
    beats = sorted(beat for browser in everyone for beat in browser.beats)
    print(f"whole answers                  {whole} of {len(stayed)}")
    print(f"heartbeats                     {len(beats)}, due after {HEARTBEAT} s of silence")
    if beats:
        late = [statistics.median(beats), beats[int(len(beats) * 0.99)], beats[-1]]
        print("  came after                   median {:.3f}, 99 % {:.3f}, last {:.3f} s".format(*late))
    in_answers = provider.closed_by_client - len(leaving)
    print(f"answers cut without a leaver   {in_answers}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browsers", type=int, default=200)
    parser.add_argument("--trio", action="store_true", help="hypercorn on trio in place of uvicorn on asyncio")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        run_web_server(given.serve, given.trio)
    else:
        asyncio.run(main(given.browsers, given.trio))
