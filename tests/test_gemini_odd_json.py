"""Whatever JSON a server sends in place of an answer of Gemini, it is read or refused: nothing else is ever raised."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.gemini_streams import call, chunk, counts, partial, text, thought
from support.gemini_wire import parser, read, read_whole
from support.odd_json import DEEP, ODD, is_typed, places, put, without
from thinkaloud.errors import MalformedStream, ProviderError, ThinkaloudError
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.gemini.errors import error
from thinkaloud.wire.server_event import ServerEvent

ANSWER: list[dict[str, Any]] = [
    chunk(thought("Hm."), usage=counts(1, 2, 3)),
    chunk(text("A", "c2ln"), text("", "c2ln")),
    chunk(call("add", "c2ln", id="c1", args={"a": 1})),
    chunk(call("note", willContinue=True)),
    chunk(partial("$.a.b[0]", stringValue="x"), partial("$.c", numberValue=1.5)),
    chunk(call()),
    chunk({"executableCode": {"code": "2"}, "thoughtSignature": "c2ln"}, finish="STOP", safetyRatings=[{"a": 1}]),
    {"promptFeedback": {"blockReason": "SAFETY"}, "error": None},
]

# What is nested too deeply has a test of its own.
ODDER = [*(value for value in ODD if value is not DEEP), 0, 10**400, {"a": None}]


@pytest.mark.parametrize("odd", ODDER, ids=range(len(ODDER)))
def test_odd_values_in_every_field_are_typed_faults(odd: Any) -> None:
    for path in places(ANSWER):
        changed = put(ANSWER, path, odd)
        assert is_typed(read(*changed).error), path
        assert is_typed(read_whole(changed).error), path


def test_every_missing_field_is_a_typed_fault_or_none() -> None:
    for path in places(ANSWER):
        assert is_typed(read(*without(ANSWER, path)).error), path


@settings(max_examples=400, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(list(places(ANSWER))), st.sampled_from(ODDER)), min_size=1, max_size=3))
def test_values_of_any_type_in_any_place_never_leave_the_error_tree(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    answer: Any = copy.deepcopy(ANSWER)
    for path, value in changes:
        holder = answer
        try:
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError, AttributeError):
            continue  # an earlier change took the place away
    for reading in (read(*answer), read_whole(answer)):
        assert is_typed(reading.error)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["candidates", "content", "parts", "text", "functionCall", "args", "error", "details", "code"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=200, derandomize=True)
@given(json_values)
def test_any_json_is_read_or_refused(value: Any) -> None:
    with suppress(ThinkaloudError):
        parser().feed(ServerEvent(data=json.dumps(value)))
    with suppress(ThinkaloudError):
        parser().whole(value)
    assert isinstance(error(ErrorResponse(body=value, status=400)), ProviderError)


@pytest.mark.parametrize("depth", [300, 100_000])
def test_json_that_is_nested_too_deeply_is_malformed(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    for part in (f'{{"newThing":{deep}}}', f'{{"functionCall":{{"name":"f","args":{{"a":{deep}}}}}}}'):
        payload = f'{{"candidates":[{{"content":{{"parts":[{part}]}},"finishReason":"STOP"}}]}}'
        assert isinstance(read(payload).error, MalformedStream)


@pytest.mark.parametrize("number", [12345678901234567890123, 10**400])
def test_big_integers_are_read_alike_by_both_decoders(json_decoder: str, number: int) -> None:
    reading = read(
        chunk(call("a", id="c1", args={"n": number})),
        chunk(call("b", id="c2", willContinue=True)),
        chunk(partial("$.n", numberValue=number)),
        chunk(call()),
        chunk({"newThing": number}, finish="STOP"),
    )
    first, second, third = reading.content
    assert (first.arguments, second.arguments, third.data) == ({"n": number}, {"n": number}, {"newThing": number})
