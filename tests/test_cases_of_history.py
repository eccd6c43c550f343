"""Every authored case of a history comes out as described: sent back, of another model, stored and loaded.

A case is a history and the model that it goes to; `expect` says what the request must hold, or which error comes before
it. The cases that are run here are those of KINDS; `test_cases` knows them by that name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

import thinkaloud as ta
from support.shared import Case, cases, needs_shared, parameters
from thinkaloud import codec

KINDS = ("replay", "model-switch", "persistence")

RUN = [case for case in cases() if case.name.split("/")[0] in KINDS and "history" in case.data]

# What `expect` may ask for. `note` and `names` are read where they occur.
COMPARED = {"request", "absent", "present_any", "one_of", "error", "names", "note", "check"}

# Rules in words, as they are proved here.
WHOLE = "the signed and redacted blocks are sent whole, unchanged and in order"
SAME_BYTES = (
    "the request body equals, byte for byte, the one built without the round trip; large integers keep all digits"
)


def named(case: Case) -> str:
    return case.name


# the history


def block_of(data: Mapping[str, Any]) -> ta.Block:
    match data["type"]:
        case "thinking":
            extra = {"id": data["id"]} if "id" in data else {}
            return ta.Thinking(
                data["text"],
                signature=data.get("signature") or None,  # an empty one is none, as the parsers have it
                redacted_data=data.get("redacted_data"),
                extra=extra,
            )
        case "text":
            return ta.Text(data["text"], signature=data.get("signature"))
        case "tool_call":
            arguments = json.dumps(data["arguments"], separators=(",", ":"))
            return ta.ToolCall(data["id"], name=data["name"], arguments_json=arguments, signature=data.get("signature"))
        case kind:
            raise AssertionError(f"a block of kind {kind!r}")


STOPS = {reason.value: reason for reason in ta.StopReason}


def message_of(data: Mapping[str, Any]) -> ta.Message:
    content: Any = [block_of(block) for block in data["content"]]
    match data["role"]:
        case "user":
            return ta.UserMessage(content)
        case "tool":
            return ta.ToolResult(data["tool_call_id"], content, name=data.get("name"))
        case _:
            origin = data["origin"]
            return ta.AssistantMessage(
                content,
                origin=ta.Origin(origin["wire"], origin["provider"], origin["model"]),
                stop_reason=STOPS[data["stop"]],
            )


def history_of(case: Case) -> ta.Conversation:
    return ta.Conversation([message_of(data) for data in case.data["history"]])


def body_of(case: Case, history: ta.Conversation) -> bytes:
    target = case.data["target"]
    model = ta.Model(target["provider"], target["model"], protocol=target["wire"])
    url = "http://localhost/v1"
    return ta.prepare(model, history, reasoning=target["reasoning"], base_url=url).request.body


def stored_and_loaded(history: ta.Conversation) -> ta.Conversation:
    return ta.Conversation.from_json(history.to_json())


# what is asked for


def matches(wanted: Any, found: Any, name: str = "") -> bool:
    """Whether a request has what a case names: by key, messages one to one, and blocks in order with others between."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            key in found and matches(value, found[key], key) for key, value in wanted.items()
        )
    if not isinstance(wanted, list):
        return bool(wanted == found)
    if isinstance(found, str) and name == "content":  # a text alone may be a plain string
        found = [{"type": "text", "text": found}]
    if not isinstance(found, list):
        return False
    if name in ("messages", "contents", "input"):
        return len(wanted) == len(found) and all(map(matches, wanted, found))
    rest = iter(found)
    return all(any(matches(item, other) for other in rest) for item in wanted)


def opaque_strings(history: Iterable[ta.Message]) -> list[str]:
    return [
        opaque
        for message in history
        if isinstance(message, ta.AssistantMessage)
        for block in message.thinking_blocks
        for opaque in (block.signature, block.redacted_data)
        if opaque is not None
    ]


def in_order(strings: Iterable[str], text: str) -> bool:
    at = 0
    for string in strings:
        at = text.find(json.dumps(string), at)
        if at < 0:
            return False
    return True


def holds(expect: Mapping[str, Any], case: Case, history: ta.Conversation, body: bytes) -> bool:
    """Whether a body is what `expect` says."""
    text = body.decode()
    if "one_of" in expect:
        return any(holds(other, case, history, body) for other in expect["one_of"])
    if "check" in expect and expect["check"] == WHOLE:
        return in_order(opaque_strings(history), text)
    if "check" in expect:
        assert expect["check"] == SAME_BYTES
        return body == body_of(case, history) and b"9223372036854775807" in body
    return (
        matches(expect.get("request", {}), json.loads(body))
        and not any(absent in text for absent in expect.get("absent", ()))
        and ("present_any" not in expect or any(present in text for present in expect["present_any"]))
    )


TRIPS = {None: 0, "json": 1, "json-twice": 2}


@pytest.mark.parametrize("case", parameters(RUN, named))
def test_the_request_or_the_error_is_right(case: Case) -> None:
    history = history_of(case)
    sent = history
    for _ in range(TRIPS[case.data.get("round_trip")]):
        sent = stored_and_loaded(sent)
    if "error" not in case.expect:
        assert holds(case.expect, case, history, body_of(case, sent))
        return
    assert case.expect["error"] == "invalid_history"
    with pytest.raises(ta.HistoryError) as caught:
        body_of(case, sent)
    name = case.expect["names"]
    wanted = f"messages[{name}]" if isinstance(name, int) else repr(name)
    assert wanted in str(caught.value)


@pytest.mark.parametrize("case", parameters(RUN, named))
def test_a_stored_history_gives_the_same_request(case: Case) -> None:
    if "error" in case.expect:
        return
    history = history_of(case)
    assert body_of(case, stored_and_loaded(history)) == body_of(case, history)
    assert codec.loads(codec.dumps(history)) == history


@needs_shared
def test_every_expectation_is_compared() -> None:
    assert RUN
    assert {name for case in RUN for name in case.expect} <= COMPARED
    inner = [other for case in RUN for other in case.expect.get("one_of", ())]
    assert {name for other in inner for name in other} <= COMPARED


# the comparison itself


def test_the_comparison_sees_a_missing_block_and_a_wrong_order() -> None:
    wanted = {"messages": [{"content": [{"a": 1}, {"b": 2}]}]}
    assert matches(wanted, {"messages": [{"content": [{"a": 1, "x": 0}, {"y": 9}, {"b": 2}]}]})
    assert not matches(wanted, {"messages": [{"content": [{"b": 2}, {"a": 1}]}]})
    assert not matches(wanted, {"messages": [{"content": [{"a": 1}]}]})
    assert not matches(wanted, {"messages": [{"content": [{"a": 1}, {"b": 2}]}, {}]})
    assert in_order(["s1", "s2"], '["s1","s2"]')
    assert not in_order(["s2", "s1"], '["s1","s2"]')
