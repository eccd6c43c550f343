"""The unit that every framing decoder hands to a parser."""

from __future__ import annotations

from attrs import define


@define
class ServerEvent:
    """One event from a server, with the attributes of a server-sent event (so httpx-sse's class fits a parser too).

    event: the event's name; "message" where the wire gave none.
    data: the payload, undecoded.
    id, retry: as the wire gave them.
    """

    event: str = "message"
    data: str = ""
    id: str = ""
    retry: int | None = None
