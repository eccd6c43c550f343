"""Messages and conversations: how they are made, and what can be read off them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import attrs
import pytest

from support.vocabulary import ASSISTANT
from thinkaloud.content import AssistantBlock, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import (
    AssistantMessage,
    Conversation,
    LevelChoice,
    Origin,
    StopReason,
    Timing,
    ToolResult,
    UserMessage,
)
from thinkaloud.notices import Issue, Notice
from thinkaloud.usage import Usage


def test_a_string_is_one_text_block() -> None:
    assert UserMessage("hi").content == (Text("hi"),)
    assert AssistantMessage("hi").content == (Text("hi"),)
    assert ToolResult("call_1", "42").content == (Text("42"),)


def test_one_block_is_a_message_of_one_block() -> None:
    picture = Image.from_url("https://a.example/x.png")
    assert UserMessage(picture).content == (picture,)
    assert AssistantMessage(Thinking("hm")).content == (Thinking("hm"),)


def test_blocks_become_a_tuple_in_their_order() -> None:
    blocks: list[AssistantBlock] = [Text("b"), Thinking("a"), Text("b"), ToolCall("i", name="n")]
    assert AssistantMessage(iter(blocks)).content == tuple(blocks)


@pytest.mark.parametrize(
    ("make", "fields"),
    [
        (UserMessage, {"content": [Text("a"), 5]}),
        (UserMessage, {"content": 5}),
        (UserMessage, {"content": None}),
        (UserMessage, {}),
        (AssistantMessage, {"content": [{"type": "text"}]}),
        (AssistantMessage, {"origin": "anthropic"}),
        (AssistantMessage, {"stop_reason": "end"}),
        (AssistantMessage, {"raw_stop_reason": 5}),
        (AssistantMessage, {"stop_detail": "detail"}),
        (AssistantMessage, {"usage": None}),
        (AssistantMessage, {"cost": 0.5}),
        (AssistantMessage, {"response_id": 5}),
        (AssistantMessage, {"level": ("low", "low")}),
        (AssistantMessage, {"level": (None, None, None)}),
        (AssistantMessage, {"level": None}),
        (AssistantMessage, {"notices": ["text"]}),
        (AssistantMessage, {"timing": ("1", None, None)}),
        (AssistantMessage, {"prefix_digest": b"x"}),
        (ToolResult, {"call_id": None}),
        (ToolResult, {"call_id": "i", "content": [5]}),
        (ToolResult, {"call_id": "i", "is_error": "yes"}),
        (ToolResult, {"call_id": "i", "name": 5}),
        (Conversation, {"messages": [{"role": "user"}]}),
        (Conversation, {"messages": 5}),
        (Conversation, {"system": 5}),
        (Origin, {"model": None}),
        (Notice, {"code": None}),
        (Notice, {"code": "a", "detail": "text"}),
        (Notice, {"code": "a", "detail": ""}),
        (Issue, {"code": "a", "path": None, "text": "b"}),
        (Usage, {"input": "5"}),
        (Usage, {"input": 5.0}),
        (Usage, {"billed_usd": "5"}),
    ],
)
def test_a_field_of_the_wrong_type_is_a_type_error(make: type, fields: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        make(**fields)


def test_the_visible_answer_is_the_text_blocks_joined() -> None:
    message = AssistantMessage([Text("a"), Thinking("no"), ToolCall("i", name="n"), Text("b")])
    assert message.text == "ab"


def test_the_visible_thinking_is_the_readable_blocks_apart() -> None:
    hidden = (Thinking("", signature="s"), Thinking.redacted_payload("p"))
    message = AssistantMessage([Thinking("a"), *hidden, Text("no"), Thinking("b")])
    assert message.thinking == "a\n\nb"
    assert message.thinking_blocks == (Thinking("a"), *hidden, Thinking("b"))


def test_calls_that_were_cut_off_stand_apart() -> None:
    whole, cut = ToolCall("1", name="n", arguments_json="{}"), ToolCall("2", name="n", complete=False)
    message = AssistantMessage([cut, whole, Opaque("p", kind="server_tool_use", data={})])
    assert message.tool_calls == (whole,)
    assert message.incomplete_tool_calls == (cut,)


def test_an_empty_message_has_nothing() -> None:
    message = AssistantMessage()
    assert (message.text, message.thinking, message.thinking_blocks, message.tool_calls) == ("", "", (), ())
    assert (message.stop_reason, message.usage, message.cost, message.level) == (None, Usage(), None, (None, None))


def test_level_and_timing_may_be_given_as_tuples() -> None:
    message = AssistantMessage(level=(ThinkingLevel.MAX, ThinkingLevel.HIGH), timing=(0.5, None, 2))
    assert message.level == LevelChoice(asked=ThinkingLevel.MAX, sent=ThinkingLevel.HIGH)
    assert message.timing == Timing(first_event=0.5, thinking=None, total=2)


def test_timing_does_not_count_in_comparison() -> None:
    later = attrs.evolve(ASSISTANT, timing=Timing(9.0, 9.0, 9.0))
    assert later == ASSISTANT
    assert hash(later) == hash(ASSISTANT)


@pytest.mark.parametrize(
    "change",
    [
        {"content": ()},
        {"origin": Origin()},
        {"stop_reason": StopReason.END},
        {"raw_stop_reason": None},
        {"stop_detail": None},
        {"usage": Usage()},
        {"cost": None},
        {"response_id": None},
        {"level": LevelChoice()},
        {"prefix_digest": None},
        {"content_digest": None},
        {"notices": ()},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_other_field_counts_in_comparison(change: dict[str, Any]) -> None:
    assert attrs.evolve(ASSISTANT, **change) != ASSISTANT


def test_details_of_the_stop_are_copied_on_the_way_in() -> None:
    detail: dict[str, Any] = {"a": [1]}
    message = AssistantMessage(stop_detail=detail)
    detail["a"].append(2)
    assert message.stop_detail == {"a": [1]}


def test_a_conversation_may_begin_as_a_string_or_a_message() -> None:
    assert Conversation("hi") == Conversation(UserMessage("hi")) == Conversation([UserMessage("hi")])


def test_a_conversation_is_read_like_its_messages() -> None:
    messages = (UserMessage("hi"), AssistantMessage("hello"))
    conversation = Conversation(messages, system="Be brief.")
    assert tuple(conversation) == messages
    assert len(conversation) == 2


def test_adding_gives_a_new_conversation_and_keeps_the_system_text() -> None:
    first = Conversation("hi", system="Be brief.")
    more = first.adding(AssistantMessage("a"), [ToolResult("1", "x"), ToolResult("2", "y")])
    assert len(first) == 1
    assert [type(message) for message in more] == [UserMessage, AssistantMessage, ToolResult, ToolResult]
    assert more.system == "Be brief."


def test_stop_reasons_are_one_vocabulary() -> None:
    assert [reason.value for reason in StopReason] == [
        "end",
        "length",
        "tool_use",
        "stop_sequence",
        "content_filter",
        "refusal",
        "pause",
        "unknown",
        "error",
        "aborted",
    ]


def test_an_issue_survives_pickle_and_copies() -> None:
    issue = Issue("call_without_result", "messages[1].content[0]", "add a ToolResult")
    assert pickle.loads(pickle.dumps(issue)) == issue == copy.deepcopy(issue)
    assert hash(copy.deepcopy(issue)) == hash(issue)
