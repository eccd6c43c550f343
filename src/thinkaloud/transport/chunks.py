"""Merges the small chunks of an HTTP body that have arrived together, so that they are handed up as one.

Servers send every event in an HTTP chunk of its own, and an HTTP library spends more on each chunk than parsing its
event costs. Where chunks end means nothing in HTTP, so a body stays the same when its chunks are merged. No I/O here.
"""

from __future__ import annotations

import re

_HEAD_END = b"\r\n\r\n"
_START = b"HTTP/1.1 "
_TRANSFER = re.compile(rb"\r\ntransfer-encoding:[ \t]*([^\r\n]*?)[ \t]*(?=\r\n)", re.IGNORECASE)
_LONGEST_HEAD = 64 * 1024
_LONGEST_SIZE_LINE = 1024

# A size line, alone or after the line end of the chunk before it; and what may yet become one.
_SIZE = rb"([0-9a-fA-F]{1,15})(?:;[^\r\n]*|[ \t]*)\r\n"
_HALF_SIZE = rb"[0-9a-fA-F]{0,15}(?:;[^\r\n]*|[ \t]*)\r?"
_FIRST, _NEXT = re.compile(_SIZE), re.compile(rb"\r\n" + _SIZE)
_HALF_FIRST, _HALF_NEXT = re.compile(_HALF_SIZE), re.compile(rb"\r?|\r\n" + _HALF_SIZE)


class ChunkMerger:
    """Rewrites what a server sends on one HTTP/1.1 connection, in pieces of any size.

    What has come of a chunked body in one piece comes out as one chunk. Everything else, and everything that is odd,
    comes out byte for byte, so that the HTTP library decides what it means.
    """

    def __init__(self) -> None:
        self._read = self._read_head
        self._held = b""  # a head or a size line that is not whole yet
        self._left = 0  # bytes of the current chunk that have not come yet
        self._between = False  # a chunk has ended, and its line end has neither come nor been given

    def expect_answer(self) -> None:
        """A request goes out: what comes next is the head of its answer."""
        if self._read == self._pass:
            self._read = self._read_head
            self._between = False

    def feed(self, data: bytes) -> bytes:
        """Take in what was read from the connection; give what the HTTP library shall read, which may be nothing."""
        data, self._held = self._held + data, b""
        return self._read(data)

    def _pass(self, data: bytes) -> bytes:
        return data

    def _read_head(self, data: bytes) -> bytes:
        end = data.find(_HEAD_END)
        if end < 0 and len(data) <= _LONGEST_HEAD and _START.startswith(data[: len(_START)]):
            self._held = data
            return b""
        head = data[: end + 4]
        plain = head.startswith(_START) and head.count(b"\n") == head.count(b"\r\n")
        if end < 0 or not plain or [coding.lower() for coding in _TRANSFER.findall(head)] != [b"chunked"]:
            self._read = self._pass
            return data
        self._read = self._read_chunks
        return head + self._read_chunks(data[end + 4 :])

    def _read_chunks(self, data: bytes) -> bytes:
        pieces: list[bytes] = []
        position, end = 0, len(data)
        before, rest = self._between, b""
        while position < end:
            if self._left:
                piece = data[position : position + self._left]
                pieces.append(piece)
                position += len(piece)
                self._left -= len(piece)
                self._between = True
                continue
            line = (_NEXT if self._between else _FIRST).match(data, position)
            self._left = int(line.group(1), 16) if line is not None else 0
            if line is None or not self._left:
                rest = data[position:]
                half = _HALF_NEXT if self._between else _HALF_FIRST
                if line is None and len(rest) < _LONGEST_SIZE_LINE and half.fullmatch(rest):
                    self._held, rest = rest, b""
                else:  # the last chunk and what comes after it, or nonsense
                    self._read = self._pass
                break
            position = line.end()
        if not pieces:
            return rest
        body = b"".join(pieces)
        return b"%b%x\r\n%b%b" % (b"\r\n" if before else b"", len(body), body, rest)
