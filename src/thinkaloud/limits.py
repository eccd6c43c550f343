"""Bounds on what one answer may take of the machine that reads it: a server that is broken or hostile has no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import Attribute, field, frozen

from thinkaloud.checked import whole_number
from thinkaloud.errors import LimitExceeded, over_limit

_MEGABYTE = 1024 * 1024


def _above_zero(_instance: Any, attribute: Attribute[Any], value: object) -> None:
    whole_number(f"Limits.{attribute.name}", value)


@frozen(kw_only=True)
class Limits:
    """Bounds on one answer; what is over one of them raises LimitExceeded with its name as `which`.

    event_size: bytes of one server event.
    body_size: bytes of a body that is not streamed, and of the body of an error.
    stream_size: bytes of a streamed body in all.
    header_size: bytes of all names and values of an answer's headers; the HTTP library has a bound of 100 KiB.
    blocks: how many blocks.
    tool_calls: how many tool calls among them.
    argument_depth: how deeply objects and arrays may lie in each other in the arguments of a call.

    Compressed bodies count as what comes out of them. Raises ConfigurationError.
    """

    event_size: int = field(default=16 * _MEGABYTE, validator=_above_zero)
    body_size: int = field(default=64 * _MEGABYTE, validator=_above_zero)
    stream_size: int = field(default=1024 * _MEGABYTE, validator=_above_zero)
    header_size: int = field(default=64 * 1024, validator=_above_zero)
    blocks: int = field(default=10_000, validator=_above_zero)
    tool_calls: int = field(default=1_000, validator=_above_zero)
    argument_depth: int = field(default=200, validator=_above_zero)

    def exceeded(self, which: str, what: str) -> LimitExceeded:
        """The error for a bound that was passed. what: what has how much, such as "the body has over {} bytes"."""
        limit = getattr(self, which)
        return over_limit(which, limit, what.replace("{}", str(limit)))

    def check_headers(self, headers: Mapping[str, str]) -> None:
        """Raise LimitExceeded for headers that are too large."""
        if sum(len(name) + len(headers[name]) for name in headers) > self.header_size:
            raise self.exceeded("header_size", "the answer's headers have over {} bytes")


def depth_of(text: str, most: int) -> int:
    """How deeply objects and arrays lie in each other in a JSON text, at least where it is more than `most`."""
    if text.count("{") + text.count("[") <= most:
        return 0
    depth = deepest = position = 0
    length = len(text)
    while position < length:
        character = text[position]
        if character == '"':
            position = _end_of_string(text, position + 1)
        elif character in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "}]":
            depth -= 1
        position += 1
    return deepest


def _end_of_string(text: str, position: int) -> int:
    """Where the quotation mark is that ends a string."""
    while (end := text.find('"', position)) >= 0:
        backslashes = end - len(text[position:end].rstrip("\\")) - position
        if backslashes % 2 == 0:
            return end
        position = end + 1
    return len(text)
