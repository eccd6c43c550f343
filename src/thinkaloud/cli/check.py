"""`thinkaloud check`: a stored conversation, its faults, and what a model would get of it. No network."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator

from thinkaloud.cli.arguments import WrongUse
from thinkaloud.cli.output import Output, one_line, reason
from thinkaloud.content import Block, Opaque, ToolCall
from thinkaloud.errors import HistoryError
from thinkaloud.messages import Conversation
from thinkaloud.notices import Notice

HELP = "check a stored conversation, and print what of it a model would get"

# Only for the address, which is never called: some providers have none of their own.
_NOWHERE = "https://localhost"

# What a notice's code says of the block that it stands at; all others change nothing of it.
_OUTCOMES = {
    "thinking_downgraded": "downgraded",
    "thinking_omitted": "omitted",
    "block_omitted": "omitted",
    "message_omitted": "omitted",
    "result_omitted": "omitted",
    "signature_omitted": "kept",
    "citations_omitted": "kept",
}


_ROLES = {"UserMessage": "user", "AssistantMessage": "assistant", "ToolResult": "tool"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    told = "a conversation as Conversation.to_json wrote it; - for standard input"
    parser.add_argument("file", metavar="FILE", help=told)
    parser.add_argument("-m", "--model", metavar="MODEL", help="where it would go, as provider/model")
    parser.add_argument(
        "--foreign-thinking", choices=("omit", "text"), default="omit", help="what becomes of another model's thinking"
    )
    parser.add_argument(
        "--orphans", choices=("error", "synthesize"), default="error", help="what becomes of calls without results"
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out: 0 where the history can be sent, 1 where it has faults."""
    from thinkaloud.history.decisions import SwitchPolicy
    from thinkaloud.history.validation import validate
    from thinkaloud.plan import prepare

    conversation = Conversation.from_json(_content(arguments.file))
    out = Output(sys.stdout)
    lines: list[str] = []
    try:
        issues = validate(conversation, arguments.model, orphans=arguments.orphans)
        if arguments.model is None or issues or not conversation.messages:
            lines = [f"{len(conversation)} messages, no faults"]
        else:
            policy = SwitchPolicy(foreign_thinking=arguments.foreign_thinking, orphans=arguments.orphans)
            plan = prepare(arguments.model, conversation, switch=policy, base_url=_NOWHERE)
            lines = list(_lines(conversation, plan.notices))
    except HistoryError as error:
        issues = error.issues
    for line in [_line("fault", issue.path, issue.code, issue.text) for issue in issues] or lines:
        out.line(line)
    return 1 if issues else 0


def _content(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise WrongUse(f"{path}: {reason(error)}") from None


def _lines(conversation: Conversation, notices: Iterable[Notice]) -> Iterator[str]:
    """A line for each block, with what becomes of it, and one for every notice that is about no block."""
    told: dict[str, list[Notice]] = {}
    for notice in notices:
        told.setdefault(notice.path, []).append(notice)
    for place, message in enumerate(conversation):
        path = f"messages[{place}]"
        role = _ROLES[type(message).__name__]
        whole = told.pop(path, [])
        for notice in whole:
            yield _line(_OUTCOMES.get(notice.code, "note"), path, role, notice.text)
        gone = any(_OUTCOMES.get(notice.code) == "omitted" for notice in whole)
        for index, block in enumerate(message.content):
            here = f"{path}.content[{index}]"
            found = told.pop(here, [])
            outcomes = [_OUTCOMES.get(notice.code, "kept") for notice in found] + ["omitted"] * gone
            outcome = next((word for word in ("omitted", "downgraded") if word in outcomes), "kept")
            yield _line(outcome, here, f"{role} {_kind(block)}", "; ".join(notice.text for notice in found))
    for path, rest in told.items():
        for notice in rest:
            yield _line("note", path, notice.code, notice.text)


def _kind(block: Block) -> str:
    match block:
        case Opaque():
            return block.kind
        case ToolCall():
            return f"call {block.name}"
        case _:
            return type(block).__name__.lower()


def _line(outcome: str, path: str, what: str, why: str) -> str:
    return f"{outcome:<10}  {one_line(path)}  {one_line(f'{what}: {why}' if why else what)}"
