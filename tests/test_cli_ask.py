"""`thinkaloud ask`: the answer on standard output, the thinking on standard error, failures in one line."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from support.program import PROGRAM, clean_environment, on_a_terminal, standard_input
from thinkaloud import StopReason, Text, Thinking, ToolCall, codec
from thinkaloud.cli import main
from thinkaloud.errors import AuthenticationError, InvalidRequest, RateLimited
from thinkaloud.testing import Delivery, Failure, Reply, Server, no_backoff, serve_in_thread

ANSWER = Reply([Thinking.signed("Blue light scatters more.", "c2lnbmVk"), Text("Rayleigh scattering.")])
KEY = "key-for-tests-0123456789"

Serve = Callable[..., Server]


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Serve a script, and point the environment of both providers at it."""
    for name in set(os.environ) - set(clean_environment()):
        monkeypatch.delenv(name)
    with ExitStack() as stack:

        def serve(*script: object) -> Server:
            server = stack.enter_context(serve_in_thread(list(script)))  # type: ignore[arg-type]
            monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url("anthropic-messages"))
            monkeypatch.setenv("OPENAI_API_KEY", KEY)
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url("openai-chat"))
            return server

        yield serve


@pytest.mark.parametrize("model", ["anthropic/claude-x", "openai/o-x"])
def test_the_answer_goes_to_stdout_and_the_thinking_to_stderr(
    serving: Serve, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    serving(Reply([Thinking("Blue light scatters more."), Text("Rayleigh scattering.")]))
    assert main(["ask", "-m", model, "Why", "is the sky blue?"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "Rayleigh scattering.\n"
    assert shown.err.startswith("Blue light scatters more.\nthought for ")


def test_the_summary_tells_the_tokens(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving(ANSWER)
    main(["ask", "-m", "anthropic/claude-x", "Why?"])
    assert capsys.readouterr().err.endswith("s · 10 tokens in · 6 tokens out, 4 of them thinking\n")


def test_without_thinking_stderr_stays_empty(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving(ANSWER)
    assert main(["ask", "-m", "anthropic/claude-x", "--no-thinking", "Why?"]) == 0
    assert capsys.readouterr() == ("Rayleigh scattering.\n", "")


def test_the_prompt_is_joined_from_the_arguments(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    server = serving(ANSWER)
    main(["ask", "-m", "anthropic/claude-x", "Why", "is the sky", "blue?"])
    assert server.requests[0].json["messages"][0]["content"][0]["text"] == "Why is the sky blue?"


def test_the_prompt_comes_from_stdin_where_there_are_no_arguments(
    serving: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serving(ANSWER)
    monkeypatch.setattr(sys, "stdin", standard_input("Warum ist der Himmel blau? Grüße\n".encode()))
    assert main(["ask", "-m", "anthropic/claude-x"]) == 0
    assert server.requests[0].json["messages"][0]["content"][0]["text"] == "Warum ist der Himmel blau? Grüße\n"


def test_the_options_reach_the_provider(serving: Serve) -> None:
    server = serving(ANSWER)
    options = ["-r", "high", "-s", "Be brief.", "--max-tokens", "20000"]
    assert main(["ask", "-m", "anthropic/claude-x", *options, "Why?"]) == 0
    body = server.requests[0].json
    assert body["max_tokens"] == 20000
    assert "Be brief." in json.dumps(body["system"])
    assert "thinking" in body


def test_base_url_leads_to_another_server(serving: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serving(ANSWER)
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    assert main(["ask", "-m", "anthropic/claude-x", "--base-url", server.url, "Why?"]) == 0


def test_a_tool_call_and_an_unusual_end_are_told_on_stderr(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    call = ToolCall("c1", name="look_up", arguments_json='{"word":"sky"}')
    serving(Reply([Text("Let me see."), call], stop=StopReason.LENGTH))
    assert main(["ask", "-m", "anthropic/claude-x", "--no-thinking", "Why?"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "Let me see.\n"
    assert 'look_up {"word":"sky"}' in shown.err
    assert "note: the answer ended for length (max_tokens)" in shown.err


def test_texts_of_one_answer_are_joined_as_they_came(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving(Reply([Text("Blue"), Text(" light.")]))
    main(["ask", "-m", "anthropic/claude-x", "--no-thinking", "Why?"])
    assert capsys.readouterr().out == "Blue light.\n"


def test_json_prints_events_whose_last_one_holds_the_message(
    serving: Serve, capsys: pytest.CaptureFixture[str]
) -> None:
    serving(ANSWER)
    assert main(["ask", "-m", "anthropic/claude-x", "--json", "Why?"]) == 0
    shown = capsys.readouterr()
    events = [json.loads(line) for line in shown.out.splitlines()]
    types = [event["type"] for event in events]
    assert types[0] == "stream_start"
    assert types[-1] == "stream_end"
    assert types.index("thinking_delta") < types.index("text_delta")
    assert "c2lnbmVk" in shown.out
    assert shown.err == ""


def test_what_json_prints_loads_as_events(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving(ANSWER)
    main(["ask", "-m", "anthropic/claude-x", "--json", "Why?"])
    loaded = [codec.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [type(event).__name__ for event in loaded][-1] == "StreamEnd"


# failures


def test_a_provider_error_is_one_line_and_exit_code_1(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving(Failure(RateLimited, "Slow down,\nplease.", headers={"retry-after": "200"}))
    assert main(["ask", "-m", "anthropic/claude-x", "Why?"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("thinkaloud: RateLimited: ")
    assert shown.err.count("\n") == 1
    for fact in ("Slow down, please.", "anthropic", "status 429", "retry after 200 s"):
        assert fact in shown.err


def test_a_failure_in_the_middle_keeps_what_had_come(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving(Reply([Text("Half an")], error=Failure(500)))
    assert main(["ask", "-m", "anthropic/claude-x", "Why?"]) == 1
    shown = capsys.readouterr()
    assert shown.out == "Half an\n"
    assert shown.err.splitlines()[-1].startswith("thinkaloud: ServerError: ")


def test_an_answer_that_is_cut_off_is_no_success(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving(Reply([Text("One two three four five")], delivery=Delivery(cut_after=700)))
    assert main(["ask", "-m", "anthropic/claude-x", "Why?"]) == 1
    assert "thinkaloud: TruncatedStream: " in capsys.readouterr().err


def test_a_server_that_is_not_there_is_told_at_every_try(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with no_backoff():
        assert main(["ask", "-m", "anthropic/claude-x", "--base-url", address, "Why?"]) == 1
    *notes, last = capsys.readouterr().err.splitlines()
    assert [note.partition(": no")[0] for note in notes] == ["note: anthropic/claude-x: ConnectFailed"] * 2
    assert last.startswith("thinkaloud: ConnectFailed: ")


def test_a_missing_key_names_its_variable(
    serving: Serve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = serving(ANSWER)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert main(["ask", "-m", "anthropic/claude-x", "Why?"]) == 2
    assert "ANTHROPIC_API_KEY" in capsys.readouterr().err
    assert not server.requests


def test_a_key_that_the_provider_repeats_is_not_shown(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving(Failure(AuthenticationError, f"the key {KEY} is wrong"))
    assert main(["ask", "-m", "anthropic/claude-x", "Why?"]) == 1
    shown = capsys.readouterr().err
    assert "the key [hidden] is wrong" in shown
    assert KEY not in shown


def test_a_password_in_the_base_url_is_not_shown(serving: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    serving()
    assert main(["ask", "-m", "anthropic/claude-x", "--base-url", "http://me:secret@example.com", "Why?"]) == 2
    assert "secret" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-m", "nowhere/claude-x", "Why?"], "UnknownModel: provider 'nowhere' is unknown"),
        (["-m", "claude-x", "Why?"], "provider/model"),
        (["-m", "anthropic/claude-x", "--max-tokens", "0", "Why?"], "max_tokens"),
        (["-m", "anthropic/claude-x", "--base-url", "ftp://x", "Why?"], "base_url"),
        (["-m", "anthropic/claude-x", " "], "the prompt is empty"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    serving: Serve, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    server = serving(ANSWER)
    assert main(["ask", *arguments]) == 2
    shown = capsys.readouterr()
    assert complaint in shown.err
    assert shown.err.startswith("thinkaloud: ")
    assert (shown.out, shown.err.count("\n"), server.requests) == ("", 1, [])


def test_a_prompt_that_is_no_text_is_wrong_use(
    serving: Serve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    serving(ANSWER)
    monkeypatch.setattr(sys, "stdin", standard_input(b"\xff\xfe"))
    assert main(["ask", "-m", "anthropic/claude-x"]) == 2
    assert "not UTF-8" in capsys.readouterr().err


# on a terminal


def test_without_a_prompt_a_terminal_is_not_waited_for() -> None:
    code, shown = on_a_terminal(PROGRAM, "ask", "-m", "anthropic/claude-x")
    assert code == 2
    assert "there is no prompt" in shown


def test_on_a_terminal_thinking_is_dim_and_stands_above_the_answer(serving: Serve) -> None:
    server = serving(ANSWER)
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    code, shown = on_a_terminal(PROGRAM, "ask", "-m", "anthropic/claude-x", "Why?", environment=environment)
    assert code == 0
    assert "\x1b[2mBlue" in shown
    assert "more.\x1b[0m\r\n\r\nRayleigh scattering." in shown


def test_a_terminal_never_obeys_the_model(serving: Serve) -> None:
    hostile = "\x1b]0;title\x07 \x1b[2J \x9b31m \rover \x08 tab\there"
    call = ToolCall("c1", name="look\x1b[2Jup", arguments_json='{"word": "sky"}')
    server = serving(Reply([Thinking(hostile), Text(hostile), call]))
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    code, shown = on_a_terminal(PROGRAM, "ask", "-m", "anthropic/claude-x", "Why?", environment=environment)
    assert code == 0
    for style in ("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[36m", "\r\n"):
        shown = shown.replace(style, "")
    assert not set(shown) & {"\x1b", "\x07", "\x9b", "\x08", "\r"}
    assert shown.count("␛]0;title␇") == 2
    assert "tab\there" in shown or "tab     here" in shown


def test_a_terminal_never_obeys_an_error_message(serving: Serve) -> None:
    server = serving(Failure(InvalidRequest, "wait \x1b]0;title\x07"))
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
    code, shown = on_a_terminal(PROGRAM, "ask", "-m", "anthropic/claude-x", "Why?", environment=environment)
    assert code == 1
    assert "\x1b" not in shown
    assert r"wait \x1b]0;title\x07" in shown
