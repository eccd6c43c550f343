"""A delivery plans how bytes travel: the pieces, the waits, and where the connection breaks."""

from __future__ import annotations

import anyio
import pytest

from thinkaloud.testing import Delivery
from thinkaloud.testing.delivery import Ending, Wait

EVENTS = [b"one ", b"two ", b"three"]


def test_each_wire_event_is_a_piece() -> None:
    assert list(Delivery().steps(EVENTS)) == [b"one ", b"two ", b"three", Ending.COMPLETE]


def test_empty_events_are_no_pieces() -> None:
    assert list(Delivery().steps([b"", b"one", b""])) == [b"one", Ending.COMPLETE]


def test_the_body_can_come_whole() -> None:
    assert list(Delivery(pieces="whole").steps(EVENTS)) == [b"one two three", Ending.COMPLETE]


def test_the_body_can_come_byte_by_byte() -> None:
    steps = list(Delivery(pieces="bytes").steps([b"ab", b"c"]))
    assert steps == [b"a", b"b", b"c", Ending.COMPLETE]


def test_the_body_can_come_in_pieces_of_one_size() -> None:
    assert list(Delivery(pieces=6).steps(EVENTS)) == [b"one tw", b"o thre", b"e", Ending.COMPLETE]


def test_the_body_can_come_in_chosen_sizes_and_the_rest() -> None:
    assert list(Delivery(pieces=[1, 5]).steps(EVENTS)) == [b"o", b"ne tw", b"o three", Ending.COMPLETE]


def test_sizes_beyond_the_body_give_no_empty_pieces() -> None:
    assert list(Delivery(pieces=[2, 100, 3]).steps([b"abc"])) == [b"ab", b"c", Ending.COMPLETE]


@pytest.mark.parametrize(
    ("where", "ending"),
    [
        ("cut_after", Ending.COMPLETE),
        ("close_after", Ending.CLOSED),
        ("reset_after", Ending.RESET),
        ("stall_after", Ending.STALLED),
    ],
)
def test_the_body_breaks_off_at_a_byte(where: str, ending: Ending) -> None:
    assert list(Delivery(**{where: 6}).steps(EVENTS)) == [b"one ", b"tw", ending]  # type: ignore[arg-type]


def test_the_body_can_break_off_before_its_first_byte() -> None:
    assert list(Delivery(reset_after=0).steps(EVENTS)) == [Ending.RESET]


def test_the_body_can_break_off_after_its_last_byte() -> None:
    assert list(Delivery(reset_after=13).steps(EVENTS)) == [*EVENTS, Ending.RESET]


def test_a_break_beyond_the_body_never_comes() -> None:
    assert list(Delivery(reset_after=14).steps(EVENTS)) == [*EVENTS, Ending.COMPLETE]


def test_pace_waits_between_pieces_only() -> None:
    wait = Wait(seconds=0.5)
    assert list(Delivery(pace=0.5).steps(EVENTS)) == [b"one ", wait, b"two ", wait, b"three", Ending.COMPLETE]


def test_a_gate_stands_before_its_piece() -> None:
    gate = anyio.Event()
    assert list(Delivery(gates={1: gate}).steps(EVENTS)) == [b"one ", Wait(gate), b"two ", b"three", Ending.COMPLETE]


def test_a_gate_can_stand_before_the_end() -> None:
    gate = anyio.Event()
    assert list(Delivery(gates={3: gate}).steps(EVENTS)) == [*EVENTS, Wait(gate), Ending.COMPLETE]


def test_an_empty_body_only_ends() -> None:
    assert list(Delivery().steps([])) == [Ending.COMPLETE]


def test_a_body_can_break_off_in_one_way_only() -> None:
    with pytest.raises(ValueError, match="only one of"):
        Delivery(cut_after=1, reset_after=2)


@pytest.mark.parametrize("pieces", ["words", 0, -1, [3, 0], ["a"]])
def test_pieces_that_make_no_sense_are_refused(pieces: object) -> None:
    with pytest.raises(ValueError, match="pieces="):
        Delivery(pieces=pieces)  # type: ignore[arg-type]


def test_a_cut_body_promises_its_own_length() -> None:
    assert Delivery(cut_after=6).length(EVENTS) == 6
    assert Delivery(reset_after=6).length(EVENTS) == 13
