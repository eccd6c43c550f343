"""Native options are checked where they are made, and the error names the field and the fix."""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.errors import ConfigurationError, UnsupportedOption
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import UserMessage
from thinkaloud.models.model import Model
from thinkaloud.plan import prepare
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.openai_chat import PROTOCOL, OpenAIChatOptions


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"effort": "huge"}, ("effort='huge'", "'xhigh'")),
        ({"effort": 3}, ("effort=3",)),
        ({"verbosity": "loud"}, ("verbosity='loud'", "'medium'")),
        ({"service_tier": ""}, ("service_tier=''", "not empty")),
        ({"prompt_cache_key": 7}, ("prompt_cache_key=7",)),
        ({"store": "yes"}, ("store='yes'", "True, False")),
        ({"metadata": {"a": 1}}, ("metadata['a']", "512")),
        ({"metadata": {"k" * 65: "v"}}, ("64",)),
        ({"metadata": {"a": "v" * 513}}, ("512",)),
        ({"metadata": {str(n): "v" for n in range(17)}}, ("17 pairs", "16")),
        ({"metadata": ["a"]}, ("metadata=['a']", "mapping")),
        ({"safety_identifier": "x" * 129}, ("safety_identifier has 129", "128")),
        ({"user": ""}, ("user=''",)),
        ({"reasoning": "high"}, ("reasoning='high'", "mapping")),
        ({"reasoning": {1: 2}}, ("reasoning=", "string keys")),
        ({"effort": "low", "reasoning": {"effort": "low"}}, ("effort and reasoning",)),
        ({"reasoning": {"effort": "low", "max_tokens": 5}}, ("effort and max_tokens",)),
        ({"budget": 0}, ("budget=0", "above 0")),
        ({"budget": True}, ("budget=True",)),
        ({"budget": 5, "effort": "low"}, ("effort and budget", "give one")),
        ({"budget": 5, "reasoning": {"enabled": True}}, ("budget and reasoning", "give one")),
        ({"thinking": "enabled"}, ("thinking='enabled'", "mapping")),
        ({"thinking": {"type": "enabled"}, "reasoning": {"enabled": True}}, ("reasoning and thinking", "give one")),
        ({"thinking": {"type": "disabled"}, "effort": "low"}, ("effort", "disabled", "leave one")),
        ({"thinking": {"type": "disabled"}, "budget": 5}, ("budget", "disabled", "leave one")),
        ({"reasoning_format": ""}, ("reasoning_format=''", "not empty")),
    ],
)
def test_what_cannot_work_is_refused_by_name(fields: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAIChatOptions(**fields)
    assert all(word in caught.value.message for word in words)


def test_options_go_into_the_body_under_their_own_names() -> None:
    options = OpenAIChatOptions(
        verbosity="low",
        service_tier="flex",
        prompt_cache_key="k",
        store=False,
        metadata={"team": "a"},
        safety_identifier="s",
        user="u",
    )
    body = PROTOCOL.encode(Call(model=Model("openai", "m"), messages=(UserMessage("hi"),), options=options)).body
    assert {name: body[name] for name in body if name not in ("model", "messages", "stream", "stream_options")} == {
        "verbosity": "low",
        "service_tier": "flex",
        "prompt_cache_key": "k",
        "store": False,
        "metadata": {"team": "a"},
        "safety_identifier": "s",
        "user": "u",
    }


def said(provider: str, id: str, *, reasoning: Any = None, **options: Any) -> tuple[dict[str, Any], Any, list[str]]:
    """What a request says of thinking, the level that was sent, and the notices."""
    plan = prepare(
        Model(provider, id, protocol="openai-chat"), "q", reasoning=reasoning, options=OpenAIChatOptions(**options)
    )
    usual = ("model", "messages", "stream", "stream_options")
    body = {name: value for name, value in plan.body.items() if name not in usual}
    return body, plan.level.sent, [notice.code for notice in plan.notices if notice.code != "unknown_model"]


def test_a_budget_is_said_as_the_endpoint_takes_it() -> None:
    assert said("openrouter", "any/model", budget=2000) == ({"reasoning": {"max_tokens": 2000}}, None, [])
    assert said("qwen", "qwen3.7-plus", budget=2000)[0] == {"enable_thinking": True, "thinking_budget": 2000}
    assert said("vllm", "any", budget=2000)[0] == {"thinking_token_budget": 2000}


@pytest.mark.parametrize("provider", ["deepseek", "sglang", "cerebras", "openai"])
def test_a_budget_is_refused_where_none_is_taken(provider: str) -> None:
    with pytest.raises(UnsupportedOption, match=r"budget=2000: .* use effort"):
        said(provider, "any", budget=2000)


def test_a_switch_goes_beside_the_neutral_level() -> None:
    kept = {"type": "enabled", "clear_thinking": False}
    assert said("zai", "glm-5.2", reasoning="max", thinking=kept) == (
        {"thinking": kept, "reasoning_effort": "max"},
        ThinkingLevel.MAX,
        [],
    )
    assert said("zai", "glm-5.2", reasoning="xhigh", thinking=kept)[1:] == (ThinkingLevel.MAX, ["level_clamped"])


def test_a_switch_wins_over_the_neutral_level() -> None:
    off = {"type": "disabled"}
    assert said("zai", "glm-5.2", reasoning="max", thinking=off) == (
        {"thinking": off},
        ThinkingLevel.OFF,
        ["level_overridden"],
    )
    on = {"type": "enabled"}
    assert said("zai", "glm-5.2", reasoning="off", thinking=on) == ({"thinking": on}, None, ["level_overridden"])


def test_a_format_of_thinking_goes_beside_the_level() -> None:
    assert said("cerebras", "gpt-oss-120b", reasoning="low", reasoning_format="parsed")[:2] == (
        {"reasoning_effort": "low", "reasoning_format": "parsed"},
        ThinkingLevel.LOW,
    )
    assert said("groq", "qwen/qwen3-32b", reasoning_format="hidden")[0] == {"reasoning_format": "hidden"}


@pytest.mark.parametrize(
    "options", [{"reasoning": {"effort": "low"}}, {"thinking": {"type": "enabled"}}, {"reasoning_format": "parsed"}]
)
def test_words_of_other_endpoints_are_refused_for_openai(options: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedOption, match="openai does not know it; use effort"):
        prepare(Model("openai", "gpt-5.1", protocol="openai-chat"), "q", options=OpenAIChatOptions(**options))


def test_an_effort_that_a_known_model_refuses_is_refused_at_once() -> None:
    with pytest.raises(ConfigurationError, match=r"effort='xhigh': gpt-5.1 .*; use 'none', 'low', 'medium', 'high'$"):
        said("openai", "gpt-5.1", effort="xhigh")
    with pytest.raises(ConfigurationError, match="effort='max': gpt-6-sol does not take it here"):
        said("openai", "gpt-6-sol", effort="max")
    with pytest.raises(ConfigurationError, match="effort='low': gpt-4o does not think"):
        said("openai", "gpt-4o", effort="low")


def test_an_effort_of_a_model_that_is_not_known_goes_as_it_is() -> None:
    assert said("openai", "gpt-next", effort="max")[0] == {"reasoning_effort": "max"}
    assert said("deepseek", "deepseek-v4-pro", effort="medium")[0] == {"reasoning_effort": "medium"}


def test_options_that_say_nothing_send_nothing() -> None:
    call = Call(model=Model("openai", "m"), messages=(UserMessage("hi"),), stream=False)
    assert PROTOCOL.encode(call).body == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def test_options_are_values() -> None:
    assert OpenAIChatOptions(effort="low") == OpenAIChatOptions(effort="low")
    assert hash(OpenAIChatOptions(metadata={"a": "b"})) == hash(OpenAIChatOptions(metadata={"a": "b"}))
    assert PROTOCOL.options is OpenAIChatOptions
