"""Bodies taken apart into their events and framed again: server-sent events, frames of AWS, or one JSON document."""

from __future__ import annotations

import json
import re
import struct
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator
from typing import Literal
from zlib import crc32

from attrs import frozen

from thinkaloud.testing.aws_frames import frame_ends

_BLANK_LINES = re.compile(rb"(?:\r\n|\n|\r){2,}")
_LINE_END = re.compile(rb"\r\n|\n|\r")


@frozen
class Event:
    """A part of a body that can be changed, moved and framed alone.

    frame: how it is framed; "packed": JSON in base64 in a frame of AWS, "raw": as it is.
    head: what stands before the payload: lines of a server-sent event, headers of a frame as bytes.
    payload: JSON, mostly.
    """

    frame: Literal["sse", "aws", "packed", "raw"]
    head: bytes
    payload: bytes


def events_of(body: bytes) -> list[Event]:
    """The events of a body, in order; what has no form that is known is one raw event."""
    if body[:1] == b"\0":
        return list(_frames(body))
    if body[:1] in (b"{", b"[") or b"data:" not in body:
        return [Event("raw", b"", body)]
    return [_block(block) for block in _BLANK_LINES.split(body) if block]


def framed(events: Iterable[Event], line: bytes = b"\n") -> bytes:
    """A body of events, each validly framed. line: the line end of server-sent events."""
    return b"".join(_framed(event, line) for event in events)


def _block(block: bytes) -> Event:
    lines = _LINE_END.split(block)
    data = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
    if not data:
        return Event("raw", b"", block + b"\n\n")
    head = b"".join(line + b"\n" for line in lines if not line.startswith(b"data:"))
    return Event("sse", head, b"\n".join(data))


def _frames(body: bytes) -> Iterator[Event]:
    start = 0
    for end in frame_ends(body):
        headers_end = start + 12 + int.from_bytes(body[start + 4 : start + 8], "big")
        if headers_end > end - 4:
            break
        head, payload = body[start + 12 : headers_end], body[headers_end : end - 4]
        inner = _unpacked(payload) if b"\x05chunk" in head else None
        yield Event("aws", head, payload) if inner is None else Event("packed", head, inner)
        start = end
    if body[start:]:
        yield Event("raw", b"", body[start:])


def _unpacked(payload: bytes) -> bytes | None:
    try:
        return b64decode(json.loads(payload)["bytes"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _framed(event: Event, line: bytes) -> bytes:
    if event.frame == "raw":
        return event.payload
    if event.frame == "sse":
        data = b"".join(b"data: " + value + b"\n" for value in event.payload.split(b"\n"))
        return (event.head + data + b"\n").replace(b"\n", line)
    payload = event.payload
    if event.frame == "packed":
        payload = b'{"bytes":"' + b64encode(payload) + b'"}'
    prelude = struct.pack(">II", 16 + len(event.head) + len(payload), len(event.head))
    frame = prelude + struct.pack(">I", crc32(prelude)) + event.head + payload
    return frame + struct.pack(">I", crc32(frame))
