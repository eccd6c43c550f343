"""Every authored fault case of the wires that are built comes out as described, however its bytes are cut.

Histories have their own module, `test_cases_of_history`. What else is no matter of reading bytes is listed by name in
ELSEWHERE; a case that is neither run nor listed fails the tests, and so does one that is both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

import pytest

from support.neutral import Neutral, known, neutral_arguments
from support.reading import Outcome, byte_by_byte, folded, one_piece, read
from support.shared import Case, cases, needs_shared, parameters
from support.wires import WIRES
from test_cases_of_history import RUN as OF_HISTORY
from thinkaloud import errors
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.events import StreamEnd, StreamEvent, StreamStart, ThinkingEnd, UsageUpdate
from thinkaloud.messages import AssistantMessage
from thinkaloud.models.dialect import Dialect, ThinkTags
from thinkaloud.notices import Notice

ELSEWHERE = {
    "the effort of a request": (
        "effort/adaptive-model-takes-no-budget",
        "effort/budget-below-max-tokens",
        "effort/forced-tool-choice-with-thinking",
        "effort/minimal-respects-budget-floor",
        "effort/sampling-parameters-refused-by-model",
        "effort/stream-asks-for-usage",
        "effort/top-level-clamps-down-not-to-default",
    ),
    "the life of a connection": (
        "lifecycle/connection-returns-to-pool",
        "lifecycle/consumer-leaves-early",
        "lifecycle/early-break-stops-reading",
        "lifecycle/generator-closed-from-another-task",
        "lifecycle/no-retry-after-first-event",
        "lifecycle/silence-becomes-typed-timeout",
        "lifecycle/works-on-trio",
    ),
}

ERROR_KINDS: dict[str, tuple[type[errors.ThinkaloudError], ...]] = {
    "overloaded": (errors.Overloaded,),
    "rate_limit": (errors.RateLimited,),
    "server_error": (errors.ServerError,),
    "connection": (errors.ReadFailed, errors.ConnectFailed),
    "timeout": (errors.DeadlineExceeded,),
    "truncated": (errors.TruncatedStream,),
    "invalid_request": (errors.InvalidRequest,),
    "context_length": (errors.ContextTooLong,),
    "content_filter": (errors.ContentFiltered,),
    "invalid_history": (errors.HistoryError,),
    "malformed_tool_call": (errors.MalformedToolCall,),
    "protocol": (errors.MalformedStream,),
}

# The kinds of events that `expect_events` does not name.
UNNAMED = (StreamStart, StreamEnd, UsageUpdate, Notice)

BUILT = {wire.id for wire in WIRES}
# Not of the bytes alone: what the server does with the connection, or what is sent.
BEYOND_BYTES = {"transport", "consumer", "attempts", "backends", "history", "model_caps"}

RUN = [
    case
    for case in cases()
    if case.wire in BUILT and case.data.keys().isdisjoint(BEYOND_BYTES) and (case.has_stream or "response" in case.data)
]
STREAMED = [case for case in RUN if case.has_stream]
WHOLE = [case for case in RUN if "response" in case.data]
TOLD = [case for case in STREAMED if "expect_events" in case.data]
TOLD_AT_ENDS = [case for case in STREAMED if "expect_on_end" in case.data]

# Beside what a case is compared in, these keys of `expect` need a test of their own.
COMPARED = {"content", "stop", "usage", "error", "partial", "seconds_at_most"}


def named(case: Case) -> str:
    return case.name


def outcome_of(case: Case, pieces: Iterable[bytes]) -> Outcome:
    tags = case.data.get("options", {}).get("think_tags")
    return read(case.wire, pieces, dialect=Dialect(think_tags=ThinkTags()) if tags else None)


def compared(message: AssistantMessage | None) -> list[Neutral]:
    """The content as cases are compared: unknown blocks left out, neighbouring texts joined."""
    entries: list[Neutral] = []
    for block in message.content if message is not None else ():
        match block:
            case Text() if entries and entries[-1]["type"] == "text":
                entries[-1]["text"] += block.text
            case Text():
                entries.append(known(type="text", text=block.text, signature=block.signature))
            case Thinking():
                entries.append(
                    known(
                        type="thinking",
                        text=block.text,
                        id=block.extra.get("id"),
                        signature=block.signature,
                        redacted_data=block.redacted_data,
                    )
                )
            case ToolCall():
                entry = known(type="tool_call", id=block.id, name=block.name, signature=block.signature)
                entries.append(entry | neutral_arguments(block))
            case Opaque():
                pass
    return entries


def described(content: list[Neutral]) -> list[Neutral]:
    """The content that a case expects, its generated text written out."""
    written = []
    for block in content:
        block = dict(block)
        if "text_gen" in block:
            made = block.pop("text_gen")
            block["text"] = made["repeat"] * made["times"]
        written.append(block)
    return written


ANY_ID = "<any-unique>"


def with_ids(wanted: list[Neutral], found: list[Neutral]) -> list[Neutral]:
    """The content that a case expects, with the ids that were found where any will do that is unique."""
    ids = [entry["id"] for entry in found if "id" in entry]
    assert len(set(ids)) == len(ids)
    return [
        {**entry, "id": other["id"]} if entry.get("id") == ANY_ID and "id" in other else entry
        for entry, other in zip_longest(wanted, found, fillvalue=Neutral())
        if entry
    ]


def check(case: Case, outcome: Outcome) -> None:
    expect = case.expect
    if "error" in expect:
        assert type(outcome.error) in ERROR_KINDS[expect["error"]]
        assert compared(outcome.message) == described(expect["partial"]["content"])
        return
    message = outcome.finished
    found = compared(message)
    assert found == with_ids(described(expect["content"]), found)
    if "stop" in expect:
        assert message.stop_reason is not None
        assert message.stop_reason.value == expect["stop"]
    for name, count in expect.get("usage", {}).items():
        assert getattr(message.usage, name) == count, name


@pytest.mark.parametrize("case", parameters(STREAMED, named))
def test_outcome_is_right_with_the_bytes_cut_as_given(case: Case) -> None:
    check(case, outcome_of(case, case.pieces))


@pytest.mark.parametrize("case", parameters(STREAMED, named))
def test_outcome_is_right_in_one_piece(case: Case) -> None:
    check(case, outcome_of(case, one_piece(b"".join(case.pieces))))


@pytest.mark.parametrize("case", parameters((case for case in STREAMED if not case.is_generated), named))
def test_outcome_is_right_byte_by_byte(case: Case) -> None:
    check(case, outcome_of(case, byte_by_byte(b"".join(case.pieces))))


@pytest.mark.parametrize("size", [97, 4096, 65_536])
@pytest.mark.parametrize("case", parameters((case for case in STREAMED if case.is_generated), named))
def test_outcome_of_a_large_body_is_right_in_pieces_of_any_size(case: Case, size: int) -> None:
    body = b"".join(case.pieces)
    check(case, outcome_of(case, (body[start : start + size] for start in range(0, len(body), size))))


@pytest.mark.parametrize("case", parameters(STREAMED, named))
def test_the_events_alone_tell_the_message(case: Case) -> None:
    outcome = outcome_of(case, case.pieces)
    if outcome.error is None:
        assert folded(outcome.events) == outcome.message
    elif outcome.message is not None:
        assert folded(outcome.events).content == outcome.message.content


@pytest.mark.parametrize("case", parameters(WHOLE, named))
def test_a_whole_body_gives_the_message_of_the_stream(case: Case) -> None:
    whole = outcome_of(case, one_piece(json.dumps(case.data["response"]).encode()))
    check(case, whole)
    assert whole.message == outcome_of(case, case.pieces).message


def kind(event: StreamEvent) -> str:
    """`ThinkingStart` is `thinking_start`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()


@pytest.mark.parametrize("case", parameters(TOLD, named))
def test_events_come_in_the_order_that_the_case_names(case: Case) -> None:
    events = outcome_of(case, case.pieces).events
    assert [kind(event) for event in events if not isinstance(event, UNNAMED)] == case.data["expect_events"]


@pytest.mark.parametrize("case", parameters(TOLD_AT_ENDS, named))
def test_end_events_carry_the_opaque_strings(case: Case) -> None:
    blocks = [event.block for event in outcome_of(case, case.pieces).events if isinstance(event, ThinkingEnd)]
    for row in case.data["expect_on_end"]:
        assert row["event"] == "thinking_end"
        carried: dict[str, Any] = {name: value for name, value in row.items() if name not in ("event", "n")}
        assert carried
        assert {name: getattr(blocks[row["n"]], name) for name in carried} == carried


@needs_shared
def test_every_case_is_run_or_listed_as_belonging_elsewhere() -> None:
    listed = [name for names in ELSEWHERE.values() for name in names]
    run = [case.name for case in (*RUN, *OF_HISTORY)]
    assert sorted([*listed, *run]) == sorted(case.name for case in cases())


@needs_shared
def test_every_expectation_of_the_cases_that_run_is_compared() -> None:
    assert {name for case in RUN for name in case.expect} <= COMPARED
