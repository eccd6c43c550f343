"""All that steers Claude in one request, in one pure step: thinking, output limit, choice of tools and sampling."""

from __future__ import annotations

from attrs import frozen

from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.choices import sampling, tool_choice
from thinkaloud.protocols.anthropic.families import Family
from thinkaloud.protocols.anthropic.options import AnthropicOptions
from thinkaloud.protocols.anthropic.thinking import thinking_fields
from thinkaloud.protocols.base import Call


@frozen
class Controls:
    """What steers the model, in the terms of the Messages API; another host moves it to where it wants it.

    max_tokens: the output limit.
    thinking: the fields `thinking` and `output_config`, each where needed.
    tool_choice: None: nothing is said.
    sampling: `temperature`, `top_p` and `top_k`, as far as they are accepted.
    betas: names of the betas that are needed.
    level: the neutral level that was sent; None: nothing was sent.
    """

    max_tokens: int
    thinking: dict[str, Json]
    tool_choice: dict[str, Json] | None
    sampling: dict[str, Json]
    betas: tuple[str, ...]
    level: ThinkingLevel | None
    notices: tuple[Notice, ...]


def controls(call: Call, options: AnthropicOptions, family: Family, *, no_sampling: str | None = None) -> Controls:
    """Map level, options, output limit, choice of tools and sampling to what the model takes. Pure.

    no_sampling: what takes no sampling parameters whatever the model says; None: the model alone decides.

    Raises ConfigurationError for options that the model is known to refuse, for a choice of tools that cannot be, and
    for an output limit without room for the smallest budget.
    """
    notices: list[Notice] = []
    choice = tool_choice(call, family)
    thinking = thinking_fields(call, options, family)
    if choice is not None and choice["type"] in ("any", "tool") and thinking.thinks and family.forced_tools != "free":
        notices.append(Notice("thinking_suppressed", "a forced call comes without thinking", "tool_choice"))
    return Controls(
        max_tokens=thinking.max_tokens,
        thinking=thinking.fields,
        tool_choice=choice,
        sampling=sampling(call, family, notices, thinks=thinking.thinks, refused_by=no_sampling),
        betas=tuple(dict.fromkeys((*options.betas, *thinking.betas))),
        level=thinking.level,
        notices=(*thinking.notices, *notices),
    )
