"""What a long answer takes in memory while it is read: little more than its text, twice."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator

from thinkaloud.messages import Origin
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol


def pieces(deltas: int) -> Iterator[bytes]:
    def event(**data: object) -> bytes:
        return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()

    yield event(type="message_start", message={"id": "m", "usage": {}})
    yield event(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
    for number in range(deltas):
        yield event(type="content_block_delta", index=0, delta={"type": "text_delta", "text": f"word {number:05} "})
    yield event(type="content_block_stop", index=0)
    yield event(type="message_delta", delta={"stop_reason": "end_turn"}, usage={})
    yield event(type="message_stop")


def read(deltas: int) -> Reader:
    context = ParseContext(origin=Origin("anthropic-messages", "anthropic", "claude"))
    reader = Reader(wire_protocol("anthropic-messages"), context)
    for piece in pieces(deltas):
        reader.feed(piece)
    reader.close()
    return reader


def test_ten_thousand_deltas_peak_within_three_times_their_text() -> None:
    read(300)  # what is made once
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        reader = read(10_000)
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reader.message is not None
    size = len(reader.message.text)
    assert size == 110_000
    assert peak - before < 3 * size
    assert left - before < 2 * size
