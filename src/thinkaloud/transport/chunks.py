"""Takes the bodies that come in chunks out of what a server sends, so that the HTTP library has only the rest to read.

Servers send every event in an HTTP chunk of its own, and an HTTP library spends far more on a chunk than parsing its
event costs. The library still reads the head and the end of each answer, and everything that is odd. No I/O here.
"""

from __future__ import annotations

import re

_HEAD_END = b"\r\n\r\n"
_START = b"HTTP/1.1 "
_EARLY = re.compile(rb"1(?!01)")  # the head of the answer itself comes after it
_WITHOUT_BODY = re.compile(rb"204|304")
_TRANSFER = re.compile(rb"\r\ntransfer-encoding:([^\r\n]*+)(?=\r\n)", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*+([0-9]{1,20})[ \t]*+(?=\r\n)", re.IGNORECASE)
_LONGEST_HEAD = 16 * 1024  # each piece of a longer one would be searched again and again
_LONGEST_SIZE_LINE = 1024

# A size line, alone or after the line end of the chunk before it; and what may yet become one.
_SIZE = rb"([0-9a-fA-F]{1,15})(?:;[^\r\n]*|[ \t]*)\r\n"
_HALF_SIZE = rb"[0-9a-fA-F]{0,15}(?:;[^\r\n]*|[ \t]*)\r?"
_FIRST, _NEXT = re.compile(_SIZE), re.compile(rb"\r\n" + _SIZE)
_HALF_FIRST, _HALF_NEXT = re.compile(_HALF_SIZE), re.compile(rb"\r?|\r\n" + _HALF_SIZE)
_LAST = re.compile(rb"0++[^\r\n]*+\r\n(?:[^\r\n]++\r\n)*+\r\n")  # the last chunk and what belongs to it
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
        self._owed = -1  # of a body of known length, bytes that have not come yet; below zero: more came, or who knows
        self._end = b""  # what came after the last chunk with data

    @property
    def at_end(self) -> bool:
        """An answer has ended, and nothing came after it: what comes next can only be the answer to the next request.

        Of what was left for the HTTP library in its packet, that library makes the next answer.
        """
        return self._owed == 0 or _LAST.fullmatch(self._end) is not None

    def expect_answer(self) -> None:
        """A request goes out: what comes next is the head of its answer."""
        if self._read in (self._pass, self._read_end):
            self._read = self._read_head
            self._between = False
            self._owed, self._end = -1, b""

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
        self._owed -= len(data)
        return data

    def _read_end(self, data: bytes) -> bytes:
        if len(self._end) < _LONGEST_HEAD:  # a longer one is none
            self._end += data
        return data

    def _read_head(self, data: bytes) -> bytes:
        start = 0
        while True:
            end = data.find(_HEAD_END, start)
            head = data[start : end + 4] if end >= 0 else data[start:]
            plain = head.count(b"\n") == head.count(b"\r\n")  # one may end with bare LFs, and is not waited for then
            if end < 0 and plain and len(head) <= _LONGEST_HEAD and _START.startswith(head[: len(_START)]):
                self._held = head
                return data[:start]
            plain = plain and head.startswith(_START)
            if end < 0 or not plain:
                self._read = self._pass
                return data
            start = end + 4
            if not _EARLY.match(head, len(_START)):
                break
        codings = [coding.strip(b" \t").lower() for coding in _TRANSFER.findall(head)]
        lengths = _LENGTH.findall(head)
        if codings == [b"chunked"] and not _WITHOUT_BODY.match(head, len(_START)):
            self._read = self._read_chunks
            self.inside = True
            return data[:start] + self._read_chunks(data[start:])
        self._read = self._pass
        if _WITHOUT_BODY.match(head, len(_START)):
            self._owed = 0
        elif not codings and len(lengths) == 1:
            self._owed = int(lengths[0])
        return data[:start] + self._pass(data[start:])

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
            self._read, self.inside = self._read_end, False
            if self._between:
                rest = rest[2:] if rest.startswith(b"\r\n") else _NO_SIZE + rest
            return self._read_end(rest)
        return b""
