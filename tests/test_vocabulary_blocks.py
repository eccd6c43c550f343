"""Blocks: how they are made, what they say of themselves, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from thinkaloud.content import Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import MalformedToolArguments

LONG = "EqQBCgIYAhIk" + "x" * 500


def test_blocks_take_one_argument_by_place() -> None:
    makers: list[Callable[[], object]] = [
        lambda: Text("a", "signature"),  # type: ignore[call-arg]
        lambda: Thinking("a", "signature"),  # type: ignore[call-arg]
        lambda: ToolCall("id", "name"),  # type: ignore[call-arg]
        lambda: Image("data", "image/png"),  # type: ignore[call-arg]
        lambda: Document("data", "application/pdf"),  # type: ignore[call-arg]
        lambda: Opaque("protocol", "kind", {}),  # type: ignore[call-arg]
    ]
    for make in makers:
        with pytest.raises(TypeError):
            make()


@pytest.mark.parametrize(
    ("block", "fields"),
    [
        (Text, {"text": None}),
        (Text, {"text": b"bytes"}),
        (Text, {"text": "a", "signature": b"bytes"}),
        (Text, {"text": "a", "complete": 1}),
        (Text, {"text": "a", "citations": ["text"]}),
        (Text, {"text": "a", "citations": 5}),
        (Text, {"text": "a", "extra": [("a", 1)]}),
        (Text, {"text": "a", "extra": {"a": {1, 2}}}),
        (Text, {"text": "a", "extra": {1: "a"}}),
        (Thinking, {"text": None}),
        (Thinking, {"signature": 5}),
        (Thinking, {"redacted_data": b"bytes"}),
        (ToolCall, {"id": None, "name": "n"}),
        (ToolCall, {"id": "i", "name": None}),
        (ToolCall, {"id": "i"}),
        (ToolCall, {"id": "i", "name": "n", "arguments_json": {}}),
        (Image, {"data": b"bytes"}),
        (Image, {"url": 5}),
        (Document, {"data": b"bytes"}),
        (Document, {"name": 5}),
        (Opaque, {"protocol": "p", "kind": "k", "data": "text"}),
        (Opaque, {"protocol": "p", "kind": None, "data": {}}),
        (Opaque, {"protocol": "p", "kind": "k"}),
    ],
)
def test_a_field_of_the_wrong_type_is_a_type_error(block: type, fields: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        block(**fields)


def test_provider_fields_are_copied_on_the_way_in() -> None:
    inner = ["a"]
    extra: dict[str, Any] = {"ids": inner}
    text = Text("t", extra=extra, citations=[extra])
    thinking, call = Thinking("t", extra=extra), ToolCall("i", name="n", extra=extra)
    image, document = Image(extra=extra), Document(extra=extra)
    opaque = Opaque("p", kind="k", data=extra)
    inner.append("b")
    extra["more"] = 1
    for kept in (text.extra, thinking.extra, call.extra, image.extra, document.extra, *text.citations):
        assert kept == {"ids": ["a"]}
    assert opaque.data == {"ids": ["a"]}


def test_provider_fields_count_in_comparison_and_not_in_hash() -> None:
    plain, with_extra = Thinking("t"), Thinking("t", extra={"id": 1})
    assert plain != with_extra
    assert hash(plain) == hash(with_extra)


def test_signed_thinking_has_its_text_and_signature() -> None:
    block = Thinking.signed("hm", "c2ln")
    assert block == Thinking("hm", signature="c2ln")
    assert not block.redacted
    assert not block.withheld


def test_redacted_thinking_has_a_payload_and_no_text() -> None:
    block = Thinking.redacted_payload("cGF5bG9hZA==")
    assert block == Thinking("", redacted_data="cGF5bG9hZA==")
    assert block.redacted
    assert not block.withheld


def test_withheld_thinking_has_a_signature_and_no_text() -> None:
    block = Thinking("", signature="c2ln")
    assert block.withheld
    assert not block.redacted


def test_thinking_with_payload_and_signature_is_redacted_and_not_withheld() -> None:
    block = Thinking("", signature="c2ln", redacted_data="cGF5")
    assert block.redacted
    assert not block.withheld


def test_plain_thinking_is_neither_redacted_nor_withheld() -> None:
    assert not Thinking("hm").redacted
    assert not Thinking("hm").withheld
    assert not Thinking("").withheld


def test_opaque_strings_stay_as_they_came() -> None:
    for text in ("", " padded \n", "a+/=", "a-_", "\u2028", "=" * 3):
        assert Thinking("", signature=text, redacted_data=text).signature == text
        assert ToolCall("i", name="n", signature=text).signature == text


def test_arguments_are_a_fresh_dict_each_time() -> None:
    call = ToolCall("i", name="n", arguments_json='{"a": [1]}')
    first = call.arguments
    first["a"] = "changed"
    assert call.arguments == {"a": [1]}


def test_a_call_without_argument_text_has_no_arguments() -> None:
    assert ToolCall("i", name="n").arguments == {}


def test_arguments_that_are_no_object_raise_with_their_text() -> None:
    with pytest.raises(MalformedToolArguments) as raised:
        _ = ToolCall("i", name="n", arguments_json='{"a": ').arguments
    assert raised.value.raw == '{"a": '


def test_a_repr_shows_the_start_and_the_length_of_an_opaque_string() -> None:
    assert repr(Thinking.signed("hm", LONG)) == (
        "Thinking(text='hm', signature='EqQBCgIYAhIk…' (512 characters), redacted_data=None, complete=True)"
    )


def test_a_repr_shows_a_short_opaque_string_whole() -> None:
    assert "signature='c2ln'" in repr(Text("a", signature="c2ln"))


def test_a_repr_leaves_out_provider_fields() -> None:
    secret = {"encrypted": LONG}
    for block in (
        Text("t", extra=secret, citations=[secret]),
        Thinking("t", redacted_data=LONG, extra=secret),
        ToolCall("i", name="n", signature=LONG, extra=secret),
        Image(LONG, url=LONG, extra=secret),
        Document(LONG, text=LONG, url=LONG, extra=secret),
        Opaque("p", kind="k", data=secret),
    ):
        assert LONG not in repr(block)


def test_bytes_become_base64() -> None:
    assert Image.from_bytes(b"\x00\xff", "image/png") == Image("AP8=", media_type="image/png")
    assert Document.from_bytes(b"\x00\xff", name="a.pdf") == Document(
        "AP8=", media_type="application/pdf", name="a.pdf"
    )


def test_pictures_and_documents_may_be_named_by_url() -> None:
    assert Image.from_url("https://a.example/x.png") == Image(url="https://a.example/x.png")
    assert Document.from_url("https://a.example/x.pdf", name="x").url == "https://a.example/x.pdf"


def test_a_document_may_be_plain_text() -> None:
    assert Document.from_text("hello", name="n") == Document(text="hello", media_type="text/plain", name="n")
