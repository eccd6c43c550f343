"""Writing and reading give the same value again, and reading and writing the same JSON."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given, settings

from support.vocabulary import VALUES, conversations, events, messages
from thinkaloud import codec
from thinkaloud.content import Block, Opaque, Text, Thinking, ToolCall
from thinkaloud.events import StreamEvent
from thinkaloud.messages import AssistantMessage, Conversation, Message, Timing, UserMessage

STORABLE = [
    value for value in VALUES if attrs.fields(type(value)) and isinstance(value, (Message, Conversation, StreamEvent))
]


def check(value: codec.Value) -> None:
    text = codec.dumps(value)
    loaded = codec.loads(text)
    assert loaded == value
    assert type(loaded) is type(value)
    assert attrs.asdict(loaded) == attrs.asdict(value)  # timing too, which is not compared
    assert codec.dumps(loaded) == text
    assert codec.from_data(codec.to_data(value)) == value
    assert json.loads(text) == codec.to_data(value)


@pytest.mark.parametrize("value", STORABLE, ids=lambda value: type(value).__name__)
def test_a_value_with_all_fields_survives(value: codec.Value) -> None:
    check(value)


@settings(max_examples=40)
@given(messages)
def test_any_message_survives(message: Message) -> None:
    check(message)


@settings(max_examples=40)
@given(conversations)
def test_any_conversation_survives(conversation: Conversation) -> None:
    check(conversation)


@settings(max_examples=40)
@given(events)
def test_any_event_survives(event: StreamEvent) -> None:
    check(event)


def survives(block: Block) -> Any:
    (loaded,) = codec.loads(codec.dumps(UserMessage([block]))).content  # type: ignore[union-attr, list-item]
    return loaded


@pytest.mark.parametrize(
    "text",
    [
        "EqQB+/==",
        "EqQB-_",
        "",
        " padded ",
        "line\nfeed\r\n",
        "\x00\x1f\x7f",
        "é😀\u2028\u2029\ufeff",
        "\ud83d",
        "\ude00\ud83d",
        "\\u0041",
    ],
)
def test_strings_survive_character_by_character(text: str) -> None:
    loaded = survives(Thinking(text, signature=text, redacted_data=text, extra={text: text}))
    assert (loaded.text, loaded.signature, loaded.redacted_data, loaded.extra) == (text, text, text, {text: text})


def test_argument_text_is_not_touched() -> None:
    for arguments in ('{ "a" : 1.0 , "a": 2 }', '{"a": 1', "", '{"n": 123456789012345678901234567890}'):
        assert survives(ToolCall("c", name="n", arguments_json=arguments)).arguments_json == arguments


def test_big_integers_keep_every_digit() -> None:
    number = 10**400 + 7
    assert survives(Text("a", extra={"n": number})).extra == {"n": number}


def test_numbers_keep_their_kind() -> None:
    loaded = survives(
        Opaque("p", kind="k", data={"whole": 1, "float": 1.0, "flag": True, "none": None, "tiny": 5e-324})
    )
    assert repr(dict(loaded.data)) == "{'whole': 1, 'float': 1.0, 'flag': True, 'none': None, 'tiny': 5e-324}"


def test_the_order_of_provider_fields_stays() -> None:
    assert list(survives(Text("a", extra={"z": 1, "a": 2, "m": 3})).extra) == ["z", "a", "m"]


def test_timing_survives_though_it_is_not_compared() -> None:
    loaded = codec.loads(codec.dumps(AssistantMessage("hi", timing=Timing(0.1, 0.2, 0.3))))
    assert isinstance(loaded, AssistantMessage)
    assert loaded.timing == Timing(0.1, 0.2, 0.3)


def test_blocks_stay_in_their_order() -> None:
    blocks = (Text("a"), Thinking("b"), Text("a"), Thinking.redacted_payload("c"), Text(""))
    loaded = codec.loads(codec.dumps(AssistantMessage(blocks)))
    assert isinstance(loaded, AssistantMessage)
    assert loaded.content == blocks


def test_a_thousand_messages_survive() -> None:
    conversation = Conversation([UserMessage("hi"), AssistantMessage([Thinking.signed("hm", "c2ln")])] * 500)
    assert codec.loads(codec.dumps(conversation)) == conversation
