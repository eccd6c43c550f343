"""Where thinking is in a chat completion, and that all of it which must go back is kept on its block."""

from __future__ import annotations

from typing import Any

import pytest

from support.chat_wire import DONE, body, call, calls, chunk, read, read_whole, stop
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.models.dialect import Dialect, ThinkTags

# one field


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
def test_thinking_is_found_under_every_name_and_the_name_is_remembered(field: str) -> None:
    first: dict[str, Any] = {field: "Let "}
    second: dict[str, Any] = {field: "me"}
    reading = read(chunk(**first), chunk(**second), chunk(content="42"), stop())
    assert reading.content == (Thinking("Let me", extra={"field": field}), Text("42"))
    assert reading.kinds() == [
        *("StreamStart", "ThinkingStart", "ThinkingDelta", "ThinkingDelta", "ThinkingEnd"),
        *("TextStart", "TextDelta", "TextEnd", "StreamEnd"),
    ]


def test_the_dialect_s_own_field_is_looked_at_first() -> None:
    reading = read(chunk(thoughts="a", reasoning="b"), stop(), dialect=Dialect(reasoning_field="thoughts"))
    assert reading.message.thinking == "a"


def test_the_same_thinking_in_two_fields_is_read_once() -> None:
    reading = read(
        chunk(reasoning="The", reasoning_content="The"), chunk(reasoning=" sky", reasoning_content=" sky"), stop()
    )
    assert reading.message.thinking == "The sky"


def test_empty_and_null_fields_open_no_block() -> None:
    reading = read(
        chunk(role="assistant", content="", reasoning_content=""),
        chunk(content=None, reasoning_content=None, reasoning="a"),
        chunk(content="b", reasoning=None),
        stop(),
    )
    assert reading.content == (Thinking("a", extra={"field": "reasoning"}), Text("b"))


def test_thinking_comes_before_text_inside_one_delta() -> None:
    assert [type(block) for block in read(chunk(content="b", reasoning="a"), stop()).content] == [Thinking, Text]


def test_thinking_between_texts_is_a_block_of_its_own() -> None:
    reading = read(*(chunk(reasoning=text) if text in "ac" else chunk(content=text) for text in "abcd"), stop())
    assert [(type(block), block.text) for block in reading.content] == [
        (Thinking, "a"),
        (Text, "b"),
        (Thinking, "c"),
        (Text, "d"),
    ]


def test_a_repeated_delta_is_text_that_the_model_repeats() -> None:
    """Seen at xAI: names such as "J.R.R." come as equal deltas one after the other."""
    assert read(chunk(reasoning_content="R."), chunk(reasoning_content="R."), stop()).message.thinking == "R.R."


def test_thinking_that_is_no_text_is_passed_over_with_a_notice() -> None:
    reading = read(chunk(reasoning={"steps": []}, reasoning_text="a"), stop())
    assert (reading.message.thinking, reading.codes) == ("a", ["odd_field"])


# entries of a gateway


def text_detail(text: str | None = None, index: int | None = 0, **fields: Any) -> dict[str, Any]:
    said: dict[str, Any] = {} if text is None else {"text": text}
    place: dict[str, Any] = {} if index is None else {"index": index}
    return {"type": "reasoning.text", **said, **place, **fields}


def encrypted(data: str, index: int | None = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "reasoning.encrypted", "data": data, **({} if index is None else {"index": index}), **fields}


def entries(block: Thinking | ToolCall) -> Any:
    return block.extra["reasoning_details"]


def test_entries_are_the_thinking_and_the_plain_field_only_repeats_them() -> None:
    claude: dict[str, Any] = {"format": "anthropic-claude-v1"}
    reading = read(
        chunk(content="", reasoning="", reasoning_details=[text_detail("", signature="", **claude)]),
        chunk(content="", reasoning="Let", reasoning_details=[text_detail("Let", **claude)]),
        chunk(content="", reasoning=" us", reasoning_details=[text_detail(" us", **claude)]),
        chunk(content="", reasoning_details=[text_detail(signature="SIG", **claude)]),
        chunk(content="Yes"),
        stop(),
    )
    thinking, text = reading.content
    assert (thinking.text, thinking.signature, text.text) == ("Let us", "SIG", "Yes")
    assert entries(thinking) == [text_detail("Let us", signature="SIG", **claude)]
    assert thinking.extra["field"] == "reasoning"


def test_a_signature_without_any_text_is_withheld_thinking() -> None:
    (thinking,) = read(
        chunk(reasoning_details=[text_detail("")]), chunk(reasoning_details=[text_detail(signature="S")]), stop()
    ).content
    assert thinking.withheld
    assert entries(thinking) == [text_detail("", signature="S")]


def test_entries_of_other_types_stay_apart_under_one_index() -> None:
    summary = {"type": "reasoning.summary", "index": 0, "format": "xai-responses-v1"}
    (thinking,) = read(
        chunk(reasoning="The", reasoning_details=[{**summary, "summary": "The"}]),
        chunk(reasoning=" sum", reasoning_details=[{**summary, "summary": " sum"}]),
        chunk(reasoning=None, reasoning_details=[encrypted("BLOB", id="rs_1", format="xai-responses-v1")]),
        stop(),
    ).content
    assert (thinking.text, thinking.signature, thinking.redacted_data) == ("The sum", "BLOB", None)
    assert entries(thinking) == [
        {**summary, "summary": "The sum"},
        encrypted("BLOB", id="rs_1", format="xai-responses-v1"),
    ]


def test_another_index_is_another_block_with_its_own_signature() -> None:
    reading = read(
        chunk(reasoning_details=[text_detail("a", 0)]),
        chunk(reasoning_details=[text_detail(signature="A", index=0)]),
        chunk(reasoning_details=[text_detail("b", 1)]),
        chunk(reasoning_details=[text_detail(signature="B", index=1)]),
        stop(),
    )
    assert [(block.text, block.signature) for block in reading.content] == [("a", "A"), ("b", "B")]
    assert [entries(block) for block in reading.content] == [
        [text_detail("a", 0, signature="A")],
        [text_detail("b", 1, signature="B")],
    ]


def test_new_text_after_a_signature_is_a_new_block_even_under_the_same_index() -> None:
    reading = read(
        chunk(reasoning_details=[text_detail("a"), text_detail(signature="A")]),
        chunk(reasoning_details=[text_detail("b"), text_detail(signature="B")]),
        stop(),
    )
    assert [(block.text, block.signature) for block in reading.content] == [("a", "A"), ("b", "B")]


def test_without_an_index_the_id_tells_entries_apart_and_without_an_id_the_place_does() -> None:
    by_id = read(
        chunk(reasoning_details=[text_detail("a", None, id="x")]),
        chunk(reasoning_details=[text_detail("b", None, id="x")]),
        chunk(reasoning_details=[text_detail("c", None, id="y")]),
        stop(),
    )
    assert [block.text for block in by_id.content] == ["ab", "c"]
    by_place = read(
        chunk(reasoning_details=[text_detail("a", None)]), chunk(reasoning_details=[text_detail("b", None)]), stop()
    )
    assert [block.text for block in by_place.content] == ["ab"]


def test_fields_that_are_not_known_stay_in_the_entry_and_nulls_stay_null() -> None:
    (thinking,) = read(chunk(reasoning_details=[text_detail("a", format=None, novelty={"x": 1})]), stop()).content
    assert entries(thinking) == [text_detail("a", format=None, novelty={"x": 1})]


def test_an_encrypted_entry_after_the_text_is_a_block_of_its_own() -> None:
    text, thinking = read(chunk(content="Hi"), chunk(reasoning_details=[encrypted("E")]), stop()).content
    assert text == Text("Hi")
    assert (thinking.text, thinking.signature, entries(thinking)) == ("", "E", [encrypted("E")])


def test_an_encrypted_entry_of_claude_is_redacted_thinking() -> None:
    claude: dict[str, Any] = {"format": "anthropic-claude-v1"}
    reading = read(
        chunk(reasoning_details=[text_detail("a", 0, signature="A", **claude)]),
        chunk(reasoning_details=[encrypted("R", 1, **claude)]),
        stop(),
    )
    signed, redacted = reading.content
    assert (signed.signature, redacted.redacted_data, redacted.signature) == ("A", "R", None)
    assert redacted.redacted


def test_two_encrypted_entries_of_other_ids_stay_apart_under_one_index() -> None:
    item: dict[str, Any] = {"format": "openai-responses-v1"}
    reading = read(
        chunk(reasoning_details=[encrypted("A", id="rs_1", **item)]),
        chunk(reasoning_details=[encrypted("B", id="rs_2", **item)]),
        stop(),
    )
    assert [block.signature for block in reading.content] == ["A", "B"]


def test_signed_thinking_takes_no_second_proof() -> None:
    reading = read(chunk(reasoning_details=[text_detail("a", signature="A"), encrypted("E")]), stop())
    assert [(block.text, block.signature) for block in reading.content] == [("a", "A"), ("", "E")]


def test_pieces_of_one_encrypted_entry_are_joined() -> None:
    (thinking,) = read(
        chunk(reasoning_details=[encrypted("ab")]), chunk(reasoning_details=[encrypted("cd")]), stop()
    ).content
    assert (thinking.signature, entries(thinking)) == ("abcd", [encrypted("abcd")])


def test_plain_thinking_beside_an_encrypted_entry_is_not_lost() -> None:
    (thinking,) = read(
        chunk(reasoning="sum", reasoning_details=[encrypted("E", id="rs_1", format="openai-responses-v1")]), stop()
    ).content
    assert (thinking.text, thinking.signature, thinking.extra["field"]) == ("sum", "E", "reasoning")


def test_entries_of_unknown_type_are_kept_whole() -> None:
    entry: dict[str, Any] = {"type": "reasoning.server_tool_call", "tool_name": "search", "arguments": {"q": 1}}
    (block,) = read(chunk(reasoning_details=[entry]), stop()).content
    assert block == Opaque("openai-chat", kind="reasoning.server_tool_call", data=entry)


def test_halves_of_a_character_meet_in_the_entry_too() -> None:
    halves = [chunk(reasoning_details=[text_detail(half)]) for half in ("a\ud83d", "\ude00")]
    (thinking,) = read(*halves, stop()).content
    assert (thinking.text, entries(thinking)) == ("a\U0001f600", [text_detail("a\U0001f600")])


# entries that name a call

GEMINI: dict[str, Any] = {"format": "google-gemini-v1"}


def test_an_encrypted_entry_that_names_a_call_is_the_signature_of_that_call() -> None:
    reading = read(
        chunk(reasoning_details=[text_detail("Search.", **GEMINI)]),
        calls(call(0, "tool_1", "web", '{"q":"x"}')),
        chunk(content="", reasoning_details=[encrypted("E", id="tool_1", **GEMINI)]),
        stop("tool_calls"),
    )
    thinking, called = reading.content
    assert (thinking.text, thinking.signature, called.signature) == ("Search.", None, "E")
    assert entries(called) == [encrypted("E", id="tool_1", **GEMINI)]


def test_it_is_so_when_it_comes_before_the_call() -> None:
    (called,) = read(
        chunk(reasoning_details=[encrypted("E", id="tool_1", **GEMINI)]),
        calls(call(0, "tool_1", "web", "{}")),
        stop("tool_calls"),
    ).content
    assert called.signature == "E"


def test_it_is_so_whatever_the_format_when_the_call_is_known() -> None:
    (called,) = read(
        calls(call(0, "tool_1", "web", "{}")),
        chunk(reasoning_details=[encrypted("E", id="tool_1", format="some-responses-v1")]),
        stop("tool_calls"),
    ).content
    assert called.signature == "E"


def test_entries_of_two_calls_under_one_index_stay_apart() -> None:
    reading = read(
        chunk(reasoning_details=[encrypted("A", id="t1", **GEMINI), encrypted("B", id="t2", **GEMINI)]),
        calls(call(0, "t1", "f", "{}"), call(1, "t2", "f", "{}")),
        stop("tool_calls"),
    )
    assert [block.signature for block in reading.content] == ["A", "B"]


def test_an_entry_whose_call_never_comes_is_thinking_at_the_end() -> None:
    text, thinking = read(
        chunk(reasoning_details=[encrypted("E", id="t1", **GEMINI)]), chunk(content="Hi"), stop()
    ).content
    assert (text.text, thinking.signature) == ("Hi", "E")


def test_an_entry_that_names_an_item_of_reasoning_keeps_its_place() -> None:
    reading = read(
        chunk(reasoning_details=[encrypted("E", id="rs_1", format="openai-responses-v1")]),
        calls(call(0, "c1", "f", "{}")),
        stop("tool_calls"),
    )
    assert [type(block) for block in reading.content] == [Thinking, ToolCall]


def test_a_late_encrypted_entry_without_an_id_is_not_taken_for_the_call_s() -> None:
    """Seen at Vercel's gateway with Gemini behind it."""
    reading = read(
        chunk(reasoning="a", reasoning_details=[text_detail("a", **GEMINI)]),
        calls(call(0, "c1", "f", "{}")),
        chunk(reasoning_details=[encrypted("E", **GEMINI)]),
        stop("tool_calls"),
    )
    first, called, last = reading.content
    assert [entries(first), entries(last)] == [[text_detail("a", **GEMINI)], [encrypted("E", **GEMINI)]]
    assert (called.signature, last.signature) == (None, "E")


# typed parts of the content


def thinking_part(*texts: str, **fields: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text} for text in texts], **fields}


def test_content_may_be_a_list_of_thinking_parts() -> None:
    reading = read(
        chunk(content=""),
        chunk(content=[thinking_part("Greet")]),
        chunk(content=[thinking_part("ing", ".")]),
        chunk(content=[thinking_part()]),
        chunk(content="Hello"),
        chunk(content="!"),
        stop(),
    )
    assert reading.content == (Thinking("Greeting.", extra={"field": "content"}), Text("Hello!"))


def test_signature_and_state_of_a_thinking_part_are_kept() -> None:
    reading = read(
        chunk(content=[thinking_part("a")]),
        chunk(content=[thinking_part("b", signature="S", closed=True)]),
        chunk(content=[thinking_part("c")]),
        stop(),
    )
    first, second = reading.content
    assert (first.text, first.signature, first.extra) == ("ab", "S", {"field": "content", "closed": True})
    assert second.text == "c"


def test_an_empty_thinking_part_ends_the_block() -> None:
    reading = read(
        chunk(content=[thinking_part("a")]),
        chunk(content=[thinking_part()]),
        chunk(content=[thinking_part("b")]),
        stop(),
    )
    assert [block.text for block in reading.content] == ["a", "b"]


def test_pieces_of_thinking_that_are_no_text_keep_their_place() -> None:
    reference: dict[str, Any] = {"type": "reference", "reference_ids": [1]}
    (thinking,) = read(
        chunk(content=[thinking_part("a", "b")]),
        chunk(content=[{"type": "thinking", "thinking": [reference]}]),
        chunk(content=[thinking_part("c")]),
        chunk(content=[thinking_part("d")]),
        stop(),
    ).content
    assert thinking.text == "abcd"
    assert thinking.extra["thinking"] == [{"type": "text", "text": "ab"}, reference, {"type": "text", "text": "cd"}]


def test_texts_and_unknown_parts_of_a_list_keep_their_order() -> None:
    reference: dict[str, Any] = {"type": "reference", "reference_ids": [1]}
    reading = read(chunk(content=[{"type": "text", "text": "a"}, reference, "b"]), stop())
    assert reading.content == (Text("a"), Opaque("openai-chat", kind="reference", data=reference), Text("b"))


# tags

TAGS = Dialect(think_tags=ThinkTags())


def test_tags_part_the_text_where_the_dialect_says_so() -> None:
    payloads = [chunk(content="<think>secret</thi"), chunk(content="nk>ANSWER"), stop()]
    thinking, text = read(*payloads, dialect=TAGS).content
    assert (thinking.text, text.text) == ("secret", "ANSWER")
    assert thinking.extra == {"field": "content", "tags": True}
    assert read(*payloads).content == (Text("<think>secret</think>ANSWER"),)


def test_an_implied_opening_tag_is_a_matter_of_the_dialect_too() -> None:
    implied = Dialect(think_tags=ThinkTags(implied_open=True))
    thinking, text = read(chunk(content="why</think>"), chunk(content="so"), stop(), dialect=implied).content
    assert (thinking.text, text.text) == ("why", "so")


def test_what_is_held_back_for_a_tag_is_not_lost() -> None:
    assert read(chunk(content="a <thi"), DONE, dialect=TAGS).message.text == "a <thi"
    cut = read(chunk(content="<think>a</thi"), dialect=TAGS)
    assert cut.content == (Thinking("a</thi", complete=False, extra={"field": "content", "tags": True}),)
    before_call = read(chunk(content="<thi"), calls(call(0, "c", "f", "{}")), stop(), dialect=TAGS)
    assert [type(block) for block in before_call.content] == [Text, ToolCall]


def test_where_a_field_tells_the_thinking_the_tags_only_repeat_it() -> None:
    """Seen at llama.cpp in its legacy format."""
    reading = read(
        chunk(reasoning_content="why", content="<think>why"), chunk(content="</think>so"), stop(), dialect=TAGS
    )
    assert [(type(block), block.text) for block in reading.content] == [(Thinking, "why"), (Text, "so")]


# the whole body


def test_a_whole_body_is_read_as_its_stream() -> None:
    details = [text_detail("a", signature="A"), encrypted("E", id="c1", **GEMINI)]
    fragment = call(0, "c1", "f", '{"x":1}')
    whole = read_whole(
        body("tool_calls", content="Hi", reasoning="a", reasoning_details=details, tool_calls=[fragment])
    )
    streamed = read(
        chunk(reasoning="a", reasoning_details=details), chunk(content="Hi"), calls(fragment), stop("tool_calls")
    )
    assert whole.message == streamed.message
    assert [type(block) for block in whole.content] == [Thinking, Text, ToolCall]
    assert whole.content[2].signature == "E"
