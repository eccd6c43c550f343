"""`thinkaloud batch`: many conversations from a file, their answers into another one, going on where a run stopped."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from thinkaloud.cli.answer_file import AnswerFile
from thinkaloud.cli.arguments import WrongUse
from thinkaloud.cli.output import Output, reason, rich_is_installed
from thinkaloud.errors import CodecError, ConnectFailed, DeadlineExceeded, ProviderError, ThinkaloudError
from thinkaloud.jsontext import dumps, loads_exact
from thinkaloud.levels import ThinkingLevel
from thinkaloud.plan import Messages

HELP = "answer many conversations from a file; a run that was stopped goes on where it was"
_STOP_AFTER = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    levels = [level.value for level in ThinkingLevel]
    parser.add_argument(
        "questions",
        metavar="IN.jsonl",
        help='one JSON object a line: {"id": "a", "prompt": "..."} or {"id": "a", "conversation": a stored one}; '
        "without an id the number of the line is it",
    )
    parser.add_argument(
        "answers", metavar="OUT.jsonl", help='a line for each: {"id": "a", "message": ...} or {"id": "a", "error": ...}'
    )
    parser.add_argument("-m", "--model", required=True, metavar="PROVIDER/MODEL", help="who answers")
    parser.add_argument("-r", "--reasoning", choices=levels, metavar="LEVEL", help=f"one of: {', '.join(levels)}")
    parser.add_argument("-s", "--system", metavar="TEXT", help="text that stands before each conversation")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="the most that may be generated for each")
    parser.add_argument("--base-url", metavar="URL", help="another place that speaks the provider's protocol")
    parser.add_argument("--limit", type=int, default=8, metavar="N", help="how many at the same time (8)")
    parser.add_argument(
        "--retry-failed",
        action="store_true",
        help="ask again what has an error in OUT.jsonl; its new line takes the place of the old one. Without it only "
        "what has no line there is asked, and errors that are there count as failed",
    )
    parser.add_argument(
        "--stop-after",
        type=int,
        default=_STOP_AFTER,
        metavar="N",
        help=f"stop when so many in a row could not be asked for want of a connection ({_STOP_AFTER}); 0: never",
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out: 0 where every conversation was answered, now or earlier, 1 where one failed."""
    import anyio

    if arguments.stop_after < 0:
        raise WrongUse("--stop-after must be 0 or more")

    questions = _questions(Path(arguments.questions))
    answers = AnswerFile(arguments.answers)
    try:
        return anyio.run(_answer_all, arguments, questions, answers)
    finally:
        answers.close()


async def _answer_all(arguments: argparse.Namespace, questions: Mapping[str, Messages], answers: AnswerFile) -> int:
    import anyio.to_thread

    from thinkaloud import codec
    from thinkaloud.batch import Outcome, complete_many

    there = answers.done - answers.failed if arguments.retry_failed else answers.done
    ids = [id for id in questions if id not in there]
    before = len(questions) - len(ids)
    failed_before = 0 if arguments.retry_failed else len(answers.failed & questions.keys())
    writing = anyio.Lock()
    answered = failed = without_connection = 0
    stopped: _NoConnection | None = None
    with _progress(len(questions), before) as advance:

        async def write(place: int, outcome: Outcome) -> None:
            nonlocal answered, failed, without_connection
            if is_failure := isinstance(outcome, ThinkaloudError):
                told = {"error": _told(outcome)}
            else:
                told = {"message": codec.to_data(outcome)}
            async with writing:
                await anyio.to_thread.run_sync(answers.append, {"id": ids[place], **told})
            failed += is_failure
            answered += not is_failure
            advance()
            without_connection = without_connection + 1 if _has_no_connection(outcome) else 0
            if without_connection == arguments.stop_after:
                raise _NoConnection(str(outcome))

        try:
            await complete_many(
                arguments.model,
                [questions[id] for id in ids],
                limit=arguments.limit,
                on_done=write,
                reasoning=arguments.reasoning,
                system=arguments.system,
                max_tokens=arguments.max_tokens,
                base_url=arguments.base_url,
            )
        except _NoConnection as error:
            stopped = error
    out = Output(sys.stderr)
    if stopped is not None:
        out.line(
            f"stopped: {without_connection} conversations in a row could not be asked ({stopped}). When the server can "
            "be reached, run this again with --retry-failed; --stop-after 0 goes on in any case"
        )
    counts = [f"{answered} answered", f"{failed} failed"]
    if stopped is not None:
        counts.append(f"{len(ids) - answered - failed} not asked")
    if before:
        counts.append(f"{before} were there")
    errors = f", {failed_before} of them with an error (--retry-failed asks again)" if failed_before else ""
    out.line(", ".join(counts) + errors)
    return 1 if failed or failed_before or stopped is not None else 0


class _NoConnection(Exception):
    """Nobody is there to be asked."""


def _has_no_connection(outcome: object) -> bool:
    late = isinstance(outcome, DeadlineExceeded) and outcome.kind == "connect"
    return late or isinstance(outcome, ConnectFailed)


def _told(error: ThinkaloudError) -> dict[str, Any]:
    told: dict[str, Any] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, ProviderError):
        facts = {"status": error.status, "code": error.code, "request_id": error.request_id}
        told |= {name: value for name, value in facts.items() if value is not None}
    return told


def _questions(path: Path) -> dict[str, Messages]:
    """All conversations by their ids, checked before anybody is asked. Raises WrongUse, with the line."""
    questions: dict[str, Messages] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise WrongUse(f"{path}: {reason(error)}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        id, messages = _question(line, number, place)
        if id in questions:
            raise WrongUse(f"{place} has the id {id!r} a second time")
        questions[id] = messages
    return questions


def _question(line: bytes, number: int, place: str) -> tuple[str, Messages]:
    from thinkaloud import codec

    try:
        told = loads_exact(line)
    except ValueError as error:
        raise WrongUse(f"{place} is no JSON: {error}") from None
    if not isinstance(told, dict):
        raise WrongUse(f'{place} must be an object with a "prompt" or a "conversation"')
    id = told.get("id", number)
    if not isinstance(id, str | int) or isinstance(id, bool):
        raise WrongUse(f"{place} has an id that is neither a text nor a number")
    prompt = told.get("prompt")
    if isinstance(prompt, str) and prompt.strip():
        return str(id), prompt
    if "conversation" not in told:
        raise WrongUse(f'{place} must have a "prompt" or a "conversation"')
    try:
        return str(id), codec.conversation_from(dumps(told["conversation"]))
    except (CodecError, ValueError) as error:
        raise WrongUse(f"{place}: {error}") from None


@contextmanager
def _progress(total: int, done: int) -> Iterator[Callable[[], None]]:
    """Tell how far it is: a bar on a terminal with rich, else a line for each tenth."""
    if sys.stderr.isatty() and rich_is_installed():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
            task = bar.add_task("", total=total, completed=done)
            yield lambda: bar.advance(task)
        return
    out = Output(sys.stderr)
    count = done

    def advance() -> None:
        nonlocal count
        count += 1
        if count * 10 // total > (count - 1) * 10 // total:
            out.line(f"{count} of {total}")

    yield advance
