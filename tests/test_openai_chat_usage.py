"""Token counts, wherever and however an endpoint tells them."""

from __future__ import annotations

from typing import Any

import pytest

from support.chat_wire import DONE, chunk, read, stop
from thinkaloud.events import UsageUpdate
from thinkaloud.usage import Usage


def counted(**usage: Any) -> Usage:
    return read(chunk(content="x"), stop(usage=usage), DONE).message.usage


FULL = {
    "prompt_tokens": 19,
    "completion_tokens": 74,
    "total_tokens": 93,
    "prompt_tokens_details": {"cached_tokens": 8, "cache_write_tokens": 2, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 64, "audio_tokens": 0},
}


def test_all_counts_are_read() -> None:
    assert counted(**FULL) == Usage(input=19, output=74, reasoning=64, cache_read=8, cache_write=2)


@pytest.mark.parametrize(
    "payloads",
    [
        [stop(), {"choices": [], "usage": FULL}],
        [stop(usage=FULL)],
        [{"choices": [], "usage": FULL}, stop()],
        [chunk("stop", choice={"usage": FULL})],
        [stop(x_groq={"id": "r", "usage": FULL})],
        [stop(), chunk(content="", top={"usage": FULL})],
        [stop(), {"choices": None, "usage": FULL}],
    ],
    ids=[
        "last chunk",
        "with the finish",
        "before it",
        "in the choice",
        "x_groq",
        "with choices after it",
        "null choices",
    ],
)
def test_usage_is_found_in_every_place(payloads: list[Any]) -> None:
    message = read(chunk(content="x", top={"usage": None}), *payloads, DONE).message
    assert (message.usage.input, message.usage.output) == (19, 74)


def test_usage_at_the_top_wins_over_the_other_places() -> None:
    last = chunk(
        "stop",
        choice={"usage": {"prompt_tokens": 1}},
        top={"usage": {"prompt_tokens": 3}, "x_groq": {"usage": {"prompt_tokens": 2}}},
    )
    assert read(last).message.usage.input == 3


def test_cumulative_usage_replaces_and_is_told_only_when_it_changes() -> None:
    counts = [1, 2, 2, 3]
    payloads = [chunk(content="x", top={"usage": {"prompt_tokens": 9, "completion_tokens": n}}) for n in counts]
    reading = read(*payloads, stop())
    assert reading.message.usage == Usage(input=9, output=3)
    assert [event.usage.output for event in reading.events if isinstance(event, UsageUpdate)] == [1, 2, 3]


def test_a_preview_of_usage_is_replaced_and_ends_nothing() -> None:
    preview = {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 4}}
    true = {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 252}}
    message = read(preview, chunk(content="long"), stop(), true, DONE).message
    assert (message.text, message.usage) == ("long", Usage(input=30, output=252))


def test_without_usage_nothing_is_known() -> None:
    assert read(chunk(content="x"), stop()).message.usage == Usage()
    assert counted(prompt_tokens=4, completion_tokens=None) == Usage(input=4)


def test_reasoning_beside_the_completion_is_part_of_the_output() -> None:
    """Seen at xAI: the total tells."""
    beside = {"prompt_tokens": 279, "completion_tokens": 6, "completion_tokens_details": {"reasoning_tokens": 89}}
    assert counted(**beside, total_tokens=374) == Usage(input=279, output=95, reasoning=89)
    assert counted(**beside, total_tokens=285) == Usage(input=279, output=6, reasoning=89)
    assert counted(**beside) == Usage(input=279, output=6, reasoning=89)


def test_without_reasoning_the_total_changes_nothing() -> None:
    details = {"reasoning_tokens": 0}
    assert counted(prompt_tokens=5, completion_tokens=3, total_tokens=8, completion_tokens_details=details).output == 3


def test_cached_tokens_beyond_the_prompt_are_beside_it() -> None:
    assert counted(prompt_tokens=10, prompt_tokens_details={"cached_tokens": 90}) == Usage(input=100, cache_read=90)


@pytest.mark.parametrize("name", ["cached_tokens", "prompt_cache_hit_tokens"])
def test_cached_tokens_may_stand_at_the_top(name: str) -> None:
    assert counted(prompt_tokens=10, **{name: 4}).cache_read == 4


def test_written_cache_has_two_names() -> None:
    assert counted(prompt_tokens_details={"cache_write_tokens": 3}).cache_write == 3
    assert counted(prompt_tokens_details={"cache_creation_input_tokens": 3}).cache_write == 3


def test_what_the_provider_says_it_costs() -> None:
    assert counted(cost=0.0012).billed_usd == 0.0012
    assert counted(cost=0).billed_usd == 0.0
    assert counted(cost={"total_cost": 0.006, "input_tokens_cost": 0.001}).billed_usd == 0.006
    assert counted(cost_in_usd_ticks=5_596_400).billed_usd == pytest.approx(0.00055964)


@pytest.mark.parametrize("odd", ["12", -1, 1.5, True, [3], 2**70, float("inf")])
def test_odd_counts_are_told_and_stay_unknown(odd: Any) -> None:
    reading = read(chunk(content="x"), stop(usage={"prompt_tokens": odd, "completion_tokens": 2.0}))
    assert reading.message.usage == Usage(output=2)
    assert reading.codes == ["odd_field"]
