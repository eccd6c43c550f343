"""The program's frame: versions, complaints about wrong use, and outputs that fail."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from support.program import PROGRAM, clean_environment, on_a_terminal, run_program
from thinkaloud.cli import main
from thinkaloud.cli.line_breaks import LineBreaks
from thinkaloud.cli.output import one_line, printable

WITHOUT_RICH = "import sys; sys.modules['rich'] = None; from thinkaloud.cli import main; sys.exit(main(sys.argv[1:]))"


def test_the_version_is_the_one_of_the_package() -> None:
    shown = run_program("--version")
    assert shown.stdout.decode() == f"thinkaloud {version('thinkaloud')}\n"
    assert (shown.returncode, shown.stderr) == (0, b"")


def test_the_package_runs_as_a_module_too() -> None:
    shown = subprocess.run([sys.executable, "-m", "thinkaloud.cli", "--version"], capture_output=True, check=True)
    assert shown.stdout.startswith(b"thinkaloud ")


@pytest.mark.parametrize("command", ["demo", "ask", "replay", "serve"])
def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert f"usage: thinkaloud {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "COMMAND"),
        (["sing"], "invalid choice: 'sing'"),
        (["ask", "Why?"], "-m/--model"),
        (["ask", "-m", "a/b", "-r", "huge", "Why?"], "invalid choice: 'huge'"),
        (["ask", "-m", "a/b", "--max-tokens", "many", "Why?"], "invalid int value: 'many'"),
        (["ask", "-m", "a/b", "--no-such-option", "Why?"], "--no-such-option"),
        (["replay", "file"], "--protocol"),
        (["replay", "file", "--protocol", "morse"], "invalid choice: 'morse'"),
        (["replay", "file", "--protocol", "openai-chat", "--events", "--message"], "not allowed with"),
        (["replay", "file", "--protocol", "openai-chat", "--status", "99"], "HTTP status"),
        (["serve", "--port", "70000"], "port from 0 to 65535"),
        (["demo", "--pace", "-1"], "seconds"),
        (["demo", "--pace", "nan"], "seconds"),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    shown = capsys.readouterr()
    assert ended.value.code == 2
    assert complaint in shown.err
    assert shown.err.startswith("thinkaloud")
    assert (shown.out, shown.err.count("\n")) == ("", 1)


def test_a_full_disk_is_one_line_and_exit_code_1() -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [PROGRAM, "demo", "--pace", "0"], stdout=full, stderr=subprocess.PIPE, env=clean_environment(), check=False
        )
    assert ended.returncode == 1
    assert ended.stderr == b"thinkaloud: No space left on device\n"


def test_a_reader_of_the_help_may_leave() -> None:
    with subprocess.Popen([PROGRAM, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_an_output_that_lacks_a_character_shows_its_escape() -> None:
    command = [str(PROGRAM), "replay", "-", "--protocol", "openai-chat", "--provider", "\N{BELL}"]
    environment = {**clean_environment(), "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(command, input=b"", capture_output=True, env=environment, check=False)
    assert b"\\U0001f514" in ended.stderr
    assert ended.returncode == 1


def test_without_rich_a_terminal_gets_one_line_about_it_and_plain_text() -> None:
    code, shown = on_a_terminal(sys.executable, "-c", WITHOUT_RICH, "demo", "--pace", "0")
    assert code == 0
    assert shown.splitlines()[0] == 'thinkaloud: no styles without rich; to have them: pip install "thinkaloud[cli]"'
    assert shown.index("So not twelve.") < shown.index("Fourteen seconds.")
    assert "\x1b" not in shown


def test_without_rich_a_pipe_gets_what_it_always_gets() -> None:
    command = [sys.executable, "-c", WITHOUT_RICH, "demo", "--pace", "0"]
    shown = subprocess.run(command, capture_output=True, env=clean_environment(), check=True)
    assert b"Fourteen seconds." in shown.stdout
    assert shown.stderr == b""


# text for terminals


def test_control_characters_become_visible() -> None:
    assert printable("a\x1b[0m\x00\x7f\x85\x9bz") == "a␛[0m␀␡\ufffd\ufffdz"


def test_newlines_tabs_and_letters_of_all_scripts_stay() -> None:
    text = "ein\tWort\n二つ目 — עוד אחת"
    assert printable(text) == text


def test_a_carriage_return_cannot_overwrite_a_line() -> None:
    assert printable("safe\rpwned\r\n") == "safepwned\n"


def test_an_error_text_of_many_lines_becomes_one() -> None:
    assert one_line("  one\r\n\ttwo\x1b\n") == "one two␛"


def test_lines_break_between_words() -> None:
    assert LineBreaks(10).fit("one two three four") == "one two\nthree four"


def test_lines_break_the_same_however_the_words_come() -> None:
    text = "one two three four\nfive, six seven eight-nine ten"
    breaks = LineBreaks(12)
    words = [
        breaks.fit(piece) for piece in ("one", " two ", "three", " four\nfive,", " six", " seven", " eight-nine ten")
    ]
    assert "".join(words) == LineBreaks(12).fit(text)
    assert max(map(len, "".join(words).split("\n"))) <= 12


def test_only_spaces_are_ever_turned_into_line_breaks() -> None:
    text = "a  indented\n    code block that is long"
    assert LineBreaks(12).fit(text).replace("\n", " ").split() == text.split()


def test_a_word_longer_than_the_line_is_left_whole() -> None:
    assert LineBreaks(5).fit("a abcdefghij b") == "a\nabcdefghij\nb"
