"""`thinkaloud chat`: many turns on a terminal and on a pipe, with other levels and other models on the way."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from support.program import Terminal, at_a_terminal, clean_environment, run_program, standard_input
from thinkaloud import Conversation, StopReason, Text, Thinking
from thinkaloud.cli import main
from thinkaloud.errors import Overloaded
from thinkaloud.testing import Delivery, Failure, Reply, Scripted, Server, serve_in_thread

CLAUDE = "anthropic/claude-opus-5"
GPT = "openai/gpt-5.2"
SIGNATURE = "c2VhbGVkLW9uZQ=="
FIRST = Reply([Thinking.signed("Blue scatters more.", SIGNATURE), Text("Because of **scattering**.")])
SECOND = Reply([Text("Red is left over.")])


def environment(server: Server) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": server.base_url("anthropic-messages"),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": server.base_url("openai-responses"),
    }


Chatting = Callable[..., tuple[Terminal, Server]]


@pytest.fixture
def chatting() -> Iterator[Chatting]:
    """Start a chat on a terminal, before a model that verifies."""
    with ExitStack() as stack:

        def start(*replies: Any, options: tuple[str, ...] = ("-r", "high")) -> tuple[Terminal, Server]:
            server = stack.enter_context(serve_in_thread(Scripted(replies, verify_signatures=True)))
            arguments = ("chat", "-m", CLAUDE, *options)
            terminal = stack.enter_context(at_a_terminal(*arguments, environment=environment(server)))
            terminal.until("> ")
            return terminal, server

        yield start


def say(terminal: Terminal, text: str) -> str:
    """Type a line, and give the words that show until the next one can be typed."""
    return words(seen_after(terminal, text))


def seen_after(terminal: Terminal, text: str) -> str:
    """The same with all that steers the terminal."""
    terminal.type(f"{text}\n")
    terminal.until("\n")  # what the terminal echoes
    return terminal.until("\n> ")


def words(shown: str) -> str:
    """Without styles, and however the lines were broken."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", shown).split())


# on a terminal


def test_the_second_turn_gives_the_signature_back(chatting: Chatting) -> None:
    terminal, server = chatting(FIRST, SECOND)
    shown = say(terminal, "Why is the sky blue?")
    assert shown.index("Blue scatters more.") < shown.index("Because of")
    assert "thought for" in shown
    assert "Red is left over." in say(terminal, "And at sunset?")
    assert SIGNATURE in server.requests[1].body.decode()
    terminal.type("\x04")
    assert terminal.ended() == 0


def test_markdown_is_styled_and_never_taken_back(chatting: Chatting) -> None:
    terminal, _ = chatting(FIRST)
    shown = seen_after(terminal, "Why?")
    assert "**" not in shown
    assert re.search(r"\x1b\[1m *scattering\x1b\[0m", shown)
    for movement in ("\x1b[A", "\x1b[K", "\x1b[2K", "\x1b[J", "\x1b[H", "\x1b[1A", "\x1b[?1049h"):
        assert movement not in shown


def test_ctrl_c_keeps_what_came_and_the_chat_goes_on(chatting: Chatting, tmp_path: Path) -> None:
    stalling = Reply([Text("One two three four.")], delivery=Delivery(stall_after=600))
    terminal, server = chatting(stalling, SECOND)
    terminal.type("Count.\n")
    terminal.until("One")
    terminal.type("\x03")
    assert "stopped; what came of the answer is kept" in words(terminal.until("\n> "))
    assert "Red is left over." in say(terminal, "Go on.")
    [said] = server.requests[1].json["messages"]  # a block that was cut off is kept, and never sent
    assert [block["text"] for block in said["content"]] == ["Count.", "Go on."]
    say(terminal, f"/save {tmp_path}/chat.json")
    kept = Conversation.from_json((tmp_path / "chat.json").read_text()).messages[1]
    assert kept.stop_reason is StopReason.ABORTED  # type: ignore[union-attr]
    assert kept.text.startswith("One")  # type: ignore[union-attr]


def test_ctrl_c_before_anything_came_forgets_the_message(chatting: Chatting) -> None:
    terminal, server = chatting(Reply([Text("x")], delivery=Delivery(head=60.0)), SECOND)
    terminal.type("Count.\n")
    terminal.until("Count.")
    while not server.requests:
        os.sched_yield()
    terminal.type("\x03")
    assert "your message is not kept" in words(terminal.until("\n> "))
    say(terminal, "Again.")
    assert len(server.requests[1].json["messages"]) == 1


def test_ctrl_c_at_the_prompt_says_how_to_leave(chatting: Chatting) -> None:
    terminal, _ = chatting()
    terminal.type("half a li")
    terminal.until("half a li")
    terminal.press("\x03")
    assert "Ctrl-D or /quit leaves" in words(terminal.until("\n> "))
    terminal.type("/quit\n")
    assert terminal.ended() == 0


def test_another_level_is_sent_from_then_on(chatting: Chatting) -> None:
    terminal, server = chatting(FIRST, SECOND, SECOND)
    say(terminal, "One.")
    assert "level low" in say(terminal, "/level low")
    say(terminal, "Two.")
    assert "sent as low" in say(terminal, "/level minimal")
    assert "own level" in say(terminal, "/level default")
    say(terminal, "Three.")
    efforts = [request.json.get("output_config", {}).get("effort") for request in server.requests]
    assert efforts == ["high", "low", None]


def test_another_model_goes_on_with_notices_of_what_it_does_not_get(chatting: Chatting) -> None:
    terminal, server = chatting(FIRST, SECOND, SECOND)
    say(terminal, "Why is the sky blue?")
    assert GPT in say(terminal, f"/model {GPT}")
    shown = say(terminal, "And at sunset?")
    assert shown.count("note: left out: thinking verifies only where it was made") == 1
    assert SIGNATURE not in server.requests[1].body.decode()
    say(terminal, f"/model {CLAUDE}")
    say(terminal, "And at night?")
    assert SIGNATURE in server.requests[2].body.decode()


def test_a_saved_chat_goes_on_in_another_one(chatting: Chatting, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    terminal, _ = chatting(FIRST)
    say(terminal, "Why is the sky blue?")
    assert "saved 2 messages" in say(terminal, f"/save {file}")
    assert list(tmp_path.iterdir()) == [file]
    terminal, server = chatting(SECOND, options=("--load", str(file)))
    assert "loaded 2 messages, 1 of them answers" in terminal.shown
    say(terminal, "And at sunset?")
    assert SIGNATURE in server.requests[0].body.decode()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("/sing", "there is no command /sing"),
        ("/level huge", "there is no level 'huge'"),
        ("/model nobody/x", "provider 'nobody' is unknown"),
        ("/save /nowhere/at/all.json", "No such file or directory"),
        ("/save", "needs the name of a file"),
        ("/load /nowhere/at/all.json", "No such file or directory"),
        ("/load /dev/null", "CodecError"),
        ("/help", "Ctrl-C stops an answer"),
        ("/new", "a new conversation"),
        ("", ""),
    ],
)
def test_a_command_never_ends_the_chat(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, told: str
) -> None:
    """As on a terminal, without one."""
    from thinkaloud.cli.chat import Chat

    chat = _chat()
    monkeypatch.setattr(chat, "_is_terminal", True)
    assert isinstance(chat, Chat)
    before = chat.conversation
    chat.take(command)
    assert told in " ".join(capsys.readouterr().out.split())
    assert chat.conversation == before
    assert chat.model == CLAUDE


def _chat() -> Any:
    import argparse

    from thinkaloud.cli import chat

    parser = argparse.ArgumentParser()
    chat.add_arguments(parser)
    return chat.Chat(parser.parse_args(["-m", CLAUDE]))


def test_a_failure_is_told_and_the_chat_goes_on(chatting: Chatting) -> None:
    broken = Reply([Text("One two three.")], error=Failure(Overloaded, "too many"), error_after=4)
    terminal, server = chatting(broken, Failure(400, "no such thing"), SECOND)
    assert "Overloaded: too many" in (shown := say(terminal, "Count."))
    assert "what came of the answer is kept" in shown
    assert "InvalidRequest: no such thing" in say(terminal, "Again.")
    assert "Red is left over." in say(terminal, "And?")
    [said] = server.requests[2].json["messages"]
    assert [block["text"] for block in said["content"]] == ["Count.", "And?"]


def test_a_line_that_ends_in_a_backslash_goes_on(chatting: Chatting) -> None:
    terminal, server = chatting(SECOND)
    terminal.type("one\\\n")
    terminal.until("\n  ")
    say(terminal, "two")
    assert server.requests[0].json["messages"][0]["content"][0]["text"] == "one\ntwo"


def test_a_path_is_no_command(chatting: Chatting) -> None:
    terminal, server = chatting(SECOND)
    say(terminal, "/etc/hosts is what?")
    assert len(server.requests) == 1


def test_a_model_cannot_turn_the_terminals_text_around(chatting: Chatting) -> None:
    terminal, _ = chatting(Reply([Thinking("a\u202eb\x1b]0;title\x07"), Text("c\u202ed\u200be\x1b[2J")]))
    shown = seen_after(terminal, "Hi")
    for character in ("\u202e", "\u200b", "\x1b]", "\x07", "\x1b[2J"):
        assert character not in shown


# on a pipe


def test_on_a_pipe_every_line_is_a_message_and_answers_are_plain() -> None:
    with serve_in_thread(Scripted([FIRST, SECOND], verify_signatures=True)) as server:
        ended = run_program(
            "chat", "-m", CLAUDE, "-r", "high", input=b"Why?\n\nAnd at sunset?\n", environment=environment(server)
        )
    assert ended.stdout == b"Because of **scattering**.\nRed is left over.\n"
    assert b"Blue scatters more." in ended.stderr
    assert b"\x1b" not in ended.stdout + ended.stderr
    assert ended.returncode == 0
    assert SIGNATURE in json.dumps(server.requests[1].json)


def test_on_a_pipe_the_first_failure_ends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_in_thread([Failure(400, "no such thing"), SECOND]) as server:
        for name in set(os.environ) - set(clean_environment()):
            monkeypatch.delenv(name)
        for name, value in environment(server).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stdin", standard_input(b"One.\nTwo.\n"))
        assert main(["chat", "-m", CLAUDE]) == 1
    assert capsys.readouterr().err.startswith("thinkaloud: InvalidRequest: no such thing")
    assert len(server.requests) == 1


def test_on_a_pipe_a_wrong_command_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", standard_input(b"/sing\nTwo.\n"))
    assert main(["chat", "-m", CLAUDE]) == 2
    assert "there is no command /sing" in capsys.readouterr().err


def test_what_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", standard_input(b"\xff\n"))
    assert main(["chat", "-m", CLAUDE]) == 2
    assert "not UTF-8" in capsys.readouterr().err
