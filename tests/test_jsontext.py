"""JSON as models and providers write it: decoding, strict arguments, previews, copies."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkaloud import jsontext
from thinkaloud.errors import MalformedToolArguments

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(st.text(max_size=6), json_values, max_size=4)

TOO_DEEP = "[" * 100_000


# decoding, with each decoder


@pytest.mark.usefixtures("json_decoder")
def test_text_and_bytes_decode_alike() -> None:
    assert jsontext.loads('{"a":["é",1,null,true]}') == {"a": ["é", 1, None, True]}
    assert jsontext.loads('{"a":["é",1,null,true]}'.encode()) == {"a": ["é", 1, None, True]}


@pytest.mark.usefixtures("json_decoder")
def test_a_lone_surrogate_half_decodes() -> None:
    assert jsontext.loads(r'{"a":"\ud83d"}') == {"a": "\ud83d"}


@pytest.mark.usefixtures("json_decoder")
def test_an_escaped_pair_decodes_to_one_character() -> None:
    assert jsontext.loads(r'"\ud83d\ude00"') == "😀"


@pytest.mark.usefixtures("json_decoder")
@pytest.mark.parametrize("text", ["", "{", "{}x", "nope", b"\xff", TOO_DEEP, TOO_DEEP.encode()], ids=range(7))
def test_what_is_not_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each decoder words it its own way
        jsontext.loads(text)


@pytest.mark.usefixtures("json_decoder")
def test_integers_of_64_bits_keep_every_digit() -> None:
    assert jsontext.loads("[-9223372036854775808,18446744073709551615]") == [-(2**63), 2**64 - 1]


@given(json_values)
def test_what_was_encoded_decodes_exactly(value: Any) -> None:
    assert jsontext.loads_exact(jsontext.dumps(value)) == value


def test_exact_decoding_keeps_every_digit() -> None:
    assert jsontext.loads_exact("123456789012345678901234567890") == 123456789012345678901234567890


def test_exact_decoding_of_what_is_too_deep_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        jsontext.loads_exact(TOO_DEEP)


# encoding


def test_encoding_is_compact_ascii() -> None:
    assert jsontext.dumps({"a": ["é", "\ud83d"]}) == r'{"a":["\u00e9","\ud83d"]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_numbers_that_json_lacks_are_not_encoded(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        jsontext.dumps(value)


def test_encoding_what_is_too_deep_is_a_value_error() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="nested too deeply"):
        jsontext.dumps(value)
    while value:  # taken apart here, level by level: the interpreter would do it in one deep recursion
        value = value[0]


# strict arguments


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_blank_arguments_are_no_arguments(text: str) -> None:
    assert jsontext.parse_arguments(text) == {}


def test_arguments_are_a_json_object() -> None:
    assert jsontext.parse_arguments(' {"q": "weather", "n": [1, 2.5, null]} ') == {"q": "weather", "n": [1, 2.5, None]}


def test_big_integers_in_arguments_keep_every_digit() -> None:
    assert jsontext.parse_arguments('{"id": 12345678901234567890123}') == {"id": 12345678901234567890123}


def test_of_equal_keys_the_last_counts() -> None:
    assert jsontext.parse_arguments('{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1',
        '{"a": 1} {}',
        '{"a": 1}x',
        "{'a': 1}",
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": -Infinity}',
        "[]",
        "null",
        "true",
        "1",
        '"x"',
        '{"a": "line\nfeed"}',
        '\ufeff{"a": 1}',
        '{"a": ' + "9" * 10_000 + "}",
        '{"a":' * 100_000,
        TOO_DEEP + "]" * 100_000,
    ],
    ids=range(17),
)
def test_arguments_that_are_no_json_object_are_malformed_and_keep_their_text(text: str) -> None:
    with pytest.raises(MalformedToolArguments) as raised:
        jsontext.parse_arguments(text)
    assert raised.value.raw == text
    assert not jsontext.is_json_object(text)


@pytest.mark.parametrize(
    ("text", "kind"), [("[1]", "array"), ("null", "null"), ("false", "boolean"), ("1.5", "number")]
)
def test_the_error_says_what_the_arguments_are_instead(text: str, kind: str) -> None:
    with pytest.raises(MalformedToolArguments, match=f"a JSON {kind}, not an object"):
        jsontext.parse_arguments(text)


@given(json_objects)
def test_arguments_parse_to_what_was_written(value: dict[str, Any]) -> None:
    assert jsontext.parse_arguments(json.dumps(value)) == value
    assert jsontext.is_json_object(json.dumps(value))


def test_blank_text_is_no_whole_object() -> None:
    assert not jsontext.is_json_object("")


# surrogates


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("\ud83d\ude00", "😀"),
        ("a\ud83d\ude00b", "a😀b"),
        ("\ud83d", "\ufffd"),
        ("x\ude00", "x\ufffd"),
        ("\ud83dx", "\ufffdx"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ud83d\ude00", "\ufffd😀"),
        ("é😀", "é😀"),
    ],
)
def test_surrogate_halves_are_joined_and_lone_ones_replaced(text: str, joined: str) -> None:
    assert jsontext.joined_surrogates(text) == joined


# previews


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", {}),
        ("{", {}),
        ('{"a"', {}),
        ('{"a":', {}),
        ('{"a": "', {"a": ""}),
        ('{"a": "wea', {"a": "wea"}),
        ('{"a": "x", "b', {"a": "x"}),
        ('{"a": 12', {}),
        ('{"a": 12 ', {"a": 12}),
        ('{"a": 12,', {"a": 12}),
        ('{"a": tru', {}),
        ('{"a": true', {"a": True}),
        ('{"a": [1, 2', {"a": [1]}),
        ('{"a": [1, 2]', {"a": [1, 2]}),
        ('{"a": [{"b": "c', {"a": [{"b": "c"}]}),
        ('{"a": {"b": null}, "c": {', {"a": {"b": None}, "c": {}}),
        ('{"a": "x"}', {"a": "x"}),
        ('{"a": "x"} trailing', {"a": "x"}),
        ('{"a": "x"} {"b": 1}', {"a": "x"}),
        ('{"a": "x"]', {"a": "x"}),
        ('{"a": "two\nlines', {"a": "two\nlines"}),
    ],
)
def test_a_preview_shows_what_can_be_read(text: str, shown: dict[str, Any]) -> None:
    assert jsontext.preview_arguments(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r'{"a": "x' + "\\", "x"),
        (r'{"a": "x\\', "x\\"),
        (r'{"a": "x\n', "x\n"),
        (r'{"a": "x\u00', "x"),
        (r'{"a": "x\u00e9', "xé"),
        (r'{"a": "x\\u00', "x\\u00"),
        (r'{"a": "x\ud83d', "x"),
        (r'{"a": "x\ud83d\ude', "x"),
        (r'{"a": "x\ud83d\ude00', "x😀"),
        (r'{"a": "x\ud83dy', "x\ud83dy"),
        (r'{"a": "x\\ud83d', "x\\ud83d"),
    ],
)
def test_a_preview_leaves_out_half_an_escape(text: str, shown: str) -> None:
    assert jsontext.preview_arguments(text) == {"a": shown}


@pytest.mark.parametrize(
    "text", ["[1, 2", '"text', "12", "nope", "}", ":", ",", '{"a" "b', "{1: 2", '{"a": 1 "b": 2}', TOO_DEEP]
)
def test_a_preview_of_what_is_no_object_never_raises(text: str) -> None:
    assert jsontext.preview_arguments(text) in ({}, {"a": 1})


@given(st.text(st.sampled_from('{}[],:"\\u0123deé \n-.etrufalsn😀'), max_size=30))
def test_a_preview_never_raises(text: str) -> None:
    assert isinstance(jsontext.preview_arguments(text), dict)


def _agrees(shown: Any, final: Any) -> bool:
    """Whether a preview is a beginning of what came in the end."""
    if isinstance(shown, str) and isinstance(final, str):
        return final.startswith(shown)
    if isinstance(shown, dict) and isinstance(final, dict):
        return all(key in final and _agrees(value, final[key]) for key, value in shown.items())
    if isinstance(shown, list) and isinstance(final, list):
        return len(shown) <= len(final) and all(map(_agrees, shown, final))
    return bool(shown == final) and type(shown) is type(final)


texts_with_surrogates = st.text(st.sampled_from('\ud83d\ude00😀\\"é\n'), max_size=6)
# Two halves and the character that they make are one key in JSON.
objects_with_surrogates = st.dictionaries(texts_with_surrogates, texts_with_surrogates).filter(
    lambda value: len(set(map(json.dumps, value))) == len(value)
)


@given(json_objects | objects_with_surrogates, st.booleans(), st.booleans())
def test_a_preview_of_every_beginning_agrees_with_the_end(value: dict[str, Any], ascii: bool, indent: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii, indent=2 if indent else None)
    previews = [jsontext.preview_arguments(text[:length]) for length in range(len(text) + 1)]
    assert previews[-1] == json.loads(text)
    for earlier, later in pairwise(previews):
        assert _agrees(earlier, later), (earlier, later)


def _seconds(text: str) -> float:
    """CPU time of the quickest of three runs."""
    times = []
    for _ in range(3):
        start = time.process_time()
        jsontext.preview_arguments(text)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize(
    ("start", "repeat"),
    [
        ('{"a": "', "abcdefgh"),
        ('{"a": "', "\\n\\u00e9"),
        ('{"a": "', "\\\\"),
        ('{"a": [', "1, "),
        ("", '{"a":'),
        ("", "["),
        ('{"a": ', "  "),
        ("", '{"a": 1}, '),
    ],
)
def test_the_time_of_a_preview_grows_with_the_text_and_not_with_its_square(start: str, repeat: str) -> None:
    small, large = _seconds(start + repeat * 4_000), _seconds(start + repeat * 64_000)
    assert large < 100 * max(small, 0.0005)  # sixteen times the size: 16 when linear, 256 when quadratic


# copies


@given(json_values)
def test_a_copy_is_equal(value: Any) -> None:
    assert jsontext.copied(value) == value


def test_a_copy_shares_no_container_with_its_original() -> None:
    inner: list[Any] = [1]
    copy = jsontext.copied_object({"a": inner, "b": {"c": inner}})
    inner.append(2)
    assert copy == {"a": [1], "b": {"c": [1]}}


def test_a_copy_has_lists_for_tuples() -> None:
    assert jsontext.copied({"a": (1, (2,))}) == {"a": [1, [2]]}


def test_a_copy_may_be_deeper_than_the_interpreter_recurses() -> None:
    value: Any = "bottom"
    for _ in range(5_000):
        value = [value]
    copy = jsontext.copied(value)
    for _ in range(5_000):
        (copy,), (value,) = copy, value
    assert copy == "bottom"


def test_a_value_that_holds_itself_is_a_value_error() -> None:
    value: list[Any] = []
    value.extend([value, value])
    with pytest.raises(ValueError, match="nested too deeply"):
        jsontext.copied(value)


@pytest.mark.parametrize("value", [{"a": {1}}, [b"x"], {"a": [object()]}, {1: "a"}, {"a": {None: 1}}])
def test_what_is_not_json_is_not_copied(value: Any) -> None:
    with pytest.raises(TypeError, match="JSON"):
        jsontext.copied(value)


@pytest.mark.parametrize("value", [[], "", None, 1, [("a", 1)]])
def test_only_an_object_is_copied_as_one(value: Any) -> None:
    with pytest.raises(TypeError, match="JSON object"):
        jsontext.copied_object(value)
