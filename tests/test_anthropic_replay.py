"""What a model answered goes back block by block as it came, or not at all and with a notice."""

from __future__ import annotations

from typing import Any

import pytest

from support.anthropic_wire import closing, delta, end, opening, read, start, text, thinking, tool_use
from thinkaloud.content import Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage, Message, Origin, ToolResult, UserMessage
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.turns import turns, wire_id

CLAUDE = Origin("anthropic-messages", "anthropic", "claude-opus-5")
BEDROCK = Origin("bedrock-converse", "bedrock", "anthropic.claude-opus-5")
GEMINI = Origin("gemini", "google", "gemini-3-pro")


def answer(*blocks: Any, origin: Origin = CLAUDE) -> AssistantMessage:
    return AssistantMessage(blocks, origin=origin)


def sent(*messages: Message) -> tuple[Any, list[tuple[str, str]]]:
    """The turns, and code and path of every notice."""
    written, notices = turns((UserMessage("q"), *messages))
    assert all(isinstance(notice, Notice) and notice.text for notice in notices)
    return written[1:], [(notice.code, notice.path) for notice in notices]


def content(*blocks: Any, origin: Origin = CLAUDE) -> Any:
    (turn,), notices = sent(answer(*blocks, origin=origin))
    assert notices == []
    return turn["content"]


def test_what_was_streamed_goes_back_as_it_came() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"encrypted_content": "e+/="}]}
    cited = {"type": "char_location", "cited_text": "x", "file_id": None}
    message = read(
        start(),
        thinking(0, "first ", signature="EqQB+/=="),
        [opening(1, type="redacted_thinking", data="b3BhcXVl+/=="), closing(1)],
        thinking(2, signature="withheld"),
        [opening(3, **search), delta(3, type="input_json_delta", partial_json='{"q":1.5}'), closing(3)],
        [opening(4, **found), closing(4)],
        [*text(4, "It is so.")[:2], delta(4, type="citations_delta", citation=cited), closing(4)],
        thinking(5, "again", signature="s2"),
        tool_use(6, '{"n":123456789012345678901234567890}', caller={"type": "direct"}),
        end("tool_use"),
    ).message
    (turn,), notices = sent(message)
    assert turn == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "first ", "signature": "EqQB+/=="},
            {"type": "redacted_thinking", "data": "b3BhcXVl+/=="},
            {"type": "thinking", "thinking": "", "signature": "withheld"},
            {**search, "input": {"q": 1.5}},
            found,
            {"type": "text", "text": "It is so.", "citations": [cited]},
            {"type": "thinking", "thinking": "again", "signature": "s2"},
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "add",
                "input": {"n": 123456789012345678901234567890},
                "caller": {"type": "direct"},
            },
        ],
    }
    assert notices == []


def test_unmodelled_fields_go_back_on_their_block() -> None:
    assert content(
        Thinking("a", signature="s", extra={"novel": 1}), Text("b", extra={"novel": 2}), Text("c", signature="t")
    ) == [
        {"type": "thinking", "thinking": "a", "signature": "s", "novel": 1},
        {"type": "text", "text": "b", "novel": 2},
        {"type": "text", "text": "c", "signature": "t"},
    ]


@pytest.mark.parametrize("signature", [None, ""])
def test_thinking_without_a_signature_is_omitted_and_never_written_as_text(signature: str | None) -> None:
    (turn,), notices = sent(answer(Thinking("half a tho", signature=signature), Text("So")))
    assert turn["content"] == [{"type": "text", "text": "So"}]
    assert notices == [("thinking_omitted", "messages[1].content[0]")]


def test_a_message_of_nothing_but_omitted_blocks_vanishes_and_its_neighbours_join() -> None:
    written, notices = turns((UserMessage("a"), answer(Thinking("t")), UserMessage("b")))
    assert [turn["role"] for turn in written] == ["user"]
    assert [notice.code for notice in notices] == ["thinking_omitted"]


def test_an_answer_of_which_only_thinking_is_left_is_omitted_and_its_neighbours_join() -> None:
    aborted = answer(
        Thinking("t", signature="s"),
        Thinking.redacted_payload("cmVk"),
        ToolCall("a", name="f", arguments_json='{"x":', complete=False),
    )
    written, notices = turns((UserMessage("a"), aborted, ToolResult("a", "never run"), UserMessage("b")))
    both = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert written == [{"role": "user", "content": both}]
    assert [(notice.code, notice.path) for notice in notices] == [
        ("block_omitted", "messages[1].content[2]"),
        ("result_omitted", "messages[2]"),
        ("thinking_omitted", "messages[1]"),
    ]


def test_thinking_that_the_next_answer_goes_on_from_is_sent() -> None:
    written, notices = sent(answer(Thinking("t", signature="s")), answer(Text("so")))
    assert [[block["type"] for block in turn["content"]] for turn in written] == [["thinking", "text"]]
    assert notices == []


def test_thinking_that_results_of_tools_follow_is_sent() -> None:
    written, notices = sent(answer(Thinking("t", signature="s")), ToolResult("a", "r"))
    assert [turn["content"][0]["type"] for turn in written] == ["thinking", "tool_result"]
    assert notices == []


def test_blocks_that_were_cut_off_are_omitted() -> None:
    written, notices = sent(
        answer(
            Text("whole"),
            Thinking("t", signature="s", complete=False),
            Text("half", complete=False),
            Opaque("anthropic-messages", kind="novelty", data={"type": "novelty"}, complete=False),
            ToolCall("a", name="f", arguments_json='{"x":', complete=False),
        ),
        ToolResult("a", "never run"),
    )
    assert written == [{"role": "assistant", "content": [{"type": "text", "text": "whole"}]}]
    assert notices == [
        ("thinking_omitted", "messages[1].content[1]"),
        ("block_omitted", "messages[1].content[2]"),
        ("block_omitted", "messages[1].content[3]"),
        ("block_omitted", "messages[1].content[4]"),
        ("result_omitted", "messages[2]"),
    ]


@pytest.mark.parametrize("arguments", ['{"x":', "[1]", "7", '{"x": 1e999}', '{"x":' * 300 + "1" + "}" * 300])
def test_a_call_whose_arguments_are_no_object_is_omitted_with_its_result(arguments: str) -> None:
    written, notices = sent(
        answer(Text("x"), ToolCall("a", name="f", arguments_json=arguments), ToolCall("b", name="f")),
        ToolResult("a", "error"),
        ToolResult("b", "ok"),
    )
    assert [block.get("id") for block in written[0]["content"]] == [None, "b"]
    assert [block["tool_use_id"] for block in written[1]["content"]] == ["b"]
    assert notices == [("block_omitted", "messages[1].content[1]"), ("result_omitted", "messages[2]")]


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert content(ToolCall("a", name="f")) == [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]


def test_empty_text_is_dropped_silently() -> None:
    assert content(Text(""), Text(" \n"), Text("a")) == [{"type": "text", "text": "a"}]


def test_a_pause_and_its_continuation_are_one_turn() -> None:
    use = Opaque("anthropic-messages", kind="server_tool_use", data={"type": "server_tool_use", "id": "s"})
    found = Opaque("anthropic-messages", kind="web_search_tool_result", data={"type": "web_search_tool_result"})
    written, _ = sent(answer(use), answer(found, Text("so")))
    assert [[block["type"] for block in turn["content"]] for turn in written] == [
        ["server_tool_use", "web_search_tool_result", "text"]
    ]


def test_signatures_of_claude_on_bedrock_are_valid_here_without_its_other_fields() -> None:
    assert content(Thinking("a", signature="s", extra={"of": "bedrock"}), Text("b"), origin=BEDROCK) == [
        {"type": "thinking", "thinking": "a", "signature": "s"},
        {"type": "text", "text": "b"},
    ]


def test_nothing_signed_by_another_protocol_is_sent() -> None:
    foreign = answer(
        Thinking("gem thought", signature="Z2VtU2ln"),
        Text("t", signature="Z2VtU2ln", citations=({"of": "gemini"},), extra={"of": "gemini"}),
        ToolCall("fc-1", name="f", signature="Z2VtU2ln", extra={"of": "gemini"}),
        Opaque("gemini", kind="executableCode", data={"code": "x"}),
        origin=GEMINI,
    )
    (turn,), notices = sent(foreign)
    assert turn["content"] == [
        {"type": "text", "text": "t"},
        {"type": "tool_use", "id": "fc-1", "name": "f", "input": {}},
    ]
    assert notices == [("thinking_omitted", "messages[1].content[0]"), ("block_omitted", "messages[1].content[3]")]


def test_blocks_in_the_wrong_kind_of_message_are_omitted() -> None:
    written, notices = turns((UserMessage((Text("a"), Thinking("t", signature="s"))), answer(Image("aWE="), Text("b"))))  # type: ignore[arg-type]
    assert [turn["content"] for turn in written] == [[{"type": "text", "text": "a"}], [{"type": "text", "text": "b"}]]
    assert [notice.code for notice in notices] == ["thinking_omitted", "block_omitted"]


# ids


@pytest.mark.parametrize("id", ["toolu_01ABC-x", "call_1", "a" * 64])
def test_ids_in_the_api_s_own_characters_stay(id: str) -> None:
    assert wire_id(id) == id


@pytest.mark.parametrize("id", ["functions.f:0", "a" * 65, "", "call 1", "tooluse_ü", "toolu_1\n", "\ud800"])
def test_other_ids_are_rewritten_alike_for_call_and_result(id: str) -> None:
    written, _ = sent(answer(ToolCall(id, name="f")), ToolResult(id, "r"))
    new = written[0]["content"][0]["id"]
    assert new == written[1]["content"][0]["tool_use_id"]
    assert wire_id(new) == new != id


def test_different_ids_stay_different() -> None:
    assert len({wire_id(id) for id in ("a.b", "a:b", "a_b", "a" * 70 + "x", "a" * 70 + "y")}) == 5


# fallback


def fallback(first: str = "a", second: str = "b") -> Opaque:
    data: Any = {"type": "fallback", "from": {"model": first}, "to": {"model": second}}
    return Opaque("anthropic-messages", kind="fallback", data=data)


def server_use(id: str) -> Opaque:
    return Opaque("anthropic-messages", kind="server_tool_use", data={"type": "server_tool_use", "id": id})


def test_what_refused_models_thought_and_called_is_left_out_before_the_last_fallback() -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "s1"}
    written, notices = sent(
        answer(
            Thinking("refused", signature="s"),
            Thinking.redacted_payload("cmVk"),
            Text("kept"),
            ToolCall("gone", name="f"),
            server_use("s1"),
            Opaque("anthropic-messages", kind="web_search_tool_result", data=found),
            server_use("unanswered"),
            fallback("a", "b"),
            Thinking("refused too", signature="s"),
            fallback("b", "c"),
            Thinking("serving", signature="s"),
            ToolCall("kept", name="f"),
            server_use("pending"),
        ),
        ToolResult("gone", "1"),
        ToolResult("kept", "2"),
    )
    kinds = [(block["type"], block.get("id")) for block in written[0]["content"]]
    assert kinds == [
        ("text", None),
        ("server_tool_use", "s1"),
        ("web_search_tool_result", None),
        ("fallback", None),
        ("fallback", None),
        ("thinking", None),
        ("tool_use", "kept"),
        ("server_tool_use", "pending"),
    ]
    assert [block["tool_use_id"] for block in written[1]["content"]] == ["kept"]
    assert [code for code, _ in notices] == [
        "thinking_omitted",
        "thinking_omitted",
        "block_omitted",
        "block_omitted",
        "thinking_omitted",
        "result_omitted",
    ]


def test_a_fallback_first_in_its_message_changes_nothing() -> None:
    assert len(content(fallback(), Thinking("a", signature="s"), Text("b"))) == 3


def test_odd_data_of_an_opaque_block_is_no_obstacle() -> None:
    odd = Opaque("anthropic-messages", kind="novelty", data={"tool_use_id": ["x"], "id": {}})
    endless = Opaque("anthropic-messages", kind="novelty", data={"n": float("inf")})
    written, notices = sent(answer(odd, server_use("s"), endless, fallback()))
    assert [block.get("type") for block in written[0]["content"]] == [None, "fallback"]
    assert [code for code, _ in notices] == ["block_omitted", "block_omitted"]
