"""Endpoints of one's own: one Model with a Dialect, a row in code, or rows in a JSON file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.models.providers import PROVIDERS, find_provider
from thinkaloud.protocols.registry import PROTOCOL_IDS
from thinkaloud.testing import Reply, Scripted, serve

CALL = ta.ToolCall("call_1", name="look", arguments_json="{}")


@pytest.fixture(autouse=True)
def same_table() -> Iterator[None]:
    before = dict(PROVIDERS)
    yield
    PROVIDERS.clear()
    PROVIDERS.update(before)


def script() -> Scripted:
    return Scripted([Reply([ta.Thinking("Look."), CALL]), "Done."], thinking_in="reasoning")


async def look(model: str | ta.Model, **arguments: Any) -> None:
    """Ask, look, and ask again with the result."""
    async with ta.Client(**arguments) as client:
        history = ta.Conversation("Hi")
        first = await client.complete(model, history, reasoning="high", tools=[ta.Tool("look")])
        assert first.thinking == "Look."
        last = await client.complete(model, history.adding(first, ta.ToolResult("call_1", "seen")), reasoning="high")
        assert last.text == "Done."


@pytest.mark.anyio
async def test_one_model_with_a_dialect_is_an_endpoint() -> None:
    async with serve(script()) as server:
        model = ta.Model(
            "my-lab",
            "lab-1",
            protocol="openai-chat",
            base_url=f"{server.url}/api/v1",
            dialect=ta.Dialect(
                reasoning_field="reasoning", replay="must", replay_field="reasoning", effort="openrouter"
            ),
        )
        await look(model, api_key="secret-1")
        first, second = server.requests
    assert first.path == "/api/v1/chat/completions"
    assert first.credentials == {"authorization": "Bearer secret-1"}
    assert first.json["reasoning"] == {"effort": "high"}
    assert second.json["messages"][1]["reasoning"] == "Look."


@pytest.mark.anyio
async def test_a_row_in_a_json_file_is_a_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "secret-2")
    async with serve(script()) as server:
        row = {
            "id": "my-lab",
            "protocol": "openai-chat",
            "base_url": f"{server.url}/{{place}}/v1",
            "parts": [{"name": "place", "variables": ["LAB_PLACE"], "default": "north"}],
            "key_variables": ["LAB_KEY"],
            "key_header": "api-key",
            "surfaces": [{"protocol": "anthropic-messages", "models": "claude"}],
            "dialect": {
                "reasoning_field": "reasoning",
                "replay": "must",
                "levels": ["low", "high"],
                "thinking_fields": [["think_aloud", True]],
                "by_model": [["^old-", {"replay": "never", "effort": "none"}]],
            },
        }
        (tmp_path / "providers.json").write_text(json.dumps({"providers": [row]}))
        (loaded,) = ta.load_providers(tmp_path / "providers.json")
        assert find_provider("my-lab") is loaded
        assert loaded.dialect.for_model("OLD-1") == ta.Dialect(replay="never", effort="none")
        assert loaded.protocol_of("claude-9") == "anthropic-messages"
        await look("my-lab/lab-1", endpoint={"place": "south"})
        first, second = server.requests
    assert first.path == "/south/v1/chat/completions"
    assert first.credentials == {"api-key": "secret-2"}
    assert (first.json["reasoning_effort"], first.json["think_aloud"]) == ("high", True)
    assert second.json["messages"][1]["reasoning"] == "Look."


def file(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "p.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


GOOD = {"id": "a", "protocol": "openai-chat", "base_url": "https://a.example/v1"}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"protocol": "openai-chat"}, r"providers\[1\]\.id is missing"),
        ({**GOOD, "id": "a/b"}, r"providers\[1\]: id='a/b'"),
        ({**GOOD, "protocol": "smoke"}, r"providers\[1\]: protocol='smoke'.*openai-chat"),
        ({**GOOD, "base": "x"}, r"providers\[1\]\.base is no field.*base_url"),
        ({**GOOD, "base_url": 7}, r"providers\[1\]\.base_url must be a text"),
        ({**GOOD, "base_url": "https://{x}.example"}, r"providers\[1\]: base_url=.*\{x\}"),
        ({**GOOD, "key_header": "cookie"}, r"providers\[1\]\.key_header is 'cookie'.*bearer"),
        ({**GOOD, "dialect": {"replay": "maybe"}}, r"providers\[1\]\.dialect\.replay is 'maybe'.*must"),
        ({**GOOD, "dialect": {"levels": ["high", "low"]}}, r"providers\[1\]: dialect\.levels.*lowest"),
        ({**GOOD, "dialect": {"by_model": [["(", {}]]}}, r"providers\[1\]\.dialect\.by_model\[0\]='\('"),
        ({**GOOD, "surfaces": [{"protocol": "gemini", "models": "["}]}, r"providers\[1\]: surfaces\[0\]\.models="),
        ("a", r"providers\[1\] must be an object"),
    ],
)
def test_a_wrong_row_is_refused_by_its_field_and_nothing_is_registered(row: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ta.ConfigurationError, match=rf"p\.json: {words}"):
        ta.load_providers(file(tmp_path, {"providers": [GOOD, row]}))
    assert "a" not in PROVIDERS


@pytest.mark.parametrize("content", ["{", "[]", {"providers": {}}, "[" * 100_000])
def test_a_file_that_holds_no_providers_is_refused(content: Any, tmp_path: Path) -> None:
    with pytest.raises(ta.ConfigurationError, match=r"p\.json"):
        ta.load_providers(file(tmp_path, content))


def test_a_row_of_ones_own_takes_the_place_of_one_that_is_there() -> None:
    ta.register_provider(ta.Provider(id="kimi", protocol="openai-chat", base_url="https://kimi.example/v1"))
    assert ta.prepare("kimi/k", "Hi").request.url == "https://kimi.example/v1/chat/completions"
    assert ta.prepare("moonshot/k", "Hi").request.url == "https://api.moonshot.ai/v1/chat/completions"


def test_what_is_no_provider_is_refused() -> None:
    with pytest.raises(ta.ConfigurationError, match="must be a Provider"):
        ta.register_provider("my-lab")  # type: ignore[arg-type]


def test_rows_know_the_protocols_that_there_are() -> None:
    from thinkaloud.models.provider import PROTOCOLS

    assert set(PROTOCOLS) == set(PROTOCOL_IDS)
    for row in PROVIDERS.values():
        ta.register_provider(row)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"replay": "always"}, "Dialect.replay must be one of must, may, never, not 'always'"),
        ({"effort": "much"}, "Dialect.effort must be one of reasoning_effort, openrouter, "),
        ({"stream_usage": "yes"}, "Dialect.stream_usage must be one of stream_options, None, not 'yes'"),
        ({"replay_field": []}, "Dialect.replay_field must be one of reasoning_content, reasoning, "),
    ],
)
def test_a_dialect_knows_its_words(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ta.ConfigurationError) as caught:
        ta.Dialect(**given)
    assert words in str(caught.value)


def test_a_captured_answer_of_a_provider_without_a_row_is_read_in_the_plain_dialect() -> None:
    body = b'data: {"choices":[{"delta":{"content":"<think>a</think>b"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    message = ta.parse("openai-chat", [body], provider="home-made")
    assert (message.text, message.origin.provider) == ("<think>a</think>b", "home-made")
