"""Parts of Gemini's answers become blocks, and each signature stays on the part that carried it."""

from __future__ import annotations

from typing import Any

import pytest

from support.gemini_streams import call, chunk, text, thought
from support.gemini_wire import read, read_whole
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import MalformedStream
from thinkaloud.messages import StopReason

CODE: dict[str, Any] = {"executableCode": {"language": "PYTHON", "code": "2+2"}, "thoughtSignature": "Y29kZQ=="}
END = chunk(text(""), finish="STOP")


def test_neighbouring_texts_are_one_block() -> None:
    assert read(chunk(text("Fo"), text("ur")), chunk(text(".")), END).content == (Text("Four."),)


def test_thoughts_and_texts_are_blocks_of_their_own() -> None:
    reading = read(chunk(thought("Hm. ")), chunk(thought("So.")), chunk(text("Yes.")), END)
    assert reading.content == (Thinking("Hm. So."), Text("Yes."))
    assert reading.kinds() == [
        "StreamStart",
        *["ThinkingStart", "ThinkingDelta", "ThinkingDelta", "ThinkingEnd"],
        *["TextStart", "TextDelta", "TextEnd"],
        "StreamEnd",
    ]


def test_a_signed_text_is_text() -> None:
    assert read(chunk(text("Paris.", "c2ln")), END).content == (Text("Paris.", signature="c2ln"),)


def test_a_signature_ends_its_block() -> None:
    reading = read(chunk(text("This", "c2ln")), chunk(text(" is it.")), END)
    assert reading.content == (Text("This", signature="c2ln"), Text(" is it."))


def test_a_signature_on_a_later_text_notes_where_its_part_began() -> None:
    [block] = read(chunk(text("The capital is")), chunk(text(" Paris.", "c2ln")), END).content
    assert block == Text("The capital is Paris.", signature="c2ln", extra={"signed_from": 14})


def test_a_signature_on_an_empty_text_signs_the_text_before_it() -> None:
    [block] = read(chunk(text("Answer")), chunk(text("", "c2ln"), finish="STOP")).content
    assert block == Text("Answer", signature="c2ln", extra={"signed_from": 6})


def test_an_empty_signed_text_after_thinking_stands_alone() -> None:
    assert read(chunk(thought("Hm.")), chunk(text("", "c2ln"), finish="STOP")).content == (
        Thinking("Hm."),
        Text("", signature="c2ln"),
    )


def test_an_empty_signed_text_after_a_call_stands_alone() -> None:
    blocks = read(chunk(call("now", "Y2FsbA==", id="c1")), chunk(text("", "c2ln"), finish="STOP")).content
    assert [block.signature for block in blocks] == ["Y2FsbA==", "c2ln"]


def test_a_second_empty_signed_text_stands_alone() -> None:
    blocks = read(chunk(text("A"), text("", "b25l"), text("", "dHdv")), END).content
    assert blocks == (Text("A", signature="b25l", extra={"signed_from": 1}), Text("", signature="dHdv"))


def test_an_empty_thought_may_carry_the_signature_of_the_thinking() -> None:
    [block] = read(chunk(thought("Hm.")), chunk(thought("", "c2ln"), finish="STOP")).content
    assert block == Thinking("Hm.", signature="c2ln", extra={"signed_from": 3})


def test_a_signed_thought_without_any_text_is_withheld_thinking() -> None:
    [block] = read(chunk({"thought": True, "thoughtSignature": "c2ln"}), END).content
    assert block.withheld


def test_an_empty_text_without_a_signature_is_nothing() -> None:
    reading = read(chunk(text("A")), chunk(text("")), chunk(text("B")), END)
    assert reading.content == (Text("AB"),)


def test_an_empty_part_and_missing_content_are_nothing() -> None:
    chunks = [{"candidates": []}, {"candidates": [{"index": 0}]}, {"candidates": [{"content": {}}]}, chunk({})]
    assert read(*chunks, chunk(text("A")), END).content == (Text("A"),)


def test_an_empty_signature_is_none() -> None:
    assert read(chunk(text("A", "")), chunk(call("now", "", id="c1")), END).content == (
        Text("A"),
        ToolCall("c1", name="now", arguments_json="{}"),
    )


def test_parts_of_other_kinds_are_kept_whole_and_in_place() -> None:
    image: dict[str, Any] = {"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thought": True}
    reading = read(chunk(text("A")), chunk(CODE, image), chunk(text("B")), END)
    assert reading.content == (
        Text("A"),
        Opaque("gemini", kind="executableCode", data=CODE),
        Opaque("gemini", kind="inlineData", data=image),
        Text("B"),
    )


def test_a_part_of_an_unknown_kind_is_kept_with_all_its_digits() -> None:
    part: dict[str, Any] = {"newThing": {"count": 12345678901234567890123}, "thoughtSignature": "c2ln"}
    [block] = read(chunk(part), END).content
    assert block == Opaque("gemini", kind="newThing", data=part)


def test_a_part_that_is_nothing_but_a_signature_is_kept() -> None:
    assert read(chunk(text("A"), {"thoughtSignature": "c2ln"}), END).content == (
        Text("A"),
        Opaque("gemini", kind="thoughtSignature", data={"thoughtSignature": "c2ln"}),
    )


def test_further_fields_of_texts_are_kept_and_part_them() -> None:
    marked: dict[str, Any] = {"partMetadata": {"a": 1}}
    reading = read(chunk(text("A")), chunk(text("B", **marked)), chunk(text("C", **marked)), chunk(text("D")), END)
    assert reading.content == (Text("A"), Text("BC", extra={"part": marked}), Text("D"))


def test_halves_of_a_character_are_joined_across_chunks() -> None:
    [block] = read(
        '{"candidates":[{"content":{"parts":[{"text":"a\\ud83d"}]}}]}', chunk(text("\ude00b", "c2ln")), END
    ).content
    assert block.text == "a\U0001f600b"


def test_only_the_first_candidate_is_read() -> None:
    other = {"candidates": [{"index": 1, "content": {"parts": [text("No")]}, "finishReason": "STOP"}]}
    reading = read(chunk(text("Yes")), other, other, END)
    assert reading.content == (Text("Yes"),)
    assert reading.codes == ["unknown_candidate"]


def test_the_answer_names_itself_and_its_model() -> None:
    message = read(chunk(text("A")), END).message
    assert (message.response_id, message.origin.model, message.origin.provider) == ("r1", "gemini-x", "google")


def test_a_whole_body_is_read_by_the_same_rules() -> None:
    body = chunk(thought("Hm."), text("A"), CODE, text("B", "c2ln"), call("now", id="c1"), finish="STOP")
    reading = read_whole(body)
    assert reading.content == (
        Thinking("Hm."),
        Text("A"),
        Opaque("gemini", kind="executableCode", data=CODE),
        Text("B", signature="c2ln"),
        ToolCall("c1", name="now", arguments_json="{}"),
    )
    assert reading.message == read(body).message


def test_a_stream_that_came_as_an_array_is_read_as_one() -> None:
    chunks = [chunk(thought("Hm.")), chunk(text("A")), END]
    assert read_whole(chunks).message == read(*chunks).message


@pytest.mark.parametrize(
    "part",
    [
        "text",
        {"text": 5},
        {"text": "a", "thoughtSignature": 5},
        {"functionCall": "now"},
        {"functionCall": {"name": 5}},
        {"functionCall": {"name": "now", "args": [1]}},
        {"functionCall": {"name": "now", "partialArgs": {}}},
        {"functionCall": {"name": "now", "partialArgs": ["x"]}},
        {"functionCall": {"name": "now", "partialArgs": [{"jsonPath": 5}]}},
        {"functionCall": {"name": "now", "partialArgs": [{"jsonPath": "$.a", "stringValue": 5}]}},
        {"functionCall": {"name": "now", "partialArgs": [{"jsonPath": "$.a", "numberValue": "5"}]}},
        {"functionCall": {"name": "now", "partialArgs": [{"jsonPath": "$.a[", "numberValue": 5}]}},
    ],
)
def test_parts_of_odd_types_are_malformed(part: object) -> None:
    assert isinstance(read({"candidates": [{"content": {"parts": [part]}}]}).error, MalformedStream)
    assert isinstance(read_whole({"candidates": [{"content": {"parts": [part]}}]}).error, MalformedStream)


@pytest.mark.parametrize(
    "payload",
    ["{", "5", '"text"', '{"candidates": 5}', '{"candidates": [5]}', '{"candidates": [{"content": 5}]}',
     '{"candidates": [{"content": {"parts": 5}}]}', '{"candidates": [{"finishReason": 5}]}', "[5]",
     '{"promptFeedback": 5}', '{"responseId": 5}', '{"candidates": [{"score": NaN}]}'],
)  # fmt: skip
def test_payloads_of_odd_types_are_malformed(payload: str) -> None:
    assert isinstance(read(payload).error, MalformedStream)


def test_a_body_without_candidates_is_no_answer() -> None:
    assert isinstance(read_whole({"hello": 1}).error, MalformedStream)
    assert isinstance(read_whole(5).error, MalformedStream)


def test_thinking_stays_open_over_chunks_without_content() -> None:
    reading = read(chunk(thought("A")), {"usageMetadata": {"promptTokenCount": 3}}, chunk(thought("B")), END)
    assert reading.content == (Thinking("AB"),)
    assert reading.message.stop_reason is StopReason.END
