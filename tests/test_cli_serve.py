"""`thinkaloud serve`: a scripted model for any client, until it is interrupted."""

from __future__ import annotations

import re
import signal
import socket

import pytest

import thinkaloud as ta
from support.program import read_until, started_program
from thinkaloud.cli import main
from thinkaloud.protocols.registry import PROTOCOL_IDS


def test_clients_of_every_protocol_read_the_same_answer_and_an_interrupt_ends_it() -> None:
    with started_program("serve", "--pace", "0") as process:
        said = read_until(process, b"Ctrl-C").decode()
        answers = []
        for protocol in PROTOCOL_IDS:
            found = re.search(rf"{protocol}: base URL (\S+)", said)
            assert found
            model = ta.Model("served-here", "ponder-1", protocol=protocol, base_url=found.group(1))
            answers.append(ta.complete_sync(model, "How long?"))
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (130, b"")
    address = said.splitlines()[0]
    assert address.startswith("http://127.0.0.1:")
    assert f"export ANTHROPIC_BASE_URL={address} ANTHROPIC_API_KEY=none\n" in said
    assert "Fourteen seconds" in answers[0].text
    assert {answer.text for answer in answers} == {answers[0].text}
    assert {answer.thinking for answer in answers} == {answers[0].thinking} != {""}
    assert all(answer.tool_calls[0].arguments == answers[0].tool_calls[0].arguments for answer in answers)


def test_with_verify_a_history_without_its_thinking_is_refused() -> None:
    with started_program("serve", "--pace", "0", "--verify") as process:
        found = re.search(r"anthropic-messages: base URL (\S+)", read_until(process, b"Ctrl-C").decode())
        assert found
        model = ta.Model("served-here", "ponder-1", protocol="anthropic-messages", base_url=found.group(1))
        answer = ta.complete_sync(model, "How long?")
        result = ta.ToolResult(answer.tool_calls[0].id, "ding")
        lone = ta.AssistantMessage(tuple(block for block in answer.content if not isinstance(block, ta.Thinking)))
        with pytest.raises(ta.InvalidRequest, match="must start with a thinking block"):
            ta.complete_sync(model, ["How long?", lone, result])
        assert ta.complete_sync(model, ["How long?", answer, result]).text.startswith("Did you count along?")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


def test_a_port_that_is_taken_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == 2
    shown = capsys.readouterr()
    assert shown.err == f"thinkaloud: port {port} cannot be used: Address already in use\n"
