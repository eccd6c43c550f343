"""Events to the bytes of web protocols and back, and the real front-end clients in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.messages import AssistantMessage, ToolResult
from thinkaloud.ui import agui, sse, vercel
from thinkaloud.ui.encoder import AnswerEncoder

CLIENTS = Path(__file__).parent.parent / "ui_clients"


def _missing() -> str | None:
    if shutil.which("node") is None:
        return "node is not installed"
    if not (CLIENTS / "node_modules").exists():
        return f"the clients are not installed: run `npm ci` in {CLIENTS.parent.name}/{CLIENTS.name}"
    return None


needs_clients = pytest.mark.skipif(_missing() is not None, reason=_missing() or "")


def client(script: str, library: str, streams: Sequence[Mapping[str, Any]], folder: Path) -> Any:
    """Let a real client read streams, all in one process, and give what it made of them."""
    path = folder / f"{script}.json"
    path.write_text(json.dumps(streams), encoding="ascii")
    command = ["node", f"{script}.mjs", str(path), library]
    run = subprocess.run(command, cwd=CLIENTS, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def told(encoder: AnswerEncoder, events: Iterable[Any], error: BaseException | None = None) -> bytes:
    """The whole body of an answer: its events, and its end or its failure."""
    body = encoder.opening()
    for event in events:
        body += encoder.feed(event)
    body += encoder.finish() if error is None else encoder.fail(error)
    return b"".join(body)


def chunks(body: bytes | Iterable[bytes]) -> list[dict[str, Any]]:
    """The JSON of each event of a body, without comments and the end marker."""
    body = body if isinstance(body, bytes) else b"".join(body)
    assert b"\r" not in body
    assert body.endswith(b"\n\n") or not body
    lines = (line for frame in body.split(b"\n\n") for line in frame.split(b"\n"))
    data = [line.removeprefix(b"data: ") for line in lines if line.startswith(b"data: ")]
    return [json.loads(each) for each in data if each != b"[DONE]"]


def named_events(body: bytes | Iterable[bytes]) -> list[tuple[str, dict[str, Any]]]:
    """The name and the JSON of each event of our own protocol."""
    body = body if isinstance(body, bytes) else b"".join(body)
    found = []
    for frame in body.split(b"\n\n"):
        fields = dict(line.split(b": ", 1) for line in frame.split(b"\n") if b": " in line)
        if b"event" in fields:
            found.append((fields[b"event"].decode(), json.loads(fields[b"data"])))
    return found


def types(body: bytes | Iterable[bytes]) -> list[str]:
    """The type of each event of a body."""
    return [chunk["type"] for chunk in chunks(body)]


ORIGIN = ta.Origin("anthropic-messages", "anthropic", "claude-opus-5")

THOUGHT = ta.Thinking.signed("Two and two.", "c2lnbmF0dXJlLW9mLXRob3VnaHQ=")
CALL = ta.ToolCall("call_1", name="add", arguments_json='{"a": 2, "b": 2}')
RESULT = ta.ToolResult("call_1", "4", name="add")

FIRST = AssistantMessage(
    (THOUGHT, ta.Text("Let me add."), CALL),
    origin=ORIGIN,
    stop_reason=ta.StopReason.TOOL_USE,
    usage=ta.Usage(input=10, output=20, reasoning=5),
)
SECOND = AssistantMessage(
    (ta.Thinking("", signature="d2l0aGhlbGQ="), ta.Text("It is 4.")),
    origin=ORIGIN,
    stop_reason=ta.StopReason.END,
    usage=ta.Usage(input=40, output=8),
)


def run_events(*messages: AssistantMessage | ToolResult) -> list[Any]:
    """The events of a tool loop: those of each message, and the results between them."""
    events: list[Any] = []
    for message in messages:
        events += [message] if isinstance(message, ToolResult) else ta.replay_events(message)
    return events


ENCODERS: dict[str, Callable[..., AnswerEncoder]] = {
    "vercel": partial(vercel.Encoder, message_id="M"),
    "agui": partial(agui.Encoder, message_id="M", thread_id="t", run_id="r"),
    "sse": partial(sse.Encoder, message_id="M"),
}
"""A fresh encoder of each protocol, with ids that are always the same."""
