"""What bounds a run, and what becomes of failing tools."""

from __future__ import annotations

from typing import Any, Literal, get_args

from attrs import field, frozen

from thinkaloud.checked import real_number, whole_number
from thinkaloud.errors import ConfigurationError, shown

OnToolError = Literal["report", "raise"]


def _count(_rules: Any, attribute: Any, value: Any) -> None:
    whole_number(attribute.name, value, or_none=True)


def _amount(_rules: Any, attribute: Any, value: Any) -> None:
    real_number(attribute.name, value, or_none=True)


def _policy(_rules: Any, attribute: Any, value: Any) -> None:
    if value not in get_args(OnToolError):
        raise ConfigurationError(f'{attribute.name}={shown(value)} must be "report" or "raise"')


@frozen(kw_only=True)
class RunRules:
    """The limits of a run; None: no limit. Each holds for the whole run, going on from an early end included.

    max_turns: answers of the model. max_tool_calls: calls that are run.
    max_total_tokens: tokens of all prompts and answers. max_cost: USD.
    tool_deadline: seconds that a call may take, where its tool does not say.
    on_tool_error: "report" tells the model of a handler that failed, a tool that is not there and a deadline that ran
        out; "raise" ends the run. Arguments that do not fit are always told.
    """

    max_turns: int = field(default=20, validator=_count)
    max_tool_calls: int | None = field(default=None, validator=_count)
    max_total_tokens: int | None = field(default=None, validator=_count)
    max_cost: float | None = field(default=None, validator=_amount)
    tool_deadline: float | None = field(default=None, validator=_amount)
    on_tool_error: str = field(default="report", validator=_policy)
