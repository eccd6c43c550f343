"""A call becomes a request body of the Messages API."""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.content import Document, Image, Opaque, Text, Thinking
from thinkaloud.errors import ConfigurationError
from thinkaloud.messages import AssistantMessage, Message, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.protocols.anthropic import PROTOCOL
from thinkaloud.protocols.anthropic.options import AnthropicOptions
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.tools import ServerTool, Tool, ToolChoice


def request(*messages: Message, **call: Any) -> Encoded:
    return PROTOCOL.encode(
        Call(model=Model("anthropic", "claude-opus-5"), messages=messages or (UserMessage("q"),), **call)
    )


def body(*messages: Message, **call: Any) -> Any:
    return request(*messages, **call).body


def said(*blocks: Any) -> Any:
    """The content that is sent for a user message of these blocks."""
    return body(UserMessage(blocks))["messages"][0]["content"]


def codes(encoded: Encoded) -> list[tuple[str, str]]:
    return [(notice.code, notice.path) for notice in encoded.notices]


def test_the_registry_knows_the_protocol() -> None:
    assert wire_protocol("anthropic-messages") is PROTOCOL
    assert (PROTOCOL.framing, PROTOCOL.options) == ("sse", AnthropicOptions)


def test_the_smallest_call() -> None:
    encoded = request()
    assert encoded.path == "/v1/messages"
    assert encoded.headers == {"anthropic-version": "2023-06-01"}
    assert encoded.body == {
        "model": "claude-opus-5",
        "max_tokens": 32_000,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}],
        "stream": True,
    }
    assert encoded.notices == ()


def test_a_whole_answer_is_asked_for_by_leaving_stream_out() -> None:
    assert "stream" not in body(stream=False)


def test_system_text_stands_on_top() -> None:
    assert body(system="Be terse.")["system"] == "Be terse."
    assert "system" not in body(system=" \n")


@pytest.mark.parametrize(
    ("cache", "control"), [("auto", {"type": "ephemeral"}), ("1h", {"type": "ephemeral", "ttl": "1h"})]
)
def test_a_cache_marks_the_system_text_and_the_end(cache: str, control: dict[str, str]) -> None:
    sent = body(system="Be terse.", cache=cache)
    assert sent["system"] == [{"type": "text", "text": "Be terse.", "cache_control": control}]
    assert sent["cache_control"] == control


def test_stop_sequences_of_white_space_are_dropped_with_a_notice() -> None:
    encoded = request(stop=("END", "\n\n"))
    assert encoded.body["stop_sequences"] == ["END"]
    assert codes(encoded) == [("stop_dropped", "stop")]
    assert "stop_sequences" not in body(stop=(" ",))


def test_a_seed_is_ignored_with_a_notice() -> None:
    assert codes(request(seed=7)) == [("option_ignored", "seed")]


# tools


def test_tools_are_written_with_their_schema_and_their_own_fields() -> None:
    schema: Any = {"type": "object", "properties": {"a": {"type": "number"}}}
    tools = (
        Tool("add", "adds", schema, strict=True, extra={"defer_loading": True, "name": "ignored"}),
        Tool("bare"),
        ServerTool({"type": "web_search_20250305", "name": "web_search", "max_uses": 3}),
    )
    assert body(tools=tools)["tools"] == [
        {"name": "add", "description": "adds", "input_schema": schema, "strict": True, "defer_loading": True},
        {"name": "bare", "input_schema": {"type": "object", "properties": {}}},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
    ]


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        (ToolChoice(), {"type": "auto"}),
        (ToolChoice("none"), {"type": "none"}),
        (ToolChoice("required"), {"type": "any"}),
        (ToolChoice.tool("f"), {"type": "tool", "name": "f"}),
        (ToolChoice(parallel=False), {"type": "auto", "disable_parallel_tool_use": True}),
        (ToolChoice("required", parallel=False), {"type": "any", "disable_parallel_tool_use": True}),
        (ToolChoice.tool("f", parallel=False), {"type": "tool", "name": "f", "disable_parallel_tool_use": True}),
        (ToolChoice("none", parallel=False), {"type": "none"}),
        (ToolChoice(parallel=True), {"type": "auto"}),
    ],
)
def test_every_tool_choice_has_its_form(choice: ToolChoice, written: dict[str, Any]) -> None:
    assert body(tools=(Tool("f"),), tool_choice=choice)["tool_choice"] == written


def test_a_choice_without_tools_is_left_out_or_refused() -> None:
    assert "tool_choice" not in body(tool_choice=ToolChoice("none"))
    with pytest.raises(ConfigurationError, match="needs tools"):
        request(tool_choice=ToolChoice("required"))
    with pytest.raises(ConfigurationError, match="name of the tool"):
        request(tools=(Tool("f"),), tool_choice=ToolChoice("tool"))


# native options


def test_native_fields_go_as_they_are() -> None:
    options = AnthropicOptions(
        metadata={"user_id": "u"},
        service_tier="standard_only",
        speed="fast",
        inference_geo="us",
        container="container_1",
        context_management={"edits": [{"type": "clear_thinking_20251015"}]},
        betas=("files-api-2025-04-14", "files-api-2025-04-14"),
        api_version="2026-10-21",
    )
    encoded = request(options=options)
    sent = {name: encoded.body[name] for name in ("metadata", "service_tier", "speed", "inference_geo", "container")}
    assert sent == {
        "metadata": {"user_id": "u"},
        "service_tier": "standard_only",
        "speed": "fast",
        "inference_geo": "us",
        "container": "container_1",
    }
    assert encoded.body["context_management"] == {"edits": [{"type": "clear_thinking_20251015"}]}
    assert encoded.headers == {
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "files-api-2025-04-14,context-management-2025-06-27",
    }


def test_options_of_another_class_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="takes AnthropicOptions"):
        request(options=object())


# what a user says


def test_neighbouring_user_messages_are_one_turn() -> None:
    assert body(UserMessage("a"), UserMessage("b"))["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    ]


def test_blank_text_is_left_out_and_told_and_so_is_a_message_of_nothing_else() -> None:
    encoded = request(UserMessage((Text(""), Text(" \n"), Text("a"))), UserMessage(""))
    assert encoded.body["messages"] == [{"role": "user", "content": [{"type": "text", "text": "a"}]}]
    assert [(notice.code, notice.path) for notice in encoded.notices] == [
        ("block_omitted", "messages[0].content[0]"),
        ("block_omitted", "messages[0].content[1]"),
        ("block_omitted", "messages[1].content[0]"),
    ]


@pytest.mark.parametrize("messages", [(UserMessage(""),), (UserMessage(" \n"), AssistantMessage((Thinking("t"),)))])
def test_a_request_of_which_nothing_is_left_is_refused(messages: tuple[Message, ...]) -> None:
    with pytest.raises(ConfigurationError, match="messages"):
        request(*messages)


@pytest.mark.parametrize(
    ("image", "source"),
    [
        (Image("aWE=", media_type="image/webp"), {"type": "base64", "media_type": "image/webp", "data": "aWE="}),
        (Image("iVBORw0KGgoA"), {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoA"}),
        (Image("/9j/4AAQ"), {"type": "base64", "media_type": "image/jpeg", "data": "/9j/4AAQ"}),
        (Image.from_url("https://example.org/a.png"), {"type": "url", "url": "https://example.org/a.png"}),
        (
            Image.from_url("data:image/gif;base64,R0lGOD=="),
            {"type": "base64", "media_type": "image/gif", "data": "R0lGOD=="},
        ),
        (Image(extra={"file_id": "file_1"}), {"type": "file", "file_id": "file_1"}),
    ],
)
def test_every_source_of_an_image_has_its_form(image: Image, source: dict[str, str]) -> None:
    assert said(image) == [{"type": "image", "source": source}]


@pytest.mark.parametrize(
    ("document", "source"),
    [
        (Document("aWE="), {"type": "base64", "media_type": "application/pdf", "data": "aWE="}),
        (Document.from_text("plain"), {"type": "text", "media_type": "text/plain", "data": "plain"}),
        (
            Document.from_bytes("grüß".encode(), "text/markdown"),
            {"type": "text", "media_type": "text/plain", "data": "grüß"},
        ),
        (Document.from_url("https://example.org/a.pdf"), {"type": "url", "url": "https://example.org/a.pdf"}),
        (Document(extra={"file_id": "file_1"}), {"type": "file", "file_id": "file_1"}),
        (
            Document(extra={"content": [{"type": "text", "text": "a"}]}),
            {"type": "content", "content": [{"type": "text", "text": "a"}]},
        ),
    ],
)
def test_every_source_of_a_document_has_its_form(document: Document, source: dict[str, str]) -> None:
    assert said(document) == [{"type": "document", "source": source}]


def test_a_document_keeps_its_name_and_its_own_fields() -> None:
    document = Document.from_text("a", name="notes")
    extra: Any = {"citations": {"enabled": True}, "context": "c", "detail": "of another provider"}
    assert said(Document(text="a", name="notes", extra=extra)) == [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "a"},
            "title": "notes",
            "citations": {"enabled": True},
            "context": "c",
        }
    ]
    assert said(document)[0]["title"] == "notes"


@pytest.mark.parametrize(
    ("block", "fix"),
    [
        (Image("aWE="), r"messages\[0\]\.content\[0\].*media_type"),
        (Image(), "url"),
        (Document(), "text"),
        (Document("%%%", media_type="text/plain"), "base64"),
    ],
)
def test_a_source_that_cannot_be_sent_is_refused_by_name(block: Any, fix: str) -> None:
    with pytest.raises(ConfigurationError, match=fix):
        said(block)


def test_a_block_may_carry_its_own_cache_mark() -> None:
    assert said(Text("a", extra={"cache_control": {"type": "ephemeral"}, "phase": "x"})) == [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    ]


def test_an_opaque_block_of_this_protocol_may_be_said() -> None:
    block: Any = {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "a"}]}
    assert said(Opaque("anthropic-messages", kind="search_result", data=block)) == [block]


def test_half_a_surrogate_pair_is_replaced_wherever_it_stands() -> None:
    sent = body(
        UserMessage("a\ud83d"),
        system="s\ude00",
        tools=(Tool("f", "d\ud83d", {"type": "object", "k\ud83d": "\ud83d\ude00"}),),
        stop=("x\ud83d",),
    )
    assert sent["messages"][0]["content"][0]["text"] == "a\ufffd"
    assert sent["system"] == "s\ufffd"
    assert sent["tools"][0]["description"] == "d\ufffd"
    assert sent["tools"][0]["input_schema"] == {"type": "object", "k\ufffd": "😀"}
    assert sent["stop_sequences"] == ["x\ufffd"]


# tool results


CALLING = AssistantMessage("calling")


def test_results_share_one_user_message_and_stand_before_its_text() -> None:
    sent = body(
        UserMessage("q"),
        CALLING,
        UserMessage("and also"),
        ToolResult("a", "1"),
        ToolResult("b", "2", is_error=True),
        UserMessage("go on"),
    )
    assert sent["messages"][2] == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "1"}]},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "2"}], "is_error": True},
            {"type": "text", "text": "and also"},
            {"type": "text", "text": "go on"},
        ],
    }
    assert len(sent["messages"]) == 3


def test_a_result_may_hold_images_and_documents_or_nothing() -> None:
    sent = body(CALLING, ToolResult("a", (Text("see"), Image("aWE=", media_type="image/png"))), ToolResult("b"))
    full, empty = sent["messages"][1]["content"]
    assert [block["type"] for block in full["content"]] == ["text", "image"]
    assert empty == {"type": "tool_result", "tool_use_id": "b"}


def test_a_body_shares_nothing_with_what_it_was_made_from() -> None:
    options = AnthropicOptions(metadata={"user_id": "u"})
    first = body(options=options, cache="auto")
    first["metadata"]["user_id"] = "changed"
    first["cache_control"]["type"] = "changed"
    assert body(options=options, cache="auto")["metadata"] == {"user_id": "u"}
    assert body(options=options, cache="auto")["cache_control"] == {"type": "ephemeral"}
