"""What goes back of an answer: thinking as the endpoint wants it, signatures unchanged, and nothing half."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.chat_wire import call, calls, chunk, read, stop
from thinkaloud.content import Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, Message, ToolResult, UserMessage
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model
from thinkaloud.models.providers import find_provider
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.openai_chat import PROTOCOL

Q = UserMessage("q")
CALL = ToolCall("c1", name="f", arguments_json="{}")
RESULT = ToolResult("c1", "1")


def encoded(*messages: Message, to: str | Dialect = "openrouter", model: str = "m", **fields: Any) -> Encoded:
    dialect = to if isinstance(to, Dialect) else find_provider(to).dialect
    facts = {"reasoning": fields.pop("thinks")} if "thinks" in fields else {}
    return PROTOCOL.encode(Call(model=Model("some", model, **facts), messages=messages, dialect=dialect, **fields))


def assistant(*messages: Message, **fields: Any) -> dict[str, Any]:
    """The only assistant message of a request."""
    written: Any = encoded(*messages, **fields).body["messages"]
    (found,) = [message for message in written if message["role"] == "assistant"]
    return dict(found)


def answered(*payloads: Any, end: str = "stop") -> AssistantMessage:
    """An answer as the parser reads it."""
    return read(*payloads, stop(end)).message


# plain fields


def thought(field: str | None = "reasoning_content", text: str = "why") -> Thinking:
    return Thinking(text, extra={"field": field} if field else {})


@pytest.mark.parametrize(
    ("provider", "field"),
    [
        ("deepseek", "reasoning_content"),
        ("moonshotai", "reasoning_content"),
        ("zai", "reasoning_content"),
        ("fireworks", "reasoning_content"),
        ("avian", "reasoning_content"),
        ("groq", "reasoning"),
        ("cerebras", "reasoning"),
        ("ollama", "reasoning"),
    ],
)
@pytest.mark.parametrize("arrived", ["reasoning_content", "reasoning", None])
def test_thinking_goes_back_in_the_field_of_the_endpoint(provider: str, field: str, arrived: str | None) -> None:
    message = assistant(Q, AssistantMessage((thought(arrived), CALL)), RESULT, to=provider)
    assert message == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        field: "why",
    }


@pytest.mark.parametrize("arrived", ["reasoning_content", "reasoning", "reasoning_text"])
def test_where_the_endpoint_has_no_field_of_its_own_it_goes_back_where_it_arrived(arrived: str) -> None:
    for provider in ("vllm", "sglang", "llama-cpp", "lmstudio", "together", "huggingface"):
        assert assistant(Q, AssistantMessage((thought(arrived), CALL)), RESULT, to=provider)[arrived] == "why"


def test_thoughts_between_texts_are_one_string_as_they_were_on_the_wire() -> None:
    content = (thought(text="a"), Text("b"), thought(text="c"), Text("d"))
    message = assistant(Q, AssistantMessage(content), to="deepseek", model="deepseek-v4-pro")
    assert (message["reasoning_content"], message["content"]) == ("ac", "bd")


@pytest.mark.parametrize("provider", ["openai", "azure", "qwen", "perplexity"])
def test_endpoints_that_take_no_thinking_get_none_without_a_word(provider: str) -> None:
    found = encoded(Q, AssistantMessage((thought(), Text("so"))), to=provider)
    assert found.body["messages"][1] == {"role": "assistant", "content": "so"}  # type: ignore[index]
    assert found.notices == ()


HISTORY = (
    UserMessage("one"),
    AssistantMessage((thought(text="old"), Text("1"))),
    UserMessage("two"),
    AssistantMessage((thought(text="new"), CALL)),
    RESULT,
)


@pytest.mark.parametrize(
    ("provider", "model", "thoughts"),
    [
        ("deepseek", "deepseek-v4-pro", ["old", "new"]),
        ("deepseek", "deepseek-flash", ["old", "new"]),
        ("deepseek", "deepseek-reasoner", [None, "new"]),
        ("moonshotai", "kimi-k3", ["old", "new"]),
        ("zai", "glm-5.3", ["old", "new"]),
        ("vllm", "qwen", [None, "new"]),
        ("ollama", "qwen", [None, "new"]),
        ("groq", "openai/gpt-oss-120b", [None, "new"]),
        ("xai", "grok-4.3", [None, "new"]),
        ("cerebras", "gpt-oss-120b", [None, "new"]),
        ("deepseek", "deepseek-next", ["old", "new"]),
    ],
)
def test_thinking_of_earlier_turns_goes_back_only_where_the_endpoint_wants_it(
    provider: str, model: str, thoughts: list[str | None]
) -> None:
    written: Any = encoded(*HISTORY, to=provider, model=model).body["messages"]
    answers = [message for message in written if message["role"] == "assistant"]
    assert [message.get("reasoning_content") or message.get("reasoning") for message in answers] == thoughts


# thinking that an endpoint demands and that is not known


@pytest.mark.parametrize(("provider", "model"), [("deepseek", "deepseek-v4-pro"), ("moonshotai", "kimi-k2.6")])
def test_a_turn_with_calls_has_a_blank_where_no_thinking_is_known(provider: str, model: str) -> None:
    turn = (Q, AssistantMessage(CALL), RESULT)
    assert assistant(*turn, to=provider, model=model)["reasoning_content"] == " "
    assert "reasoning_content" not in assistant(Q, AssistantMessage("so"), to=provider, model=model)
    assert "reasoning_content" not in assistant(*turn, to=provider, model=model, thinks=False)


def test_no_blank_is_sent_while_thinking_is_off() -> None:
    turn = (Q, AssistantMessage(CALL), RESULT)
    off = {"reasoning": ThinkingLevel.OFF}
    assert "reasoning_content" not in assistant(*turn, to="deepseek", model="deepseek-v4-pro", **off)
    assert "reasoning_content" not in assistant(*turn, to="zai", model="glm-5.3")


def test_parallel_calls_share_one_message_with_their_thinking() -> None:
    content = (thought(), CALL, ToolCall("c2", name="g", arguments_json="{}"))
    message = assistant(Q, AssistantMessage(content), RESULT, ToolResult("c2", "2"), to="moonshotai")
    assert [entry["id"] for entry in message["tool_calls"]] == ["c1", "c2"]
    assert message["reasoning_content"] == "why"


# tags, where a model's template reads earlier thinking in nothing else


def test_glm_at_cerebras_gets_its_thinking_in_tags_before_the_text() -> None:
    found = encoded(*HISTORY, to="cerebras", model="zai-glm-4.7")
    written: Any = found.body["messages"]
    answers = [message for message in written if message["role"] == "assistant"]
    assert [message["content"] for message in answers] == ["<think>old</think>1", "<think>new</think>"]
    assert all("reasoning" not in message for message in answers)
    assert found.notices == ()


def test_thinking_that_arrived_in_tags_goes_back_in_tags_where_these_are_the_way() -> None:
    tagged = Thinking("a", extra={"field": "content", "tags": True})
    assert assistant(Q, AssistantMessage((tagged, Text("b"))), to="cerebras", model="zai-glm-5.3") == {
        "role": "assistant",
        "content": "<think>a</think>b",
    }


def test_tags_alone_are_no_answer() -> None:
    found = encoded(Q, AssistantMessage(thought()), UserMessage("go on"), to="cerebras", model="zai-glm-4.7")
    assert [notice.code for notice in found.notices] == ["message_omitted"]


# a user right after a tool


def test_mistral_gets_an_answer_between_a_result_and_a_user() -> None:
    found = encoded(Q, AssistantMessage(CALL), RESULT, UserMessage("go on"), to="mistral")
    written: Any = found.body["messages"]
    assert [message["role"] for message in written] == ["user", "assistant", "tool", "assistant", "user"]
    assert written[3] == {"role": "assistant", "content": "I have the results."}
    assert [(notice.code, notice.path) for notice in found.notices] == [("message_added", "messages[3]")]


def test_pictures_of_a_tool_come_to_mistral_after_such_an_answer_too() -> None:
    picture = ToolResult("c1", (Image(url="https://example.com/a.png"),))
    found = encoded(Q, AssistantMessage(CALL), picture, to="mistral")
    written: Any = found.body["messages"]
    assert [message["role"] for message in written] == ["user", "assistant", "tool", "assistant", "user"]
    assert [(notice.code, notice.path) for notice in found.notices] == [("message_added", "messages[2]")]


def test_an_answer_of_the_models_own_is_enough() -> None:
    found = encoded(Q, AssistantMessage(CALL), RESULT, AssistantMessage("1"), UserMessage("go on"), to="mistral")
    assert found.notices == ()
    assert len(found.body["messages"]) == 5  # type: ignore[arg-type]


def test_elsewhere_a_user_follows_a_result_at_once() -> None:
    written: Any = encoded(Q, AssistantMessage(CALL), RESULT, UserMessage("go on"), to="deepseek").body["messages"]
    assert [message["role"] for message in written] == ["user", "assistant", "tool", "user"]


# entries of a gateway

CLAUDE = {"format": "anthropic-claude-v1", "index": 0}
SIGNED = [
    chunk(reasoning="Let", reasoning_details=[{"type": "reasoning.text", "text": "Let", **CLAUDE}]),
    chunk(reasoning=" me", reasoning_details=[{"type": "reasoning.text", "text": " me", **CLAUDE}]),
    chunk(reasoning_details=[{"type": "reasoning.text", "signature": "SIG+/=", **CLAUDE}]),
]


@pytest.mark.parametrize("provider", ["openrouter", "vercel-gateway", "snowflake"])
def test_entries_go_back_whole_and_without_the_plain_field(provider: str) -> None:
    turn = answered(*SIGNED, calls(call(0, "c1", "f", "{}")), end="tool_calls")
    message = assistant(Q, turn, RESULT, to=provider)
    assert message["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Let me", "signature": "SIG+/=", **CLAUDE}
    ]
    assert not {"reasoning", "reasoning_content"} & message.keys()


def test_entries_keep_their_order_over_thinking_and_calls() -> None:
    gemini = {"format": "google-gemini-v1", "index": 0}
    first = {"type": "reasoning.text", "text": "a", **gemini}
    of_call = {"type": "reasoning.encrypted", "data": "E1", "id": "c1", **gemini}
    last = {"type": "reasoning.encrypted", "data": "E2", **gemini}
    turn = answered(
        chunk(reasoning_details=[first]),
        calls(call(0, "c1", "f", "{}")),
        chunk(reasoning_details=[of_call]),
        chunk(reasoning_details=[last]),
        end="tool_calls",
    )
    assert assistant(Q, turn, RESULT)["reasoning_details"] == [first, of_call, last]


def test_entries_of_several_blocks_are_not_joined() -> None:
    def entry(text: str, index: int) -> dict[str, Any]:
        return {"type": "reasoning.text", "text": text, "signature": f"S{index}", "index": index}

    entries = [entry("a", 0), entry("b", 1)]
    assert assistant(Q, answered(chunk(reasoning_details=entries), chunk(content="x")))["reasoning_details"] == entries


def test_a_signature_that_came_after_the_text_goes_back_with_its_entry() -> None:
    turn = answered(*SIGNED[:2], chunk(content="Yes"), SIGNED[2])
    assert assistant(Q, turn)["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Let me", "signature": "SIG+/=", **CLAUDE}
    ]


def test_withheld_thinking_goes_back_block_by_block() -> None:
    entries = [{"type": "reasoning.text", "text": "", "signature": name, "index": 0} for name in ("A", "B")]
    turn = AssistantMessage(
        (*(Thinking(signature="S", extra={"reasoning_details": [entry]}) for entry in entries), Text("x"))
    )
    assert assistant(Q, turn)["reasoning_details"] == entries


def test_redacted_thinking_and_unknown_entries_go_back_too() -> None:
    redacted = {"type": "reasoning.encrypted", "data": "R", **CLAUDE}
    unknown = {"type": "reasoning.server_tool_call", "tool_name": "t", "index": 1}
    turn = answered(chunk(reasoning_details=[redacted, unknown]), chunk(content="x"))
    message = assistant(Q, turn)
    assert (message["reasoning_details"], message["content"]) == ([redacted, unknown], "x")


def test_without_entries_the_plain_field_goes_back() -> None:
    assert assistant(Q, answered(chunk(reasoning="why"), chunk(content="x")))["reasoning"] == "why"


def test_an_endpoint_with_a_field_of_its_own_gets_the_text_and_no_entries() -> None:
    message = assistant(Q, answered(*SIGNED, chunk(content="x")), to="avian")
    assert (message["reasoning_content"], "reasoning_details" in message) == ("Let me", False)


def test_entries_never_go_to_an_endpoint_that_takes_no_thinking() -> None:
    assert assistant(Q, answered(*SIGNED, chunk(content="x")), to="qwen") == {"role": "assistant", "content": "x"}


# signatures of calls


@pytest.mark.parametrize("provider", ["gemini-openai", "openai", "openrouter"])
def test_extra_content_of_a_call_goes_back_unchanged(provider: str) -> None:
    extra = {"google": {"thought_signature": "SIG+/=", "novelty": 1}}
    turn = answered(calls(call(0, "c1", "f", "{}", extra_content=extra)), end="tool_calls")
    (entry,) = assistant(Q, turn, RESULT, to=provider)["tool_calls"]
    assert entry["extra_content"] == extra


def test_a_custom_call_goes_back_in_its_own_form() -> None:
    entry = {"index": 0, "id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    turn = answered(calls(entry), end="tool_calls")
    assert assistant(Q, turn, RESULT)["tool_calls"] == [
        {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    ]


# typed parts


def test_thinking_parts_go_back_in_their_place_with_signature_and_state() -> None:
    inner = [{"type": "text", "text": "Greet."}]
    part = {"type": "thinking", "thinking": inner, "closed": True, "signature": "S"}
    turn = answered(chunk(content=[part]), chunk(content="Hel"), chunk(content="lo"))
    assert assistant(Q, turn, UserMessage("more"), to="mistral")["content"] == [part, {"type": "text", "text": "Hello"}]


def test_pieces_inside_a_thinking_part_and_unknown_parts_go_back_too() -> None:
    inner = [{"type": "text", "text": "a"}, {"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "b"}]
    reference = {"type": "reference", "reference_ids": [2]}
    parts = [{"type": "thinking", "thinking": inner}, {"type": "text", "text": "x"}, reference]
    assert assistant(Q, answered(chunk(content=parts)), to="mistral")["content"] == parts


def test_without_thinking_parts_the_content_is_a_plain_string() -> None:
    assert assistant(Q, AssistantMessage((Text("a"), Text("b"))), to="mistral")["content"] == "ab"


def test_thinking_alone_is_no_message() -> None:
    for provider in ("mistral", "deepseek", "openrouter"):
        found = encoded(Q, AssistantMessage((thought(),)), UserMessage("go on"), to=provider)
        written: Any = found.body["messages"]
        assert [message["role"] for message in written] == ["user", "user"]
        assert [notice.code for notice in found.notices] == ["message_omitted"]


# what never goes back


def test_thinking_from_tags_is_never_written_into_history() -> None:
    tagged = Thinking("secret", extra={"field": "content", "tags": True})
    for provider in ("perplexity", "vllm", "openrouter", "mistral"):
        found = encoded(Q, AssistantMessage((tagged, Text("so"))), to=provider)
        assert "secret" not in json.dumps(found.body)
        assert found.notices == ()


def test_what_was_cut_off_is_left_out_with_a_notice_and_so_is_the_result_of_such_a_call() -> None:
    content = (
        Thinking("hal", complete=False),
        Text("hal", complete=False),
        ToolCall("c1", name="f", arguments_json='{"a', complete=False),
        Opaque("openai-chat", kind="x", data={"type": "x"}, complete=False),
        Text("whole"),
    )
    found = encoded(Q, AssistantMessage(content), RESULT, to="deepseek")
    assert found.body["messages"] == [{"role": "user", "content": "q"}, {"role": "assistant", "content": "whole"}]
    assert [(notice.code, notice.path) for notice in found.notices] == [
        *(("block_omitted", f"messages[1].content[{place}]") for place in range(4)),
        ("result_omitted", "messages[2]"),
    ]


def test_an_answer_without_content_and_calls_is_left_out() -> None:
    found = encoded(Q, AssistantMessage(()), AssistantMessage(Text("")), UserMessage("go on"), to="openai")
    written: Any = found.body["messages"]
    assert [message["content"] for message in written] == ["q", "go on"]
    assert [(notice.code, notice.path) for notice in found.notices] == [
        ("message_omitted", "messages[1]"),
        ("message_omitted", "messages[2]"),
    ]


def test_blocks_of_other_protocols_and_withheld_thinking_are_left_out_with_a_notice() -> None:
    content = (Opaque("gemini", kind="x", data={}), Thinking(signature="S"), Thinking.redacted_payload("R"), Text("so"))
    for provider in ("deepseek", "mistral"):
        found = encoded(Q, AssistantMessage(content), to=provider, model="deepseek-v4-pro")
        message = found.body["messages"][1]  # type: ignore[index]
        assert "R" not in json.dumps(message)
        assert [notice.path for notice in found.notices][:1] == ["messages[1].content[0]"]
        assert ("messages[1].content[2]") in [notice.path for notice in found.notices]


def test_a_refusal_goes_back_as_text() -> None:
    assert assistant(Q, answered(chunk(refusal="no")), to="openai") == {"role": "assistant", "content": "no"}
