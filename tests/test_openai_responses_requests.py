"""A call becomes a request body of the Responses API."""

from __future__ import annotations

from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.content import Document, Image, Opaque, Text, ToolCall
from thinkaloud.errors import ConfigurationError
from thinkaloud.messages import AssistantMessage, Message, ToolResult, UserMessage
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.openai_responses import PROTOCOL
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions
from thinkaloud.protocols.registry import wire_protocol
from thinkaloud.tools import ServerTool, Tool, ToolChoice

MODEL = Model("openai", "gpt-5.5", protocol="openai-responses")


def request(*messages: Message, model: Model = MODEL, **call: Any) -> Encoded:
    return PROTOCOL.encode(Call(model=model, messages=messages or (UserMessage("q"),), **call))


def body(*messages: Message, **call: Any) -> Any:
    return request(*messages, **call).body


def said(*blocks: Any) -> Any:
    """The content that is sent for a user message of these blocks."""
    return body(UserMessage(blocks))["input"][0]["content"]


def codes(encoded: Encoded) -> list[tuple[str, str]]:
    return [(notice.code, notice.path) for notice in encoded.notices]


def test_the_registry_knows_the_protocol() -> None:
    assert wire_protocol("openai-responses") is PROTOCOL
    assert (PROTOCOL.framing, PROTOCOL.options) == ("sse", OpenAIResponsesOptions)


def test_the_smallest_call_keeps_nothing_at_the_provider() -> None:
    encoded = request()
    assert encoded.path == "/responses"
    assert encoded.body == {
        "model": "gpt-5.5",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "q"}]}],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
    }
    assert (encoded.level, encoded.notices, dict(encoded.headers)) == (None, (), {})


def test_an_answer_that_is_not_streamed_is_not_asked_to_stream() -> None:
    assert "stream" not in body(stream=False)


@pytest.mark.parametrize("provider", ["openai", "xai", "deepseek", "openrouter"])
def test_a_model_names_the_protocol_at_any_provider(provider: str) -> None:
    plan = ta.prepare(Model(provider, "m", protocol="openai-responses"), "q")
    chat = ta.prepare(f"{provider}/m", "q")
    assert plan.request.url == chat.request.url.replace("/chat/completions", "/responses")


def test_system_text_is_the_instructions() -> None:
    assert body(system="Be brief.")["instructions"] == "Be brief."
    assert "instructions" not in body(system=" ")


def test_limits_and_sampling_have_their_names() -> None:
    sent = body(model=Model("openai", "gpt-4.1"), max_tokens=500, temperature=0.5, top_p=0.9)
    assert (sent["max_output_tokens"], sent["temperature"], sent["top_p"]) == (500, 0.5, 0.9)


def test_sampling_is_left_out_while_the_model_thinks() -> None:
    encoded = request(temperature=0.5, top_p=0.9)
    assert codes(encoded) == [("sampling_dropped", "temperature"), ("sampling_dropped", "top_p")]
    assert encoded.body.keys().isdisjoint({"temperature", "top_p"})


def test_sampling_is_sent_where_thinking_is_off() -> None:
    assert body(temperature=0.5, reasoning=ta.ThinkingLevel.OFF)["temperature"] == 0.5


def test_sampling_is_left_out_where_the_dialect_says_so() -> None:
    call: Any = {"model": Model("own", "m"), "temperature": 0.5, "reasoning": ta.ThinkingLevel.HIGH}
    assert "temperature" not in body(dialect=Dialect(samples_thinking=False), **call)
    assert "temperature" in body(dialect=Dialect(), **call)


def test_other_providers_models_may_take_sampling_while_they_think() -> None:
    model = Model("xai", "grok-4.3")
    assert body(model=model, temperature=0.5, reasoning=ta.ThinkingLevel.HIGH)["temperature"] == 0.5


def test_what_the_protocol_lacks_is_told() -> None:
    encoded = request(top_k=5, seed=7, stop=("END",))
    assert codes(encoded) == [("option_ignored", name) for name in ("top_k", "seed", "stop")]
    assert encoded.body.keys().isdisjoint({"top_k", "seed", "stop"})


# tools

ADD = Tool("add", "Adds.", {"type": "object", "properties": {}})


def test_tools_are_flat_and_say_that_they_are_not_strict() -> None:
    assert body(tools=(ADD, Tool("now", strict=True)))["tools"] == [
        {
            "type": "function",
            "name": "add",
            "description": "Adds.",
            "parameters": {"type": "object", "properties": {}},
            "strict": False,
        },
        {"type": "function", "name": "now", "parameters": {"type": "object", "properties": {}}, "strict": True},
    ]


def test_the_providers_own_tools_go_as_they_are() -> None:
    tool: Any = {"type": "web_search", "filters": {"allowed_domains": ["a.b"]}}
    assert body(tools=(ServerTool(tool),))["tools"] == [tool]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (ToolChoice("auto"), "auto"),
        (ToolChoice("none"), "none"),
        (ToolChoice("required"), "required"),
        (ToolChoice.tool("add"), {"type": "function", "name": "add"}),
        (ToolChoice.tool("sql"), {"type": "custom", "name": "sql"}),
    ],
)
def test_the_choice_of_a_tool(choice: ToolChoice, sent: Any) -> None:
    tools = (ADD, ServerTool({"type": "custom", "name": "sql"}))
    assert body(tools=tools, tool_choice=choice)["tool_choice"] == sent


def test_parallel_calls_can_be_refused() -> None:
    assert body(tools=(ADD,), tool_choice=ToolChoice("auto", parallel=False))["parallel_tool_calls"] is False


def test_a_choice_without_tools_is_told() -> None:
    encoded = request(tool_choice=ToolChoice("required"))
    assert codes(encoded) == [("option_ignored", "tool_choice")]
    assert "tool_choice" not in encoded.body


# what users say


def test_texts_of_a_user_are_parts_and_empty_ones_are_not() -> None:
    assert said(Text("a"), Text(""), Text("b")) == [
        {"type": "input_text", "text": "a"},
        {"type": "input_text", "text": "b"},
    ]


@pytest.mark.parametrize(
    ("image", "url"),
    [
        (Image("AAAA", media_type="image/webp"), "data:image/webp;base64,AAAA"),
        (Image("/9j/4AAQ"), "data:image/jpeg;base64,/9j/4AAQ"),
        (Image("AAAA"), "data:image/png;base64,AAAA"),
        (Image(url="https://a.b/c.png"), "https://a.b/c.png"),
    ],
)
def test_an_image_is_a_url(image: Image, url: str) -> None:
    assert said(image) == [{"type": "input_image", "detail": "auto", "image_url": url}]


def test_an_image_may_say_its_detail_and_be_a_file() -> None:
    assert said(Image(extra={"file_id": "f1", "detail": "low"})) == [
        {"type": "input_image", "detail": "low", "file_id": "f1"}
    ]


@pytest.mark.parametrize(
    ("document", "part"),
    [
        (
            Document("AAAA", name="a.pdf"),
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"},
        ),
        (Document(url="https://a.b/c.pdf"), {"type": "input_file", "file_url": "https://a.b/c.pdf"}),
        (Document(extra={"file_id": "f1"}), {"type": "input_file", "file_id": "f1"}),
        (Document.from_text("Hi", name="a.txt"), {"type": "input_text", "text": "a.txt\n\nHi"}),
    ],
)
def test_a_document_is_a_file_or_its_text(document: Document, part: Any) -> None:
    assert said(document) == [part]


def test_a_picture_or_a_document_of_nothing_is_refused() -> None:
    for block in (Image(), Document()):
        with pytest.raises(ConfigurationError, match=r"messages\[0\].content\[0\]"):
            said(block)


def test_a_cache_breakpoint_goes_with_its_part() -> None:
    mark = {"mode": "explicit"}
    (part,) = said(Text("a", extra={"prompt_cache_breakpoint": mark, "other": 1}))
    assert part == {"type": "input_text", "text": "a", "prompt_cache_breakpoint": mark}


def test_items_of_a_user_stand_for_themselves_where_they_are() -> None:
    answer: Any = {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True}
    file = {"type": "input_file", "file_id": "f"}
    blocks: list[Any] = [
        Text("before"),
        Opaque("openai-responses", kind="mcp_approval_response", data=answer),
        Opaque("openai-responses", kind="input_file", data=file),
    ]
    assert body(UserMessage(blocks))["input"] == [
        {"role": "user", "content": [{"type": "input_text", "text": "before"}]},
        answer,
        {"role": "user", "content": [file]},
    ]


def test_blocks_of_other_protocols_are_left_out_and_told() -> None:
    encoded = request(UserMessage([Opaque("gemini", kind="x", data={})]))
    assert codes(encoded) == [("block_omitted", "messages[0].content[0]"), ("message_omitted", "messages[0]")]
    assert encoded.body["input"] == []


# what tools give


def results(*content: Any, **extra: Any) -> Any:
    call = AssistantMessage([ToolCall("c1", name="f", arguments_json="{}", extra=extra)])
    return body(UserMessage("q"), call, ToolResult("c1", content))["input"][-1]


def test_a_result_of_text_is_a_string() -> None:
    assert results(Text("a"), Text("b")) == {"type": "function_call_output", "call_id": "c1", "output": "a\n\nb"}
    assert results()["output"] == ""


def test_a_result_with_a_picture_is_parts() -> None:
    assert results(Text("a"), Image("AAAA"))["output"] == [
        {"type": "input_text", "text": "a"},
        {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAAA"},
    ]


def test_the_result_of_a_custom_call_is_its_own_kind() -> None:
    assert results(Text("a"), type="custom")["type"] == "custom_tool_call_output"


def test_an_error_is_told_by_its_text() -> None:
    call = AssistantMessage([ToolCall("c1", name="f", arguments_json="{}")])
    item = body(UserMessage("q"), call, ToolResult("c1", "It broke.", is_error=True))["input"][-1]
    assert item["output"] == "It broke."


# caching, options, strings


def test_a_cache_is_led_by_a_key_where_the_provider_knows_one() -> None:
    dialect = Dialect(cache_key=True)
    key = body(cache="auto", dialect=dialect)["prompt_cache_key"]
    assert key == body(UserMessage("other"), cache="auto", dialect=dialect)["prompt_cache_key"]
    assert key != body(cache="auto", dialect=dialect, system="x")["prompt_cache_key"]
    assert codes(request(cache="1h", dialect=dialect)) == [("cache_time_ignored", "cache")]
    assert "prompt_cache_key" not in body(cache="auto")


def test_native_options_go_into_the_body() -> None:
    options = OpenAIResponsesOptions(
        verbosity="low",
        text_format={"type": "json_object"},
        truncation="auto",
        service_tier="flex",
        prompt_cache_key="k",
        prompt_cache_retention="24h",
        prompt_cache_options={"mode": "implicit", "ttl": "30m"},
        max_tool_calls=3,
        context_management=[{"type": "compaction", "compact_threshold": 1000}],
        metadata={"a": "b"},
        safety_identifier="s",
        user="u",
        include=["message.output_text.logprobs"],
    )
    sent = body(options=options)
    assert sent["text"] == {"format": {"type": "json_object"}, "verbosity": "low"}
    assert sent["include"] == ["reasoning.encrypted_content", "message.output_text.logprobs"]
    assert {
        name: sent[name] for name in sent if name not in ("model", "input", "stream", "store", "text", "include")
    } == {
        "truncation": "auto",
        "service_tier": "flex",
        "prompt_cache_key": "k",
        "prompt_cache_retention": "24h",
        "prompt_cache_options": {"mode": "implicit", "ttl": "30m"},
        "max_tool_calls": 3,
        "context_management": [{"type": "compaction", "compact_threshold": 1000}],
        "metadata": {"a": "b"},
        "safety_identifier": "s",
        "user": "u",
    }


@pytest.mark.parametrize(
    ("options", "stored"),
    [
        (OpenAIResponsesOptions(store=True), True),
        (OpenAIResponsesOptions(previous_response_id="resp_1"), True),
        (OpenAIResponsesOptions(conversation="conv_1"), True),
        (OpenAIResponsesOptions(previous_response_id="resp_1", store=False), False),
    ],
)
def test_what_goes_on_from_a_stored_answer_is_stored(options: OpenAIResponsesOptions, stored: bool) -> None:
    sent = body(options=options)
    assert sent["store"] is stored
    assert ("include" in sent) is not stored


def test_options_of_another_protocol_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="OpenAIResponsesOptions"):
        request(options=object())


def test_halves_of_characters_are_replaced() -> None:
    assert said(Text("a\ud800b"))[0]["text"] == "a\ufffdb"
