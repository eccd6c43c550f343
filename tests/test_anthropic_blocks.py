"""The blocks of the Messages API become ours, with every opaque string as it came."""

from __future__ import annotations

import pytest

from support.anthropic_wire import Payload, closing, delta, end, opening, read, start, text, thinking, tool_use
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import MalformedToolArguments
from thinkaloud.events import OpaqueBlock, Progress, ThinkingEnd, ToolCallDelta

pytestmark = pytest.mark.usefixtures("json_decoder")


def test_thinking_and_text_come_in_order_with_the_signature_on_the_end() -> None:
    reading = read(start(), thinking(0, "Try ", "3.", signature="c2ln+/=="), text(1, "It ", "is 3."), end())
    assert reading.content == (Thinking("Try 3.", signature="c2ln+/=="), Text("It is 3."))
    assert reading.kinds() == [
        "StreamStart",
        "UsageUpdate",
        "ThinkingStart",
        "ThinkingDelta",
        "ThinkingDelta",
        "ThinkingEnd",
        "TextStart",
        "TextDelta",
        "TextDelta",
        "TextEnd",
        "UsageUpdate",
        "StreamEnd",
    ]


def test_id_and_model_are_those_of_the_answer() -> None:
    message = read(start(), text(0, "x"), end()).message
    assert (message.response_id, message.origin.model) == ("msg_1", "claude-answering")


def test_a_signature_may_stand_in_the_start_of_its_block() -> None:
    reading = read(start(), opening(0, type="thinking", thinking="", signature="early"), closing(0), end())
    assert reading.content == (Thinking("", signature="early"),)


def test_a_signature_may_stand_in_a_thinking_delta() -> None:
    misplaced = delta(0, type="thinking_delta", thinking="a", signature="misplaced")
    reading = read(start(), opening(0, type="thinking", thinking=""), misplaced, closing(0), end())
    assert reading.content == (Thinking("a", signature="misplaced"),)


def test_the_last_of_two_signatures_counts() -> None:
    deltas = [delta(0, type="signature_delta", signature=signature) for signature in ("one", "two")]
    reading = read(start(), opening(0, type="thinking", thinking="a"), deltas, closing(0), end())
    assert reading.content == (Thinking("a", signature="two"),)


def test_an_empty_signature_is_none() -> None:
    empty = delta(0, type="signature_delta", signature="")
    reading = read(start(), opening(0, type="thinking", thinking="a", signature=""), empty, closing(0), end())
    assert reading.content == (Thinking("a"),)


def test_an_empty_signature_does_not_erase_the_one_before() -> None:
    empty = delta(0, type="signature_delta", signature="")
    reading = read(start(), opening(0, type="thinking", thinking="a", signature="s"), empty, closing(0), end())
    assert reading.content == (Thinking("a", signature="s"),)


@pytest.mark.parametrize("pieces", [(), ("",)])
def test_withheld_thinking_is_signed_and_without_events_of_text(pieces: tuple[str, ...]) -> None:
    reading = read(start(), thinking(0, *pieces, signature="sig"), text(1, "ok"), end())
    assert reading.content[0].withheld
    assert not reading.content[0].redacted
    assert "ThinkingDelta" not in reading.kinds()


def test_redacted_thinking_keeps_its_payload_and_its_place() -> None:
    redacted = [opening(1, type="redacted_thinking", data="b3BhcXVl+/"), closing(1)]
    reading = read(start(), thinking(0, "a", signature="s"), redacted, thinking(2, "b", signature="t"), end())
    assert reading.content == (
        Thinking("a", signature="s"),
        Thinking("", redacted_data="b3BhcXVl+/"),
        Thinking("b", signature="t"),
    )


def test_two_thinking_blocks_before_one_call_stay_two() -> None:
    blocks = [thinking(0, "a", signature="s"), thinking(1, signature="t"), tool_use(2, "{}")]
    reading = read(start(), *blocks, end("tool_use"))
    assert [type(block) for block in reading.content] == [Thinking, Thinking, ToolCall]


def test_estimates_of_withheld_thinking_add_up_to_progress() -> None:
    deltas = [delta(0, type="thinking_delta", thinking="", estimated_tokens=tokens) for tokens in (50, None, 25)]
    reading = read(start(), opening(0, type="thinking", thinking=""), deltas, closing(0), end())
    assert [event for event in reading.events if isinstance(event, Progress)] == [Progress(50), Progress(75)]


def test_citations_gather_on_their_text() -> None:
    cited: Payload = {"type": "char_location", "cited_text": "x", "document_index": 0}
    deltas = [delta(0, type="text_delta", text="A."), delta(0, type="citations_delta", citation=cited)]
    reading = read(start(), opening(0, type="text", text="", citations=[]), deltas, closing(0), end())
    assert reading.content == (Text("A.", citations=(cited,)),)


def test_text_of_the_start_comes_before_its_deltas() -> None:
    reading = read(start(), opening(0, type="text", text="A"), delta(0, type="text_delta", text="B"), closing(0), end())
    assert reading.content == (Text("AB"),)


def test_a_call_keeps_the_arguments_as_they_were_written() -> None:
    reading = read(start(), tool_use(0, '{"a": ', "1.50, ", '"n":123456789012345678901234567890}'), end("tool_use"))
    (call,) = reading.message.tool_calls
    assert call.arguments_json == '{"a": 1.50, "n":123456789012345678901234567890}'
    assert call.arguments["n"] == 123456789012345678901234567890


@pytest.mark.parametrize("pieces", [(), ("",)])
def test_a_call_without_arguments_is_complete(pieces: tuple[str, ...]) -> None:
    reading = read(start(), tool_use(0, *pieces), end("tool_use"))
    assert [call.arguments for call in reading.message.tool_calls] == [{}]


def test_input_of_the_start_is_used_with_all_its_digits() -> None:
    reading = read(start(), tool_use(0, input={"n": 123456789012345678901234567890}), end("tool_use"))
    (call,) = reading.message.tool_calls
    assert call.arguments == {"n": 123456789012345678901234567890}
    assert [event.json for event in reading.events if isinstance(event, ToolCallDelta)] == [call.arguments_json]


def test_input_of_the_start_gives_way_to_deltas() -> None:
    reading = read(start(), tool_use(0, '{"a":', "2}", input={"a": 1}), end("tool_use"))
    assert [call.arguments for call in reading.message.tool_calls] == [{"a": 2}]


def test_fields_of_a_call_that_are_not_modelled_stay_with_it() -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    reading = read(start(), tool_use(0, "{}", caller=caller), end("tool_use"))
    assert reading.content[0].extra == {"caller": caller}


def test_a_call_without_an_id_gets_one_of_its_own() -> None:
    reading = read(start(), tool_use(0, "{}", id=""), tool_use(1, "{}", id=""), end("tool_use"))
    first, second = (call.id for call in reading.message.tool_calls)
    assert first
    assert second
    assert first != second


def test_a_call_cut_by_the_limit_is_not_offered_for_running() -> None:
    reading = read(start(), text(0, "So"), tool_use(1, '{"path":"a', id="toolu_9"), end("max_tokens"))
    assert reading.message.tool_calls == ()
    assert reading.message.incomplete_tool_calls[0].arguments_json == '{"path":"a'


def test_botched_arguments_of_a_finished_call_are_told_when_they_are_read() -> None:
    reading = read(start(), tool_use(0, '{"a":'), text(1, "after"), end("tool_use"))
    with pytest.raises(MalformedToolArguments):
        _ = reading.message.tool_calls[0].arguments


def test_a_server_tool_is_kept_whole_with_its_streamed_input() -> None:
    pieces = ('{"n":', "12345678901234567890123}")
    streamed = [delta(0, type="input_json_delta", partial_json=piece) for piece in pieces]
    use = opening(0, type="server_tool_use", id="srvtoolu_1", name="web_search", input={})
    found = opening(1, type="web_search_tool_result", tool_use_id="srvtoolu_1", content=[{"encrypted_content": "e=="}])
    whole = {**use["content_block"], "input": {"n": 12345678901234567890123}}
    reading = read(start(), use, streamed, closing(0), found, closing(1), end())
    assert reading.content == (
        Opaque("anthropic-messages", kind="server_tool_use", data=whole),
        Opaque("anthropic-messages", kind="web_search_tool_result", data=found["content_block"]),
    )
    assert [event.index for event in reading.events if isinstance(event, OpaqueBlock)] == [0, 1]


def test_numbers_of_an_unknown_block_keep_all_digits() -> None:
    reading = read(start(), opening(0, type="novelty", n=123456789012345678901234567890), closing(0), end())
    assert reading.content[0].data["n"] == 123456789012345678901234567890


def test_deltas_of_an_unknown_block_are_merged_into_it() -> None:
    deltas = [
        delta(0, type="text_delta", text="a\ud83d"),
        delta(0, type="text_delta", text="\ude00b"),
        delta(0, type="citations_delta", citation={"n": 1}),
        delta(0, type="signature_delta", signature="old"),
        delta(0, type="signature_delta", signature="new"),
        delta(0, type="novel_delta", items=[1], facts={"a": 1}, score=1, note="x"),
        delta(0, type="novel_delta", items=[2], facts={"b": 2}, score=2, note="y"),
    ]
    reading = read(start(), opening(0, type="novelty", text="", items=[0], facts={}), deltas, closing(0), end())
    assert reading.content[0].data == {
        "type": "novelty",
        "text": "a😀b",
        "citations": [{"n": 1}],
        "signature": "new",
        "items": [0, 1, 2],
        "facts": {"a": 1, "b": 2},
        "score": 2,
        "note": "xy",
    }
    assert reading.codes == ["unknown_delta"]


def test_a_compaction_replaces_what_stood() -> None:
    deltas = [delta(0, type="compaction_delta", content=content, encrypted_content="e") for content in ("a", "b")]
    reading = read(start(), opening(0, type="compaction", content=None), deltas, closing(0), end("compaction"))
    assert reading.content[0].data == {"type": "compaction", "content": "b", "encrypted_content": "e"}


def test_an_unknown_block_whose_input_was_cut_is_incomplete() -> None:
    cut = delta(0, type="input_json_delta", partial_json='{"q":"ha')
    use = opening(0, type="server_tool_use", id="srvtoolu_1", name="web_search", input={})
    (block,) = read(start(), use, cut, closing(0), end("max_tokens")).content
    assert not block.complete
    assert block.data["partial_json"] == '{"q":"ha'


def test_a_fallback_block_is_kept_and_names_the_model_that_answers() -> None:
    fallback: Payload = {"type": "fallback", "from": {"model": "claude-first"}, "to": {"model": "claude-second"}}
    reading = read(start(model="claude-first"), opening(0, **fallback), closing(0), text(1, "x"), end())
    assert reading.content[0] == Opaque("anthropic-messages", kind="fallback", data=fallback)
    assert reading.message.origin.model == "claude-second"
    assert reading.codes == []


def test_a_fallback_in_the_middle_is_told_as_a_notice() -> None:
    fallback: Payload = {"type": "fallback", "from": {"model": "claude-first"}, "to": {"model": "claude-second"}}
    reading = read(start(model="claude-first"), text(0, "x"), opening(1, **fallback), closing(1), text(2, "y"), end())
    assert [(notice.code, notice.detail) for notice in reading.message.notices] == [
        ("model_changed", {"model": "claude-second"})
    ]


def test_the_end_event_carries_the_finished_block() -> None:
    reading = read(start(), thinking(0, "a", signature="s"), end())
    assert [event for event in reading.events if isinstance(event, ThinkingEnd)] == [
        ThinkingEnd(0, Thinking("a", signature="s"))
    ]


def test_halves_of_a_surrogate_pair_in_two_deltas_are_joined() -> None:
    halves = [delta(0, type="text_delta", text=half) for half in ("\ud83d", "\ude00")]
    reading = read(start(), opening(0, type="text", text=""), halves, closing(0), end())
    assert reading.content == (Text("😀"),)
