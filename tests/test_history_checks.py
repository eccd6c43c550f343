"""A history is checked before any call, and what cannot go to a model is left out with its place in the history."""

from __future__ import annotations

import pytest
from attrs import evolve

import thinkaloud as ta

CLAUDE = "anthropic/claude-opus-5"
ORIGIN = ta.Origin("anthropic-messages", "anthropic", "claude-opus-5")
USER = ta.UserMessage("hi")
CALL = ta.ToolCall("c1", name="look", arguments_json="{}")


def issues(*messages: ta.Message) -> list[tuple[str, str]]:
    return [(issue.code, issue.path) for issue in ta.validate(ta.Conversation(messages))]


def codes(plan: ta.Plan) -> list[tuple[str, str]]:
    return [(notice.code, notice.path) for notice in plan.notices]


def test_a_sound_history_has_no_issue() -> None:
    answer = ta.AssistantMessage([ta.Thinking.signed("t", "s"), CALL], origin=ORIGIN)
    assert issues(USER, answer, ta.ToolResult("c1", "found"), USER) == []


@pytest.mark.parametrize("block", [ta.Thinking("t"), CALL])
def test_a_user_message_cannot_hold_what_a_model_says(block: ta.AssistantBlock) -> None:
    assert issues(ta.UserMessage([block])) == [("misplaced_block", "messages[0].content[0]")]  # type: ignore[list-item]


def test_redacted_thinking_has_no_text() -> None:
    message = ta.AssistantMessage([ta.Thinking("t", redacted_data="d")])
    assert issues(USER, message, USER) == [("redacted_with_text", "messages[1].content[0]")]


def test_thinking_without_anything_is_an_issue_only_where_a_person_built_it() -> None:
    assert issues(USER, ta.AssistantMessage([ta.Thinking()])) == [("empty_thinking", "messages[1].content[0]")]
    assert issues(USER, ta.AssistantMessage([ta.Thinking()], origin=ORIGIN)) == []


def test_an_edited_signed_block_is_found_by_its_digest() -> None:
    fold = ta.Accumulator()
    fold.add_all(ta.replay_events(ta.AssistantMessage([ta.Thinking.signed("t", "s")], stop_reason=ta.StopReason.END)))
    message = fold.message()
    assert issues(USER, message) == []
    edited = ta.AssistantMessage([ta.Thinking.signed("T", "s")], content_digest=message.content_digest)
    assert issues(USER, edited) == [("content_edited", "messages[1].content[0]")]


def test_calls_and_results_must_fit() -> None:
    answer = ta.AssistantMessage([CALL])
    result = ta.ToolResult("c1", "found")
    assert issues(USER, answer, USER) == [("call_without_result", "messages[1].content[0]")]
    assert issues(USER, answer) == [("call_without_result", "messages[1].content[0]")]
    assert issues(USER, result) == [("result_without_call", "messages[1]")]
    assert issues(USER, answer, result, result) == [("duplicate_result", "messages[3]")]
    assert issues(USER, ta.AssistantMessage([CALL, CALL]), result) == [
        ("duplicate_call_id", "messages[1].content[1]"),
    ]


def test_two_calls_of_a_server_with_one_id_are_no_fault_of_the_user() -> None:
    assert issues(USER, ta.AssistantMessage([CALL, CALL], origin=ORIGIN), ta.ToolResult("c1", "found")) == []


def test_a_history_error_lists_every_issue_before_any_call() -> None:
    with pytest.raises(ta.HistoryError, match=r"messages\[1\]\.content\[0\]") as caught:
        ta.prepare(CLAUDE, [USER, ta.AssistantMessage([CALL]), USER])
    assert [issue.code for issue in caught.value.issues] == ["call_without_result"]


@pytest.mark.parametrize("stop_reason", [ta.StopReason.ERROR, ta.StopReason.ABORTED])
def test_calls_of_an_answer_that_was_cut_off_need_no_results(stop_reason: ta.StopReason) -> None:
    cut = ta.AssistantMessage([ta.Text("so"), CALL], origin=ORIGIN, stop_reason=stop_reason)
    plan = ta.prepare(CLAUDE, [USER, cut, USER])
    assert codes(plan) == [("block_omitted", "messages[1].content[1]")]
    assert "c1" not in plan.request.body.decode()


def test_foreign_thinking_is_left_out_whole_and_named_by_its_place() -> None:
    foreign = ta.AssistantMessage(
        [ta.Text("a", signature="gs"), ta.Thinking.signed("t", "s"), ta.Text("b"), ta.Thinking("u", complete=False)],
        origin=ta.Origin("gemini", "google", "gemini-3-pro"),
    )
    plan = ta.prepare(CLAUDE, [USER, foreign, USER])
    assert codes(plan) == [
        ("signature_omitted", "messages[1].content[0]"),
        ("thinking_omitted", "messages[1].content[1]"),
        ("thinking_omitted", "messages[1].content[3]"),
    ]
    body = plan.request.body.decode()
    assert '"s"' not in body
    assert "gs" not in body


def test_a_notice_of_the_encoder_has_its_place_in_the_history_as_it_was_given() -> None:
    cut = ta.AssistantMessage(
        [CALL, ta.Text("so"), ta.Thinking("open", complete=False)], origin=ORIGIN, stop_reason=ta.StopReason.ABORTED
    )
    plan = ta.prepare(CLAUDE, [USER, cut, USER])
    assert codes(plan) == [
        ("block_omitted", "messages[1].content[0]"),
        ("thinking_omitted", "messages[1].content[2]"),
    ]


def test_a_history_is_never_changed() -> None:
    foreign = ta.AssistantMessage([ta.Thinking("t"), ta.Text("a")], origin=ta.Origin("gemini", "google", "g"))
    ta.prepare(CLAUDE, [USER, foreign, USER])
    assert foreign.content == (ta.Thinking("t"), ta.Text("a"))


# more of what a history cannot have


def test_a_result_before_its_call_is_told_apart_from_one_without() -> None:
    answer = ta.AssistantMessage([CALL], origin=ORIGIN)
    assert issues(USER, ta.ToolResult("c1", "found"), answer, ta.ToolResult("c1", "found")) == [
        ("result_before_call", "messages[1]")
    ]


def test_ids_of_calls_that_a_person_wrote_differ_in_the_whole_history() -> None:
    answer, result = ta.AssistantMessage([CALL]), ta.ToolResult("c1", "found")
    assert issues(USER, answer, result, answer, result) == [("duplicate_call_id", "messages[3].content[0]")]
    made = ta.AssistantMessage([CALL], origin=ORIGIN, stop_reason=ta.StopReason.TOOL_USE)
    assert issues(USER, made, result, made, result) == []


def test_messages_without_content_are_an_issue_only_where_a_person_built_them() -> None:
    assert issues(ta.UserMessage([])) == [("empty_message", "messages[0]")]
    assert issues(USER, ta.AssistantMessage()) == [("empty_message", "messages[1]")]
    assert issues(USER, ta.AssistantMessage(origin=ORIGIN)) == []


PICTURE = ta.UserMessage([ta.Image("aGk=", media_type="image/png")])
PAPER = ta.UserMessage([ta.Document("aGk=", media_type="application/pdf")])
BLIND = ta.Model("anthropic", "claude-opus-5", input=("text",))


def found(model: ta.Model | str, *messages: ta.Message) -> list[tuple[str, str]]:
    return [(issue.code, issue.path) for issue in ta.validate(messages, model)]


def test_images_and_documents_are_refused_where_a_model_is_known_to_take_none() -> None:
    assert found(BLIND, PICTURE) == [("unsupported_image", "messages[0].content[0]")]
    assert found(BLIND, PAPER) == [("unsupported_document", "messages[0].content[0]")]
    assert found(BLIND, ta.UserMessage([ta.Document.from_text("notes")])) == []
    assert found(CLAUDE, PICTURE, PAPER) == []
    with pytest.raises(ta.HistoryError, match="claude-opus-5 takes no images"):
        ta.prepare(BLIND, [PICTURE])


def test_a_fact_that_is_not_sure_refuses_nothing() -> None:
    assert found(ta.Model("anthropic", "claude-opus-5", input=("text",), unsure=("input",)), PICTURE, PAPER) == []
    assert found(ta.Model("anthropic", "claude-of-tomorrow"), PICTURE, PAPER) == []
    by_service = ta.Model("x", "y", protocol="bedrock-converse", base_url="https://a.example", input=("text",))
    assert found(by_service, PAPER) == []  # Converse reads documents for its models


@pytest.mark.parametrize(
    ("block", "code"),
    [
        (ta.Image("aGk=", media_type="image/tiff"), "unsupported_image"),
        (ta.Document("aGk=", media_type="application/msword"), "unsupported_document"),
    ],
)
def test_media_types_that_a_protocol_has_no_form_for_are_refused(block: ta.UserBlock, code: str) -> None:
    assert found(CLAUDE, ta.UserMessage([block])) == [(code, "messages[0].content[0]")]
    assert found(CLAUDE, ta.AssistantMessage([CALL]), ta.ToolResult("c1", [block])) == [
        (code, "messages[1].content[0]")
    ]
    assert found("google/gemini-3-pro", ta.UserMessage([block])) == []


def test_a_digest_of_another_version_is_not_judged() -> None:
    newer = ta.AssistantMessage([ta.Thinking.signed("t", "s")], content_digest="v9:other", origin=ORIGIN)
    assert issues(USER, newer) == []


def test_tampering_is_found_whatever_was_done() -> None:
    fold = ta.Accumulator()
    blocks: list[ta.AssistantBlock] = [ta.Thinking.signed("a", "sa"), ta.Thinking.signed("b", "sb"), ta.Text("so")]
    fold.add_all(ta.replay_events(ta.AssistantMessage(blocks, origin=ORIGIN, stop_reason=ta.StopReason.END)))
    message = fold.message()
    one, other, text = message.content
    tampered: list[tuple[tuple[ta.AssistantBlock, ...], int]] = [
        ((ta.Thinking.signed("A", "sa"), other, text), 0),
        ((one, ta.Thinking.signed("b", "xx"), text), 1),
        ((one, text), 1),
        ((other, one, text), 0),
        ((text, one, other), 0),
        ((one, text, other), 1),
        ((ta.Thinking.signed("a", "sb"), ta.Thinking.signed("b", "sa"), text), 0),
    ]
    for content, place in tampered:
        changed = evolve(message, content=content)
        assert issues(USER, changed) == [("content_edited", f"messages[1].content[{place}]")]
    assert issues(USER, evolve(message, content=(one,))) == [("content_edited", "messages[1]")]
    assert issues(USER, evolve(message, content=(one, other, ta.Text("edited")))) == []
