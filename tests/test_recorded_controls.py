"""Requests that providers are recorded to have accepted are asked for in our words, and come out the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

import thinkaloud as ta
from support.shared import needs_shared, shared_folder
from thinkaloud.protocols.openai_chat import OpenAIChatOptions

PREFIX = "pydantic-ai-thinking-wire-contract-reasoning-wire-contract-"

# Of each recording: its provider, what is asked of us, and what we say besides, which another recording of the same
# model shows to be accepted.
ASKED: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "cerebras-gpt-oss-always-on": ("cerebras", {}, {}),
    "cerebras-zai-clear-thinking": ("cerebras", {"reasoning": "off", "extra_body": {"clear_thinking": False}}, {}),
    "groq-gpt-oss-explicit-effor-d1352a01": (
        "groq",
        {"reasoning": "high", "options": OpenAIChatOptions(reasoning_format="parsed")},
        {},
    ),
    "groq-gpt-oss-thinking-false-noop": ("groq", {}, {}),
    "groq-gpt-oss-thinking-medium": (
        "groq",
        {"reasoning": "medium", "options": OpenAIChatOptions(reasoning_format="parsed")},
        {},
    ),
    "groq-gpt-oss-thinking-true-28b94e0a": (
        "groq",
        {"options": OpenAIChatOptions(effort="medium", reasoning_format="parsed")},
        {},
    ),
    "groq-qwen3-disable-merges-u-67f2a93b": (
        "groq",
        {"reasoning": "off", "options": OpenAIChatOptions(service_tier="on_demand")},
        {},
    ),
    "groq-qwen3-disable-override-c26ac86b": ("groq", {"reasoning": "off"}, {}),
    "groq-qwen3-effort-setting": (
        "groq",
        {"reasoning": "high", "options": OpenAIChatOptions(service_tier="on_demand")},
        {"reasoning_format": "parsed"},
    ),
    "groq-qwen3-enable-level-sen-cb24ad4e": ("groq", {}, {}),
    "mistral-small-disable": ("mistral", {"reasoning": "off", "top_p": 1.0}, {}),
    "mistral-small-thinking-high": ("mistral", {"reasoning": "high", "top_p": 1.0}, {}),
}


@needs_shared
def test_every_recording_of_controls_is_asked_for() -> None:
    folder = shared_folder()
    assert folder is not None
    found = {path.name for path in (folder / "recordings").glob("*/*thinking-wire-contract*")}
    assert found == {PREFIX + name for name in ASKED}


@needs_shared
@pytest.mark.parametrize("name", ASKED)
def test_the_recorded_controls_come_out(name: str) -> None:
    folder = shared_folder()
    assert folder is not None
    recorded = json.loads((folder / "recordings" / "openai-chat" / (PREFIX + name) / "request.json").read_text("utf-8"))
    provider, arguments, besides = ASKED[name]
    plan = ta.prepare(f"{provider}/{recorded['model']}", recorded["messages"][0]["content"], **arguments)
    assert controls(plan.body) == controls({**recorded, **besides})


def controls(body: Any) -> dict[str, Any]:
    """What a body says besides the conversation, and how its answer is to come."""
    return {name: value for name, value in body.items() if name not in ("messages", "n", "stream", "stream_options")}


def test_the_same_controls_are_said_without_recordings() -> None:
    assert controls(ta.prepare("mistral/mistral-small-latest", "q", reasoning="high").body) == {
        "model": "mistral-small-latest",
        "reasoning_effort": "high",
    }
    assert controls(ta.prepare("groq/qwen/qwen3-32b", "q", reasoning="off").body) == {
        "model": "qwen/qwen3-32b",
        "reasoning_effort": "none",
    }
    assert controls(ta.prepare("cerebras/zai-glm-4.7", "q", reasoning="off").body) == {
        "model": "zai-glm-4.7",
        "reasoning_effort": "none",
    }
