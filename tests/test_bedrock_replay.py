"""History sent back to Converse: verbatim and in order, or left out as a whole with a notice."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest

from support.bedrock_streams import called, counted, redacted, said, started, stopped, thought
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.history.switching import for_target
from thinkaloud.messages import AssistantMessage, Message, Origin, StopReason, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.models.signing import signing_realm
from thinkaloud.plan import Plan, prepare
from thinkaloud.protocols.captured import parse
from thinkaloud.protocols.redacted import payload_for
from thinkaloud.tools import Tool

CLAUDE = "anthropic.claude-opus-5"
HERE = Origin("bedrock-converse", "bedrock", CLAUDE)
DIRECT = Origin("anthropic-messages", "anthropic", "claude-opus-5")
SIGNED = Thinking.signed("Hm,  \n", "Eq+/9w==")


def plan_of(messages: list[Message], model: str = f"bedrock/{CLAUDE}", **arguments: Any) -> Plan:
    return prepare(model, messages, base_url="https://example.com", tools=[Tool("add")], **arguments)


def sent(*blocks: Any, origin: Origin = HERE, model: str = f"bedrock/{CLAUDE}") -> tuple[list[Any], list[str]]:
    """The assistant turn's blocks, and the codes of the notices."""
    message = AssistantMessage(blocks, origin=origin)
    results = [ToolResult(call.id, "3") for call in message.tool_calls]
    plan = plan_of([UserMessage("Hi"), message, *results, UserMessage("Go on.")], model)
    turns: Any = plan.body["messages"]
    answers = [turn["content"] for turn in turns if turn["role"] == "assistant"]
    return answers[0] if answers else [], [notice.code for notice in plan.notices]


def reasoning(text: str, signature: str) -> dict[str, Any]:
    return {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}


def test_an_answer_that_was_read_goes_back_byte_for_byte_and_in_order() -> None:
    body = (
        started()
        + thought(0, "Eq+/9w==", "Hm,", "  \n")
        + redacted(1, "AAFvcGFxdWU=")
        + said(2, "So.")
        + called(3, "tooluse_a.b:c", "add", '{"n": 123456789012345678901234567890}')
        + thought(4, "c2ln")
        + stopped("tool_use")
        + counted()
    )
    message = parse("bedrock-converse", [body], provider="bedrock")
    plan = plan_of([UserMessage("Hi"), message, ToolResult("tooluse_a.b:c", "3")])
    assert plan.body["messages"][1:] == [  # type: ignore[index]
        {
            "role": "assistant",
            "content": [
                reasoning("Hm,  \n", "Eq+/9w=="),
                {"reasoningContent": {"redactedContent": "AAFvcGFxdWU="}},
                {"text": "So."},
                {
                    "toolUse": {
                        "toolUseId": "tooluse_a.b:c",
                        "name": "add",
                        "input": {"n": 123456789012345678901234567890},
                    }
                },
                reasoning("", "c2ln"),
            ],
        },
        {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_a.b:c", "content": [{"text": "3"}]}}]},
    ]
    assert b"123456789012345678901234567890" in plan.request.body


def test_signed_thinking_without_text_is_kept() -> None:
    assert sent(Thinking.signed("", "c2ln"), Text("So.")) == ([reasoning("", "c2ln"), {"text": "So."}], [])


@pytest.mark.parametrize(
    "block", [Thinking("Hm"), Thinking("Hm", signature=""), Thinking(extra={"text": "[REDACTED]"})]
)
def test_thinking_without_a_signature_is_left_out(block: Thinking) -> None:
    assert sent(block, Text("So.")) == ([{"text": "So."}], ["thinking_omitted"])


@pytest.mark.parametrize(
    "block",
    [
        Thinking("Hm", signature="c2ln", complete=False),
        Text("So", complete=False),
        ToolCall("t", name="add", arguments_json='{"a"', complete=False),
        ToolCall("t", name="add", arguments_json="[1]"),
        Opaque("bedrock-converse", kind="server_tool_use", data={"toolUse": {}}, complete=False),
        Opaque("gemini", kind="x", data={}),
    ],
)
def test_what_was_cut_off_or_is_not_of_this_wire_is_left_out_with_its_path(block: Any) -> None:
    message = AssistantMessage([Text("So."), block], origin=HERE)
    results = [ToolResult(call.id, "3") for call in message.tool_calls]
    plan = plan_of([UserMessage("Hi"), message, *results, UserMessage("Go on.")])
    assert plan.body["messages"][1] == {"role": "assistant", "content": [{"text": "So."}]}  # type: ignore[index]
    assert plan.notices[0].path == "messages[1].content[1]"
    assert "toolResult" not in str(plan.body["messages"])


def test_an_answer_of_which_nothing_is_left_is_no_turn() -> None:
    plan = plan_of([UserMessage("Hi"), AssistantMessage([Thinking("Hm")], origin=HERE), UserMessage("Go on.")])
    assert plan.body["messages"] == [{"role": "user", "content": [{"text": "Hi"}, {"text": "Go on."}]}]


def test_a_servers_own_blocks_go_back_in_place() -> None:
    use: dict[str, Any] = {"toolUse": {"toolUseId": "s", "name": "f", "type": "server_tool_use", "input": {}}}
    result: dict[str, Any] = {"toolResult": {"toolUseId": "s", "content": []}}
    blocks = [
        Opaque("bedrock-converse", kind="server_tool_use", data=use),
        Opaque("bedrock-converse", kind="toolResult", data=result),
        Text("So."),
    ]
    origin = Origin("bedrock-converse", "bedrock", "amazon.nova-2-lite-v1:0")
    assert sent(*blocks, origin=origin, model="bedrock/amazon.nova-2-lite-v1:0") == ([use, result, {"text": "So."}], [])


def test_cited_text_goes_back_with_its_citations() -> None:
    citation = {"title": "T", "source": "s"}
    assert sent(Text("So.", citations=[citation]))[0] == [
        {"citationsContent": {"content": [{"text": "So."}], "citations": [citation]}}
    ]
    pieces: Any = [{"text": "So"}, {"text": "."}]
    assert sent(Text("So.", citations=[citation], extra={"content": pieces}))[0] == [
        {"citationsContent": {"content": pieces, "citations": [citation]}}
    ]
    assert sent(Text("So.", citations=[citation]), origin=DIRECT)[0] == [{"text": "So."}]


def test_further_fields_of_reasoning_and_calls_go_back() -> None:
    thinking = Thinking("Hm", signature="c2ln", extra={"style": "terse"})
    call = ToolCall("t", name="add", extra={"kind": "x"})
    first, second = sent(thinking, call)[0]
    assert first["reasoningContent"]["reasoningText"] == {"style": "terse", "text": "Hm", "signature": "c2ln"}
    assert second["toolUse"] == {"kind": "x", "toolUseId": "t", "name": "add", "input": {}}


@pytest.mark.parametrize("id", ["a.b:c-d_E9", "x" * 64])
def test_an_id_that_fits_stays(id: str) -> None:
    assert sent(ToolCall(id, name="add"))[0][0]["toolUse"]["toolUseId"] == id


@pytest.mark.parametrize("id", ["call|fc_1", "x" * 65, "größe", ""])
def test_an_id_that_does_not_fit_is_changed_alike_for_call_and_result(id: str) -> None:
    message = AssistantMessage([ToolCall(id, name="add")], origin=DIRECT)
    turns: Any = plan_of([UserMessage("Hi"), message, ToolResult(id, "3")]).body["messages"]
    new = turns[1]["content"][0]["toolUse"]["toolUseId"]
    assert new == turns[2]["content"][0]["toolResult"]["toolUseId"]
    assert new != id
    assert 1 <= len(new) <= 64


def test_calls_of_an_answer_that_failed_are_left_out_without_results() -> None:
    message = AssistantMessage(
        [SIGNED, ToolCall("t", name="add")], origin=HERE, stop_reason=StopReason.ERROR, raw_stop_reason=None
    )
    turns: Any = plan_of([UserMessage("Hi"), message, UserMessage("Go on.")]).body["messages"]
    assert turns[1]["content"] == [reasoning("Hm,  \n", "Eq+/9w==")]


# from host to host


def test_claudes_thinking_moves_from_the_messages_api_unchanged() -> None:
    redacted_block = Thinking.redacted_payload("EvAF+/9z8=")
    assert sent(SIGNED, redacted_block, Text("So."), origin=DIRECT) == (
        [
            reasoning("Hm,  \n", "Eq+/9w=="),
            {"reasoningContent": {"redactedContent": b64encode(b"EvAF+/9z8=").decode()}},
            {"text": "So."},
        ],
        [],
    )


def test_claudes_thinking_moves_to_the_messages_api_unchanged() -> None:
    payload = b64encode(b"EvAF+/9z8=").decode()
    message = AssistantMessage([SIGNED, Thinking.redacted_payload(payload), Text("So.")], origin=HERE)
    plan = prepare("anthropic/claude-opus-5", [UserMessage("Hi"), message, UserMessage("Go on.")])
    assert plan.body["messages"][1]["content"] == [  # type: ignore[index, call-overload]
        {"type": "thinking", "thinking": "Hm,  \n", "signature": "Eq+/9w=="},
        {"type": "redacted_thinking", "data": "EvAF+/9z8="},
        {"type": "text", "text": "So."},
    ]
    assert plan.notices == ()


def test_a_payload_that_is_none_of_claudes_is_left_out() -> None:
    message = AssistantMessage([Thinking.redacted_payload("AAH/+oA="), Text("So.")], origin=HERE)
    plan = prepare("anthropic/claude-opus-5", [UserMessage("Hi"), message, UserMessage("Go on.")])
    assert [notice.code for notice in plan.notices] == ["thinking_omitted"]


@pytest.mark.parametrize("data", ["EvAF+/9z8=", "größe", ""])
def test_a_payload_survives_the_way_there_and_back(data: str) -> None:
    there = payload_for("bedrock-converse", data, "anthropic-messages")
    assert there is not None
    assert payload_for("anthropic-messages", there, "bedrock-converse") == data
    assert payload_for("bedrock-converse", data, "bedrock-converse") == data


@pytest.mark.parametrize(
    ("origin", "model"),
    [
        (Origin("bedrock-converse", "bedrock", "amazon.nova-2-lite-v1:0"), f"bedrock/{CLAUDE}"),
        (HERE, "bedrock/amazon.nova-2-lite-v1:0"),
        (Origin("gemini", "google", "gemini-3-pro"), f"bedrock/{CLAUDE}"),
        (Origin("openai-responses", "openai", "gpt-5.5"), "bedrock/openai.gpt-5.5"),
        (Origin("bedrock-converse", "bedrock", "openai.gpt-5.5"), "bedrock/amazon.nova-2-lite-v1:0"),
    ],
)
def test_thinking_of_another_vendor_is_left_out_as_a_whole(origin: Origin, model: str) -> None:
    assert sent(SIGNED, Text("So."), origin=origin, model=model) == ([{"text": "So."}], ["thinking_omitted"])


def test_thinking_of_the_same_vendor_stays() -> None:
    origin = Origin("bedrock-converse", "bedrock", "us.openai.gpt-5.5")
    assert sent(SIGNED, origin=origin, model="bedrock/openai.gpt-6-sol") == ([reasoning("Hm,  \n", "Eq+/9w==")], [])


def test_thinking_of_a_model_behind_an_arn_stays_with_it() -> None:
    arn = "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc"
    message = AssistantMessage([SIGNED, Text("So.")], origin=Origin("bedrock-converse", "bedrock", arn))
    for base_model in (None, CLAUDE):
        target = Model("bedrock", arn, protocol="bedrock-converse", base_model=base_model)
        switched = for_target([message], target)
        assert (switched.messages, switched.notices) == ((message,), ())


def test_the_realms_of_bedrock_are_its_vendors_and_claudes_is_one_everywhere() -> None:
    claude = signing_realm("anthropic-messages", "anthropic", "claude-opus-5")
    assert signing_realm("bedrock-converse", "bedrock", f"us.{CLAUDE}") == claude
    nova = signing_realm("bedrock-converse", "bedrock", "amazon.nova-2-lite-v1:0")
    assert nova not in (claude, signing_realm("bedrock-converse", "bedrock", "openai.gpt-5.5"))
