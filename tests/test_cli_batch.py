"""`thinkaloud batch`: every conversation has one line in the end, however often the run was killed."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import thinkaloud as ta
from support.program import PROGRAM, clean_environment
from thinkaloud import codec
from thinkaloud.cli import main
from thinkaloud.cli.answer_file import AnswerFile, _lock
from thinkaloud.cli.arguments import WrongUse
from thinkaloud.testing import Delivery, Failure, RecordedRequest, Reply, Scripted, no_backoff, serve_in_thread


def echoing(request: RecordedRequest) -> Reply | Failure:
    said = request.json["messages"][-1]["content"]
    text = said if isinstance(said, str) else said[-1]["text"]
    if "bad" in text:
        return Failure(400, body={"error": {"message": "refused", "type": "invalid_request_error"}})
    return Reply([f"to {text}"], delivery=Delivery(pace=0.002))


@pytest.fixture
def url() -> Iterator[str]:
    with serve_in_thread(Scripted([echoing], repeat_last=True)) as server:
        yield server.base_url("anthropic-messages")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")


def asked(tmp_path: Path, *lines: object) -> tuple[Path, Path]:
    given, answers = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return given, answers


def run(given: Path, answers: Path, url: str) -> int:
    return main(["batch", str(given), str(answers), "-m", "anthropic/claude-x", "--base-url", url])


def answered(answers: Path) -> dict[str, Any]:
    lines = [json.loads(line) for line in answers.read_text().splitlines()]
    found = {line["id"]: line for line in lines}
    assert len(found) == len(lines), "an id has two lines"
    return found


def test_every_conversation_has_its_line(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = json.loads(ta.Conversation(["first"]).to_json())
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"}, {"prompt": "bad"}, {"id": 7, "conversation": stored})
    assert run(given, answers, url) == 1
    found = answered(answers)
    assert set(found) == {"a", "2", "7"}
    message = codec.from_data(found["a"]["message"])
    assert isinstance(message, ta.AssistantMessage)
    assert message.text == "to one"
    assert found["2"]["error"] == {
        "type": "InvalidRequest",
        "message": "refused",
        "status": 400,
        "code": "invalid_request_error",
        "request_id": found["2"]["error"]["request_id"],
    }
    assert capsys.readouterr().err.splitlines()[-1] == "2 answered, 1 failed"


def test_a_second_run_asks_only_what_is_missing(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"})
    assert run(given, answers, url) == 0
    before = answers.read_bytes()
    asked(tmp_path, {"id": "a", "prompt": "one"}, {"id": "b", "prompt": "two"})
    assert run(given, answers, url) == 0
    assert answers.read_bytes().startswith(before)
    assert set(answered(answers)) == {"a", "b"}
    assert capsys.readouterr().err.splitlines()[-1] == "1 answered, 0 failed, 1 were there"


@pytest.mark.parametrize("half", [b'{"id": "b", "mess', b"{", b'{"id": "b", "message": {}}'])
def test_half_a_line_at_the_end_is_written_anew(half: bytes, url: str, tmp_path: Path) -> None:
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"}, {"id": "b", "prompt": "two"})
    assert run(given, answers, url) == 0
    first = answers.read_bytes().splitlines(keepends=True)[0]
    answers.write_bytes(first + half)
    assert run(given, answers, url) == 0
    assert set(answered(answers)) == {"a", "b"}


def test_a_run_that_is_killed_again_and_again_loses_and_repeats_nothing(url: str, tmp_path: Path) -> None:
    wanted = {f"q{number}" for number in range(40)}
    given, answers = asked(tmp_path, *({"id": id, "prompt": f"question {id}"} for id in sorted(wanted)))
    command = [
        str(PROGRAM),
        "batch",
        str(given),
        str(answers),
        "-m",
        "anthropic/claude-x",
        "--base-url",
        url,
        "--limit",
        "3",
    ]
    chance = random.Random(7)
    killed = written = 0
    while True:
        environment = clean_environment({"ANTHROPIC_API_KEY": "test-key"})
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
            if killed < 4:
                wait_for_more(answers, written + chance.randrange(200, 2000), process)
                process.send_signal(signal.SIGKILL)
            _, complaint = process.communicate(timeout=60)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, complaint
        killed += 1
        written = answers.stat().st_size if answers.exists() else 0
    found = answered(answers)
    assert set(found) == wanted
    for id, line in found.items():
        message = codec.from_data(line["message"])
        assert isinstance(message, ta.AssistantMessage)
        assert message.text == f"to question {id}"
    assert killed >= 2


def wait_for_more(answers: Path, size: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the file is so large, or the run has ended: the moment is anywhere within its work."""
    while process.poll() is None and not (answers.exists() and answers.stat().st_size >= size):
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (['{"id": "a", "prompt": "x"}', '{"id": "a", "prompt": "y"}'], "in.jsonl:2 has the id 'a' a second time"),
        (["nonsense"], "in.jsonl:1 is no JSON"),
        (["[1]"], "in.jsonl:1 must be an object"),
        (['{"id": "a"}'], 'must have a "prompt" or a "conversation"'),
        (['{"id": true, "prompt": "x"}'], "has an id that is neither a text nor a number"),
        (['{"conversation": {"version": 1}}'], "in.jsonl:1: "),
    ],
)
def test_a_line_that_cannot_be_asked_is_wrong_use_before_anybody_is(
    lines: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "in.jsonl"
    given.write_text("\n".join(lines))
    assert run(given, tmp_path / "out.jsonl", "http://127.0.0.1:9") == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()


def test_a_file_that_holds_something_else_is_left_alone(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"})
    answers.write_text("my notes\n")
    assert run(given, answers, url) == 2
    assert "out.jsonl:1 is no answer of an earlier run" in capsys.readouterr().err
    assert answers.read_text() == "my notes\n"


def test_two_runs_do_not_write_to_one_file(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fcntl = pytest.importorskip("fcntl")
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"})
    with answers.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert run(given, answers, url) == 2
    assert "is being written by another run" in capsys.readouterr().err


def test_a_line_that_is_nested_too_deeply_is_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tmp_path / "in.jsonl"
    given.write_text('{"prompt":' + "[" * 100_000)
    assert run(given, tmp_path / "out.jsonl", "http://127.0.0.1:9") == 2
    assert "in.jsonl:1 is no JSON: " in capsys.readouterr().err


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"})
    for wrong in ((given, tmp_path), (given, tmp_path / "no" / "out.jsonl"), (tmp_path / "none.jsonl", answers)):
        assert run(*wrong, "http://127.0.0.1:9") == 2
        told = capsys.readouterr().err
        assert str(tmp_path) in told
        assert "directory" in told


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no endless file")
def test_an_endless_file_takes_no_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, _ = asked(tmp_path, {"id": "a", "prompt": "one"})
    assert run(given, Path("/dev/zero"), "http://127.0.0.1:9") == 2
    assert "is no file that a later run could go on with" in capsys.readouterr().err


# what failed


def run_with(given: Path, answers: Path, url: str, *more: str) -> int:
    return main(["batch", str(given), str(answers), "-m", "anthropic/claude-x", "--base-url", url, *more])


def test_an_error_of_an_earlier_run_still_counts(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"}, {"id": "b", "prompt": "bad"})
    assert run(given, answers, url) == 1
    before = answers.read_bytes()
    assert run(given, answers, url) == 1
    assert answers.read_bytes() == before
    last = "0 answered, 0 failed, 2 were there, 1 of them with an error (--retry-failed asks again)"
    assert capsys.readouterr().err.splitlines()[-1] == last


def test_what_failed_is_asked_again_where_that_is_wanted(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"}, {"id": "b", "prompt": "bad"})
    assert run(given, answers, url) == 1
    asked(tmp_path, {"id": "a", "prompt": "one"}, {"id": "b", "prompt": "good"})
    answers.chmod(0o640)
    assert run_with(given, answers, url, "--retry-failed") == 0
    found = answered(answers)
    assert set(found) == {"a", "b"}
    assert "message" in found["b"]
    assert answers.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["in.jsonl", "out.jsonl"]
    assert capsys.readouterr().err.splitlines()[-1] == "1 answered, 0 failed, 1 were there"


def test_what_fails_again_has_one_line(url: str, tmp_path: Path) -> None:
    given, answers = asked(tmp_path, {"id": "b", "prompt": "bad"})
    assert run(given, answers, url) == 1
    assert run_with(given, answers, url, "--retry-failed") == 1
    assert "error" in answered(answers)["b"]


def test_of_two_lines_that_a_killed_run_left_the_last_one_counts(url: str, tmp_path: Path) -> None:
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"}, {"id": "b", "prompt": "two"})
    assert run(given, answers, url) == 0
    error = b'{"id": "a", "error": {"type": "Overloaded", "message": "busy"}}\n'
    answers.write_bytes(error + answers.read_bytes())
    assert run(given, answers, url) == 0
    assert "message" in answered(answers)["a"]


def test_a_link_to_the_answers_stays_a_link(url: str, tmp_path: Path) -> None:
    given, answers = asked(tmp_path, {"id": "b", "prompt": "bad"})
    (tmp_path / "elsewhere").mkdir()
    answers.symlink_to(tmp_path / "elsewhere" / "kept.jsonl")
    assert run(given, answers, url) == 1
    assert run_with(given, answers, url, "--retry-failed") == 1
    assert answers.is_symlink()
    assert set(answered(answers)) == {"b"}


def test_a_file_that_was_replaced_meanwhile_is_not_written(url: str, tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "out.jsonl"
    path.write_text('{"id": "a", "error": {}}\n')
    first = AnswerFile(str(path))
    first.append({"id": "a", "message": {}})
    opened = os.open(path, os.O_RDWR)  # another run has opened it, and waits for its lock
    first.close()
    with pytest.raises(WrongUse, match="being written by another run"):
        _lock(opened, str(path))
    os.close(opened)


def test_a_server_that_is_not_there_ends_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, answers = asked(tmp_path, *({"id": str(number), "prompt": "one"} for number in range(9)))
    with socket.socket() as nobody, no_backoff():  # bound, and nobody listens
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        assert run_with(given, answers, url, "--stop-after", "3", "--limit", "1") == 1
        told = capsys.readouterr().err.splitlines()
        assert told[-2].startswith("stopped: 3 conversations in a row could not be asked (no connection could be made")
        assert told[-1] == "0 answered, 3 failed, 6 not asked"
        assert run_with(given, answers, url, "--stop-after", "0", "--retry-failed") == 1
        assert capsys.readouterr().err.splitlines()[-1] == "0 answered, 9 failed"
    assert len(answered(answers)) == 9


def test_refusals_of_a_server_that_is_there_end_nothing(url: str, tmp_path: Path) -> None:
    given, answers = asked(tmp_path, *({"id": str(number), "prompt": "bad"} for number in range(4)))
    assert run_with(given, answers, url, "--stop-after", "2") == 1
    assert len(answered(answers)) == 4


def test_a_stop_after_less_than_nothing_is_wrong_use(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, answers = asked(tmp_path, {"id": "a", "prompt": "one"})
    assert run_with(given, answers, url, "--stop-after", "-1") == 2
    assert "--stop-after must be 0 or more" in capsys.readouterr().err
