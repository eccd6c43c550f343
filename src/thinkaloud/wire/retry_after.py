"""How long a provider asks to wait, read from the headers of its answer."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Seconds to wait, from `retry-after-ms` or else `retry-after` (seconds or an HTTP date); None where neither tells.

    headers: names in lower case.
    now: what a date is measured against; None: the current time.

    A moment that has passed is 0.0. What is no number of seconds and no date is passed over.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    return seconds if seconds is not None else _until(value, now)


_NUMBER = re.compile(r"\s*\+?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?\s*", re.ASCII | re.IGNORECASE)


def _number(value: str) -> float | None:
    number = float(value) if _NUMBER.fullmatch(value) else math.inf
    return number if math.isfinite(number) else None


def _until(value: str, now: datetime | None) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
