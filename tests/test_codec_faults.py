"""Damaged and hostile JSON is a CodecError with the path of the fault, and nothing else."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.vocabulary import CONVERSATION, EVENTS, SIGNATURE, conversations, events, json_values
from thinkaloud import codec
from thinkaloud.content import Text
from thinkaloud.errors import CodecError
from thinkaloud.messages import AssistantMessage, Conversation

DEEP = 100_000


def fault(text: str | bytes) -> CodecError:
    with pytest.raises(CodecError) as raised:
        codec.loads(text)
    return raised.value


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"role":"assistant","content":[{"type":"thinking","signature":5}]}', "content[0].signature"),
        ('{"role":"assistant","content":[{"type":"text"}]}', "content[0].text"),
        ('{"role":"assistant","content":[{"type":"text","text":"a","complete":1}]}', "content[0].complete"),
        ('{"role":"assistant","content":[{"type":"text","text":"a","extra":[]}]}', "content[0].extra"),
        ('{"role":"assistant","content":[{"type":"text","text":"a","citations":[{},5]}]}', "content[0].citations[1]"),
        ('{"role":"assistant","content":[{"type":"text","text":"a"},5]}', "content[1]"),
        ('{"role":"assistant","content":[{"text":"a"}]}', "content[0].type"),
        ('{"role":"assistant","content":[{"type":["text"]}]}', "content[0].type"),
        ('{"role":"assistant","content":"hi"}', "content"),
        ('{"role":"assistant","content":{"0":"hi"}}', "content"),
        ('{"role":"assistant","content":null}', "content"),
        ('{"role":"assistant","stop_reason":"edn"}', "stop_reason"),
        ('{"role":"assistant","stop_reason":[["end"]]}', "stop_reason"),
        ('{"role":"assistant","usage":null}', "usage"),
        ('{"role":"assistant","usage":{"input":"5"}}', "usage.input"),
        ('{"role":"assistant","usage":{"input":5.0}}', "usage.input"),
        ('{"role":"assistant","usage":{"input":true}}', "usage.input"),
        ('{"role":"assistant","usage":{"billed_usd":"0.5"}}', "usage.billed_usd"),
        ('{"role":"assistant","cost":{"input":1' + "0" * 400 + "}}", "cost.input"),
        ('{"role":"assistant","level":[]}', "level"),
        ('{"role":"assistant","level":{"sent":"ultra"}}', "level.sent"),
        ('{"role":"assistant","timing":{"total":"1"}}', "timing.total"),
        ('{"role":"assistant","notices":[{"code":"a"},{"text":"b"}]}', "notices[1].code"),
        ('{"role":"assistant","notices":[{"type":"text_start","code":"a"}]}', "notices[0].type"),
        ('{"role":"assistant","origin":{"model":null}}', "origin.model"),
        ('{"role":"assistant","stop_detail":[]}', "stop_detail"),
        ('{"role":"tool"}', "call_id"),
        ('{"role":"tool","call_id":"c","is_error":null}', "is_error"),
        ('{"role":"user"}', "content"),
        ('{"role":"narrator"}', "role"),
        ('{"role":null}', "role"),
        ('{"role":{}}', "role"),
        ('{"messages":[{"role":"user","content":[]},{"role":"x"}]}', "messages[1].role"),
        ('{"messages":[{"role":"user","content":[]},{}]}', "messages[1].role"),
        ('{"messages":[[]]}', "messages[0]"),
        ('{"messages":{}}', "messages"),
        ('{"messages":[],"system":["a"]}', "system"),
        (
            '{"messages":[{"role":"user","content":[]},{"role":"user","content":[]},{"role":"user","content":[]},'
            '{"role":"assistant","content":[{"type":"text","text":""},{"type":"thinking","signature":[]}]}]}',
            "messages[3].content[1].signature",
        ),
        ('{"type":"text_delta","index":0}', "text"),
        ('{"type":"text_delta","index":"0","text":""}', "index"),
        ('{"type":"text_end","index":0,"block":{"type":"thinking","text":""}}', "block.type"),
        ('{"type":"text_end","index":0,"block":null}', "block"),
        ('{"type":"stream_end","stop_reason":"end","message":{"role":"user","content":[]}}', "message.role"),
        (
            '{"type":"stream_end","stop_reason":"end","message":{"content":[{"type":"tool_call","id":"c"}]}}',
            "message.content[0].name",
        ),
        ('{"type":5}', "type"),
        ("{}", ""),
        ("[]", ""),
        ("null", ""),
        ('"text"', ""),
        ("5", ""),
        ("", ""),
        ("{", ""),
        ('{"role":"user","content":[]} x', ""),
        ("\ufeff{}", ""),
        (b"\xff\xfe\xfd", ""),
        (b'{"role":"user\xff"}', ""),
    ],
    ids=lambda it: str(it)[:70],
)
def test_a_fault_is_named_by_its_path(text: str | bytes, path: str) -> None:
    error = fault(text)
    assert error.path == path
    assert error.message.startswith(f"{path}: " if path else "")


def test_an_object_that_is_none_of_ours_is_told_what_it_lacks() -> None:
    assert "'messages' (of a conversation)" in fault('{"text":"hi"}').message


def test_the_message_of_a_fault_shows_no_opaque_string_whole() -> None:
    text = json.dumps({"role": "assistant", "content": [{"type": "text", "text": {"a": SIGNATURE}}]})
    assert len(str(fault(text))) < 100
    assert len(str(fault(json.dumps({"role": SIGNATURE})))) < 150
    assert len(str(fault(json.dumps({"role": "assistant", "stop_reason": SIGNATURE})))) < 100


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP,
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP + "1" + "}" * DEEP,
        '{"role":"user","content":[{"type":"text","text":"a","extra":{"a":' + "[" * DEEP + "]" * DEEP + "}}]}",
        '{"role":"user","content":' + "[" * DEEP + "]" * DEEP + "}",
        '{"type":"notice","code":"a","detail":{"a":' + "9" * 10_000 + "}}",
    ],
    ids=range(6),
)
def test_json_that_is_too_deep_or_too_long_is_a_fault(text: str) -> None:
    assert fault(text).path == ""


def test_json_as_deep_as_the_decoder_goes_is_read() -> None:
    text = '{"role":"user","content":[{"type":"text","text":"a","extra":{"a":' + "[" * 900 + "]" * 900 + "}}]}"
    assert codec.loads(codec.dumps(codec.loads(text))) == codec.loads(text)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**5000], ids=range(3))
def test_numbers_that_json_cannot_hold_are_not_written(number: Any) -> None:
    with pytest.raises(CodecError, match="cannot be written"):
        codec.dumps(AssistantMessage([Text("a", extra={"n": number})]))


@pytest.mark.parametrize("value", [{"role": "user", "content": [], "x": {1}}, {1: 2}, {"role": b"user"}, object()])
def test_data_that_is_no_json_is_a_fault(value: Any) -> None:
    with pytest.raises(CodecError, match="not JSON"):
        codec.from_data(value)


def test_data_that_holds_itself_is_a_fault() -> None:
    data: dict[str, Any] = {"role": "user", "content": []}
    data["content"].append(data)
    with pytest.raises(CodecError, match="not JSON"):
        codec.from_data(data)


def test_names_in_json_are_never_looked_up() -> None:
    text = '{"role":"user","content":[],"__class__":"os.system","__reduce__":["os.system",["true"]],"__init__":1}'
    loaded = codec.loads(text)
    assert json.loads(codec.dumps(loaded)) == {"version": 1, **json.loads(text)}


def test_every_beginning_of_the_text_is_a_fault() -> None:
    text = codec.dumps(Conversation("hi", system="é"))
    for length in range(len(text)):
        fault(text[:length])


def _nodes(data: Any) -> list[tuple[Any, Any]]:
    """Every place of a JSON value, as its container and its key."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [node for key, value in items for node in [(data, key), *_nodes(value)]]


@pytest.mark.parametrize("junk", [None, 0.5, "x", [{}], {"type": "x"}], ids=repr)
@pytest.mark.parametrize("value", [CONVERSATION, *EVENTS], ids=lambda value: type(value).__name__)
def test_junk_in_any_place_is_a_fault_or_a_value_that_can_be_written(value: codec.Value, junk: Any) -> None:
    count = len(_nodes(codec.to_data(value)))
    for place in range(count):
        data = codec.to_data(value)
        container, key = _nodes(data)[place]
        container[key] = junk
        _check_that_it_is_read_or_refused(json.dumps(data))


@settings(max_examples=40)
@given(st.one_of(conversations, events), st.data())
def test_damage_in_any_place_is_a_fault_or_a_value_that_can_be_written(value: codec.Value, draw: st.DataObject) -> None:
    data = codec.to_data(value)
    container, key = draw.draw(st.sampled_from(_nodes(data)))
    if draw.draw(st.booleans()):
        del container[key]
    else:
        container[key] = draw.draw(json_values)
    _check_that_it_is_read_or_refused(json.dumps(data))


def _check_that_it_is_read_or_refused(text: str) -> None:
    try:
        loaded = codec.loads(text)
    except CodecError:
        return
    written = codec.dumps(loaded)
    assert codec.loads(written) == loaded
    assert codec.dumps(codec.loads(written)) == written


@given(json_values)
def test_any_json_is_read_or_refused(value: Any) -> None:
    _check_that_it_is_read_or_refused(json.dumps(value))


def test_many_faults_take_no_more_memory_than_one() -> None:
    text = json.dumps({"role": "user", "content": [{"type": "text", "text": None}] * 20_000})
    json.loads(text)
    tracemalloc.start()
    try:
        json.loads(text)
        _, plain = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        fault(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * plain
