"""The program's frame: commands, exit codes, and every failure as one clear line.

Exit codes: 0 well done; 1 the provider, the network or the stream failed; 2 wrong use; 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from thinkaloud.cli import ask, batch, chat, check, demo, levels, models, replay, serve
from thinkaloud.cli.arguments import WrongUse
from thinkaloud.cli.complaints import complaint, without_secrets
from thinkaloud.cli.output import Output, OutputClosed, accept_any_text, forget_pending_output, one_line, reason
from thinkaloud.errors import ConfigurationError, HistoryError, ThinkaloudError

_COMMANDS = {
    "demo": demo,
    "ask": ask,
    "chat": chat,
    "batch": batch,
    "models": models,
    "levels": levels,
    "replay": replay,
    "check": check,
    "serve": serve,
}
_WRONG_USE = (WrongUse, ConfigurationError, HistoryError)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program and give its exit code. arguments: those after its name; None takes sys.argv."""
    accept_any_text()
    try:
        try:
            chosen = _parser().parse_args(arguments)
            code: int = chosen.run(chosen)
        finally:
            _flush()
    except (WrongUse, OutputClosed, ThinkaloudError, OSError, KeyboardInterrupt, BaseExceptionGroup) as error:
        return _told(error)
    return code


class _Parser(argparse.ArgumentParser):
    """Complains in one line; the usage is what --help shows."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {one_line(message)} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="thinkaloud", description="Watch reasoning models think.", allow_abbrev=False)
    parser.add_argument("--version", action=_Version, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, module in _COMMANDS.items():
        command = commands.add_parser(name, help=module.HELP, description=module.HELP, allow_abbrev=False)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        sys.stdout.write(f"thinkaloud {version('thinkaloud')}\n")
        parser.exit()


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise OutputClosed from None


def _told(error: BaseException) -> int:
    """Tell a failure in one line, and choose the exit code."""
    while isinstance(error, BaseExceptionGroup):
        error = (error.subgroup(KeyboardInterrupt) or error).exceptions[0]
    match error:
        case KeyboardInterrupt():
            return 130
        case OutputClosed():
            forget_pending_output()
            return 0
        case ThinkaloudError() | WrongUse():
            _complain(complaint(error))
            return 2 if isinstance(error, _WRONG_USE) else 1
        case OSError():
            _complain(without_secrets(reason(error)))
            forget_pending_output()
            return 1
        case _:
            raise error  # not foreseen, so its traceback is wanted


def _complain(text: str) -> None:
    try:
        Output(sys.stderr).line("thinkaloud: " + text)
    except (OutputClosed, OSError):
        forget_pending_output()
