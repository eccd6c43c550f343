"""The ladder of thinking levels, and the one rule that fits a wish to what a model can do."""

from __future__ import annotations

from itertools import chain, combinations, pairwise

import pytest

from thinkaloud.levels import ThinkingLevel, clamp_level

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel
SUBSETS = list(chain.from_iterable(combinations(ThinkingLevel, size) for size in range(len(ThinkingLevel) + 1)))


def test_levels_stand_in_order() -> None:
    assert [level.value for level in ThinkingLevel] == ["off", "minimal", "low", "medium", "high", "xhigh", "max"]
    assert sorted([MAX, OFF, HIGH, LOW]) == [OFF, LOW, HIGH, MAX]
    assert [level.rank for level in ThinkingLevel] == list(range(7))


def test_levels_compare_by_their_place() -> None:
    for lower, higher in combinations(ThinkingLevel, 2):
        assert lower < higher
        assert lower <= higher
        assert higher > lower
        assert higher >= lower
        assert not higher < lower
        assert not higher <= lower
    assert OFF <= OFF
    assert OFF >= OFF
    assert not OFF < OFF


def test_levels_do_not_compare_with_anything_else() -> None:
    for other in ("high", 3, None):
        with pytest.raises(TypeError):
            _ = other < LOW  # type: ignore[operator]
        with pytest.raises(TypeError):
            _ = other >= LOW  # type: ignore[operator]


def test_a_level_is_found_by_its_word() -> None:
    assert ThinkingLevel("xhigh") is XHIGH
    with pytest.raises(ValueError, match="ultra"):
        ThinkingLevel("ultra")


@pytest.mark.parametrize(
    ("level", "levels", "sent"),
    [
        (HIGH, (LOW, HIGH), HIGH),
        (XHIGH, (LOW, MEDIUM, HIGH), HIGH),
        (MINIMAL, (LOW, MEDIUM, HIGH), LOW),
        (MEDIUM, (LOW, HIGH), HIGH),
        (MEDIUM, (OFF, LOW, XHIGH), LOW),
        (MINIMAL, (OFF, LOW), LOW),
        (MINIMAL, (OFF, MAX), MAX),
        (OFF, (OFF, LOW), OFF),
        (OFF, (LOW, HIGH), LOW),
        (LOW, (OFF,), None),
        (OFF, (OFF,), OFF),
        (HIGH, (), None),
        (OFF, (), None),
    ],
)
def test_a_wish_becomes_the_nearest_level_of_the_set(
    level: ThinkingLevel, levels: tuple[ThinkingLevel, ...], sent: ThinkingLevel | None
) -> None:
    assert clamp_level(level, levels) is sent


@pytest.mark.parametrize("levels", SUBSETS, ids=lambda levels: "-".join(level.value for level in levels) or "none")
def test_the_one_rule_holds_for_every_set_of_levels(levels: tuple[ThinkingLevel, ...]) -> None:
    thinking = [level for level in levels if level is not OFF]
    for asked in ThinkingLevel:
        sent = clamp_level(asked, levels)
        if asked in levels:
            assert sent is asked
        elif not thinking:
            assert sent is None
        elif asked is OFF:
            assert sent is thinking[0]
        else:
            assert sent in thinking
            for other in thinking:
                near, far = abs(sent.rank - asked.rank), abs(other.rank - asked.rank)
                assert near < far or (near == far and sent >= other)


@pytest.mark.parametrize("levels", SUBSETS, ids=lambda levels: "-".join(level.value for level in levels) or "none")
def test_a_higher_wish_never_gives_a_lower_level(levels: tuple[ThinkingLevel, ...]) -> None:
    sent = [level for asked in ThinkingLevel if (level := clamp_level(asked, levels)) is not None]
    assert all(lower <= higher for lower, higher in pairwise(sent))


def test_the_order_of_the_set_does_not_matter() -> None:
    for levels in SUBSETS:
        for asked in ThinkingLevel:
            assert clamp_level(asked, levels) is clamp_level(asked, frozenset(levels))
            assert clamp_level(asked, levels) is clamp_level(asked, levels[::-1])
