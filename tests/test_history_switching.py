"""What becomes of each block when a history goes to another model: one table, one notice for each loss."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

import thinkaloud as ta
from support.targets import TARGETS, body_of, prepared, strings_in, told
from thinkaloud.models.signing import signing_realm

CLAUDE, GPT, GEMINI = TARGETS["anthropic-messages"], TARGETS["openai-responses"], TARGETS["gemini"]
BEDROCK, DEEPSEEK = TARGETS["bedrock-converse"], TARGETS["openai-chat"]

OF_CLAUDE = ta.Origin("anthropic-messages", "anthropic", "claude-opus-5")
OF_BEDROCK = ta.Origin("bedrock-converse", "bedrock", "us.anthropic.claude-sonnet-4-6")
OF_NOVA = ta.Origin("bedrock-converse", "bedrock", "amazon.nova-2-lite-v1:0")
OF_GPT = ta.Origin("openai-responses", "openai", "gpt-5.5")
OF_AZURE = ta.Origin("openai-responses", "azure", "gpt-5.5")
OF_GEMINI = ta.Origin("gemini", "google", "gemini-3-pro")
OF_VERTEX = ta.Origin("gemini", "google-vertex", "gemini-3-pro")
OF_DEEPSEEK = ta.Origin("openai-chat", "deepseek", "deepseek-v4-pro")
OF_MINIMAX = ta.Origin("anthropic-messages", "minimax", "MiniMax-M2")

SIGNED = ta.Thinking.signed("I look.", "c2lnbmVk")
WITHHELD = ta.Thinking("", signature="d2l0aGhlbGQ=")
REDACTED = ta.Thinking.redacted_payload("cmVkYWN0ZWQ=")
OPEN = ta.Thinking("in the open")
CALL = ta.ToolCall("c1", name="look", arguments_json='{"at":"sky"}', signature="Y2FsbA==")
RESULT = ta.ToolResult("c1", "blue")


def going(
    target: ta.Model, origin: ta.Origin, *blocks: ta.AssistantBlock, switch: ta.SwitchPolicy | None = None
) -> ta.Plan:
    """The plan of the turn after an answer of these blocks, which had calls or not."""
    called = [ta.ToolResult(block.id, "blue") for block in blocks if isinstance(block, ta.ToolCall)]
    answer = ta.AssistantMessage(blocks, origin=origin, stop_reason=ta.StopReason.END)
    return prepared(target, ["hi", answer, *called, "go on"], switch=switch)


def sent(plan: ta.Plan) -> list[str]:
    return list(strings_in(body_of(plan)))


@pytest.mark.parametrize(
    ("origin", "target"),
    [(OF_CLAUDE, CLAUDE), (OF_CLAUDE, BEDROCK), (OF_BEDROCK, CLAUDE), (OF_BEDROCK, BEDROCK)],
)
def test_claudes_thinking_verifies_on_every_host(origin: ta.Origin, target: ta.Model) -> None:
    plan = going(target, origin, SIGNED, WITHHELD, ta.Text("so"))
    assert told(plan) == []
    assert [text for text in sent(plan) if text in ("c2lnbmVk", "d2l0aGhlbGQ=")] == ["c2lnbmVk", "d2l0aGhlbGQ="]


def test_a_redacted_payload_is_written_anew_for_the_other_kind_of_host() -> None:
    assert "Y21Wa1lXTjBaV1E9" in sent(going(BEDROCK, OF_CLAUDE, REDACTED, ta.Text("so")))
    there = ta.Thinking.redacted_payload("Y21Wa1lXTjBaV1E9")
    assert "cmVkYWN0ZWQ=" in sent(going(CLAUDE, OF_BEDROCK, there, ta.Text("so")))


@pytest.mark.parametrize(
    ("origin", "target"),
    [
        (OF_AZURE, GPT),
        (OF_VERTEX, GEMINI),
        (OF_NOVA, BEDROCK),
        (OF_MINIMAX, CLAUDE),
        (OF_GEMINI, CLAUDE),
        (OF_GPT, CLAUDE),
        (OF_CLAUDE, GPT),
        (OF_CLAUDE, GEMINI),
        (OF_CLAUDE, DEEPSEEK),
        (OF_DEEPSEEK, CLAUDE),
        (OF_GPT, DEEPSEEK),
    ],
)
def test_thinking_of_another_realm_is_left_out_whole(origin: ta.Origin, target: ta.Model) -> None:
    plan = going(target, origin, SIGNED, WITHHELD, REDACTED, OPEN, ta.Text("so"))
    assert told(plan) == [("thinking_omitted", f"messages[1].content[{place}]") for place in range(4)]
    assert [notice.detail["reason"] for notice in plan.notices if notice.code == "thinking_omitted"] == ["foreign"] * 4
    seals = {"c2lnbmVk", "d2l0aGhlbGQ=", "cmVkYWN0ZWQ=", "I look.", "in the open"}
    assert not seals & set(sent(plan))
    assert "so" in sent(plan)


def test_foreign_thinking_becomes_plain_text_only_where_the_policy_says_so() -> None:
    as_text = ta.SwitchPolicy(foreign_thinking="text")
    plan = going(CLAUDE, OF_GEMINI, OPEN, WITHHELD, SIGNED, ta.Text("so"), switch=as_text)
    assert told(plan) == [
        ("thinking_downgraded", "messages[1].content[0]"),
        ("thinking_omitted", "messages[1].content[1]"),
        ("thinking_downgraded", "messages[1].content[2]"),
    ]
    assert body_of(plan)["messages"][1]["content"] == [
        {"type": "text", "text": "in the open\n\n"},
        {"type": "text", "text": "I look.\n\n"},
        {"type": "text", "text": "so"},
    ]


def test_text_made_of_thinking_stands_apart_from_text_on_both_sides() -> None:
    as_text = ta.SwitchPolicy(foreign_thinking="text")
    plan = going(DEEPSEEK, OF_GEMINI, ta.Text("so"), OPEN, SIGNED, ta.Text("and so"), OPEN, switch=as_text)
    text = "so\n\nin the open\n\nI look.\n\nand so\n\nin the open"
    assert body_of(plan)["messages"][1]["content"] == text


@pytest.mark.parametrize("words", [{"foreign_thinking": "tags"}, {"orphans": "ignore"}])
def test_a_policy_of_unknown_words_is_refused(words: dict[str, str]) -> None:
    with pytest.raises(ta.ConfigurationError, match=next(iter(words))):
        ta.SwitchPolicy(**words)  # type: ignore[arg-type]
    with pytest.raises(ta.ConfigurationError, match="switch must be SwitchPolicy"):
        prepared(CLAUDE, "hi", switch=words)


def test_texts_and_calls_lose_foreign_signatures_and_say_so() -> None:
    plan = going(GPT, OF_GEMINI, ta.Text("so", signature="dGV4dA=="), CALL)
    assert told(plan) == [
        ("signature_omitted", "messages[1].content[0]"),
        ("signature_omitted", "messages[1].content[1]"),
    ]
    assert not {"dGV4dA==", "Y2FsbA=="} & set(sent(plan))


def test_gemini_signatures_stay_on_their_surface_and_a_stand_in_takes_their_place() -> None:
    assert "Y2FsbA==" in sent(going(GEMINI, OF_GEMINI, CALL))
    plan = going(GEMINI, OF_VERTEX, CALL)
    assert "Y2FsbA==" not in sent(plan)
    assert "skip_thought_signature_validator" in sent(plan)
    assert told(plan) == [
        ("signature_omitted", "messages[1].content[0]"),
        ("signature_replaced", "messages[1].content[0]"),
    ]


@pytest.mark.parametrize(
    ("origin", "target"),
    [(OF_VERTEX, GEMINI), (OF_GEMINI, ta.Model("google-vertex", "gemini-3-pro", protocol="gemini"))],
)
def test_a_signature_on_text_stays_on_its_surface_too(origin: ta.Origin, target: ta.Model) -> None:
    plan = going(target, origin, ta.Text("so", signature="dGV4dA=="))
    assert "dGV4dA==" not in sent(plan)
    assert told(plan) == [("signature_omitted", "messages[1].content[0]")]


def test_entries_of_one_gateway_never_go_to_another() -> None:
    detail: dict[str, Any] = {"type": "reasoning.encrypted", "data": "ZW50cnk=", "id": "rs_1", "index": 0}
    entry = ta.Opaque("openai-chat", kind="reasoning.encrypted", data=detail)
    origin = ta.Origin("openai-chat", "openrouter", "openai/gpt-5")
    thought = ta.Thinking("why", signature="c2lnbmVk", extra={"reasoning_details": [{**detail, "data": "c2lnbmVk"}]})
    call = evolve(CALL, extra={"reasoning_details": [{**detail, "data": "Y2FsbA=="}]})
    own = going(ta.Model("openrouter", "openai/gpt-5"), origin, thought, entry, call)
    assert {"ZW50cnk=", "c2lnbmVk", "Y2FsbA=="} <= set(sent(own))
    other = going(
        ta.Model("vercel", "openai/gpt-5", protocol="openai-chat", base_url="http://localhost"),
        origin,
        thought,
        entry,
        call,
    )
    assert not {"ZW50cnk=", "c2lnbmVk", "Y2FsbA=="} & set(sent(other))
    assert [code for code, _ in told(other)] == ["thinking_omitted", "block_omitted", "signature_omitted"]


def test_blocks_that_are_not_modelled_stay_where_they_were_made() -> None:
    search = ta.Opaque("anthropic-messages", kind="server_tool_use", data={"type": "server_tool_use", "id": "srv_1"})
    found = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
    result = ta.Opaque("anthropic-messages", kind="web_search_tool_result", data=found)
    blocks = (search, result, ta.Text("so"))
    assert [block["type"] for block in body_of(going(CLAUDE, OF_CLAUDE, *blocks))["messages"][1]["content"]] == [
        "server_tool_use",
        "web_search_tool_result",
        "text",
    ]
    for target, origin in ((GPT, OF_CLAUDE), (BEDROCK, OF_CLAUDE), (CLAUDE, OF_MINIMAX)):
        plan = going(target, origin, *blocks)
        assert told(plan) == [
            ("block_omitted", "messages[1].content[0]"),
            ("block_omitted", "messages[1].content[1]"),
        ]
        assert "srv_1" not in sent(plan)


def test_an_endpoint_that_takes_no_thinking_back_says_so() -> None:
    origin = ta.Origin("openai-chat", "openai", "gpt-5.5")
    model = ta.Model("openai", "gpt-5.5", protocol="openai-chat")
    plan = going(model, origin, OPEN, ta.Text("so"))
    assert told(plan) == [("thinking_omitted", "messages[1].content[0]")]


@pytest.mark.parametrize("goes", ["gemini", "openai-responses", "openai-chat", "anthropic-messages"])
def test_a_captured_answer_of_nobody_is_taken_for_what_it_is_sent_to(goes: str) -> None:
    thought = OPEN if goes == "openai-chat" else SIGNED
    plan = going(TARGETS[goes], ta.Origin(goes), thought, ta.Text("so"))
    assert told(plan) == []
    assert (thought.signature or thought.text) in sent(plan)


def test_unsigned_thinking_never_goes_to_claude() -> None:
    plan = going(CLAUDE, OF_CLAUDE, OPEN, ta.Text("so"))
    assert [notice.detail for notice in plan.notices if notice.code == "thinking_omitted"] == [{"reason": "unsigned"}]


def test_ids_are_rewritten_by_the_targets_rules_and_results_follow() -> None:
    origin = ta.Origin("openai-chat", "vllm", "qwen")
    odd = ta.ToolCall("functions.look:0|" + "x" * 90, name="look", arguments_json="{}")
    for target in TARGETS.values():
        texts = sent(going(target, origin, odd))
        ids = [text for text in texts if "look" in text and text != "look"]
        if target is DEEPSEEK:
            assert ids == [odd.id, odd.id]
        else:
            assert len(ids) in (0, 2)
            assert len(set(ids)) <= 1
            assert all(len(id) <= 64 for id in ids) or target is GEMINI


@pytest.mark.parametrize("target", [CLAUDE, BEDROCK])
def test_ids_that_a_server_counts_anew_in_each_answer_become_unique(target: ta.Model) -> None:
    answer = ta.AssistantMessage([evolve(CALL, signature=None)], origin=OF_DEEPSEEK, stop_reason=ta.StopReason.TOOL_USE)
    plan = prepared(target, ["hi", answer, RESULT, answer, RESULT, answer, RESULT])
    assert [text for text in sent(plan) if text.startswith("c1")] == ["c1", "c1", "c1_2", "c1_2", "c1_3", "c1_3"]
    changed = [notice for notice in plan.notices if notice.code == "repeated_call_id"]
    assert [(notice.path, notice.detail) for notice in changed] == [
        ("messages[3].content[0]", {"id": "c1", "given": "c1_2"}),
        ("messages[5].content[0]", {"id": "c1", "given": "c1_3"}),
    ]


def test_free_text_calls_stay_free_text_between_openais_protocols() -> None:
    call = ta.ToolCall("c1", name="run", arguments_json="print(1)", extra={"type": "custom", "id": "ctc_1"})
    chat = ta.Model("openai", "gpt-5.5", protocol="openai-chat")
    told_call = body_of(going(chat, OF_GPT, call))["messages"][1]["tool_calls"][0]
    assert told_call == {"id": "c1", "type": "custom", "custom": {"name": "run", "input": "print(1)"}}
    plan = going(CLAUDE, OF_GPT, call)
    assert [code for code, _ in told(plan)] == ["block_omitted", "result_omitted"]
    assert "c1" not in sent(plan)


def test_a_missing_result_is_made_up_where_the_policy_says_so() -> None:
    answer = ta.AssistantMessage([CALL, evolve(CALL, id="c2")], origin=OF_GEMINI, stop_reason=ta.StopReason.TOOL_USE)
    history = ["hi", answer, RESULT, "go on"]
    with pytest.raises(ta.HistoryError, match="c2"):
        prepared(CLAUDE, history)
    plan = prepared(CLAUDE, history, switch=ta.SwitchPolicy(orphans="synthesize"))
    results = body_of(plan)["messages"][2]["content"]
    assert results[1] == {
        "type": "tool_result",
        "tool_use_id": "c2",
        "content": [{"type": "text", "text": "The tool was not run: there is no result."}],
        "is_error": True,
    }
    assert ("result_synthesized", "messages[1]") in told(plan)


def test_paths_are_those_of_the_history_as_it_was_given_where_results_were_made_up() -> None:
    first = ta.AssistantMessage([CALL], origin=OF_CLAUDE, stop_reason=ta.StopReason.TOOL_USE)
    broken = ta.ToolCall("c2", name="look", arguments_json="[1]")
    second = ta.AssistantMessage([ta.Text("so"), broken], origin=OF_CLAUDE, stop_reason=ta.StopReason.TOOL_USE)
    plan = prepared(CLAUDE, ["hi", first, "go on", second], switch=ta.SwitchPolicy(orphans="synthesize"))
    assert ("block_omitted", "messages[3].content[1]") in told(plan)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("anthropic-messages anthropic claude-opus-5", "bedrock-converse bedrock eu.anthropic.claude-x", True),
        ("anthropic-messages google-vertex claude-opus-5", "anthropic-messages anthropic claude-3", True),
        ("anthropic-messages openrouter anthropic/claude-opus-5", "anthropic-messages anthropic x", True),
        ("anthropic-messages minimax MiniMax-M2", "anthropic-messages anthropic claude-3", False),
        ("openai-responses openai gpt-5.5", "openai-responses azure gpt-5.5", False),
        ("openai-responses openai gpt-5.5", "openai-responses openai o4-mini", True),
        ("gemini google gemini-3-pro", "gemini google-vertex gemini-3-pro", False),
        ("gemini gemini gemini-3-pro", "gemini google gemini-2.5-pro", True),
        ("openai-chat openrouter a/b", "openai-chat openrouter c/d", True),
        ("bedrock-converse bedrock amazon.nova-x", "bedrock-converse bedrock openai.gpt-oss", False),
    ],
)
def test_realms(one: str, other: str, same: bool) -> None:
    assert (signing_realm(*one.split()) == signing_realm(*other.split())) is same
