"""Every level on every catalogued model is built or refused as the model's facts say, and every change is told.

Each wire has its own rules, said apart from the library's tables, in `support.level_rules_<protocol>`.
"""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

from support import (
    level_rules_anthropic,
    level_rules_bedrock,
    level_rules_gemini,
    level_rules_openai_chat,
    level_rules_openai_responses,
)
from support.catalogued import catalogued
from support.level_rules import LADDER, SCENARIOS, Rules, Wish, common_faults
from thinkaloud.errors import ConfigurationError
from thinkaloud.plan import Plan, prepare

# By protocol: a module `support.level_rules_<protocol>`.
RULES: dict[str, Rules] = {
    "anthropic-messages": level_rules_anthropic,
    "bedrock-converse": level_rules_bedrock,
    "gemini": level_rules_gemini,
    "openai-chat": level_rules_openai_chat,
    "openai-responses": level_rules_openai_responses,
}
MODELS = {
    f"{model.provider}/{model.id}": (model, rules)
    for protocol, rules in RULES.items()
    for model in catalogued(protocol)
}


@lru_cache(maxsize=1)  # the tests of one model run one after the other
def outcomes(name: str) -> list[tuple[Wish, Plan | ConfigurationError]]:
    """What becomes of each scenario at no level and at each level, in the order of the ladder."""
    model, _ = MODELS[name]
    wishes = [
        Wish(model, level, scenario, arguments)
        for scenario, arguments in SCENARIOS.items()
        for level in (None, *LADDER)
    ]
    return [(wish, planned(wish)) for wish in wishes]


def planned(wish: Wish) -> Plan | ConfigurationError:
    question = "How many legs has a spider?"
    try:
        return prepare(wish.model, question, reasoning=wish.level, base_url="http://127.0.0.1:1", **wish.arguments)
    except ConfigurationError as error:
        return error


@pytest.mark.parametrize("name", MODELS, scope="module")
def test_each_level_is_built_as_the_row_says_or_refused(name: str) -> None:
    _, rules = MODELS[name]
    for wish, outcome in outcomes(name):
        refusal, place = rules.refusal(wish), (wish.name, wish.level)
        if isinstance(outcome, ConfigurationError):
            assert refusal is not None, (place, outcome)
            assert re.search(refusal, str(outcome)), place
        else:
            assert refusal is None, place
            assert [*common_faults(wish, outcome), *rules.faults(wish, outcome)] == [], place


@pytest.mark.parametrize("name", MODELS, scope="module")
def test_a_higher_wish_never_gives_less(name: str) -> None:
    _, rules = MODELS[name]
    for scenario in SCENARIOS:
        plans = [
            outcome
            for wish, outcome in outcomes(name)
            if wish.name == scenario and wish.level is not None and isinstance(outcome, Plan)
        ]
        ranks = [-1 if plan.level.sent is None else LADDER.index(plan.level.sent) for plan in plans]
        assert ranks == sorted(ranks), scenario
        strengths = [-1 if (strength := rules.strength(plan)) is None else strength for plan in plans]
        assert strengths == sorted(strengths), scenario


def test_every_wire_has_models() -> None:
    assert all(catalogued(protocol) for protocol in RULES)
