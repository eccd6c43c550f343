"""Every block, message and event is a plain value: it compares, hashes, and survives pickle and copies."""

from __future__ import annotations

import copy
import pickle
from typing import Any, get_args

import attrs
import pytest

from support.vocabulary import BLOCKS, EVENTS, MESSAGES, SIGNATURE, VALUES
from thinkaloud.content import Block
from thinkaloud.events import StreamEvent
from thinkaloud.messages import Message
from thinkaloud.stored import newer_fields, with_newer_fields

IDS = [f"{place}-{type(value).__name__}" for place, value in enumerate(VALUES)]
every_value = pytest.mark.parametrize("value", VALUES, ids=IDS)


def test_there_is_an_example_of_every_block_message_and_event() -> None:
    assert {type(block) for block in BLOCKS} == set(get_args(Block))
    assert {type(message) for message in MESSAGES} == set(get_args(Message))
    assert {type(event) for event in EVENTS} == set(get_args(StreamEvent))


@every_value
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_value_survives_pickle(value: Any, protocol: int) -> None:
    loaded = pickle.loads(pickle.dumps(value, protocol))
    assert loaded == value
    assert attrs.asdict(loaded) == attrs.asdict(value)  # what is not compared too


@every_value
def test_a_value_survives_copies(value: Any) -> None:
    for copied in (copy.copy(value), copy.deepcopy(value)):
        assert copied == value
        assert attrs.asdict(copied) == attrs.asdict(value)


@every_value
def test_a_value_hashes_as_its_equals_do(value: Any) -> None:
    assert hash(copy.deepcopy(value)) == hash(value)
    assert len({value, copy.deepcopy(value)}) == 1


@every_value
def test_a_value_equals_no_other(value: Any) -> None:
    assert [other for other in VALUES if other == value] == [value]


@every_value
def test_a_value_cannot_be_changed(value: Any) -> None:
    for field in attrs.fields(type(value)):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(value, field.name, None)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        value.something_else = 1


@every_value
def test_a_value_has_slots_only(value: Any) -> None:
    assert not hasattr(value, "__dict__")


@every_value
def test_a_repr_never_shows_an_opaque_string_whole(value: Any) -> None:
    shown = repr(value)
    assert shown.startswith(type(value).__name__ + "(")
    assert SIGNATURE not in shown
    assert "aGVsbG8=" * 40 not in shown


@every_value
def test_fields_of_a_newer_version_travel_with_a_value(value: Any) -> None:
    carrying = with_newer_fields(copy.copy(value), {"mood": ["calm"]})
    assert carrying == value
    for copied in (pickle.loads(pickle.dumps(carrying)), copy.copy(carrying), copy.deepcopy(carrying)):
        assert copied == value
        assert newer_fields(copied) == {"mood": ["calm"]}


@every_value
def test_a_changed_value_leaves_them_behind(value: Any) -> None:
    assert newer_fields(attrs.evolve(with_newer_fields(copy.copy(value), {"mood": 1}))) == {}
