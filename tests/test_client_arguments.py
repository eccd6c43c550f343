"""Arguments are checked before any network call, and each refusal names the field and the fix."""

from __future__ import annotations

import pickle
import traceback
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.auth.api_key import ApiKey
from thinkaloud.protocols.anthropic.options import AnthropicOptions
from thinkaloud.protocols.openai_chat.options import OpenAIChatOptions

CLAUDE = "anthropic/claude-opus-5"


@pytest.mark.parametrize(
    ("model", "arguments", "words"),
    [
        ("claude", {}, ["model", "provider/model"]),
        ("/x", {}, ["model"]),
        ("anthropic/", {}, ["model"]),
        (CLAUDE, {"reasoning": "huge"}, ["reasoning", "minimal"]),
        (CLAUDE, {"max_tokens": 0}, ["max_tokens"]),
        (CLAUDE, {"max_tokens": True}, ["max_tokens"]),
        (CLAUDE, {"max_tokens": "many"}, ["max_tokens"]),
        (CLAUDE, {"temperature": "hot"}, ["temperature"]),
        (CLAUDE, {"top_p": -0.1}, ["top_p"]),
        (CLAUDE, {"display": "loud"}, ["display", "omitted"]),
        (CLAUDE, {"cache": "forever"}, ["cache", "1h"]),
        (CLAUDE, {"stop": [""]}, ["stop"]),
        (CLAUDE, {"tool_choice": "maybe"}, ["tool_choice", "ToolChoice.tool"]),
        (CLAUDE, {"tools": ["search"]}, ["tools[0]"]),
        (CLAUDE, {"tools": [ta.Tool("a"), ta.Tool("a")]}, ["tools", "'a'", "twice"]),
        (CLAUDE, {"system": 5}, ["system"]),
        (CLAUDE, {"options": OpenAIChatOptions()}, ["options", "AnthropicOptions"]),
        (CLAUDE, {"options": (AnthropicOptions(), AnthropicOptions())}, ["options", "more than one"]),
        (CLAUDE, {"base_url": "http://example.com"}, ["base_url", "https"]),
        (CLAUDE, {"base_url": "ftp://example.com"}, ["base_url"]),
        (CLAUDE, {"base_url": "http://127.0.0.1.evil.example"}, ["base_url", "https"]),
        (CLAUDE, {"base_url": "http://[::1"}, ["base_url"]),
        (CLAUDE, {"base_url": 5}, ["base_url"]),
        (CLAUDE, {"base_url": "https://user:secret@a.example"}, ["base_url", "api_key"]),
        (CLAUDE, {"base_url": "https://a.example/?key=secret"}, ["base_url", "query"]),
        (CLAUDE, {"stop": 5}, ["stop"]),
        (CLAUDE, {"extra_body": [1]}, ["extra_body"]),
        (CLAUDE, {"extra_headers": [("a", "b")]}, ["extra_headers"]),
        (CLAUDE, {"extra_headers": {"x": 5}}, ["extra_headers", "'x'"]),
        (CLAUDE, {"extra_headers": {"x": "é"}}, ["extra_headers", "'x'"]),
        (CLAUDE, {"extra_headers": {"x": "a\r\nb: c"}}, ["extra_headers", "'x'"]),
        (CLAUDE, {"extra_headers": {"content-length": "3"}}, ["extra_headers", "content-length"]),
        (CLAUDE, {"extra_body": {"x": float("nan")}}, ["JSON"]),
        ("azure/gpt", {}, ["base_url"]),
        (ta.Model("mine", "m", protocol="smoke", base_url="https://example.com"), {}, ["smoke", "openai-chat"]),
    ],
)
def test_an_argument_that_cannot_work_is_refused_with_its_name(
    model: Any, arguments: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ta.ConfigurationError) as caught:
        ta.prepare(model, "hi", **arguments)
    for word in words:
        assert word in str(caught.value)


def test_an_unknown_provider_lists_the_known_ones() -> None:
    with pytest.raises(ta.UnknownModel, match="anthropic"):
        ta.prepare("nobody/model", "hi")


def test_an_unknown_argument_is_named() -> None:
    with pytest.raises(ta.UnsupportedOption, match="temprature"):
        ta.prepare(CLAUDE, "hi", temprature=1)  # type: ignore[call-arg]


def test_messages_must_not_be_empty() -> None:
    with pytest.raises(ta.ConfigurationError, match="messages is empty"):
        ta.prepare(CLAUDE, [])


def test_messages_of_a_wrong_type_are_refused() -> None:
    with pytest.raises(ta.ConfigurationError, match="messages"):
        ta.prepare(CLAUDE, [{"role": "user", "content": "hi"}])  # type: ignore[list-item]


def test_a_missing_key_names_its_variable_before_any_network_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ta.MissingCredentials, match="ANTHROPIC_API_KEY") as caught:
        ta.stream(CLAUDE, "hi")
    assert caught.value.variables == ("ANTHROPIC_API_KEY",)


def test_preparing_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert ta.prepare(CLAUDE, "hi").request.url == "https://api.anthropic.com/v1/messages"


def test_a_local_server_needs_no_key() -> None:
    assert ta.stream("ollama/qwen3", "hi").plan.request.url == "http://localhost:11434/v1/chat/completions"


@pytest.mark.parametrize("key", ["", "  ", "two words", "line\nbreak", "ключ"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ta.ConfigurationError, match="api_key") as caught:
        ta.Client(api_key=key)
    assert not key.strip() or key not in str(caught.value)


def test_a_key_shows_in_no_repr_and_no_pickle() -> None:
    key = ApiKey("sk-very-secret")
    client = ta.Client(api_key="sk-very-secret")
    assert "sk-very-secret" not in repr(key) + repr(client)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(key)


@pytest.mark.anyio
async def test_a_key_shows_in_no_traceback_of_a_failed_request() -> None:
    client = ta.Client(api_key="sk-very-secret", base_url="http://127.0.0.1:9")
    with pytest.raises(ta.ConnectFailed, match=r"could be made to http://127\.0\.0\.1:9 ") as caught:
        await client.complete(CLAUDE, "hi")
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    assert "sk-very-secret" not in "".join(shown.format())
    await client.aclose()


def test_one_client_serves_complete_sync_again_and_again() -> None:
    from thinkaloud.testing import serve_in_thread

    with serve_in_thread(["a", "b", "c"]) as server:
        client = ta.Client(api_key="none", base_url=server.base_url("anthropic-messages"))
        assert [ta.complete_sync(CLAUDE, "hi", client=client).text for _ in range(3)] == ["a", "b", "c"]


def test_a_refused_client_can_still_be_shown() -> None:
    assert "Client" in repr(ta.Client.__new__(ta.Client))


@pytest.mark.anyio
@pytest.mark.parametrize("given", [None, 5, "two words"])
async def test_a_callable_that_gives_no_key_is_named(given: Any) -> None:
    client = ta.Client(api_key=lambda: given, base_url="http://127.0.0.1:9")
    with pytest.raises(ta.ConfigurationError, match="api_key"):
        await client.complete(CLAUDE, "hi")


def test_a_plan_holds_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    plan = ta.stream(CLAUDE, "hi").plan
    assert "sk-very-secret" not in repr(plan) + str(plan.request.headers) + str(plan.body)


def test_the_address_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://gateway.example/anthropic/")
    assert ta.prepare(CLAUDE, "hi").request.url == "https://gateway.example/anthropic/v1/messages"


def test_the_address_of_a_call_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://gateway.example")
    plan = ta.prepare(CLAUDE, "hi", base_url="http://127.0.0.1:9")
    assert plan.request.url == "http://127.0.0.1:9/v1/messages"


def test_a_custom_endpoint_needs_no_row_in_the_table() -> None:
    model = ta.Model(
        "mine",
        "my-model",
        protocol="openai-chat",
        base_url="https://llm.example/v1",
        dialect=ta.Dialect(max_tokens_field="max_completion_tokens"),
    )
    plan = ta.prepare(model, "hi", max_tokens=5)
    assert plan.request.url == "https://llm.example/v1/chat/completions"
    assert plan.body["max_completion_tokens"] == 5


def test_extra_fields_and_headers_are_sent_as_they_are() -> None:
    plan = ta.prepare(CLAUDE, "hi", extra_body={"speed": "fast"}, extra_headers={"X-Trace": "7"})
    assert plan.body["speed"] == "fast"
    assert plan.request.headers["x-trace"] == "7"


def test_a_fallback_tuple_of_options_gives_each_protocol_its_own() -> None:
    both = (AnthropicOptions(), OpenAIChatOptions(effort="low"))
    assert ta.prepare(CLAUDE, "hi", options=both).body["model"] == "claude-opus-5"
    assert ta.prepare("groq/openai/gpt-oss-120b", "hi", options=both).body["reasoning_effort"] == "low"


def test_client_defaults_apply_where_a_call_says_nothing() -> None:
    client = ta.Client(api_key="k", max_tokens=77, system="be brief")
    assert client.prepare(CLAUDE, "hi").body["max_tokens"] == 77
    assert client.prepare(CLAUDE, "hi", max_tokens=5).body["max_tokens"] == 5


def test_a_client_refuses_unknown_defaults() -> None:
    with pytest.raises(ta.ConfigurationError, match="colour"):
        ta.Client(colour="blue")  # type: ignore[call-arg]


def test_a_client_takes_one_way_to_send() -> None:
    with pytest.raises(ta.ConfigurationError, match="not both"):
        ta.Client(http_client=object(), transport=object())  # type: ignore[arg-type]


def test_an_http_client_of_another_library_is_refused() -> None:
    with pytest.raises(ta.ConfigurationError, match="httpx"):
        ta.Client(http_client=object())


def test_a_synchronous_http_client_is_refused() -> None:
    httpx = pytest.importorskip("httpx")
    with httpx.Client() as client, pytest.raises(ta.ConfigurationError, match="AsyncClient"):
        ta.Client(http_client=client)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"resoning": "high"}, "did you mean reasoning?"),
        ({"timeout": 5}, "did you mean timeouts, an argument of Client?"),
        ({"api_key": "k"}, "Client(api_key=...)"),
        ({"timeouts": ta.Timeouts()}, "Client(timeouts=...)"),
        ({"zzz": 1}, "there are: allow_http, base_model"),
        ({"max_turn": 3}, "did you mean max_turns"),
    ],
)
def test_an_unknown_argument_gets_a_hint(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ta.UnsupportedOption) as caught:
        ta.prepare(CLAUDE, "hi", **given)
    assert words in str(caught.value)


def test_an_argument_of_runs_is_told_where_it_belongs() -> None:
    for name in set(ta.RunOptions.__annotations__) - set(ta.CallOptions.__annotations__) - {"client", "streaming"}:
        with pytest.raises(ta.UnsupportedOption, match=f"{name} is an argument of run and run_stream"):
            ta.prepare(CLAUDE, "hi", **{name: None})  # type: ignore[arg-type]


def test_a_string_among_blocks_is_text() -> None:
    picture = ta.Image.from_url("https://example.com/harbour.png")
    assert ta.UserMessage(["What is this?", picture]).content == (ta.Text("What is this?"), picture)
    assert ta.AssistantMessage(["A harbour."]).content == (ta.Text("A harbour."),)
    assert ta.ToolResult("c1", ["14:20", picture]).content == (ta.Text("14:20"), picture)
    with pytest.raises(ta.ConfigurationError, match="content must be text or blocks, not dict"):
        ta.ToolResult("c1", {"high water": "14:20"})


def test_what_the_user_says_may_be_a_string_anywhere() -> None:
    history = ta.Conversation("a").adding(ta.AssistantMessage("b"), "c", ["d"])
    assert [message.content[0].text for message in history if isinstance(message, ta.UserMessage)] == ["a", "c", "d"]  # type: ignore[union-attr]
    assert ta.prepare(CLAUDE, ["a", ta.AssistantMessage("b"), "c"]).body["messages"]
    with pytest.raises(TypeError, match=r"messages\[1\] must be a UserMessage"):
        ta.Conversation(["a", {"role": "user"}])  # type: ignore[list-item]


def test_a_bare_function_among_the_tools_is_told_what_makes_a_tool_of_it() -> None:
    def look() -> str:
        return "nothing"

    with pytest.raises(ta.ConfigurationError, match=r"tools\[0\] .* not function; use Tool\.from_function"):
        ta.prepare(CLAUDE, "hi", tools=[look])  # type: ignore[list-item]
    with pytest.raises(ta.ConfigurationError, match=r"a ServerTool, not str$"):
        ta.prepare(CLAUDE, "hi", tools=["look"])  # type: ignore[list-item]


def test_one_tool_needs_no_list() -> None:
    assert len(ta.prepare(CLAUDE, "hi", tools=ta.Tool("look")).body["tools"]) == 1  # type: ignore[arg-type]


def test_a_client_names_a_wrong_limit() -> None:
    with pytest.raises(ta.ConfigurationError, match="timeouts must be Timeouts"):
        ta.Client(timeouts=3)  # type: ignore[arg-type]


def test_a_captured_body_may_be_bytes_but_no_text() -> None:
    body = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}\n\n'
    assert ta.parse("openai-chat", body).text == "hi"
    with pytest.raises(ta.ConfigurationError, match="encode"):
        ta.parse("openai-chat", "text")  # type: ignore[arg-type]


def test_a_call_can_be_made_of_its_arguments() -> None:
    assert ta.ToolCall.of("c1", "look", {"at": "sky"}).arguments == {"at": "sky"}
