"""Thinking levels and native options become `thinkingConfig`: a level or a budget, never both."""

from __future__ import annotations

from typing import Any

import pytest

from support.gemini_wire import Written, write
from thinkaloud.errors import ConfigurationError
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.protocols.gemini import GeminiOptions

PRO_2_5, FLASH_2_5, LITE_2_5 = "google/gemini-2.5-pro", "google/gemini-2.5-flash", "google/gemini-2.5-flash-lite"
FLASH_3_5, FLASH_3_8, PRO_3, NEON = (
    f"google/gemini-{name}" for name in ("3.5-flash", "3.8-flash", "3-pro-preview", "4-neon")
)


def told(written: Written) -> list[str]:
    """What was changed, besides that the catalog does not know a model."""
    return [notice.code for notice in written.notices if notice.code != "unknown_model"]


def level(name: str) -> dict[str, Any]:
    return {"includeThoughts": True, "thinkingLevel": name}


def budget(tokens: int) -> dict[str, Any]:
    return {"includeThoughts": True, "thinkingBudget": tokens}


@pytest.mark.parametrize(
    ("model", "asked", "config", "sent"),
    [
        (FLASH_3_5, "minimal", level("MINIMAL"), "minimal"),
        (FLASH_3_5, "high", level("HIGH"), "high"),
        (FLASH_3_5, "max", level("HIGH"), "high"),
        (FLASH_3_5, "off", {"thinkingLevel": "MINIMAL"}, "minimal"),
        (FLASH_3_8, "minimal", level("LOW"), "low"),
        (FLASH_3_8, "off", {"thinkingLevel": "LOW"}, "low"),
        (PRO_3, "medium", level("HIGH"), "high"),
        (NEON, "max", level("XHIGH"), "xhigh"),
        ("google/gemini-3.1-pro-preview", "xhigh", level("HIGH"), "high"),
        ("google/gemini-9-new", "low", level("LOW"), "low"),
        ("google/gemini-flash-latest", "low", level("LOW"), "low"),
        ("google/gemma-4-31b-it", "low", level("MINIMAL"), "minimal"),
        ("google/tunedModels/mine", "medium", level("MEDIUM"), "medium"),
        ("google/tunedModels/mine", "minimal", level("MINIMAL"), "minimal"),
        ("google/tunedModels/mine", "xhigh", level("XHIGH"), "xhigh"),
        ("google/tunedModels/mine", "off", {"thinkingBudget": 0}, "off"),
        ("google-vertex/gemini-3.1-pro-preview", "off", {"thinkingBudget": 0}, "off"),
        ("google-vertex/gemini-3.1-pro-of-tomorrow", "off", {"thinkingBudget": 0}, "off"),
        ("google/gemini-3.1-pro-of-tomorrow", "off", {"thinkingLevel": "LOW"}, "low"),
        (PRO_2_5, "off", {"thinkingBudget": 128}, "minimal"),
        (PRO_2_5, "low", budget(2048), "low"),
        (PRO_2_5, "xhigh", budget(32_768), "high"),
        (FLASH_2_5, "off", {"thinkingBudget": 0}, "off"),
        (FLASH_2_5, "medium", budget(8192), "medium"),
        (LITE_2_5, "minimal", budget(512), "minimal"),
        (LITE_2_5, "high", budget(24_576), "high"),
    ],
)
def test_a_level_is_said_as_the_model_takes_it(model: str, asked: Any, config: dict[str, Any], sent: str) -> None:
    written = write(model=model, reasoning=asked)
    assert written.thinking == config
    assert written.level is ThinkingLevel(sent)
    assert told(written) == (["level_clamped"] if asked != sent else [])


@pytest.mark.parametrize("model", ["google/gemini-2.0-flash", "google/gemini-2.5-flash-image", "google/gemma-3-27b-it"])
def test_a_model_that_cannot_think_is_not_asked(model: str) -> None:
    written = write(model=model, reasoning="high", display="summarized")
    assert written.thinking is None
    assert told(written) == ["level_ignored", "display_ignored"]
    assert told(write(model=model, reasoning="off")) == []


def test_nothing_is_sent_where_nothing_is_asked() -> None:
    written = write()
    assert (written.thinking, written.level, written.notices) == (None, None, ())


def test_the_display_is_neutral() -> None:
    assert write(display="summarized").thinking == {"includeThoughts": True}
    assert write(reasoning="low", display="omitted").thinking == {"includeThoughts": False, "thinkingLevel": "LOW"}
    assert write(model=FLASH_2_5, reasoning="off", display="summarized").thinking == {"thinkingBudget": 0}


def test_the_limit_is_raised_so_that_a_budget_leaves_room_for_the_answer() -> None:
    written = write(model=FLASH_2_5, reasoning="high", max_tokens=6000)
    assert written.thinking == budget(24_576)
    assert written.body["generationConfig"]["maxOutputTokens"] == 28_672
    assert written.codes == [("max_tokens_raised", "max_tokens")]
    assert written.notices[0].detail == {"asked": 6000, "sent": 28_672}


def test_the_limit_is_not_raised_above_the_models_own() -> None:
    model = Model("google", "gemini-2.5-flash", max_output=10_000)
    written = write(model=model, reasoning="high", max_tokens=6000)
    assert written.body["generationConfig"]["maxOutputTokens"] == 10_000
    assert written.thinking == budget(10_000 - 4096)
    assert told(written) == ["max_tokens_raised", "budget_lowered"]


def test_a_budget_gives_way_to_the_answer_where_the_limit_cannot_grow() -> None:
    model = Model("google", "gemini-2.5-flash-lite", max_output=6000)
    written = write(model=model, reasoning="high", max_tokens=6000)
    assert (written.thinking, told(written)) == (budget(3000), ["budget_lowered"])
    assert write(model=model, reasoning="low", max_tokens=6000).thinking == budget(2048)


def test_a_limit_without_room_for_the_smallest_budget_is_refused() -> None:
    model = Model("google", "gemini-2.5-flash-lite", max_output=512)
    with pytest.raises(ConfigurationError, match="max_tokens=512 leaves no room for thinking: give at least 513"):
        write(model=model, reasoning="low", max_tokens=512)
    assert write(model=model, reasoning="off", max_tokens=512).thinking == {"thinkingBudget": 0}


def test_a_limit_with_room_for_both_stays() -> None:
    written = write(model=FLASH_2_5, reasoning="high", max_tokens=28_672)
    assert (written.body["generationConfig"]["maxOutputTokens"], told(written)) == (28_672, [])


def test_a_native_budget_leaves_room_for_the_answer_too() -> None:
    written = write(model=FLASH_2_5, options=GeminiOptions(budget=5000), max_tokens=3000)
    assert written.thinking == budget(5000)
    assert written.body["generationConfig"]["maxOutputTokens"] == 8000
    assert told(written) == ["max_tokens_raised"]
    free = write(model=FLASH_2_5, options=GeminiOptions(budget=-1), max_tokens=3000)
    assert (free.body["generationConfig"]["maxOutputTokens"], told(free)) == (3000, [])


def test_what_is_known_of_a_model_wins_over_its_family() -> None:
    control = ThinkingControl(
        mode="level",
        levels=(ThinkingLevel.OFF, ThinkingLevel.HIGH),
        native={ThinkingLevel.OFF: 0, ThinkingLevel.HIGH: "HIGH"},
    )
    model = Model("google-vertex", "gemini-3.1-pro-preview", thinking=control)
    assert write(model=model, reasoning="off").thinking == {"thinkingBudget": 0}
    assert write(model=model, reasoning="low").thinking == level("HIGH")
    assert write(model=Model("google", "gemini-3.5-flash", reasoning=False), reasoning="low").thinking is None


@pytest.mark.parametrize(
    ("mode", "asked", "config"),
    [
        ("toggle", "off", {"thinkingBudget": 0}),
        ("toggle", "high", {"includeThoughts": True, "thinkingBudget": -1}),
        ("always_on", "high", {"includeThoughts": True}),
    ],
)
def test_other_controls_are_said_as_far_as_the_wire_can(mode: Any, asked: Any, config: dict[str, Any]) -> None:
    levels = (ThinkingLevel.OFF, ThinkingLevel.HIGH) if mode == "toggle" else ()
    model = Model("google", "odd", thinking=ThinkingControl(mode=mode, levels=levels))
    assert write(model=model, reasoning=asked).thinking == config


# native options


def test_native_options_win_over_the_neutral_level() -> None:
    def native(model: str, **options: Any) -> Any:
        return write(model=model, reasoning="low", options=GeminiOptions(**options)).thinking

    assert native(FLASH_3_5, level="high") == level("HIGH")
    assert native(FLASH_2_5, budget=5000) == budget(5000)
    assert native(FLASH_2_5, budget=-1) == budget(-1)
    assert native(FLASH_2_5, budget=0) == {"thinkingBudget": 0}
    assert native(FLASH_3_5, include_thoughts=False) == {"includeThoughts": False, "thinkingLevel": "LOW"}
    assert native(FLASH_3_5, budget=1000) == budget(1000)


def test_options_that_win_over_another_level_say_so() -> None:
    written = write(model=FLASH_3_5, reasoning="low", options=GeminiOptions(level="HIGH"))
    assert told(written) == ["level_overridden"]
    assert written.notices[0].detail == {"asked": "low", "sent": "high"}
    assert told(write(model=FLASH_3_5, reasoning="high", options=GeminiOptions(level="HIGH"))) == []


def test_shown_thoughts_of_no_thinking_are_told() -> None:
    written = write(model=FLASH_2_5, reasoning="off", options=GeminiOptions(include_thoughts=True))
    assert (written.thinking, told(written)) == ({"thinkingBudget": 0}, ["display_ignored"])


def test_what_is_not_settled_about_a_model_refuses_nothing() -> None:
    control = ThinkingControl(mode="level", levels=(ThinkingLevel.LOW,), native={ThinkingLevel.LOW: "LOW"})
    sure = Model("google", "gemini-next", thinking=control)
    with pytest.raises(ConfigurationError, match="level='HIGH'"):
        write(model=sure, options=GeminiOptions(level="HIGH"))
    unsure = Model("google", "gemini-next", thinking=control, unsure=("thinking.levels",))
    assert write(model=unsure, options=GeminiOptions(level="HIGH")).thinking == level("HIGH")


@pytest.mark.parametrize(
    ("options", "sent"), [({"budget": 5000}, "low"), ({"budget": 0}, "off"), ({"budget": -1}, None), ({}, "high")]
)
def test_the_level_that_native_options_stand_for_is_told(options: dict[str, Any], sent: str | None) -> None:
    found = write(model=FLASH_2_5, reasoning="high", options=GeminiOptions(**options)).level
    assert found is (None if sent is None else ThinkingLevel(sent))


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (FLASH_3_8, {"level": "MINIMAL"}, ["level", "'LOW'"]),
        (FLASH_2_5, {"level": "LOW"}, ["level", "budget="]),
        (PRO_2_5, {"budget": 0}, ["budget", "128"]),
        (FLASH_2_5, {"budget": 99_999}, ["budget", "24576"]),
        ("google/gemini-2.0-flash", {"budget": 100}, ["budget", "leave it out"]),
        ("google/gemini-2.0-flash", {"include_thoughts": True}, ["include_thoughts", "leave it out"]),
    ],
)
def test_options_that_the_model_refuses_are_refused_at_once(
    model: str, options: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        write(model=model, options=GeminiOptions(**options))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": "LOW", "budget": 5}, ["level", "budget", "leave one"]),
        ({"budget": 0, "include_thoughts": True}, ["include_thoughts", "budget=0"]),
        ({"level": "loud"}, ["level", "MINIMAL"]),
        ({"level": 5}, ["level"]),
        ({"budget": -2}, ["budget", "-1"]),
        ({"budget": True}, ["budget"]),
        ({"include_thoughts": "yes"}, ["include_thoughts", "True"]),
        ({"safety_settings": {"category": "x"}}, ["safety_settings", "list"]),
        ({"safety_settings": ["x"]}, ["safety_settings", "category"]),
        ({"service_tier": "fast"}, ["service_tier", "'flex'"]),
        ({"labels": "x"}, ["labels", "mapping"]),
        ({"cached_content": ""}, ["cached_content"]),
        ({"generation_config": {"thinkingConfig": {}}}, ["generation_config", "budget"]),
        ({"generation_config": {"maxOutputTokens": 5}}, ["generation_config", "max_tokens"]),
    ],
)
def test_options_that_cannot_work_name_the_field_and_the_fix(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        GeminiOptions(**options)
    for word in words:
        assert word in str(caught.value)
