"""An environment without credentials of any cloud, and a place on the loopback interface that gives some."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


def without_credentials(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Hide what this machine knows of clouds, and keep their libraries from asking metadata servers."""
    for variable in os.environ:
        if variable.startswith(("AWS_", "GOOGLE_", "GEMINI_", "CLOUDSDK_", "AZURE_")):
            monkeypatch.delenv(variable)
    for variable, name in (("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials")):
        monkeypatch.setenv(variable, str(folder / name))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(folder / "gcloud"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("HOME", str(folder))


class TokenPlace:
    """Answers every request with the next of its answers, the last one again and again.

    requests: (path, headers, body) of each request.
    before_answer: called in the place's own thread before each answer.
    """

    def __init__(self, url: str, answers: list[tuple[int, Any]]) -> None:
        self.url = url
        self.answers = answers
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.before_answer: Callable[[], object] = lambda: None


@contextmanager
def token_place(*answers: tuple[int, Any]) -> Iterator[TokenPlace]:
    """Run such a place in a thread of its own. An answer is a status and what its JSON says."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            place.requests.append((self.path, {name.lower(): text for name, text in self.headers.items()}, body))
            place.before_answer()
            status, said = place.answers[min(len(place.requests), len(place.answers)) - 1]
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        place = TokenPlace(f"http://127.0.0.1:{server.server_port}", list(answers))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield place
        finally:
            server.shutdown()
            thread.join()


class LoopIsAlive:
    """Proves that an event loop runs while something else blocks: the blocking side waits for the loop's turn.

    `wait` is called where a loop would be blocked, `tick` in the loop meanwhile. A blocked loop never ticks.
    """

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._ticked = threading.Event()
        self.seen = False

    def wait(self) -> None:
        """Wait, in another thread, until the loop has ticked."""
        self._reached.set()
        self.seen = self._ticked.wait(5)

    async def tick(self) -> None:
        """Tick once the other side waits."""
        import anyio

        while not self._reached.is_set():
            await anyio.lowlevel.checkpoint()
        self._ticked.set()
