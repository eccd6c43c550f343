"""Inflates a compressed body in small pieces, so that a few bytes of a hostile server never become a full memory.

Nothing compressed is asked for; some gateways compress all the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

_PIECE = 64 * 1024

# What zlib is told for each content encoding.
_WINDOWS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class Inflater:
    """Takes a compressed body in pieces and gives what is in it, at most 64 KiB at a time.

    Raises ValueError for an encoding that it does not know, and where the body is not what its encoding says.
    """

    def __init__(self, encoding: str) -> None:
        if encoding not in _WINDOWS:
            raise ValueError(f"the body is compressed as {encoding[:40]!r}, though nothing compressed was asked for")
        self._window = _WINDOWS[encoding]
        self._inflate = zlib.decompressobj(self._window)
        self._begun = b""  # what was taken in of this stream, as far as it tells what it is: two bytes

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What comes out of a piece of the body, piece by piece."""
        while data:
            piece = self._inflated(data)
            data = self._inflate.unconsumed_tail or self._inflate.unused_data
            if self._inflate.eof and data:  # gzip bodies may follow each other
                self._inflate, self._begun = zlib.decompressobj(self._window), b""
            if piece:
                yield piece

    def close(self) -> None:
        """Take in the end of the body."""
        if self._begun and not self._inflate.eof:
            raise ValueError("the compressed body ends in the middle")

    def _inflated(self, data: bytes) -> bytes:
        try:
            piece = self._inflate.decompress(data, _PIECE)
        except zlib.error as error:
            if len(self._begun) > 1 or self._window != zlib.MAX_WBITS:
                raise ValueError(f"the body is not compressed as it says: {error}") from None
            # Some servers leave out the two bytes in front.
            self._window = -zlib.MAX_WBITS
            self._inflate = zlib.decompressobj(self._window)
            begun, self._begun = self._begun, b""
            return self._inflated(begun + data)
        if len(self._begun) < 2:
            self._begun += data[:2]
        return piece
