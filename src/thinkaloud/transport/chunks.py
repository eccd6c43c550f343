"""Takes the bodies that come in chunks out of what a server sends, so that the HTTP library has only the rest to read.

Servers send every event in an HTTP chunk of its own, and an HTTP library spends far more on a chunk than parsing its
event costs. The library still reads the head and the end of each answer, and everything that is odd. No I/O here.
"""

from __future__ import annotations

import re

_HEAD_END = b"\r\n\r\n"
_START = b"HTTP/1.1 "
_WITHOUT_BODY = re.compile(rb"1|204|304")
_TRANSFER = re.compile(rb"\r\ntransfer-encoding:([^\r\n]*+)(?=\r\n)", re.IGNORECASE)
_LONGEST_HEAD = 16 * 1024  # each piece of a longer one would be searched again and again
_LONGEST_SIZE_LINE = 1024

# A size line, alone or after the line end of the chunk before it; and what may yet become one.
_SIZE = rb"([0-9a-fA-F]{1,15})(?:;[^\r\n]*|[ \t]*)\r\n"
_HALF_SIZE = rb"[0-9a-fA-F]{0,15}(?:;[^\r\n]*|[ \t]*)\r?"
_FIRST, _NEXT = re.compile(_SIZE), re.compile(rb"\r\n" + _SIZE)
_HALF_FIRST, _HALF_NEXT = re.compile(_HALF_SIZE), re.compile(rb"\r?|\r\n" + _HALF_SIZE)
_NO_SIZE = b"!"  # makes a size line wrong: what stands where a chunk's line end is missing may look like one


class Dechunker:
    """Parts what a server sends on one HTTP/1.1 connection, in pieces of any size, into bodies and all the rest.

    To the HTTP library an answer in chunks looks like one whose body is empty, or begins where something is odd.
    """

    def __init__(self) -> None:
        self.inside = False
        """A body is being taken out: what comes next belongs to it, or ends it."""
        self._read = self._read_head
        self._body: list[bytes] = []
        self._held = b""  # a head or a size line that is not whole yet
        self._left = 0  # bytes of the current chunk that have not come yet
        self._between = False  # a chunk has ended, and its line end has not come

    def expect_answer(self) -> None:
        """A request goes out: what comes next is the head of its answer."""
        if self._read == self._pass:
            self._read = self._read_head
            self._between = False

    def feed(self, data: bytes) -> bytes:
        """Take in what was read from the connection; give what the HTTP library shall read, which may be nothing."""
        if self._held:
            data, self._held = self._held + data, b""
        return self._read(data)

    def take(self) -> bytes:
        """What of a body has come since the last call."""
        body, self._body = self._body, []
        return body[0] if len(body) == 1 else b"".join(body)

    def _pass(self, data: bytes) -> bytes:
        return data

    def _read_head(self, data: bytes) -> bytes:
        end = data.find(_HEAD_END)
        head = data if end < 0 else data[: end + 4]
        plain = head.count(b"\n") == head.count(b"\r\n")  # a head may end with bare LFs, and is not waited for then
        if end < 0 and plain and len(data) <= _LONGEST_HEAD and _START.startswith(data[: len(_START)]):
            self._held = data
            return b""
        plain = plain and head.startswith(_START)
        chunked = [coding.strip(b" \t").lower() for coding in _TRANSFER.findall(head)] == [b"chunked"]
        if end < 0 or not plain or not chunked or _WITHOUT_BODY.match(head, len(_START)):
            self._read = self._pass
            return data
        self._read = self._read_chunks
        self.inside = True
        return head + self._read_chunks(data[end + 4 :])

    def _read_chunks(self, data: bytes) -> bytes:
        position, end = 0, len(data)
        while position < end:
            if self._left:
                piece = data[position : position + self._left]
                self._body.append(piece)
                position += len(piece)
                self._left -= len(piece)
                self._between = True
                continue
            line = (_NEXT if self._between else _FIRST).match(data, position)
            self._left = int(line.group(1), 16) if line is not None else 0
            if line is not None and self._left:
                position = line.end()
                continue
            rest = data[position:]
            half = _HALF_NEXT if self._between else _HALF_FIRST
            if line is None and len(rest) < _LONGEST_SIZE_LINE and half.fullmatch(rest):
                self._held = rest
                break
            # The last chunk and what comes after it, or nonsense.
            self._read, self.inside = self._pass, False
            if not self._between:
                return rest
            return rest[2:] if rest.startswith(b"\r\n") else _NO_SIZE + rest
        return b""
