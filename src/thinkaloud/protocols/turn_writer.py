"""A conversation as turns that alternate: for protocols whose messages are lists of blocks.

Neighbours of one role are one turn, the results of tools stand before all else that the user says, and what cannot be
sent is left out with a notice: a call together with its result. Stored messages are not changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from attrs import define, field

from thinkaloud.content import Block, Opaque, Thinking, ToolCall
from thinkaloud.errors import MalformedToolArguments
from thinkaloud.jsontext import Json
from thinkaloud.messages import AssistantMessage, Message, Origin, ToolResult, UserMessage
from thinkaloud.notices import Notice
from thinkaloud.protocols.fields import unsendable

WireBlock = dict[str, Json]

# What becomes of a block: the wire's form of it, the reason why it is left out, or None to drop it silently.
Written = WireBlock | str | None


@define
class Turn:
    """One message of the wire."""

    role: Literal["user", "assistant"]
    results: list[Json] = field(factory=list)
    blocks: list[Json] = field(factory=list)
    paths: list[str] = field(factory=list)  # of the answers in it

    def body(self) -> WireBlock:
        """The message, with the results first: no API takes another order."""
        return {"role": self.role, "content": [*self.results, *self.blocks]}


class TurnWriter(ABC):
    """Writes messages block by block, in the forms of a wire.

    answered: how each type of block in an answer is written, by the origin of the answer.
    said: how each type of block of a user or a tool is written, by the block's path.
    """

    def __init__(
        self,
        answered: Mapping[type, Callable[[Any, Origin], Written]],
        said: Mapping[type, Callable[[Any, str], Written]],
    ) -> None:
        self.answered = answered
        self.said = said
        self.turns: list[Turn] = []
        self.notices: list[Notice] = []
        self._unsent_calls: set[str] = set()

    def write(self, messages: Sequence[Message]) -> list[WireBlock]:
        """The turns of a conversation, empty ones left out. Raises ConfigurationError."""
        for place, message in enumerate(messages):
            path = f"messages[{place}]"
            match message:
                case UserMessage():
                    self.user(message, path)
                case ToolResult():
                    self._result(message, path)
                case AssistantMessage():
                    self._assistant(message, path)
        return [turn.body() for turn in self._worth_sending() if turn.results or turn.blocks]

    @abstractmethod
    def result_block(self, result: ToolResult, content: list[Json]) -> WireBlock:
        """The wire's form of a tool's result."""

    def withheld(self, message: AssistantMessage) -> Callable[[int], str | None]:
        """Why the block at a place of an answer is left out whatever it is; None where it is not."""
        return lambda place: None

    def is_thinking(self, block: Json) -> bool:
        """Whether a block of the wire is thinking, of which alone the API takes no answer."""
        return False

    def _worth_sending(self) -> list[Turn]:
        """The turns without those of which nothing but thinking is left, unless results of tools follow."""
        kept: list[Turn] = []
        for place, turn in enumerate(self.turns, start=1):
            answered = place < len(self.turns) and self.turns[place].results
            if turn.role == "assistant" and turn.blocks and not answered and all(map(self.is_thinking, turn.blocks)):
                text = "left out: nothing but thinking is left of the answer"
                self.notices.extend(Notice("thinking_omitted", text, path) for path in turn.paths)
            elif kept and kept[-1].role == turn.role:
                kept[-1].results.extend(turn.results)
                kept[-1].blocks.extend(turn.blocks)
            else:
                kept.append(turn)
        return kept

    def turn(self, role: Literal["user", "assistant"]) -> Turn:
        """The turn to write to: the last one where it has this role."""
        if not self.turns or self.turns[-1].role != role:
            self.turns.append(Turn(role))
        return self.turns[-1]

    def omit(self, block: Block, path: str, reason: str) -> None:
        """Tell of a block that is left out."""
        code = "thinking_omitted" if isinstance(block, Thinking) else "block_omitted"
        self.notices.append(Notice(code, f"left out: {reason}", path))
        if isinstance(block, ToolCall):
            self._unsent_calls.add(block.id)

    def user(self, message: UserMessage, path: str) -> None:
        """Write what a user says."""
        blocks = self._said(message.content, f"{path}.content", tell_blank=True)
        if blocks:
            self.turn("user").blocks.extend(blocks)

    def _result(self, message: ToolResult, path: str) -> None:
        if message.call_id in self._unsent_calls:
            self.notices.append(Notice("result_omitted", "left out: its call is not sent either", path))
            return
        content = self._said(message.content, f"{path}.content")
        self.turn("user").results.append(self.result_block(message, content))

    def _assistant(self, message: AssistantMessage, path: str) -> None:
        withheld = self.withheld(message)
        blocks: list[Json] = []
        for place, block in enumerate(message.content):
            where = f"{path}.content[{place}]"
            reason = withheld(place)
            if reason is not None:
                self.omit(block, where, reason)
                continue
            write = self.answered.get(type(block))
            kind = type(block).__name__
            written = f"an assistant message cannot hold a {kind}" if write is None else write(block, message.origin)
            if isinstance(written, str):
                self.omit(block, where, written)
            elif written is not None:
                blocks.append(written)
                if isinstance(block, ToolCall):
                    self._unsent_calls.discard(block.id)
        if blocks:
            turn = self.turn("assistant")
            turn.blocks.extend(blocks)
            turn.paths.append(path)

    def _said(self, blocks: Iterable[Block], path: str, *, tell_blank: bool = False) -> list[Json]:
        content: list[Json] = []
        for place, block in enumerate(blocks):
            where = f"{path}[{place}]"
            write = self.said.get(type(block))
            kind = type(block).__name__
            written = f"a user message cannot hold a {kind}" if write is None else write(block, where)
            if isinstance(written, str):
                self.omit(block, where, written)
            elif written is not None:
                content.append(written)
            elif tell_blank:
                self.omit(block, where, "blank text is refused")
        return content


def arguments_of(call: ToolCall) -> WireBlock | str:
    """The arguments of a call as an object, or the reason why it cannot be sent."""
    if not call.complete:
        return "the call was cut off"
    try:
        arguments = call.arguments
    except MalformedToolArguments as error:
        return f"a call is sent as an object, and {error}"
    fault = unsendable(arguments)
    return arguments if fault is None else f"the arguments cannot be sent as JSON: the object {fault}"


def opaque_block(block: Opaque, protocol: str) -> WireBlock | str:
    """A block that is not modelled, as it came; or the reason why it cannot be sent on a protocol."""
    if block.protocol != protocol:
        return f"a {block.kind} block of {block.protocol} has no form here"
    if not block.complete:
        return f"the {block.kind} block was cut off"
    fault = unsendable(block.data)
    return dict(block.data) if fault is None else f"the {block.kind} block cannot be sent: its data {fault}"
