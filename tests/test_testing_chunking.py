"""The same bytes cut in many ways, and bodies that are cut off."""

from __future__ import annotations

import pytest

from thinkaloud.testing import cuts, event_ends, truncate


def test_cuts_are_one_piece_single_bytes_two_pieces_at_each_place_and_random_ones() -> None:
    ways = list(cuts(b"abcd", rounds=2))
    assert ways[:5] == [[b"abcd"], [b"a", b"b", b"c", b"d"], [b"a", b"bcd"], [b"ab", b"cd"], [b"abc", b"d"]]
    assert len(ways) == 7


def test_every_way_of_cutting_joins_to_the_bytes_without_empty_pieces() -> None:
    data = bytes(range(100))
    for pieces in cuts(data):
        assert b"".join(pieces) == data
        assert all(pieces)


def test_random_cuts_are_the_same_for_the_same_seed() -> None:
    data = bytes(range(100))
    assert list(cuts(data, seed=3)) == list(cuts(data, seed=3))
    assert list(cuts(data, seed=3)) != list(cuts(data, seed=4))


def test_a_step_thins_out_the_places() -> None:
    assert list(cuts(b"abcdef", step=4, rounds=0))[2:] == [[b"abcd", b"ef"]]


def test_nothing_can_be_cut_in_one_way_only() -> None:
    assert all(pieces == [] for pieces in cuts(b""))


def test_truncate_keeps_the_first_bytes() -> None:
    assert truncate(b"abcd", 3) == b"abc"
    assert truncate(b"abcd", 0) == b""


@pytest.mark.parametrize("at", [4, 5, -1])
def test_truncate_refuses_to_cut_off_nothing(at: int) -> None:
    with pytest.raises(ValueError, match="cuts nothing off"):
        truncate(b"abcd", at)


def test_event_ends_stand_after_each_blank_line() -> None:
    assert event_ends(b"data: 1\n\ndata: 2\r\n\r\ndata: 3\n") == [9, 20]
