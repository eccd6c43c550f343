"""How the bytes of an answer travel: in which pieces, how fast, and where the connection breaks.

A Delivery only plans; the transport in memory and the loopback server carry out the same steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Literal, Protocol

from attrs import field, frozen
from attrs.validators import ge, instance_of, optional


class Gate(Protocol):
    """What a delivery can wait for; an `anyio.Event` is one."""

    async def wait(self) -> Any: ...


class Ending(Enum):
    """How a body ends."""

    COMPLETE = "complete"
    """As HTTP says: the body is told to be over."""
    CLOSED = "closed"
    """The connection is closed in the middle of the body."""
    RESET = "reset"
    """The connection is reset in the middle of the body."""
    STALLED = "stalled"
    """Nothing more comes, and the connection stays open."""


@frozen
class Wait:
    """A step in which nothing is sent: until the gate opens, or for some seconds."""

    gate: Gate | None = None
    seconds: float = 0.0


Step = bytes | Wait | Ending
Pieces = Literal["events", "bytes", "whole"] | int | Sequence[int]


def _checked_pieces(_instance: object, attribute: Any, value: object) -> None:
    if value in ("events", "bytes", "whole"):
        return
    sizes = [value] if isinstance(value, int) else value
    if (
        isinstance(sizes, Sequence)
        and not isinstance(sizes, str)
        and all(isinstance(size, int) and size > 0 for size in sizes)
    ):
        return
    raise ValueError(f'{attribute.name}={value!r} must be "events", "bytes", "whole", a size or a sequence of sizes')


def _copied_gates(value: Mapping[int, Gate]) -> Mapping[int, Gate]:
    return dict(value)


_position = optional([instance_of(int), ge(0)])


@frozen(kw_only=True)
class Delivery:
    """How the bytes of an answer travel. The defaults: one piece per wire event, at once, to a good end.

    pieces: "events": one piece per wire event; "bytes": byte by byte; "whole": all in one; a number: pieces of that
        size; a sequence of sizes: pieces of these sizes, then the rest. A server sends each as one HTTP chunk.
    pace: seconds between two pieces.
    gates: piece number, from 0, to what is waited for before that piece is sent, such as {3: anyio.Event()}. The number
        of pieces stands for the end of the body.
    head: what is waited for before the status and the headers are sent: a gate, or seconds.
    cut_after: bytes of the body after which it ends, cleanly as HTTP sees it.
    close_after: bytes after which the connection is closed, in the middle of the HTTP answer.
    reset_after: bytes after which the connection is reset.
    stall_after: bytes after which nothing more comes.

    Raises ValueError for more than one of the last four.
    """

    pieces: Pieces = field(default="events", validator=_checked_pieces)
    pace: float = field(default=0.0, validator=ge(0))
    gates: Mapping[int, Gate] = field(factory=dict, converter=_copied_gates, hash=False)
    head: Gate | float = 0.0
    cut_after: int | None = field(default=None, validator=_position)
    close_after: int | None = field(default=None, validator=_position)
    reset_after: int | None = field(default=None, validator=_position)
    stall_after: int | None = field(default=None, validator=_position)

    def __attrs_post_init__(self) -> None:
        if len(self._breaks()) > 1:
            raise ValueError("only one of cut_after, close_after, reset_after and stall_after can happen")

    def head_wait(self) -> Wait:
        """What comes before the head of the answer."""
        return Wait(seconds=self.head) if isinstance(self.head, int | float) else Wait(self.head)

    def steps(self, events: Sequence[bytes]) -> Iterator[Step]:
        """Plan the body, given as wire events: pieces and waits, and the ending as the last step."""
        limit, ending = (self._breaks() or [(None, Ending.COMPLETE)])[0]
        sent = count = 0
        for number, piece in enumerate(self._pieces(events)):
            if number and self.pace:
                yield Wait(seconds=self.pace)
            if number in self.gates:
                yield Wait(self.gates[number])
            if limit is not None and sent + len(piece) >= limit:
                if limit > sent:
                    yield piece[: limit - sent]
                yield ending
                return
            sent += len(piece)
            count = number + 1
            yield piece
        if count in self.gates:
            yield Wait(self.gates[count])
        yield Ending.COMPLETE

    def length(self, events: Sequence[bytes]) -> int:
        """Bytes that the head may promise for a body that is not streamed."""
        whole = sum(map(len, events))
        return whole if self.cut_after is None else min(whole, self.cut_after)

    def _breaks(self) -> list[tuple[int | None, Ending]]:
        places = (
            (self.cut_after, Ending.COMPLETE),
            (self.close_after, Ending.CLOSED),
            (self.reset_after, Ending.RESET),
            (self.stall_after, Ending.STALLED),
        )
        return [place for place in places if place[0] is not None]

    def _pieces(self, events: Sequence[bytes]) -> Iterator[bytes]:
        if self.pieces == "events":
            yield from filter(None, events)
            return
        body = b"".join(events)
        if self.pieces == "whole":
            sizes: Sequence[int] = (len(body),)
        elif self.pieces == "bytes":
            sizes = (1,) * len(body)
        elif isinstance(self.pieces, int):
            sizes = (self.pieces,) * -(-len(body) // self.pieces)
        else:
            sizes = (*(int(size) for size in self.pieces), len(body))
        start = 0
        for size in sizes:
            if start < len(body):
                yield body[start : start + size]
                start += size
