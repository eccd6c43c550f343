"""Values made of what they cannot hold: an error of ours that names the field, and a TypeError as with Python's own."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud import messages
from thinkaloud.errors import WrongValue, shown
from thinkaloud.testing import Scripted

_anything: Any = None


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ta.Text(_anything), "Text.text must be str, not NoneType"),
        (lambda: ta.Text("a", citations=_anything), "citations must be a sequence, not NoneType"),
        (lambda: ta.Thinking("a", complete=_anything), "Thinking.complete must be bool, not NoneType"),
        (lambda: ta.ToolCall.of("1", "f", _anything), "expected a JSON object"),
        (lambda: ta.Image.from_bytes("text", "image/png"), "data must be bytes, not str"),  # type: ignore[arg-type]
        (lambda: ta.UserMessage(_anything), "content must be a sequence, not NoneType"),
        (lambda: ta.UserMessage([5]), "UserMessage.content must be Text or .* not int"),  # type: ignore[list-item]
        (lambda: ta.AssistantMessage("a", origin=_anything), "AssistantMessage.origin must be Origin"),
        (lambda: ta.AssistantMessage("a", level=_anything), "level must be a sequence, not NoneType"),
        (lambda: ta.AssistantMessage("a", level=(None,) * 3), "level has 3 values, of at most 2"),  # type: ignore[arg-type]
        (lambda: ta.AssistantMessage("a", timing=5), "timing must be a sequence"),  # type: ignore[arg-type]
        (lambda: ta.AssistantMessage("a", notices=_anything), "notices must be a sequence"),
        (lambda: ta.ToolResult("1", is_error=_anything), "ToolResult.is_error must be bool"),
        (lambda: ta.Conversation(_anything), "messages must be a sequence, not NoneType"),
        (lambda: ta.Conversation([5]), r"messages\[0\] must be a UserMessage"),  # type: ignore[list-item]
        (lambda: ta.Conversation("a").adding(5), "messages must be a sequence, not int"),  # type: ignore[arg-type]
        (lambda: ta.Usage(input=1.5), "input must be a whole number or None, not float"),  # type: ignore[arg-type]
        (lambda: ta.Cost(input=10**400), "Cost.input must be float, not int"),
        (lambda: ta.Notice(_anything), "Notice.code must be str"),
        (lambda: ta.Tool("f", handler=5), "Tool.handler must be a function, not int"),  # type: ignore[arg-type]
        (lambda: ta.Tool("f", "", _anything), "expected a JSON object"),
        (lambda: ta.ServerTool({"a": object()}), "object is not JSON"),  # type: ignore[dict-item]
        (lambda: ta.ToolChoice("some"), "ToolChoice.mode must be one of auto, .* not 'some'"),  # type: ignore[arg-type]
    ],
)
def test_a_value_made_of_the_wrong_type_is_an_error_that_names_the_field(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=told) as raised:
        make()
    assert isinstance(raised.value, TypeError)


def test_a_list_that_holds_itself_is_told_by_its_type() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for make in (ta.Text, ta.ToolResult, ta.Tool, ta.Notice):
        with pytest.raises(ta.ConfigurationError, match="must be str, not list"):
            make(endless)  # type: ignore[arg-type]


def test_wrong_values_survive_pickle() -> None:
    copy = pickle.loads(pickle.dumps(WrongValue("Text.text must be str")))
    assert type(copy) is WrongValue
    assert copy.message == "Text.text must be str"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("high", "'high'"),
        (None, "None"),
        (1.5, "1.5"),
        (7, "7"),
        (10**400, "a number of 1329 bits"),
        ("a" * 1000, f"'{'a' * 80}'… (1000 characters)"),
        ([["deep"]], "<list>"),
        (["a", 1], "['a', 1]"),
        (["a" * 1000], "<list>"),
        ({"a": None}, "{'a': None}"),
    ],
)
def test_what_an_error_quotes_is_short(value: Any, told: str) -> None:
    assert shown(value) == told


_MODEL = "openai/gpt-5.2"
_deep: Any = "deep"
for _ in range(100_000):
    _deep = [_deep]


@pytest.mark.parametrize(
    "options",
    [
        {"tools": True},
        {"processors": 5},
        {"tool_choice": _deep},
        {"reasoning": _deep},
        {"max_tokens": _deep},
        {"temperature": 10**400},
        {"display": _deep},
        {"on_stale": _deep},
        {"endpoint": _deep},
        {"extra_headers": {"x-name": " blank "}},
    ],
)
def test_an_argument_of_the_wrong_type_is_refused_before_any_network(options: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match=next(iter(options))) as raised:
        ta.prepare(_MODEL, "Hello", **options)
    assert len(raised.value.message) < 400


@pytest.mark.parametrize(
    "make",
    [
        lambda: ta.AnthropicOptions(betas=_anything),
        lambda: ta.BedrockOptions(betas=_anything),
        lambda: ta.OpenAIResponsesOptions(include=5),  # type: ignore[arg-type]
        lambda: ta.OpenAIResponsesOptions(context_management=5),
        lambda: ta.OpenAIChatOptions(effort=_deep),
        lambda: ta.GeminiOptions(safety_settings=_deep),
        lambda: ta.Budget(_deep),
        lambda: ta.Retry(limit=_deep),
        lambda: ta.Timeouts(total=_deep),
        lambda: ta.SwitchPolicy(orphans=_deep),
        lambda: ta.trim_turns(_deep),
    ],
)
def test_an_option_of_the_wrong_type_is_refused_and_not_quoted_whole(make: Callable[[], Any]) -> None:
    with pytest.raises(ta.ConfigurationError) as raised:
        make()
    assert len(raised.value.message) < 400


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ta.Model("openai", "gpt-5.2", max_output=0), "Model.max_output=0 must be a whole number above 0"),
        (lambda: ta.Model("openai", _anything), "Model.id must be str"),
        (lambda: ta.Model("mine", "m", dialect=_anything or {}), "Model.dialect must be Dialect"),  # type: ignore[arg-type]
        (lambda: ta.ThinkingControl(mode="budget", min_budget=-1), "ThinkingControl.min_budget"),
        (lambda: ta.ThinkingControl(mode="maybe"), "ThinkingControl.mode must be one of"),  # type: ignore[arg-type]
        (lambda: ta.ThinkingControl(mode="level", levels=("low",)), "ThinkingControl.levels"),  # type: ignore[arg-type]
        (lambda: ta.Dialect(levels=("low",)), "Dialect.levels must hold ThinkingLevels"),  # type: ignore[arg-type]
        (lambda: ta.Dialect(by_model=(("*[", ta.Dialect()),)), r"by_model\[0\]='\*\[' is no regular expression"),
        (lambda: ta.validate("Hello", 5), "model must be"),  # type: ignore[arg-type]
        (lambda: ta.validate("Hello", orphans="drop"), "orphans='drop' must be one of"),  # type: ignore[arg-type]
        (lambda: ta.list_models([]), "provider"),  # type: ignore[arg-type]
        (lambda: ta.load_models(_anything), "path must be the path of a file"),
        (lambda: ta.load_providers("a\0b"), "path has a character"),
        (lambda: ta.parse([], b""), "protocol"),  # type: ignore[arg-type]
        (lambda: ta.parse("openai-chat", ["text"]), "chunks must be bytes"),  # type: ignore[list-item]
        (lambda: ta.parse("openai-chat", _anything), "chunks must be bytes"),
        (lambda: ta.parse("openai-chat", b"", status="200"), "status must be a status"),  # type: ignore[arg-type]
        (lambda: ta.parse("openai-chat", b"", headers={1: 2}), "headers must be"),  # type: ignore[dict-item]
        (lambda: ta.parse("openai-chat", b"", dialect={}), "dialect must be a Dialect"),  # type: ignore[arg-type]
        (lambda: ta.parse("openai-chat", b"", provider=5), "provider must be the id"),  # type: ignore[arg-type]
    ],
)
def test_a_function_refuses_what_it_cannot_take_by_name(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=told):
        make()


@pytest.mark.parametrize("text", [None, 5, memoryview(b"{}")])
def test_stored_text_of_the_wrong_type_is_a_codec_error(text: Any) -> None:
    with pytest.raises(ta.CodecError, match="must be text or bytes"):
        ta.Conversation.from_json(text)


def test_a_preview_of_what_is_no_text_is_empty() -> None:
    assert ta.preview_arguments(_anything) == {}


@pytest.mark.parametrize(
    "row",
    [
        {"key_variables": "LAB_KEY"},
        {"key_variables": ("LAB\ud800KEY",)},
        {"base_url_variable": 5},
        {"surfaces": (5,)},
        {"parts": (ta.AddressPart(name=_anything),)},
        {"dialect": {}},
        {"form": "odd"},
        {"key_required": "yes"},
    ],
)
def test_a_provider_of_wrong_types_is_refused_when_it_is_registered(row: Any) -> None:
    fields = {"id": "lab", "protocol": "openai-chat", "base_url": "https://lab.example/v1", **row}
    with pytest.raises(ta.ConfigurationError, match=next(iter(row))):
        ta.register_provider(ta.Provider(**fields))


@pytest.mark.parametrize(
    "url",
    [
        "https://x.example?",
        "https://x.example/v1#",
        "https://x.example /v1",
        " https://x.example/v1",
        "https://x..example/v1",
        "https://.example",
        "https://a\\b/v1",
        "https://%2f/v1",
        "https://{region}.example/v1",
        "https://" + "a" * 64 + ".example",
    ],
)
def test_an_address_that_http_would_read_otherwise_is_refused(url: str) -> None:
    with pytest.raises(ta.ConfigurationError, match="base_url must"):
        ta.prepare(_MODEL, "Hello", base_url=url)


@pytest.mark.parametrize(
    "model",
    [
        "google/../../other",
        "google/a/..",
        "google/..",
        "google/\ud800",
        "bedrock/..",
        "bedrock/.",
        "bedrock/\ud800",
        "google-vertex/claude-\ud800",
    ],
)
def test_the_id_of_a_model_never_leads_to_another_path(model: str) -> None:
    endpoint = {"region": "us-east-1", "project": "lab", "location": "global"}
    with pytest.raises(ta.ConfigurationError, match="model="):
        ta.prepare(model, "Hello", endpoint=endpoint)


def test_the_id_of_a_local_model_may_be_a_path() -> None:
    assert ta.prepare("llama-cpp/../models/small.gguf", "Hello").body["model"] == "../models/small.gguf"


def test_odd_details_of_thinking_are_left_out() -> None:
    thinking = ta.Thinking("Hm.", extra={"reasoning_details": [1, {"type": "reasoning.text", "text": "Hm."}]})
    answer = ta.AssistantMessage(
        [thinking, ta.Text("Eight.")], origin=ta.Origin("openai-chat", "openrouter", "deepseek/deepseek-r1")
    )
    plan = ta.prepare("openrouter/deepseek/deepseek-r1", ["What time is it?", answer, "And now?"])
    messages: Any = plan.body["messages"]
    assert messages[1]["reasoning_details"] == [{"type": "reasoning.text", "text": "Hm."}]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"fallbacks": True}, "fallbacks must be a sequence, not bool"),
        ({"fallbacks": [_deep]}, r"fallbacks\[0\]=<list>: model must be"),
        ({"output": []}, r"\[\] is no type"),
        ({"output": _deep}, "<list> is no type"),
        ({"output": ([],)}, "is no type"),
        ({"output": 5}, "5 has no form in JSON"),
    ],
)
def test_models_and_types_of_the_wrong_kind_are_refused(options: Any, told: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=told):
        ta.prepare(_MODEL, "Hello", **options)


def test_the_name_of_an_output_is_a_text() -> None:
    with pytest.raises(ta.ConfigurationError, match="name=5 must be a name"):
        ta.Output(list[str], name=5)  # type: ignore[arg-type]


def test_a_transport_that_cannot_send_is_refused_by_the_client() -> None:
    with pytest.raises(ta.ConfigurationError, match="transport must have send and aclose"):
        ta.Client(transport=5)  # type: ignore[arg-type]


class _Odd:
    """Credentials that give anything at all."""

    def __init__(self, given: Any) -> None:
        self._given = given

    async def headers(self, request: Any) -> Any:
        return self._given


class _Sync:
    """Credentials whose author forgot the async."""

    def headers(self, request: Any) -> Any:
        return {"authorization": "Bearer secret-of-mine"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("auth", "told"),
    [
        (_Odd(None), "auth must give headers as a mapping, not NoneType"),
        (_Odd("secret-of-mine"), "auth must give headers as a mapping, not str"),
        (_Odd({"Content-Length": "3"}), "auth gives Content-Length, which only the HTTP library can set"),
        (_Odd({"transfer-encoding": "chunked"}), "auth gives transfer-encoding"),
        (_Odd({"authorization": "secret-of-mine\r\n"}), "auth gives a value for 'authorization'"),
        (_Sync(), "auth must have an async method headers"),
    ],
)
async def test_credentials_that_give_no_headers_are_refused_and_not_shown(auth: Any, told: str) -> None:
    async with ta.Client(auth=auth, transport=Scripted(["Hello"]).transport()) as client:
        with pytest.raises(ta.ConfigurationError, match=told) as raised:
            await client.complete(_MODEL, "Hello")
    assert "secret-of-mine" not in raised.value.message


def test_adding_to_a_conversation_tells_the_place_in_the_whole() -> None:
    with pytest.raises(ta.ConfigurationError, match=r"messages\[2\] must be"):
        ta.Conversation(["a", "b"]).adding(["c"][:0], [5])  # type: ignore[list-item]


def test_adding_a_partial_that_is_none_says_what_none_means() -> None:
    with pytest.raises(ta.WrongValue, match=r"adding\(\) got None: .*\.partial.* is None where no part of an answer"):
        ta.Conversation("a").adding(None)  # type: ignore[arg-type]


def test_adding_reads_no_message_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = ta.Conversation(["a"] * 1000, system="s")
    read: list[int] = []
    real = messages._as_message

    def noted(place: int, item: object) -> Any:
        read.append(place)
        return real(place, item)

    monkeypatch.setattr(messages, "_as_message", noted)
    longer = conversation.adding("b", ["c"])
    assert read == [1000, 1001]
    assert longer == ta.Conversation([*conversation, "b", "c"], system="s")


def test_arguments_of_a_call_that_json_cannot_hold_are_refused() -> None:
    values: list[Any] = [float("nan"), object(), _deep]
    for value in values:
        with pytest.raises(ta.ConfigurationError, match="JSON"):
            ta.ToolCall.of("1", "ring_bell", {"strokes": value})


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: list(ta.replay_events(_anything)), "message must be an AssistantMessage, not NoneType"),
        (lambda: ta.Output(list[str]).read(_anything), "message must be an AssistantMessage, not NoneType"),
        (lambda: ta.run_stream(_MODEL, "Hello", approvals=5), "approvals must be a mapping"),  # type: ignore[arg-type]
    ],
)
def test_what_reads_a_message_or_a_decision_refuses_anything_else(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=told):
        make()


@pytest.mark.anyio
async def test_many_conversations_are_several() -> None:
    with pytest.raises(ta.ConfigurationError, match="conversations must be several"):
        await ta.complete_many(_MODEL, _anything)


NAN = float("nan")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ta.Retry(limit=-1), "Retry.limit=-1 must be a whole number, 0 or more"),
        (lambda: ta.Retry(limit=True), "Retry.limit=True must be a whole number, 0 or more"),
        (lambda: ta.Retry(first_wait=NAN), "Retry.first_wait=nan must be seconds, 0 or more"),
        (lambda: ta.Timeouts(connect=0), "Timeouts.connect=0 must be seconds above 0, or None"),
        (lambda: ta.Timeouts(total=NAN), "Timeouts.total=nan must be seconds above 0, or None"),
        (lambda: ta.Limits(blocks=0), "Limits.blocks=0 must be a whole number above 0"),
        (lambda: ta.Output(int, corrections=-1), "corrections=-1 must be a whole number, 0 or more"),
        (lambda: ta.Tool("f", deadline=NAN), "deadline=nan must be seconds above 0, or None"),
        (lambda: ta.run_stream(_MODEL, "Hello", max_turns=0), "max_turns=0 must be a whole number above 0, or None"),
        (lambda: ta.run_stream(_MODEL, "Hello", max_cost=0), "max_cost=0 must be a number above 0, or None"),
        (lambda: ta.prepare(_MODEL, "Hello", max_tokens=0), "max_tokens=0 must be a whole number above 0, or None"),
        (lambda: ta.Model("a", "b", max_output=0), "Model.max_output=0 must be a whole number above 0, or None"),
        (lambda: ta.trim_turns(0), "turns=0 must be a whole number above 0"),
    ],
)
def test_a_number_that_is_none_or_too_small_is_refused_in_the_same_words_everywhere(
    make: Callable[[], Any], told: str
) -> None:
    with pytest.raises(ta.ConfigurationError) as refused:
        make()
    assert refused.value.message == told


def test_numbers_at_their_bounds_are_taken() -> None:
    assert ta.Retry(limit=0, first_wait=0).limit == 0
    assert ta.Timeouts(connect=0.001, total=None).total is None
    assert ta.Limits(blocks=1).blocks == 1
