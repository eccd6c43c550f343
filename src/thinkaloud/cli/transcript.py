"""Shows the events of an answer to people as they come: thinking dim, the answer bright, the rest in lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thinkaloud.cli.output import Output, one_line
from thinkaloud.cli.styled_markdown import Piece, StyledMarkdown
from thinkaloud.events import (
    OpaqueBlock,
    StreamEnd,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallEnd,
)
from thinkaloud.messages import AssistantMessage, StopReason
from thinkaloud.notices import Notice

# Ends that need no word: the model chose them.
_USUAL_ENDS = frozenset({StopReason.END, StopReason.TOOL_USE, StopReason.STOP_SEQUENCE})


class Transcript:
    """Writes one answer.

    answer: where the visible answer goes, and nothing else.
    aside: where thinking, tool calls, notices and the summary go; it may be the same output.
    thinking: False leaves thinking and the summary out.
    headings: name each part on a line above it.
    """

    def __init__(self, answer: Output, aside: Output, *, thinking: bool = True, headings: bool = False) -> None:
        self._answer = answer
        self._aside = aside
        self._thinking = thinking
        self._headings = headings
        self._part: tuple[str, int] | None = None  # what the last piece belonged to
        self._told: set[str] = set()
        self._markdown = StyledMarkdown() if answer.has_styles else None

    def show(self, event: StreamEvent) -> None:
        """Write what there is to see of an event. Raises OutputClosed."""
        show = _SHOWN.get(type(event))
        if show is not None:
            show(self, event)

    def end_lines(self) -> None:
        """Leave both outputs at the start of a line, whatever came last."""
        if self._markdown is not None:
            self._write_styled(self._markdown.finish())
        self._answer.end_line()
        self._aside.end_line()

    def _turn_to(self, heading: str, index: int) -> None:
        """Begin another part, if this is one. Pieces of one text in several blocks stay together."""
        before, self._part = self._part, (heading, index)
        if before is None or before[0] != heading:
            self.end_lines()
            if self._headings:
                self._aside.line(("" if before is None else "\n") + heading, "bold underline")
            elif before is not None and self._aside.is_terminal and self._answer.is_terminal:
                self._aside.write("\n")  # both on one screen
        elif before[1] != index and heading == "Thinking":
            self._aside.write("\n\n", "dim")

    # one small method per event

    def _show_thinking(self, event: ThinkingDelta) -> None:
        if self._thinking:
            self._turn_to("Thinking", event.index)
            self._aside.write(event.text, "dim")

    def _end_thinking(self, event: ThinkingEnd) -> None:
        if not self._thinking or event.block.text:
            return
        self._turn_to("Thinking", event.index)
        self._aside.line("(redacted by the provider)" if event.block.redacted else "(not shown by the provider)", "dim")

    def _show_text(self, event: TextDelta) -> None:
        self._turn_to("Answer", event.index)
        if self._markdown is None:
            self._answer.write(event.text)
        else:
            self._write_styled(self._markdown.feed(event.text))

    def _write_styled(self, pieces: list[Piece]) -> None:
        for text, style in pieces:
            self._answer.write(text, style)

    def _show_call(self, event: ToolCallEnd) -> None:
        self._turn_to("Tool call", event.index)
        cut = "" if event.call.complete else "  (cut off)" if event.call.name else "  (no name: it cannot be run)"
        self._aside.line(one_line(f"{event.call.name} {event.call.arguments_json or '{}'}") + cut, "cyan")

    def _show_opaque(self, event: OpaqueBlock) -> None:
        self._turn_to("Provider block", event.index)
        self._aside.line(one_line(event.block.kind), "dim")

    def _show_notice(self, event: Notice) -> None:
        text = one_line(event.text or event.code)
        if event.path.startswith("messages[") and text in self._told:
            return  # of many blocks the same is told once
        self._told.add(text)
        self.end_lines()
        self._aside.line("note: " + text, "yellow")

    def _show_end(self, event: StreamEnd) -> None:
        self.end_lines()
        if event.stop_reason not in _USUAL_ENDS:
            word = event.raw_stop_reason or event.stop_reason.value
            self._aside.line(f"note: the answer ended for {event.stop_reason.value} ({one_line(word)})", "yellow")
        if self._thinking and event.message is not None and (told := summary(event.message)):
            self._aside.line("\n" + told if self._headings else told, "dim")


_SHOWN: dict[type, Callable[[Transcript, Any], None]] = {
    ThinkingDelta: Transcript._show_thinking,
    ThinkingEnd: Transcript._end_thinking,
    TextDelta: Transcript._show_text,
    ToolCallEnd: Transcript._show_call,
    OpaqueBlock: Transcript._show_opaque,
    Notice: Transcript._show_notice,
    StreamEnd: Transcript._show_end,
}


def summary(message: AssistantMessage) -> str:
    """Say how long the model thought and what it used, as far as that is known."""
    usage, parts = message.usage, []
    if message.timing.thinking is not None:
        parts.append(f"thought for {message.timing.thinking:.1f} s")
    if usage.input is not None:
        parts.append(f"{usage.input} tokens in")
    if usage.output is not None:
        thinking = "" if usage.reasoning is None else f", {usage.reasoning} of them thinking"
        parts.append(f"{usage.output} tokens out{thinking}")
    if message.cost is not None and message.cost.total is not None:
        parts.append(f"${message.cost.total:.4f}")
    return " · ".join(parts)
