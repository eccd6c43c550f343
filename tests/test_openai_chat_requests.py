"""A call as the body of a chat completion: what each endpoint takes, and nothing that nobody asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from thinkaloud.content import Document, Image, Opaque, Text, ToolCall
from thinkaloud.messages import AssistantMessage, Message, ToolResult, UserMessage
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model
from thinkaloud.models.providers import find_provider
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.openai_chat import PROTOCOL, OpenAIChatOptions
from thinkaloud.tools import ServerTool, Tool, ToolChoice

HI = (UserMessage("hi"),)


def encoded(*messages: Message, dialect: Dialect = Dialect(), **fields: Any) -> Encoded:
    return PROTOCOL.encode(Call(model=Model("some", "m"), messages=messages or HI, dialect=dialect, **fields))


def written(*messages: Message, **fields: Any) -> Any:
    return encoded(*messages, **fields).body["messages"]


def codes(found: Encoded) -> list[tuple[str, str]]:
    return [(notice.code, notice.path) for notice in found.notices]


def test_the_least_request() -> None:
    found = encoded(stream=False)
    assert (found.path, dict(found.headers)) == ("/chat/completions", {})
    assert found.body == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def test_a_stream_asks_for_its_usage_where_the_endpoint_wants_to_be_asked() -> None:
    body = encoded().body
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert "stream_options" not in encoded(dialect=Dialect(stream_usage=None)).body


def test_the_system_text_has_the_role_of_the_dialect() -> None:
    assert written(system="Be brief.")[0] == {"role": "system", "content": "Be brief."}
    assert written(system="Be brief.", dialect=Dialect(system_role="developer"))[0]["role"] == "developer"
    assert [message["role"] for message in written(system="")] == ["user"]


def test_limits_and_sampling_go_by_the_names_of_the_dialect() -> None:
    fields: dict[str, Any] = {"max_tokens": 9, "temperature": 0.0, "top_p": 0.5, "seed": 7, "stop": ("a", "b")}
    body = encoded(**fields).body
    assert {name: body[name] for name in fields} == {**fields, "stop": ["a", "b"]}
    other = encoded(dialect=Dialect(max_tokens_field="max_completion_tokens", seed_field="random_seed"), **fields).body
    assert (other["max_completion_tokens"], other["random_seed"]) == (9, 7)
    assert not {"max_tokens", "seed"} & other.keys()


def test_top_k_is_sent_only_where_it_is_known() -> None:
    assert encoded(top_k=5, dialect=Dialect(top_k=True)).body["top_k"] == 5
    found = encoded(top_k=5)
    assert "top_k" not in found.body
    assert codes(found) == [("option_ignored", "top_k")]


# tools

WEATHER = Tool("weather", "Tells the weather", schema={"type": "object", "properties": {"city": {"type": "string"}}})


def test_tools_are_nested_functions() -> None:
    assert encoded(tools=(WEATHER, Tool("noop", strict=True, extra={"cache_control": {"type": "ephemeral"}}))).body[
        "tools"
    ] == [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "Tells the weather",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
            },
        },
        {
            "type": "function",
            "function": {"name": "noop", "parameters": {"type": "object", "properties": {}}, "strict": True},
            "cache_control": {"type": "ephemeral"},
        },
    ]


def test_a_server_tool_is_sent_as_it_is() -> None:
    data: dict[str, Any] = {"type": "custom", "custom": {"name": "sql", "format": {"type": "text"}}}
    assert encoded(tools=(ServerTool(data),)).body["tools"] == [data]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (ToolChoice("auto"), "auto"),
        (ToolChoice("none"), "none"),
        (ToolChoice("required"), "required"),
        (ToolChoice.tool("weather"), {"type": "function", "function": {"name": "weather"}}),
    ],
)
def test_a_tool_choice_is_said_in_the_words_of_the_wire(choice: ToolChoice, sent: Any) -> None:
    body = encoded(tools=(WEATHER,), tool_choice=choice).body
    assert body["tool_choice"] == sent
    assert "parallel_tool_calls" not in body


def test_parallel_calls_can_be_refused() -> None:
    assert encoded(tools=(WEATHER,), tool_choice=ToolChoice(parallel=False)).body["parallel_tool_calls"] is False


def test_a_choice_without_tools_is_not_sent() -> None:
    found = encoded(tool_choice=ToolChoice("required", parallel=False))
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & found.body.keys()
    assert codes(found) == [("option_ignored", "tool_choice")]


# caching


def test_a_cache_key_is_the_same_for_the_same_beginning() -> None:
    openai = find_provider("openai").dialect

    def key(*messages: Message, **fields: Any) -> Any:
        return encoded(*messages, dialect=openai, cache="auto", **fields).body["prompt_cache_key"]

    assert key(system="S") == key(UserMessage("other"), system="S")
    assert len({key(system="S"), key(system="T"), key(system="S", tools=(WEATHER,))}) == 3
    assert (
        encoded(dialect=openai, cache="auto", options=OpenAIChatOptions(prompt_cache_key="mine")).body[
            "prompt_cache_key"
        ]
        == "mine"
    )


def test_an_endpoint_without_cache_keys_gets_none() -> None:
    assert "prompt_cache_key" not in encoded(cache="auto").body
    assert encoded(cache="auto").notices == ()
    assert codes(encoded(cache="1h")) == [("cache_time_ignored", "cache")]


def test_thinking_cannot_be_left_out_of_an_answer() -> None:
    assert codes(encoded(display="omitted")) == [("display_ignored", "display")]
    assert codes(encoded(display="summarized")) == []


# what users say


def test_texts_alone_are_one_string() -> None:
    assert written(UserMessage((Text("a"), Text("b")))) == [{"role": "user", "content": "a\n\nb"}]


def test_images_are_parts() -> None:
    images = (
        Image.from_bytes(b"\x89PNG", "image/png"),
        Image(url="https://example.com/a.jpg", extra={"detail": "low"}),
    )
    assert written(UserMessage((Text("see"), *images))) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.jpg", "detail": "low"}},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("data", "kind"), [("/9j/4AAQ", "image/jpeg"), ("R0lGODlh", "image/gif"), ("AAAA", "image/png")]
)
def test_an_image_that_does_not_name_its_type_is_looked_at(data: str, kind: str) -> None:
    (message,) = written(UserMessage(Image(data)))
    assert message["content"][0]["image_url"]["url"] == f"data:{kind};base64,{data}"


def test_documents_are_files_and_text_documents_are_texts() -> None:
    documents = (
        Document.from_bytes(b"%PDF", name="a.pdf"),
        Document.from_text("body", name="notes.txt"),
        Document.from_url("https://example.com/b.pdf"),
    )
    (message,) = written(UserMessage(documents))
    assert message["content"] == [
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}},
        {"type": "text", "text": "notes.txt\n\nbody"},
        {"type": "file", "file": {"filename": "document.pdf", "file_data": "https://example.com/b.pdf"}},
    ]


def test_a_cache_mark_on_a_text_makes_a_part_of_it() -> None:
    mark = {"type": "ephemeral"}
    (message,) = written(UserMessage(Text("long", extra={"cache_control": mark})))
    assert message["content"] == [{"type": "text", "text": "long", "cache_control": mark}]


def test_opaque_parts_of_this_protocol_are_sent_and_those_of_others_are_not() -> None:
    audio: dict[str, Any] = {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}
    own, foreign = Opaque("openai-chat", kind="input_audio", data=audio), Opaque("gemini", kind="x", data={})
    found = encoded(UserMessage((own, foreign)))
    assert found.body["messages"] == [{"role": "user", "content": [audio]}]
    assert codes(found) == [("block_omitted", "messages[0].content[1]")]


def test_a_message_with_nothing_in_it_is_left_out() -> None:
    found = encoded(UserMessage(()), UserMessage("hi"))
    assert found.body["messages"] == [{"role": "user", "content": "hi"}]
    assert codes(found) == [("message_omitted", "messages[0]")]


# calls and results


def called(*ids: str) -> AssistantMessage:
    return AssistantMessage(tuple(ToolCall(id, name="f", arguments_json='{"a":1}') for id in ids))


def test_calls_and_their_results() -> None:
    assert written(
        UserMessage("q"), called("c1", "c2"), ToolResult("c1", "1"), ToolResult("c2", "2", is_error=True)
    ) == [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
                {"id": "c2", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "1"},
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
    ]


@pytest.mark.parametrize("blank", ["", " \n"])
def test_blank_arguments_are_an_empty_object(blank: str) -> None:
    (message,) = written(AssistantMessage(ToolCall("c", name="f", arguments_json=blank)))
    assert message["tool_calls"][0]["function"]["arguments"] == "{}"


def test_malformed_arguments_go_back_as_the_model_wrote_them() -> None:
    (message,) = written(AssistantMessage(ToolCall("c", name="f", arguments_json="{oops")))
    assert message["tool_calls"][0]["function"]["arguments"] == "{oops"


def test_pictures_of_results_follow_after_all_results() -> None:
    picture = Image("iVBORw0KGgo", media_type="image/png")
    messages = written(
        called("c1", "c2"),
        ToolResult("c1", (Text("a"), picture)),
        ToolResult("c2", picture),
        UserMessage("and?"),
    )
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo"}}
    assert messages[1:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "a"},
        {"role": "tool", "tool_call_id": "c2", "content": "The result follows the tool results."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "From the result of the tool call c1:"},
                part,
                {"type": "text", "text": "From the result of the tool call c2:"},
                part,
            ],
        },
        {"role": "user", "content": "and?"},
    ]


def test_pictures_of_the_last_results_are_sent_too() -> None:
    messages = written(called("c1"), ToolResult("c1", Image(url="https://example.com/a.png")))
    assert [message["role"] for message in messages] == ["assistant", "tool", "user"]


def test_an_empty_result_is_an_empty_string() -> None:
    assert written(called("c"), ToolResult("c"))[1] == {"role": "tool", "tool_call_id": "c", "content": ""}


# ids


@pytest.mark.parametrize("rule", ["openai", "mistral"])
def test_ids_are_rewritten_the_same_for_call_and_result(rule: Any) -> None:
    id = "functions.weather:0-" + "x" * 50
    call, result = written(called(id), ToolResult(id, "1"), dialect=Dialect(tool_id=rule))
    assert call["tool_calls"][0]["id"] == result["tool_call_id"] != id
    again, _ = written(called(id), ToolResult(id, "1"), dialect=Dialect(tool_id=rule))
    assert again == call


def test_ids_have_the_form_that_the_endpoint_demands() -> None:
    def id_of(id: str, rule: Any) -> str:
        (message,) = written(called(id), dialect=Dialect(tool_id=rule))
        found: str = message["tool_calls"][0]["id"]
        return found

    assert len(id_of("x" * 41, "openai")) == 40
    assert id_of("x" * 40, "openai") == "x" * 40
    assert id_of("x" * 41, "openai") != id_of("y" + "x" * 40, "openai")
    assert id_of("AbCdEf012", "mistral") == "AbCdEf012"
    made = id_of("call_1", "mistral")
    assert (len(made), made.isalnum(), made.isascii()) == (9, True, True)
    assert made != id_of("call_2", "mistral")
    assert id_of("x" * 100 + "\ud800", "any") == "x" * 100 + "\ufffd"


# what can be written at all


def test_half_characters_are_replaced_everywhere() -> None:
    found = encoded(
        UserMessage("a\ud83d"),
        AssistantMessage((Text("\udc00b"), ToolCall("c", name="f", arguments_json='"\ud83d\ude00"'))),
        ToolResult("c", "\ud800"),
        system="\udfff",
        tools=(Tool("t", "\ud800", schema={"\ud800": 1}),),
    )
    text = json.dumps(found.body, ensure_ascii=False)
    text.encode()
    assert text.count("\ufffd") == 6
    assert "\U0001f600" in text


def test_stored_messages_are_not_changed() -> None:
    tool = Tool("t", schema={"type": "object", "properties": {}})
    tools: Any = encoded(tools=(tool,)).body["tools"]
    tools[0]["function"]["parameters"]["properties"]["x"] = 1
    assert tool.schema == {"type": "object", "properties": {}}
