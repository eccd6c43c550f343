"""A tool loop that another model began: Claude with a budget goes on with it, and cannot think before it has ended.

With a budget, the API refuses a last answer with calls that does not begin with thinking (Anthropic's documentation:
"a final assistant message must start with a thinking block"); thinking that is off in the middle of a loop is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from thinkaloud.jsontext import Json
from thinkaloud.notices import Notice

# How the blocks of a turn are known, on the Messages API and on Converse.
_THINKING = ("thinking", "redacted_thinking", "reasoningContent")
_CALLS = ("tool_use", "toolUse")
_RESULTS = ("tool_result", "toolResult")

PAUSED = Notice(
    "thinking_paused",
    "the open tool loop was begun without thinking of this model, which may think with a budget only from its start on",
    "reasoning",
)


def may_think(fields: Mapping[str, Json], messages: Sequence[Any]) -> bool:
    """Whether a request may have the thinking that its fields ask for."""
    asked = fields.get("thinking")
    if not isinstance(asked, Mapping) or asked.get("type") != "enabled":
        return True
    if len(messages) < 2 or messages[-2]["role"] != "assistant" or messages[-1]["role"] != "user":
        return True
    answer, results = messages[-2]["content"], messages[-1]["content"]
    open_loop = any(_is(block, _RESULTS) for block in results) and any(_is(block, _CALLS) for block in answer)
    return not open_loop or _is(answer[0], _THINKING)


def _is(block: Mapping[str, Any], names: Sequence[str]) -> bool:
    return block.get("type") in names or any(name in block for name in names if block.get("type") is None)
