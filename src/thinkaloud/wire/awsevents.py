"""Amazon event streams: bytes as the network cuts them, to whole events.

A frame is a prelude (its length, the length of its headers, a checksum of both), headers, a payload, and a checksum of
all that stands before it. Both checksums are verified before anything of a frame is used. What a frame says of itself
becomes the name of a server event, and its payload the data:

- a message of type `event` is an event under its `:event-type`;
- an `exception`, which the service models, is `exception:` and its `:exception-type`;
- an `error`, which it does not, is `error:` and its `:error-code`, with the `:error-message` as a JSON object.
"""

from __future__ import annotations

import binascii
import json
import struct
from base64 import b64decode
from collections.abc import Callable
from typing import Any
from zlib import crc32

from thinkaloud.errors import MalformedStream, StreamError, over_limit
from thinkaloud.wire.server_event import ServerEvent

EXCEPTION = "exception:"
ERROR = "error:"

_PRELUDE = struct.Struct(">III")
_CHECKSUM = struct.Struct(">I")
_PRELUDE_SIZE = _PRELUDE.size
_OVERHEAD = _PRELUDE_SIZE + _CHECKSUM.size
_read_prelude = _PRELUDE.unpack_from
_read_checksum = _CHECKSUM.unpack_from
_LARGEST_HEADERS = 128 * 1024  # the format's own bound

# Names by the headers that tell them: a service writes the same few headers in every stream, so each is read once.
_NAMES: dict[bytes, str] = {}
_REMEMBERED = 64
_SMALL_HEADERS = 512


class AwsEventDecoder:
    """Cuts a body into events, however the network cuts it. Linear in the size of the body.

    max_event_size: bytes that one frame may have.

    A body that ends inside a frame leaves the frame out: whether an answer may end there is its parser's business.
    """

    def __init__(self, *, max_event_size: int = 16 * 1024 * 1024) -> None:
        self.max_event_size = max_event_size
        self._pending = bytearray()  # the frame that is not yet whole
        self._needed = 0  # bytes that it must have before it is worth a look
        self._error: StreamError | None = None

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Take in the next bytes and give the events that they complete.

        Raises MalformedStream for a checksum that does not fit and for frames that are none, LimitExceeded(which=
        "event_size") as soon as a frame is known to be larger than its bound; and the same from then on.
        """
        pending = self._pending
        if self._error is not None:
            raise self._error
        size = len(chunk)
        if pending:
            pending += chunk
            if len(pending) < self._needed:
                return []
            chunk = bytes(pending)
            pending.clear()
        elif _OVERHEAD <= size <= self.max_event_size:
            # Nearly every chunk is one frame with headers that were seen before.
            total, headers, checksum = _read_prelude(chunk)
            if total == size and crc32(chunk[:8]) == checksum:
                payload_at = _PRELUDE_SIZE + headers
                name = _NAMES.get(chunk[_PRELUDE_SIZE:payload_at])
                if name is not None and crc32(chunk[8:-4], checksum) == _read_checksum(chunk, size - 4)[0]:
                    payload = chunk[payload_at:-4]
                    return [ServerEvent(name, payload.decode() if payload.isascii() else _text(payload))]
        events: list[ServerEvent] = []
        start, end = 0, len(chunk)
        try:
            while end - start >= _PRELUDE_SIZE:
                total = self._length(chunk, start)
                if end - start < total:
                    break
                events.append(self._read(chunk, start, total))
                start += total
        except StreamError as error:
            # Events that come before the fault are given out first; the next call raises.
            self._error = error
            if not events:
                raise
            return events
        if start < end:
            pending += chunk[start:] if start else chunk
            self._needed = _PRELUDE_SIZE if len(pending) < _PRELUDE_SIZE else self._length(pending, 0)
        return events

    def close(self) -> list[ServerEvent]:
        """Take in the end of the body. Nothing follows: a frame that was cut is no event.

        Raises as feed() did, or found it after events that it gave out first.
        """
        if self._error is not None:
            raise self._error
        self._pending.clear()
        return []

    def _length(self, data: bytes | bytearray, start: int) -> int:
        """The length of the frame that starts here, once its prelude is proved."""
        total, headers, checksum = _read_prelude(data, start)
        if crc32(data[start : start + 8]) != checksum:
            raise MalformedStream("the prelude of a frame does not fit its checksum")
        if total > self.max_event_size:
            size = self.max_event_size
            raise over_limit("event_size", size, f"a frame of the stream has over {size} bytes")
        if total < _OVERHEAD + headers or headers > _LARGEST_HEADERS:
            raise MalformedStream(f"a frame of {total} bytes cannot have {headers} bytes of headers")
        return int(total)

    def _read(self, data: bytes, start: int, total: int) -> ServerEvent:
        """Read the frame that is whole."""
        end = start + total - _CHECKSUM.size
        body = data[start:end]
        if crc32(body) != _read_checksum(data, end)[0]:
            raise MalformedStream("a frame does not fit its checksum")
        payload_at = _PRELUDE_SIZE + int.from_bytes(body[4:8], "big")
        head = body[_PRELUDE_SIZE:payload_at]
        text = _text(body[payload_at:])
        name = _NAMES.get(head)
        if name is None:
            headers = read_headers(head)
            name = _name(headers)
            if name.startswith(ERROR):
                return ServerEvent(name, text or json.dumps({"message": str(headers.get(":error-message", ""))}))
            if len(head) <= _SMALL_HEADERS:
                if len(_NAMES) >= _REMEMBERED:
                    _NAMES.clear()
                _NAMES[head] = name
        return ServerEvent(name, text)


class AwsChunkDecoder:
    """Unpacks the events of a model's own protocol out of an Amazon event stream (InvokeModelWithResponseStream).

    Each frame of type `chunk` holds one event's JSON in base64. Exceptions become error events in the shape that every
    protocol of JSON events knows: `{"type": "error", "error": {"type": ..., "message": ...}}`.
    """

    def __init__(self, *, max_event_size: int = 16 * 1024 * 1024) -> None:
        self._frames = AwsEventDecoder(max_event_size=max_event_size)
        self._error: StreamError | None = None

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Take in the next bytes and give the events that they complete. Raises as AwsEventDecoder does."""
        if self._error is not None:
            raise self._error
        events: list[ServerEvent] = []
        try:
            for frame in self._frames.feed(chunk):
                events.append(_unpacked(frame))  # noqa: PERF401  those before a fault must be kept
        except StreamError as error:
            self._error = error
            if not events:
                raise
        return events

    def close(self) -> list[ServerEvent]:
        """Take in the end of the body. Raises as feed() did, or found it after events that it gave out first."""
        if self._error is not None:
            raise self._error
        return self._frames.close()


def exception_name(event: str) -> str | None:
    """The name of the exception that an event tells, as an HTTP answer would write it; None for any other event."""
    for prefix in (EXCEPTION, ERROR):
        if event.startswith(prefix):
            name = event.removeprefix(prefix)
            return name[:1].upper() + name[1:]
    return None


# One header value: bytes of a fixed size with its reading, or None where a length stands before it.
_FIXED: dict[int, tuple[int, Callable[[bytes], Any]]] = {
    0: (0, lambda _: True),
    1: (0, lambda _: False),
    2: (1, lambda value: int.from_bytes(value, "big", signed=True)),
    3: (2, lambda value: int.from_bytes(value, "big", signed=True)),
    4: (4, lambda value: int.from_bytes(value, "big", signed=True)),
    5: (8, lambda value: int.from_bytes(value, "big", signed=True)),
    8: (8, lambda value: int.from_bytes(value, "big", signed=True)),  # milliseconds since 1970
    9: (16, bytes),  # a UUID
}


def _text(value: bytes) -> str:
    try:
        return value.decode()  # a fifth of the time that it takes with "replace"
    except UnicodeDecodeError:
        return value.decode("utf-8", "replace")


_SIZED: dict[int, Callable[[bytes], Any]] = {6: bytes, 7: _text}


def read_headers(data: bytes) -> dict[str, bool | int | bytes | str]:
    """The headers of a frame. Raises MalformedStream for what is cut, repeated or of an unknown type."""
    headers: dict[str, Any] = {}
    place = 0

    def take(size: int) -> bytes:
        nonlocal place
        if place + size > len(data):
            raise MalformedStream("the headers of a frame are cut")
        place += size
        return data[place - size : place]

    while place < len(data):
        name = _text(take(take(1)[0]))
        kind = take(1)[0]
        if kind in _FIXED:
            size, read = _FIXED[kind]
        elif kind in _SIZED:
            size, read = int.from_bytes(take(2), "big"), _SIZED[kind]
        else:
            raise MalformedStream(f"the header {name!r} has the unknown type {kind}")
        if name in headers:
            raise MalformedStream(f"a frame has the header {name!r} twice")
        headers[name] = read(take(size))
    return headers


def _name(headers: dict[str, bool | int | bytes | str]) -> str:
    match headers.get(":message-type"):
        case "exception":
            return EXCEPTION + str(headers.get(":exception-type", ""))
        case "error":
            return ERROR + str(headers.get(":error-code", ""))
        case _:
            return str(headers.get(":event-type") or "message")


def _unpacked(frame: ServerEvent) -> ServerEvent:
    name = exception_name(frame.event)
    try:
        payload = json.loads(frame.data) if frame.data else {}
    except (ValueError, RecursionError):
        payload = None
    if name is not None:
        told = payload.get("message") if isinstance(payload, dict) else frame.data
        message = told if isinstance(told, str) else ""
        return ServerEvent("error", json.dumps({"type": "error", "error": {"type": name, "message": message}}))
    packed = payload.get("bytes") if isinstance(payload, dict) else None
    if not isinstance(packed, str):
        return frame  # no chunk: its parser tells what it makes of it
    try:
        return ServerEvent("message", _text(b64decode(packed)))
    except (binascii.Error, ValueError):
        raise MalformedStream("the bytes of a chunk are not base64") from None
