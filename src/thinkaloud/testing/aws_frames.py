"""Frames of an Amazon event stream, written as the service writes them, both checksums right."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from zlib import crc32

_TEXT = 7


def frame(headers: Mapping[str, str], payload: bytes = b"") -> bytes:
    """One frame with headers of text."""
    block = b"".join(_header(name, value) for name, value in headers.items())
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    body = prelude + struct.pack(">I", crc32(prelude)) + block + payload
    return body + struct.pack(">I", crc32(body))


def event_frame(name: str, payload: bytes) -> bytes:
    """An event under its type."""
    return frame({":event-type": name, ":content-type": "application/json", ":message-type": "event"}, payload)


def exception_frame(name: str, payload: bytes) -> bytes:
    """An exception that the service models."""
    return frame({":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}, payload)


def error_frame(code: str, message: str) -> bytes:
    """A failure that the service does not model: its words stand in the headers."""
    return frame({":message-type": "error", ":error-code": code, ":error-message": message})


def frame_ends(data: bytes) -> list[int]:
    """Positions right after each whole frame of a body."""
    ends, place = [], 0
    while len(data) - place >= 4:
        place += max(16, int.from_bytes(data[place : place + 4], "big"))
        if place <= len(data):
            ends.append(place)
    return ends


def _header(name: str, value: str) -> bytes:
    said, told = name.encode(), value.encode("utf-8", "replace")
    return bytes((len(said),)) + said + bytes((_TEXT,)) + struct.pack(">H", len(told)) + told
