"""`thinkaloud replay`: a captured answer as events or as a message, whatever way it ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from support.program import run_program, standard_input
from thinkaloud import Thinking, codec, parse
from thinkaloud.cli import main
from thinkaloud.testing import Reply, encode_stream

MESSAGES = b"""\
event: message_start
data: {"type":"message_start","message":{"id":"m7","model":"claude-x","content":[],"usage":{"input_tokens":12}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Seven gaps."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Z2Fwcw=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Fourteen \\ud83d\\udd14"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}

event: message_stop
data: {"type":"message_stop"}

"""

CHAT = b"""\
data: {"id":"c7","model":"deep-x","choices":[{"delta":{"reasoning_content":"Seven gaps."},"finish_reason":null}]}

data: {"id":"c7","model":"deep-x","choices":[{"delta":{"content":"Fourteen."},"finish_reason":null}]}

data: {"id":"c7","model":"deep-x","choices":[{"delta":{},"finish_reason":"stop"}]}

data: [DONE]

"""

RESPONSES = b"""\
data: {"type":"response.created","response":{"id":"r7","model":"gpt-x","status":"in_progress","output":[]}}

data: {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs1","summary":[]}}

data: {"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"Seven gaps."}

data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs1","summary":\
[{"type":"summary_text","text":"Seven gaps."}],"encrypted_content":"Z2Fwcw=="}}

data: {"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"m1","content":[]}}

data: {"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Fourteen."}

data: {"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"m1","role":"assistant",\
"content":[{"type":"output_text","text":"Fourteen.","annotations":[]}]}}

data: {"type":"response.completed","response":{"id":"r7","model":"gpt-x","status":"completed"}}

"""

GEMINI = b"""\
data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Seven gaps.","thought":true}]}}],"responseId":"g7"}

data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Fourteen."}]},"finishReason":"STOP"}]}

"""

BODIES = {"anthropic-messages": MESSAGES, "openai-chat": CHAT, "openai-responses": RESPONSES, "gemini": GEMINI}


def _replayed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[Any]:
    assert main(["replay", *arguments]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return [json.loads(line) for line in shown.out.splitlines()]


@pytest.fixture(params=BODIES)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def captured(tmp_path: Path, protocol: str) -> str:
    file = tmp_path / "answer.sse"
    file.write_bytes(BODIES[protocol])
    return str(file)


def test_events_come_one_a_line(capsys: pytest.CaptureFixture[str], protocol: str, captured: str) -> None:
    events = _replayed(capsys, captured, "--protocol", protocol)
    types = [event["type"] for event in events]
    assert types[0] == "stream_start"
    assert types[-1] == "stream_end"
    assert types.index("thinking_delta") < types.index("text_delta")


def test_events_are_what_is_printed_when_nothing_is_said(
    capsys: pytest.CaptureFixture[str], protocol: str, captured: str
) -> None:
    assert _replayed(capsys, captured, "--protocol", protocol) == _replayed(
        capsys, captured, "--protocol", protocol, "--events"
    )


def test_the_message_comes_as_json(capsys: pytest.CaptureFixture[str], protocol: str, captured: str) -> None:
    [message] = _replayed(capsys, captured, "--protocol", protocol, "--message")
    assert message["role"] == "assistant"
    assert [block["type"] for block in message["content"]] == ["thinking", "text"]
    assert message["content"][0]["text"] == "Seven gaps."
    assert message["content"][1]["text"].startswith("Fourteen")


def test_the_message_loads_as_the_one_that_was_parsed(
    capsys: pytest.CaptureFixture[str], protocol: str, captured: str
) -> None:
    assert main(["replay", captured, "--protocol", protocol, "--message"]) == 0
    assert codec.loads(capsys.readouterr().out) == parse(protocol, [BODIES[protocol]])


def test_the_frames_of_bedrock_are_read_as_bytes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answer.bin"
    file.write_bytes(b"".join(encode_stream("bedrock-converse", Reply([Thinking("Seven gaps."), "Fourteen."]))))
    [message] = _replayed(capsys, str(file), "--protocol", "bedrock-converse", "--message")
    assert [block["text"] for block in message["content"]] == ["Seven gaps.", "Fourteen."]


def test_the_signature_is_printed_as_it_came(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answer.sse"
    file.write_bytes(MESSAGES)
    [message] = _replayed(capsys, str(file), "--protocol", "anthropic-messages", "--message")
    assert message["content"][0]["signature"] == "Z2Fwcw=="


def test_a_process_reads_the_answer_from_its_standard_input() -> None:
    shown = run_program("replay", "-", "--protocol", "anthropic-messages", "--message", input=MESSAGES)
    assert json.loads(shown.stdout)["content"][1]["text"] == "Fourteen \N{BELL}"
    assert (shown.returncode, shown.stderr) == (0, b"")


def test_a_whole_body_is_read_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'{"id":"c7","model":"m","choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}'
    monkeypatch.setattr(sys, "stdin", standard_input(body))
    [message] = _replayed(capsys, "-", "--protocol", "openai-chat", "--message")
    assert message["content"][0]["text"] == "Hi"


def test_the_provider_decides_how_think_tags_are_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'data: {"choices":[{"delta":{"content":"<think>Hm.</think>Hi"},"finish_reason":"stop"}]}\n\n'
    kinds = []
    for provider in ("openai", "perplexity"):
        monkeypatch.setattr(sys, "stdin", standard_input(body))
        [message] = _replayed(capsys, "-", "--protocol", "openai-chat", "--provider", provider, "--message")
        kinds.append([block["type"] for block in message["content"]])
    assert kinds == [["text"], ["thinking", "text"]]


# failures


def test_of_a_cut_answer_the_partial_message_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str
) -> None:
    body = BODIES[protocol]
    file = tmp_path / "cut.sse"
    file.write_bytes(body[: body.index(b"Fourteen") + 4])
    assert main(["replay", str(file), "--protocol", protocol, "--message"]) == 1
    shown = capsys.readouterr()
    assert [block["text"] for block in json.loads(shown.out)["content"] if block["text"]] == ["Seven gaps."]
    assert shown.err.startswith("thinkaloud: TruncatedStream: ")
    assert shown.err.count("\n") == 1


def test_of_a_cut_answer_the_events_before_the_cut_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], protocol: str
) -> None:
    body = BODIES[protocol]
    file = tmp_path / "cut.sse"
    file.write_bytes(body[: body.index(b"Fourteen") + 4])
    assert main(["replay", str(file), "--protocol", protocol]) == 1
    shown = capsys.readouterr()
    types = [json.loads(line)["type"] for line in shown.out.splitlines()]
    assert "thinking_end" in types
    assert "stream_end" not in types
    assert shown.err.startswith("thinkaloud: TruncatedStream: ")


def test_the_body_of_an_http_error_gives_its_typed_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'{"type":"error","error":{"type":"rate_limit_error","message":"Too many requests"}}'
    monkeypatch.setattr(sys, "stdin", standard_input(body))
    assert main(["replay", "-", "--protocol", "anthropic-messages", "--status", "429"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("thinkaloud: RateLimited: Too many requests")


@pytest.mark.parametrize("name", ["nowhere.sse", "."])
def test_a_file_that_cannot_be_read_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = str(tmp_path / name)
    assert main(["replay", path, "--protocol", "openai-chat"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"thinkaloud: {path.removesuffix('/.')}")
    assert shown.count("\n") == 1


def test_an_unknown_provider_is_told_and_the_answer_still_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", standard_input(CHAT))
    assert main(["replay", "-", "--protocol", "openai-chat", "--provider", "home-made", "--message"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["content"][1]["text"] == "Fourteen."
    assert shown.err.startswith("note: provider 'home-made' is unknown")
