"""A thinking level becomes the `reasoning` object that the model takes, and every deviation is told."""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.errors import ConfigurationError
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import UserMessage
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.models.providers import find_provider
from thinkaloud.plan import Plan, prepare
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.protocols.openai_responses import PROTOCOL
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions

LEVELS = list(ThinkingLevel)
OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


def request(model: str | Model, reasoning: ThinkingLevel | None = None, **call: Any) -> Encoded:
    if isinstance(model, str):
        provider, _, id = model.partition("/")
        model = Model(provider, id)
    dialect = find_provider(model.provider).dialect
    return PROTOCOL.encode(
        Call(model=model, messages=(UserMessage("q"),), reasoning=reasoning, dialect=dialect, **call)
    )


def sent(model: str | Model, reasoning: ThinkingLevel | None = None, **call: Any) -> Any:
    return request(model, reasoning, **call).body.get("reasoning")


def words(model: str) -> list[str | None]:
    """The effort that is sent for each level, from off to max."""
    return [(sent(model, level) or {}).get("effort") for level in LEVELS]


@pytest.mark.parametrize(
    ("model", "efforts"),
    [
        ("openai/o3", "low low low medium high high high"),
        ("openai/gpt-5", "minimal minimal low medium high high high"),
        ("openai/gpt-5-mini", "minimal minimal low medium high high high"),
        ("openai/gpt-5-pro", "high high high high high high high"),
        ("openai/gpt-5-codex", "low low low medium high high high"),
        ("openai/gpt-5.1", "none low low medium high high high"),
        ("openai/gpt-5.1-codex-max", "low low low medium high xhigh xhigh"),
        ("openai/gpt-5.2-chat-latest", "medium medium medium medium medium medium medium"),
        ("openai/gpt-5.3-codex", "none low low medium high xhigh xhigh"),
        ("openai/gpt-5.4-pro", "medium medium medium medium high xhigh xhigh"),
        ("openai/gpt-5.5", "none low low medium high xhigh xhigh"),
        ("openai/gpt-5.6-sol", "none low low medium high xhigh max"),
        ("openai/gpt-6-luna", "none low low medium high xhigh max"),
        ("openai/gpt-6-astra", "low low low medium high xhigh max"),
        ("openai/gpt-6.1-sol", "low low low medium high xhigh max"),
        ("azure/gpt-5.6-sol", "none low low medium high xhigh xhigh"),
        ("openrouter/openai/gpt-5.1", "none low low medium high high high"),
        ("deepseek/deepseek-v4-flash", "none low low high high max max"),
        ("xai/grok-4.3", "none low low medium high high high"),
        ("openai/gpt-9-of-tomorrow", "none low low medium high xhigh max"),
        ("openai/tomorrow", "none minimal low medium high xhigh max"),
        ("xai/grok-9", "none minimal low medium high xhigh max"),
    ],
)
def test_each_level_is_the_nearest_that_the_model_takes(model: str, efforts: str) -> None:
    assert words(model) == efforts.split()


def test_a_level_that_is_on_asks_for_visible_thinking() -> None:
    assert sent("openai/gpt-5.5", HIGH) == {"effort": "high", "summary": "auto"}


def test_nothing_is_sent_where_nothing_is_asked() -> None:
    assert sent("openai/gpt-5.5") is None


def test_off_asks_for_no_summary() -> None:
    assert sent("openai/gpt-5.5", OFF) == {"effort": "none"}


def test_off_that_cannot_be_is_the_least_effort_unseen_and_told() -> None:
    encoded = request("openai/o3", OFF)
    assert encoded.body["reasoning"] == {"effort": "low"}
    assert encoded.level is LOW
    assert [(n.code, n.detail) for n in encoded.notices] == [("level_clamped", {"asked": "off", "sent": "low"})]


def test_what_was_sent_is_the_level_of_the_call() -> None:
    assert request("openai/gpt-5.5", MAX).level is XHIGH
    assert request("openai/gpt-5.5", HIGH).notices == ()


def test_a_deployment_is_known_by_its_base_model() -> None:
    assert sent(Model("azure", "my-own-name", base_model="gpt-5"), MINIMAL)["effort"] == "minimal"


def test_the_facts_of_a_model_win_over_its_name() -> None:
    control = ThinkingControl(mode="effort", levels=(LOW, HIGH), native={HIGH: "deep"})
    assert sent(Model("openai", "gpt-5.5", thinking=control), MAX)["effort"] == "deep"


@pytest.mark.parametrize(
    "model", [Model("openai", "gpt-4.1"), Model("openai", "gpt-5-chat-latest"), Model("xai", "m", reasoning=False)]
)
def test_a_model_that_cannot_think_is_asked_for_nothing_about_it(model: Model) -> None:
    encoded = request(model, HIGH, display="summarized")
    assert encoded.body.keys().isdisjoint({"reasoning", "include"})
    assert [notice.code for notice in encoded.notices] == ["level_ignored", "display_ignored"]
    assert request(model, OFF).notices == ()


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"reasoning": HIGH, "display": "omitted"}, {"effort": "high"}),
        ({"display": "summarized"}, {"summary": "auto"}),
        ({"display": "omitted"}, None),
        (
            {"reasoning": HIGH, "options": OpenAIResponsesOptions(summary="detailed")},
            {"effort": "high", "summary": "detailed"},
        ),
        ({"reasoning": HIGH, "options": OpenAIResponsesOptions(summary="none")}, {"effort": "high"}),
        ({"options": OpenAIResponsesOptions(effort="low")}, {"effort": "low", "summary": "auto"}),
        ({"options": OpenAIResponsesOptions(effort="none")}, {"effort": "none"}),
        ({"options": OpenAIResponsesOptions(context="all_turns")}, {"context": "all_turns"}),
    ],
)
def test_what_is_shown_and_how_the_model_thinks(asked: Any, expected: Any) -> None:
    assert sent("openai/gpt-5.5", **asked) == expected


def test_a_summary_without_thinking_is_told() -> None:
    encoded = request("openai/gpt-5.1", display="summarized")
    assert [notice.code for notice in encoded.notices] == ["display_ignored"]


def test_native_effort_wins_over_the_level() -> None:
    encoded = request("openai/gpt-5.5", HIGH, options=OpenAIResponsesOptions(effort="low"))
    assert (encoded.body["reasoning"], encoded.level) == ({"effort": "low", "summary": "auto"}, LOW)
    assert [notice.code for notice in encoded.notices] == ["level_overridden"]


@pytest.mark.parametrize("model", ["openai/gpt-5", "openai/gpt-5.6-sol", "openai/o3", "xai/grok-4.3", "azure/x"])
def test_a_higher_wish_never_gives_a_lower_level(model: str) -> None:
    levels = [level.rank for wish in LEVELS if wish is not OFF and (level := request(model, wish).level) is not None]
    assert levels == sorted(levels)


def planned(model: str, **arguments: Any) -> Plan:
    return prepare(model, "q", **arguments)


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        ("openai/gpt-5.1", {"effort": "max"}, "effort='max': gpt-5.1 .* use 'none', 'low', 'medium', 'high'$"),
        ("openai/gpt-5-pro", {"effort": "low"}, "effort='low': gpt-5-pro .* use 'high'$"),
        ("openai/gpt-4o", {"effort": "low"}, "effort='low': gpt-4o does not think .* leave it out"),
        ("openai/gpt-4o", {"summary": "auto"}, "summary='auto': gpt-4o does not think"),
        ("openai/gpt-4o", {"context": "auto"}, "context='auto': gpt-4o does not think"),
        ("openai/gpt-5", {"summary": "concise"}, "summary='concise': gpt-5 does not take it"),
        ("openai/o3", {"context": "all_turns"}, "context='all_turns': o3 does not take it"),
        ("openai/gpt-5.5", {"mode": "pro"}, "mode='pro': gpt-5.5 does not take it"),
    ],
)
def test_options_that_a_known_model_refuses_are_refused_at_once(model: str, options: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        planned(model, options=OpenAIResponsesOptions(**options))


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("openai/gpt-next", {"effort": "max"}),
        ("openai/gpt-5.6-sol", {"mode": "pro", "context": "all_turns", "effort": "max"}),
        ("openai/gpt-5.5", {"summary": "concise"}),
        ("azure/gpt-5.6-sol", {"effort": "max"}),
        ("xai/grok-4.3", {"effort": "xhigh"}),
        ("openai/chat-latest", {"effort": "xhigh"}),
    ],
)
def test_options_that_are_not_known_to_be_refused_go_as_they_are(model: str, options: Any) -> None:
    plan = planned(model, options=OpenAIResponsesOptions(**options), base_url="https://example.com")
    reasoning: Any = plan.body["reasoning"]
    assert options.items() <= reasoning.items()


def test_words_of_another_surface_are_no_words_of_effort() -> None:
    control = ThinkingControl(
        mode="effort",
        levels=(OFF, HIGH),
        native={OFF: "disabled", HIGH: "deep"},
        param="reasoning_effort",
        off_param="thinking.type",
    )
    model = Model("deepseek", "m", protocol="openai-responses", thinking=control)
    assert (sent(model, OFF)["effort"], sent(model, HIGH)["effort"]) == ("none", "deep")


def test_a_summary_beside_a_level_that_is_off_is_told() -> None:
    encoded = request("openai/gpt-5.5", OFF, options=OpenAIResponsesOptions(summary="detailed"))
    assert encoded.body["reasoning"] == {"effort": "none"}
    assert [(n.code, n.path) for n in encoded.notices] == [("display_ignored", "options.summary")]
