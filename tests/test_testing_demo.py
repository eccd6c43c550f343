"""The demonstration: a script that reads well on every wire, and a server in a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import httpx
import pytest

from thinkaloud.content import Text, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage, StopReason
from thinkaloud.protocols.captured import parse
from thinkaloud.testing import demo_script
from thinkaloud.testing.demo import DEMO_PROMPT, demo_reply
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.testing.scripted import Answer

PATHS = {"anthropic-messages": "/v1/messages", "openai-chat": "/v1/chat/completions"}
RESULTS: dict[str, Any] = {
    "anthropic-messages": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_ring_1"}]},
    "openai-chat": {"role": "tool", "tool_call_id": "call_ring_1", "content": "ding"},
}


def request(protocol: str, message: Any) -> RecordedRequest:
    body = {"model": "m", "stream": True, "stream_options": {"include_usage": True}, "messages": [message]}
    return RecordedRequest(method="POST", url="http://x" + PATHS[protocol], body=json.dumps(body).encode())


def told(protocol: str, message: Any) -> AssistantMessage:
    answer = demo_script().answer(request(protocol, message))
    assert isinstance(answer, Answer)
    return parse(protocol, answer.events)


@pytest.mark.parametrize("protocol", PATHS)
def test_the_demonstration_thinks_answers_and_calls_a_tool(protocol: str) -> None:
    message = told(protocol, {"role": "user", "content": DEMO_PROMPT})
    assert [type(block) for block in message.content] == [Thinking, Text, ToolCall]
    assert message.stop_reason is StopReason.TOOL_USE
    assert message.tool_calls[0].arguments == {"strokes": 8, "seconds_between": 2.0}
    assert message.usage.reasoning == 86


@pytest.mark.parametrize("protocol", PATHS)
def test_the_demonstration_ends_once_the_tool_has_answered(protocol: str) -> None:
    message = told(protocol, RESULTS[protocol])
    assert message.stop_reason is StopReason.END
    assert message.text.startswith("Did you count along?")


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "call_ring_1"}}]}]},
        {"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "ring_bell"}}]}]},
        {"input": [{"type": "function_call_output", "call_id": "call_ring_1", "output": "ding"}]},
    ],
)
def test_the_answer_of_a_tool_is_seen_on_the_other_wires_too(body: Any) -> None:
    asked = RecordedRequest(method="POST", url="http://x/v1/messages", body=json.dumps(body).encode())
    assert [type(block) for block in demo_reply(asked).content] == [Text]


def test_the_demonstration_is_a_hundred_deltas_or_so() -> None:
    reply = demo_reply(request("anthropic-messages", {"role": "user", "content": DEMO_PROMPT}))
    texts = [block.text for block in reply.content if isinstance(block, Text | Thinking)]
    assert 60 <= sum(len(reply.pieces(text)) for text in texts) <= 120


def test_the_demonstration_answers_as_often_as_it_is_asked() -> None:
    script = demo_script()
    asked = request("anthropic-messages", {"role": "user", "content": DEMO_PROMPT})
    assert all(isinstance(script.answer(asked), Answer) for _ in range(3))


def test_the_module_serves_the_demonstration_in_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "thinkaloud.testing", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            response = httpx.post(f"{url}/v1/messages", verify=False, json={"stream": True, "messages": []})
            assert "event: message_stop" in response.text
        finally:
            process.terminate()


@pytest.mark.skipif(sys.platform == "win32", reason="interrupting another process is a matter of POSIX")
def test_the_module_ends_quietly_when_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "thinkaloud.testing"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, "")


def test_importing_the_kit_imports_no_pytest_and_no_http_client() -> None:
    program = (
        "import sys, thinkaloud.testing; print([m for m in ('pytest', 'httpx', 'httpx2', 'trio') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
