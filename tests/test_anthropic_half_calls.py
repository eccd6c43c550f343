"""A call that may not be whole is never offered for running, and every call that is offered can be told apart."""

from __future__ import annotations

import pytest

from support.anthropic_wire import Payload, closing, delta, end, opening, read, read_whole, start, text, tool_use
from thinkaloud.content import Text, ToolCall
from thinkaloud.messages import StopReason

STRAY = delta(0, type="input_json_delta", partial_json='{"path":"/x"}')


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_half_call_after_the_stop_reason_is_not_offered_when_the_body_ends(length: int) -> None:
    late = tool_use(1, '{"path":"/', id="late")[:length]
    message = read(start(), text(0, "x"), end("tool_use")[0], late).message
    assert message.tool_calls == ()
    assert [call.id for call in message.incomplete_tool_calls] == ["late"]


def test_a_call_without_arguments_that_was_stopped_before_the_stop_reason_is_whole() -> None:
    assert len(read(start(), tool_use(0), end("tool_use")[0]).message.tool_calls) == 1


def test_a_whole_call_after_the_stop_reason_is_offered_when_the_body_ends() -> None:
    assert len(read(start(), end("tool_use")[0], tool_use(0, '{"a":1}')).message.tool_calls) == 1
    assert read(start(), end("tool_use")[0], tool_use(0)).message.tool_calls == ()


@pytest.mark.parametrize("pieces", [(), ('{"path":"/',)])
@pytest.mark.parametrize("index", [0, 1])
def test_a_call_that_was_never_stopped_is_offered_only_if_it_is_whole(pieces: tuple[str, ...], index: int) -> None:
    half = tool_use(0, *pieces, id="half")[:-1]
    message = read(start(), half, tool_use(index, '{"a":1}', id="next"), end("tool_use")).message
    assert [call.id for call in message.tool_calls] == ["next"]
    assert [call.id for call in message.incomplete_tool_calls] == ["half"]
    alone = read(start(), half, end("tool_use")).message
    assert alone.tool_calls == ()
    followed = read(start(), half, text(index, "x"), end()).message
    assert (followed.tool_calls, followed.text) == ((), "x")


def test_a_whole_call_whose_index_is_taken_by_another_is_offered() -> None:
    whole = tool_use(0, '{"a":1}', id="first")[:-1]
    message = read(start(), whole, tool_use(0, "{}", id="second"), end("tool_use")).message
    assert [call.id for call in message.tool_calls] == ["first", "second"]


def test_arguments_before_their_start_leave_no_call_without_arguments() -> None:
    reading = read(start(), STRAY, tool_use(0), text(1, "x"), end("tool_use"))
    assert reading.message.tool_calls == ()
    assert reading.codes == ["unknown_delta"]


def test_arguments_after_the_stop_leave_no_call_without_arguments() -> None:
    assert read(start(), tool_use(0), STRAY, text(1, "x"), end("tool_use")).message.tool_calls == ()


def test_stray_arguments_do_no_harm_to_the_calls_that_are_whole() -> None:
    reading = read(start(), STRAY, tool_use(0, '{"a":1}'), tool_use(0, id="other"), text(1, "x"), end("tool_use"))
    assert [call.arguments for call in reading.message.tool_calls] == [{"a": 1}, {}]


def test_a_second_call_of_the_same_id_gets_one_of_its_own() -> None:
    calls = [tool_use(index, f'{{"n":{index}}}', id="same") for index in (0, 1, 2)]
    reading = read(start(), *calls, end("tool_use"))
    assert [call.id for call in reading.message.tool_calls] == ["same", "call_msg_1_1", "call_msg_1_2"]
    assert reading.codes == ["repeated_call_id", "repeated_call_id"]
    assert reading.message.notices[0].detail == {"id": "same", "given": "call_msg_1_1"}


def test_an_id_that_was_made_up_is_taken() -> None:
    calls = [tool_use(0, id=""), tool_use(1, id="call_msg_1_1")]
    ids = [call.id for call in read(start(), *calls, end("tool_use")).message.tool_calls]
    assert ids == ["call_msg_1_1", "call_msg_1_2"]


@pytest.mark.parametrize("name", ["", None])
def test_a_call_without_a_name_is_kept_and_told_and_never_offered(name: str | None) -> None:
    nameless = tool_use(1, '{"a"', ":1}", id="t", name=name)  # type: ignore[arg-type]
    reading = read(start(), text(0, "x"), nameless, end())
    assert reading.content == (Text("x"), ToolCall("t", name="", arguments_json='{"a":1}', complete=False))
    assert reading.message.tool_calls == ()
    assert reading.message.stop_reason is StopReason.END
    (notice,) = reading.message.notices
    assert (notice.code, notice.path, notice.detail) == ("call_without_name", "content[1]", {"id": "t"})


@pytest.mark.parametrize("fields", [{}, {"data": ""}, {"data": None}])
def test_redacted_thinking_without_its_payload_is_left_out_and_told(fields: Payload) -> None:
    reading = read(start(), opening(0, type="redacted_thinking", **fields), closing(0), text(1, "x"), end())
    assert reading.content == (Text("x"),)
    assert reading.codes == ["redacted_without_data"]


def test_a_whole_body_is_read_by_the_same_rules() -> None:
    call = {"type": "tool_use", "id": "same", "name": "f", "input": {}}
    content = [{"type": "redacted_thinking"}, {**call, "name": ""}, call, call]
    reading = read_whole({"id": "msg_1", "type": "message", "content": content, "stop_reason": "tool_use"})
    assert [call.id for call in reading.message.incomplete_tool_calls] == ["same"]
    assert [call.id for call in reading.message.tool_calls] == ["call_msg_1_1", "call_msg_1_2"]
    assert reading.codes == ["redacted_without_data", "repeated_call_id", "call_without_name", "repeated_call_id"]


def test_an_unknown_block_of_many_deltas_keeps_one_list_and_does_not_copy_it() -> None:
    count = 20_000
    items = [delta(0, type="novel_delta", items=[n], facts={str(n): n}) for n in range(count)]
    first = opening(0, type="novelty", items=[], facts={})
    (block,) = read(start(), first, items, closing(0), end()).content
    assert block.data["items"] == list(range(count))
    assert len(block.data["facts"]) == count
