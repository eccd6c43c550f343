"""Recorded conversations, as pairs: an answer, and the turn in a later request by which it was accepted again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar

from attrs import frozen

from support.reading import one_piece, read
from support.shared import Recording
from thinkaloud.messages import AssistantMessage, Message, ToolResult, UserMessage

T = TypeVar("T")


def named(recording: Recording) -> str:
    return recording.name


def answered(recordings: Iterable[Recording]) -> list[Recording]:
    """The recordings that tell of an answer and not of an error."""
    return [recording for recording in recordings if "error" not in recording.expected]


def message_of(recording: Recording, provider: str) -> AssistantMessage:
    """An answer as we read it."""
    return read(recording.wire, one_piece(recording.body), provider=provider).finished


def history_after(answer: AssistantMessage, *, goes_on: bool = True) -> list[Message]:
    """A question, the answer, a result for each of its calls, and, where the user goes on, another question."""
    results = [ToolResult(call.id, "done") for call in answer.tool_calls]
    return [UserMessage("Hi"), answer, *results, *([UserMessage("Go on")] if goes_on else [])]


def request_of(recording: Recording) -> dict[str, Any]:
    """The body of a recorded request; {} where the collection does not have it."""
    path = recording.folder / "request.json"
    body: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return body


@frozen
class Replay(Generic[T]):
    """An accepted turn, and the answer that it was made from.

    name: the recording that has the request.
    place: of the turn among the assistant's turns of the request, from 0.
    accepted: the turn as it was sent.
    """

    name: str
    place: int
    answer: Recording
    accepted: T

    @property
    def id(self) -> str:
        return f"{self.name}-turn-{self.place}"


def replays(recordings: Iterable[Recording], turns: Callable[[dict[str, Any]], list[T]]) -> list[Replay[T]]:
    """Pair each assistant turn of the accepted requests with the recording of its answer, by their numbers.

    turns: reads the assistant's turns out of a request.
    """
    by_name = {recording.name: recording for recording in recordings}
    found: list[Replay[T]] = []
    for recording in answered(by_name.values()):
        if numbered := re.fullmatch(r"(.*)-(\d+)", recording.name):
            accepted = turns(request_of(recording))
            for place, turn in enumerate(accepted):
                answer = by_name.get(f"{numbered[1]}-{int(numbered[2]) - len(accepted) + place}")
                if answer is not None and "error" not in answer.expected:
                    found.append(Replay(recording.name, place, answer, turn))
    return found


@frozen
class Harmless(Generic[T]):
    """A difference between accepted turns and ours, and why it does no harm.

    names: patterns of the recordings that have it.
    rewrite: makes of an accepted turn what ours is, given both.
    """

    names: tuple[str, ...]
    reason: str
    rewrite: Callable[[T, T], T]

    def concerns(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.names)


def rewritten(rows: Iterable[Harmless[T]], name: str, ours: T, accepted: T) -> tuple[T, T]:
    """Our turn and the accepted one, once the harmless differences of a recording are taken out of the latter."""
    for row in rows:
        if row.concerns(name):
            accepted = row.rewrite(accepted, ours)
    return ours, accepted


def listed(recordings: list[Recording], wire: str) -> set[str]:
    """The names under which the collection tells of replayed turns on a wire."""
    text = (recordings[0].folder.parent.parent / "REPLAYS.md").read_text("utf-8").partition("## Refused")[0]
    return set(re.findall(rf"`{wire}/([\w.-]+)`", text))
