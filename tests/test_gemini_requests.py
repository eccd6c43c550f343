"""Neutral arguments become requests of generateContent."""

from __future__ import annotations

from typing import Any

import pytest

from support.gemini_wire import write
from thinkaloud.content import Document, Image, Opaque, Text, ToolCall
from thinkaloud.errors import ConfigurationError
from thinkaloud.messages import AssistantMessage, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.plan import build_plan
from thinkaloud.protocols.gemini import GeminiOptions
from thinkaloud.tools import ServerTool, Tool, ToolChoice

ADD = Tool("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
NOW = Tool("now")
SEARCH = ServerTool({"googleSearch": {}})
PNG = "iVBORw0KGgoAAAA"
GOOGLE = "https://generativelanguage.googleapis.com/v1beta"


def test_a_plain_question_is_one_content() -> None:
    written = write("Why?", system="Be brief.")
    assert written.url == f"{GOOGLE}/models/gemini-3.5-flash:streamGenerateContent?alt=sse"
    assert written.body == {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [{"role": "user", "parts": [{"text": "Why?"}]}],
    }
    assert written.notices == ()


def test_a_whole_answer_has_a_path_of_its_own() -> None:
    plan = build_plan("google/gemini-3.5-flash", "Why?", {}, stream=False)
    assert plan.request.url == f"{GOOGLE}/models/gemini-3.5-flash:generateContent"


@pytest.mark.parametrize(
    ("id", "path"),
    [
        ("tunedModels/abc", "/tunedModels/abc:streamGenerateContent?alt=sse"),
        ("models/gemini-x", "/models/gemini-x:streamGenerateContent?alt=sse"),
        ("odd:name?x", "/models/odd%3Aname%3Fx:streamGenerateContent?alt=sse"),
    ],
)
def test_the_id_of_a_model_is_written_into_the_path(id: str, path: str) -> None:
    assert write(model=Model("google", id)).url == GOOGLE + path


def test_vertex_is_reached_with_a_key_or_under_a_project() -> None:
    express = "https://aiplatform.googleapis.com/v1beta1/publishers/google"
    assert write(model="google-vertex/gemini-x").url.startswith(f"{express}/models/gemini-x:")
    project = "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/publishers/google"
    assert write(model="google-vertex/gemini-x", base_url=project).url.startswith(f"{project}/models/gemini-x:")


def test_sampling_and_limits_go_into_the_generation_config() -> None:
    written = write(temperature=0.5, top_p=0.9, top_k=5, seed=7, max_tokens=100, stop=["END"])
    assert written.body["generationConfig"] == {
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 5,
        "seed": 7,
        "maxOutputTokens": 100,
        "stopSequences": ["END"],
    }


def test_caching_needs_no_field() -> None:
    assert write(cache="auto").notices == ()
    assert write(cache="1h").codes == [("option_ignored", "cache")]


# tools


def test_functions_are_declared_with_a_real_json_schema() -> None:
    assert write(tools=[ADD, NOW]).body["tools"] == [
        {
            "functionDeclarations": [
                {"name": "add", "description": "Adds.", "parametersJsonSchema": ADD.schema},
                {"name": "now"},
            ]
        }
    ]


def test_keywords_that_the_api_stumbles_over_are_rewritten() -> None:
    schema: dict[str, Any] = {
        "$schema": "x",
        "type": "object",
        "title": "T",
        "properties": {
            "title": {"const": "a", "title": "Title"},
            "list": {"type": "array", "items": {"anyOf": [{"const": 1}, {"exclusiveMinimum": 0, "type": "integer"}]}},
        },
        "$defs": {"const": {"type": "string", "examples": ["x"]}},
        "default": {"const": 1},
    }
    [tools] = write(tools=[Tool("odd", schema=schema)]).body["tools"]
    assert tools["functionDeclarations"][0]["parametersJsonSchema"] == {
        "type": "object",
        "properties": {
            "title": {"enum": ["a"]},
            "list": {"type": "array", "items": {"anyOf": [{"enum": [1]}, {"type": "integer"}]}},
        },
        "$defs": {"const": {"type": "string"}},
        "default": {"const": 1},
    }


def test_a_declaration_of_its_own_form_is_sent_as_it_is() -> None:
    tool = Tool("odd", extra={"parameters": {"type": "OBJECT"}, "behavior": "BLOCKING"})
    [tools] = write(tools=[tool]).body["tools"]
    assert tools["functionDeclarations"] == [{"name": "odd", "parameters": {"type": "OBJECT"}, "behavior": "BLOCKING"}]


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (ToolChoice.tool("add"), {"mode": "ANY", "allowedFunctionNames": ["add"]}),
    ],
)
def test_the_choice_of_tools_is_a_mode(choice: Any, config: dict[str, Any]) -> None:
    assert write(tools=[ADD], tool_choice=choice).body["toolConfig"] == {"functionCallingConfig": config}


def test_a_strict_tool_is_validated() -> None:
    strict = Tool("add", schema=ADD.schema, strict=True)
    assert write(tools=[strict]).body["toolConfig"] == {"functionCallingConfig": {"mode": "VALIDATED"}}


def test_a_choice_without_functions_is_not_sent() -> None:
    assert "toolConfig" not in write(tools=[SEARCH], tool_choice="auto").body
    with pytest.raises(ConfigurationError, match="needs tools"):
        write(tools=[SEARCH], tool_choice="required")


def test_one_call_at_a_time_cannot_be_asked_for() -> None:
    written = write(tools=[ADD], tool_choice=ToolChoice("auto", parallel=False))
    assert written.codes == [("option_ignored", "tool_choice")]


def test_a_server_tool_goes_beside_functions_where_the_model_joins_them() -> None:
    body = write(tools=[ADD, SEARCH]).body
    assert body["tools"][1] == {"googleSearch": {}}
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}
    for model in ("google/gemini-2.5-pro", "google-vertex/gemini-3.5-flash"):
        assert "toolConfig" not in write(tools=[ADD, SEARCH], model=model).body
    assert "toolConfig" not in write(tools=[SEARCH]).body


def test_without_a_choice_the_server_runs_nothing_either() -> None:
    written = write(tools=[ADD, SEARCH], tool_choice="none")
    assert [list(tool) for tool in written.body["tools"]] == [["functionDeclarations"]]
    assert written.codes == [("server_tools_omitted", "tools")]


# what a user says


def test_media_go_inline_or_by_their_address() -> None:
    message = UserMessage(
        [
            Text("See"),
            Image(PNG),
            Image(url="data:image/webp;base64,aGk="),
            Image(url="https://a.example/b.jpg?x=1", extra={"mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"}}),
            Document("aGk=", name="a.pdf"),
            Document.from_text("é"),
            Document(url="gs://b/c", media_type="video/mp4"),
            Opaque("gemini", kind="fileData", data={"fileData": {"fileUri": "files/1"}}),
        ]
    )
    assert write(message).contents[0]["parts"] == [
        {"text": "See"},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"inlineData": {"mimeType": "image/webp", "data": "aGk="}},
        {
            "fileData": {"mimeType": "image/jpeg", "fileUri": "https://a.example/b.jpg?x=1"},
            "mediaResolution": {"level": "MEDIA_RESOLUTION_LOW"},
        },
        {"inlineData": {"mimeType": "application/pdf", "data": "aGk="}},
        {"inlineData": {"mimeType": "text/plain", "data": "w6k="}},
        {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/c"}},
        {"fileData": {"fileUri": "files/1"}},
    ]


def test_an_image_of_no_type_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"messages\[0\].content\[0\]"):
        write(UserMessage([Image("aGk=")]))


def test_empty_text_and_blocks_of_other_protocols_are_left_out() -> None:
    message = UserMessage([Text(""), Opaque("anthropic-messages", kind="x", data={}), Text("Hi")])
    written = write(message)
    assert written.contents == [{"role": "user", "parts": [{"text": "Hi"}]}]
    assert written.codes == [("block_omitted", "messages[0].content[1]")]


def test_half_a_character_becomes_a_replacement_character() -> None:
    assert write("a\ud83d").contents[0]["parts"] == [{"text": "a\ufffd"}]


def test_models_without_a_place_for_system_text_get_it_first() -> None:
    written = write(model="google/gemma-3-27b-it", system="Be brief.")
    assert "systemInstruction" not in written.body
    assert written.contents == [{"role": "user", "parts": [{"text": "Be brief."}, {"text": "Hi"}]}]
    assert written.codes == [("system_moved", "system")]


def test_a_history_that_begins_with_the_model_gets_an_empty_user_text() -> None:
    written = write([AssistantMessage("Hello"), UserMessage("Hi")])
    assert written.contents[0] == {"role": "user", "parts": [{"text": ""}]}


# results


def conversation(*results: ToolResult) -> list[Any]:
    calls = [ToolCall(f"c{number}", name=f"tool{number}", arguments_json="{}") for number in (1, 2)]
    return ["Go", AssistantMessage(calls[: len(results)]), *results, UserMessage("And?")]


def told(*results: ToolResult, model: str = "google/gemini-3.5-flash") -> Any:
    messages = [UserMessage(item) if isinstance(item, str) else item for item in conversation(*results)]
    return write(messages, model=model)


def test_results_stand_together_in_the_order_of_their_calls() -> None:
    contents = told(ToolResult("c2", "two"), ToolResult("c1", "one", is_error=True)).contents
    assert contents[2:] == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "tool1", "response": {"error": "one"}}},
                {"functionResponse": {"id": "c2", "name": "tool2", "response": {"output": "two"}}},
            ],
        },
        {"role": "user", "parts": [{"text": "And?"}]},
    ]


def test_the_text_of_a_result_is_one_string_whatever_it_says() -> None:
    [_, _, results, _] = told(ToolResult("c1", [Text('{"$ref": "x"}'), Text("b")])).contents
    assert results["parts"][0]["functionResponse"]["response"] == {"output": '{"$ref": "x"}\nb'}
    [_, _, results, _] = told(ToolResult("c1")).contents
    assert results["parts"][0]["functionResponse"]["response"] == {"output": ""}


def test_media_lie_inside_a_result_where_the_model_takes_them() -> None:
    written = told(ToolResult("c1", [Text("See"), Image(PNG)]))
    assert written.contents[2]["parts"][0]["functionResponse"] == {
        "id": "c1",
        "name": "tool1",
        "response": {"output": "See"},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
    }
    assert ("moved_behind_results", "messages[2].content[1]") not in written.codes


@pytest.mark.parametrize(
    ("model", "image"),
    [("google/gemini-2.5-pro", Image(PNG)), ("google/gemini-3.5-flash", Image(url="https://a.example/b.png"))],
)
def test_other_media_follow_the_results_in_a_content_of_their_own(model: str, image: Image) -> None:
    written = told(ToolResult("c1", [Text("See"), image]), ToolResult("c2", "two"), model=model)
    assert [[next(iter(part)) for part in content["parts"]] for content in written.contents[2:]] == [
        ["functionResponse", "functionResponse"],
        ["inlineData" if image.data else "fileData"],
        ["text"],
    ]
    assert ("moved_behind_results", "messages[2].content[1]") in written.codes


def test_vertex_gets_no_ids_unless_asked() -> None:
    def ids(**how: Any) -> list[Any]:
        messages = [UserMessage("Go"), *conversation(ToolResult("c1", "one"))[1:]]
        contents = write(messages, **how).contents
        return [
            contents[1]["parts"][0]["functionCall"].get("id"),
            contents[2]["parts"][0]["functionResponse"].get("id"),
        ]

    assert ids() == ["c1", "c1"]
    assert ids(model="google-vertex/gemini-3.5-flash") == [None, None]
    assert ids(model="google-vertex/gemini-3.5-flash", options=GeminiOptions(call_ids=True)) == ["c1", "c1"]


# native options


def test_native_options_have_their_fields() -> None:
    options = GeminiOptions(
        safety_settings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
        service_tier="flex",
        labels={"team": "a"},
        server_tool_parts=True,
        continuation_token="dG9r",
        generation_config={"responseModalities": ["TEXT"]},
    )
    body = write(options=options, max_tokens=5).body
    assert body["safetySettings"] == [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]
    assert (body["serviceTier"], body["labels"], body["continuationToken"]) == ("flex", {"team": "a"}, "dG9r")
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}
    assert body["generationConfig"] == {"maxOutputTokens": 5, "responseModalities": ["TEXT"]}


def test_a_cache_holds_what_the_request_leaves_out() -> None:
    options = GeminiOptions(cached_content="cachedContents/a")
    written = write(system="S", tools=[ADD], tool_choice="auto", options=options)
    assert written.body.keys() == {"contents", "cachedContent"}
    assert [code for code, _ in written.codes] == ["held_by_cache"] * 3


def test_arguments_stream_on_vertex_only() -> None:
    options = GeminiOptions(stream_arguments=True)
    body = write(tools=[ADD], options=options, model="google-vertex/gemini-3.5-flash").body
    assert body["toolConfig"] == {"functionCallingConfig": {"streamFunctionCallArguments": True}}
    with pytest.raises(ConfigurationError, match="stream_arguments"):
        write(tools=[ADD], options=options)
