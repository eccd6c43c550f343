"""Answers as the UI message stream of the Vercel AI SDK."""

from __future__ import annotations

import pytest
from attrs import evolve

import thinkaloud as ta
from support.ui import CALL, FIRST, ORIGIN, RESULT, SECOND, chunks, run_events, told, types
from thinkaloud.jsontext import Json
from thinkaloud.ui import MemoryStore, vercel


def encoder(**options: object) -> vercel.Encoder:
    return vercel.Encoder(**{"message_id": "M", **options})  # type: ignore[arg-type]


def test_thinking_text_and_a_call_become_parts_of_one_step() -> None:
    assert types(told(encoder(), run_events(FIRST))) == [
        "start",
        "start-step",
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "tool-input-start",
        "tool-input-delta",
        "tool-input-available",
        "message-metadata",
        "finish-step",
        "finish",
    ]


def test_the_body_is_framed_in_lines_and_ends_with_the_end_marker() -> None:
    body = told(encoder(), run_events(SECOND))
    assert body.startswith(b": stream-open\n\ndata: ")
    assert body.endswith(b"\n\ndata: [DONE]\n\n")
    assert b'data: {"type":"text-delta","id":"0.1","delta":"It is 4."}\n\n' in body


def test_signatures_stay_at_the_server_and_the_address_goes_out() -> None:
    body = told(encoder(), run_events(FIRST))
    assert b"c2lnbmF0dXJl" not in body
    [end] = [chunk for chunk in chunks(body) if chunk["type"] == "reasoning-end"]
    assert end["providerMetadata"] == {"thinkaloud": {"v": 1, "at": [0, 0], "form": "text"}}


def test_signatures_go_out_with_their_origin_when_asked_for() -> None:
    body = told(encoder(include_signatures=True), run_events(FIRST))
    [end] = [chunk for chunk in chunks(body) if chunk["type"] == "reasoning-end"]
    assert end["providerMetadata"]["thinkaloud"]["signature"] == "c2lnbmF0dXJlLW9mLXRob3VnaHQ="
    assert end["providerMetadata"]["thinkaloud"]["origin"] == ["anthropic-messages", "anthropic", "claude-opus-5"]


@pytest.mark.parametrize(
    ("block", "form"),
    [
        (ta.Thinking("", signature="c2ln"), "withheld"),
        (ta.Thinking.redacted_payload("cmVk"), "redacted"),
        (ta.Thinking("Half a", complete=False), "incomplete"),
        (ta.Thinking(""), None),
    ],
)
def test_a_page_learns_the_form_of_thinking_that_it_may_not_see(block: ta.Thinking, form: str | None) -> None:
    body = told(encoder(), run_events(evolve(SECOND, content=(block,))))
    [end] = [chunk for chunk in chunks(body) if chunk["type"] == "reasoning-end"]
    assert end["providerMetadata"]["thinkaloud"].get("form") == form
    assert b"c2ln" not in body
    assert b"cmVk" not in body


def test_a_tool_loop_is_one_message_of_several_steps() -> None:
    sent = chunks(told(encoder(), run_events(FIRST, RESULT, SECOND)))
    kinds = [chunk["type"] for chunk in sent]
    assert (kinds.count("start"), kinds.count("start-step"), kinds.count("finish")) == (1, 2, 1)
    output = kinds.index("tool-output-available")
    assert sent[output] == {"type": "tool-output-available", "toolCallId": "call_1", "output": "4"}
    assert kinds.index("finish-step") < output < len(kinds) - 1 - kinds[::-1].index("start-step")
    assert [chunk["id"] for chunk in sent if chunk["type"] == "reasoning-start"] == ["0.0", "1.0"]


def test_usage_and_stop_reasons_of_all_steps_are_in_the_metadata() -> None:
    finish = chunks(told(encoder(), run_events(FIRST, RESULT, SECOND)))[-1]
    assert finish["finishReason"] == "stop"
    first, second = finish["messageMetadata"]["thinkaloud"]["steps"]
    assert (first["stop_reason"], second["stop_reason"]) == ("tool_use", "end")
    assert first["usage"] == {"input": 10, "output": 20, "reasoning": 5}


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (ta.StopReason.STOP_SEQUENCE, "stop"),
        (ta.StopReason.LENGTH, "length"),
        (ta.StopReason.TOOL_USE, "tool-calls"),
        (ta.StopReason.REFUSAL, "content-filter"),
        (ta.StopReason.PAUSE, "other"),
        (ta.StopReason.UNKNOWN, "other"),
    ],
)
def test_stop_reasons_are_said_in_words_that_every_version_knows(reason: ta.StopReason, word: str) -> None:
    assert chunks(told(encoder(), run_events(evolve(SECOND, stop_reason=reason))))[-1]["finishReason"] == word


def test_a_failure_closes_everything_first_and_says_the_error_last() -> None:
    events = [
        ta.StreamStart(origin=ORIGIN),
        ta.ThinkingStart(0),
        ta.ThinkingDelta(0, "Hm"),
        ta.ToolCallStart(1, "c", "f"),
        ta.UsageUpdate(ta.Usage(input=7)),
    ]
    body = told(encoder(), events, ta.Overloaded("capacity at host-7 is out", body={"secret": "sk-1"}))
    assert types(body)[-6:] == [
        "reasoning-end",
        "tool-input-error",
        "message-metadata",
        "finish-step",
        "finish",
        "error",
    ]
    assert body.endswith(b"data: [DONE]\n\n")
    assert chunks(body)[-2]["finishReason"] == "error"
    told_last = chunks(body)[-4]["messageMetadata"]["thinkaloud"]
    assert told_last["error"] == {"kind": "overloaded", "retryable": True}
    assert told_last["steps"][0]["usage"] == {"input": 7}
    assert b"host-7" not in body
    assert b"sk-1" not in body


def test_an_error_of_the_application_is_told_without_a_word_of_it() -> None:
    body = told(encoder(), [], RuntimeError("password=hunter2"))
    assert types(body) == ["start", "message-metadata", "finish", "error"]
    assert chunks(body)[-1]["errorText"] == "Something went wrong on the server."
    assert b"hunter2" not in body


def test_a_stopped_answer_is_no_error() -> None:
    events = [ta.StreamStart(), ta.TextStart(0), ta.TextDelta(0, "So")]
    assert types(told(encoder(), events, ta.StreamAborted("stopped")))[-5:] == [
        "text-end",
        "message-metadata",
        "finish-step",
        "abort",
        "finish",
    ]


def test_events_that_stop_inside_an_answer_are_a_failure() -> None:
    body = told(encoder(), [ta.StreamStart(), ta.TextStart(0), ta.TextDelta(0, "So")])
    assert types(body)[-1] == "error"


def test_nothing_follows_an_end() -> None:
    done = encoder()
    told(done, run_events(SECOND))
    assert [*done.feed(ta.TextStart(0)), *done.finish(), *done.fail(ta.ServerError())] == []


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (ta.ToolCall("c", name="f", arguments_json='{"a": ', complete=False), "The call was cut off."),
        (ta.ToolCall("c", name="f", arguments_json="not json"), "The arguments of the call are not JSON."),
        (ta.ToolCall("c", name="f", arguments_json='{"a": 1e999}'), "The arguments of the call are not JSON."),
    ],
)
def test_a_call_that_cannot_run_is_an_input_error(call: ta.ToolCall, error: str) -> None:
    sent = chunks(told(encoder(), run_events(evolve(SECOND, content=(call,)))))
    [said] = [chunk for chunk in sent if chunk["type"] == "tool-input-error"]
    assert (said["input"], said["errorText"]) == (call.arguments_json, error)


def test_a_failed_tool_is_an_output_error() -> None:
    failed = ta.ToolResult("call_1", "no such number", is_error=True)
    sent = chunks(told(encoder(), run_events(FIRST, failed)))
    assert {"type": "tool-output-error", "toolCallId": "call_1", "errorText": "no such number"} in sent


def test_a_result_of_a_call_that_the_browser_does_not_know_is_not_sent() -> None:
    assert "tool-output-available" not in types(told(encoder(), [ta.ToolResult("other", "4")]))


def test_a_call_id_that_a_later_step_uses_again_is_told_under_another() -> None:
    sent = chunks(told(encoder(), run_events(FIRST, RESULT, FIRST, RESULT)))
    starts = [chunk["toolCallId"] for chunk in sent if chunk["type"] == "tool-input-start"]
    outputs = [chunk["toolCallId"] for chunk in sent if chunk["type"] == "tool-output-available"]
    assert starts == outputs == ["call_1", "M.1.2"]


def test_tools_that_the_page_does_not_declare_are_dynamic() -> None:
    sent = chunks(told(encoder(dynamic_tools=["add"]), run_events(FIRST)))
    assert [chunk.get("dynamic") for chunk in sent if chunk["type"].startswith("tool-input-")] == [True, None, True]
    sent = chunks(told(encoder(dynamic_tools=["mul"]), run_events(FIRST)))
    assert not any("dynamic" in chunk for chunk in sent)


def test_notices_wait_for_the_message_and_quote_no_provider() -> None:
    retrying = ta.Notice("retrying", "overloaded_error: host-7", detail={"body": "host-7"})
    body = told(encoder(), [retrying, *run_events(SECOND)])
    assert types(body)[:3] == ["start", "start-step", "data-thinkaloud-notice"]
    assert chunks(body)[2]["data"] == {"code": "retrying", "text": "The model is asked again."}
    assert b"host-7" not in body


def test_unknown_blocks_are_named_and_their_payload_is_kept_back() -> None:
    block = ta.Opaque("anthropic-messages", kind="web_search_tool_result", data={"encrypted_content": "ZW5j"})
    body = told(encoder(), run_events(evolve(SECOND, content=(block,))))
    [said] = [chunk for chunk in chunks(body) if chunk["type"] == "data-thinkaloud-block"]
    assert said["data"] == {"protocol": "anthropic-messages", "kind": "web_search_tool_result"}
    assert b"ZW5j" not in body


def test_cited_pages_are_sources() -> None:
    citations: tuple[dict[str, Json], ...] = (
        {
            "type": "web_search_result_location",
            "url": "https://example.org/sky",
            "title": "Sky",
            "encrypted_index": "ZW4=",
        },
        {"type": "url_citation", "url_citation": {"url": "https://example.org/sea"}},
        {"web": {"uri": "https://example.org/sky"}},
        {"url": "javascript:alert(1)"},
    )
    body = told(encoder(), run_events(evolve(SECOND, content=(ta.Text("Blue.", citations=citations),))))
    sources = [chunk for chunk in chunks(body) if chunk["type"] == "source-url"]
    assert [(source["url"], source.get("title")) for source in sources] == [
        ("https://example.org/sky", "Sky"),
        ("https://example.org/sea", None),
    ]
    assert b"ZW4=" not in body


def test_half_a_surrogate_pair_is_escaped_and_joins_its_mate() -> None:
    events = [ta.StreamStart(), ta.TextStart(0), ta.TextDelta(0, "\ud83d"), ta.TextDelta(0, "\ude00")]
    assert b'"delta":"\\ud83d"' in told(encoder(), events, ta.StreamAborted())


def test_the_answer_is_kept_whole_in_the_store() -> None:
    store = MemoryStore()
    told(encoder(store=store), run_events(FIRST, RESULT, SECOND))
    assert store.load("M") == (FIRST, RESULT, SECOND)


def test_a_partial_answer_is_kept_when_the_browser_leaves() -> None:
    store = MemoryStore()
    left = encoder(store=store)
    for event in [ta.StreamStart(origin=ORIGIN), ta.TextStart(0), ta.TextDelta(0, "So")]:
        left.feed(event)
    left.leave()
    kept = store.load("M")
    assert kept is not None
    [message] = kept
    assert isinstance(message, ta.AssistantMessage)
    assert (message.content, message.stop_reason) == ((ta.Text("So", complete=False),), ta.StopReason.ABORTED)


def test_an_answer_goes_on_where_the_browser_ran_a_tool() -> None:
    going_on = encoder(earlier=(FIRST, RESULT))
    sent = chunks(told(going_on, run_events(SECOND)))
    assert [chunk["id"] for chunk in sent if chunk["type"] == "text-start"] == ["1.1"]
    assert len(sent[-1]["messageMetadata"]["thinkaloud"]["steps"]) == 2
    assert going_on.messages == (FIRST, RESULT, SECOND)


def test_an_event_of_a_run_that_holds_a_result_is_told_as_the_result() -> None:
    events = [*run_events(FIRST), ta.ToolStarted(CALL), ta.ToolFinished(CALL, RESULT)]
    assert "tool-output-available" in types(told(encoder(), events))


def test_results_that_come_in_another_order_are_kept_in_the_order_of_their_calls() -> None:
    calls = tuple(ta.ToolCall(id, name="add") for id in "abc")
    answer = evolve(FIRST, content=calls)
    results = [ta.ToolResult(id, id) for id in "cab"]
    both = encoder()
    told(both, run_events(answer, *results, SECOND))
    assert both.messages == (answer, *sorted(results, key=lambda result: result.call_id), SECOND)


def test_a_run_that_failed_at_its_model_tells_the_failure_of_the_model() -> None:
    failed = ta.RunError("RateLimited: org-77")
    failed.__cause__ = ta.RateLimited("org-77")
    assert chunks(told(encoder(), [], failed))[1]["messageMetadata"]["thinkaloud"]["error"]["kind"] == "rate_limited"


def test_a_run_that_was_stopped_is_no_error() -> None:
    stopped = ta.RunError("StreamAborted: the run was cancelled")
    stopped.__cause__ = ta.StreamAborted()
    assert "error" not in types(told(encoder(), [ta.StreamStart()], stopped))


def test_events_of_unknown_types_are_passed_over() -> None:
    assert types(told(encoder(), [object(), *run_events(SECOND)])) == types(told(encoder(), run_events(SECOND)))


def test_the_call_itself_is_whole_where_it_is_available() -> None:
    sent = chunks(told(encoder(), run_events(FIRST)))
    [available] = [chunk for chunk in sent if chunk["type"] == "tool-input-available"]
    assert (available["toolName"], available["input"]) == ("add", CALL.arguments)
