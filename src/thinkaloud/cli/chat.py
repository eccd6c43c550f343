"""`thinkaloud chat`: a conversation of many turns, with another level or another model at any time.

On a terminal it asks for each message. On a pipe every line is a message; answers go to standard output, all else to
standard error, and the first failure ends it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import evolve

from thinkaloud.cli.arguments import WrongUse
from thinkaloud.cli.complaints import complaint
from thinkaloud.cli.output import Output, one_line, reason, rich_is_installed
from thinkaloud.cli.transcript import Transcript
from thinkaloud.client import stream
from thinkaloud.errors import ThinkaloudError
from thinkaloud.event_stream import EventStream
from thinkaloud.history.decisions import SwitchPolicy
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, Conversation, StopReason
from thinkaloud.model_levels import clamp_thinking_level, supported_thinking_levels

HELP = "talk with a model over many turns; switch level and model on the way"

_LEVELS = [level.value for level in ThinkingLevel]
_HELP = """\
/level [LEVEL]           how much the model thinks: off to max, or default; alone: tell it
/model [PROVIDER/MODEL]  go on with another model; alone: tell it
/save FILE               write the conversation as JSON, signatures and all
/load FILE               go on with a conversation that was saved
/new                     begin anew
/help, /quit             this; leave (Ctrl-D does as well)
Ctrl-C stops an answer and keeps what came of it. A \\ at the end of a line goes on in the next one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "-m", "--model", required=True, metavar="PROVIDER/MODEL", help="such as anthropic/claude-opus-5"
    )
    parser.add_argument("-r", "--reasoning", choices=_LEVELS, metavar="LEVEL", help=f"one of: {', '.join(_LEVELS)}")
    parser.add_argument("-s", "--system", metavar="TEXT", help="text that stands before the conversation")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="the most that may be generated in one answer")
    parser.add_argument("--base-url", metavar="URL", help="another place that speaks the provider's protocol")
    parser.add_argument("--load", metavar="FILE", help="go on with a conversation that was saved")
    parser.add_argument("--no-thinking", action="store_true", help="do not show the thinking")


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out. Credentials come from the environment."""
    chat = Chat(arguments)
    if arguments.load is not None:
        chat.load(arguments.load)
    try:
        for text in chat.said():
            chat.take(text)
    except _Left:
        pass
    return 0


class _Left(Exception):
    """The user has left the chat."""


class Chat:
    """The conversation so far, and what the next answer is asked with."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.model: str = arguments.model
        self.level: str | None = arguments.reasoning
        self.conversation = Conversation(system=arguments.system)
        self._more = {"max_tokens": arguments.max_tokens, "base_url": arguments.base_url}
        self._thinking = not arguments.no_thinking
        self._is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        self._answering: EventStream | None = None
        supported_thinking_levels(self.model)  # tells a wrong name now

    # what the user says

    def said(self) -> Iterator[str]:
        """What is typed, or the lines of a pipe."""
        return self._typed() if self._is_terminal else _piped()

    def _typed(self) -> Iterator[str]:
        if find_spec("readline") is not None:
            import readline  # noqa: F401  # input() gets a history and keys that edit
        if not rich_is_installed():
            self._note('no styles without rich; to have them: pip install "thinkaloud[cli]"')
        self._note(f"{self.model} · {self._told_level()} · /help tells more")
        lines: list[str] = []
        while True:
            try:
                line = input("  " if lines else "\n> ")
            except EOFError:
                self._out().write("\n")
                return
            except KeyboardInterrupt:
                lines.clear()
                self._note("\nCtrl-D or /quit leaves")
                continue
            except UnicodeDecodeError:
                self._note("this is not UTF-8 text")
                continue
            if line.endswith("\\"):
                lines.append(line[:-1])
                continue
            yield "\n".join([*lines, line])
            lines.clear()

    def take(self, text: str) -> None:
        """Answer a message or carry out a command. On a terminal a failure is told, and the chat goes on."""
        try:
            self._take(text.strip())
        except (ThinkaloudError, WrongUse) as error:
            if not self._is_terminal:
                raise
            self._note(complaint(error), "red")

    def _take(self, text: str) -> None:
        if not text:
            return
        name, _, rest = text.partition(" ")
        if not name.startswith("/") or "/" in name[1:]:  # a path is no command
            self._answer(text)
            return
        command = _COMMANDS.get(name)
        if command is None:
            raise WrongUse(f"there is no command {name}; /help tells which there are")
        command(self, rest.strip())

    # answers

    def _answer(self, text: str) -> None:
        import anyio

        asked = self.conversation.adding(text)
        self._answering = None
        try:
            anyio.run(self._stream, asked)
        except KeyboardInterrupt:
            if not self._is_terminal:
                raise
            self._keep_partial(asked, "stopped", StopReason.ABORTED)
        except ThinkaloudError as error:
            if self._is_terminal:
                self._keep_partial(asked, complaint(error), StopReason.ERROR)
            else:
                raise

    async def _stream(self, asked: Conversation) -> None:
        switch = SwitchPolicy(orphans="synthesize")
        self._answering = stream(self.model, asked, reasoning=self.level, switch=switch, **self._more)  # type: ignore[arg-type]
        out = self._out()
        transcript = Transcript(out, out if self._is_terminal else self._aside(), thinking=self._thinking)
        try:
            async with self._answering as events:
                async for event in events:
                    transcript.show(event)
                self.conversation = asked.adding(await events.message())
        finally:
            transcript.end_lines()

    def _keep_partial(self, asked: Conversation, why: str, reason: StopReason) -> None:
        partial = None if self._answering is None else self._answering.partial
        if partial is None or not partial.content:
            self._note(f"{why}; nothing had come, so your message is not kept", "yellow")
            return
        self.conversation = asked.adding(partial if partial.stop_reason else evolve(partial, stop_reason=reason))
        self._note(f"{why}; what came of the answer is kept", "yellow")

    # commands

    def _show_help(self, _: str) -> None:
        self._note(_HELP)

    def _leave(self, _: str) -> None:
        raise _Left

    def _begin_anew(self, _: str) -> None:
        self.conversation = Conversation(system=self.conversation.system)
        self._note("a new conversation")

    def _set_level(self, level: str) -> None:
        if level and level not in (*_LEVELS, "default"):
            raise WrongUse(f"there is no level {level!r}; there are: default, {', '.join(_LEVELS)}")
        if level:
            self.level = None if level == "default" else level
        known = ", ".join(each.value for each in supported_thinking_levels(self.model)) or "none to choose"
        self._note(f"{self._told_level()} (this model has: {known})")

    def _set_model(self, model: str) -> None:
        if model:
            supported_thinking_levels(model)  # a wrong name leaves the old one
            self.model = model
        self._note(f"{self.model} · {self._told_level()}")

    def _save(self, path: str) -> None:
        if not path:
            raise WrongUse("/save needs the name of a file")
        file = Path(path).expanduser()
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            beside.write_text(self.conversation.to_json() + "\n", encoding="ascii")
            beside.replace(file)  # a file that is there already is never left half written
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise WrongUse(f"{path}: {reason(error)}") from None
        self._note(f"saved {len(self.conversation)} messages to {path}")

    def load(self, path: str) -> None:
        """Go on with a conversation in a file. Raises WrongUse and CodecError; then everything stays as it was."""
        if not path:
            raise WrongUse("/load needs the name of a file")
        try:
            loaded = Conversation.from_json(Path(path).expanduser().read_bytes())
        except OSError as error:
            raise WrongUse(f"{path}: {reason(error)}") from None
        own = self.conversation.system
        self.conversation = evolve(loaded, system=own) if loaded.system is None else loaded
        answers = sum(isinstance(message, AssistantMessage) for message in loaded)
        self._note(f"loaded {len(loaded)} messages, {answers} of them answers")

    # telling

    def _told_level(self) -> str:
        if self.level is None:
            return "the model's own level"
        sent = clamp_thinking_level(self.model, ThinkingLevel(self.level))
        if sent is None:
            return f"level {self.level}, which this model does not know"
        return f"level {self.level}" + ("" if sent.value == self.level else f", sent as {sent.value}")

    def _note(self, text: str, style: str = "dim") -> None:
        aside = self._aside()
        for line in text.split("\n"):
            aside.line(one_line(line) if style != "dim" else line, style)

    def _out(self) -> Output:
        return Output(sys.stdout, words_whole=self._is_terminal)  # anew each time: windows change their size

    def _aside(self) -> Output:
        return Output(sys.stdout, words_whole=True) if self._is_terminal else Output(sys.stderr)


_COMMANDS: dict[str, Callable[[Chat, str], Any]] = {
    "/help": Chat._show_help,
    "/level": Chat._set_level,
    "/model": Chat._set_model,
    "/save": Chat._save,
    "/load": Chat.load,
    "/new": Chat._begin_anew,
    "/quit": Chat._leave,
    "/exit": Chat._leave,
}


def _piped() -> Iterator[str]:
    if sys.stdin is None:
        return
    for line in sys.stdin.buffer:
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise WrongUse("a message on standard input is not UTF-8 text") from None
