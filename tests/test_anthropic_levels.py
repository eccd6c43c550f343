"""A thinking level becomes the fields that each model takes, and never a pair that the API refuses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from attrs import evolve, frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import UserMessage
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.protocols.anthropic.encode import encode
from thinkaloud.protocols.anthropic.options import Adaptive, AnthropicOptions, BetweenTools, Budget, Disabled
from thinkaloud.protocols.base import Call, Encoded
from thinkaloud.tools import Tool, ToolChoice

OFF, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = ThinkingLevel


def request(model: str | Model = "claude-opus-5", options: AnthropicOptions | None = None, **call: Any) -> Encoded:
    if isinstance(model, str):
        model = Model("anthropic", model)
    return encode(Call(model=model, messages=(UserMessage("q"),), options=options, **call))


def thinking(encoded: Encoded) -> Any:
    return encoded.body.get("thinking")


def effort(encoded: Encoded) -> Any:
    output: Any = encoded.body.get("output_config", {})
    return output.get("effort")


def codes(encoded: Encoded) -> list[str]:
    return [notice.code for notice in encoded.notices]


@frozen
class Row:
    """What a model takes, said once more and apart from the library's own table."""

    types: tuple[str, ...]
    efforts: tuple[str, ...] = ()
    capped_off: bool = False
    sampling: bool = False
    forced: bool = True
    max_output: int = 128_000


FIVE = ("low", "medium", "high", "xhigh", "max")
FOUR = ("low", "medium", "high", "max")
ROWS = {
    "claude-fable-5-2": Row(("adaptive",), FIVE, forced=False),
    "claude-mythos-5-2": Row(("adaptive",), FIVE, forced=False),
    "claude-opus-5-5": Row(("adaptive",), FIVE, forced=False),
    "claude-sonnet-5-5": Row(("adaptive", "between_tools"), FIVE, capped_off=True, forced=False),
    "claude-haiku-5-5": Row(("adaptive", "disabled"), FIVE, capped_off=True),
    "claude-fable-5-1": Row(("adaptive",), FIVE, forced=False),
    "claude-mythos-5-1": Row(("adaptive",), FIVE, forced=False),
    "claude-opus-5": Row(("adaptive", "disabled"), FIVE, capped_off=True),
    "claude-sonnet-5": Row(("adaptive", "disabled"), FIVE),
    "claude-fable-5": Row(("adaptive",), FIVE),
    "claude-mythos-5": Row(("adaptive",), FIVE),
    "claude-mythos-preview": Row(("adaptive", "enabled"), FOUR),
    "claude-opus-4-8": Row(("adaptive", "disabled"), FIVE),
    "claude-opus-4-7": Row(("adaptive", "disabled"), FIVE),
    "claude-opus-4-6": Row(("adaptive", "disabled", "enabled"), FOUR, sampling=True),
    "claude-sonnet-4-6": Row(("adaptive", "disabled", "enabled"), FOUR, sampling=True),
    "claude-opus-4-5-20251101": Row(
        ("enabled", "disabled"), ("low", "medium", "high"), sampling=True, max_output=64_000
    ),
    "claude-sonnet-4-5-20250929": Row(("enabled", "disabled"), sampling=True, max_output=64_000),
    "claude-haiku-4-5": Row(("enabled", "disabled"), sampling=True, max_output=64_000),
    "claude-opus-4-1-20250805": Row(("enabled", "disabled"), sampling=True, max_output=32_000),
    "claude-sonnet-4-20250514": Row(("enabled", "disabled"), sampling=True, max_output=64_000),
    "claude-3-7-sonnet-latest": Row(("enabled", "disabled"), sampling=True, max_output=64_000),
    "claude-3-5-haiku-20241022": Row((), sampling=True, max_output=8192),
}
DRESSED = {
    "us.anthropic.claude-opus-4-5-20251101-v1:0": "claude-opus-4-5-20251101",
    "claude-sonnet-4-5@20250929": "claude-sonnet-4-5-20250929",
    "anthropic/claude-opus-4.6": "claude-opus-4-6",
    "claude-sonnet-5-5-20261001": "claude-sonnet-5-5",
}
EVERY_ROW = [*ROWS.items(), *((dressed, ROWS[plain]) for dressed, plain in DRESSED.items())]


@pytest.mark.parametrize(("model", "row"), EVERY_ROW)
def test_no_request_holds_what_its_model_refuses(model: str, row: Row) -> None:
    limits = (None, 1, 1024, 1025, 4000, 16384, 40_000)
    choices = (None, ToolChoice("required"))
    for level, max_tokens, choice in product((None, *ThinkingLevel), limits, choices):
        if choice is not None and not row.forced:
            with pytest.raises(ConfigurationError, match="takes no forced call"):
                request(model, reasoning=level, max_tokens=max_tokens, tools=(Tool("f"),), tool_choice=choice)
            continue
        encoded = request(
            model,
            reasoning=level,
            max_tokens=max_tokens,
            tools=(Tool("f"),),
            tool_choice=choice,
            temperature=0.5,
            top_p=0.5,
            top_k=5,
        )
        faults = list(refused(encoded, row, forced=choice is not None))
        assert faults == [], (level, max_tokens, choice)


def refused(encoded: Encoded, row: Row, *, forced: bool) -> Iterator[str]:
    """Every rule of the API that a request breaks."""
    body: Any = encoded.body
    limit, config = body["max_tokens"], body.get("thinking") or {}
    kind, off = config.get("type"), config.get("type") in ("disabled", "between_tools")
    if limit > row.max_output:
        yield "max_tokens is above the model's own"
    if kind not in (None, *row.types):
        yield "the model does not take this type of thinking"
    if set(config) - {"type", "budget_tokens", "display"} or (off and set(config) != {"type"}):
        yield "thinking has a field that does not go with its type"
    if (kind == "enabled") != ("budget_tokens" in config) or not config.get("budget_tokens", 1024) >= 1024:
        yield "the budget is missing, misplaced or too small"
    if config.get("budget_tokens", 0) >= limit:
        yield "the budget leaves no room for the answer"
    if effort(encoded) not in (None, *row.efforts) or (off and row.capped_off and effort(encoded) in ("xhigh", "max")):
        yield "the model does not take this effort"
    if {"temperature", "top_p", "top_k"} & set(body) and (not row.sampling or kind in ("adaptive", "enabled")):
        yield "sampling is not taken"
    if forced and (kind == "enabled" or body["tool_choice"] != {"type": "any"}):
        yield "a forced call is not taken, or not asked for"


@pytest.mark.parametrize(("model", "row"), EVERY_ROW)
def test_a_higher_wish_never_gives_a_lower_level(model: str, row: Row) -> None:
    sent = [request(model, reasoning=level).level for level in ThinkingLevel if level is not OFF]
    assert sent == sorted(sent, key=lambda level: level.rank if level else -1)
    assert (sent[0] is None) is (row.types == ())


def test_nothing_is_sent_where_nothing_is_asked() -> None:
    encoded = request("claude-opus-5")
    assert thinking(encoded) is None
    assert effort(encoded) is None
    assert (encoded.level, codes(encoded)) == (None, [])


def test_an_adaptive_model_gets_effort_and_visible_thinking() -> None:
    encoded = request("claude-opus-5", reasoning=HIGH)
    assert thinking(encoded) == {"type": "adaptive", "display": "summarized"}
    assert effort(encoded) == "high"
    assert (encoded.level, codes(encoded)) == (HIGH, [])


def test_a_budget_model_gets_a_budget_and_shows_its_thinking_anyway() -> None:
    encoded = request("claude-sonnet-4-5", reasoning=MEDIUM)
    assert thinking(encoded) == {"type": "enabled", "budget_tokens": 10_000}
    assert (encoded.level, effort(encoded)) == (MEDIUM, None)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        ("claude-opus-5", "disabled"),
        ("claude-haiku-5-5", "disabled"),
        ("claude-sonnet-5-5", "between_tools"),
        ("claude-sonnet-4-5", "disabled"),
        ("claude-unheard-of-7", "disabled"),
    ],
)
def test_off_is_said_in_the_model_s_own_shape(model: str, shape: str) -> None:
    encoded = request(model, reasoning=OFF)
    assert thinking(encoded) == {"type": shape}
    assert (encoded.level, codes(encoded)) == (OFF, [])


def test_off_where_it_is_impossible_becomes_the_least_effort_with_a_notice() -> None:
    encoded = request("claude-opus-5-5", reasoning=OFF)
    assert (thinking(encoded), effort(encoded), encoded.level) == (None, "low", LOW)
    (notice,) = encoded.notices
    assert (notice.code, notice.path, notice.detail) == ("level_clamped", "reasoning", {"asked": "off", "sent": "low"})


def test_a_level_that_the_model_lacks_is_clamped_with_a_notice() -> None:
    encoded = request("claude-opus-4-6", reasoning=XHIGH)
    assert (effort(encoded), encoded.level, codes(encoded)) == ("max", MAX, ["level_clamped"])
    assert request("claude-sonnet-4-5", reasoning=MAX).level is XHIGH


def test_a_model_that_does_not_think_ignores_the_level() -> None:
    for model in ("claude-3-5-haiku-latest", Model("anthropic", "claude-opus-5", reasoning=False)):
        encoded = request(model, reasoning=HIGH)
        assert (thinking(encoded), encoded.level, codes(encoded)) == (None, None, ["level_ignored"])
        assert codes(request(model, reasoning=OFF)) == []


def test_a_version_that_no_row_names_is_not_taken_for_its_elder() -> None:
    assert thinking(request("claude-sonnet-5", reasoning=OFF)) == {"type": "disabled"}
    # Sonnet 4.5 takes a budget; a Sonnet 4.9 would be as new as any unknown model.
    assert thinking(request("claude-sonnet-4-9", reasoning=HIGH)) == {"type": "adaptive", "display": "summarized"}


def test_a_model_s_own_control_wins_over_its_family() -> None:
    control = ThinkingControl(
        mode="adaptive", levels=(OFF, LOW, HIGH), native={OFF: "between_tools", LOW: "low", HIGH: "max"}
    )
    model = Model("anthropic", "claude-opus-5", thinking=control)
    assert effort(request(model, reasoning=XHIGH)) == "max"
    assert thinking(request(model, reasoning=OFF)) == {"type": "between_tools"}


def test_an_adaptive_model_under_an_unknown_name_is_asked_as_the_newest_claude() -> None:
    control = ThinkingControl(mode="adaptive", levels=(LOW, HIGH))
    encoded = request(Model("azure", "my-deployment", thinking=control), reasoning=HIGH, temperature=0.5)
    assert thinking(encoded) == {"type": "adaptive", "display": "summarized"}
    assert codes(encoded) == ["sampling_dropped"]


def test_a_deployment_where_all_are_claude_is_asked_as_the_newest_one_and_not_second_guessed() -> None:
    deployment = Model("azure-anthropic", "my-deployment")
    assert thinking(request(deployment, reasoning=HIGH)) == {"type": "adaptive", "display": "summarized"}
    assert thinking(request(deployment, AnthropicOptions(thinking=Budget(2048))))["budget_tokens"] == 2048
    assert thinking(request("my-deployment", reasoning=HIGH))["type"] == "enabled"


def test_a_control_may_bound_its_budget() -> None:
    control = ThinkingControl(mode="budget", levels=(MINIMAL, HIGH), min_budget=2000, max_budget=9000)
    model = Model("anthropic", "some-model", thinking=control)
    assert thinking(request(model, reasoning=MINIMAL))["budget_tokens"] == 2000
    assert thinking(request(model, reasoning=HIGH))["budget_tokens"] == 9000


def test_a_control_that_is_a_switch_or_a_word_is_obeyed() -> None:
    switch = Model("anthropic", "some-model", thinking=ThinkingControl(mode="toggle", levels=(OFF, HIGH)))
    assert thinking(request(switch, reasoning=LOW)) == {"type": "enabled"}
    assert thinking(request(switch, reasoning=OFF)) == {"type": "disabled"}
    word = Model("anthropic", "some-model", thinking=ThinkingControl(mode="effort", levels=(LOW, HIGH)))
    assert (thinking(request(word, reasoning=HIGH)), effort(request(word, reasoning=HIGH))) == (None, "high")
    fixed = Model("anthropic", "some-model", thinking=ThinkingControl(mode="always_on"))
    assert codes(request(fixed, reasoning=HIGH)) == ["level_ignored"]


def test_the_facts_of_a_base_model_apply_to_a_deployment() -> None:
    encoded = request(Model("azure", "my-deployment", base_model="claude-opus-5"), reasoning=HIGH)
    assert encoded.body["model"] == "my-deployment"
    assert thinking(encoded) == {"type": "adaptive", "display": "summarized"}


# room


def test_the_limit_is_the_model_s_own_where_it_is_known_and_a_sane_one_elsewhere() -> None:
    assert request(Model("anthropic", "claude-opus-5", max_output=128_000)).body["max_tokens"] == 128_000
    assert request("claude-opus-5").body["max_tokens"] == 32_000
    assert request("claude-3-haiku-20240307").body["max_tokens"] == 4096
    assert request("claude-opus-5", max_tokens=77).body["max_tokens"] == 77


@pytest.mark.parametrize(("asked", "sent"), [(4000, 20_384), (16_384, 20_480), (16_385, 20_480), (20_479, 20_480)])
def test_a_small_limit_is_raised_to_leave_room_for_the_answer(asked: int, sent: int) -> None:
    encoded = request("claude-sonnet-4-5", reasoning=HIGH, max_tokens=asked)
    assert thinking(encoded)["budget_tokens"] == 16_384
    assert encoded.body["max_tokens"] == sent
    assert [(notice.code, notice.path, notice.detail) for notice in encoded.notices] == [
        ("max_tokens_raised", "max_tokens", {"asked": asked, "sent": sent})
    ]


def test_a_limit_with_room_for_both_stays_as_it_is() -> None:
    encoded = request("claude-sonnet-4-5", reasoning=HIGH, max_tokens=20_480)
    assert (encoded.body["max_tokens"], codes(encoded)) == (20_480, [])


def test_a_limit_above_the_model_s_own_is_lowered_and_told() -> None:
    encoded = request("claude-sonnet-4-5", max_tokens=100_000)
    assert encoded.body["max_tokens"] == 64_000
    (notice,) = encoded.notices
    assert (notice.code, notice.path) == ("max_tokens_lowered", "max_tokens")
    assert notice.detail == {"asked": 100_000, "sent": 64_000}


def test_an_output_limit_that_is_not_settled_holds_nobody_back() -> None:
    unsure = Model("anthropic", "claude-sonnet-4-5", max_output=8000, unsure=("max_output",))
    assert request(unsure, max_tokens=100_000).body["max_tokens"] == 100_000
    assert request(unsure).body["max_tokens"] == 8000
    assert request(evolve(unsure, max_output=64_000)).body["max_tokens"] == 32_000
    assert request("some-model", max_tokens=100_000).body["max_tokens"] == 100_000


def test_the_budget_shrinks_where_the_limit_cannot_rise() -> None:
    capped = Model("anthropic", "claude-sonnet-4-5", max_output=10_000)
    encoded = request(capped, reasoning=HIGH, max_tokens=4000)
    assert encoded.body["max_tokens"] == 10_000
    assert thinking(encoded)["budget_tokens"] == 10_000 - 4000
    assert codes(encoded) == ["max_tokens_raised", "budget_lowered"]


@pytest.mark.parametrize("max_tokens", [1025, 1026, 1500, 2048, 4096, 9000, 16384, 16385, 40_000])
def test_a_budget_fits_every_limit_from_1025(max_tokens: int) -> None:
    encoded = request("some-model", reasoning=HIGH, max_tokens=max_tokens)
    assert 1024 <= thinking(encoded)["budget_tokens"] < max_tokens
    assert encoded.body["max_tokens"] == max_tokens


def test_a_limit_without_room_for_any_thinking_is_refused_before_the_call() -> None:
    with pytest.raises(ConfigurationError, match=r"max_tokens=1024 .* at least 1025"):
        request("some-model", reasoning=LOW, max_tokens=1024)


# native options


def test_native_thinking_wins_over_the_level() -> None:
    encoded = request("claude-opus-5", AnthropicOptions(thinking=Disabled()), reasoning=HIGH)
    assert (thinking(encoded), effort(encoded), encoded.level) == ({"type": "disabled"}, None, OFF)
    encoded = request("claude-sonnet-4-5", AnthropicOptions(thinking=Budget(5000)), reasoning=HIGH)
    assert (thinking(encoded), encoded.level) == ({"type": "enabled", "budget_tokens": 5000}, LOW)


def test_native_thinking_is_visible_by_default_too() -> None:
    encoded = request("claude-opus-5", AnthropicOptions(thinking=Adaptive()))
    assert thinking(encoded) == {"type": "adaptive", "display": "summarized"}
    assert effort(encoded) is None


def test_native_adaptive_thinking_takes_its_effort_from_the_level() -> None:
    encoded = request("claude-opus-5", AnthropicOptions(thinking=Adaptive()), reasoning=MINIMAL)
    assert (effort(encoded), encoded.level, codes(encoded)) == ("low", LOW, ["level_clamped"])


def test_native_effort_wins_over_that_of_the_level() -> None:
    encoded = request("claude-opus-5", AnthropicOptions(effort="max"), reasoning=LOW)
    assert (thinking(encoded)["type"], effort(encoded), encoded.level) == ("adaptive", "max", MAX)


def test_effort_alone_leaves_thinking_to_the_model() -> None:
    encoded = request("claude-opus-4-8", AnthropicOptions(effort="low"))
    assert (thinking(encoded), effort(encoded), encoded.level) == (None, "low", None)
    assert request("claude-opus-5", AnthropicOptions(effort="low")).level is LOW


def test_effort_beside_off_is_lowered_where_the_model_caps_it() -> None:
    encoded = request("claude-opus-5", AnthropicOptions(effort="max"), reasoning=OFF)
    assert (thinking(encoded), effort(encoded), codes(encoded)) == ({"type": "disabled"}, "high", ["effort_lowered"])
    assert effort(request("claude-sonnet-5", AnthropicOptions(effort="max"), reasoning=OFF)) == "max"


@pytest.mark.parametrize(
    ("model", "options", "fix"),
    [
        ("claude-opus-5", AnthropicOptions(thinking=Budget(2048)), "Adaptive or Disabled"),
        ("claude-sonnet-4-5", AnthropicOptions(thinking=Adaptive()), "Budget or Disabled"),
        ("claude-opus-5-5", AnthropicOptions(thinking=Disabled()), "Adaptive"),
        ("claude-opus-5", AnthropicOptions(thinking=BetweenTools()), "Adaptive or Disabled"),
        ("claude-opus-4-6", AnthropicOptions(effort="xhigh"), "'low', 'medium', 'high', 'max'"),
        ("claude-sonnet-4-5", AnthropicOptions(effort="low"), "leave it out"),
    ],
)
def test_what_a_known_model_refuses_is_refused_before_the_call(model: str, options: AnthropicOptions, fix: str) -> None:
    with pytest.raises(ConfigurationError, match=fix):
        request(model, options)


def test_an_unknown_model_is_not_second_guessed() -> None:
    encoded = request("claude-unheard-of-7", AnthropicOptions(thinking=Budget(2048), effort="max"))
    assert thinking(encoded)["budget_tokens"] == 2048
    assert effort(encoded) == "max"


# display


def test_hidden_thinking_is_neutral_too() -> None:
    assert thinking(request("claude-opus-5", reasoning=HIGH, display="omitted"))["display"] == "omitted"
    assert thinking(request("claude-sonnet-4-5", reasoning=HIGH, display="omitted"))["display"] == "omitted"


def test_native_display_wins_over_the_neutral_one() -> None:
    options = AnthropicOptions(display="summarized")
    assert thinking(request("claude-opus-5", options, reasoning=HIGH, display="omitted"))["display"] == "summarized"


def test_updates_need_their_beta() -> None:
    encoded = request("claude-opus-5", AnthropicOptions(display="updates"), reasoning=HIGH)
    assert thinking(encoded)["display"] == "updates"
    assert encoded.headers["anthropic-beta"] == "thinking-display-updates-2026-08-18"


def test_a_display_without_a_level_names_what_the_model_does_anyway() -> None:
    assert thinking(request("claude-opus-5", display="omitted")) == {"type": "adaptive", "display": "omitted"}
    assert codes(request("claude-opus-4-8", display="omitted")) == ["display_ignored"]
    assert codes(request("claude-opus-5", reasoning=OFF, display="omitted")) == ["display_ignored"]


# betas


def test_thinking_between_calls_needs_its_beta_only_beside_a_budget_and_tools() -> None:
    beta = "interleaved-thinking-2025-05-14"
    tools = (Tool("f"),)
    assert request("claude-sonnet-4-5", reasoning=HIGH, tools=tools).headers["anthropic-beta"] == beta
    for model, reasoning, given in (
        ("claude-sonnet-4-5", HIGH, ()),
        ("claude-sonnet-4-5", OFF, tools),
        ("claude-haiku-4-5", HIGH, tools),
        ("claude-opus-5", HIGH, tools),
        ("some-model", HIGH, tools),
    ):
        assert "anthropic-beta" not in request(model, reasoning=reasoning, tools=given).headers


def test_dropping_stale_thinking_needs_its_beta_and_adaptive_thinking() -> None:
    options = AnthropicOptions(on_stale="drop")
    encoded = request("claude-opus-5-5", options)
    binding = {"prefix_mismatch_behavior": "drop_block"}
    assert thinking(encoded) == {"type": "adaptive", "block_binding": binding}
    assert encoded.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    assert thinking(request("claude-opus-5-5", options, reasoning=LOW))["block_binding"] == binding
    for model, level in (("claude-sonnet-5-5", OFF), ("claude-sonnet-4-5", HIGH), ("claude-opus-4-8", None)):
        assert codes(request(model, options, reasoning=level)) == ["on_stale_ignored"]


def test_a_call_that_drops_stale_thinking_asks_only_models_that_bind_it() -> None:
    encoded = request("claude-opus-5-5", reasoning=HIGH, drop_stale=True)
    assert thinking(encoded)["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert encoded.headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    assert "block_binding" not in thinking(request("claude-opus-5", reasoning=HIGH, drop_stale=True))
    off = request("claude-sonnet-5-5", reasoning=OFF, drop_stale=True)
    assert (thinking(off), codes(off)) == ({"type": "between_tools"}, [])


@pytest.mark.parametrize(("native", "sent"), [("error", "error"), ("drop", "drop_block")])
def test_the_options_say_what_becomes_of_stale_thinking_before_the_call_does(native: Any, sent: str) -> None:
    encoded = request("claude-opus-5-5", AnthropicOptions(on_stale=native), reasoning=HIGH, drop_stale=True)
    assert thinking(encoded)["block_binding"] == {"prefix_mismatch_behavior": sent}
    sending = request("claude-opus-5-5", AnthropicOptions(on_stale="send"), reasoning=HIGH, drop_stale=True)
    assert "block_binding" not in thinking(sending)


# what thinking refuses


@pytest.mark.parametrize(
    ("model", "level", "asked", "sent"),
    [
        ("claude-sonnet-4-5", None, {"temperature": 0.2, "top_k": 5}, {"temperature": 0.2, "top_k": 5}),
        ("claude-sonnet-4-5", OFF, {"top_p": 0.5}, {"top_p": 0.5}),
        ("claude-sonnet-4-5", None, {"temperature": 0.2, "top_p": 0.5}, {"temperature": 0.2}),
        ("claude-sonnet-4-5", HIGH, {"temperature": 0.2, "top_p": 0.5, "top_k": 5}, {}),
        ("claude-sonnet-4-5", HIGH, {"temperature": 1.0, "top_p": 0.96}, {"temperature": 1.0, "top_p": 0.96}),
        ("claude-opus-5", None, {"temperature": 1.0}, {}),
        ("claude-opus-5", OFF, {"top_p": 0.99}, {}),
        (
            "some-model",
            HIGH,
            {"temperature": 0.2, "top_p": 0.5, "top_k": 5},
            {"temperature": 0.2, "top_p": 0.5, "top_k": 5},
        ),
    ],
)
def test_sampling_goes_only_where_it_is_taken(
    model: str, level: ThinkingLevel | None, asked: dict[str, Any], sent: dict[str, Any]
) -> None:
    encoded = request(model, reasoning=level, **asked)
    assert {name: encoded.body[name] for name in ("temperature", "top_p", "top_k") if name in encoded.body} == sent
    dropped = [notice.path for notice in encoded.notices if notice.code == "sampling_dropped"]
    assert sorted(dropped) == sorted(set(asked) - set(sent))


def test_the_newer_api_version_takes_no_sampling_at_all() -> None:
    encoded = request("claude-sonnet-4-5", AnthropicOptions(api_version="2026-10-21"), temperature=1.0)
    assert "temperature" not in encoded.body
    assert codes(encoded) == ["sampling_dropped"]
