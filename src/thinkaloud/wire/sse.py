"""Server-sent events: bytes as the network cuts them, to whole events.

The rules are those of the HTML standard (only CR, LF and CRLF end a line; one space after the colon is dropped), and
where servers of models need it, these besides:

- an event still pending at the end of the body is dispatched (servers and proxies leave out the last blank line);
- an event without data is none, and neither is one whose data is blank or is itself a comment (`data: : keep-alive`);
- a block without data but with a field named `error` is an event of that name (seen at gpustack).
"""

from __future__ import annotations

from thinkaloud.errors import LimitExceeded
from thinkaloud.wire.server_event import ServerEvent

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LF = 10


class SseDecoder:
    """Cuts a body into events, however the network cuts it. Linear in the size of the body.

    max_event_size: bytes that one event may have, without the line ends around it.
    last_event_id: the last `id` that the server gave; events repeat it until there is another.
    """

    def __init__(self, *, max_event_size: int = 16 * 1024 * 1024) -> None:
        self.max_event_size = max_event_size
        self.last_event_id = ""
        self._head: bytes | None = b""  # the body's first bytes, until it is known whether they are a byte-order mark
        self._after_cr = False  # the last byte was a CR: a LF right after it belongs to it
        self._pending = bytearray()  # the event that is not yet whole; its line ends are LF, and it starts with none
        self._error: LimitExceeded | None = None

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Take in the next bytes and give the events that they complete.

        Raises LimitExceeded(which="event_size") as soon as an event is larger than its bound, and from then on.
        """
        if self._error is not None:
            raise self._error
        if self._head is not None:
            chunk = self._without_byte_order_mark(chunk)
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk[0] == _LF:
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        pending = self._pending
        end = chunk.rfind(b"\n\n")
        if end >= 0:
            whole, rest = chunk[:end], chunk[end + 2 :]
        elif pending and chunk and chunk[0] == _LF and pending[-1] == _LF:
            whole, rest = b"", chunk[1:]
        else:
            pending += chunk if pending else chunk.lstrip(b"\n")
            if len(pending) > self.max_event_size and self._too_large(pending):
                self._fail([])
            return []
        if pending:
            whole = bytes(pending) + whole
            pending.clear()
        pending += rest
        if len(whole) > self.max_event_size or len(pending) > self.max_event_size:
            return self._read_bounded(whole)
        return self._read_all(whole)

    def close(self) -> list[ServerEvent]:
        """Take in the end of the body: an event that is still pending is given out. Its payload may be cut.

        Raises LimitExceeded where feed() did, or found it after events that it gave out first.
        """
        if self._error is not None:
            raise self._error
        last = self._head or bytes(self._pending)
        self._head = None
        self._pending.clear()
        return self._read_all(last)

    def _without_byte_order_mark(self, chunk: bytes) -> bytes:
        assert self._head is not None
        head = self._head + chunk
        if len(head) < len(_BYTE_ORDER_MARK) and _BYTE_ORDER_MARK.startswith(head):
            self._head = head
            return b""
        self._head = None
        return head.removeprefix(_BYTE_ORDER_MARK)

    def _read_all(self, whole: bytes) -> list[ServerEvent]:
        events = []
        for block in whole.decode("utf-8", "replace").split("\n\n"):
            # Nearly all events of all providers have one of these two forms.
            if block.startswith("data: {"):
                if "\n" not in block:
                    events.append(ServerEvent("message", block[6:], self.last_event_id))
                    continue
            elif block.startswith("event: "):
                name, _, data = block[7:].partition("\ndata: ")
                if data.startswith("{") and "\n" not in data and "\n" not in name:
                    events.append(ServerEvent(name or "message", data, self.last_event_id))
                    continue
            event = self._read(block)
            if event is not None:
                events.append(event)
        return events

    def _read(self, block: str) -> ServerEvent | None:
        """Read one event line by line."""
        name = error = ""
        lines: list[str] = []
        retry = None
        for line in block.split("\n"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                lines.append(value)
            elif field == "event":
                name = value
            elif field == "id":
                if "\0" not in value:
                    self.last_event_id = value
            elif field == "retry":
                if value.isascii() and value.isdigit():
                    retry = int(value)
            elif field == "error":
                error = value
        while lines and lines[0].lstrip().startswith(":"):
            del lines[0]
        data = "\n".join(lines)
        if data and not data.isspace():
            return ServerEvent(name or "message", data, self.last_event_id, retry)
        if error:
            return ServerEvent("error", error, self.last_event_id, retry)
        return None

    # the bound

    def _too_large(self, block: bytes | bytearray) -> bool:
        return len(block.strip(b"\n")) > self.max_event_size

    def _read_bounded(self, whole: bytes) -> list[ServerEvent]:
        """Read up to the first event that is too large."""
        blocks = whole.split(b"\n\n")
        sound = next((place for place, block in enumerate(blocks) if self._too_large(block)), len(blocks))
        events = self._read_all(b"\n\n".join(blocks[:sound]))
        if sound < len(blocks) or self._too_large(self._pending):
            self._fail(events)
        return events

    def _fail(self, events: list[ServerEvent]) -> None:
        """Raise, or let the next call raise where there are events that come before the fault."""
        self._pending.clear()
        self._error = LimitExceeded(
            f"an event of the stream is larger than {self.max_event_size} bytes",
            which="event_size",
            limit=self.max_event_size,
        )
        if not events:
            raise self._error
