"""Structured output: how it is asked for on each wire, what is read, and what happens where it does not fit."""

from __future__ import annotations

import gc
import json
import weakref
from dataclasses import dataclass, field, make_dataclass
from typing import Any

import attrs
import pytest

import thinkaloud as ta
from support.scenario import client_of
from thinkaloud import codec
from thinkaloud.testing import Reply, Scripted
from thinkaloud.typed import reading
from thinkaloud.typed.schema import is_strict, schema_of

CLAUDE = "anthropic/claude-opus-5"


@attrs.frozen
class City:
    """A city."""

    name: str
    people: int = 0


@dataclass
class Open:
    names: dict[str, int] = field(default_factory=dict)


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["name", "people"],
    "additionalProperties": False,
    "description": "A city.",
}
RESPONSES = ta.Model("openai", "gpt-5.5", protocol="openai-responses")
CHAT = ta.Model("openai", "gpt-5.5", protocol="openai-chat")
LOOK = ta.Tool("look", "Looks.", {}, lambda arguments: "seen")
OSLO = '{"name": "Oslo", "people": 700000}'


def body(model: Any, **more: Any) -> Any:
    options: Any = {"output": City, **more}
    return ta.prepare(model, "Which city?", base_url="http://localhost/v1", **options).body


def names(tools: Any) -> list[str]:
    return [tool.get("name") or tool.get("function", tool.get("toolSpec", {})).get("name") for tool in tools]


# how it is asked for


def test_claude_is_told_beside_its_effort() -> None:
    sent = body(CLAUDE, reasoning="high")
    assert sent["output_config"] == {"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}}
    assert sent["thinking"]["type"] == "adaptive"
    assert "tools" not in sent


def test_responses_are_told_in_their_text_format() -> None:
    sent = body(RESPONSES, reasoning="high")
    form = {"type": "json_schema", "name": "City", "schema": SCHEMA, "strict": True}
    assert sent["text"] == {"format": form}
    verbose = body(RESPONSES, options=ta.OpenAIResponsesOptions(verbosity="low"))
    assert verbose["text"] == {"format": form, "verbosity": "low"}


def test_a_native_format_wins() -> None:
    sent = body(RESPONSES, options=ta.OpenAIResponsesOptions(text_format={"type": "json_object"}))
    assert sent["text"] == {"format": {"type": "json_object"}}


def test_chat_completions_are_told_in_their_response_format() -> None:
    form = {"name": "City", "schema": SCHEMA, "strict": True}
    assert body(CHAT, reasoning="high")["response_format"] == {"type": "json_schema", "json_schema": form}


def test_gemini_is_told_in_its_generation_config() -> None:
    generation = body("google/gemini-3-pro", reasoning="high")["generationConfig"]
    assert generation["responseMimeType"] == "application/json"
    assert generation["responseJsonSchema"] == SCHEMA
    assert generation["thinkingConfig"]["includeThoughts"] is True


def test_claude_at_bedrock_is_told_as_json_text() -> None:
    sent = body("bedrock/us.anthropic.claude-sonnet-4-6", reasoning="high")
    form = sent["outputConfig"]["textFormat"]
    assert form["type"] == "json_schema"
    told = form["structure"]["jsonSchema"]
    assert (told["name"], json.loads(told["schema"])) == ("City", SCHEMA)
    assert sent["additionalModelRequestFields"]["thinking"]["type"] == "adaptive"


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("anthropic/claude-haiku-4-5", {}),  # not sure
        (CLAUDE, {"output": Open}),  # an object that is not closed is refused
        (CLAUDE, {"output": ta.Output(City, mode="tool")}),
        ("bedrock/anthropic.claude-sonnet-5-5", {}),
        ("bedrock/amazon.nova-2-lite-v1:0", {}),
        ("google/gemini-2.5-pro", {"tools": [LOOK]}),
        ("google/gemini-2.0-flash", {}),
        ("deepseek/deepseek-v4-pro", {}),
        ("openrouter/anthropic/claude-opus-5", {}),
        (ta.Model("xai", "grok-4", protocol="openai-responses"), {}),
    ],
)
def test_a_tool_gives_the_answer_where_no_format_is_known_to_go_with_thinking(model: Any, options: Any) -> None:
    given: Any = {"output": City, **options}
    plan = ta.prepare(model, "Which city?", base_url="http://localhost/v1", **given)
    assert plan.call.output_schema is None
    told = [tool.name for tool in plan.call.tools if isinstance(tool, ta.Tool)]
    assert told[-1] in ("City", "Open")
    for word in ("json_schema", "responseJsonSchema", "tool_choice", "toolChoice"):
        assert word not in json.dumps(plan.body)


def test_gemini_from_3_on_takes_the_format_beside_tools() -> None:
    sent = body("google/gemini-3-pro", tools=[LOOK])
    assert sent["generationConfig"]["responseJsonSchema"] == SCHEMA
    assert names(sent["tools"][0]["functionDeclarations"]) == ["look"]


def test_a_format_may_be_demanded() -> None:
    sent = body("deepseek/deepseek-v4-pro", output=ta.Output(City, mode="native", name="a city"))
    assert sent["response_format"]["json_schema"]["name"] == "a_city"


def test_fallbacks_are_asked_each_in_its_own_way() -> None:
    plan = ta.prepare(CLAUDE, "Which city?", output=City, fallbacks=["deepseek/deepseek-v4-pro"])
    assert "output_config" in plan.body
    assert names(plan.fallbacks[0].body["tools"]) == ["City"]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (bytes, "output: bytes: bytes has no form in JSON"),
        (5, "output: 5"),
        (City("Oslo"), "output: "),
    ],
)
def test_an_output_that_cannot_work_is_refused(output: Any, words: str) -> None:
    with pytest.raises(ta.ConfigurationError) as caught:
        ta.prepare(CLAUDE, "Which city?", output=output)
    assert words in str(caught.value)


@pytest.mark.parametrize("options", [{"corrections": -1}, {"corrections": True}, {"mode": "json"}])
def test_an_option_of_the_output_that_cannot_work_is_refused(options: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match=next(iter(options))):
        ta.Output(City, **options)


def test_a_tool_of_the_same_name_is_refused_where_a_tool_gives_the_answer() -> None:
    with pytest.raises(ta.ConfigurationError, match="'City' twice"):
        ta.prepare("deepseek/deepseek-v4-pro", "Which city?", output=City, tools=[ta.Tool("City")])


@pytest.mark.parametrize(
    ("kind", "strict"),
    [
        (City, True),
        (list[City], True),
        (int | None, True),
        (Open, False),
        (tuple[int, str], False),
        (Any, False),
        (list[Any], False),
        (list[dict[str, int]], False),
    ],
)
def test_only_closed_schemas_are_strict(kind: Any, strict: bool) -> None:
    assert is_strict(schema_of(kind, every_field=True)) is strict


# what is read

MODELS = [CLAUDE, RESPONSES, CHAT, "google/gemini-3-pro", "bedrock/us.anthropic.claude-sonnet-4-6"]
BY_TOOL = ["anthropic/claude-haiku-4-5", "deepseek/deepseek-v4-pro", "google/gemini-2.0-flash"]


def asking(*replies: Any) -> tuple[Scripted, ta.Client]:
    scripted = Scripted(replies)
    return scripted, client_of(scripted, tools=[])


@pytest.mark.anyio
@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("model", MODELS)
async def test_the_text_is_read(model: Any, streaming: bool) -> None:
    scripted, client = asking(Reply([OSLO]))
    async with client:
        message = await client.complete(model, "Which city?", output=City, streaming=streaming)
    assert message.output == City("Oslo", 700_000)
    assert len(scripted.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("model", BY_TOOL)
async def test_the_call_of_the_tool_is_read(model: Any) -> None:
    _, client = asking(Reply([ta.ToolCall("c", name="City", arguments_json=OSLO)]))
    async with client:
        assert (await client.complete(model, "Which city?", output=City)).output == City("Oslo", 700_000)


def test_a_fence_that_never_ends_is_refused_at_once() -> None:
    for text in ("```" + "\n" * 20_000, "```json\n" + " \n" * 20_000 + "x", "```\n```", "```json {}```"):
        with pytest.raises(ta.OutputError, match="not JSON"):
            ta.Output(City).read(ta.AssistantMessage(text))


@pytest.mark.anyio
@pytest.mark.parametrize("text", [OSLO, f"```json\n{OSLO}\n```", f" ```\n{OSLO}\n```\n"])
async def test_a_model_that_writes_the_answer_as_text_is_read_too(text: str) -> None:
    _, client = asking(text)
    async with client:
        message = await client.complete("deepseek/deepseek-v4-pro", "Which city?", output=City)
    assert message.output == City("Oslo", 700_000)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [(list[str], '{"value": ["a"]}', ["a"]), (int, '{"value": 3}', 3), (City | None, '{"value": null}', None)],
)
async def test_what_is_no_object_is_wrapped_into_one(kind: Any, text: str, value: Any) -> None:
    scripted, client = asking(text)
    async with client:
        assert (await client.complete(RESPONSES, "Which?", output=kind)).output == value
    schema = scripted.requests[0].json["text"]["format"]["schema"]
    assert (schema["type"], schema["required"]) == ("object", ["value"])


@pytest.mark.anyio
async def test_an_answer_that_calls_other_tools_has_no_output_yet() -> None:
    _, client = asking(Reply([ta.ToolCall.of("c", "look", {})]))
    async with client:
        message = await client.complete(CLAUDE, "Which city?", output=City, tools=[LOOK])
    assert message.output is None
    assert [call.name for call in message.tool_calls] == ["look"]


@pytest.mark.anyio
async def test_an_answer_that_was_streamed_can_be_read() -> None:
    output = ta.Output(City)
    _, client = asking(OSLO)
    async with client, client.stream(CLAUDE, "Which city?", output=output) as events:
        assert output.read(await events.message()) == City("Oslo", 700_000)


@pytest.mark.anyio
async def test_the_output_is_no_part_of_the_stored_message_and_can_be_read_again() -> None:
    _, client = asking(OSLO)
    async with client:
        message = await client.complete(CLAUDE, "Which city?", output=City)
    loaded = codec.loads(codec.dumps(message))
    assert "output" not in json.loads(codec.dumps(message))
    assert isinstance(loaded, ta.AssistantMessage)
    assert (loaded, loaded.output) == (message, None)
    assert ta.Output(City).read(loaded) == message.output


# what does not fit


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("It is Oslo.", "it is not JSON"),
        ("", "the answer has no text"),
        ('{"name": "Oslo", "people": "many"}', "people: a whole number is wanted, not 'many'"),
        ('{"people": 1}', "name: the field is missing"),
    ],
)
async def test_an_answer_that_does_not_fit_is_corrected_once(first: str, told: str) -> None:
    scripted, client = asking(Reply([ta.Thinking.signed("Hm.", "c2VhbA=="), first]), OSLO)
    async with client:
        message = await client.complete(CLAUDE, "Which city?", output=City)
    assert message.output == City("Oslo", 700_000)
    said = scripted.requests[1].json["messages"][-1]["content"][-1]["text"]
    assert told in said
    assert message.notices[-1].code == "output_corrected"
    assert message.usage.input == 20
    assert message.cost is not None


@pytest.mark.anyio
async def test_a_call_that_does_not_fit_is_corrected_by_its_result() -> None:
    bad = ta.ToolCall.of("c", "City", {"name": 5})
    scripted, client = asking(Reply([bad]), Reply([ta.ToolCall("d", name="City", arguments_json=OSLO)]))
    async with client:
        message = await client.complete("deepseek/deepseek-v4-pro", "Which city?", output=City)
    assert message.output == City("Oslo", 700_000)
    told = scripted.requests[1].json["messages"][-1]
    assert (told["role"], told["tool_call_id"]) == ("tool", "c")
    assert "name: a string is wanted, not 5" in told["content"]


@pytest.mark.anyio
async def test_an_answer_that_never_fits_raises_with_the_raw_text() -> None:
    scripted, client = asking("No.", "Still no.")
    async with client:
        with pytest.raises(ta.OutputError, match="does not fit City") as caught:
            await client.complete(CLAUDE, "Which city?", output=City)
    assert caught.value.raw == "Still no."
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Still no."
    assert len(scripted.requests) == 2


@pytest.mark.anyio
async def test_corrections_can_be_left_out() -> None:
    scripted, client = asking("No.")
    async with client:
        with pytest.raises(ta.OutputError):
            await client.complete(CLAUDE, "Which city?", output=ta.Output(City, corrections=0))
    assert len(scripted.requests) == 1


@pytest.mark.anyio
@pytest.mark.parametrize("stop", [ta.StopReason.LENGTH, ta.StopReason.REFUSAL])
async def test_an_answer_that_ended_early_is_not_corrected(stop: ta.StopReason) -> None:
    scripted, client = asking(Reply('{"name": "Os', stop=stop))
    async with client:
        with pytest.raises(ta.OutputError, match=f"ended early \\({stop.value}\\)") as caught:
            await client.complete(CLAUDE, "Which city?", output=City)
    assert caught.value.raw == '{"name": "Os'
    assert len(scripted.requests) == 1


# in runs


@pytest.mark.anyio
async def test_a_run_ends_with_its_output_and_keeps_the_correction() -> None:
    looks = Reply([ta.Thinking.signed("Look.", "c2VhbA=="), ta.ToolCall.of("c", "look", {})])
    scripted = Scripted([looks, "Oslo.", OSLO, "It is."], verify_signatures=True)
    async with client_of(scripted, tools=[LOOK]) as client:
        result = await ta.run(CLAUDE, "Which city?", output=City, client=client)
        assert (result.output, result.turns) == (City("Oslo", 700_000), 3)
        assert [type(message).__name__ for message in result.messages[3:]] == [
            "AssistantMessage",
            "UserMessage",
            "AssistantMessage",
        ]
        assert (await ta.run(CLAUDE, "Sure?", history=result, client=client)).text == "It is."


@pytest.mark.anyio
async def test_a_run_by_tool_answers_the_call_so_that_it_can_go_on() -> None:
    bad, good = ta.ToolCall.of("c", "City", {}), ta.ToolCall("d", name="City", arguments_json=OSLO)
    scripted = Scripted([Reply([bad]), Reply([good]), "It is."], verify_signatures=True)
    async with client_of(scripted, tools=[LOOK]) as client:
        result = await ta.run("deepseek/deepseek-v4-pro", "Which city?", output=City, client=client)
        assert (result.output, result.turns, result.tool_calls) == (City("Oslo", 700_000), 2, 0)
        assert [message.is_error for message in result.messages if isinstance(message, ta.ToolResult)] == [True, False]
        more = await ta.run("deepseek/deepseek-v4-pro", "Sure?", history=result, client=client)
    assert more.text == "It is."


@pytest.mark.anyio
@pytest.mark.parametrize("model", [CLAUDE, "deepseek/deepseek-v4-pro"])
async def test_a_run_whose_output_never_fits_tells_so(model: str) -> None:
    async with client_of(Scripted(["No.", "No."])) as client:
        with pytest.raises(ta.RunError, match="OutputError") as caught:
            await ta.run(model, "Which city?", output=City, client=client)
    assert isinstance(caught.value.__cause__, ta.OutputError)
    assert caught.value.__cause__.raw == "No."
    assert caught.value.partial is not None
    assert caught.value.partial.turns == 2


def test_types_that_are_made_for_one_call_are_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_KINDS", 20)

    def made_for_one_call(number: int) -> weakref.ref[type]:
        kind: Any = make_dataclass(f"Answer{number}", [("a", int)])
        assert reading.read({"a": number}, kind).a == number
        return weakref.ref(kind)

    made = [made_for_one_call(number) for number in range(70)]
    gc.collect()
    assert sum(kind() is not None for kind in made) <= 21
