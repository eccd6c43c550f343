"""Where a server keeps the answers that browsers see only in part: signatures, payloads and provider ids stay here.

An answer is kept under the id that its browser knows it by: the messages of all its steps, in order, with the results
of the tools that the server ran.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from attrs import frozen

from thinkaloud.checked import whole_number
from thinkaloud.messages import AssistantMessage, ToolResult

Answer = tuple[AssistantMessage | ToolResult, ...]


class AnswerStore(Protocol):
    """Keeps answers by message id. An id comes from a browser and is no permission: each user gets a store.

    Both are called in the event loop, so they must be quick. A store behind a network is asked beforehand: load what
    `answer_ids(body)` names into a MemoryStore, read the request with it, and write `encoder.messages` afterwards.
    """

    def load(self, message_id: str) -> Sequence[AssistantMessage | ToolResult] | None:
        """The answer's messages; None where it is not known."""
        ...

    def save(self, message_id: str, messages: Sequence[AssistantMessage | ToolResult]) -> None:
        """Keep an answer, in place of what was kept of it before."""
        ...


class MemoryStore:
    """Keeps the newest answers in memory.

    limit: how many answers; the one that was used longest ago is forgotten first.
    """

    def __init__(self, *, limit: int = 10_000) -> None:
        whole_number("limit", limit)
        self._limit = limit
        self._answers: OrderedDict[tuple[str, str], Answer] = OrderedDict()

    def __len__(self) -> int:
        return len(self._answers)

    def of(self, owner: str) -> AnswerStore:
        """The part that belongs to one user or one chat: ids of others are unknown in it."""
        return _OwnedStore(self, owner)

    def load(self, message_id: str) -> Answer | None:
        """The answer's messages; None where it is not known."""
        return self._load("", message_id)

    def save(self, message_id: str, messages: Sequence[AssistantMessage | ToolResult]) -> None:
        """Keep an answer, in place of what was kept of it before."""
        self._save("", message_id, messages)

    def _load(self, owner: str, message_id: str) -> Answer | None:
        answer = self._answers.get((owner, message_id))
        if answer is not None:
            self._answers.move_to_end((owner, message_id))
        return answer

    def _save(self, owner: str, message_id: str, messages: Sequence[AssistantMessage | ToolResult]) -> None:
        self._answers[owner, message_id] = tuple(messages)
        self._answers.move_to_end((owner, message_id))
        if len(self._answers) > self._limit:
            self._answers.popitem(last=False)


@frozen
class _OwnedStore:
    store: MemoryStore
    owner: str

    def load(self, message_id: str) -> Answer | None:
        return self.store._load(self.owner, message_id)

    def save(self, message_id: str, messages: Sequence[AssistantMessage | ToolResult]) -> None:
        self.store._save(self.owner, message_id, messages)
