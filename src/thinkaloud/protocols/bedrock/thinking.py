"""From what a call asks of thinking to the fields of the request, for each vendor's models.

Claude is asked as the Messages API asks, with its fields moved to where Converse wants them; for others a word of
effort goes where the vendor has it. The neutral level is clamped by the one rule of the ladder.
"""

from __future__ import annotations

from attrs import evolve, frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.bedrock_ids import is_claude
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.controls import controls
from thinkaloud.protocols.anthropic.families import family_of as claude_family_of
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.bedrock.families import Family, is_hidden
from thinkaloud.protocols.bedrock.options import BedrockOptions
from thinkaloud.protocols.level_choice import is_settled, level_to_send, overridden

# The newest Claude that thinks by a budget.
_BUDGETED = "claude-sonnet-4-5"

_SAMPLING = {"temperature": "temperature", "top_p": "topP"}


@frozen(kw_only=True)
class Asked:
    """What thinking, sampling and the choice of tools add to a request.

    fields: the model's own fields.
    inference: fields of `inferenceConfig`.
    choice: the choice of a tool, in the form of the Messages API; None: nothing is said.
    level: the neutral level that was sent; None: nothing was sent.
    """

    fields: dict[str, Json]
    inference: dict[str, Json]
    choice: dict[str, Json] | None
    level: ThinkingLevel | None
    notices: tuple[Notice, ...]


def asked_of_claude(call: Call, options: BedrockOptions) -> Asked:
    """What a Claude model is asked. Pure.

    The output limit is always sent: the service's own default leaves little room beside thinking.

    Raises ConfigurationError as the Messages API's encoder does.
    """
    steered = controls(call, options.for_claude(), claude_family_of(_as_claude(call.model)))
    sampling = steered.sampling
    inference: dict[str, Json] = {"maxTokens": steered.max_tokens}
    inference |= {wire_name: sampling[name] for name, wire_name in _SAMPLING.items() if name in sampling}
    fields = dict(steered.thinking)
    if "top_k" in sampling:
        fields["top_k"] = sampling["top_k"]
    if steered.betas:
        fields["anthropic_beta"] = list(steered.betas)
    return Asked(
        fields=fields, inference=inference, choice=steered.tool_choice, level=steered.level, notices=steered.notices
    )


def _as_claude(model: Model) -> Model:
    """A model that is known as Claude by its budget alone, under a name that the Messages API has rows for."""
    if is_claude(model.facts_id) or model.thinking is None or model.thinking.mode != "budget":
        return model
    return evolve(model, base_model=_BUDGETED)


def asked_of_vendor(call: Call, options: BedrockOptions, family: Family) -> Asked:
    """What any other model is asked. Pure.

    Raises ConfigurationError for options that are Claude's alone, for a word of effort that the model is known to
    refuse, and for a choice of tools without what it needs.
    """
    for name in ("thinking", "display", "on_stale", "betas"):
        if getattr(options, name):
            raise ConfigurationError(
                f"{name}={getattr(options, name)!r} is for Claude, and {call.model.id} is not known as one: "
                "leave it out, or name the model with base_model="
            )
    notices: list[Notice] = []
    choice = _choice(call, notices)
    word, level = _effort(call, options, family, notices)
    fields = family.effort_fields(word) if word is not None else {}
    inference = _inference(call, family, notices, full=family.full_at_high and word == ThinkingLevel.HIGH.value)
    if call.top_k is not None:
        own = family.top_k_fields(call.top_k)
        fields |= own
        if not own:
            notices.append(Notice("option_ignored", "this model has no top_k", "top_k"))
    if call.display == "omitted":
        notices.append(Notice("display_ignored", "this model cannot leave thinking out of an answer", "display"))
    return Asked(fields=fields, inference=inference, choice=choice, level=level, notices=tuple(notices))


def _inference(call: Call, family: Family, notices: list[Notice], *, full: bool) -> dict[str, Json]:
    """The output limit and sampling, as far as they are accepted. full: the highest effort takes none of them."""
    inference: dict[str, Json] = {}
    for name, wire_name in (("max_tokens", "maxTokens"), *_SAMPLING.items()):
        value = getattr(call, name)
        if value is None:
            continue
        if full:
            code = "option_ignored" if name == "max_tokens" else "sampling_dropped"
            notices.append(Notice(code, "the highest effort does not go with it", name, {"asked": value}))
        elif name != "max_tokens" and not family.sampling:
            notices.append(Notice("sampling_dropped", "this model does not take it", name, {"asked": value}))
        else:
            inference[wire_name] = value
    cap, asked = call.model.max_output, inference.get("maxTokens")
    if isinstance(asked, int) and cap is not None and "max_output" not in call.model.unsure and asked > cap:
        text = f"this model gives {cap} tokens at most"
        notices.append(Notice("max_tokens_lowered", text, "max_tokens", {"asked": asked, "sent": cap}))
        inference["maxTokens"] = cap
    return inference


def _effort(
    call: Call, options: BedrockOptions, family: Family, notices: list[Notice]
) -> tuple[str | None, ThinkingLevel | None]:
    """The vendor's word, and the level that it stands for."""
    control = None if call.model.reasoning is False or family.effort is None else family.control
    if (word := options.effort) is not None:
        level = _level_of_word(word, call, family)
        notices += overridden(call.reasoning, level)
        return word, level
    chosen = level_to_send(call.reasoning, control or _uncontrolled(call, family))
    for notice in chosen.notices:
        text = notice.text if control is not None and control.levels else _why_ignored(call, family)
        notices.append(evolve(notice, text=text))
    if chosen.level is None or control is None:
        return None, None
    native = control.native.get(chosen.level)
    return native if isinstance(native, str) else chosen.level.value, chosen.level


def _level_of_word(word: str, call: Call, family: Family) -> ThinkingLevel | None:
    if family.effort is None:
        raise ConfigurationError(
            f"effort={word!r}: {call.model.id} has no effort that is known; "
            "use additional_fields={...}, or leave it out"
        )
    native = family.control.native if family.control is not None else {}
    words = {known: level for level, known in native.items() if isinstance(known, str)}
    if words and word not in words and call.model.thinking is not None and is_settled(call.model, "levels", "mode"):
        use = ", ".join(map(repr, words))
        raise ConfigurationError(f"effort={word!r} is not known to {call.model.id}; use one of {use}")
    return words.get(word)


def _uncontrolled(call: Call, family: Family) -> ThinkingControl | None:
    """How a model thinks that cannot be steered: None where it does not, or where nothing is known."""
    always = family.control is not None and family.control.default_on and call.model.reasoning is not False
    return ThinkingControl(mode="always_on", default_on=True) if always else None


def _why_ignored(call: Call, family: Family) -> str:
    if call.model.reasoning is False:
        return "this model does not think"
    if is_hidden(call.model):
        return "an ARN of one's own does not tell the model: name it with base_model="
    if family.effort is not None:
        return "no control of this model's levels is known; BedrockOptions(effort=...) sends a word of the vendor's own"
    if family.control is not None and family.control.mode == "always_on":
        return "this model always thinks, and as it likes"
    return "this model has no known control"


def _choice(call: Call, notices: list[Notice]) -> dict[str, Json] | None:
    choice = call.tool_choice
    if choice is None:
        return None
    if not call.tools and choice.forced:
        raise ConfigurationError(f"tool_choice={choice.mode!r} needs tools: give some, or leave it out")
    if choice.mode == "tool" and not choice.name:
        raise ConfigurationError('tool_choice mode "tool" needs the name of the tool: use ToolChoice.tool("name")')
    if choice.parallel is False:
        notices.append(Notice("option_ignored", "this model cannot be held to one call", "tool_choice.parallel"))
    if choice.mode == "tool":
        return {"type": "tool", "name": choice.name}
    return {"type": {"required": "any"}.get(choice.mode, choice.mode)} if call.tools else None
