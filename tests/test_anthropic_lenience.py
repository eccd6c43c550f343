"""What the Messages API or a server in its place may do beyond the letter: nothing of it breaks a stream."""

from __future__ import annotations

from support.anthropic_wire import closing, delta, end, opening, read, start, text, thinking, tool_use
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.wire.server_event import ServerEvent


def test_pings_may_come_anywhere() -> None:
    ping = {"type": "ping"}
    first, *rest = text(0, "x")
    assert read(ping, start(), ping, first, ping, *rest, ping, end()).content == (Text("x"),)


def test_unknown_events_are_told_once_per_kind() -> None:
    reading = read(start(), {"type": "novelty"}, {"type": "novelty"}, {"type": "other"}, text(0, "x"), end())
    assert [(notice.code, notice.detail["kind"]) for notice in reading.message.notices] == [
        ("unknown_event", "novelty"),
        ("unknown_event", "other"),
    ]


def test_unknown_deltas_of_a_known_block_are_told_once_per_kind() -> None:
    shiny = delta(0, type="shiny_delta", v=1)
    reading = read(start(), opening(0, type="text", text=""), shiny, shiny, closing(0), text(1, "fine"), end())
    assert reading.message.text == "fine"
    assert reading.codes == ["unknown_delta"]


def test_the_name_of_the_event_stands_in_for_a_missing_type() -> None:
    bare = ServerEvent(event="content_block_delta", data='{"index": 0, "delta": {"type": "text_delta", "text": "x"}}')
    assert read(start(), opening(0, type="text", text=""), bare, closing(0), end()).content == (Text("x"),)


def test_a_type_is_enough_where_the_event_has_no_name() -> None:
    bare = ServerEvent(data='{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}')
    assert read(start(), opening(0, type="text", text=""), bare, closing(0), end()).content == (Text("x"),)


def test_a_message_start_without_a_message_is_passed_over() -> None:
    reading = read({"type": "message_start", "message": None}, start(), text(0, "x"), end())
    assert reading.message.response_id == "msg_1"


def test_a_stream_without_message_start_is_read() -> None:
    assert read(text(0, "x"), end()).message.origin.model == "claude-asked-for"


def test_indexes_may_have_gaps() -> None:
    assert read(start(), text(0, "a"), text(4, "b"), end()).content == (Text("a"), Text("b"))


def test_blocks_may_interleave() -> None:
    first, second = text(0, "a", "b"), thinking(1, "x", "y", signature="s")
    mixed = [first[0], second[0], second[1], first[1], second[2], first[2], second[3], first[3], second[4]]
    assert read(start(), mixed, end()).content == (Text("ab"), Thinking("xy", signature="s"))


def test_blocks_that_are_never_stopped_are_closed_at_the_end() -> None:
    blocks = [thinking(0, "a", signature="s")[:-1], text(1, "b")[:-1], tool_use(2, '{"a":1}')[:-1]]
    unknown = opening(3, type="novelty", v=1)
    assert read(start(), *blocks, unknown, end("tool_use")).content == (
        Thinking("a", signature="s"),
        Text("b"),
        ToolCall("toolu_1", name="add", arguments_json='{"a":1}'),
        Opaque("anthropic-messages", kind="novelty", data={"type": "novelty", "v": 1}),
    )


def test_input_of_a_start_that_is_never_stopped_is_not_lost() -> None:
    reading = read(start(), tool_use(0, input={"a": 1})[0], end("tool_use"))
    assert reading.message.tool_calls[0].arguments == {"a": 1}


def test_one_index_for_all_blocks_gives_all_blocks() -> None:
    blocks = [thinking(0, "a", signature="s")[:-1], text(0, "b")[:-1]]
    assert read(start(), *blocks, end()).content == (Thinking("a", signature="s"), Text("b"))


def test_blocks_without_an_index_are_read() -> None:
    blocks = [text(0, "a"), text(1, "b")]
    bare = [{name: value for name, value in event.items() if name != "index"} for block in blocks for event in block]
    assert read(start(), bare, end()).content == (Text("a"), Text("b"))


def test_readable_deltas_without_a_start_open_their_block() -> None:
    deltas = [
        delta(0, type="thinking_delta", thinking="a"),
        delta(0, type="signature_delta", signature="s"),
        delta(0, type="text_delta", text="b"),
    ]
    assert read(start(), deltas, end()).content == (Thinking("a", signature="s"), Text("b"))


def test_pieces_of_a_call_without_a_start_are_told_and_offer_no_call() -> None:
    reading = read(start(), delta(0, type="input_json_delta", partial_json="{}"), end())
    assert reading.content == ()
    assert reading.codes == ["unknown_delta"]


def test_a_stray_text_does_not_end_a_call() -> None:
    call = tool_use(0, '{"a":', "1}")
    reading = read(start(), call[:2], delta(0, type="text_delta", text="x"), call[2:], end("tool_use"))
    assert reading.message.tool_calls[0].arguments == {"a": 1}
    assert reading.codes == ["unknown_delta"]


def test_unknown_fields_of_a_block_stay_with_it() -> None:
    blocks = [
        [opening(0, type="thinking", thinking="a", signature="s", novel=[1]), closing(0)],
        [opening(1, type="redacted_thinking", data="cmVk", novel=2), closing(1)],
        [opening(2, type="text", text="b", novel={"x": 3}), closing(2)],
    ]
    extras = [block.extra for block in read(start(), *blocks, end()).content]
    assert extras == [{"novel": [1]}, {"novel": 2}, {"novel": {"x": 3}}]


def test_signatures_that_gateways_put_on_text_and_calls_are_kept() -> None:
    signed = [delta(index, type="signature_delta", signature=f"s{index}") for index in (0, 1)]
    blocks = [text(0, "a")[:-1], tool_use(1, "{}")[:-1]]
    reading = read(start(), *blocks, signed, end("tool_use"))
    assert [block.signature for block in reading.content] == ["s0", "s1"]
    assert reading.codes == []


def test_fields_that_an_answer_can_do_without_are_told_when_they_cannot_be_read() -> None:
    odd = start(id=7, model=["m"], usage=[], input_transformations="x")
    odd_delta = delta(0, type="thinking_delta", thinking="a", estimated_tokens="many")
    reading = read(odd, opening(0, type="thinking", thinking=""), odd_delta, text(1, "x"), end())
    assert reading.message.text == "x"
    assert [notice.detail["kind"] for notice in reading.message.notices] == [
        "id",
        "model",
        "usage",
        "input_transformations",
        "estimated_tokens",
    ]
