"""Every level on every catalogued model is built or refused as the model's facts say, and every change is told.

Each wire has its own rules, said apart from the library's tables, in `support.level_rules_<protocol>`.
"""

from __future__ import annotations

import pytest

from support.catalogued import catalogued
from support.level_rules import LADDER, SCENARIOS, Rules, Wish, common_faults
from thinkaloud.errors import ConfigurationError
from thinkaloud.models.model import Model
from thinkaloud.plan import Plan, prepare

# By protocol: a module `support.level_rules_<protocol>`.
RULES: dict[str, Rules] = {}
MODELS = [
    pytest.param(model, rules, id=f"{model.provider}/{model.id}")
    for protocol, rules in RULES.items()
    for model in catalogued(protocol)
]


def planned(wish: Wish) -> Plan:
    return prepare(
        wish.model,
        "How many legs has a spider?",
        reasoning=wish.level,
        base_url="http://127.0.0.1:1",
        **wish.arguments,
    )


@pytest.mark.parametrize(("model", "rules"), MODELS)
def test_each_level_is_built_as_the_row_says_or_refused(model: Model, rules: Rules) -> None:
    for name, arguments in SCENARIOS.items():
        for level in (None, *LADDER):
            wish = Wish(model, level, name, arguments)
            if (refusal := rules.refusal(wish)) is not None:
                with pytest.raises(ConfigurationError, match=refusal):
                    planned(wish)
                continue
            plan = planned(wish)
            assert [*common_faults(wish, plan), *rules.faults(wish, plan)] == [], (name, level)


@pytest.mark.parametrize(("model", "rules"), MODELS)
def test_a_higher_wish_never_gives_less(model: Model, rules: Rules) -> None:
    for name, arguments in SCENARIOS.items():
        wishes = [Wish(model, level, name, arguments) for level in LADDER]
        plans = [planned(wish) for wish in wishes if rules.refusal(wish) is None]
        ranks = [-1 if plan.level.sent is None else LADDER.index(plan.level.sent) for plan in plans]
        # Off where it is impossible is the lowest level, and so never above the next.
        assert ranks == sorted(ranks), name
        strengths = [-1 if (strength := rules.strength(plan)) is None else strength for plan in plans]
        assert strengths == sorted(strengths), name


def test_every_wire_has_models() -> None:
    if not MODELS:
        pytest.skip("there is no catalog")
    assert all(catalogued(protocol) for protocol in RULES)
