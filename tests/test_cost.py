"""What answers cost: worked by hand, at the prices of the day, and on the message however it is read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud import (
    AssistantMessage,
    Client,
    Conversation,
    Cost,
    Origin,
    PriceChange,
    Prices,
    PriceTier,
    Rates,
    Text,
    Thinking,
    Usage,
    UsageUpdate,
    find_model,
)
from thinkaloud.cost import cost_of
from thinkaloud.testing import Reply, Scripted

TODAY = date(2026, 11, 30)


def cost(model: str, usage: Usage, day: date = TODAY) -> Cost | None:
    return cost_of(usage, find_model(model).prices, day)


def parts(found: Cost | None) -> tuple[float | None, ...]:
    assert found is not None
    return (found.input, found.output, found.cache_read, found.cache_write, found.total)


# Prices in USD per million tokens, as the catalog has them on 2026-11-30; the sums were worked by hand.
@pytest.mark.parametrize(
    ("model", "usage", "day", "expected"),
    [
        # 1000 x 5/M = 0.005; 2000 x 25/M = 0.05
        ("anthropic/claude-opus-5", Usage(1000, 2000), TODAY, (0.005, 0.05, 0.0, 0.0, 0.055)),
        # thinking is inside the output and not paid twice
        ("anthropic/claude-opus-5", Usage(1000, 2000, reasoning=1500), TODAY, (0.005, 0.05, 0.0, 0.0, 0.055)),
        # 10,000 = 1000 fresh x 5/M = 0.005, 6000 read x 0.5/M = 0.003, 3000 written x 6.25/M = 0.01875;
        # 100 x 25/M = 0.0025
        (
            "anthropic/claude-opus-5",
            Usage(10_000, 100, cache_read=6000, cache_write=3000),
            TODAY,
            (0.005, 0.0025, 0.003, 0.01875, 0.02925),
        ),
        # as before, 1000 of the 3000 for an hour: 2000 x 6.25/M + 1000 x 2 x 5/M = 0.0125 + 0.01 = 0.0225
        (
            "anthropic/claude-opus-5",
            Usage(10_000, 100, cache_read=6000, cache_write=3000, cache_write_1h=1000),
            TODAY,
            (0.005, 0.0025, 0.003, 0.0225, 0.033),
        ),
        # just at the threshold of 200,000: 200,000 x 3/M = 0.6; 1000 x 15/M = 0.015
        ("anthropic/claude-sonnet-4-5", Usage(200_000, 1000), TODAY, (0.6, 0.015, 0.0, 0.0, 0.615)),
        # one token above it, all is dearer: 200,001 x 6/M = 1.200006; 1000 x 22.5/M = 0.0225
        ("anthropic/claude-sonnet-4-5", Usage(200_001, 1000), TODAY, (1.200006, 0.0225, 0.0, 0.0, 1.222506)),
        # cached tokens count for the size of the prompt: 50,000 x 6/M = 0.3; 150,001 read x 0.6/M = 0.0900006
        (
            "anthropic/claude-sonnet-4-5",
            Usage(200_001, 0, cache_read=150_001),
            TODAY,
            (0.3, 0.0, 0.0900006, 0.0, 0.3900006),
        ),
        # written in a large prompt, ratio to input kept: 250,000 = 150,000 x 6/M = 0.9, 100,000 x 7.5/M = 0.75
        ("anthropic/claude-sonnet-4-5", Usage(250_000, 0, cache_write=100_000), TODAY, (0.9, 0.0, 0.0, 0.75, 1.65)),
        # 300,000 > 272,000: 100,000 x 10/M = 1.0, 200,000 read x 1/M = 0.2; 10,000 x 45/M = 0.45
        ("openai/gpt-5.5", Usage(300_000, 10_000, cache_read=200_000), TODAY, (1.0, 0.45, 0.2, 0.0, 1.65)),
        # above 200,000 not 1.25/M and 10/M but: 1,000,000 x 2.5/M = 2.5; 100,000 x 15/M = 1.5
        ("google/gemini-2.5-pro", Usage(1_000_000, 100_000), TODAY, (2.5, 1.5, 0.0, 0.0, 4.0)),
        # on the last day of the old price: 1,000,000 x 2/M = 2.0; 100,000 x 10/M = 1.0
        ("google/gemini-4-argon", Usage(1_000_000, 100_000), TODAY, (2.0, 1.0, 0.0, 0.0, 3.0)),
        # on the first of the new one: 500,000 x 4/M = 2.0, 500,000 read x 0.2/M = 0.1; 100,000 x 20/M = 2.0
        (
            "google/gemini-4-argon",
            Usage(1_000_000, 100_000, cache_read=500_000),
            date(2026, 12, 1),
            (2.0, 2.0, 0.1, 0.0, 4.1),
        ),
        # Bedrock's regional price: 1000 x 5.5/M = 0.0055; 1000 x 27.5/M = 0.0275; 2000 for an hour x 2 x 5.5/M = 0.022
        (
            "bedrock/eu.anthropic.claude-opus-5",
            Usage(3000, 1000, cache_write=2000, cache_write_1h=2000),
            TODAY,
            (0.0055, 0.0275, 0.0, 0.022, 0.055),
        ),
        # nothing is charged
        ("openrouter/z-ai/glm-5.3:free", Usage(1000, 1000), TODAY, (0.0, 0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_costs_worked_by_hand(model: str, usage: Usage, day: date, expected: tuple[float, ...]) -> None:
    assert parts(cost(model, usage, day)) == pytest.approx(expected, abs=1e-12)


# what is not known


def test_without_prices_there_is_no_cost() -> None:
    assert cost("zai/glm-5.3-highspeed", Usage(10, 10)) is None
    assert cost("azure/gpt-5.2", Usage(10, 10)) is None
    assert cost("openai/gpt-99", Usage(10, 10)) is None


def test_without_counts_there_is_no_cost() -> None:
    assert cost("anthropic/claude-opus-5", Usage()) is None
    assert cost("anthropic/claude-opus-5", Usage(cache_read=5)) is None


def test_a_part_whose_count_is_missing_is_unknown_and_so_is_the_total() -> None:
    assert parts(cost("anthropic/claude-opus-5", Usage(input=1000))) == (0.005, None, 0.0, 0.0, None)
    assert parts(cost("anthropic/claude-opus-5", Usage(output=1000))) == (None, 0.025, 0.0, 0.0, None)


def test_a_part_whose_price_is_missing_is_unknown_and_so_is_the_total() -> None:
    prices = Prices(rates=Rates(input=1.0, output=1.0))
    found = cost_of(Usage(1000, 1000, cache_read=400), prices, TODAY)
    assert parts(found) == (0.0006, 0.001, None, 0.0, None)


def test_a_size_that_decides_the_price_must_be_known() -> None:
    assert cost("openai/gpt-5.5", Usage(output=1000)) is None


def test_more_cached_than_prompt_costs_nothing_below_zero() -> None:
    found = cost("anthropic/claude-opus-5", Usage(100, 0, cache_read=200))
    assert found is not None
    assert found.input == 0.0


def test_claude_s_writes_cost_what_anthropic_says_where_a_row_says_no_more() -> None:
    prices = Prices(rates=Rates(input=4.0, output=8.0))
    # 1000 x 4 x 1.25/M + 1000 x 4 x 2/M = 0.005 + 0.008
    found = cost_of(Usage(2000, 0, cache_write=2000, cache_write_1h=1000), prices, TODAY)
    assert found is not None
    assert found.cache_write == pytest.approx(0.013)


def test_the_highest_tier_and_the_latest_change_count_in_any_order() -> None:
    prices = Prices(
        rates=Rates(input=1.0, output=1.0),
        tiers=(PriceTier(above=200, rates=Rates(input=3.0)), PriceTier(above=100, rates=Rates(input=2.0))),
        changes=(
            PriceChange(since=date(2027, 1, 1), rates=Rates(output=9.0)),
            PriceChange(since=date(2026, 1, 1), rates=Rates(output=5.0)),
        ),
    )
    assert parts(cost_of(Usage(300, 1000), prices, TODAY))[:2] == pytest.approx((0.0009, 0.005))
    assert parts(cost_of(Usage(150, 1000), prices, date(2027, 1, 1)))[:2] == pytest.approx((0.0003, 0.009))
    assert parts(cost_of(Usage(100, 1000), prices, date(2025, 1, 1)))[:2] == pytest.approx((0.0001, 0.001))


# on the message

ANSWER = Reply([Thinking("Hm."), Text("Yes.")], usage=Usage(input=1000, output=2000))


@pytest.mark.anyio
@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("model", ["anthropic/claude-opus-5", "openai/gpt-5.5", "google/gemini-2.5-pro"])
async def test_an_answer_tells_its_cost_streamed_and_whole(model: str, streaming: bool) -> None:
    async with Client(api_key="k", transport=Scripted([ANSWER]).transport()) as client:
        message = await client.complete(model, "hi", streaming=streaming)
    expected = cost_of(message.usage, find_model(model).prices, TODAY)
    assert expected is not None
    assert expected.total is not None
    assert message.cost == expected


@pytest.mark.anyio
async def test_the_cost_comes_once_at_the_end() -> None:
    async with Client(api_key="k", transport=Scripted([ANSWER]).transport()) as client:
        events = [event async for event in client.stream("anthropic/claude-opus-5", "hi")]
    updates = [event for event in events if isinstance(event, UsageUpdate)]
    assert updates[-1].cost is not None
    assert len([update for update in updates if update.cost is not None]) == 1
    assert isinstance(events[-2], UsageUpdate)


@pytest.mark.anyio
async def test_an_unknown_model_has_usage_and_no_cost() -> None:
    async with Client(api_key="k", transport=Scripted([ANSWER]).transport()) as client:
        message = await client.complete("anthropic/claude-unheard-of", "hi")
    assert message.usage.output == 2000
    assert message.cost is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("extra_body", "known"),
    [({"service_tier": "flex"}, False), ({"speed": "fast"}, False), ({"service_tier": "auto"}, True)],
)
async def test_a_tier_of_service_with_prices_of_its_own_gives_no_cost(
    extra_body: Mapping[str, Any], known: bool
) -> None:
    async with Client(api_key="k", transport=Scripted([ANSWER]).transport()) as client:
        message = await client.complete("anthropic/claude-opus-5", "hi", extra_body=extra_body)
    assert (message.cost is not None) is known


def test_a_captured_answer_has_no_cost_of_its_own() -> None:
    body = b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5}}'
    assert ta.parse("openai-chat", body, provider="openai").cost is None


# over a conversation


def answer(usage: Usage, cost: Cost | None) -> AssistantMessage:
    return AssistantMessage("Yes.", origin=Origin("anthropic-messages", "anthropic", "x"), usage=usage, cost=cost)


def test_a_conversation_sums_what_its_answers_used_and_cost() -> None:
    told = Conversation("hi").adding(
        answer(Usage(10, 5), Cost(1.0, 2.0, 0.0, 0.0)), "more", answer(Usage(20, 5), Cost(0.5, 1.0, 0.0, 0.25))
    )
    assert told.usage == Usage(30, 10)
    assert told.cost == Cost(1.5, 3.0, 0.0, 0.25)
    assert told.cost is not None
    assert told.cost.total == 4.75


def test_a_sum_with_an_unknown_answer_is_unknown() -> None:
    told = Conversation("hi").adding(answer(Usage(10, 5), Cost(1.0, 2.0, 0.0, 0.0)), "more", answer(Usage(20), None))
    assert told.usage == Usage(input=30)
    assert told.cost is None


def test_an_answer_written_by_hand_cost_nothing() -> None:
    told = Conversation(["hi", AssistantMessage("Yes?"), "more", answer(Usage(10, 5), Cost(1.0, 2.0, 0.0, 0.0))])
    assert told.usage == Usage(10, 5)
    assert told.cost == Cost(1.0, 2.0, 0.0, 0.0)


def test_a_conversation_without_answers_knows_no_usage() -> None:
    assert Conversation("hi").usage == Usage()
    assert Conversation("hi").cost is None
