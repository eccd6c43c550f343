"""Reasoning items become thinking blocks: one item is one block, sealed by the finished item."""

from __future__ import annotations

import pytest

from support.responses_streams import BEGUN, ended, thought
from support.responses_wire import added, body, delta, done, end, message_item, read, read_whole, reasoning_item
from thinkaloud.content import Text, Thinking
from thinkaloud.events import ThinkingDelta, ThinkingEnd


def summary(place: int, part: int, piece: str) -> dict[str, object]:
    return delta("reasoning_summary_text", place, piece, summary_index=part)


def raw(place: int, part: int, piece: str) -> dict[str, object]:
    return delta("reasoning_text", place, piece, content_index=part)


def test_parts_of_a_summary_are_paragraphs_of_one_block() -> None:
    reading = read(BEGUN, *ended(thought(0, "One.", "Two.")))
    (block,) = reading.content
    assert block.text == "One.\n\nTwo."
    assert [event.text for event in reading.events if isinstance(event, ThinkingDelta)] == ["One.", "\n\nTwo."]


def test_the_seal_is_that_of_the_finished_item_and_comes_with_the_end() -> None:
    start = added(0, type="reasoning", id="rs_1", summary=[], encrypted_content="partial")
    reading = read(BEGUN, start, summary(0, 0, "Hm"), done(0, **reasoning_item("Hm", sealed="whole")), end())
    assert [event.block.signature for event in reading.events if isinstance(event, ThinkingEnd)] == ["whole"]


def test_a_seal_that_is_not_whole_is_not_kept_when_the_stream_breaks_off() -> None:
    start = added(0, type="reasoning", id="rs_1", summary=[], encrypted_content="partial")
    (block,) = read(BEGUN, start, summary(0, 0, "Hm")).content
    assert block == Thinking("Hm", complete=False)


def test_a_seal_without_a_summary_is_withheld_thinking() -> None:
    (block,) = read(BEGUN, *ended(thought(0))).content
    assert (block.withheld, block.text) == (True, "")


def test_a_summary_that_comes_with_the_finished_item_alone_is_told() -> None:
    item = reasoning_item("One.", "Two.")
    reading = read(BEGUN, added(0, type="reasoning", id="rs_1", summary=[]), done(0, **item), end(output=[item]))
    assert reading.content == read_whole(body(item)).content
    assert [event.text for event in reading.events if isinstance(event, ThinkingDelta)] == ["One.\n\nTwo."]


def test_raw_thinking_of_open_models_is_thinking() -> None:
    item = {"type": "reasoning", "id": "x", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm, so."}]}
    start = added(0, type="reasoning", id="x", summary=[])
    reading = read(BEGUN, start, raw(0, 0, "Hm, "), raw(0, 0, "so."), done(0, **item), end(output=[item]))
    (block,) = reading.content
    assert (block.text, block.signature) == ("Hm, so.", None)
    assert block.extra == {"id": "x", "content": [{"type": "reasoning_text"}]}
    assert reading.content == read_whole(body(item)).content


def test_a_summary_beside_raw_text_is_kept_for_the_replay() -> None:
    item = reasoning_item("Short.") | {"content": [{"type": "reasoning_text", "text": "At length."}]}
    (streamed,) = read(
        BEGUN, added(0, type="reasoning", id="rs_1", summary=[]), raw(0, 0, "At length."), done(0, **item), end()
    ).content
    assert streamed.text == "At length."
    assert streamed.extra["summary"] == [{"type": "summary_text", "text": "Short."}]
    (whole,) = read_whole(body(item)).content
    assert whole.text == "Short."
    assert whole.extra["content"] == [{"type": "reasoning_text", "text": "At length."}]


def test_of_a_summary_and_raw_text_in_one_stream_the_first_is_shown() -> None:
    item = reasoning_item("Short.") | {"content": [{"type": "reasoning_text", "text": "At length."}]}
    pieces = [raw(0, 0, "At "), summary(0, 0, "Short."), raw(0, 0, "length.")]
    reading = read(BEGUN, added(0, type="reasoning", id="rs_1", summary=[]), *pieces, done(0, **item), end())
    assert [block.text for block in reading.content] == ["At length."]
    assert reading.codes == []


def test_a_text_told_whole_without_deltas_is_read_once() -> None:
    whole = {"type": "response.reasoning_summary_text.done", "output_index": 0, "summary_index": 0, "text": "Hm."}
    start = added(0, type="reasoning", id="rs_1", summary=[])
    reading = read(BEGUN, start, whole, whole, done(0, **reasoning_item("Hm.")), end())
    assert [event.text for event in reading.events if isinstance(event, ThinkingDelta)] == ["Hm."]


def test_a_part_told_whole_after_the_next_one_began_is_not_told_twice() -> None:
    whole = {"type": "response.reasoning_summary_text.done", "output_index": 0, "summary_index": 0, "text": "One."}
    pieces = [summary(0, 0, "One."), summary(0, 1, "Two."), whole]
    start = added(0, type="reasoning", id="rs_1", summary=[])
    (block,) = read(BEGUN, start, *pieces, done(0, **reasoning_item("One.", "Two.")), end()).content
    assert block.text == "One.\n\nTwo."


def test_fields_that_nobody_knows_stay_with_the_block() -> None:
    (block,) = read_whole(body(reasoning_item("Hm", status="completed", novelty={"a": [1]}))).content
    assert block.extra == {
        "id": "rs_1",
        "status": "completed",
        "novelty": {"a": [1]},
        "summary": [{"type": "summary_text"}],
    }


def test_a_finished_text_that_differs_from_the_streamed_one_is_told_and_kept_for_the_replay() -> None:
    start = added(0, type="reasoning", id="rs_1", summary=[])
    reading = read(BEGUN, start, summary(0, 0, "Hmm"), done(0, **reasoning_item("Other")), end())
    (block,) = reading.content
    assert block.text == "Hmm"
    assert block.extra["summary"] == [{"type": "summary_text", "text": "Other"}]
    assert reading.codes == ["text_differs"]


@pytest.mark.parametrize("piece", [None, ""])
def test_a_delta_without_text_is_nothing(piece: str | None) -> None:
    start = added(0, type="reasoning", id="rs_1", summary=[])
    empty = delta("reasoning_summary_text", 0, piece, summary_index=0)
    reading = read(BEGUN, start, empty, done(0, **reasoning_item()), end())
    assert [block.text for block in reading.content] == [""]
    assert reading.codes == []


def test_deltas_whose_item_was_not_told_are_read() -> None:
    reading = read(BEGUN, summary(0, 0, "Hm"), delta("output_text", 1, "Hi", content_index=0), end())
    assert reading.content == (Thinking("Hm"), Text("Hi"))


def test_items_finished_out_of_order_stay_in_the_order_in_which_they_began() -> None:
    reasoning, message = reasoning_item("Hm"), message_item("Hi")
    reading = read(
        BEGUN,
        added(0, type="reasoning", id="tmp_1", summary=[]),
        added(1, type="message", id="tmp_2", content=[]),
        delta("output_text", 1, "Hi", content_index=0),
        done(1, **message),
        done(0, **reasoning),
        end(output=[reasoning, message]),
    )
    assert [type(block) for block in reading.content] == [Thinking, Text]
    assert [block.extra["id"] for block in reading.content] == ["rs_1", "msg_1"]


def test_thinking_goes_on_in_its_own_block_while_text_streams() -> None:
    reading = read(
        BEGUN,
        added(0, type="reasoning", id="rs_1", summary=[]),
        added(1, type="message", id="msg_1", content=[]),
        summary(0, 0, "a"),
        delta("output_text", 1, "x", content_index=0),
        summary(0, 0, "b"),
        delta("output_text", 1, "y", content_index=0),
        done(0, **reasoning_item("ab")),
        done(1, **message_item("xy")),
        end(),
    )
    assert [block.text for block in reading.content] == ["ab", "xy"]
