"""Damaged input as a strategy of hypothesis: seeds with bytes cut out, put in, doubled and overwritten."""

from __future__ import annotations

from hypothesis import HealthCheck
from hypothesis import strategies as st

PATIENT = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
"""What hypothesis would complain about, and may not: damage is slow to make, and large."""

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

_change = st.tuples(
    st.sampled_from(["in", "over", "out", "twice", "end"]),
    st.integers(0, 1 << 16),
    st.integers(1, 64),
    st.sampled_from(_WORDS) | st.binary(max_size=8),
)


def _damaged(seed: bytes, changes: list[tuple[str, int, int, bytes]]) -> bytes:
    for kind, place, length, word in changes:
        at = place % (len(seed) + 1)
        if kind == "in":
            seed = seed[:at] + word + seed[at:]
        elif kind == "over":
            seed = seed[:at] + word + seed[at + len(word) :]
        elif kind == "out":
            seed = seed[:at] + seed[at + length :]
        elif kind == "twice":
            seed = seed[:at] + seed[at : at + length * 8] + seed[at:]
        else:
            seed = seed[:at]
    return seed


def damaged(seeds: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """Seeds with up to eight changes, and now and then bytes of no form at all."""
    changed = st.builds(_damaged, st.sampled_from(seeds), st.lists(_change, min_size=1, max_size=8))
    return st.one_of(changed, changed, changed, st.binary(max_size=200))
