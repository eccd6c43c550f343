"""Server-sent events: how large an event may be, and what large ones cost."""

from __future__ import annotations

import time

import pytest

from thinkaloud.errors import LimitExceeded
from thinkaloud.wire.server_event import ServerEvent
from thinkaloud.wire.sse import SseDecoder


def test_an_event_of_just_the_bound_is_read() -> None:
    block = b"data: {12345}"
    for body in (block + b"\n\n", block + b"\r\n\r\n", b"\n\n\n" + block + b"\n\n\n"):
        assert SseDecoder(max_event_size=len(block)).feed(body) == [ServerEvent("message", "{12345}")]


def test_one_byte_more_is_an_error_that_names_the_bound() -> None:
    with pytest.raises(LimitExceeded) as raised:
        SseDecoder(max_event_size=12).feed(b"data: {12345}\n\n")
    assert (raised.value.which, raised.value.limit) == ("event_size", 12)


def test_the_error_comes_as_soon_as_the_pending_event_is_too_large() -> None:
    decoder = SseDecoder(max_event_size=12)
    decoder.feed(b"data: {12345")
    with pytest.raises(LimitExceeded):
        decoder.feed(b"6")


def test_the_decoder_stays_dead_after_the_error() -> None:
    decoder = SseDecoder(max_event_size=5)
    with pytest.raises(LimitExceeded) as first:
        decoder.feed(b"data: {}")
    with pytest.raises(LimitExceeded) as second:
        decoder.feed(b"data\n\n")
    with pytest.raises(LimitExceeded):
        decoder.close()
    assert first.value is second.value


def test_the_decoder_stays_dead_though_whole_events_came_before_the_error() -> None:
    decoder = SseDecoder(max_event_size=10)
    decoder.feed(b"data: {a}\n\n")
    with pytest.raises(LimitExceeded):
        decoder.feed(b"data: {too large")
    with pytest.raises(LimitExceeded):
        decoder.feed(b"data: {b}\n\n")


def test_events_before_the_one_that_is_too_large_are_given_out_first() -> None:
    decoder = SseDecoder(max_event_size=10)
    assert decoder.feed(b"data: {a}\n\ndata: {b}\n\ndata: {too large}\n\ndata: {c}\n\n") == [
        ServerEvent("message", "{a}"),
        ServerEvent("message", "{b}"),
    ]
    with pytest.raises(LimitExceeded):
        decoder.close()


def test_events_before_a_pending_one_that_is_too_large_are_given_out_first() -> None:
    decoder = SseDecoder(max_event_size=10)
    assert decoder.feed(b"data: {a}\n\ndata: {too large") == [ServerEvent("message", "{a}")]
    with pytest.raises(LimitExceeded):
        decoder.feed(b"}\n\n")


def test_many_small_events_in_one_piece_are_within_the_bound() -> None:
    assert len(SseDecoder(max_event_size=10).feed(b"data: {a}\n\n" * 100)) == 100


def test_the_bound_counts_the_same_however_the_body_is_cut() -> None:
    body = b"\n\r\n\ndata: {a}\r\r\r\n\n\ndata: {bb}\n\n\n\ndata: {ccc}\r\n\r\n"

    def outcome(chunks: list[bytes], bound: int) -> list[str]:
        decoder = SseDecoder(max_event_size=bound)
        seen = []
        try:
            for chunk in chunks:
                seen += [event.data for event in decoder.feed(chunk)]
            seen += [event.data for event in decoder.close()]
        except LimitExceeded:
            seen.append("limit")
        return seen

    for bound, expected in (
        (8, ["limit"]),
        (9, ["{a}", "limit"]),
        (10, ["{a}", "{bb}", "limit"]),
        (11, ["{a}", "{bb}", "{ccc}"]),
    ):
        assert outcome([body], bound) == expected
        assert outcome([bytes([byte]) for byte in body], bound) == expected
        for place in range(len(body)):
            assert outcome([body[:place], body[place:]], bound) == expected


def test_the_usual_bound_is_sixteen_mebibytes() -> None:
    assert SseDecoder().max_event_size == 16 * 1024 * 1024


def _seconds(body: bytes, piece: int) -> float:
    """CPU time of the quickest of three runs."""
    times = []
    for _ in range(3):
        decoder = SseDecoder()
        start = time.process_time()
        count = 0
        for place in range(0, len(body), piece):
            count += len(decoder.feed(body[place : place + piece]))
        times.append(time.process_time() - start)
        assert count == 1
    return min(times)


@pytest.mark.parametrize(
    ("content", "piece"),
    [(b"abcdefgh", 64), (b"abcdef\r\n", 64), (b"\ndata: : ", 4096)],
    ids=["one line", "many lines with CRLF", "many lines that are comments"],
)
def test_the_time_for_one_event_grows_with_its_size_and_not_with_its_square(content: bytes, piece: int) -> None:
    def body(repeats: int) -> bytes:
        return b"data: {" + content * repeats + b"}\n\n"

    small, large = _seconds(body(4_000), piece), _seconds(body(64_000), piece)
    assert large < 100 * max(small, 0.0005)  # sixteen times the size: 16 when linear, 256 when quadratic


def test_four_mebibytes_in_small_pieces_are_one_event() -> None:
    text = "abcdefgh" * 524_288
    decoder = SseDecoder()
    body = f"data: {{{text}}}\n\n".encode()
    events = [event for place in range(0, len(body), 1024) for event in decoder.feed(body[place : place + 1024])]
    assert events == [ServerEvent("message", f"{{{text}}}")]
