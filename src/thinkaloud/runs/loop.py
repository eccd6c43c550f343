"""Runs: ask a model, run the tools that it calls, and ask again, until it has answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import attrs

from thinkaloud.client import Client, ClientOption, open_stream
from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.event_stream import EventStream
from thinkaloud.messages import AssistantMessage, Conversation, StopReason, ToolResult
from thinkaloud.models.model import Model
from thinkaloud.plan import CallOptions, Messages
from thinkaloud.run_result import RunResult, open_calls
from thinkaloud.runs.engine import Approvals, Engine
from thinkaloud.runs.rules import OnToolError, RunRules
from thinkaloud.runs.stream import RunStream
from thinkaloud.tools import ToolChoice
from thinkaloud.wire.hiding import cover


class RunOptions(CallOptions, total=False):
    """All that a run takes besides what a call takes.

    max_turns: answers of the model, 20 where nothing is said. max_tool_calls: calls that are run.
    max_total_tokens: tokens of all prompts and answers. max_cost: USD. A limit is looked at before calls are run and
        before the model is asked; what was reached is told in RunError.
    tool_deadline: seconds that a call may take, where its tool does not say.
    on_tool_error: "report" tells the model of a handler that failed, a tool that is not there and a deadline that ran
        out; "raise" ends the run.
    history: what came before: a RunResult, a Conversation or messages.
    approvals: for a history that waits for calls: the id of each call, and True to run it, False to tell the model that
        it was not approved, or its ToolResult.
    streaming: False asks for answers in one piece; the result is the same.
    """

    max_turns: int
    max_tool_calls: int | None
    max_total_tokens: int | None
    max_cost: float | None
    tool_deadline: float | None
    on_tool_error: OnToolError
    history: RunResult | Messages | None
    approvals: Approvals | None
    streaming: bool


class ModuleRunOptions(RunOptions, ClientOption):
    """All that the module-level runs take."""


_RULES = tuple(each.name for each in attrs.fields(RunRules))


async def run(model: str | Model, messages: Messages | None = None, **options: Unpack[ModuleRunOptions]) -> RunResult:
    """Ask a model, run the tools that it calls, and ask again, until it has answered. Gives the evidence of it all.

    messages: what is said; None goes on with a `history` that ended early or waits for calls.
    options: see RunOptions and CallOptions, and `client`; `tools` have handlers, see Tool.

    Calls that the model makes together run together; results stand in the order of the calls. What goes wrong in a tool
    is told to the model. Calls that were cut off or are no JSON are never run. A forced `tool_choice` is for the first
    answer. A run stops with the status "approval" at calls that need to be approved, or whose tool has no handler
    (`result.pending`), and goes on with `run(model, history=result, approvals={...})`, also from its JSON.

    Raises ConfigurationError and HistoryError before any network; then RunError, with `.partial`, whatever went wrong.
    A run that is cancelled from outside cannot tell where it was: use `run_stream`, whose `partial` can.
    """
    cover(options)
    return await run_stream(model, messages, **options).result()


def run_stream(model: str | Model, messages: Messages | None = None, **options: Unpack[ModuleRunOptions]) -> RunStream:
    """As `run`, handing out the events of every answer, with TurnStart and TurnEnd around them, and of the tools.

    A plain function that prepares the first question at once: raises ConfigurationError and HistoryError here, before
    any network.
    """
    cover(options)
    given: dict[str, Any] = dict(options)
    rules = RunRules(**{name: given.pop(name) for name in _RULES if name in given})
    history, approvals = given.pop("history", None), given.pop("approvals", None) or {}
    streaming, client = given.pop("streaming", True), given.pop("client", None)
    if client is not None and not isinstance(client, Client):
        raise ConfigurationError(f"client must be a Client, not {type(client).__name__}")
    _check_approvals(approvals)
    start = _start(messages, history, given.pop("system", None))
    call_options: CallOptions = given  # type: ignore[assignment]

    def open(conversation: Conversation, choice: ToolChoice | None) -> EventStream:
        asked: CallOptions = call_options if choice is None else {**call_options, "tool_choice": choice}
        return open_stream(model, conversation, asked, client=client, streaming=streaming)

    return RunStream(Engine(open, start, rules, approvals))


def _start(messages: Messages | None, history: Any, system: str | None) -> RunResult:
    """Where a run begins. Going on from an early end goes on counting too."""
    before = _conversation("history", history.conversation if isinstance(history, RunResult) else history)
    said = _conversation("messages", messages)
    if waiting := open_calls(before.messages)[1] if said.messages else ():
        names = ", ".join(repr(call.id) for call, result in waiting if result is None)
        raise ConfigurationError(
            f"messages: the history has calls without results ({names}); run it on first, without messages"
        )
    system = system if system is not None else said.system if said.system is not None else before.system
    if said.messages or not isinstance(history, RunResult):
        start = RunResult(before.adding(said).messages, system=system)
    else:
        start = attrs.evolve(history, system=system)
    last = start.messages[-1] if start.messages else None
    ended = isinstance(last, AssistantMessage) and last.stop_reason is not StopReason.PAUSE
    if ended and not open_calls(start.messages)[1]:
        raise ConfigurationError("messages: the history has ended with an answer; say something more")
    return start


def _conversation(name: str, messages: Any) -> Conversation:
    if messages is None:
        return Conversation()
    if isinstance(messages, Conversation):
        return messages
    try:
        return Conversation(messages)
    except TypeError as error:
        raise ConfigurationError(f"{name} must be a string, messages or a Conversation: {error}") from None


def _check_approvals(approvals: Any) -> None:
    if not isinstance(approvals, Mapping):
        raise ConfigurationError(f"approvals must be a mapping of ids of calls, not {type(approvals).__name__}")
    for id, decided in approvals.items():
        if not isinstance(decided, bool | ToolResult):
            raise ConfigurationError(
                f"approvals[{shown(id)}] must be True, False or a ToolResult, not {type(decided).__name__}"
            )
