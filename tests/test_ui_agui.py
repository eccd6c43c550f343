"""Answers as AG-UI events."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

import thinkaloud as ta
from support.ui import FIRST, ORIGIN, RESULT, SECOND, chunks, run_events, told, types
from thinkaloud.ui import MemoryStore, agui


def encoder(**options: object) -> agui.Encoder:
    return agui.Encoder(**{"message_id": "M", "thread_id": "t", "run_id": "r", **options})  # type: ignore[arg-type]


def test_thinking_text_and_a_call_become_events_in_order() -> None:
    assert types(told(encoder(), run_events(FIRST))) == [
        "RUN_STARTED",
        "STEP_STARTED",
        "REASONING_START",
        "REASONING_MESSAGE_START",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ]


def test_the_run_is_told_at_once_and_once() -> None:
    started = encoder()
    [first] = chunks(started.opening())
    assert first == {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "protocolVersion": "1.0"}
    assert "RUN_STARTED" not in types(started.feed(ta.StreamStart()))


def test_a_step_has_ids_of_the_answer_the_step_and_the_block() -> None:
    sent = chunks(told(encoder(), run_events(FIRST, RESULT, SECOND)))
    ids = [chunk["messageId"] for chunk in sent if chunk["type"].endswith("MESSAGE_START")]
    assert ids == ["M.0.0", "M.0.1", "M.1.0", "M.1.1"]


def test_a_call_belongs_to_the_text_before_it() -> None:
    [start] = [chunk for chunk in chunks(told(encoder(), run_events(FIRST))) if chunk["type"] == "TOOL_CALL_START"]
    assert start["parentMessageId"] == "M.0.1"


def test_calls_without_text_before_them_share_a_parent_of_their_own() -> None:
    calls = (ta.ToolCall("a", name="f"), ta.ToolCall("b", name="f"))
    message = evolve(SECOND, content=(ta.Text("x"), ta.Thinking("y"), *calls))
    starts = [c for c in chunks(told(encoder(), run_events(message))) if c["type"] == "TOOL_CALL_START"]
    assert [start["parentMessageId"] for start in starts] == ["M.0.2", "M.0.2"]


def test_the_result_of_a_tool_is_a_message_of_its_own() -> None:
    sent = chunks(told(encoder(), run_events(FIRST, RESULT, SECOND)))
    [result] = [chunk for chunk in sent if chunk["type"] == "TOOL_CALL_RESULT"]
    assert (result["messageId"], result["toolCallId"], result["content"]) == ("call_1-result", "call_1", "4")


def test_signatures_stay_at_the_server() -> None:
    body = told(encoder(), run_events(FIRST))
    assert "REASONING_ENCRYPTED_VALUE" not in types(body)
    assert b"c2lnbmF0dXJl" not in body


def test_signatures_go_out_while_their_message_is_known_when_asked_for() -> None:
    body = told(encoder(include_signatures=True), run_events(SECOND))
    kinds = types(body)
    assert (
        kinds.index("REASONING_MESSAGE_END") < kinds.index("REASONING_ENCRYPTED_VALUE") < kinds.index("REASONING_END")
    )
    [value] = [chunk for chunk in chunks(body) if chunk["type"] == "REASONING_ENCRYPTED_VALUE"]
    assert (value["subtype"], value["entityId"]) == ("message", "M.0.0")
    assert json.loads(value["encryptedValue"])["thinkaloud"]["signature"] == "d2l0aGhlbGQ="


def test_withheld_thinking_has_an_empty_message_that_tells_its_form() -> None:
    sent = chunks(told(encoder(), run_events(SECOND)))
    [end] = [chunk for chunk in sent if chunk["type"] == "REASONING_MESSAGE_END"]
    assert end["metadata"] == {"thinkaloud": {"form": "withheld"}}
    assert "REASONING_MESSAGE_CONTENT" not in [chunk["type"] for chunk in sent]


def test_calls_left_to_the_browser_are_pending_for_peers_of_1_0_only() -> None:
    newer = chunks(told(encoder(), run_events(FIRST)))[-1]
    assert newer["outcome"] == {"type": "success", "pendingToolCallIds": ["call_1"]}
    assert "outcome" not in chunks(told(encoder(protocol_version=None), run_events(FIRST)))[-1]
    assert "outcome" not in chunks(told(encoder(), run_events(FIRST, RESULT, SECOND)))[-1]


def test_a_call_that_nobody_can_run_gets_a_result_that_says_so() -> None:
    cut = ta.ToolCall("c", name="f", arguments_json='{"a": ', complete=False)
    sent = chunks(told(encoder(), run_events(evolve(SECOND, content=(cut,)))))
    assert sent[-2]["type"] == "TOOL_CALL_RESULT"
    assert "outcome" not in sent[-1]


def test_usage_is_summed_for_each_model() -> None:
    other = evolve(SECOND, origin=ta.Origin("openai-chat", "deepseek", "deepseek-v4-pro"))
    usage = chunks(told(encoder(), run_events(FIRST, RESULT, SECOND, other)))[-1]["usage"]
    assert usage == [
        {
            "provider": "anthropic",
            "model": "claude-opus-5",
            "inputTokens": 50,
            "outputTokens": 28,
            "totalTokens": 78,
        },
        {
            "provider": "deepseek",
            "model": "deepseek-v4-pro",
            "inputTokens": 40,
            "outputTokens": 8,
            "totalTokens": 48,
        },
    ]


def test_a_failure_closes_everything_and_ends_the_run() -> None:
    events = [
        ta.StreamStart(origin=ORIGIN),
        ta.ThinkingStart(0),
        ta.TextStart(1),
        ta.ToolCallStart(2, "c", "f"),
    ]
    body = told(encoder(), events, ta.RateLimited("org-77 is over its limit", body={"key": "sk-1"}))
    assert types(body)[-6:] == [
        "REASONING_MESSAGE_END",
        "REASONING_END",
        "TEXT_MESSAGE_END",
        "TOOL_CALL_END",
        "STEP_FINISHED",
        "RUN_ERROR",
    ]
    assert chunks(body)[-1]["code"] == "rate_limited"
    assert b"org-77" not in body
    assert b"sk-1" not in body


@pytest.mark.parametrize(("version", "last"), [("1.0", "RUN_FINISHED"), ("1.2", "RUN_FINISHED"), (None, "RUN_ERROR")])
def test_a_stopped_answer_is_told_as_the_peer_knows_it(version: str | None, last: str) -> None:
    events = [ta.StreamStart(), ta.TextStart(0), ta.TextDelta(0, "So")]
    end = chunks(told(encoder(protocol_version=version), events, ta.StreamAborted()))[-1]
    assert end["type"] == last
    assert end.get("outcome", {"type": "cancelled"}) == {"type": "cancelled"}


def test_progress_notices_and_unknown_blocks_are_custom_events() -> None:
    events = [ta.StreamStart(), ta.Progress(12), ta.Notice("level_clamped", "high is sent")]
    sent = [chunk for chunk in chunks(told(encoder(), events, ta.StreamAborted())) if chunk["type"] == "CUSTOM"]
    assert [(chunk["name"], chunk["value"]) for chunk in sent] == [
        ("thinkaloud.progress", {"tokens": 12}),
        ("thinkaloud.notice", {"code": "level_clamped", "text": "high is sent"}),
    ]


def test_no_event_holds_a_null() -> None:
    assert b"null" not in told(encoder(include_signatures=True), run_events(FIRST, RESULT, SECOND))


def test_the_answer_is_kept_whole_in_the_store() -> None:
    store = MemoryStore()
    told(encoder(store=store), run_events(FIRST, RESULT, SECOND))
    assert store.load("M") == (FIRST, RESULT, SECOND)
