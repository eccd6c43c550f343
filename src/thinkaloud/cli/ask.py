"""`thinkaloud ask`: one question to one model. The answer goes to standard output, the thinking to standard error."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from thinkaloud.cli.arguments import WrongUse
from thinkaloud.cli.dry_run import plan_json, show_plan
from thinkaloud.cli.output import Output, terminal_outputs
from thinkaloud.cli.transcript import Transcript
from thinkaloud.client import stream
from thinkaloud.levels import ThinkingLevel
from thinkaloud.plan import prepare

HELP = "ask a model; the answer goes to stdout, the thinking to stderr"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    levels = [level.value for level in ThinkingLevel]
    parser.add_argument("prompt", nargs="*", help="the question; standard input where it is left out")
    parser.add_argument(
        "-m", "--model", required=True, metavar="PROVIDER/MODEL", help="such as anthropic/claude-opus-5"
    )
    parser.add_argument("-r", "--reasoning", choices=levels, metavar="LEVEL", help=f"one of: {', '.join(levels)}")
    parser.add_argument("-s", "--system", metavar="TEXT", help="text that stands before the conversation")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="the most that may be generated, thinking included")
    parser.add_argument("--base-url", metavar="URL", help="another place that speaks the provider's protocol")
    parser.add_argument("--no-thinking", action="store_true", help="do not show the thinking")
    parser.add_argument("--json", action="store_true", help="print the events to stdout, one JSON object a line")
    parser.add_argument("--dry-run", action="store_true", help="print the request and send nothing; needs no key")


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out. Credentials come from the environment."""
    import anyio

    prompt = _prompt(arguments.prompt)
    options: dict[str, Any] = {
        "reasoning": arguments.reasoning,
        "system": arguments.system,
        "max_tokens": arguments.max_tokens,
        "base_url": arguments.base_url,
    }
    if arguments.dry_run:
        plan, out = prepare(arguments.model, prompt, **options), Output(sys.stdout)
        if arguments.json:
            out.line(plan_json(plan))
        else:
            show_plan(out, plan)
        return 0
    anyio.run(_ask, arguments, prompt, options)
    return 0


async def _ask(arguments: argparse.Namespace, prompt: str, options: dict[str, Any]) -> None:
    answer = stream(arguments.model, prompt, **options)
    out, err = terminal_outputs()
    if arguments.json:
        from thinkaloud import codec

        async with answer as events:
            async for event in events:
                out.line(codec.dumps(event))
            return
    transcript = Transcript(out, err, thinking=not arguments.no_thinking)
    try:
        async with answer as events:
            async for event in events:
                transcript.show(event)
    finally:
        transcript.end_lines()


def _prompt(words: list[str]) -> str:
    if words:
        text = " ".join(words)
    elif sys.stdin is None or sys.stdin.isatty():
        raise WrongUse("there is no prompt: give it as an argument or on standard input")
    else:
        try:
            text = sys.stdin.buffer.read().decode()
        except UnicodeDecodeError:
            raise WrongUse("the prompt on standard input is not UTF-8 text") from None
    if not text.strip():
        raise WrongUse("the prompt is empty")
    return text
