"""Server-sent events against httpx-sse, over generated streams and however they are cut."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from httpx_sse import EventSource
from hypothesis import given
from hypothesis import strategies as st

from thinkaloud.wire.sse import SseDecoder

Seen = tuple[str, str, str, int | None]


def ours(chunks: Iterable[bytes]) -> list[Seen]:
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    events += decoder.close()
    return [(event.event, event.data, event.id, event.retry) for event in events]


def oracle(body: bytes) -> list[Seen]:
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    return [(event.event, event.data, event.id, event.retry) for event in EventSource(response).iter_sse()]


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[start:end] for start, end in pairwise(edges)]


# Where we differ from httpx-sse on purpose: body, what we say, and why.
DIFFERENCES: dict[str, tuple[bytes, list[Seen], str]] = {
    "last blank line": (
        b"data: a\n\ndata: b\n",
        [("message", "a", "", None), ("message", "b", "", None)],
        "servers and proxies leave it out, and the last event is the one that says how the answer ended",
    ),
    "byte-order mark": (
        b"\xef\xbb\xbfdata: a\n\n",
        [("message", "a", "", None)],
        "the standard says to drop it; else the first event is lost",
    ),
    "no data": (
        b"event: ping\n\nid: 1\n\ndata: a\n\n: comment\n\nretry: 5\n\n",
        [("message", "a", "1", None)],
        "the standard gives no event without data, and a parser would take the empty string for JSON",
    ),
    "blank data": (b"data:\n\ndata:   \n\n", [], "a keep-alive of proxies; never a payload of a model's wire"),
    "comment as data": (
        b"data: : keep-alive\n\n",
        [],
        "a gateway's keep-alive that was framed twice; no JSON starts with a colon",
    ),
    "blank data lines first": (
        b"data:\ndata: a\n\n",
        [("message", "a", "", None)],
        "they go with the comments that stand as data; JSON does not care for leading space",
    ),
    "error field": (
        b"error: no room\n\n",
        [("error", "no room", "", None)],
        "gpustack reports a failure inside a stream so",
    ),
    "bare JSON": (
        b'data: a\r\n\r\n{\r\n  "error": {}\r\n}\r\n\r\n',
        [("message", "a", "", None), ("message", '{\n  "error": {}\n}', "", None)],
        "Gemini reports a failure inside a stream so",
    ),
    "retry": (
        b"retry: -1\ndata: a\n\nretry:  7\ndata: b\n\n",
        [("message", "a", "", None), ("message", "b", "", None)],
        "the standard takes ASCII digits only",
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_difference_from_httpx_sse_is_there_on_purpose(name: str) -> None:
    body, expected, why = DIFFERENCES[name]
    assert ours([body]) == expected
    assert oracle(body) != expected, f"no difference any more: {why}"


# Inputs without the differences: httpx-sse is right about all of these.
_value = st.text(st.sampled_from('ab{}": \t\u2028\u0085\v\ufeffé🌍\0'), max_size=6)
_field = st.sampled_from(["data", "data", "data", "event", "id", "retry", "foo", "", "Data"])
_line = st.one_of(
    st.builds("{}{}{}".format, _field, st.sampled_from([": ", ":", ""]), _value),
    st.sampled_from(['data: {"a":1}', "event: content_block_delta", "data: [DONE]", ": ping", "retry: 10", "id: 7"]),
    st.just(""),
    st.just(""),
)
_end = st.sampled_from(["\n", "\r\n", "\r"])
_lines_of_one_end = st.tuples(st.lists(_line, max_size=14), _end).map(lambda x: "".join(f"{y}{x[1]}" for y in x[0]))
_lines_of_mixed_ends = st.lists(st.builds("{}{}".format, _line, _end), max_size=14).map("".join)
_utf8_streams = st.one_of(_lines_of_one_end, _lines_of_mixed_ends).map(lambda text: text.encode())
_broken_streams = st.lists(
    st.one_of(
        st.sampled_from([b"data: {", b"event: e", b"\n", b"\n\n", b"\r", b"\r\n", b": c", b"id: 1", b"data"]),
        st.binary(max_size=4),
    ),
    max_size=14,
).map(b"".join)
_bare_json = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n])[{\[]")
_streams = st.one_of(_utf8_streams, _broken_streams).filter(lambda body: not _bare_json.search(body))


def expected_of(body: bytes) -> list[Seen]:
    """What httpx-sse says of the body, with the differences of the table taken out."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    body = re.sub(rb"(?m)(?<![^\r\n])retry:(?! ?[0-9]+[\r\n])", b"other:", body + b"\n\n")
    body = re.sub(rb"(?<![^\r\n])error(?=[:\r\n])", b"other", body)
    kept = []
    for name, data, id, retry in oracle(body):
        values = data.split("\n")
        while values and (not values[0].strip() or values[0].lstrip().startswith(":")):
            del values[0]
        if values:
            kept.append((name, "\n".join(values), id, retry))
    return kept


@given(_streams)
def test_events_are_those_of_httpx_sse(body: bytes) -> None:
    assert ours([body]) == expected_of(body)


@given(_streams, st.lists(st.integers(0, 1000), max_size=6))
def test_cuts_change_nothing(body: bytes, places: list[int]) -> None:
    assert ours(cut(body, places)) == ours([body])


@given(_streams)
def test_single_bytes_give_the_same_events(body: bytes) -> None:
    assert ours([bytes([byte]) for byte in body]) == ours([body])


SAMPLE = (
    "\ufeff\r\n: hello\n\nevent: a\ndata: {“1”}\n\nevent:b\rdata: {2\rdata:}\r\r"
    "id: 9\r\ndata: {3}\r\n\r\n\n\r\n\rerror: {4}\n\nretry: 3\ndata: [DONE]\n\r\ndata: : x\n\ndata: {🌍"
).encode()


def test_the_sample_has_every_kind_of_event() -> None:
    assert ours([SAMPLE]) == [
        ("a", "{“1”}", "", None),
        ("b", "{2\n}", "", None),
        ("message", "{3}", "9", None),
        ("error", "{4}", "9", None),
        ("message", "[DONE]", "9", 3),
        ("message", "{🌍", "9", None),
    ]


def test_every_pair_of_cuts_gives_the_same_events() -> None:
    whole = ours([SAMPLE])
    for first in range(len(SAMPLE) + 1):
        for second in range(first, len(SAMPLE) + 1):
            assert ours([SAMPLE[:first], SAMPLE[first:second], SAMPLE[second:]]) == whole


def _recorded() -> list[Path]:
    shared = os.environ.get("THINKALOUD_SHARED")
    return sorted(Path(shared, "recordings").glob("*/*/response.sse")) if shared else []


@pytest.mark.skipif(not _recorded(), reason="THINKALOUD_SHARED names no folder with recordings")
def test_recorded_streams_read_as_httpx_sse_reads_them() -> None:
    for path in _recorded():
        body = path.read_bytes()
        events = ours([body])
        expected = expected_of(body)
        assert [event for event in events if event[0] != "error" or event in expected] == expected, path
        assert ours([body[place : place + 7] for place in range(0, len(body), 7)]) == events, path
