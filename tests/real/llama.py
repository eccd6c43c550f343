"""llama.cpp's server as a process of its own: what it is started with, and what it tells of itself."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

# A turn of the assistant always begins with thinking, so that a model which never learnt to think does.
TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message['role'] }}
{% if message.reasoning_content is defined and message.reasoning_content -%}
<think>
{{ message.reasoning_content }}
</think>

{% endif -%}
{{ message['content'] }}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
<think>
{% endif -%}
"""
THINKING_TOKENS = 24
_SECONDS_TO_LOAD = 120


class Llama:
    """A running llama-server.

    url: "http://127.0.0.1:PORT".
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def ready(self) -> bool:
        """Whether the model is loaded."""
        try:
            with urlopen(f"{self.url}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def slots(self) -> list[dict[str, Any]]:
        """What each of the server's slots does now; `is_processing` while it generates."""
        with urlopen(f"{self.url}/slots", timeout=30) as answer:
            slots: list[dict[str, Any]] = json.load(answer)
        return slots


@contextmanager
def running_llama(program: str, weights: str, folder: Path, *more: str) -> Iterator[Llama]:
    """Run the server, with its files in `folder` and more arguments of its own.

    Raises RuntimeError, with the end of its log, if it does not run.
    """
    template = folder / "thinking.jinja"
    template.write_text(TEMPLATE)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [program, "--model", weights, "--host", "127.0.0.1", "--port", str(port)]
    command += ["--jinja", "--chat-template-file", str(template), "--slots", "--parallel", "2", "--ctx-size", "8192"]
    command += ["--reasoning-format", "deepseek", "--reasoning-budget", str(THINKING_TOKENS), "--threads", "1", *more]
    log = folder / "llama.log"
    with log.open("wb") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
        try:
            server = Llama(f"http://127.0.0.1:{port}")
            _wait_until_ready(server, process, log)
            yield server
        finally:
            process.kill()


def _wait_until_ready(server: Llama, process: subprocess.Popen[bytes], log: Path) -> None:
    given_up = time.monotonic() + _SECONDS_TO_LOAD
    while not server.ready():
        if process.poll() is not None or time.monotonic() > given_up:
            raise RuntimeError(f"llama-server does not run:\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.1)
