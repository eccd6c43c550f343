"""Many conversations at once: bounded, in order, and one failure loses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import pytest

import thinkaloud as ta
from thinkaloud.testing import Delivery, Failure, MemoryTransport, RecordedRequest, Reply, Scripted

pytestmark = pytest.mark.anyio

CLAUDE = "anthropic/claude-opus-5"


def echoing(request: RecordedRequest) -> Reply | Failure:
    """Answer with the question; refuse the ones that are bad."""
    said = request.json["messages"][-1]["content"]
    text = said if isinstance(said, str) else said[-1]["text"]
    return Failure(400, body={"error": {"message": "bad"}}) if "bad" in text else Reply([f"to {text}"])


def model(reply: Any = echoing) -> tuple[ta.Client, MemoryTransport]:
    transport = MemoryTransport(Scripted([reply], repeat_last=True))
    return ta.Client(api_key="test-key", transport=transport, retries=0), transport


async def test_outcomes_stand_in_the_order_of_the_conversations_and_a_failure_in_its_place() -> None:
    client, _ = model()
    outcomes = await ta.complete_many(CLAUDE, ["a", "bad", ta.Conversation("c"), []], client=client, limit=2)
    assert [type(outcome).__name__ for outcome in outcomes] == [
        "AssistantMessage",
        "InvalidRequest",
        "AssistantMessage",
        "ConfigurationError",
    ]
    assert [outcome.text for outcome in outcomes if isinstance(outcome, ta.AssistantMessage)] == ["to a", "to c"]


async def test_each_outcome_is_told_as_soon_as_it_is_there() -> None:
    client, _ = model()
    told: list[tuple[int, str]] = []

    def now(place: int, outcome: Any) -> None:
        told.append(named(place, outcome))

    async def later(place: int, outcome: Any) -> None:
        await anyio.lowlevel.checkpoint()
        told.append(named(place, outcome))

    await ta.complete_many(CLAUDE, ["a", "bad"], client=client, limit=1, on_done=now)
    await ta.complete_many(CLAUDE, ["c"], client=client, on_done=later)
    assert told == [(0, "AssistantMessage"), (1, "InvalidRequest"), (0, "AssistantMessage")]


def named(place: int, outcome: Any) -> tuple[int, str]:
    return place, type(outcome).__name__


async def test_no_more_are_asked_at_once_than_the_limit_and_an_iterator_is_read_no_faster() -> None:
    client, transport = model()
    most = read = 0

    def conversations() -> Iterator[str]:
        nonlocal read
        for number in range(20):
            read += 1
            yield f"question {number}"

    def done(place: int, outcome: object) -> None:
        nonlocal most
        most = max(most, transport.open_answers)
        assert read <= place + 8

    outcomes = await ta.complete_many(CLAUDE, conversations(), client=client, limit=3, on_done=done)
    assert len(outcomes) == 20
    assert most <= 3


async def test_a_cancelled_batch_leaves_nothing_open() -> None:
    client, transport = model(Reply(["Hello"], delivery=Delivery(stall_after=2)))
    with anyio.move_on_after(0.1) as scope:
        await ta.complete_many(CLAUDE, ["a", "b", "c"], client=client, limit=2)
    assert scope.cancelled_caught
    assert transport.open_answers == 0


async def test_what_the_callback_raises_comes_out_plain_and_ends_the_rest() -> None:
    client, transport = model()

    def fail(place: int, outcome: object) -> None:
        raise LookupError("no place for it")

    with pytest.raises(LookupError, match="no place for it"):
        await ta.complete_many(CLAUDE, ["a", "b", "c"], client=client, on_done=fail)
    assert transport.open_answers == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"limit": 0}, "limit=0"),
        ({"limit": True}, "limit=True"),
        ({"limits": 5}, "limits is an argument of Client"),
        ({"conversations": "one"}, "for one use complete"),
        ({"conversations": ta.Conversation("one")}, "for one use complete"),
        ({"conversations": {"one": 1}}, "for one use complete"),
        ({"conversations": None}, "for one use complete"),
        ({"on_done": 3}, "on_done must be a function"),
    ],
)
async def test_arguments_that_cannot_work_are_refused_before_any_call(arguments: Any, words: str) -> None:
    given: dict[str, Any] = {"conversations": ["a"], **arguments}
    with pytest.raises(ta.ConfigurationError, match=words):
        await ta.complete_many(CLAUDE, **given)


async def test_no_conversations_are_no_outcomes() -> None:
    assert await ta.complete_many(CLAUDE, []) == []


async def test_a_limit_far_above_the_number_of_conversations_costs_nothing() -> None:
    client, _ = model()
    outcomes = await ta.complete_many(CLAUDE, ["a", "b", "c"], client=client, limit=10**12)
    assert [getattr(outcome, "text", None) for outcome in outcomes] == ["to a", "to b", "to c"]


async def test_a_client_answers_many_with_what_it_holds() -> None:
    client, _ = model()
    outcomes = await client.complete_many(CLAUDE, ["a", "bad"], limit=1)
    assert [type(outcome).__name__ for outcome in outcomes] == ["AssistantMessage", "InvalidRequest"]
    options: Any = {"client": client}
    with pytest.raises(ta.UnsupportedOption, match="client is no argument here"):
        await client.complete_many(CLAUDE, ["a"], **options)
