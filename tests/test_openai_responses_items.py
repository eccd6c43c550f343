"""Messages, calls and items of the provider's own tools, streamed and whole."""

from __future__ import annotations

from typing import Any

import pytest

from support.responses_streams import BEGUN, SEARCH, called, ended, item, said, thought
from support.responses_wire import added, body, call_item, delta, done, end, message_item, read, read_whole
from thinkaloud.content import Opaque, Text, ToolCall
from thinkaloud.events import OpaqueBlock, TextDelta, ToolCallDelta, ToolCallStart
from thinkaloud.messages import StopReason


def test_a_message_is_text_with_its_item_in_extra() -> None:
    (block,) = read(BEGUN, *ended(said(0, "Hello there.", phase="final_answer"))).content
    assert block == Text("Hello there.", extra=block.extra)
    assert block.extra == {"id": "msg_0", "status": "completed", "phase": "final_answer"}


def test_each_part_of_a_message_is_a_block() -> None:
    blocks = read(BEGUN, *ended(said(0, "One.", "Two."))).content
    assert [block.text for block in blocks] == ["One.", "Two."]
    assert [block.extra for block in blocks] == [{"id": "msg_0", "status": "completed"}, {"id": "msg_0", "part": 1}]
    assert blocks == read_whole(body(message_item("One.", "Two.", id="msg_0"))).content


def test_parts_that_the_deltas_count_otherwise_are_matched_by_their_order() -> None:
    reading = read(
        BEGUN,
        added(0, type="message", id="msg_1", content=[]),
        delta("output_text", 0, "Hi", content_index=1),
        done(0, **message_item("Hi there")),
        end(),
    )
    assert [block.text for block in reading.content] == ["Hi there"]


def test_a_message_without_text_goes_back_but_is_no_text() -> None:
    empty = message_item("")
    (block,) = read(BEGUN, *ended(item(0, empty | {"content": []}, empty))).content
    assert block == Opaque("openai-responses", kind="message", data=empty)


def test_a_refusal_is_text_and_the_reason_of_the_end() -> None:
    refusal = message_item() | {"content": [{"type": "refusal", "refusal": "I will not."}]}
    pieces = [{"type": "response.refusal.delta", "content_index": 0, "delta": piece} for piece in ("I will", " not.")]
    reading = read(BEGUN, *ended(item(0, refusal | {"content": []}, refusal, *pieces)))
    assert reading.message.text == "I will not."
    assert (reading.message.stop_reason, reading.message.raw_stop_reason) == (StopReason.REFUSAL, "completed")
    assert reading.content == read_whole(body(refusal)).content


def test_annotations_are_citations_and_the_finished_item_has_them_all() -> None:
    notes: list[Any] = [{"type": "url_citation", "url": "a"}, {"type": "url_citation", "url": "b", "n": 2**70 + 1}]
    finished = message_item("So.")
    finished["content"][0]["annotations"] = notes
    note = {"type": "response.output_text.annotation.added", "content_index": 0, "annotation": notes[0]}
    text = {"type": "response.output_text.delta", "content_index": 0, "delta": "So."}
    (block,) = read(BEGUN, *ended(item(0, finished | {"content": []}, finished, text, note))).content
    assert list(block.citations) == notes


def test_an_annotation_is_kept_when_the_stream_breaks_off() -> None:
    note = {"type": "response.output_text.annotation.added", "output_index": 0, "content_index": 0}
    reading = read(
        BEGUN,
        added(0, type="message", id="m", content=[]),
        delta("output_text", 0, "So", content_index=0),
        {**note, "annotation": {"url": "a"}},
    )
    assert reading.content == (Text("So", citations=[{"url": "a"}], complete=False),)


def test_text_that_comes_with_the_finished_item_alone_is_told() -> None:
    reading = read(BEGUN, added(0, type="message", id="m", content=[]), done(0, **message_item("Hi")), end())
    assert [event.text for event in reading.events if isinstance(event, TextDelta)] == ["Hi"]


def test_what_did_not_stream_of_a_text_is_added() -> None:
    reading = read(
        BEGUN,
        added(0, type="message", id="m", content=[]),
        delta("output_text", 0, "Hi", content_index=0),
        {"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": "Hi there"},
        done(0, **message_item("Hi there.")),
        end(),
    )
    assert [event.text for event in reading.events if isinstance(event, TextDelta)] == ["Hi", " there", "."]


def test_parts_that_nobody_knows_are_kept_beside_the_text() -> None:
    finished = message_item("Hi")
    finished["content"].insert(0, {"type": "novel", "data": 1})
    (block,) = read_whole(body(finished)).content
    assert block.extra["beside"] == [[0, {"type": "novel", "data": 1}]]


def test_a_call_has_the_call_id_and_its_item_in_extra() -> None:
    reading = read(BEGUN, *ended(called(0, "call_a", "add", '{"a": 1}')))
    (call,) = reading.content
    assert (call.id, call.name, call.arguments, call.complete) == ("call_a", "add", {"a": 1}, True)
    assert call.extra == {"id": "fc_0", "status": "completed"}
    assert reading.message.stop_reason is StopReason.TOOL_USE
    assert [event.json for event in reading.events if isinstance(event, ToolCallDelta)] == ['{"a": 1', "}"]


def test_parallel_calls_may_stream_at_once() -> None:
    reading = read(
        BEGUN,
        added(0, **call_item("", id="fc_1", call_id="a")),
        added(1, **call_item("", id="fc_2", call_id="b")),
        delta("function_call_arguments", 1, '{"b":'),
        delta("function_call_arguments", 0, '{"a":'),
        delta("function_call_arguments", 1, "2}"),
        delta("function_call_arguments", 0, "1}"),
        done(1, **call_item('{"b":2}', id="fc_2", call_id="b")),
        done(0, **call_item('{"a":1}', id="fc_1", call_id="a")),
        end(),
    )
    assert [(call.id, call.arguments) for call in reading.message.tool_calls] == [("a", {"a": 1}), ("b", {"b": 2})]


def test_arguments_that_come_whole_are_told_once() -> None:
    whole = {"type": "response.function_call_arguments.done", "output_index": 0, "arguments": '{"a":1}'}
    reading = read(BEGUN, added(0, **call_item("")), whole, done(0, **call_item('{"a":1}')), end())
    assert [event.json for event in reading.events if isinstance(event, ToolCallDelta)] == ['{"a":1}']


def test_a_call_whose_name_comes_late_opens_when_it_is_known() -> None:
    start = added(0, type="function_call", id="fc_1", call_id="", name="", arguments="")
    reading = read(BEGUN, start, delta("function_call_arguments", 0, '{"a":'), done(0, **call_item('{"a":1}')), end())
    assert [(e.id, e.name) for e in reading.events if isinstance(e, ToolCallStart)] == [("call_1", "f")]
    assert reading.message.tool_calls[0].arguments == {"a": 1}


def test_a_call_without_an_id_gets_one_that_is_the_same_in_both_forms() -> None:
    bare = {"type": "function_call", "name": "f", "arguments": "{}"}
    streamed = read(BEGUN, added(0, **bare), done(0, **bare), end(output=[bare])).message.tool_calls
    assert [call.id for call in streamed] == ["call_resp_a_1"]
    assert streamed == read_whole(body(bare)).message.tool_calls


def test_the_id_of_a_call_without_one_hangs_on_the_first_id_of_the_response() -> None:
    other = {"type": "response.in_progress", "response": {"id": "resp_b"}}
    bare = {"type": "function_call", "name": "f", "arguments": "{}"}
    assert [call.id for call in read(BEGUN, other, done(0, **bare), end()).message.tool_calls] == ["call_resp_a_1"]


def test_a_custom_call_has_free_text() -> None:
    custom = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sql", "input": "select 1"}
    piece = {"type": "response.custom_tool_call_input.delta", "delta": "select 1"}
    reading = read(BEGUN, *ended(item(0, custom | {"input": ""}, custom, piece)))
    assert reading.content == (
        ToolCall("c", name="sql", arguments_json="select 1", extra={"id": "ctc_1", "type": "custom"}),
    )
    assert reading.content == read_whole(body(custom)).content


def test_a_call_that_the_limit_cut_is_not_offered() -> None:
    cut = called(0, "call_b", "write", '{"text": "# He', status="incomplete")
    reading = read(BEGUN, *ended(cut, status="incomplete", incomplete_details={"reason": "max_output_tokens"}))
    assert reading.message.tool_calls == ()
    assert [call.arguments_json for call in reading.message.incomplete_tool_calls] == ['{"text": "# He']


@pytest.mark.parametrize("status", ["completed", "incomplete"])
def test_a_call_of_free_text_is_whole_where_the_server_says_so(status: str) -> None:
    custom = {"type": "custom_tool_call", "id": "c", "call_id": "c", "name": "sql", "input": "sel", "status": status}
    cut: Any = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    (call,) = read(BEGUN, *ended(item(0, custom | {"input": ""}, custom), **cut)).content
    assert call.complete is (status == "completed")


def test_a_call_that_the_server_calls_incomplete_is_not_offered_whatever_the_end_says() -> None:
    message = read(BEGUN, *ended(called(0, "call_b", "write", '{"text": "# He', status="incomplete"))).message
    assert (message.tool_calls, len(message.incomplete_tool_calls)) == ((), 1)


def test_a_call_that_the_server_calls_incomplete_is_not_offered_whatever_follows() -> None:
    cut = called(0, "call_b", "write", '{"text": "# He', status="incomplete")
    reading = read(BEGUN, *ended(cut, said(1, "Oh."), status="incomplete", incomplete_details={"reason": "x"}))
    assert (reading.message.tool_calls, len(reading.message.incomplete_tool_calls)) == ((), 1)


def test_an_item_of_the_providers_own_tool_is_opaque_and_in_its_place() -> None:
    search = item(1, {**SEARCH, "status": "in_progress"}, SEARCH, {"type": "response.web_search_call.searching"})
    reading = read(BEGUN, *ended(thought(0), search, said(2, "Blue.")))
    assert reading.content[1] == Opaque("openai-responses", kind="web_search_call", data=SEARCH)
    assert [event.index for event in reading.events if isinstance(event, OpaqueBlock)] == [1]
    assert reading.codes == []


@pytest.mark.parametrize("kind", ["novel_item", "mcp_list_tools", "computer_call", "compaction"])
def test_items_of_any_other_type_are_kept_whole(kind: str) -> None:
    data: Any = {"type": kind, "id": "x", "deep": {"list": [1, None, 2**70 + 1]}}
    assert read(BEGUN, *ended(item(0, data, data))).content == (Opaque("openai-responses", kind=kind, data=data),)


def test_an_opaque_item_that_was_cut_off_is_incomplete() -> None:
    (block,) = read(BEGUN, added(0, **SEARCH)).content
    assert (block.kind, block.complete) == ("web_search_call", False)


def test_ids_may_change_with_every_event() -> None:
    reading = read(
        BEGUN,
        {**added(0, type="message", id="a", content=[]), "item_id": "b"},
        {**delta("output_text", 0, "Hi", content_index=0), "item_id": "c"},
        done(0, **message_item("Hi", id="d")),
        end(output=[message_item("Hi", id="e")], id="resp_other"),
    )
    assert [(block.text, block.extra["id"]) for block in reading.content] == [("Hi", "d")]
    assert reading.message.response_id == "resp_a"


def test_items_are_found_by_their_id_where_the_place_is_missing() -> None:
    events = [added(0, type="message", id="m", content=[]), delta("output_text", 0, "Hi", content_index=0)]
    events = [{name: value for name, value in event.items() if name != "output_index"} for event in events]
    finished = {"type": "response.output_item.done", "item": message_item("Hi", id="m")}
    assert read(BEGUN, events[0], {**events[1], "item_id": "m"}, finished, end()).message.text == "Hi"


def test_an_item_that_is_told_twice_is_read_once() -> None:
    events = said(0, "Hi")
    reading = read(BEGUN, events[0], *events, events[0], events[-1], end())
    assert [block.text for block in reading.content] == ["Hi"]


def test_what_is_open_at_the_end_is_finished_from_the_output() -> None:
    finished = call_item('{"a":1}')
    start = added(0, **call_item(""))
    reading = read(BEGUN, start, delta("function_call_arguments", 0, '{"a"'), end(output=[finished]))
    assert [(call.arguments, call.complete) for call in reading.message.tool_calls] == [({"a": 1}, True)]


def test_items_without_ids_are_finished_by_their_place() -> None:
    calls = [{"type": "function_call", "call_id": id, "name": "f", "arguments": f'{{"{id}":1}}'} for id in "ab"]
    starts = [added(place, **{**call, "arguments": ""}) for place, call in enumerate(calls)]
    reading = read(BEGUN, *starts, end(output=calls))
    assert [(call.id, call.arguments) for call in reading.message.tool_calls] == [("a", {"a": 1}), ("b", {"b": 1})]


def test_half_a_character_at_the_end_of_the_deltas_is_made_whole_by_the_finished_item() -> None:
    start = added(0, type="message", id="msg_1", content=[])
    half = delta("output_text", 0, "Hi \ud83d", content_index=0)
    assert read(BEGUN, start, half, done(0, **message_item("Hi \U0001f600")), end()).message.text == "Hi \U0001f600"


def test_an_item_that_comes_with_the_end_alone_is_kept_and_told() -> None:
    reading = read(BEGUN, *said(0, "Hi"), end(output=[message_item("Hi", id="msg_0"), SEARCH]))
    assert [getattr(block, "kind", "text") for block in reading.content] == ["text", "web_search_call"]
    assert reading.codes == ["late_item"]


def test_an_answer_that_comes_with_the_end_alone_is_an_answer() -> None:
    reading = read(BEGUN, end(output=[message_item("Hi")]))
    assert (reading.message.text, reading.codes) == ("Hi", [])


def test_unknown_events_are_told_once_per_kind_and_break_nothing() -> None:
    novel = {"type": "response.novelty.delta", "delta": "x"}
    reading = read(BEGUN, novel, novel, {"type": "keepalive", "sequence_number": 3}, *ended(said(0, "Hi")))
    assert (reading.message.text, reading.codes) == ("Hi", ["unknown_event"])
