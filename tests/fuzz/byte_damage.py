"""Damage to bytes that knows nothing of their form: cut out, put in, doubled, overwritten, broken off."""

from __future__ import annotations

from random import Random

# What parsers stumble over: ends of lines and strings, brackets, numbers that are none, half characters.
_WORDS = (
    *(b"\n\n", b"\r", b"\r\n", b"data:", b"data: [DONE]\n\n", b"event: error\n", b": x\n", b"id: 1\n", b"retry: x\n"),
    *(b"{", b"}", b"[", b"]", b'"', b"\\", b"\\ud83d", b"\\u0000", b",", b":", b"null", b"true", b"{}", b"[]", b'""'),
    *(
        b"-1",
        b"1e999",
        b"99999999999999999999",
        b"0.5",
        b"NaN",
        b"\xff",
        b"\xf0\x9f",
        b"\xef\xbb\xbf",
        b"\0",
        b"<html>",
    ),
)


def damaged_bytes(dice: Random, data: bytes) -> bytes:
    """Bytes with up to eight changes."""
    for _ in range(dice.choice((1, 1, 2, 3, 8))):
        place, length = dice.randint(0, len(data)), dice.randint(1, 64)
        word = dice.choice(_WORDS) if dice.random() < 0.7 else dice.randbytes(dice.randint(1, 8))
        match dice.randrange(6):
            case 0:
                data = data[:place] + word + data[place:]
            case 1:
                data = data[:place] + word + data[place + len(word) :]
            case 2:
                data = data[:place] + data[place + length :]
            case 3:
                data = data[:place] + data[place : place + length * 8] + data[place:]
            case 4 if place < len(data):
                data = data[:place] + bytes([data[place] ^ (1 << dice.randrange(8))]) + data[place + 1 :]
            case _:
                data = data[:place]
    return data
