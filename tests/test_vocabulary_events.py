"""Events as a reader meets them: matched by class and by name of a field."""

from __future__ import annotations

from typing import Any, get_args

import attrs
import pytest

from support.vocabulary import EVENTS
from thinkaloud.content import Text, Thinking, ToolCall
from thinkaloud.events import (
    StreamEnd,
    StreamEvent,
    StreamStart,
    TextDelta,
    TextEnd,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallEnd,
)
from thinkaloud.messages import LevelChoice, Origin, StopReason


def show(event: StreamEvent) -> str:
    match event:
        case ThinkingDelta(text=piece):
            return f"thinking {piece}"
        case TextDelta(text=piece, index=index):
            return f"text {piece} at {index}"
        case ToolCallEnd(call=ToolCall(name=name)):
            return f"call {name}"
        case ThinkingEnd(block=Thinking(signature=str())):
            return "signed"
        case _:
            return "else"


def test_events_are_matched_by_class_and_field() -> None:
    assert show(ThinkingDelta(0, "hm")) == "thinking hm"
    assert show(TextDelta(1, "hi")) == "text hi at 1"
    assert show(ToolCallEnd(2, ToolCall("i", name="look"))) == "call look"
    assert show(ThinkingEnd(0, Thinking.signed("hm", "c2ln"))) == "signed"
    assert show(ThinkingEnd(0, Thinking("hm"))) == "else"
    assert show(StreamStart()) == "else"


@pytest.mark.parametrize("kind", get_args(StreamEvent), ids=lambda kind: str(kind.__name__))
def test_no_event_is_matched_by_place(kind: type) -> None:
    assert "__match_args__" not in vars(kind)


def test_matching_by_place_is_an_error() -> None:
    source = "match event:\n    case ThinkingDelta(0, text):\n        pass\n"
    with pytest.raises(TypeError, match="positional"):
        exec(source, {"event": ThinkingDelta(0, "hm"), "ThinkingDelta": ThinkingDelta})


def test_events_take_their_fields_by_place_or_by_name() -> None:
    assert TextDelta(1, "hi") == TextDelta(index=1, text="hi")
    assert TextEnd(1, Text("hi")) == TextEnd(index=1, block=Text("hi"))


def test_events_of_different_kinds_are_never_equal() -> None:
    text, thinking = TextDelta(0, "a"), ThinkingDelta(0, "a")
    assert len({text, thinking}) == 2


def test_a_start_without_facts_has_empty_ones() -> None:
    start = StreamStart()
    assert (start.response_id, start.origin, start.level, start.prefix_digest) == (None, Origin(), LevelChoice(), None)


def test_details_of_the_stop_are_copied_on_the_way_in() -> None:
    detail: dict[str, Any] = {"a": [1]}
    end = StreamEnd(StopReason.REFUSAL, "refusal", detail)
    detail["a"].append(2)
    assert end.stop_detail == {"a": [1]}


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_a_repr_names_every_field_that_is_no_provider_detail(event: Any) -> None:
    hidden = {"detail"}
    for field in attrs.fields(type(event)):
        assert (f"{field.name}=" in repr(event)) != (field.name in hidden)
