"""Amazon event streams are cut into events by length and checksums, however the network cuts the bytes."""

from __future__ import annotations

import json
import random
import struct
import time
from base64 import b64encode
from collections.abc import Iterable
from itertools import pairwise
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkaloud.errors import LimitExceeded, MalformedStream, StreamError
from thinkaloud.testing import cuts
from thinkaloud.wire import awsevents
from thinkaloud.wire.awsevents import AwsChunkDecoder, AwsEventDecoder, exception_name, read_headers
from thinkaloud.wire.server_event import ServerEvent

# `{"role":"assistant"}` under the name messageStart, byte by byte as the format says.
MESSAGE_START = bytes.fromhex(
    "00000076 00000052 96d5fade"
    "0b 3a6576656e742d74797065 07 000c 6d6573736167655374617274"
    "0d 3a636f6e74656e742d74797065 07 0010 6170706c69636174696f6e2f6a736f6e"
    "0d 3a6d6573736167652d74797065 07 0005 6576656e74"
    "7b22726f6c65223a22617373697374616e74227d"
    "6fa8c599"
)


def header(name: str, kind: int, value: bytes) -> bytes:
    return bytes([len(name.encode())]) + name.encode() + bytes([kind]) + value


def word(name: str, value: str) -> bytes:
    """A header of text."""
    return header(name, 7, struct.pack(">H", len(value.encode())) + value.encode())


def frame(headers: bytes, payload: bytes = b"") -> bytes:
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return body + struct.pack(">I", crc32(body))


def event(name: str, payload: bytes = b"{}") -> bytes:
    return frame(word(":event-type", name) + word(":message-type", "event"), payload)


def exception(name: str, payload: bytes = b"{}") -> bytes:
    return frame(word(":exception-type", name) + word(":message-type", "exception"), payload)


def read(pieces: Iterable[bytes], decoder: AwsEventDecoder | AwsChunkDecoder | None = None) -> list[ServerEvent]:
    decoder = decoder or AwsEventDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [*events, *decoder.close()]


# frames


def test_a_frame_is_an_event_under_its_type() -> None:
    assert read([MESSAGE_START]) == [ServerEvent("messageStart", '{"role":"assistant"}')]


def test_a_frame_can_come_byte_by_byte() -> None:
    pieces = [MESSAGE_START[at : at + 1] for at in range(len(MESSAGE_START))]
    assert read(pieces) == [ServerEvent("messageStart", '{"role":"assistant"}')]


def test_several_frames_can_come_in_one_piece() -> None:
    body = event("a", b'{"x":1}') + event("b", b"") + event("a", "größe".encode())
    assert read([body]) == [ServerEvent("a", '{"x":1}'), ServerEvent("b", ""), ServerEvent("a", "größe")]


def test_the_cuts_of_the_network_change_nothing() -> None:
    body = event("a", b'{"x":1}') + exception("brokenException", b'{"message":"no"}') + event("b", b"")
    expected = read([body])
    assert len(expected) == 3
    for pieces in cuts(body):
        assert read(pieces) == expected


def test_an_exception_can_be_told_from_an_event_of_the_same_name() -> None:
    events = read([exception("throttlingException", b'{"message":"slow"}'), event("throttlingException")])
    assert [item.event for item in events] == ["exception:throttlingException", "throttlingException"]
    assert [exception_name(item.event) for item in events] == ["ThrottlingException", None]


def test_an_error_that_is_not_modelled_has_its_code_and_its_message_in_the_headers() -> None:
    headers = word(":message-type", "error") + word(":error-code", "InternalError") + word(":error-message", "broken")
    [error] = read([frame(headers)])
    assert error == ServerEvent("error:InternalError", '{"message": "broken"}')
    assert exception_name(error.event) == "InternalError"


def test_two_errors_with_the_same_headers_are_both_told() -> None:
    headers = word(":message-type", "error") + word(":error-code", "X") + word(":error-message", "m")
    assert len(set(map(str, read([frame(headers) * 2])))) == 1


def test_an_event_without_a_type_is_a_message() -> None:
    assert read([frame(b"", b"{}")]) == [ServerEvent("message", "{}")]


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    assert read([event("a", b"\xff{}")]) == [ServerEvent("a", "\ufffd{}")]


def test_headers_of_every_type_are_read() -> None:
    headers = b"".join(
        (
            header("yes", 0, b""),
            header("no", 1, b""),
            header("byte", 2, b"\xff"),
            header("short", 3, b"\x80\x00"),
            header("int", 4, b"\x00\x01\x00\x00"),
            header("long", 5, b"\xff" * 8),
            header("bytes", 6, b"\x00\x02\x00\xff"),
            word("text", "größe"),
            header("time", 8, struct.pack(">q", 1_700_000_000_000)),
            header("uuid", 9, bytes(range(16))),
        )
    )
    assert read_headers(headers) == {
        "yes": True,
        "no": False,
        "byte": -1,
        "short": -32768,
        "int": 65536,
        "long": -1,
        "bytes": b"\x00\xff",
        "text": "größe",
        "time": 1_700_000_000_000,
        "uuid": bytes(range(16)),
    }


def test_headers_of_other_types_stand_beside_the_name() -> None:
    headers = header(":date", 8, bytes(8)) + word(":event-type", "a") + header("x", 0, b"")
    assert read([frame(headers, b"{}")]) == [ServerEvent("a", "{}")]


# faults


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize("place", range(len(MESSAGE_START)))
def test_a_bit_that_is_flipped_anywhere_is_found(place: int) -> None:
    with pytest.raises(MalformedStream, match="checksum"):
        read([flipped(MESSAGE_START, place)])


def test_events_before_a_fault_are_given_out_and_then_the_fault_is_told_for_ever() -> None:
    decoder = AwsEventDecoder()
    assert decoder.feed(MESSAGE_START + flipped(MESSAGE_START, 50)) == [
        ServerEvent("messageStart", '{"role":"assistant"}')
    ]
    with pytest.raises(MalformedStream) as first:
        decoder.feed(MESSAGE_START)
    with pytest.raises(MalformedStream) as second:
        decoder.close()
    assert first.value is second.value


def prelude(total: int, headers: int) -> bytes:
    start = struct.pack(">II", total, headers)
    return start + struct.pack(">I", crc32(start))


@pytest.mark.parametrize(("total", "headers"), [(0, 0), (15, 0), (20, 5), (16, 2**32 - 1), (200_000, 131_073)])
def test_lengths_that_cannot_be_are_found(total: int, headers: int) -> None:
    with pytest.raises(MalformedStream, match=f"{total} bytes cannot have {headers}"):
        read([prelude(total, headers) + bytes(64)])


BROKEN_HEADERS = {
    "a name that is cut": bytes([5]) + b"abc",
    "no type": bytes([1]) + b"a",
    "a number that is cut": header("a", 5, bytes(7)),
    "a length that is cut": header("a", 7, b"\x00"),
    "a text that is cut": header("a", 7, b"\x00\x05abcd"),
    "an unknown type": header("a", 10, b""),
    "a name that comes twice": word("a", "x") + word("a", "x"),
}


@pytest.mark.parametrize("name", BROKEN_HEADERS)
def test_headers_that_make_no_sense_are_found(name: str) -> None:
    with pytest.raises(MalformedStream):
        read([frame(BROKEN_HEADERS[name])])


@pytest.mark.parametrize("end", range(len(MESSAGE_START)))
def test_a_body_that_ends_inside_a_frame_leaves_it_out(end: int) -> None:
    assert read([MESSAGE_START, MESSAGE_START[:end]]) == read([MESSAGE_START])


# bounds


def test_a_frame_over_the_bound_is_refused_before_it_has_come() -> None:
    decoder = AwsEventDecoder(max_event_size=100)
    with pytest.raises(LimitExceeded) as caught:
        decoder.feed(MESSAGE_START[:12])
    assert (caught.value.which, caught.value.limit) == ("event_size", 100)
    with pytest.raises(LimitExceeded):
        decoder.close()


def test_a_frame_of_just_the_bound_is_read() -> None:
    assert len(read([MESSAGE_START], AwsEventDecoder(max_event_size=len(MESSAGE_START)))) == 1
    with pytest.raises(LimitExceeded):
        read([MESSAGE_START], AwsEventDecoder(max_event_size=len(MESSAGE_START) - 1))


def test_a_bound_is_kept_wherever_the_bytes_are_cut() -> None:
    body = event("a") + event("b", bytes(1000))
    for pieces in cuts(body):
        decoder = AwsEventDecoder(max_event_size=500)
        events: list[ServerEvent] = []
        with pytest.raises(LimitExceeded):
            for piece in pieces:
                events += decoder.feed(piece)
            decoder.close()
        assert events == [ServerEvent("a", "{}")]


def test_a_stream_of_many_different_headers_is_read_without_remembering_them_all() -> None:
    decoder = AwsEventDecoder()
    events = read([event(f"kind-{number}") for number in range(1000)], decoder)
    assert [item.event for item in events] == [f"kind-{number}" for number in range(1000)]
    assert 0 < len(awsevents._NAMES) <= 64


def seconds(size: int) -> float:
    body = event("large", b"x" * size)
    pieces = [body[at : at + 100] for at in range(0, len(body), 100)]
    best = 1e9
    for _ in range(3):
        start = time.process_time()
        assert len(read(pieces)) == 1
        best = min(best, time.process_time() - start)
    return best


def test_a_large_frame_in_small_pieces_takes_linear_time() -> None:
    # 16 times the bytes: linear work takes 16 times as long, quadratic work 256 times.
    assert seconds(4_000_000) < 64 * max(seconds(250_000), 0.001)


# the official decoder as oracle

eventstream = pytest.importorskip("botocore.eventstream")


def theirs(body: bytes) -> list[tuple[dict[str, Any], bytes]]:
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(body)
    return [(message.headers, message.payload) for message in buffer]


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
values = st.one_of(
    st.booleans().map(lambda flag: (0 if flag else 1, b"")),
    *(
        st.binary(min_size=size, max_size=size).map(lambda value, kind=kind: (kind, value))  # type: ignore[misc]
        for kind, size in ((2, 1), (3, 2), (4, 4), (5, 8), (8, 8), (9, 16))
    ),
    st.binary(max_size=40).map(lambda value: (6, struct.pack(">H", len(value)) + value)),
    names.map(lambda text: (7, struct.pack(">H", len(text.encode())) + text.encode())),
)
header_blocks = st.dictionaries(names, values, max_size=5)


@given(headers=header_blocks)
def test_headers_are_read_as_the_official_decoder_reads_them(headers: dict[str, tuple[int, bytes]]) -> None:
    block = b"".join(header(name, kind, value) for name, (kind, value) in headers.items())
    [(expected, _)] = theirs(frame(block))
    assert read_headers(block) == expected


@given(
    frames=st.lists(st.tuples(names, st.text(st.characters(codec="utf-8"), max_size=40)), max_size=6),
    places=st.lists(st.integers(0, 600), max_size=10),
)
def test_frames_are_read_as_the_official_decoder_reads_them(frames: list[tuple[str, str]], places: list[int]) -> None:
    body = b"".join(event(name, payload.encode()) for name, payload in frames)
    edges = sorted({0, len(body), *(place for place in places if place < len(body))})
    found = read(body[start:end] for start, end in pairwise(edges))
    assert [(item.event, item.data) for item in found] == [
        (headers[":event-type"], payload.decode()) for headers, payload in theirs(body)
    ]


@given(body=st.binary(max_size=60), place=st.integers(0, len(MESSAGE_START) - 1), value=st.integers(0, 255))
def test_damage_is_found_where_the_official_decoder_finds_it(body: bytes, place: int, value: int) -> None:
    for damaged in (body, MESSAGE_START[:place] + bytes([value]) + MESSAGE_START[place + 1 :]):
        try:
            expected = len(theirs(damaged))
        except eventstream.ParserError:
            expected = None
        try:
            found = len(read([damaged]))
        except StreamError:
            found = None
        assert found == expected


# chunks: the events of a model's own protocol


def chunk(inner: Any, **beside: Any) -> bytes:
    text = inner if isinstance(inner, str) else json.dumps(inner)
    return event("chunk", json.dumps({"bytes": b64encode(text.encode()).decode(), "p": "abc", **beside}).encode())


def unpacked(*frames: bytes) -> list[ServerEvent]:
    return read([b"".join(frames)], AwsChunkDecoder())


def test_a_chunk_holds_the_json_of_one_event() -> None:
    assert unpacked(chunk({"type": "ping"}), chunk('{"text": "größe 😀"}')) == [
        ServerEvent("message", '{"type": "ping"}'),
        ServerEvent("message", '{"text": "größe 😀"}'),
    ]


def test_an_exception_among_chunks_is_an_error_event_of_the_inner_protocol() -> None:
    [_, error] = unpacked(chunk({}), exception("throttlingException", b'{"message":"slow down"}'))
    assert error.event == "error"
    assert json.loads(error.data) == {
        "type": "error",
        "error": {"type": "ThrottlingException", "message": "slow down"},
    }


@pytest.mark.parametrize("payload", [b"", b"plain", b"[1]", b'{"message": 7}'])
def test_an_exception_with_an_odd_payload_is_still_an_error_event(payload: bytes) -> None:
    [error] = unpacked(exception("throttlingException", payload))
    assert json.loads(error.data)["error"]["type"] == "ThrottlingException"


def test_a_frame_that_is_no_chunk_goes_through_as_it_is() -> None:
    assert unpacked(event("other", b'{"a":1}'), event("chunk", b'{"bytes":7}'), event("chunk", b"x")) == [
        ServerEvent("other", '{"a":1}'),
        ServerEvent("chunk", '{"bytes":7}'),
        ServerEvent("chunk", "x"),
    ]


def test_a_chunk_that_is_not_base64_is_found_after_the_events_before_it() -> None:
    decoder = AwsChunkDecoder()
    assert len(decoder.feed(chunk({}) + event("chunk", b'{"bytes":"a"}'))) == 1
    for _ in range(2):
        with pytest.raises(MalformedStream, match="base64"):
            decoder.feed(chunk({}))
    with pytest.raises(MalformedStream):
        decoder.close()


def test_chunks_can_be_cut_anywhere() -> None:
    body = chunk({"a": 1}) + chunk({"b": 2}) + exception("validationException")
    expected = unpacked(body)
    dice = random.Random(7)
    for _ in range(50):
        places = sorted(dice.sample(range(1, len(body)), 5))
        pieces = [body[start:end] for start, end in zip([0, *places], [*places, len(body)], strict=True)]
        assert read(pieces, AwsChunkDecoder()) == expected
