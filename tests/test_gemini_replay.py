"""Answers go back as they came: every part in its place, each signature on its own part, nothing half."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from support.gemini_streams import call, chunk, partial, text, thought
from support.gemini_wire import ORIGIN, VERTEX, read, write
from thinkaloud import codec
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage, Conversation, Origin, StopReason, ToolResult, UserMessage
from thinkaloud.models.model import Model

STAND_IN = "skip_thought_signature_validator"
CODE = {"executableCode": {"language": "PYTHON", "code": "2+2"}, "thoughtSignature": "Y29kZQ=="}
SEARCH = {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB", "args": {}}, "thoughtSignature": "c2Vh"}
CLAUDE = Origin("anthropic-messages", "anthropic", "claude-x")


def history(message: AssistantMessage) -> list[Any]:
    results = [ToolResult(call.id, "done") for call in message.tool_calls]
    return [UserMessage("Hi"), message, *results, UserMessage("Go on")]


def replayed(message: AssistantMessage, **how: Any) -> Any:
    """The parts of the model's turn as they are sent back."""
    written = write(history(message), **how)
    turns = [content["parts"] for content in written.contents if content["role"] == "model"]
    return turns[0] if turns else None


@pytest.mark.parametrize(
    "parts",
    [
        [thought("Hm."), text("Paris.", "c2ln")],
        [text("The capital is"), text(" Paris.", "c2ln")],
        [text("Answer"), text("", "c2ln")],
        [thought("Hm.", "dGhv"), text("A", "b25l"), text("B")],
        [thought("Hm."), text("", "c2ln")],
        [call("add", "c2ln", id="c1", args={"a": 10**30}), call("add", id="c2", args={})],
        [call("now", "Y2FsbA==", id="c1", args={}), text("", "c2ln")],
        [call("add", "c2ln", args={"a": 1})],
        [CODE, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4"}}, text("Four.", "c2ln")],
        [SEARCH, call("add", "c2ln", id="c1", args={"a": 1})],
        [text("A", partMetadata={"n": 1}), text("B")],
        [
            {
                "functionCall": {"id": "c1", "name": "now", "args": {}, "hint": 1},
                "thought": True,
                "thoughtSignature": "a",
            }
        ],
        [{"inlineData": {"mimeType": "image/png", "data": "aGk="}, "thoughtSignature": "aW1n"}],
    ],
    ids=str,
)
def test_what_came_goes_back_part_by_part(parts: list[dict[str, Any]]) -> None:
    message = read(*(chunk(part) for part in parts), chunk(finish="STOP")).message
    assert replayed(message) == parts
    stored = codec.loads(codec.dumps(message))
    assert isinstance(stored, AssistantMessage)
    assert replayed(stored) == parts


def test_unsigned_neighbours_go_back_in_one_piece() -> None:
    message = read(chunk(text("Fo")), chunk(text("ur")), chunk(text("", "c2ln"), finish="STOP")).message
    assert replayed(message) == [text("Four"), text("", "c2ln")]


def test_streamed_arguments_go_back_whole() -> None:
    message = read(
        chunk(call("note", "c2ln", willContinue=True)),
        chunk(partial("$.a", stringValue="x", willContinue=True)),
        chunk(partial("$.a", stringValue="y")),
        chunk(call()),
        chunk(finish="STOP"),
    ).message
    assert replayed(message) == [call("note", "c2ln", args={"a": "xy"})]


def test_the_result_has_the_id_and_the_name_that_the_server_knows() -> None:
    message = read(chunk(call("now", "c2ln"), call("then", id="c2")), chunk(finish="STOP")).message
    results = write(history(message)).contents[2]["parts"]
    assert [result["functionResponse"] for result in results] == [
        {"name": "now", "response": {"output": "done"}},
        {"id": "c2", "name": "then", "response": {"output": "done"}},
    ]


def test_signatures_are_sent_as_they_are_kept() -> None:
    signature = "a+b/c-d_ZQ=="
    assert replayed(AssistantMessage([Text("A", signature=signature)], origin=ORIGIN)) == [text("A", signature)]


@pytest.mark.parametrize("signed_from", [99, -5, True, "x", None, 1])
def test_an_odd_note_of_where_a_part_began_loses_nothing(signed_from: Any) -> None:
    block = Text("Answer", signature="c2ln", extra={"signed_from": signed_from})
    parts = replayed(AssistantMessage([block], origin=ORIGIN))
    assert "".join(part["text"] for part in parts) == "Answer"
    assert [part.get("thoughtSignature") for part in parts][-1] == "c2ln"


# what is left out


def test_what_was_cut_off_is_never_sent() -> None:
    message = AssistantMessage(
        [
            Thinking("Hm", complete=False),
            Text("So f", complete=False),
            ToolCall("c1", name="a", arguments_json='{"x', complete=False),
            Text("Kept."),
        ],
        origin=ORIGIN,
        stop_reason=StopReason.LENGTH,
    )
    written = write(history(message))
    assert written.contents[1]["parts"] == [{"text": "Kept."}]
    assert written.codes == [
        ("thinking_omitted", "messages[1].content[0]"),
        ("block_omitted", "messages[1].content[1]"),
        ("block_omitted", "messages[1].content[2]"),
    ]


def test_a_call_whose_arguments_are_no_object_is_left_out_with_its_result() -> None:
    message = AssistantMessage([Text("A"), ToolCall("c1", name="a", arguments_json="[1]")], origin=ORIGIN)
    written = write([UserMessage("Hi"), message, ToolResult("c1", "x"), UserMessage("Go on")])
    assert len(written.contents) == 3
    assert [code for code, _ in written.codes] == ["block_omitted", "result_omitted"]


def test_parts_that_the_server_refuses_are_left_out() -> None:
    message = AssistantMessage(
        [
            Opaque("gemini", kind="thoughtSignature", data={"thoughtSignature": "c2ln"}),
            Opaque("gemini", kind="toolCall", data={"toolCall": {"id": "m1"}}),
            Thinking.redacted_payload("c2ln"),
            Text(""),
            Text("Kept."),
        ],
        origin=ORIGIN,
    )
    written = write(history(message))
    assert written.contents[1]["parts"] == [{"text": "Kept."}]
    assert sorted(code for code, _ in written.codes) == ["block_omitted", "block_omitted", "thinking_omitted"]


def test_a_message_of_which_nothing_is_left_is_not_sent() -> None:
    assert replayed(AssistantMessage([Text("")], origin=ORIGIN)) is None


# other origins


@pytest.mark.parametrize("model", ["google/gemini-3.5-flash", "google/gemini-9-new"])
def test_a_call_made_elsewhere_gets_the_documented_stand_in(model: str) -> None:
    message = AssistantMessage(
        [
            Thinking.signed("Hm.", "sig-claude"),
            ToolCall("toolu_1", name="f", arguments_json='{"a":1}'),
            ToolCall("toolu_2", name="g", arguments_json="{}"),
        ],
        origin=CLAUDE,
    )
    written = write(history(message), model)
    assert written.contents[1]["parts"] == [
        call("f", STAND_IN, id="toolu_1", args={"a": 1}),
        call("g", id="toolu_2", args={}),
    ]
    assert [code for code, _ in written.codes] == ["thinking_omitted", "signature_replaced"]


def test_older_models_need_no_stand_in() -> None:
    message = AssistantMessage([ToolCall("c1", name="f", arguments_json="{}")], origin=CLAUDE)
    assert replayed(message, model="google/gemini-2.5-pro") == [call("f", id="c1", args={})]


def test_signatures_of_the_other_surface_are_replaced() -> None:
    message = read(chunk(thought("Hm.", "dGhv"), text("A", "c2ln"), CODE, SEARCH, call("f", "Y2FsbA=="))).message
    message = evolve(message, origin=VERTEX, stop_reason=StopReason.TOOL_USE)
    message = evolve(message, content=[evolve(block, complete=True) for block in message.content], content_digest=None)
    written = write(history(message))
    assert written.contents[1]["parts"] == [text("A"), call("f", STAND_IN, id="call_r1_1", args={})]


def test_signatures_of_another_model_of_the_same_surface_stay() -> None:
    message = read(chunk(call("f", "Y2FsbA==", id="c1")), chunk(finish="STOP")).message
    assert replayed(message, model="google/gemini-3.8-flash") == [call("f", "Y2FsbA==", id="c1", args={})]


# a paused answer


def pause(words: str, token: str) -> AssistantMessage:
    return read(chunk(text(words), finish="CONTINUATION", continuationToken=token)).message


def test_a_paused_answer_at_the_end_goes_on_by_its_token() -> None:
    written = write([UserMessage("Write."), pause("One", "b25l"), pause("Two", "dHdv")])
    assert written.contents == [{"role": "user", "parts": [{"text": "Write."}]}]
    assert written.body["continuationToken"] == "dHdv"


def test_a_paused_answer_within_a_history_is_sent_like_any_other() -> None:
    written = write([UserMessage("Write."), pause("One", "b25l"), UserMessage("Stop.")])
    assert [content["parts"][0]["text"] for content in written.contents] == ["Write.", "One", "Stop."]
    assert "continuationToken" not in written.body


def test_a_token_of_another_service_is_not_used() -> None:
    written = write([UserMessage("Write."), evolve(pause("One", "b25l"), origin=VERTEX)])
    assert "continuationToken" not in written.body


def test_a_stored_conversation_sends_the_same_request() -> None:
    message = read(chunk(thought("Hm."), call("f", "Y2FsbA==", args={"a": 1})), chunk(finish="STOP")).message
    conversation = Conversation(history(message), system="S")
    model = Model("google", "gemini-3.5-flash")
    stored = codec.loads(codec.dumps(conversation))
    assert isinstance(stored, Conversation)
    assert write(stored, model).body == write(conversation, model).body
