"""What is promised of every answer, however odd its bytes are: checked on each that fuzzing reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from attrs import evolve, frozen

import thinkaloud as ta
from support.targets import TARGETS as MODELS
from support.targets import prepared
from thinkaloud import codec
from thinkaloud.errors import ProviderError, StreamError
from thinkaloud.events import StreamEvent
from thinkaloud.models.dialect import Dialect
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.testing import check_event_rules

_HEADERS = {"retry-after": "3", "x-amzn-errortype": "ValidationException:x#y", "request-id": "r"}


@frozen
class Read:
    """What came of reading an answer."""

    events: Sequence[StreamEvent]
    message: ta.AssistantMessage | None
    error: ta.ThinkaloudError | None

    @property
    def failure(self) -> tuple[str, str] | None:
        return None if self.error is None else (type(self.error).__name__, str(self.error))


def pieces_of(data: bytes, size: int) -> Iterable[bytes]:
    """The data in pieces of that many bytes."""
    return (data[start : start + size] for start in range(0, len(data), size))


def read(protocol: str, pieces: Iterable[bytes], dialect: Dialect, status: int = 200) -> Read:
    """Read an answer. What it raises is a fault."""
    context = ParseContext(origin=ta.Origin(protocol, "p", "m"), dialect=dialect)
    reader = Reader(wire_protocol(protocol), context, status=status, headers=_HEADERS)
    events = [event for piece in pieces for event in reader.feed(piece)]
    events += reader.close()
    error = reader.error
    message = error.partial if isinstance(error, (ProviderError, StreamError)) else reader.message
    return Read(events, message, error)


def check_answer(protocol: str, dialect: Dialect, data: bytes, size: int) -> None:
    """Read an answer in pieces of that size, and check all that is promised of it. Raises AssertionError."""
    answer = read(protocol, pieces_of(data, size), dialect)
    check_event_rules(answer.events, complete=answer.error is None)
    whole = read(protocol, (data,), dialect)
    assert (answer.failure, answer.message) == (whole.failure, whole.message), "pieces change what comes out"
    message = whole.message
    if message is None:
        return
    assert codec.loads(codec.dumps(message)) == message, "the codec changes a message"
    check_calls(message)
    check_cut(protocol, dialect, data, message)
    check_sendable(protocol, message)


def check_calls(message: ta.AssistantMessage) -> None:
    """The arguments of each call are read, or are refused as what they are."""
    for call in message.tool_calls:
        try:
            _ = call.arguments
        except ta.MalformedToolArguments:
            continue


def check_cut(protocol: str, dialect: Dialect, data: bytes, message: ta.AssistantMessage) -> None:
    """A call that is complete in a beginning of the answer is complete in all of it, with the same arguments."""
    cut = read(protocol, (data[: len(data) * (len(data) % 97) // 97],), dialect)
    if cut.message is None or not isinstance(cut.error, StreamError):
        return
    known = [(call.id, call.name, call.arguments_json) for call in message.tool_calls]
    for call in cut.message.tool_calls:
        assert (call.id, call.name, call.arguments_json) in known, "a half call is offered"


def check_sendable(protocol: str, message: ta.AssistantMessage) -> None:
    """The message goes back to its own protocol, and to another one, or is refused with a typed error."""
    results = [ta.ToolResult(call.id, "done") for call in message.tool_calls]
    others = tuple(MODELS)
    for wire in (protocol, others[len(message.content) % len(others)]):
        model = MODELS[wire]
        mine = evolve(message, origin=ta.Origin(protocol, MODELS[protocol].provider, MODELS[protocol].id))
        history: list[Any] = [ta.UserMessage("Hi"), mine, *results, ta.UserMessage("Go on")]
        try:
            prepared(model, history)
        except ta.ThinkaloudError:
            continue
