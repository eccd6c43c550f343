"""What Converse takes and refuses: Claude as the Messages API, and each other vendor's model in its own fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from support import level_rules_anthropic as claude
from support.level_rules import HIGH, LADDER, OFF, Wish, changes
from thinkaloud.models.model import Model
from thinkaloud.plan import Plan

NO_SAMPLING = ("openai.gpt-5", "openai.gpt-6", "xai.grok-4.6", "xai.grok-4.7")


def is_claude(model: Model) -> bool:
    return "anthropic.claude" in model.id


def refusal(wish: Wish) -> str | None:
    return claude.refusal(wish) if is_claude(wish.model) else None


def strength(plan: Plan) -> int | None:
    if is_claude(plan.model):
        return claude.strength_of(as_messages(plan))
    word = word_of(plan)
    ladder = ["disabled", *(level.value for level in LADDER if level is not OFF)]
    return None if word is None else 0 if word == "none" else ladder.index(word)


def faults(wish: Wish, plan: Plan) -> Iterator[str]:
    return claude.broken(wish, plan, as_messages(plan)) if is_claude(wish.model) else broken(wish, plan)


def as_messages(plan: Plan) -> dict[str, Any]:
    """A request of Converse in the shape of the Messages API."""
    body: Any = plan.body
    inference = dict(body["inferenceConfig"])
    view = {"max_tokens": inference.pop("maxTokens"), **body.get("additionalModelRequestFields", {})}
    if "topP" in inference:
        view["top_p"] = inference.pop("topP")
    if choice := body.get("toolConfig", {}).get("toolChoice"):
        ((kind, inner),) = choice.items()
        view["tool_choice"] = {"type": kind, **inner}
    return {**view, **inference}


def word_of(plan: Plan) -> str | None:
    """The word of effort, from the place where the vendor has it."""
    fields: Any = plan.body.get("additionalModelRequestFields", {})
    match {name: value for name, value in fields.items() if name != "inferenceConfig"}:
        case {"reasoning_effort": str(word), **rest} if not rest and "gpt-oss" in plan.model.id:
            return word
        case {"reasoning": {"effort": str(word), **inner}, **rest} if not rest and not inner:
            return word if "openai.gpt-" in plan.model.id else "a word at the wrong place"
        case {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": str(word)}, **rest} if not rest:
            return word
        case {"reasoningConfig": {"type": "disabled"}, **rest} if not rest:
            return "disabled"
        case {**rest} if not rest:
            return None
    return "an unknown field"


def broken(wish: Wish, plan: Plan) -> Iterator[str]:
    """Every rule that a request to another vendor's model breaks."""
    body: Any = plan.body
    control, sent, word = wish.model.thinking, plan.level.sent, word_of(plan)
    if word != (None if sent is None or control is None else control.native[sent]):
        yield "the word is not the native one"
    inference = body.get("inferenceConfig", {})
    full = "nova-2" in wish.model.id and sent is HIGH
    if full and inference:
        yield "the highest effort goes beside a limit or sampling"
    yield from changes(plan, "max_tokens", wish.max_tokens, inference.get("maxTokens"))
    own = body.get("additionalModelRequestFields", {}).get("inferenceConfig", {})
    for name, given in (
        ("temperature", inference.get("temperature")),
        ("top_p", inference.get("topP")),
        ("top_k", own.get("topK")),
    ):
        if given is not None and claude.is_one_of(wish, NO_SAMPLING):
            yield f"{name} is sent to a model that refuses it"
        yield from changes(plan, name, wish.arguments.get(name), given)
    if wish.forced and set(body["toolConfig"]["toolChoice"]) & {"any", "tool"} == set():
        yield "the forced call is not forced"
