"""Answers as named server-sent events of our own."""

from __future__ import annotations

import thinkaloud as ta
from support.ui import FIRST, ORIGIN, RESULT, SECOND, chunks, named_events, run_events, told
from thinkaloud.ui import sse


def encoder(**options: object) -> sse.Encoder:
    return sse.Encoder(**{"message_id": "M", **options})  # type: ignore[arg-type]


def names(body: bytes) -> list[str]:
    return [name for name, _ in named_events(body)]


def test_events_have_their_own_names() -> None:
    assert names(told(encoder(), run_events(FIRST, RESULT, SECOND))) == [
        "stream_start",
        "step_start",
        "thinking_start",
        "thinking_delta",
        "thinking_end",
        "text_start",
        "text_delta",
        "text_end",
        "tool_call_start",
        "tool_call_delta",
        "tool_call_end",
        "usage",
        "step_end",
        "tool_result",
        "step_start",
        "thinking_start",
        "thinking_end",
        "text_start",
        "text_delta",
        "text_end",
        "usage",
        "step_end",
        "stream_end",
    ]


def test_no_name_is_one_that_the_browser_uses_itself() -> None:
    sent = names(told(encoder(), run_events(FIRST), ta.ServerError()))
    assert {"error", "open", "message"}.isdisjoint(sent)


def test_a_delta_tells_its_step_and_its_place() -> None:
    body = told(encoder(), run_events(FIRST))
    assert b'event: thinking_delta\ndata: {"step":0,"index":0,"text":"Two and two."}\n\n' in body


def test_events_are_numbered_only_where_somebody_keeps_them() -> None:
    assert b"\nid: " not in told(encoder(), run_events(SECOND))
    body = told(encoder(ids=True), run_events(SECOND))
    ids = [int(line.removeprefix(b"id: ")) for line in body.split(b"\n") if line.startswith(b"id: ")]
    assert ids == list(range(1, len(named_events(body)) + 1))


def test_a_browser_is_told_when_to_come_back() -> None:
    assert told(encoder(retry=500), []).startswith(b"retry: 500\n\n")


def test_readers_around_fetch_find_the_type_in_the_data() -> None:
    body = told(encoder(names=False), run_events(SECOND))
    assert b"event: " not in body
    assert chunks(body)[0]["type"] == "stream_start"


def test_ends_carry_the_block_without_its_signature() -> None:
    body = told(encoder(), run_events(FIRST))
    ends = dict(named_events(body))
    assert ends["thinking_end"]["block"] == {"type": "thinking", "text": "Two and two.", "form": "text"}
    assert ends["tool_call_end"]["block"]["arguments_json"] == '{"a": 2, "b": 2}'
    assert b"c2lnbmF0dXJl" not in body


def test_signatures_go_out_when_asked_for() -> None:
    ends = dict(named_events(told(encoder(include_signatures=True), run_events(FIRST))))
    assert ends["thinking_end"]["block"]["signature"] == "c2lnbmF0dXJlLW9mLXRob3VnaHQ="


def test_results_of_tools_are_told() -> None:
    told_result = dict(named_events(told(encoder(), run_events(FIRST, RESULT, SECOND))))["tool_result"]
    assert told_result == {"call_id": "call_1", "text": "4", "is_error": False}


def test_a_failure_closes_what_is_open_with_what_had_come() -> None:
    events = [
        ta.StreamStart(origin=ORIGIN),
        ta.ThinkingStart(0),
        ta.ThinkingDelta(0, "Hm"),
        ta.ToolCallStart(1, "c", "f"),
        ta.ToolCallDelta(1, '{"a"'),
    ]
    body = told(encoder(), events, ta.ServerError("host-7 crashed", body="sk-1"))
    thinking, call, error = named_events(body)[-3:]
    assert thinking[1]["block"] == {"type": "thinking", "text": "Hm", "form": "incomplete"}
    assert (call[1]["block"]["arguments_json"], call[1]["block"]["complete"]) == ('{"a"', False)
    assert (error[0], error[1]["kind"], error[1]["retryable"]) == ("stream_error", "server_error", True)
    assert b"host-7" not in body
    assert b"sk-1" not in body


def test_a_stopped_answer_ends_without_an_error() -> None:
    assert named_events(told(encoder(), [ta.StreamStart()], ta.StreamAborted()))[-1] == (
        "stream_end",
        {"stop_reason": "aborted"},
    )


def test_a_snapshot_tells_all_that_came_and_no_signature() -> None:
    half = encoder(ids=True)
    for event in run_events(FIRST, RESULT, SECOND)[:-4]:
        half.feed(event)
    body = b"".join(half.snapshot(17))
    start, snapshot = named_events(body)
    assert start[0] == "stream_start"
    assert [message["role"] for message in snapshot[1]["messages"]] == ["assistant", "tool", "assistant"]
    assert snapshot[1]["messages"][0]["content"][0]["text"] == "Two and two."
    assert b"id: 17\nevent: snapshot\n" in body
    assert b"c2lnbmF0dXJl" not in body
    assert b"d2l0aGhlbGQ=" not in body


def test_an_error_that_ended_a_run_is_told_as_what_it_was() -> None:
    failed = ta.RunError("Overloaded: inner words")
    failed.__cause__ = ta.Overloaded("inner words")
    [*_, (name, data)] = named_events(b"".join(encoder().fail(failed)))
    assert (name, data["kind"]) == ("stream_error", "overloaded")


def test_a_run_that_was_stopped_is_no_failure() -> None:
    stopped = ta.RunError("StreamAborted: the run was cancelled")
    stopped.__cause__ = ta.StreamAborted("the run was cancelled")
    [*_, last] = named_events(b"".join(encoder().fail(stopped)))
    assert last == ("stream_end", {"stop_reason": "aborted"})


def test_a_run_that_reached_its_limit_is_told_so() -> None:
    [*_, (_, data)] = named_events(b"".join(encoder().fail(ta.RunError("too many turns", limit="max_turns"))))
    assert data["kind"] == "run_error"
