"""`thinkaloud check`: a stored conversation, its faults, and what a model would get of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import thinkaloud as ta
from support.program import standard_input
from thinkaloud.cli import main

ORIGIN = ta.Origin("gemini", "google", "gemini-3-pro")
CALL = ta.ToolCall("c1", name="look", arguments_json="{}", signature="c2ln")
ANSWER = ta.AssistantMessage([ta.Thinking("I look."), CALL], origin=ORIGIN, stop_reason=ta.StopReason.TOOL_USE)
SOUND = ta.Conversation(["hi", ANSWER, ta.ToolResult("c1", "found"), "and now?"])
BROKEN = ta.Conversation(["hi", ANSWER, "and now?"])


def stored(conversation: ta.Conversation, folder: Path) -> str:
    file = folder / "chat.json"
    file.write_text(conversation.to_json())
    return str(file)


def test_a_sound_conversation_has_no_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", stored(SOUND, tmp_path)]) == 0
    assert capsys.readouterr().out == "4 messages, no faults\n"


def test_each_fault_is_named_by_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", stored(BROKEN, tmp_path)]) == 1
    assert capsys.readouterr().out == (
        "fault       messages[1].content[1]  call_without_result: the call 'c1' of 'look' has no result; "
        "add ToolResult('c1', ...) after its message\n"
    )


def test_a_model_gets_what_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", stored(SOUND, tmp_path), "-m", "anthropic/claude-opus-5"]) == 0
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        "kept        messages[0].content[0]  user text",
        "omitted     messages[1].content[0]  assistant thinking",
        "kept        messages[1].content[1]  assistant call look",
        "kept        messages[2].content[0]  tool text",
        "kept        messages[3].content[0]  user text",
    ]


def test_foreign_thinking_can_be_shown_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = stored(SOUND, tmp_path)
    assert main(["check", file, "-m", "anthropic/claude-opus-5", "--foreign-thinking", "text"]) == 0
    assert "downgraded  messages[1].content[0]  assistant thinking: " in capsys.readouterr().out


def test_the_own_model_gets_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", stored(SOUND, tmp_path), "-m", "google/gemini-3-pro"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} == {"kept"}


def test_a_missing_result_can_be_made_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = stored(BROKEN, tmp_path)
    assert main(["check", file, "-m", "google/gemini-3-pro", "--orphans", "synthesize"]) == 0
    assert "note        messages[1]  assistant: the call 'c1' of 'look' has no result" in capsys.readouterr().out


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", standard_input(SOUND.to_json().encode()))
    assert main(["check", "-"]) == 0
    assert capsys.readouterr().out == "4 messages, no faults\n"


def test_damaged_json_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "chat.json"
    file.write_text('{"messages":[{"role":"user","content":[{"type":"text","text":7}]}]}')
    assert main(["check", str(file)]) == 1
    assert "messages[0].content[0].text: a string is wanted, not a number" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(tmp_path / "none.json")]) == 2
    assert "No such file" in capsys.readouterr().err
