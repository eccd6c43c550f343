"""`thinkaloud demo`: what a newcomer sees first."""

from __future__ import annotations

import signal

import pytest

from support.program import PROGRAM, on_a_terminal, read_until, run_program, started_program
from thinkaloud.cli import main


def test_the_demo_shows_thinking_then_the_answer_then_the_call_then_the_usage() -> None:
    shown = run_program("demo", "--pace", "0")
    text = shown.stdout.decode()
    places = [
        text.index(part)
        for part in ("Thinking\n", "So not twelve.", "Answer\n", "Fourteen seconds", "ring_bell {", "thought for", "86")
    ]
    assert places == sorted(places)
    assert (shown.returncode, shown.stderr) == (0, b"")


def test_the_demo_knows_its_model() -> None:
    assert b"note:" not in run_program("demo", "--pace", "0").stdout


def test_on_a_pipe_the_demo_is_plain_text() -> None:
    shown = run_program("demo", "--pace", "0")
    assert all(character.isprintable() or character == "\n" for character in shown.stdout.decode())


def test_the_demo_sends_the_signature_back_in_the_second_turn(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--pace", "0"]) == 0
    assert "got the signature of the thinking back as it had sent it" in capsys.readouterr().out


def test_the_demo_runs_on_trio(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--pace", "0", "--trio"]) == 0
    assert "read on trio" in capsys.readouterr().out


def test_thinking_is_shown_before_the_answer_exists() -> None:
    with started_program("demo", "--pace", "0.05") as process:
        assert b"Fourteen" not in read_until(process, b"Twice as many")
        assert process.poll() is None


@pytest.mark.parametrize("backend", [[], ["--trio"]], ids=["asyncio", "trio"])
def test_an_interrupt_ends_the_demo_quietly(backend: list[str]) -> None:
    with started_program("demo", "--pace", "0.05", *backend) as process:
        read_until(process, b"Twice")
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert (process.returncode, complaint) == (130, b"")


@pytest.mark.parametrize("backend", [[], ["--trio"]], ids=["asyncio", "trio"])
def test_a_reader_that_leaves_ends_the_demo_quietly(backend: list[str]) -> None:
    with started_program("demo", "--pace", "0.01", *backend) as process:
        read_until(process, b"Twice")
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(timeout=60)
    assert process.returncode == 0


def test_on_a_terminal_thinking_is_dim_and_what_the_answer_stresses_is_bold() -> None:
    code, shown = on_a_terminal(PROGRAM, "demo", "--pace", "0")
    assert code == 0
    assert "\x1b[2mTwice" in shown
    assert "**" not in shown
    assert shown.index("\x1b[2mTwice") < shown.index("\x1b[1mFourteen")


def test_on_a_terminal_no_word_is_torn_at_the_edge() -> None:
    environment = {"COLUMNS": "40", "LINES": "20"}
    _, shown = on_a_terminal(PROGRAM, "demo", "--pace", "0", environment={**environment, "TERM": "dumb"})
    assert max(map(len, shown.replace("\r", "").split("\n"))) <= len('ring_bell {"strokes":8,"seconds_between":2.0}')
    assert "It is the waiting between" in shown.replace("\r\n", " ")
