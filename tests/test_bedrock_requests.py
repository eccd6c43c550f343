"""Requests of Converse: where each neutral argument goes, and what is told of those that go nowhere."""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.content import Document, Image, Opaque, Text, ToolCall
from thinkaloud.errors import ConfigurationError
from thinkaloud.messages import AssistantMessage, ToolResult, UserMessage
from thinkaloud.plan import Plan, build_plan
from thinkaloud.protocols.bedrock import BedrockOptions
from thinkaloud.tools import ServerTool, Tool, ToolChoice

NOVA = "bedrock/amazon.nova-pro-v1:0"
CLAUDE = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
OPUS = "bedrock/anthropic.claude-opus-5-5"
WRITER = "bedrock/us.writer.palmyra-x4-v1:0"
LLAMA = "bedrock/meta.llama3-2-1b-instruct-v1:0"
ADD = Tool("add", "adds", {"type": "object", "properties": {"a": {"type": "number"}}})
PNG = "iVBORw0KGgoAAAA="


def plan_of(model: str = NOVA, messages: Any = "Hi", *, stream: bool = True, **arguments: Any) -> Plan:
    options: Any = {"base_url": "https://example.com", **arguments}
    return build_plan(model, messages, options, stream=stream)


def body_of(model: str = NOVA, messages: Any = "Hi", **arguments: Any) -> dict[str, Any]:
    return dict(plan_of(model, messages, **arguments).body)


def codes(plan: Plan) -> list[tuple[str, str]]:
    return [(notice.code, notice.path) for notice in plan.notices]


# address


def test_a_stream_and_a_whole_answer_have_paths_of_their_own() -> None:
    streamed, whole = plan_of("bedrock/m"), plan_of("bedrock/m", stream=False)
    assert streamed.request.url == "https://example.com/model/m/converse-stream"
    assert whole.request.url == "https://example.com/model/m/converse"
    assert streamed.request.headers["accept"] == "application/vnd.amazon.eventstream"
    assert whole.request.headers["accept"] == "application/json"
    assert "stream" not in streamed.body


@pytest.mark.parametrize(
    ("id", "escaped"),
    [
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-5-20250929-v1%3A0"),
        (
            "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123",
            "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123",
        ),
        ("plain-id_1.2~3", "plain-id_1.2~3"),
        ("größe x", "gr%C3%B6%C3%9Fe%20x"),
    ],
)
def test_the_models_id_is_escaped_in_the_path(id: str, escaped: str) -> None:
    assert plan_of(f"bedrock/{id}").request.url == f"https://example.com/model/{escaped}/converse-stream"


# the plain parts


def test_a_plain_question_is_nothing_but_messages() -> None:
    assert body_of() == {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}


def test_limits_sampling_and_stops_go_into_the_inference_config() -> None:
    body = body_of(max_tokens=100, temperature=0.5, top_p=0.9, stop=["END", "  "])
    assert body["inferenceConfig"] == {"maxTokens": 100, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]}


def test_claude_is_always_given_an_output_limit() -> None:
    assert body_of(CLAUDE)["inferenceConfig"]["maxTokens"] >= 32_000
    assert "inferenceConfig" not in body_of(NOVA)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (NOVA, {"inferenceConfig": {"topK": 5}}),
        (CLAUDE, {"top_k": 5}),
    ],
)
def test_top_k_goes_where_the_vendor_has_it(model: str, fields: dict[str, Any]) -> None:
    assert body_of(model, top_k=5)["additionalModelRequestFields"] == fields


def test_what_a_model_has_not_is_told() -> None:
    assert codes(plan_of(LLAMA, top_k=5, seed=7, display="omitted", cache="auto")) == [
        ("option_ignored", "top_k"),
        ("display_ignored", "display"),
        ("cache_ignored", "cache"),
        ("option_ignored", "seed"),
    ]


def test_sampling_that_a_model_refuses_is_left_out() -> None:
    for model in (OPUS, "bedrock/openai.gpt-5.6-sol", "bedrock/us.xai.grok-4.7"):
        plan = plan_of(model, temperature=0.2)
        assert "temperature" not in str(plan.body)
        assert codes(plan) == [("sampling_dropped", "temperature")]


def test_lone_surrogates_are_replaced() -> None:
    assert body_of(messages="a\ud800b", system="\udc00")["messages"][0]["content"] == [{"text": "a\ufffdb"}]


# caching


def test_cache_points_follow_system_tools_and_the_last_question() -> None:
    body = body_of(CLAUDE, system="S", tools=[ADD], cache="1h")
    point = {"cachePoint": {"type": "default", "ttl": "1h"}}
    assert body["system"] == [{"text": "S"}, point]
    assert body["messages"] == [{"role": "user", "content": [{"text": "Hi"}, point]}]
    assert body["toolConfig"]["tools"][-1] == point


def test_nova_has_cache_points_without_a_time_and_none_for_tools() -> None:
    plan = plan_of(NOVA, system="S", tools=[ADD], cache="1h")
    assert plan.body["system"] == [{"text": "S"}, {"cachePoint": {"type": "default"}}]
    tools: Any = plan.body["toolConfig"]
    assert [list(tool) for tool in tools["tools"]] == [["toolSpec"]]
    assert codes(plan) == [("cache_time_ignored", "cache")]


# tools


def test_a_tool_is_a_specification_with_its_schema() -> None:
    tools = [ADD, Tool("now", strict=True, extra={"x": 1}), ServerTool({"systemTool": {"name": "nova_grounding"}})]
    assert body_of(tools=tools)["toolConfig"]["tools"] == [
        {"toolSpec": {"name": "add", "description": "adds", "inputSchema": {"json": dict(ADD.schema)}}},
        {
            "toolSpec": {
                "x": 1,
                "name": "now",
                "inputSchema": {"json": {"type": "object", "properties": {}}},
                "strict": True,
            }
        },
        {"systemTool": {"name": "nova_grounding"}},
    ]


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        ("auto", {"auto": {}}),
        ("required", {"any": {}}),
        (ToolChoice.tool("add"), {"tool": {"name": "add"}}),
    ],
)
@pytest.mark.parametrize("model", [NOVA, CLAUDE])
def test_a_choice_of_tools_is_written(model: str, choice: Any, written: dict[str, Any]) -> None:
    body = body_of(model, tools=[ADD], tool_choice=choice)
    assert body["toolConfig"]["toolChoice"] == written
    assert "additionalModelRequestFields" not in body


def test_claude_is_kept_from_tools_by_its_own_field_and_never_by_both() -> None:
    body = body_of(CLAUDE, tools=[ADD], tool_choice="none")
    assert "toolChoice" not in body["toolConfig"]
    assert body["additionalModelRequestFields"] == {"tool_choice": {"type": "none"}}
    body = body_of(CLAUDE, tools=[ADD], tool_choice=ToolChoice("required", parallel=False))
    assert "toolChoice" not in body["toolConfig"]
    choice = {"type": "any", "disable_parallel_tool_use": True}
    assert body["additionalModelRequestFields"] == {"tool_choice": choice}


def test_other_models_are_kept_from_tools_by_having_none() -> None:
    assert "toolConfig" not in body_of(NOVA, tools=[ADD], tool_choice="none")


def test_tools_that_the_history_needs_stay_and_that_is_told() -> None:
    history = [UserMessage("Hi"), AssistantMessage([ToolCall("t", name="add")]), ToolResult("t", "3")]
    plan = plan_of(NOVA, history, tools=[ADD], tool_choice="none")
    assert "toolConfig" in plan.body
    assert codes(plan) == [("option_ignored", "tool_choice")]


def test_one_call_at_most_cannot_be_asked_of_other_models() -> None:
    plan = plan_of(NOVA, tools=[ADD], tool_choice=ToolChoice(parallel=False))
    assert codes(plan) == [("option_ignored", "tool_choice.parallel")]


@pytest.mark.parametrize("model", [NOVA, CLAUDE])
@pytest.mark.parametrize(
    ("arguments", "word"),
    [({"tool_choice": "required"}, "needs tools"), ({"tools": [ADD], "tool_choice": ToolChoice("tool")}, "name")],
)
def test_a_choice_that_cannot_be_is_refused(model: str, arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        plan_of(model, **arguments)


def test_a_history_with_calls_declares_their_tools_where_none_are_given() -> None:
    history = [UserMessage("Hi"), AssistantMessage([ToolCall("t", name="add")]), ToolResult("t", "3")]
    for model in (NOVA, CLAUDE):
        plan = plan_of(model, history)
        config: Any = plan.body["toolConfig"]
        assert [tool["toolSpec"]["name"] for tool in config["tools"]] == ["add"]
        assert codes(plan) == [("tools_declared", "tools")]
    assert body_of(CLAUDE, history)["additionalModelRequestFields"] == {"tool_choice": {"type": "none"}}


def test_a_forced_call_turns_a_budget_off_for_this_call() -> None:
    plan = plan_of(CLAUDE, tools=[ADD], tool_choice="required", reasoning="high")
    assert plan.body["toolConfig"]["toolChoice"] == {"any": {}}  # type: ignore[index, call-overload]
    assert plan.body["additionalModelRequestFields"] == {"thinking": {"type": "disabled"}}
    assert ("thinking_turned_off", "reasoning") in codes(plan)


# what users and tools say


def said(block: Any) -> Any:
    return body_of(messages=[UserMessage([Text("Look:"), block])])["messages"][0]["content"][1]


@pytest.mark.parametrize(
    ("image", "format"),
    [
        (Image(PNG, media_type="image/png"), "png"),
        (Image("/9j/4AAQ", media_type="image/jpeg"), "jpeg"),
        (Image(PNG), "png"),
        (Image(url=f"data:image/webp;base64,{PNG}"), "webp"),
    ],
)
def test_an_image_has_a_format_and_its_bytes(image: Image, format: str) -> None:
    written = said(image)["image"]
    assert written["format"] == format
    assert written["source"]["bytes"] in (PNG, "/9j/4AAQ")


def test_an_image_may_lie_in_s3() -> None:
    block = Image(url="s3://bucket/a.png", media_type="image/png", extra={"bucketOwner": "123456789012"})
    location = {"uri": "s3://bucket/a.png", "bucketOwner": "123456789012"}
    assert said(block) == {"image": {"format": "png", "source": {"s3Location": location}}}


@pytest.mark.parametrize(
    "image", [Image(url="https://example.com/a.png"), Image("AAAA"), Image("AAAA", media_type="image/tiff")]
)
def test_an_image_that_the_service_cannot_have_is_refused(image: Image) -> None:
    with pytest.raises(ConfigurationError, match=r"messages\[0\]\.content\[1\]"):
        said(image)


def test_documents_have_a_format_a_name_of_their_own_and_their_bytes() -> None:
    blocks = [
        Document("JVBERi0=", media_type="application/pdf", name="Report (final), v2.pdf"),
        Document.from_text("größe", name="notes"),
        Document.from_text("more", name="notes"),
        Document("YSxi", media_type="text/csv", extra={"citations": {"enabled": True}, "context": "c"}),
        Document(url="s3://bucket/a.pdf"),
    ]
    content = body_of(messages=[UserMessage([Text("Read:"), *blocks])])["messages"][0]["content"]
    assert [block["document"] for block in content[1:]] == [
        {"format": "pdf", "name": "Report (final) v2 pdf", "source": {"bytes": "JVBERi0="}},
        {"format": "txt", "name": "notes", "source": {"bytes": "Z3LDtsOfZQ=="}},
        {"format": "txt", "name": "notes 2", "source": {"bytes": "bW9yZQ=="}},
        {
            "format": "csv",
            "name": "document",
            "source": {"bytes": "YSxi"},
            "citations": {"enabled": True},
            "context": "c",
        },
        {"format": "pdf", "name": "document 2", "source": {"s3Location": {"uri": "s3://bucket/a.pdf"}}},
    ]


def test_a_document_in_pieces_goes_as_its_pieces() -> None:
    document = Document("", media_type="text/plain", extra={"content": [{"text": "a"}, {"text": "b"}]})
    assert said(document)["document"]["source"] == {"content": [{"text": "a"}, {"text": "b"}]}


@pytest.mark.parametrize("document", [Document(url="https://example.com/a.pdf"), Document("AA", media_type="a/b")])
def test_a_document_that_the_service_cannot_have_is_refused(document: Document) -> None:
    with pytest.raises(ConfigurationError, match="s3://"):
        said(document)


def test_blocks_of_the_service_go_as_they_are() -> None:
    data = {"guardContent": {"text": {"text": "Tokyo", "qualifiers": ["query"]}}}
    assert said(Opaque("bedrock-converse", kind="guardContent", data=data)) == data


def test_blank_text_is_not_sent() -> None:
    body = body_of(messages=[UserMessage([Text(" \n"), Text("Hi")])])
    assert body["messages"] == [{"role": "user", "content": [{"text": "Hi"}]}]


def results(model: str, *after: Any) -> Any:
    calls = AssistantMessage([ToolCall("a", name="add"), ToolCall("b", name="add")])
    given = [ToolResult("a", [Text("3"), Image(PNG)]), ToolResult("b", "no", is_error=True)]
    return body_of(model, [UserMessage("Hi"), calls, *given, *after], tools=[ADD])["messages"]


def test_results_of_one_turn_share_a_message_before_what_the_user_says() -> None:
    *_, last = results(NOVA, UserMessage("Go on."))
    image = {"image": {"format": "png", "source": {"bytes": PNG}}}
    assert last == {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": "a", "content": [{"text": "3"}, image]}},
            {"toolResult": {"toolUseId": "b", "content": [{"text": "no"}], "status": "error"}},
            {"text": "Go on."},
        ],
    }


@pytest.mark.parametrize(
    "model", [LLAMA, "bedrock/mistral.mistral-large-3-675b-instruct", "bedrock/us.writer.palmyra-x4-v1:0"]
)
def test_results_stand_alone_where_the_model_wants_it(model: str) -> None:
    *_, given, between, last = results(model, UserMessage("Go on."))
    assert [list(block) for block in given["content"]] == [["toolResult"], ["toolResult"]]
    assert between == {"role": "assistant", "content": [{"text": "."}]}
    assert last == {"role": "user", "content": [{"text": "Go on."}]}


def test_a_model_that_knows_no_failed_results_is_told_none() -> None:
    assert "status" not in str(results(WRITER))


def test_a_document_stands_apart_from_results_with_claude() -> None:
    *_, between, last = results(CLAUDE, UserMessage([Text("Read:"), Document.from_text("x")]))
    assert between["role"] == "assistant"
    assert [list(block) for block in last["content"]] == [["text"], ["document"]]
    *_, last = results(CLAUDE, UserMessage("Go on."))
    assert len(last["content"]) == 3


def test_neighbours_of_one_role_are_one_message() -> None:
    messages = [UserMessage("a"), UserMessage("b"), AssistantMessage("c"), AssistantMessage("d"), UserMessage("e")]
    assert [(turn["role"], len(turn["content"])) for turn in body_of(messages=messages)["messages"]] == [
        ("user", 2),
        ("assistant", 2),
        ("user", 1),
    ]


def test_an_answer_to_go_on_with_has_no_white_space_at_its_end() -> None:
    plan = plan_of(NOVA, [UserMessage("Hi"), AssistantMessage("So it  \n")])
    assert plan.body["messages"][-1] == {"role": "assistant", "content": [{"text": "So it"}]}  # type: ignore[index]
    assert codes(plan) == [("text_trimmed", "messages")]


# native options


def test_native_options_have_their_places() -> None:
    guardrail = {"guardrailIdentifier": "g", "guardrailVersion": "1", "trace": "enabled"}
    options = BedrockOptions(
        guardrail=guardrail,
        service_tier="flex",
        latency="optimized",
        request_metadata={"team": "a"},
        additional_fields={"x": 1, "top_k": 9},
        response_fields="/usage",
    )
    body = body_of(CLAUDE, options=options, top_k=5)
    assert body["guardrailConfig"] == guardrail
    assert body["serviceTier"] == {"type": "flex"}
    assert body["performanceConfig"] == {"latency": "optimized"}
    assert body["requestMetadata"] == {"team": "a"}
    assert body["additionalModelRequestFields"] == {"top_k": 9, "x": 1}
    assert body["additionalModelResponseFieldPaths"] == ["/usage"]


def test_claude_is_asked_for_the_tokens_of_thinking_and_the_stop_sequence() -> None:
    assert body_of(CLAUDE)["additionalModelResponseFieldPaths"] == ["/usage"]
    assert body_of(CLAUDE, stop="X")["additionalModelResponseFieldPaths"] == ["/usage", "/delta/stop_sequence"]
    whole = plan_of(CLAUDE, stream=False, stop="X").body
    assert whole["additionalModelResponseFieldPaths"] == ["/usage", "/stop_sequence"]
    assert "additionalModelResponseFieldPaths" not in body_of(NOVA)
    quiet = body_of(CLAUDE, options=BedrockOptions(response_fields=()))
    assert "additionalModelResponseFieldPaths" not in quiet


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"service_tier": "gold"}, "service_tier"),
        ({"latency": "fast"}, "latency"),
        ({"display": "updates"}, "display"),
        ({"guardrail": {"guardrailIdentifier": "g"}}, "guardrailVersion"),
        ({"guardrail": "g"}, "guardrail"),
        ({"additional_fields": [1]}, "additional_fields"),
        ({"response_fields": ["usage"]}, "response_fields"),
        ({"response_fields": ["/a"] * 11}, "response_fields"),
        ({"effort": ""}, "effort"),
        ({"betas": ["a,b"]}, "betas"),
        ({"thinking": "adaptive"}, "thinking"),
        ({"on_stale": "ignore"}, "on_stale"),
        ({"request_metadata": 7}, "request_metadata"),
    ],
)
def test_an_option_that_cannot_work_is_refused_with_its_name(options: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigurationError, match=word):
        BedrockOptions(**options)


def test_options_of_another_protocol_are_refused() -> None:
    from thinkaloud.protocols.anthropic import AnthropicOptions

    with pytest.raises(ConfigurationError, match="BedrockOptions"):
        plan_of(options=AnthropicOptions())
