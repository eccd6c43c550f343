"""How a Claude model may be told to choose tools and be sampled, the same on every host.

Sampling that a model refuses is left out, with a notice.
"""

from __future__ import annotations

from typing import Any

from thinkaloud.errors import ConfigurationError
from thinkaloud.jsontext import Json
from thinkaloud.notices import Notice
from thinkaloud.protocols.anthropic.families import Family
from thinkaloud.protocols.base import Call

_CHOICES = {"auto": "auto", "none": "none", "required": "any", "tool": "tool"}


def tool_choice(call: Call, family: Family) -> dict[str, Json] | None:
    """The `tool_choice` of the Messages API; None where nothing is to be said.

    Raises ConfigurationError for a choice without what it needs, and for a forced call that the model always refuses.
    """
    choice = call.tool_choice
    if choice is None:
        return None
    if not call.tools:
        if choice.forced:
            raise ConfigurationError(f"tool_choice={choice.mode!r} needs tools: give some, or leave it out")
        return None
    if choice.mode == "tool" and not choice.name:
        raise ConfigurationError('tool_choice mode "tool" needs the name of the tool: use ToolChoice.tool("name")')
    if choice.forced and family.forced_tools == "refused":
        raise ConfigurationError(
            f"tool_choice={choice.mode!r}: {call.model.id} takes no forced call, with or without thinking; "
            "use tool_choice='auto' and ask for the call in words"
        )
    written: dict[str, Json] = {"type": _CHOICES[choice.mode]}
    if choice.mode == "tool":
        written["name"] = choice.name
    if choice.parallel is False and choice.mode != "none":
        written["disable_parallel_tool_use"] = True
    return written


def sampling(
    call: Call, family: Family, notices: list[Notice], *, thinks: bool, refused_by: str | None = None
) -> dict[str, Json]:
    """Those of `temperature`, `top_p` and `top_k` that are accepted.

    thinks: the model will think.
    refused_by: what takes none of them.
    """
    asked: dict[str, Json] = {
        name: value for name in ("temperature", "top_p", "top_k") if (value := getattr(call, name)) is not None
    }
    refused: dict[str, str] = {}
    if refused_by is not None:
        refused = dict.fromkeys(asked, f"{refused_by} does not take it")
    elif family.sampling == "refused":
        refused = dict.fromkeys(asked, "this model does not take it")
    elif family.sampling == "without_thinking":
        if thinks:
            refused = {
                name: "thinking does not go with it" for name, value in asked.items() if not _neutral(name, value)
            }
        elif "temperature" in asked and "top_p" in asked:
            refused = {"top_p": "this model does not take it beside temperature"}
    notices += (Notice("sampling_dropped", why, name) for name, why in refused.items())
    return {name: value for name, value in asked.items() if name not in refused}


def _neutral(name: str, value: Any) -> bool:
    """Whether thinking tolerates the value."""
    return (name == "temperature" and value == 1) or (name == "top_p" and 0.95 <= value <= 1)


def stop_sequences(call: Call, notices: list[Notice]) -> list[Json]:
    """The stop sequences without those that are refused."""
    sequences: list[Json] = [text for text in call.stop if text.strip()]
    if len(sequences) < len(call.stop):
        notices.append(Notice("stop_dropped", "stop sequences of white space alone are refused", "stop"))
    return sequences
