"""Usage and cost: what is unknown stays unknown, answers add up, updates within one answer replace."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given

from support.vocabulary import usages
from thinkaloud.usage import Cost, Usage


def test_what_nobody_told_is_unknown_and_not_zero() -> None:
    assert attrs.astuple(Usage()) == (None,) * 7
    assert Cost().total is None


def test_usage_of_two_answers_adds_up() -> None:
    first = Usage(input=100, output=20, reasoning=5, cache_read=1, cache_write=2, cache_write_1h=3, billed_usd=0.25)
    second = Usage(input=1, output=2, reasoning=3, cache_read=4, cache_write=5, cache_write_1h=6, billed_usd=0.5)
    assert first + second == Usage(101, 22, 8, 5, 7, 9, 0.75)


def test_what_is_unknown_of_one_answer_is_unknown_of_the_sum() -> None:
    assert Usage(input=5, output=1) + Usage(output=7) == Usage(output=8)
    assert Usage(reasoning=0) + Usage() == Usage()


def test_a_zero_is_a_number() -> None:
    assert (Usage(reasoning=0) + Usage(reasoning=4)).reasoning == 4


@given(usages)
def test_a_sum_with_nothing_known_knows_nothing(usage: Usage) -> None:
    assert usage + Usage() == Usage() == Usage() + usage


def test_usage_does_not_add_to_anything_else() -> None:
    with pytest.raises(TypeError):
        _ = Usage() + 5  # type: ignore[operator]
    with pytest.raises(TypeError):
        _ = Cost() + Usage()  # type: ignore[operator]


def test_a_later_count_replaces_the_one_before() -> None:
    assert Usage(input=25, output=1).updated(Usage(output=40)) == Usage(input=25, output=40)


def test_a_later_zero_replaces_too() -> None:
    assert Usage(output=5).updated(Usage(output=0)) == Usage(output=0)


@given(usages, usages)
def test_an_update_holds_what_the_later_one_knows_and_else_the_former(former: Usage, later: Usage) -> None:
    updated = attrs.asdict(former.updated(later))
    for name, value in attrs.asdict(later).items():
        assert updated[name] == (getattr(former, name) if value is None else value)


def test_an_update_twice_is_an_update_once() -> None:
    once = Usage(input=1).updated(Usage(output=2))
    assert once.updated(Usage(output=2)) == once


def test_money_may_be_given_as_a_whole_number() -> None:
    assert Usage(billed_usd=0) == Usage(billed_usd=0.0)
    assert isinstance(Usage(billed_usd=0).billed_usd, float)
    assert isinstance(Cost(input=1).input, float)


def test_the_total_cost_is_the_sum_of_its_parts() -> None:
    assert Cost(input=1.0, output=2.0, cache_read=0.25, cache_write=0.5).total == 3.75


def test_a_total_with_an_unknown_part_is_unknown() -> None:
    assert Cost(input=1.0, output=2.0, cache_read=0.25).total is None


def test_costs_of_two_answers_add_up_part_by_part() -> None:
    assert Cost(input=1.0, output=1.0) + Cost(input=0.5) == Cost(input=1.5)
