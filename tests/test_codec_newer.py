"""JSON of a newer version: what this version does not know comes out again as it went in."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.vocabulary import CONVERSATION, EVENTS, MESSAGES, conversations, events, json_values
from thinkaloud import codec
from thinkaloud.content import Opaque, Text
from thinkaloud.errors import CodecError
from thinkaloud.events import StreamEvent
from thinkaloud.messages import AssistantMessage, Conversation, Message, UserMessage
from thinkaloud.notices import Notice

# Objects that belong to providers, not to the schema.
_FOREIGN = {"extra", "data", "detail", "stop_detail", "citations"}


def places(data: Any, key: str = "") -> list[dict[str, Any]]:
    """Every object of the schema inside the data."""
    if isinstance(data, list):
        return [place for item in data for place in places(item)]
    if not isinstance(data, dict):
        return []
    return [data] + [place for key, value in data.items() if key not in _FOREIGN for place in places(value, key)]


def through(text: str) -> Any:
    return json.loads(codec.dumps(codec.loads(text)))


@pytest.mark.parametrize("value", [*MESSAGES, CONVERSATION, *EVENTS], ids=lambda value: type(value).__name__)
def test_unknown_fields_survive_in_every_object(value: codec.Value) -> None:
    data = codec.to_data(value)
    for place, target in enumerate(places(data)):
        target["mood"] = {"calm": [place, "\ud83d", 10**30]}
    assert through(json.dumps(data)) == data


@settings(max_examples=40)
@given(st.one_of(conversations, events), st.data())
def test_unknown_fields_survive_anywhere(value: codec.Value, draw: st.DataObject) -> None:
    data = codec.to_data(value)
    target = draw.draw(st.sampled_from(range(len(places(data)))))
    places(data)[target]["mood"] = draw.draw(json_values)
    assert through(json.dumps(data)) == data


def test_values_with_unknown_fields_equal_those_without() -> None:
    data = codec.to_data(UserMessage("hi"))
    assert codec.from_data({**data, "mood": "calm"}) == UserMessage("hi")


def test_unknown_fields_survive_pickle_and_copies_in_between() -> None:
    data = {**codec.to_data(Conversation([UserMessage("hi")])), "mood": "calm"}
    loaded = codec.from_data(data)
    for value in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded)):
        assert codec.to_data(value) == data


def test_an_unknown_block_is_opaque_and_comes_out_as_it_went_in() -> None:
    hologram: dict[str, Any] = {"type": "hologram", "depth": 3, "extra": {"a": [1, None]}, "signature": "c2ln+/="}
    text = json.dumps({"version": 1, "role": "user", "content": [{"type": "text", "text": "hi"}, hologram]})
    loaded = codec.loads(text)
    assert isinstance(loaded, UserMessage)
    assert loaded.content == (Text("hi"), Opaque("thinkaloud", kind="hologram", data=hologram))
    assert through(text)["content"][1] == hologram
    assert through(json.dumps(through(text)))["content"][1] == hologram


def test_an_unknown_event_is_a_notice_and_comes_out_as_it_went_in() -> None:
    event = {"version": 1, "type": "audio_delta", "index": 0, "pcm": "AAAA"}
    loaded = codec.loads(json.dumps(event))
    assert isinstance(loaded, Notice)
    assert (loaded.code, loaded.text) == ("newer_event", "audio_delta")
    assert through(json.dumps(event)) == event


@pytest.mark.parametrize(
    "value",
    [
        Notice("newer_event"),
        Notice("newer_event", "text_delta", detail={"type": "text_delta"}),
        Notice("newer_event", "audio_delta", "path", detail={"type": "audio_delta"}),
        Notice("newer_event", "audio_delta", detail={"type": ["audio_delta"]}),
        UserMessage([Opaque("thinkaloud", kind="hologram", data={})]),
        UserMessage([Opaque("thinkaloud", kind="text", data={"type": "text"})]),
        UserMessage([Opaque("thinkaloud", kind="hologram", data={"type": "hologram"}, complete=False)]),
        UserMessage([Opaque("thinkaloud", kind="hologram", data={"type": ["hologram"]})]),
        AssistantMessage("hi", notices=[Notice("newer_event", "audio_delta", detail={"type": "audio_delta"})]),
    ],
)
def test_what_only_looks_as_if_it_came_from_a_newer_version_survives_as_it_is(value: Message | StreamEvent) -> None:
    assert codec.loads(codec.dumps(value)) == value


@pytest.mark.parametrize("version", [2, 99, 10**30])
def test_a_higher_version_is_refused(version: int) -> None:
    with pytest.raises(CodecError, match="up to version 1") as raised:
        codec.loads(json.dumps({"version": version, "role": "user", "content": []}))
    assert raised.value.path == "version"


@pytest.mark.parametrize("version", [0, -1, None, "1", 1.0, True, [1], {}])
def test_what_is_no_version_is_refused(version: Any) -> None:
    with pytest.raises(CodecError) as raised:
        codec.loads(json.dumps({"version": version, "role": "user", "content": []}))
    assert raised.value.path == "version"
