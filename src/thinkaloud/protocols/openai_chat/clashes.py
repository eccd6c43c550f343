"""What does not go with thinking at some endpoints: a forced call of a tool, or tools at all.

The rows are what providers document and answer; where a provider is not listed, it is asked, and says so itself.
"""

from __future__ import annotations

import re

from attrs import frozen

from thinkaloud.protocols.base import Call
from thinkaloud.protocols.openai_chat.families import is_openai
from thinkaloud.tools import Tool


@frozen
class Clash:
    """A part of a call that does not go with thinking.

    why: what clashes with what.
    fix: what the caller can do, besides turning thinking off.
    refused: the endpoint refuses the pair; else it leaves the thinking out without a word.
    """

    why: str
    fix: str
    refused: bool = True


# Shape of the dialect, and pattern of the model's id. DeepSeek, Moonshot and Alibaba document that thinking takes no
# forced call; so does Together of DeepSeek's newer models.
_REFUSED = {
    "deepseek": re.compile(""),
    "moonshot": re.compile(""),
    "qwen": re.compile(""),
    "together": re.compile(r"deepseek-v4"),
}
# Claude behind a gateway answers a forced call without thinking (seen at OpenRouter).
_LEFT_OUT = {"openrouter": re.compile(r"claude")}

# Chat completions of OpenAI and Azure refuse functions beside thinking from these models on (their own words of it
# advise the Responses API).
_NO_FUNCTIONS = re.compile(r"gpt-(5\.[4-9]|[6-9]|\d\d)")


def forced_call(call: Call) -> Clash | None:
    """The clash of a forced call with thinking; None where they go together, as far as is known."""
    choice = call.tool_choice
    if choice is None or not choice.forced or not call.tools:
        return None
    id, shape = call.model.facts_id.lower(), call.dialect.effort
    why = f"tool_choice={choice.mode!r} does not go with the thinking of {call.model.id}"
    fix = "use tool_choice='auto'"
    if shape in _REFUSED and _REFUSED[shape].search(id):
        return Clash(why, fix)
    if shape in _LEFT_OUT and _LEFT_OUT[shape].search(id):
        return Clash(why, fix, refused=False)
    return None


def functions(call: Call) -> Clash | None:
    """The clash of functions with thinking on chat completions."""
    if not is_openai(call.model) or not _NO_FUNCTIONS.match(call.model.facts_id.lower()):
        return None
    if not any(isinstance(tool, Tool) for tool in call.tools):
        return None
    return Clash(
        f"on chat completions the functions in tools do not go with the thinking of {call.model.id}",
        "use Model(..., protocol='openai-responses')",
    )
