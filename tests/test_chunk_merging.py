"""Chunks that arrive together are handed up as one; the HTTP library reads the same answer either way."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkaloud.transport.chunks import ChunkMerger

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def read_by_h11(pieces: list[bytes]) -> tuple[int | None, bytes, str, object]:
    """What h11 makes of an answer: status, body, how it ended, trailers."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    connection.send(h11.EndOfMessage())
    status, body = None, b""
    try:
        for piece in filter(None, pieces):
            connection.receive_data(piece)
            while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
                match event:
                    case h11.Response(status_code=code):
                        status = code
                    case h11.Data(data=data):
                        body += bytes(data)
                    case h11.EndOfMessage(headers=trailers):
                        return status, body, "end", list(trailers)
                    case _:
                        pass
    except h11.RemoteProtocolError:
        return status, body, "error", None
    return status, body, "open", None


def merged(pieces: list[bytes]) -> list[bytes]:
    merger = ChunkMerger()
    return [merger.feed(piece) for piece in pieces]


def chunk(body: bytes, extension: bytes = b"") -> bytes:
    return b"%x%b\r\n%b\r\n" % (len(body), extension, body)


def test_the_chunks_of_one_piece_become_one_chunk() -> None:
    head, first, second = merged([HEAD, chunk(b"one ") + chunk(b"two"), chunk(b"three")])
    assert head == HEAD
    assert first == b"7\r\none two"
    assert second == b"\r\n5\r\nthree"


def test_a_chunk_is_handed_up_as_far_as_it_has_come() -> None:
    assert merged([HEAD + b"a\r\n01234", b"56789\r\n0\r\n\r\n"]) == [
        HEAD + b"5\r\n01234",
        b"\r\n5\r\n56789\r\n0\r\n\r\n",
    ]


def test_a_body_with_a_length_passes_untouched() -> None:
    pieces = [b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n", b"4\r\nabcd\r\n"[:8]]
    assert merged(pieces) == pieces


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01 a TLS record",
    ],
)
def test_what_is_odd_passes_untouched(head: bytes) -> None:
    pieces = [head, chunk(b"one ") + chunk(b"two")]
    assert merged(pieces) == pieces


def test_the_next_answer_on_the_connection_is_merged_too() -> None:
    merger = ChunkMerger()
    answer = HEAD + chunk(b"a") + chunk(b"b") + b"0\r\n\r\n"
    for _ in range(2):
        merger.expect_answer()
        assert merger.feed(answer) == HEAD + b"2\r\nab\r\n0\r\n\r\n"


def test_framing_that_never_ends_is_not_held_for_ever() -> None:
    merger = ChunkMerger()
    merger.feed(HEAD)
    assert sum(len(merger.feed(b"1;" + b"x" * 98)) for _ in range(100)) > 0
    merger = ChunkMerger()
    merger.feed(b"HTTP/1.1 200 OK\r\n")
    assert sum(len(merger.feed(b"a: " + b"x" * 995 + b"\r\n")) for _ in range(100)) > 0


BODIES = st.lists(st.text("ab\r\n0:;", min_size=1, max_size=20).map(str.encode), max_size=6)
EXTENSIONS = st.sampled_from([b"", b";a=b", b" ", b" ;x"])


@given(data=st.data(), bodies=BODIES, trailer=st.sampled_from([b"", b"x: y\r\n"]))
def test_h11_reads_the_same_answer_merged_or_not(data: st.DataObject, bodies: list[bytes], trailer: bytes) -> None:
    raw = HEAD + b"".join(chunk(body, data.draw(EXTENSIONS)) for body in bodies) + b"0\r\n" + trailer + b"\r\n"
    if data.draw(st.booleans()):  # one byte is wrong
        place = data.draw(st.integers(0, len(raw) - 1))
        raw = raw[:place] + data.draw(st.sampled_from([b"\r", b"\n", b"0", b"f", b":", b";", b" "])) + raw[place + 1 :]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=6)) | {0, len(raw)})
    pieces = [raw[start:end] for start, end in pairwise(cuts)]
    assert read_by_h11(merged(pieces)) == read_by_h11(pieces)
