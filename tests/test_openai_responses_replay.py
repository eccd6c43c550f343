"""History goes back as items: thinking with what it led to, ids only where they hold, nothing that was cut off."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from support.responses_streams import BEGUN, SEARCH, called, ended, item, said, thought
from support.responses_wire import body as whole_body
from support.responses_wire import message_item, read, read_whole, reasoning_item
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage, Message, Origin, StopReason, ToolResult, UserMessage
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model
from thinkaloud.models.providers import find_provider
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.openai_responses import PROTOCOL
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions

OPENAI = Model("openai", "gpt-5.5")
ORIGIN = Origin("openai-responses", "openai", "gpt-5.5")


def request(*messages: Message, model: Model = OPENAI, dialect: Dialect | None = None, **call: Any) -> Encoded:
    dialect = dialect or find_provider(model.provider).dialect
    return PROTOCOL.encode(Call(model=model, messages=(UserMessage("q"), *messages), dialect=dialect, **call))


def items(*messages: Message, **call: Any) -> Any:
    """What follows the first question."""
    sent: Any = request(*messages, **call).body["input"]
    return sent[1:]


def codes(encoded: Encoded) -> list[tuple[str, str]]:
    return [(notice.code, notice.path) for notice in encoded.notices]


def answer(*blocks: Any, **fields: Any) -> AssistantMessage:
    return AssistantMessage(blocks, origin=fields.pop("origin", ORIGIN), **fields)


def sealed(text: str, id: str | None = "rs_1", seal: str = "c2VhbA==", **extra: Any) -> Thinking:
    return Thinking(text, signature=seal, extra={**({"id": id} if id else {}), **extra})


def test_a_streamed_answer_goes_back_item_by_item_as_it_came() -> None:
    streamed = [
        thought(0, "One.", "Two."),
        said(1, "I look: ", "here.", phase="commentary"),
        item(2, SEARCH, SEARCH),
        thought(3),
        called(4, "call_a", "add", '{"a": 1}'),
    ]
    message = read(BEGUN, *ended(*streamed)).message
    expected = [events[-1]["item"] for events in streamed]
    assert items(message, ToolResult("call_a", "1"))[:-1] == expected


def test_a_whole_answer_goes_back_as_it_came() -> None:
    output = [
        reasoning_item("a", "b", status="completed", novelty=[1]),
        message_item("Hi", phase="final_answer")
        | {"content": [{"type": "refusal", "refusal": "No."}, {"type": "novel", "data": 1}]},
    ]
    assert items(read_whole(whole_body(*output)).message) == output


def test_a_text_that_streamed_otherwise_goes_back_as_it_was_finished() -> None:
    start = {"id": "m", "type": "message", "role": "assistant", "content": []}
    text = {"type": "response.output_text.delta", "content_index": 0, "delta": "Hm"}
    message = read(BEGUN, *ended(item(0, start, message_item("Hello"), text))).message
    assert message.text == "Hm"
    assert items(message)[0]["content"][0]["text"] == "Hello"


def test_thinking_built_by_hand_is_a_summary() -> None:
    assert items(answer(sealed("Plan"), Text("Hi", extra={"id": "msg_1"})))[0] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "Plan"}],
        "encrypted_content": "c2VhbA==",
    }


def test_withheld_thinking_has_an_empty_summary_and_no_content() -> None:
    reasoning, _ = items(answer(sealed(""), Text("Hi", extra={"id": "msg_1"})))
    assert reasoning["summary"] == []
    assert "content" not in reasoning


def test_blocks_that_share_an_item_are_one_item_again() -> None:
    blocks = [sealed("One."), evolve(sealed("Two."), signature=None), Text("Hi", extra={"id": "msg_1"})]
    blocks[1] = sealed("Two.")
    reasoning, _ = items(answer(*blocks))
    assert [part["text"] for part in reasoning["summary"]] == ["One.", "Two."]
    assert reasoning["encrypted_content"] == "c2VhbA=="


def test_items_that_share_an_id_but_not_a_seal_stay_two() -> None:
    blocks = [sealed("One.", seal="a"), sealed("Two.", seal="b"), Text("Hi", extra={"id": "msg_1"})]
    assert [entry.get("encrypted_content") for entry in items(answer(*blocks))] == ["a", "b", None]


def test_thinking_that_nobody_keeps_is_left_out_with_the_ids_that_hang_on_it() -> None:
    bare = Thinking("Sum", extra={"id": "rs_9"})
    encoded = request(answer(bare, Text("Hi", extra={"id": "msg_9", "status": "completed"})), UserMessage("more"))
    assert encoded.body["input"][1] == {  # type: ignore[index]
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
    }
    assert codes(encoded) == [("thinking_omitted", "messages[1].content[0]")]


def test_thinking_that_is_kept_at_the_provider_goes_back_by_its_id() -> None:
    bare = Thinking("Sum", extra={"id": "rs_9"})
    reasoning, message = items(
        answer(bare, Text("Hi", extra={"id": "msg_9"})), options=OpenAIResponsesOptions(store=True)
    )
    assert (reasoning["id"], message["id"]) == ("rs_9", "msg_9")


def test_raw_thinking_goes_back_without_a_seal() -> None:
    item = {"type": "reasoning", "id": "x", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}
    message = read_whole(whole_body(item, message_item("Hi"))).message
    assert items(message)[0] == item


def test_thinking_without_what_it_led_to_is_left_out() -> None:
    half = answer(
        sealed("One."),
        Text("Hi", extra={"id": "msg_1"}),
        sealed("Two.", id="rs_2"),
        Text("Hal", complete=False),
        stop_reason=StopReason.ABORTED,
    )
    encoded = request(half, UserMessage("more"))
    assert [entry.get("id") for entry in encoded.body["input"]] == [None, "rs_1", "msg_1", None]  # type: ignore[union-attr]
    assert codes(encoded) == [
        ("block_omitted", "messages[1].content[3]"),
        ("thinking_omitted", "messages[1].content[2]"),
    ]


def test_thinking_at_the_very_end_is_left_out() -> None:
    encoded = request(answer(sealed("Hm")), UserMessage("more"))
    assert codes(encoded) == [("thinking_omitted", "messages[1].content[0]"), ("message_omitted", "messages[1]")]


def test_blocks_that_were_cut_off_are_never_sent() -> None:
    cut = answer(
        Thinking("Hm", signature="s", complete=False, extra={"id": "rs_1"}),
        ToolCall("c1", name="f", arguments_json='{"a', complete=False),
        Opaque("openai-responses", kind="web_search_call", data=SEARCH, complete=False),
        Text("Hi"),
        stop_reason=StopReason.LENGTH,
    )
    encoded = request(cut, UserMessage("more"))
    assert [entry.get("type") for entry in encoded.body["input"]] == [None, "message", None]  # type: ignore[union-attr]
    assert codes(encoded) == [
        ("thinking_omitted", "messages[1].content[0]"),
        ("block_omitted", "messages[1].content[1]"),
        ("block_omitted", "messages[1].content[2]"),
    ]


def test_the_result_of_a_call_that_is_not_sent_is_not_sent_either() -> None:
    cut = answer(ToolCall("c1", name="f", arguments_json="{", complete=False), Text("Hi"))
    encoded = request(cut, ToolResult("c1", "1"))
    assert ("result_omitted", "messages[2]") in codes(encoded)
    assert len(encoded.body["input"]) == 2  # type: ignore[arg-type]


def test_ids_go_where_one_of_the_group_has_none() -> None:
    sent = items(answer(sealed("Hm"), Text("by hand")))
    assert ["id" in entry for entry in sent] == [False, False]
    assert sent[0]["encrypted_content"] == "c2VhbA=="


def test_an_opaque_item_whose_thinking_is_gone_goes_without_its_id() -> None:
    search = Opaque("openai-responses", kind="web_search_call", data=SEARCH)
    assert items(answer(Thinking("", extra={"id": "rs_1"}), search)) == [
        {name: value for name, value in SEARCH.items() if name != "id"}
    ]


def test_ids_that_are_too_long_for_openai_are_left_out_there_alone() -> None:
    long = "x" * 65
    message = answer(Text("Hi", extra={"id": long}))
    assert "id" not in items(message)[0]
    xai = Model("xai", "grok-4.3")
    other = evolve(message, origin=Origin("openai-responses", "xai", "grok-4.3"))
    assert items(other, model=xai)[0]["id"] == long


def test_call_ids_that_are_too_long_are_shortened_alike_in_call_and_result() -> None:
    call = ToolCall("y" * 70, name="f", arguments_json="{}")
    first, second = items(answer(call), ToolResult(call.id, "1"))
    assert first["call_id"] == second["call_id"]
    assert len(first["call_id"]) <= 64


def test_call_ids_that_a_server_uses_again_are_told_apart() -> None:
    call = ToolCall("call_0", name="f", arguments_json="{}")
    sent = items(answer(call), ToolResult("call_0", "1"), answer(call), ToolResult("call_0", "2"))
    ids = [entry["call_id"] for entry in sent]
    assert ids == ["call_0", "call_0", "call_0_2", "call_0_2"]


@pytest.mark.parametrize("text", ["", "  "])
def test_a_call_without_arguments_has_an_empty_object(text: str) -> None:
    assert items(answer(ToolCall("c", name="f", arguments_json=text)))[0]["arguments"] == "{}"


def test_history_of_another_service_loses_what_only_that_one_can_read() -> None:
    other = answer(
        sealed("Hm"),
        Text("Hi", extra={"id": "msg_1", "phase": "final_answer"}, citations=[{"url": "a"}]),
        Opaque("openai-responses", kind="web_search_call", data=SEARCH),
        ToolCall("c1", name="f", arguments_json="{}", extra={"id": "fc_1"}),
        origin=Origin("openai-responses", "azure", "gpt-5.5"),
    )
    encoded = request(other, ToolResult("c1", "1"))
    assert encoded.body["input"][1:3] == [  # type: ignore[index]
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
        },
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
    ]
    assert codes(encoded) == [
        ("thinking_omitted", "messages[1].content[0]"),
        ("block_omitted", "messages[1].content[2]"),
    ]


def test_redacted_thinking_has_no_form_here() -> None:
    encoded = request(answer(Thinking.redacted_payload("cmVk"), Text("Hi")))
    assert codes(encoded) == [("thinking_omitted", "messages[1].content[0]")]


def test_deepseek_gets_its_calls_after_all_else() -> None:
    calls = [ToolCall(id, name="f", arguments_json="{}") for id in "ab"]
    mixed = answer(Text("One."), calls[0], Text("Two."), calls[1], origin=Origin())
    encoded = request(mixed, model=Model("deepseek", "deepseek-v4-flash"))
    assert [entry.get("call_id") for entry in encoded.body["input"]] == [None, None, None, "a", "b"]  # type: ignore[union-attr]
    assert codes(encoded) == [("calls_moved", "messages[1]")]


def test_a_message_without_text_goes_back_in_its_place() -> None:
    empty = message_item("")
    message = read_whole(whole_body(reasoning_item("Hm"), empty)).message
    assert items(message) == [reasoning_item("Hm"), empty]


def test_stored_messages_are_not_changed() -> None:
    message = read(BEGUN, *ended(thought(0, "Hm"), said(1, "Hi"))).message
    before = [dict(block.extra) for block in message.content if not isinstance(block, Opaque)]
    items(evolve(message, content=message.content[:1]))
    items(message)
    assert [dict(block.extra) for block in message.content if not isinstance(block, Opaque)] == before
