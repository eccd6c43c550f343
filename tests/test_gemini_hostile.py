"""Answers of Gemini that no server should give: a half call is never offered, and nothing that came is lost."""

from __future__ import annotations

from support.gemini_streams import chunk, text
from support.gemini_wire import read

END = chunk(text(""), finish="STOP")


def test_a_part_is_read_from_its_own_candidate() -> None:
    later = {"content": {"parts": [{"functionCall": {"name": "x", "args": {"a": 0}}}]}}
    reading = read({"candidates": [{"finishReason": "STOP"}, later]})
    assert [call.arguments for call in reading.message.tool_calls] == [{"a": 0}]
    other = {"content": {"parts": [{"functionCall": {"name": "y", "args": {"b": 10**30}}}]}, "finishReason": "STOP"}
    reading = read({"candidates": [later, other]})
    assert [call.arguments for call in reading.message.tool_calls] == [{"a": 0}, {"b": 10**30}]
