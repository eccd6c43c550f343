"""Native options of the Messages API: wrong values and contradictions are refused by name, with the way out."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from thinkaloud.errors import ConfigurationError
from thinkaloud.protocols.anthropic.options import Adaptive, AnthropicOptions, BetweenTools, Budget, Disabled


@pytest.mark.parametrize("tokens", [1023, 0, -5, True, "2048", 2048.0, None])
def test_a_budget_is_a_whole_number_from_1024(tokens: Any) -> None:
    with pytest.raises(ConfigurationError, match="1024 or more"):
        Budget(tokens)
    assert Budget(1024).tokens == 1024


@pytest.mark.parametrize(
    ("field", "value", "fix"),
    [
        ("thinking", "adaptive", r"Adaptive\(\)"),
        ("thinking", Adaptive, r"Adaptive\(\)"),
        ("thinking", {"type": "enabled"}, r"Budget\(tokens\)"),
        ("effort", "minimal", "'low'"),
        ("effort", "off", "'max'"),
        ("display", "full", "'summarized'"),
        ("on_stale", "drop_block", "'drop'"),
        ("service_tier", "priority", "'standard_only'"),
        ("speed", "slow", "'fast'"),
        ("metadata", "user-1", "user_id"),
        ("container", 7, "id of a container"),
        ("api_version", 2023, "2023-06-01"),
        ("api_version", "2023\r\nx: y", "2023-06-01"),
        ("api_version", "", "2023-06-01"),
        ("betas", ["a\nb"], "names of betas"),
        ("betas", ["a,b"], "names of betas"),
        ("betas", [7], "names of betas"),
        ("betas", [" "], "names of betas"),
    ],
)
def test_a_wrong_value_names_its_field_and_the_fix(field: str, value: Any, fix: str) -> None:
    with pytest.raises(ConfigurationError, match=field) as caught:
        AnthropicOptions(**{field: value})
    caught.match(fix)


@pytest.mark.parametrize("thinking", [Disabled(), BetweenTools()])
@pytest.mark.parametrize("other", [{"display": "summarized"}, {"on_stale": "drop"}])
def test_what_needs_thinking_does_not_go_without(thinking: Any, other: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="leave one of them out"):
        AnthropicOptions(thinking=thinking, **other)


def test_one_beta_may_be_given_as_a_string() -> None:
    assert AnthropicOptions(betas="files-api-2025-04-14").betas == ("files-api-2025-04-14",)


def test_options_survive_pickle_and_deepcopy_and_are_hashable() -> None:
    options = AnthropicOptions(thinking=Budget(2048), effort="low", metadata={"user_id": "u"}, betas=["a"])
    assert pickle.loads(pickle.dumps(options)) == options
    assert copy.deepcopy(options) == options
    assert hash(options) == hash(copy.deepcopy(options))
