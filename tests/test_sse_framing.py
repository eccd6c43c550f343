"""Server-sent events, one rule of the framing at a time: bytes in, events out."""

from __future__ import annotations

from thinkaloud.wire.server_event import ServerEvent
from thinkaloud.wire.sse import SseDecoder


def decode(*chunks: bytes) -> list[ServerEvent]:
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [*events, *decoder.close()]


def test_a_data_line_and_a_blank_line_are_an_event() -> None:
    assert decode(b'data: {"a":1}\n\n') == [ServerEvent("message", '{"a":1}')]


def test_an_event_line_names_the_event() -> None:
    assert decode(b'event: ping\ndata: {"a":1}\n\n') == [ServerEvent("ping", '{"a":1}')]


def test_the_name_may_come_after_the_data() -> None:
    assert decode(b'data: {"a":1}\nevent: ping\n\n') == [ServerEvent("ping", '{"a":1}')]


def test_a_name_counts_for_one_event() -> None:
    assert decode(b"event: first\ndata: {}\n\ndata: {}\n\n") == [
        ServerEvent("first", "{}"),
        ServerEvent("message", "{}"),
    ]


def test_an_empty_name_is_no_name() -> None:
    assert decode(b"event: \ndata: {}\n\n") == [ServerEvent("message", "{}")]
    assert decode(b"event\ndata: {}\n\n") == [ServerEvent("message", "{}")]


def test_the_last_of_two_names_counts() -> None:
    assert decode(b"event: a\nevent: b\ndata: {}\n\n") == [ServerEvent("b", "{}")]


def test_data_need_not_be_json() -> None:
    assert decode(b"data: [DONE]\n\n") == [ServerEvent("message", "[DONE]")]


def test_several_events_in_one_piece_come_in_order() -> None:
    assert [event.data for event in decode(b"data: {1\n\ndata: {2\n\nevent: e\ndata: {3\n\n")] == ["{1", "{2", "{3"]


def test_an_event_comes_out_with_its_blank_line_and_not_before() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: {}\n") == []
    assert decoder.feed(b"\n") == [ServerEvent("message", "{}")]


def test_crlf_ends_a_line() -> None:
    assert decode(b"event: e\r\ndata: {}\r\n\r\n") == [ServerEvent("e", "{}")]


def test_cr_alone_ends_a_line() -> None:
    assert decode(b"event: e\rdata: {}\r\r") == [ServerEvent("e", "{}")]


def test_line_ends_may_be_mixed() -> None:
    assert decode(b"event: e\rdata: {\r\ndata: }\n\r\ndata: {}\r\n\n") == [
        ServerEvent("e", "{\n}"),
        ServerEvent("message", "{}"),
    ]


def test_a_crlf_cut_in_two_is_one_line_end() -> None:
    assert decode(b"event: e\r", b"\ndata: {}\r", b"\n\r", b"\n") == [ServerEvent("e", "{}")]


def test_a_cr_at_the_end_of_a_piece_ends_the_line_at_once() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: {}\r\r") == [ServerEvent("message", "{}")]
    assert decoder.feed(b"\ndata: {1\n\n") == [ServerEvent("message", "{1")]


def test_an_empty_piece_between_cr_and_lf_changes_nothing() -> None:
    assert decode(b"data: {\r", b"", b"\ndata: }\n\n") == [ServerEvent("message", "{\n}")]


def test_blank_lines_before_and_between_events_are_nothing() -> None:
    assert decode(b"\n\n\r\n\ndata: {1\n\n\n\n\ndata: {2\n\n\n") == [
        ServerEvent("message", "{1"),
        ServerEvent("message", "{2"),
    ]


def test_line_and_paragraph_separators_of_unicode_are_data() -> None:
    separators = "\u2028\u2029\u0085\v\f\x1c\x1d\x1e"
    assert decode(f"data: {{{separators}}}\n\n".encode()) == [ServerEvent("message", f"{{{separators}}}")]


def test_a_byte_order_mark_before_the_first_event_is_passed_over() -> None:
    assert decode(b"\xef\xbb\xbfdata: {}\n\n") == [ServerEvent("message", "{}")]


def test_a_byte_order_mark_may_be_cut() -> None:
    assert decode(b"\xef", b"\xbb", b"", b"\xbfdata: {}\n\n") == [ServerEvent("message", "{}")]


def test_only_the_first_byte_order_mark_is_one() -> None:
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbfdata: {1\n\ndata: {2\n\n") == [ServerEvent("message", "{2")]
    assert decode(b"data: {\xef\xbb\xbf}\n\n") == [ServerEvent("message", "{\ufeff}")]


def test_a_body_that_ends_inside_a_byte_order_mark_has_no_event() -> None:
    assert decode(b"\xef\xbb") == []


def test_comments_are_no_events() -> None:
    assert decode(b": ping\n\n:\n\n: OPENROUTER PROCESSING\n\n") == []


def test_a_comment_inside_an_event_is_passed_over() -> None:
    assert decode(b": one\nevent: e\n:two\ndata: {}\n: three\n\n") == [ServerEvent("e", "{}")]


def test_several_data_lines_are_joined_by_line_feeds() -> None:
    assert decode(b'data: {\ndata:  "a": 1\ndata: }\n\n') == [ServerEvent("message", '{\n "a": 1\n}')]


def test_an_empty_data_line_between_others_stays() -> None:
    assert decode(b"data: {\ndata\ndata:\ndata: }\n\n") == [ServerEvent("message", "{\n\n\n}")]


def test_the_space_after_the_colon_may_be_missing() -> None:
    assert decode(b'event:e\ndata:{"a":1}\n\n') == [ServerEvent("e", '{"a":1}')]


def test_only_one_space_after_the_colon_belongs_to_the_framing() -> None:
    assert decode(b"event:  e\ndata:  {\n\n") == [ServerEvent(" e", " {")]
    assert decode(b"data:\t{\n\n") == [ServerEvent("message", "\t{")]


def test_the_value_may_hold_colons() -> None:
    assert decode(b"data: {a: b: c\n\n") == [ServerEvent("message", "{a: b: c")]


def test_unknown_fields_are_passed_over() -> None:
    assert decode(b"data: {}\nfoo: bar\nData: x\n data: y\n\n") == [ServerEvent("message", "{}")]


def test_an_id_stays_until_the_next_one() -> None:
    events = decode(b"id: 1\ndata: {a\n\ndata: {b\n\nid: 2\n\nevent: e\ndata: {c\n\nid\ndata: {d\n\n")
    assert [event.id for event in events] == ["1", "1", "2", ""]


def test_the_decoder_tells_the_last_id() -> None:
    decoder = SseDecoder()
    decoder.feed(b"id: 7\ndata: {}\n\nid: 8\n\n")
    assert decoder.last_event_id == "8"


def test_an_id_with_a_null_character_is_no_id() -> None:
    assert decode(b"id: 1\ndata: {a\n\nid: 2\x00\ndata: {b\n\n")[1].id == "1"


def test_retry_stands_on_its_own_event() -> None:
    assert [event.retry for event in decode(b"retry: 1500\ndata: {a\n\ndata: {b\n\n")] == [1500, None]


def test_a_retry_that_is_not_all_digits_is_none() -> None:
    for value in ("-1", "1_0", " 5", "1.5", "", "x", "٣", "9" * 5000):
        assert decode(f"retry: {value}\ndata: {{}}\n\n".encode())[0].retry is None, value


def test_an_event_without_data_is_none() -> None:
    assert decode(b"event: ping\n\nid: 3\n\nretry: 5\n\nevent: e\ndata\n\ndata:\n\n") == []


def test_blank_data_is_no_event() -> None:
    assert decode(b"data:   \n\ndata: \t\n\ndata:\ndata:  \n\n") == []


def test_data_that_is_itself_a_comment_is_no_event() -> None:
    assert decode(b"data: : keep-alive\n\ndata::\n\nevent: e\ndata:  : ping\n\n") == []


def test_a_comment_as_data_does_not_take_the_real_data_with_it() -> None:
    assert decode(b"data: : keep-alive\ndata:\ndata: {}\n\n") == [ServerEvent("message", "{}")]


def test_a_colon_at_the_start_of_a_later_data_line_is_data() -> None:
    assert decode(b'data: {"a"\ndata: : 1}\n\n') == [ServerEvent("message", '{"a"\n: 1}')]


def test_a_field_named_error_without_data_is_an_error_event() -> None:
    assert decode(b'data: {}\n\nerror: {"detail":"no room"}\n\n') == [
        ServerEvent("message", "{}"),
        ServerEvent("error", '{"detail":"no room"}'),
    ]


def test_a_field_named_error_is_an_error_event_at_the_end_of_the_body_too() -> None:
    assert decode(b'error: {"detail":"no room"}') == [ServerEvent("error", '{"detail":"no room"}')]


def test_a_field_named_error_beside_data_is_an_unknown_field() -> None:
    assert decode(b"error: x\nevent: e\ndata: {}\n\n") == [ServerEvent("e", "{}")]


def test_an_empty_field_named_error_is_nothing() -> None:
    assert decode(b"error:\n\nerror\n\n") == []


def test_an_event_pending_at_the_end_of_the_body_is_given_out() -> None:
    assert decode(b"data: {}\n") == [ServerEvent("message", "{}")]
    assert decode(b"event: e\ndata: {}") == [ServerEvent("e", "{}")]
    assert decode(b"data: {}\r") == [ServerEvent("message", "{}")]


def test_the_end_of_the_body_gives_an_event_once() -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: {}")
    assert decoder.close() == [ServerEvent("message", "{}")]
    assert decoder.close() == []


def test_an_empty_body_has_no_events() -> None:
    assert decode() == []
    assert decode(b"", b"") == []


def test_a_character_may_be_cut_between_its_bytes() -> None:
    assert decode(*[bytes([byte]) for byte in "data: {日本語 🌍}\n\n".encode()]) == [
        ServerEvent("message", "{日本語 🌍}")
    ]


def test_bytes_that_are_no_utf8_become_replacement_characters() -> None:
    assert decode(b"data: {\xff\xe6\x97}\n\n") == [ServerEvent("message", "{\ufffd\ufffd}")]


def test_half_a_character_at_the_end_of_the_body_becomes_a_replacement_character() -> None:
    assert decode(b"data: {\xe6\x97") == [ServerEvent("message", "{\ufffd")]


def test_half_a_character_before_a_line_end_leaves_the_line_end_standing() -> None:
    assert decode(b"event: \xe6\x97\ndata: {\xe6\n\ndata: {}\n\n") == [
        ServerEvent("\ufffd", "{\ufffd"),
        ServerEvent("message", "{}"),
    ]


def test_a_block_of_bare_json_is_an_event_with_that_data() -> None:
    assert decode(b'data: {}\r\n\r\n{\r\n  "error": {"code": 503}\r\n}\r\n') == [
        ServerEvent("message", "{}"),
        ServerEvent("message", '{\n  "error": {"code": 503}\n}'),
    ]


def test_half_a_block_of_bare_json_is_no_event() -> None:
    assert decode(b'data: {}\n\n{\n  "error": {\n') == [ServerEvent("message", "{}")]
