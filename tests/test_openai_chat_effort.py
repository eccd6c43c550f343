"""A thinking level becomes the fields that the endpoint takes, clamped to what the model knows."""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import UserMessage
from thinkaloud.model_levels import clamp_thinking_level, supported_thinking_levels
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.models.providers import find_provider
from thinkaloud.plan import prepare
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.openai_chat import OpenAIChatOptions
from thinkaloud.protocols.openai_chat.encode import encode

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


def asked(provider: str, id: str, level: ThinkingLevel | None, **fields: Any) -> Encoded:
    call_fields = {name: fields.pop(name) for name in ("options", "temperature", "top_p") if name in fields}
    dialect = find_provider(provider).dialect.for_model(id)
    model = Model(provider, id, **fields)
    return encode(Call(model=model, messages=(UserMessage("hi"),), reasoning=level, dialect=dialect, **call_fields))


def sent(provider: str, id: str, level: ThinkingLevel | None, **fields: Any) -> dict[str, Any]:
    """What the request says besides what every request says."""
    body = asked(provider, id, level, **fields).body
    return {
        name: value for name, value in body.items() if name not in ("model", "messages", "stream", "stream_options")
    }


def row(provider: str, id: str, *words: Any) -> list[tuple[str, str, ThinkingLevel, dict[str, Any]]]:
    """A row of the table: what goes out for off, minimal, low, medium, high and xhigh."""
    return [(provider, id, level, fields) for level, fields in zip(ThinkingLevel, words, strict=False)]


def effort(*words: str) -> list[dict[str, Any]]:
    return [{"reasoning_effort": word} for word in words]


ON, DISABLED = {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}


def beside(*words: str) -> list[dict[str, Any]]:
    return [{**ON, "reasoning_effort": word} for word in words]


def gateway(*words: str) -> list[dict[str, Any]]:
    return [{"reasoning": {"effort": word}} for word in words]


def budgets(*tokens: int) -> list[dict[str, Any]]:
    return [{"enable_thinking": True, "thinking_budget": count} for count in tokens]


def template(name: str = "enable_thinking") -> list[dict[str, Any]]:
    return [{"chat_template_kwargs": {name: False}}, *[{"chat_template_kwargs": {name: True}}] * 5]


AS_ASKED = ("none", "minimal", "low", "medium", "high", "xhigh", "max")

TABLE = [
    *row("deepseek", "deepseek-v4-pro", DISABLED, *beside("low", "low", "high", "high", "max")),
    *row("openrouter", "any/model", *gateway("none", "minimal", "low", "medium", "high", "xhigh", "max")),
    *row(
        "groq",
        "openai/gpt-oss-120b",
        {"reasoning_effort": "low", "include_reasoning": False},
        *effort("low", "low", "medium", "high", "high"),
    ),
    *row(
        "groq",
        "qwen/qwen3-32b",
        {"reasoning_effort": "none"},
        *[{"reasoning_effort": "default", "reasoning_format": "parsed"}] * 5,
    ),
    *row("xai", "grok-4.3", *effort("none", "low", "low", "medium", "high", "high")),
    *row("xai", "grok-4.5", *effort("low", "low", "low", "medium", "high", "high")),
    *row("xai", "grok-4.7", *effort("low", "low", "low", "medium", "high", "xhigh")),
    *row("xai", "grok-4.20-reasoning", *[{}] * 6),
    *row("mistral", "mistral-medium-latest", *effort("none", "high", "high", "high", "high", "high")),
    *row("qwen", "qwen-plus", {"enable_thinking": False}, *budgets(1024, 2048, 8192, 16384), {"enable_thinking": True}),
    *row("moonshotai", "kimi-k3", *effort("low", "low", "low", "high", "high", "max")),
    *row("moonshotai", "kimi-k2.6", DISABLED, *[ON] * 5),
    *row("moonshotai", "kimi-k2.7-code", *[{}] * 6),
    *row("zai", "glm-5.3", *beside("low", "low", "low", "high", "high", "max")),
    *row("zai", "glm-5.2", DISABLED, *beside("minimal", "low", "medium", "high", "xhigh")),
    *row("zai", "glm-4.7", DISABLED, *[ON] * 5),
    *row("cerebras", "gpt-oss-120b", *effort("low", "low", "low", "medium", "high", "high")),
    *row("cerebras", "kimi-k3", *effort("low", "low", "low", "high", "high", "max")),
    *row("cerebras", "zai-glm-4.7", {"reasoning_effort": "none"}, *[{"clear_thinking": False}] * 5),
    *row("together", "some/hybrid", {"reasoning": {"enabled": False}}, *[{"reasoning": {"enabled": True}}] * 5),
    *row("together", "openai/gpt-oss-20b", *effort("low", "low", "low", "medium", "high", "high")),
    *row("fireworks", "accounts/fireworks/models/x", *effort("none", "low", "low", "medium", "high", "high")),
    *row("fireworks", "accounts/fireworks/models/minimax-m2", *effort("low", "low", "low", "medium", "high", "high")),
    *row("vllm", "Qwen/Qwen3-8B", *template()),
    *row("vllm", "deepseek-ai/DeepSeek-V3.1", *template("thinking")),
    *row("sglang", "openai/gpt-oss-20b", *effort("low", "low", "low", "medium", "high", "high")),
    *row("llama-cpp", "local", *effort("none", "minimal", "low", "medium", "high", "xhigh")),
    *row("lmstudio", "local", *effort("none", "low", "low", "medium", "high", "xhigh")),
    *row("ollama", "qwen3", *effort("none", "low", "low", "medium", "high", "high")),
    *row("gemini-openai", "gemini-2.5-flash", *effort("none", "minimal", "low", "medium", "high", "high")),
    *row("gemini-openai", "gemini-3-pro", *effort("minimal", "minimal", "low", "medium", "high", "high")),
    *row("perplexity", "sonar-reasoning-pro", *effort("minimal", "minimal", "low", "medium", "high", "high")),
    *row("openai", "o4-mini", *effort("low", "low", "low", "medium", "high", "high")),
    *row("openai", "gpt-5-mini", *effort("minimal", "minimal", "low", "medium", "high", "high")),
    *row("openai", "gpt-5.1", *effort("none", "low", "low", "medium", "high", "high")),
    *row("openai", "gpt-5.1-chat-latest", *effort("medium", "medium", "medium", "medium", "medium", "medium")),
    *row("openai", "gpt-5.5", *effort("none", "low", "low", "medium", "high", "xhigh", "xhigh")),
    *row("openai", "gpt-6-astra", *effort("low", "low", "low", "medium", "high", "xhigh", "xhigh")),
    *row("openai", "gpt-9-of-tomorrow", *effort("none", "low", "low", "medium", "high", "xhigh", "xhigh")),
    *row("openai", "tomorrow", *effort(*AS_ASKED)),
    *row("azure", "my-deployment", *effort(*AS_ASKED)),
    *row("huggingface", "org/name", *effort(*AS_ASKED)),
    *row("groq", "tomorrow", *effort(*AS_ASKED)),
    *row("xai", "grok-9", *effort(*AS_ASKED)),
]


@pytest.mark.parametrize(
    ("provider", "id", "level", "fields"), TABLE, ids=lambda value: str(getattr(value, "value", value))
)
def test_each_endpoint_gets_a_level_in_its_own_words(
    provider: str, id: str, level: ThinkingLevel, fields: dict[str, Any]
) -> None:
    assert sent(provider, id, level) == fields


def test_nothing_is_sent_when_nothing_is_asked() -> None:
    for provider in ("openai", "openrouter", "deepseek", "qwen", "vllm"):
        encoded = asked(provider, "gpt-5.5", None)
        assert (sent(provider, "gpt-5.5", None), encoded.level, encoded.notices) == ({}, None, ())


def test_what_is_known_of_the_model_decides_before_its_family() -> None:
    control = ThinkingControl(mode="effort", levels=(OFF, HIGH), native={OFF: "disabled", HIGH: "intense"})
    assert sent("openai", "gpt-5.5", LOW, thinking=control) == {"reasoning_effort": "intense"}
    assert sent("openai", "gpt-5.5", OFF, thinking=control) == {"reasoning_effort": "disabled"}
    budget = ThinkingControl(mode="budget", levels=(OFF, LOW), native={LOW: 777})
    assert sent("qwen", "any", HIGH, thinking=budget) == {"enable_thinking": True, "thinking_budget": 777}


def test_the_base_model_s_family_decides_for_a_deployment() -> None:
    assert sent("azure", "my-deployment", XHIGH, base_model="gpt-5.5") == {"reasoning_effort": "xhigh"}
    assert asked("azure", "my-deployment", XHIGH, base_model="gpt-5.5").body["model"] == "my-deployment"


def test_a_level_that_is_clamped_is_told() -> None:
    encoded = asked("openai", "o4-mini", XHIGH)
    (notice,) = encoded.notices
    assert encoded.level is HIGH
    assert (notice.code, notice.path, notice.detail) == (
        "level_clamped",
        "reasoning",
        {"asked": "xhigh", "sent": "high"},
    )
    assert asked("openai", "o4-mini", HIGH).notices == ()


def test_off_that_cannot_be_is_the_lowest_level_and_told() -> None:
    encoded = asked("xai", "grok-4.7", OFF)
    assert encoded.level is LOW
    assert [notice.code for notice in encoded.notices] == ["level_clamped"]


def test_a_model_without_thinking_ignores_a_level_and_says_so() -> None:
    for provider, id, facts in (
        ("openai", "gpt-4o", {}),
        ("vllm", "any", {"reasoning": False}),
        ("deepseek", "deepseek-reasoner", {}),
    ):
        encoded = asked(provider, id, HIGH, **facts)
        assert encoded.level is None
        assert [notice.code for notice in encoded.notices] == ["level_ignored"]
        assert sent(provider, id, HIGH, **facts) == {}


def test_off_of_a_model_without_thinking_is_what_it_is() -> None:
    assert asked("openai", "gpt-4o", OFF).notices == ()
    assert [notice.code for notice in asked("deepseek", "deepseek-reasoner", OFF).notices] == ["level_ignored"]


def test_a_dialect_that_knows_no_effort_sends_none() -> None:
    call = Call(model=Model("x", "m"), messages=(), reasoning=HIGH, dialect=Dialect(effort="none"))
    assert encode(call).level is None
    assert [notice.code for notice in encode(call).notices] == ["level_ignored"]


def test_every_ladder_is_monotone() -> None:
    for provider, id in {(provider, id) for provider, id, _, _ in TABLE}:
        levels = [asked(provider, id, level).level for level in ThinkingLevel if level is not OFF]
        ranks = [level.rank for level in levels if level is not None]
        assert ranks == sorted(ranks)


# native options


def test_a_native_effort_is_sent_as_it_is_and_wins() -> None:
    encoded = asked("openai", "o4-mini", LOW, options=OpenAIChatOptions(effort="xhigh"))
    assert encoded.body["reasoning_effort"] == "xhigh"
    assert encoded.level is XHIGH
    assert [notice.code for notice in encoded.notices] == ["level_overridden"]
    same = asked("openai", "o4-mini", LOW, options=OpenAIChatOptions(effort="low"))
    assert (same.level, same.notices) == (LOW, ())


def test_a_native_reasoning_object_is_sent_as_it_is() -> None:
    options = OpenAIChatOptions(reasoning={"max_tokens": 2000})
    assert sent("openrouter", "any/model", None, options=options) == {"reasoning": {"max_tokens": 2000}}
    assert asked("openrouter", "any/model", None, options=OpenAIChatOptions(reasoning={"effort": "high"})).level is HIGH
    assert asked("openrouter", "any/model", None, options=OpenAIChatOptions(reasoning={"enabled": False})).level is OFF
    assert asked("openrouter", "any/model", None, options=OpenAIChatOptions(effort="none")).level is OFF
    assert asked("openrouter", "any/model", None, options=OpenAIChatOptions(effort="default")).level is None


# sampling beside thinking


@pytest.mark.parametrize(
    ("provider", "id", "level", "kept"),
    [
        ("openai", "gpt-4o", None, True),
        ("openai", "gpt-5.1", None, True),
        ("openai", "gpt-5.1", OFF, True),
        ("openai", "gpt-5.1", LOW, False),
        ("openai", "gpt-5.5", None, False),
        ("openai", "gpt-5.5", OFF, True),
        ("openai", "o3", None, False),
        ("azure", "my-deployment", None, True),
        ("moonshotai", "kimi-k3", None, False),
        ("deepseek", "deepseek-v4-pro", HIGH, True),
    ],
)
def test_sampling_is_dropped_where_a_thinking_model_refuses_it(
    provider: str, id: str, level: ThinkingLevel | None, kept: bool
) -> None:
    encoded = asked(provider, id, level, temperature=0.5, top_p=0.9)
    assert ("temperature" in encoded.body, "top_p" in encoded.body) == (kept, kept)
    dropped = [notice.path for notice in encoded.notices if notice.code == "sampling_dropped"]
    assert dropped == ([] if kept else ["temperature", "top_p"])


def test_the_levels_of_a_model_are_those_of_the_surface_that_is_called() -> None:
    on_chat = Model("openai", "gpt-6-sol", protocol="openai-chat")
    assert supported_thinking_levels(on_chat) == (OFF, LOW, MEDIUM, HIGH, XHIGH)
    assert supported_thinking_levels("openai/gpt-6-sol") == (OFF, LOW, MEDIUM, HIGH, XHIGH, MAX)
    assert clamp_thinking_level(on_chat, "max") is XHIGH
    assert prepare(on_chat, "q", reasoning="max").level.sent is XHIGH
