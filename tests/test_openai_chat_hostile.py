"""Chat answers made to be slow, or to give blocks that cannot be sent again: neither comes about."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from support.chat_wire import DONE, body, call, calls, chunk, parser, read, read_whole, sse, stop
from thinkaloud.content import Thinking, ToolCall
from thinkaloud.jsontext import dumps, is_json_object, loads_exact
from thinkaloud.protocols.openai_chat import details as details_module
from thinkaloud.protocols.openai_chat import parse as parse_module
from thinkaloud.protocols.openai_chat import whole_object
from thinkaloud.protocols.openai_chat.details import replayed
from thinkaloud.protocols.openai_chat.whole_object import WholeObject

REDACTED: dict[str, Any] = {"type": "reasoning.encrypted", "data": "R", "format": "anthropic-claude-v1", "index": 0}


# blocks that can be sent again


def shown(*payloads: Any) -> list[tuple[str, str | None]]:
    content = read(*payloads, stop(), DONE).content
    return [(block.text, block.redacted_data) for block in content if isinstance(block, Thinking)]


@pytest.mark.parametrize("name", ["reasoning", "reasoning_content"])
def test_plain_thinking_and_a_redacted_payload_are_two_blocks(name: str) -> None:
    fields: dict[str, Any] = {name: "plain"}
    plain, redacted = chunk(**fields), chunk(reasoning_details=[REDACTED])
    assert shown(redacted, plain) == [("", "R"), ("plain", None)]
    assert shown(plain, redacted) == [("plain", None), ("", "R")]


def test_a_thinking_part_and_a_redacted_payload_are_two_blocks() -> None:
    part = chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "plain"}]}])
    assert shown(chunk(reasoning_details=[REDACTED]), part) == [("", "R"), ("plain", None)]


def test_a_format_that_comes_late_makes_no_payload_of_the_proof_of_a_text() -> None:
    early = {name: value for name, value in REDACTED.items() if name != "format"}
    (thinking,) = read(
        chunk(reasoning="plain"), chunk(reasoning_details=[early]), chunk(reasoning_details=[REDACTED]), stop()
    ).content
    assert (thinking.text, thinking.signature, thinking.redacted_data) == ("plain", "RR", None)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_details": [{"type": "reasoning.text", "text": "t", "x": "@"}]},
        {"reasoning_details": [{"type": "reasoning.new", "x": {"y": ["@"]}}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "id": "c", "data": "d", "x": "@"}]},
        {"content": "c", "annotations": [{"x": "@"}]},
        {"content": [{"type": "new", "x": "@"}]},
        {"content": [{"type": "thinking", "thinking": [{"type": "reference", "x": "@"}]}]},
        {"tool_calls": [{**call(0, "c", "f", "{}"), "extra_content": {"x": ["@"]}}]},
    ],
)
def test_a_number_that_json_cannot_hold_is_passed_over(delta: dict[str, Any], number: str) -> None:
    data = json.dumps(chunk(**delta)).replace('"@"', number)
    reading = read(data, stop(), DONE)
    assert reading.error is None
    for block in reading.content:
        dumps([dict(block.extra) if block.extra else None, [dict(each) for each in getattr(block, "citations", ())]])
        dumps(dict(getattr(block, "data", {})))
    assert "odd_field" in reading.codes


# work


def test_a_chunk_is_decoded_again_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = counted(monkeypatch, parse_module, "loads_exact", loads_exact)
    entries = [{"index": n, "id": f"c{n}", "function": {"name": "f", "arguments": {"n": 2**70 + n}}} for n in range(50)]
    reading = read(calls(*entries), stop("tool_calls"), DONE)
    assert [block.arguments_json for block in reading.content] == [f'{{"n":{2**70 + n}}}' for n in range(50)]
    assert decoded() == 1


def test_named_fragments_that_begin_with_a_brace_are_not_parsed_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed = counted(monkeypatch, whole_object, "is_json_object", is_json_object)
    fragments = ['{"a":[{}', *[",{}"] * 3, *["{}"] * 300]
    (called,) = read(*[calls(call(0, None, "f", each)) for each in fragments], stop("tool_calls"), DONE).content
    assert called.arguments_json == "".join(fragments)
    assert parsed() <= 1


def test_a_named_fragment_after_a_whole_object_still_begins_the_next_call() -> None:
    fragments = ['{"a":"}', "\\", '"{"', "}", " ", '{"b":1}', '{"c":2}']
    content = read(*[calls(call(0, None, "f", each)) for each in fragments], stop("tool_calls"), DONE).content
    assert [each.arguments_json for each in content if isinstance(each, ToolCall)] == [
        '{"a":"}\\"{"} ',
        '{"b":1}',
        '{"c":2}',
    ]


@pytest.mark.parametrize(
    "text", ['{"a":{"b":"}"}}', '{"\\\\":[]} ', "{}{}", "[{}]", '"{}"', "}{}", "{a}", "", ' {"a":1}\n']
)
def test_whether_a_growing_text_is_a_whole_object_is_known_after_every_piece(text: str) -> None:
    growing, so_far = WholeObject(), ""
    for character in text:
        growing.feed(character)
        so_far += character
        assert growing.holds(so_far.__str__) is is_json_object(so_far)
    at_once = WholeObject()
    at_once.feed(text)
    assert at_once.holds(text.__str__) is is_json_object(text)


def comparisons(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> int:
    """How often an entry is asked whether it goes on."""
    asked = counted(monkeypatch, details_module.Detail, "continues", details_module.Detail.continues)
    work()
    return asked()


def test_entries_of_one_call_are_found_by_their_index(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [{"type": "reasoning.encrypted", "id": "c", "data": "d", "index": n} for n in (*range(500), *range(500))]
    chunks = [calls(call(0, "c", "f", "{}")), chunk(reasoning_details=entries), stop("tool_calls"), DONE]
    assert comparisons(monkeypatch, lambda: read(*chunks)) <= 2000
    (called,) = read(*chunks).content
    assert [(each["index"], each["data"]) for each in called.extra["reasoning_details"]] == [
        (n, "dd") for n in range(500)
    ]


def test_late_signatures_find_their_entries_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [{"type": "reasoning.text", "text": "t", "index": n} for n in range(500)]
    late = [{"type": "reasoning.text", "signature": f"s{n}", "index": n} for n in range(500)]
    assert comparisons(monkeypatch, lambda: replayed([*texts, *late])) <= 2000
    assert replayed([*texts, *late]) == [{**text, "signature": f"s{n}"} for n, text in enumerate(texts)]


def test_a_late_signature_goes_to_the_last_entry_that_it_fits() -> None:
    def entry(**fields: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", **fields}

    a, b, c = entry(text="a", index=0), entry(text="b", index=0, id="x"), entry(text="c", id="y")
    assert replayed([a, b, entry(signature="S", index=0)]) == [a, {**b, "signature": "S"}]
    assert replayed([a, b, entry(signature="S", index=0, id="z")]) == [{**a, "signature": "S", "id": "z"}, b]
    assert replayed([b, a, entry(signature="S", index=0, id="x")])[1]["signature"] == "S"
    assert replayed([c, entry(signature="S", id="y")]) == [{**c, "signature": "S"}]
    assert len(replayed([c, entry(signature="S", index=0, id="y")])) == 2
    assert len(replayed([entry(text="d"), entry(signature="S")])) == 2


def test_thousands_of_calls_without_names_are_not_looked_through_for_each_new_one() -> None:
    reading = parser()
    for number in range(3000):
        reading.feed(sse(calls(call(number, f"c{number}", None, "{"))))
    slots = reading._deltas._calls
    assert (len(slots._unopened), len(slots._openable)) == (3000, 0)
    slots.open_nameless()
    assert len(slots._unopened) == 0


def test_a_whole_body_with_many_calls_is_read() -> None:
    entries = [call(None, f"c{n}", "f", "{}") for n in range(2000)]
    assert len(read_whole(body("tool_calls", tool_calls=entries)).content) == 2000


def counted(monkeypatch: pytest.MonkeyPatch, holder: Any, name: str, real: Callable[..., Any]) -> Callable[[], int]:
    """Count the calls of a function from here on."""
    made: list[None] = []

    def counting(*arguments: Any) -> Any:
        made.append(None)
        return real(*arguments)

    monkeypatch.setattr(holder, name, counting)
    return lambda: len(made)
