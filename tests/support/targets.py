"""A model of each protocol to send a history to, without any network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import thinkaloud as ta
from thinkaloud.history.decisions import kind_of

URL = "http://localhost/v1"

TARGETS = {
    "anthropic-messages": ta.Model("anthropic", "claude-opus-5"),
    "openai-chat": ta.Model("deepseek", "deepseek-v4-pro"),
    "openai-responses": ta.Model("openai", "gpt-5.5", protocol="openai-responses"),
    "gemini": ta.Model("google", "gemini-3-pro"),
    "bedrock-converse": ta.Model("bedrock", "us.anthropic.claude-sonnet-4-6"),
}


def prepared(model: ta.Model | str, messages: Any, **options: Any) -> ta.Plan:
    """The plan of a call to a place that is never called."""
    return ta.prepare(model, messages, base_url=URL, **options)


def body_of(plan: ta.Plan) -> Any:
    """The body as it goes out."""
    return json.loads(plan.request.body)


def strings_in(value: Any) -> Iterator[str]:
    """Every string of a JSON value, in order, names of fields left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)


def sealed(message: ta.Message) -> list[str]:
    """The opaque strings of an answer, in order."""
    if not isinstance(message, ta.AssistantMessage):
        return []
    found: list[str | None] = []
    for block in message.content:
        if kind_of(block) != "opaque":
            found += [getattr(block, "redacted_data", None), getattr(block, "signature", None)]
    return [seal for seal in found if seal]


def told(plan: ta.Plan) -> list[tuple[str, str]]:
    """The notices about the history: code and path."""
    return [(notice.code, notice.path) for notice in plan.notices if notice.path.startswith("messages")]
