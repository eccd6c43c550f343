"""How long to wait, from the headers of a refusal."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkaloud.wire.retry_after import retry_after

NOON = datetime(2026, 11, 6, 12, 0, 0, tzinfo=UTC)


def test_seconds_are_taken_as_they_are() -> None:
    assert retry_after({"retry-after": "7"}) == 7.0
    assert retry_after({"retry-after": "0.5"}) == 0.5
    assert retry_after({"retry-after": "0"}) == 0.0


def test_milliseconds_win_over_seconds() -> None:
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5


def test_unreadable_milliseconds_fall_back_to_seconds() -> None:
    assert retry_after({"retry-after-ms": "soon", "retry-after": "9"}) == 9.0


def test_a_date_is_measured_from_now() -> None:
    assert retry_after({"retry-after": "Fri, 06 Nov 2026 12:00:30 GMT"}, now=NOON) == 30.0


def test_a_date_with_an_unknown_zone_counts_as_utc() -> None:
    assert retry_after({"retry-after": "Fri, 06 Nov 2026 12:00:30 -0000"}, now=NOON) == 30.0


def test_a_date_in_the_past_means_now() -> None:
    assert retry_after({"retry-after": "Fri, 06 Nov 2026 11:59:00 GMT"}, now=NOON) == 0.0
    assert retry_after({"retry-after": "Thu, 01 Jan 1998 00:00:00 GMT"}) == 0.0


@pytest.mark.parametrize(
    "value",
    ["", "soon", "-1", "nan", "inf", "1e999", "Fri, 99 Nov 2026 12:00:30 GMT", "Fri, 06 Nov 2026 12:00:30 +999999"],
)
def test_what_is_neither_seconds_nor_a_date_says_nothing(value: str) -> None:
    assert retry_after({"retry-after": value}) is None


def test_no_header_says_nothing() -> None:
    assert retry_after({}) is None


@pytest.mark.parametrize("value", ["\u0663", "1_0", "0x10", "inf", "nan", "9" * 5000])
def test_what_only_python_reads_as_a_number_is_passed_over(value: str) -> None:
    assert retry_after({"retry-after": value}) is None
    assert retry_after({"retry-after-ms": value}) is None
