"""Blocks of Converse, delta by delta: what opens them, what grows them, and what is kept of them."""

from __future__ import annotations

from typing import Any

import pytest

from support.bedrock_streams import (
    began,
    block,
    called,
    counted,
    deltas,
    event,
    frame,
    redacted,
    said,
    started,
    stopped,
    stopped_block,
    thought,
)
from support.reading import Outcome, read
from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.events import ThinkingDelta, ThinkingEnd, ThinkingStart
from thinkaloud.messages import AssistantMessage, StopReason

ENDED = stopped("end_turn") + counted()


def outcome_of(*frames: bytes) -> Outcome:
    return read("bedrock-converse", [b"".join(frames)], provider="bedrock")


def message_of(*frames: bytes) -> AssistantMessage:
    return outcome_of(started(), *frames, ENDED).finished


def content_of(*frames: bytes) -> tuple[AssistantBlock, ...]:
    return message_of(*frames).content


def codes(message: AssistantMessage) -> list[str]:
    return [notice.code for notice in message.notices]


# text


def test_the_first_delta_of_an_index_opens_its_block() -> None:
    assert content_of(said(0, "So", " it is.")) == (Text("So it is."),)


def test_a_block_without_text_is_none() -> None:
    assert content_of(said(0, ""), said(1, "So.")) == (Text("So."),)


def test_an_empty_delta_before_the_text_changes_nothing() -> None:
    assert content_of(said(0, "", "So", "", ".")) == (Text("So."),)


def test_texts_of_two_indexes_are_two_blocks() -> None:
    assert content_of(deltas(0, {"text": "a"}), deltas(1, {"text": "b"}), deltas(0, {"text": "c"})) == (
        Text("ac"),
        Text("b"),
    )


def test_an_index_that_comes_again_after_its_stop_is_a_new_block() -> None:
    assert content_of(said(0, "a"), said(0, "b")) == (Text("a"), Text("b"))


def test_indexes_may_have_gaps_and_may_be_missing() -> None:
    without_index = event("contentBlockDelta", delta={"text": "b"}) + event("contentBlockStop")
    assert content_of(said(7, "a"), without_index, said(9, "c")) == (Text("a"), Text("b"), Text("c"))


def test_several_keys_of_one_delta_are_all_read() -> None:
    cited: dict[str, Any] = {"title": "T", "location": {"web": {"url": "https://example.com"}}}
    assert content_of(block(0, {"text": "So.", "citation": cited})) == (Text("So.", citations=[cited]),)


def test_citations_are_kept_with_their_text_and_every_digit() -> None:
    first: dict[str, Any] = {
        "title": "T",
        "location": {"documentChar": {"documentIndex": 10**30, "start": 0, "end": 4}},
    }
    second: dict[str, Any] = {"source": "s", "sourceContent": [{"text": "so"}]}
    [text] = content_of(block(0, {"text": "So "}, {"citation": first}, {"text": "it is."}, {"citation": second}))
    assert text == Text("So it is.", citations=[first, second])


def test_a_citation_without_text_is_not_lost() -> None:
    [text] = content_of(block(0, {"citation": {"title": "T"}}))
    assert text == Text("", citations=[{"title": "T"}])


# thinking


def test_a_signature_comes_after_the_text_in_a_delta_of_its_own() -> None:
    assert content_of(thought(0, "c2ln+/==", "Hm", ", so.")) == (Thinking.signed("Hm, so.", "c2ln+/=="),)


def test_a_signature_in_pieces_is_joined() -> None:
    pieces = [{"reasoningContent": {"signature": piece}} for piece in ("c2", "", "ln")]
    assert content_of(block(0, {"reasoningContent": {"text": "Hm"}}, *pieces)) == (Thinking.signed("Hm", "c2ln"),)


def test_text_and_signature_may_share_a_delta() -> None:
    assert content_of(block(0, {"reasoningContent": {"text": "Hm", "signature": "c2ln"}})) == (
        Thinking.signed("Hm", "c2ln"),
    )


def test_a_signature_alone_is_withheld_thinking() -> None:
    empty = {"reasoningContent": {"text": ""}}
    for frames in (thought(0, "c2ln"), block(0, empty, {"reasoningContent": {"signature": "c2ln"}})):
        [thinking] = content_of(frames)
        assert thinking == Thinking.signed("", "c2ln")
        assert isinstance(thinking, Thinking)
        assert thinking.withheld


@pytest.mark.parametrize("delta", [{"text": ""}, {"text": None}, {"signature": ""}, {"signature": None}, {}])
def test_thinking_of_which_nothing_comes_is_no_block(delta: dict[str, Any]) -> None:
    message = message_of(block(0, {"reasoningContent": delta}))
    assert (message.content, message.notices) == ((), ())


def test_a_delta_of_nothing_does_not_part_a_block() -> None:
    nothing = {"reasoningContent": {"text": None}}
    texts = [{"reasoningContent": {"text": text}} for text in ("a", "b")]
    assert content_of(block(0, texts[0], nothing, texts[1])) == (Thinking("ab"),)


def test_thinking_without_a_signature_has_none() -> None:
    assert content_of(thought(0, None, "Hm"), thought(1, "", "So")) == (Thinking("Hm"), Thinking("So"))


def test_what_a_model_keeps_to_itself_is_hidden_thinking() -> None:
    message = message_of(thought(0, None, "[REDACTED]"), said(1, "So."))
    [thinking] = message.thinking_blocks
    assert (thinking.text, thinking.extra) == ("", {"text": "[REDACTED]"})
    assert message.thinking == ""


def test_a_payload_makes_a_redacted_block_that_stays_as_it_came() -> None:
    outcome = outcome_of(started(), redacted(0, "AAFvcGFxdWU="), ENDED)
    assert outcome.finished.content == (Thinking.redacted_payload("AAFvcGFxdWU="),)
    kinds = [type(event) for event in outcome.events if isinstance(event, ThinkingStart | ThinkingDelta | ThinkingEnd)]
    assert kinds == [ThinkingStart, ThinkingEnd]


def test_payloads_of_two_indexes_are_two_blocks() -> None:
    assert content_of(redacted(0, "b25l"), redacted(1, "dHdv")) == (
        Thinking.redacted_payload("b25l"),
        Thinking.redacted_payload("dHdv"),
    )


def test_a_payload_in_pieces_is_joined_as_bytes() -> None:
    assert content_of(redacted(0, "YQ==", "YmM=", "", "ZA==")) == (Thinking.redacted_payload("YWJjZA=="),)


def test_pieces_of_a_payload_that_are_no_base64_are_joined_as_they_are() -> None:
    assert content_of(redacted(0, "a!", "b!")) == (Thinking.redacted_payload("a!b!"),)


def test_thinking_and_a_payload_at_one_index_are_two_blocks() -> None:
    frames = block(
        0,
        {"reasoningContent": {"text": "Hm"}},
        {"reasoningContent": {"redactedContent": "b25l"}},
        {"reasoningContent": {"text": "So"}},
        {"text": "It is."},
    )
    assert content_of(frames) == (
        Thinking("Hm"),
        Thinking.redacted_payload("b25l"),
        Thinking("So"),
        Text("It is."),
    )


# calls


def test_a_call_has_its_id_and_name_from_its_start_and_its_arguments_in_pieces() -> None:
    assert content_of(called(0, "tooluse_1", "add", '{"a":', " 1}")) == (
        ToolCall("tooluse_1", name="add", arguments_json='{"a": 1}'),
    )


@pytest.mark.parametrize("pieces", [(), ("",), ("{}",)])
def test_a_call_without_arguments_has_none(pieces: tuple[str, ...]) -> None:
    [call] = message_of(called(0, "tooluse_1", "now", *pieces)).tool_calls
    assert call.arguments == {}


def test_the_type_of_an_ordinary_call_is_dropped_and_other_fields_are_kept() -> None:
    [first, second] = message_of(
        called(0, "a", "f", type="tool_use"), called(1, "b", "f", type="odd", extra={"n": 10**30})
    ).tool_calls
    assert first.extra == {}
    assert second.extra == {"type": "odd", "extra": {"n": 10**30}}


def test_calls_without_ids_get_some_that_differ() -> None:
    first, second = message_of(called(0, "", "f"), called(1, "", "f")).tool_calls
    assert first.id != second.id


def test_arguments_keep_every_digit() -> None:
    [call] = message_of(called(0, "a", "f", '{"n": 123456789012345678901234567890}')).tool_calls
    assert call.arguments == {"n": 123456789012345678901234567890}


def test_arguments_of_a_call_that_never_began_are_told() -> None:
    message = message_of(said(0, "So."), deltas(1, {"toolUse": {"input": "{}"}}))
    assert message.content == (Text("So."),)
    assert codes(message) == ["unknown_delta"]


def test_text_at_the_index_of_an_open_call_does_not_tear_it_apart() -> None:
    start = began(0, toolUse={"toolUseId": "a", "name": "f"})
    message = message_of(start, block(0, {"toolUse": {"input": "{"}}, {"text": "x"}, {"toolUse": {"input": "}"}}))
    assert message.content == (ToolCall("a", name="f", arguments_json="{}"),)
    assert codes(message) == ["unknown_delta"]


def test_a_surrogate_pair_over_two_deltas_is_one_character() -> None:
    body = started()
    halves = b'{"contentBlockIndex":0,"delta":{"text":"%s"}}'
    headers = {":event-type": "contentBlockDelta", ":message-type": "event"}
    for half in (b"\\ud83d", b"\\ude00"):
        body += frame(headers, halves % half)
    assert read("bedrock-converse", [body + ENDED]).finished.text == "😀"


# what is not modelled


def test_a_servers_own_call_and_its_result_are_kept_whole_and_in_place() -> None:
    frames = (
        called(0, "t1", "nova_code_interpreter", '{"snippet": "1', '+1"}', type="server_tool_use"),
        began(1, toolResult={"toolUseId": "t1", "type": "nova_code_interpreter_result", "status": "success"}),
        block(1, {"toolResult": [{"json": {"n": 10**30}}]}, {"toolResult": [{"text": "done"}]}),
        said(2, "Two."),
    )
    message = message_of(*frames)
    use: dict[str, Any] = {
        "toolUseId": "t1",
        "name": "nova_code_interpreter",
        "type": "server_tool_use",
        "input": {"snippet": "1+1"},
    }
    result: dict[str, Any] = {
        "toolUseId": "t1",
        "type": "nova_code_interpreter_result",
        "status": "success",
        "content": [{"json": {"n": 10**30}}, {"text": "done"}],
    }
    assert message.content == (
        Opaque("bedrock-converse", kind="server_tool_use", data={"toolUse": use}),
        Opaque("bedrock-converse", kind="toolResult", data={"toolResult": result}),
        Text("Two."),
    )
    assert [dict(b.data) for b in message.content if isinstance(b, Opaque)] == [
        {"toolUse": use},
        {"toolResult": result},
    ]
    assert message.stop_reason is StopReason.END
    assert message.tool_calls == ()


def test_a_servers_call_without_input_and_a_result_without_content_can_go_back() -> None:
    frames = called(0, "t1", "f", type="server_tool_use"), began(1, toolResult={"toolUseId": "t1"}), stopped_block(1)
    use, result = content_of(*frames)
    assert isinstance(use, Opaque)
    assert isinstance(result, Opaque)
    assert use.data["toolUse"] == {"toolUseId": "t1", "name": "f", "type": "server_tool_use", "input": {}}
    assert result.data["toolResult"] == {"toolUseId": "t1", "content": []}


def test_a_servers_call_that_was_cut_off_cannot_go_back() -> None:
    [use] = content_of(called(0, "t1", "f", '{"a', type="server_tool_use"))
    assert isinstance(use, Opaque)
    assert not use.complete
    assert use.data["toolUse"]["input"] == '{"a'  # type: ignore[index, call-overload]


def test_an_image_grows_by_the_bytes_of_its_source() -> None:
    frames = (
        began(0, image={"format": "png"}),
        block(0, {"image": {"source": {"bytes": "YQ=="}}}, {"image": {"source": {"bytes": "Yg=="}}}),
    )
    [image] = content_of(*frames)
    assert isinstance(image, Opaque)
    assert (image.kind, image.data) == ("image", {"image": {"format": "png", "source": {"bytes": "YWI="}}})


def test_a_block_of_an_unknown_kind_is_kept_and_its_deltas_are_merged() -> None:
    frames = (
        began(0, hologram={"depth": 3, "tags": ["a"]}),
        block(0, {"hologram": {"script": "x", "tags": ["b"]}}, {"hologram": {"script": "y", "depth": 4}}),
    )
    [hologram] = content_of(*frames)
    assert isinstance(hologram, Opaque)
    assert hologram.data == {"hologram": {"depth": 4, "tags": ["a", "b"], "script": "xy"}}


def test_a_delta_of_an_unknown_kind_without_a_start_is_kept_and_told_once() -> None:
    message = message_of(deltas(0, {"smell": {"note": "a"}}, {"smell": {"note": "b"}}), deltas(1, {"smell": "c"}))
    assert [b.data for b in message.content if isinstance(b, Opaque)] == [
        {"smell": {"note": "ab"}},
        {"smell": {"smell": "c"}},
    ]
    assert codes(message) == ["unknown_delta"]


def test_unknown_events_are_told_once_each() -> None:
    message = message_of(event("weather"), event("weather"), event("tide"), said(0, "So."))
    assert message.text == "So."
    assert codes(message) == ["unknown_event", "unknown_event"]


def test_reasoning_of_an_unknown_form_is_kept() -> None:
    message = message_of(block(0, {"reasoningContent": {"sketch": "x"}}))
    [kept] = message.content
    assert isinstance(kept, Opaque)
    assert kept.data == {"reasoningContent": {"sketch": "x"}}
