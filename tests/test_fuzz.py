"""A little of the fuzzing in every run, and inputs that would take a parser with a square in it for ever."""

from __future__ import annotations

import json
import time
from random import Random
from typing import Any, get_args

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.damage import damaged
from fuzz.promises import read
from fuzz.seeds import PROTOCOLS, literal
from fuzz.targets import TARGETS
from thinkaloud.events import Progress, StreamEvent
from thinkaloud.models.dialect import Dialect
from thinkaloud.testing import stall
from thinkaloud.testing.aws_frames import event_frame

PATIENT = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)
"""What hypothesis would complain about, and may not: damage is slow to make, and large."""


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_raises_only_what_is_promised(name: str) -> None:
    target = TARGETS[name]
    seeds = target.seeds()

    @settings(max_examples=30, derandomize=True, database=None, deadline=None, suppress_health_check=PATIENT)
    @given(st.randoms(use_true_random=False), st.sampled_from(seeds.bodies), st.sampled_from([1, 7, 64, 1 << 20]))
    def run(dice: Random, body: bytes, size: int) -> None:
        target.run(damaged(dice, body, seeds), size)

    run()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_literal_seeds_of_a_protocol_tell_every_kind_of_event(protocol: str) -> None:
    told = {type(event) for body in literal(protocol) for event in read(protocol, (body,), Dialect()).events}
    untold = set() if protocol == "anthropic-messages" else {Progress}
    assert told | untold == set(get_args(StreamEvent))


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_read_as_they_are(name: str) -> None:
    for seed in TARGETS[name].seeds().bodies:
        TARGETS[name].run(seed, 97)


HOSTILE = [
    b"{",
    b"[",
    b'{"a":',
    b'"',
    b"\\",
    b"\r",
    b"\n",
    b"\r\n",
    b"data: ",
    b"data: {}\n",
    b": x\n\n",
    b"<a ",
    b"\0",
]


@pytest.mark.parametrize("name", TARGETS)
def test_no_repeated_input_takes_a_time_with_a_square_in_it(name: str) -> None:
    for word in HOSTILE:
        data = word * (30_000 // len(word))
        began = time.process_time()
        TARGETS[name].run(data, 97)
        assert time.process_time() - began < 10, word


def delta(**kinds: Any) -> bytes:
    """A delta of Converse with many keys."""
    return event_frame("contentBlockDelta", json.dumps({"contentBlockIndex": 0, "delta": kinds}).encode())


FOUND_SLOW = {
    "parse bedrock-converse": delta(**{f"k{number}": {"x": 1} for number in range(10_000)}),
}
"""What fuzzing found to cost the square of its size."""


@pytest.mark.parametrize("name", FOUND_SLOW)
def test_what_was_found_slow_is_fast(name: str) -> None:
    began = time.process_time()
    TARGETS[name].run(FOUND_SLOW[name], 1 << 20)
    assert time.process_time() - began < 10


@pytest.mark.anyio
async def test_a_stalled_body_gives_its_beginning_and_then_nothing() -> None:
    pieces = stall(b"hello", 2)
    assert await anext(pieces) == b"he"
    with anyio.move_on_after(0.05) as scope:
        await anext(pieces)
    assert scope.cancelled_caught
    for at in (-1, 5):
        with pytest.raises(ValueError, match="holds nothing back"):
            await anext(stall(b"hello", at))
