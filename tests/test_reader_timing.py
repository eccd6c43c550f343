"""How long an answer took, and its thinking: told by the moments at which the bytes came."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from thinkaloud.messages import Origin, Timing
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol


def timing(*events: dict[str, Any]) -> Timing:
    """The timing of an answer whose events come a second apart."""
    seconds = count()
    now = 0.0

    def clock() -> float:
        return now

    context = ParseContext(origin=Origin("anthropic-messages", "anthropic", "claude"))
    reader = Reader(wire_protocol("anthropic-messages"), context, clock=clock, started_at=0.0)
    for event in events:
        now = float(next(seconds) + 1)
        reader.feed(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
    reader.close()
    assert reader.message is not None
    return reader.message.timing


def start(index: int, kind: str) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, kind: ""}}


def delta(index: int, kind: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": f"{kind}_delta", kind: "a word"}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


BEGIN: dict[str, Any] = {"type": "message_start", "message": {"id": "m", "usage": {}}}
END = (
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
    {"type": "message_stop"},
)


def test_thinking_lasts_from_its_start_to_its_end() -> None:
    told = timing(BEGIN, start(0, "thinking"), delta(0, "thinking"), stop(0), start(1, "text"), delta(1, "text"), *END)
    assert told == Timing(first_event=2.0, thinking=2.0, total=8.0)


def test_thinking_that_is_closed_late_ends_where_the_text_begins() -> None:
    told = timing(BEGIN, start(0, "thinking"), delta(0, "thinking"), start(1, "text"), delta(1, "text"), stop(0), *END)
    assert told.thinking == 2.0


def test_several_thoughts_add_up() -> None:
    first = (start(0, "thinking"), delta(0, "thinking"), stop(0))
    second = (start(2, "thinking"), delta(2, "thinking"), delta(2, "thinking"), stop(2))
    assert timing(BEGIN, *first, start(1, "text"), stop(1), *second, *END).thinking == 5.0


def test_an_answer_without_thinking_took_no_time_to_think() -> None:
    assert timing(BEGIN, start(0, "text"), delta(0, "text"), *END).thinking is None
