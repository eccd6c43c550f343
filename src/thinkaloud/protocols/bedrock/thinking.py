"""From what a call asks of thinking to the fields of the request, for each vendor's models.

Claude is asked as the Messages API asks, with its fields moved to where Converse wants them; for others a word of
effort goes where the vendor has it. The neutral level is clamped by the one rule of the ladder.
"""

from __future__ import annotations

from attrs import evolve, frozen

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel, clamp_level
from thinkaloud.models.bedrock_ids import is_claude
from thinkaloud.models.model import Model
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic import choices
from thinkaloud.protocols.anthropic.families import family_of as claude_family_of
from thinkaloud.protocols.anthropic.thinking import thinking_fields
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.bedrock.families import Family, is_hidden
from thinkaloud.protocols.bedrock.options import BedrockOptions

# The newest Claude that thinks by a budget.
_BUDGETED = "claude-sonnet-4-5"


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
    family = claude_family_of(_as_claude(call.model))
    thinking = thinking_fields(call, options.for_claude(), family)
    notices = list(thinking.notices)
    fields = dict(thinking.fields)
    inference: dict[str, Json] = {"maxTokens": fields.pop("max_tokens")}
    sampled = choices.sampling(call, family, thinking, notices)
    for name, wire_name in (("temperature", "temperature"), ("top_p", "topP")):
        if name in sampled:
            inference[wire_name] = sampled[name]
    if "top_k" in sampled:
        fields["top_k"] = sampled["top_k"]
    betas = list(dict.fromkeys((*options.betas, *thinking.betas)))
    if betas:
        fields["anthropic_beta"] = betas
    choice = choices.tool_choice(call, family, thinking, notices)
    return Asked(fields=fields, inference=inference, choice=choice, level=thinking.level, notices=tuple(notices))


def _as_claude(model: Model) -> Model:
    """A model that is known as Claude by its budget alone, under a name that the Messages API has rows for."""
    if is_claude(model.facts_id) or model.thinking is None or model.thinking.mode != "budget":
        return model
    return evolve(model, base_model=_BUDGETED)


def asked_of_vendor(call: Call, options: BedrockOptions, family: Family) -> Asked:
    """What any other model is asked. Pure. Raises ConfigurationError for options that are Claude's alone."""
    for name in ("thinking", "display", "prefix_mismatch", "betas"):
        if getattr(options, name):
            raise ConfigurationError(
                f"{name}={getattr(options, name)!r} is for Claude, and {call.model.id} is not known as one: "
                "leave it out, or name the model with base_model="
            )
    notices: list[Notice] = []
    word, level = _effort(call, options, family, notices)
    fields = family.effort_fields(word) if word is not None else {}
    refused = "this model does not take it" if not family.sampling else None
    inference: dict[str, Json] = {}
    full = family.full_at_high and word == ThinkingLevel.HIGH.value
    for name, wire_name in (("max_tokens", "maxTokens"), ("temperature", "temperature"), ("top_p", "topP")):
        value = getattr(call, name)
        why = "the highest effort does not go with it" if full else refused if name != "max_tokens" else None
        if value is not None and why is not None:
            code = "option_ignored" if name == "max_tokens" else "sampling_dropped"
            notices.append(Notice(code, why, name))
        elif value is not None:
            inference[wire_name] = value
    if call.top_k is not None:
        own = family.top_k_fields(call.top_k)
        fields |= own
        if not own:
            notices.append(Notice("option_ignored", "this model has no top_k", "top_k"))
    if call.display == "omitted":
        notices.append(Notice("display_ignored", "this model cannot leave thinking out of an answer", "display"))
    return Asked(fields=fields, inference=inference, choice=_choice(call, notices), level=level, notices=tuple(notices))


def _effort(
    call: Call, options: BedrockOptions, family: Family, notices: list[Notice]
) -> tuple[str | None, ThinkingLevel | None]:
    """The vendor's word, and the level that it stands for."""
    if options.effort is not None:
        if family.effort is None:
            raise ConfigurationError(
                f"effort={options.effort!r}: {call.model.id} has no effort that is known; "
                "use additional_fields={...}, or leave it out"
            )
        native = family.control.native if family.control is not None else {}
        return options.effort, next((level for level, word in native.items() if word == options.effort), None)
    asked = call.reasoning
    if asked is None:
        return None, None
    control = family.control
    sent = None
    if call.model.reasoning is not False and control is not None and family.effort is not None:
        sent = clamp_level(asked, control.levels)
    if sent is None or control is None:
        always = control is not None and control.mode == "always_on" and call.model.reasoning is not False
        if asked is not ThinkingLevel.OFF or always:
            text = "this model always thinks, and as it likes" if always else "this model has no known control"
            if is_hidden(call.model):
                text = "an ARN of one's own does not tell the model: name it with base_model="
            notices.append(Notice("level_ignored", text, "reasoning", {"asked": asked.value}))
        return None, None
    if sent is not asked:
        text = f"this model has no level {asked.value!r}, {sent.value!r} is sent in its place"
        notices.append(Notice("level_clamped", text, "reasoning", {"asked": asked.value, "sent": sent.value}))
    native_word = control.native.get(sent)
    return native_word if isinstance(native_word, str) else sent.value, sent


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
