"""Bodies in chunks are taken out of a connection; with what is left, the HTTP library reads the same answer."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkaloud.transport.chunks import Dechunker

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


def parted(pieces: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """What of each piece the HTTP library reads, and what is taken out for us."""
    chunks = Dechunker()
    both = [(chunks.feed(piece), chunks.take()) for piece in pieces]
    return [rest for rest, _ in both], [body for _, body in both]


def chunk(body: bytes, extension: bytes = b"") -> bytes:
    return b"%x%b\r\n%b\r\n" % (len(body), extension, body)


def test_the_chunks_of_one_piece_are_taken_as_one() -> None:
    rest, bodies = parted([HEAD, chunk(b"one ") + chunk(b"two"), chunk(b"three") + b"0\r\n\r\n"])
    assert rest == [HEAD, b"", b"0\r\n\r\n"]
    assert bodies == [b"", b"one two", b"three"]


def test_a_chunk_is_taken_as_far_as_it_has_come() -> None:
    rest, bodies = parted([HEAD + b"a\r\n01234", b"56789\r", b"\n0\r\nx: y\r\n\r\n"])
    assert rest == [HEAD, b"", b"0\r\nx: y\r\n\r\n"]
    assert bodies == [b"01234", b"56789", b""]


def test_it_tells_whether_a_body_goes_on() -> None:
    chunks = Dechunker()
    told = []
    for piece in (HEAD[:20], HEAD[20:], chunk(b"one"), b"0", b"\r\n\r\n"):
        chunks.feed(piece)
        told.append(chunks.inside)
    assert told == [False, True, True, True, False]


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + b" " * 20_000 + b"\rx\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01 a TLS record",
    ],
)
def test_what_has_no_body_in_chunks_passes_untouched(head: bytes) -> None:
    pieces = [head, chunk(b"one ") + chunk(b"two")]
    assert parted(pieces) == (pieces, [b"", b""])


def test_the_next_answer_on_the_connection_is_parted_too() -> None:
    chunks = Dechunker()
    answer = HEAD + chunk(b"a") + chunk(b"b") + b"0\r\n\r\n"
    for _ in range(2):
        chunks.expect_answer()
        assert chunks.feed(answer) == HEAD + b"0\r\n\r\n"
        assert chunks.take() == b"ab"


SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + chunk(b"a") + b"0\r\n\r\n",
        HEAD + b"0\r\n\r\n",
        HEAD + chunk(b"a") + b"000 ;x=y\r\nx: y\r\nz: w\r\n\r\n",
        SIZED,
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" * 2 + SIZED,
    ],
)
def test_an_answer_is_at_its_end_where_nothing_is_missing_and_nothing_came_after_it(answer: bytes) -> None:
    for size in (1, 7, len(answer)):
        chunks = Dechunker()
        for _ in range(2):
            chunks.expect_answer()
            for start in range(0, len(answer), size):
                assert not chunks.at_end
                chunks.feed(answer[start : start + size])
            assert chunks.at_end
        chunks.feed(b"\r")
        assert not chunks.at_end


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + chunk(b"a") + b"0\r\n\n",
        b"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\n\r\nabc",
    ],
)
def test_where_an_odd_answer_ends_nobody_knows(answer: bytes) -> None:
    chunks = Dechunker()
    assert not chunks.at_end
    chunks.feed(answer)
    assert not chunks.at_end


def test_very_many_early_answers_come_before_one() -> None:
    early = b"HTTP/1.1 100 Continue\r\n\r\n" * 5000
    rest, bodies = parted([early + HEAD + chunk(b"a"), b"0\r\n\r\n"])
    assert rest == [early + HEAD, b"0\r\n\r\n"]
    assert bodies == [b"a", b""]


def test_a_missing_line_end_does_not_pass_for_the_next_size() -> None:
    rest, bodies = parted([HEAD, b"3\r\nabc3\r\ndef0\r\n\r\n"])
    assert bodies == [b"", b"abc"]
    assert read_by_h11(rest)[2] == "error"


def test_framing_that_never_ends_is_not_held_for_ever() -> None:
    chunks = Dechunker()
    chunks.feed(HEAD)
    assert sum(len(chunks.feed(b"1;" + b"x" * 98)) for _ in range(100)) > 0
    chunks = Dechunker()
    chunks.feed(b"HTTP/1.1 200 OK\r\n")
    assert sum(len(chunks.feed(b"a: " + b"x" * 995 + b"\r\n")) for _ in range(100)) > 0


BODIES = st.lists(st.text("ab\r\n0:;", min_size=1, max_size=20).map(str.encode), max_size=6)
EXTENSIONS = st.sampled_from([b"", b";a=b", b" ", b" ;x"])


@given(data=st.data(), bodies=BODIES, trailer=st.sampled_from([b"", b"x: y\r\n"]))
def test_h11_reads_the_same_answer_parted_or_not(data: st.DataObject, bodies: list[bytes], trailer: bytes) -> None:
    raw = HEAD + b"".join(chunk(body, data.draw(EXTENSIONS)) for body in bodies) + b"0\r\n" + trailer + b"\r\n"
    if data.draw(st.booleans()):  # one byte is wrong
        place = data.draw(st.integers(0, len(raw) - 1))
        raw = raw[:place] + data.draw(st.sampled_from([b"\r", b"\n", b"0", b"f", b":", b";", b" "])) + raw[place + 1 :]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=6)) | {0, len(raw)})
    pieces = [raw[start:end] for start, end in pairwise(cuts)]
    rest, bodies = parted(pieces)
    status, body, end, trailers = read_by_h11(rest)
    taken = b"" if status is None else b"".join(bodies)  # where the head is refused, nobody reads a body
    assert (status, taken + body, end, trailers) == read_by_h11(pieces)
