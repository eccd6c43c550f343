"""Reads what an error body says, wherever it says it: the same body has the same words on every protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from thinkaloud.jsontext import loads
from thinkaloud.protocols.failures import readable, shortened

# Where the text of an error is, in the order in which it is looked for.
TEXT_FIELDS = ("message", "detail", "error_msg", "msg")
_WORD_FIELDS = ("provider_code", "error_type", "type", "code")
_NO_WORDS = frozenset({"error"})  # the type of an event or of a body, and no word for what went wrong

# Objects that lie inside an error body and say more about it.
_INSIDE = ("error", "metadata", "innererror", "raw", "message", "x_groq", "errors", "detail")
_DEEPEST = 6

_LONGEST_FRAMED = 1_000_000
_STATUS = re.compile("[45][0-9][0-9]")


def opened(body: Any) -> Any:
    """A body that is framed as a stream although it is an error's, by its first JSON line; any other as it is.

    Some servers answer with an error status and still write `event: error` and `data: {...}`.
    """
    if type(body) is not str:
        return body
    for line in body[:_LONGEST_FRAMED].splitlines():
        if line.startswith("data:"):
            try:
                value = loads(line.removeprefix("data:").strip())
            except ValueError:
                continue
            if isinstance(value, dict | list):
                return value
    return body


def objects_in(value: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """The objects of an error body, the error itself before what wraps it, with JSON inside strings opened."""
    if type(value) is str and value.lstrip().startswith(("{", "[")):
        try:
            value = loads(value)
        except ValueError:
            return
    if depth > _DEEPEST:
        return
    if type(value) is list:
        for item in value[:8]:
            yield from objects_in(item, depth + 1)
    elif type(value) is dict:
        told = value.get("error")
        if type(told) in (dict, list):
            yield from objects_in(told, depth + 1)
        yield value
        for name in _INSIDE:
            if name != "error" or type(told) is str:
                yield from objects_in(value.get(name), depth + 1)


def texts_of(part: Mapping[str, Any]) -> Iterator[str]:
    """What one of these objects says in sentences."""
    told = part.get("error")
    if type(told) is str and told.strip():
        yield told
    for name in (*TEXT_FIELDS, "raw"):
        text = part.get(name)
        if type(text) is str and text.strip() and text.lstrip()[0] not in "{[":
            yield text


def words_of(part: Mapping[str, Any]) -> Iterator[str]:
    """The words that one of these objects has for the error."""
    for name in _WORD_FIELDS:
        value = part.get(name)
        if type(value) is str and value:
            yield value
        elif type(value) is int:
            yield str(value)


def message_in(body: Any) -> str:
    """The first sentence that a body says; "" where it says none."""
    return next((text for part in objects_in(body) for text in texts_of(part)), "")


def code_in(body: Any) -> str:
    """The word that a body has for the error, where it is no HTTP status; "" where it has none."""
    words = [word for part in objects_in(body) for word in words_of(part)]
    return next((word for word in words if word not in _NO_WORDS and not _STATUS.fullmatch(word)), "")


def text_of(message: str, body: Any, *, provider: str | None, status: int | None, code: str | None) -> str:
    """The text of an error: what the provider says, or else who failed, with what status, and what came instead.

    message: what the body says of the failure; "" where it says nothing.
    """
    if message.strip():
        return shortened(message)
    who = provider or "the provider"
    failed = f"{who} failed" if status is None else f"{who} answered with status {status}"
    if isinstance(body, str) and (came := readable(body)):
        return f"{failed}: {shortened(came)}"
    return f"{failed}{f' ({code})' if code else ''}, without a message"
