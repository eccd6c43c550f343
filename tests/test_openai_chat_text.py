"""Text, refusals, sources, and what a chunk says about the answer as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from support.chat_wire import DONE, ORIGIN, body, call, calls, chunk, read, read_whole, stop
from thinkaloud.content import Text
from thinkaloud.events import StreamStart, TextDelta
from thinkaloud.messages import StopReason


def test_deltas_are_handed_out_as_they_come() -> None:
    reading = read(chunk(role="assistant", content=""), chunk(content="a"), chunk(content="b"), stop(), DONE)
    assert [event.text for event in reading.events if isinstance(event, TextDelta)] == ["a", "b"]
    assert reading.content == (Text("ab"),)


def test_a_role_in_every_chunk_or_none_makes_no_difference() -> None:
    assert read(chunk(role="assistant", content="a"), chunk(role="assistant", content="b"), stop()).message.text == "ab"


def test_fields_that_are_not_known_break_nothing() -> None:
    reading = read(
        chunk(content="a", audio={"id": "x", "data": "UklG"}, channel="final", novelty=[1], logprobs=None),
        chunk(audio={"expires_at": 1}),
        stop(system_fingerprint="f", obfuscation="xx", service_tier="on_demand", created=1.5, timings={"x": 1}),
    )
    assert (reading.content, reading.codes) == ((Text("a"),), [])


def test_two_halves_of_a_character_are_joined_over_deltas() -> None:
    reading = read(chunk(content="ok \ud83d"), chunk(content="\ude00!"), stop())
    assert reading.message.text == "ok \U0001f600!"
    assert all(event.text.encode() for event in reading.events if isinstance(event, TextDelta))


# chunks without text


@pytest.mark.parametrize("choices", [None, [], [{"index": 0, "delta": None}], [{"index": 0, "delta": {}}], [{}]])
def test_chunks_without_a_delta_are_normal_anywhere(choices: Any) -> None:
    empty = {"id": "", "model": "", "choices": choices, "prompt_filter_results": [{"prompt_index": 0}]}
    assert read(empty, chunk(content="hey"), empty, stop(), empty).content == (Text("hey"),)


def test_a_chunk_without_choices_is_passed_over() -> None:
    assert read({"id": "x", "object": "chat.completion.chunk"}, chunk(content="hey"), stop()).content == (Text("hey"),)


def test_only_the_first_choice_is_kept() -> None:
    both = {"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]}
    reading = read(both, both, {"choices": [{"index": 1, "finish_reason": "stop"}]}, stop("length"))
    assert (reading.message.text, reading.message.raw_stop_reason) == ("yesyes", "length")
    assert reading.codes == ["choice_omitted"]


# a message in place of deltas


def streamed_message(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}]}


def test_a_stream_of_cumulative_messages_gives_the_last_one() -> None:
    reading = read(streamed_message("He"), streamed_message("Hello"), streamed_message("Hello!", "stop"))
    assert reading.content == (Text("Hello!"),)


def test_a_message_beside_deltas_only_repeats_them() -> None:
    """Seen at Perplexity."""
    both = [chunk(content=text, choice={"message": {"content": "Hello"}}) for text in ("He", "llo")]
    last = {"choices": [{"index": 0, "delta": {}, "message": {"content": "Hello"}, "finish_reason": "stop"}]}
    assert read(*both, last).content == (Text("Hello"),)


def test_cumulative_messages_that_were_cut_off_are_kept_as_far_as_they_came() -> None:
    reading = read(streamed_message("Hel"))
    assert reading.error is not None
    assert reading.content == (Text("Hel", complete=False),)


# who answered


def test_the_first_id_counts_and_the_model_that_answers() -> None:
    reading = read(
        {"id": "", "model": "", "choices": []},
        chunk(role="assistant", top={"id": "one", "model": "asked"}),
        chunk(content="a", top={"id": "two", "model": "answering"}),
        chunk(content="b", top={"id": "three", "model": "answering"}),
        stop(),
    )
    start = reading.events[0]
    assert isinstance(start, StreamStart)
    assert (start.response_id, start.origin.model) == ("one", "answering")


def test_without_a_model_in_the_answer_it_is_the_one_that_was_asked() -> None:
    reading = read({"choices": [{"delta": {"content": "a"}}]}, DONE)
    assert (reading.message.origin, reading.message.response_id) == (ORIGIN, None)


# refusals


def test_a_refusal_is_text_and_the_stop_reason_says_so() -> None:
    reading = read(chunk(content=None, refusal="I "), chunk(refusal="won't."), stop("stop"))
    assert reading.content == (Text("I won't.", extra={"refusal": True}),)
    assert (reading.message.stop_reason, reading.message.raw_stop_reason) == (StopReason.REFUSAL, "stop")


def test_a_refusal_after_text_is_a_block_of_its_own() -> None:
    reading = read(chunk(content="Well"), chunk(refusal="no"), chunk(content="ok"), stop())
    assert [(block.text, dict(block.extra)) for block in reading.content] == [
        ("Well", {}),
        ("no", {"refusal": True}),
        ("ok", {}),
    ]


def test_a_refusal_cut_by_the_limit_is_a_limit() -> None:
    assert read(chunk(refusal="I wo"), stop("length")).message.stop_reason is StopReason.LENGTH


def test_empty_and_null_refusals_are_none() -> None:
    assert read(chunk(content="a", refusal=None), chunk(refusal=""), stop()).message.stop_reason is StopReason.END


# sources

NOTE: dict[str, Any] = {"type": "url_citation", "url_citation": {"url": "https://example.com", "start_index": 0}}


@pytest.mark.parametrize(
    "payloads",
    [
        [chunk(content="a"), chunk(annotations=[NOTE])],
        [chunk(annotations=[NOTE]), chunk(content="a")],
        [chunk(content="a", annotations=[NOTE])],
    ],
)
def test_annotations_belong_to_the_text(payloads: list[Any]) -> None:
    assert read(*payloads, stop()).content == (Text("a", citations=(NOTE,)),)


def test_annotations_of_a_whole_message_belong_to_its_text_even_beside_calls() -> None:
    reading = read_whole(body("tool_calls", content="a", annotations=[NOTE], tool_calls=[call(0, "c", "f", "{}")]))
    assert reading.content[0] == Text("a", citations=(NOTE,))


def test_sources_of_the_whole_answer_are_cited_once() -> None:
    """Seen at Perplexity: each chunk repeats them."""
    pages = [{"title": "A", "url": "https://a.example"}]
    payloads = [chunk(content=text, top={"search_results": pages, "citations": ["https://a.example"]}) for text in "ab"]
    assert read(*payloads, stop()).content == (Text("ab", citations=tuple(pages)),)
    only_urls = read(chunk(content="a", top={"citations": ["https://a.example"]}), stop())
    assert only_urls.content == (Text("a", citations=({"url": "https://a.example"},)),)


def test_sources_beside_no_text_are_told() -> None:
    reading = read(chunk(content="a"), calls(call(0, "c", "f", "{}")), chunk(annotations=[NOTE]), stop("tool_calls"))
    (notice,) = reading.message.notices
    assert (notice.code, notice.detail) == ("citations_without_text", {"citations": [NOTE]})
