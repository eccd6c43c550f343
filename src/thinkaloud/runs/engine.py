"""One run, step by step: keeps the evidence, and decides what comes next. Every step is one wait, so no task and no
scope outlives it; whoever drives the steps decides how the events go out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

import anyio
from attrs import evolve

from thinkaloud.content import ToolCall
from thinkaloud.errors import (
    ConfigurationError,
    MalformedToolArguments,
    OutputError,
    RunError,
    StreamAborted,
    ThinkaloudError,
    shown,
)
from thinkaloud.event_stream import EventStream, no_end
from thinkaloud.events import RunEvent, ToolFinished, ToolStarted, TurnEnd, TurnStart
from thinkaloud.messages import AssistantMessage, Conversation, Message, StopReason, ToolResult
from thinkaloud.protocols.base import Call
from thinkaloud.run_result import RunResult, open_calls
from thinkaloud.runs.execution import Job, error_result, run_jobs, said_of
from thinkaloud.runs.rules import RunRules
from thinkaloud.structured import correction, is_answer
from thinkaloud.tools import ServerTool, Tool, ToolChoice
from thinkaloud.usage import Cost

Approvals = Mapping[str, "bool | ToolResult"]

_DENIED = "the call was not approved, so it was not run"
_ACCEPTED = "the answer was accepted"


class Engine:
    """The state of one run.

    open: asks the model, at its first wait, with another choice of tools where one is given; raises what is wrong with
        the arguments at once.
    start: where the run begins: the messages, and what was spent before.
    approvals: what was decided about calls that wait at the end of the messages.
    """

    def __init__(
        self,
        open: Callable[[Conversation, ToolChoice | None], EventStream],
        start: RunResult,
        rules: RunRules,
        approvals: Approvals,
    ) -> None:
        self.events: deque[RunEvent] = deque()
        """What happened and was not handed out yet."""
        self.wake: Callable[[], None] = lambda: None
        """Called when a tool has finished inside of a step."""
        self.over = False
        self.error: BaseException | None = None
        self.result: RunResult | None = None
        self._open = open
        self._rules = rules
        self._approvals = approvals
        self._spent = evolve(start, messages=(), status="stopped", output=None, interrupted=None)
        self._tokens = (start.usage.input or 0) + (start.usage.output or 0)
        self._messages: list[Message] = list(start.messages)
        self._calls: list[ToolCall] = []
        self._results: list[ToolResult | None] = []
        self._jobs: list[Job] = []
        self._interrupted: AssistantMessage | None = None
        self._output: object = None
        self._answered = False  # the structured output is there
        self._corrections: int | None = None
        self._stream: EventStream | None = None
        self._scope: anyio.CancelScope | None = None  # around tools that run
        place, calls = open_calls(self._messages)
        if unknown := approvals.keys() - {call.id for call, result in calls if result is None}:
            waiting = ", ".join(repr(call.id) for call, result in calls if result is None) or "none"
            named = ", ".join(map(repr, sorted(unknown)))
            raise ConfigurationError(f"approvals has {named}, which waits for none; calls that wait: {waiting}")
        del self._messages[place:]
        # The first question is prepared now for its checks; calls that have no result yet are taken for answered.
        results = [ToolResult(call.id, "", name=call.name) if result is None else result for call, result in calls]
        self._first: EventStream | None = open(Conversation(self._messages, system=start.system).adding(results), None)
        self._call: Call = self._first.plan.call
        self._choice = self._call.tool_choice
        self._step: Callable[[], Awaitable[None]] = self._ask
        if self._free_choice() is not None:
            self._first = None
        if calls:
            self._first = None
            self._take_calls(calls)
            self._check_approvals()

    def _check_approvals(self) -> None:
        for call in self._calls:
            if self._approvals.get(call.id) is True and self._is_external(call):
                raise ConfigurationError(
                    f"approvals[{call.id!r}]: the tool {call.name!r} has no handler; give the call's ToolResult"
                )

    @property
    def partial(self) -> RunResult:
        """The evidence so far."""
        if self.result is not None:
            return self.result
        streaming = None if self._stream is None else self._stream.partial
        return self._evidence("stopped", self._interrupted or streaming)

    def _evidence(self, status: str, interrupted: AssistantMessage | None = None) -> RunResult:
        results = [result for result in self._results if result is not None]
        spent = self._spent if interrupted is None else _with(self._spent, interrupted, turns=0)
        return evolve(
            spent,
            messages=(*self._messages, *results),
            status=status,
            interrupted=interrupted,
            output=self._output,
        )

    # driving

    async def step(self) -> None:
        """Do the next thing. What ends the run is kept in `error`; a wait that is cancelled ends it too."""
        try:
            await self._step()
        except ThinkaloudError as error:
            self._fail(error)
        except Exception as error:
            told = no_end(error)
            self.over, self.error = True, told
            if told is not error:
                raise told from error
            raise
        except BaseException:
            self.abort("a wait for the run was cancelled")
            raise
        finally:
            if self.over:
                await self.release()

    async def release(self) -> None:
        """Close the answer that is open, if there is one."""
        if self._stream is not None:
            with anyio.CancelScope(shield=True):
                await self._stream.aclose()

    def abort(self, text: str) -> None:
        """End the run because its reader wants no more."""
        if not self.over:
            self._fail(StreamAborted(text))

    def interrupt(self) -> None:
        """End the wait of a step that is under way."""
        if self._stream is not None:
            self._stream.cancel()
        if self._scope is not None:
            self._scope.cancel()

    def _fail(self, error: ThinkaloudError) -> None:
        if self.over:
            return
        self.over = True
        if self._stream is not None and self._interrupted is None:
            self._interrupted = getattr(error, "partial", None) or self._stream.partial
            if self._interrupted is not None and self._interrupted.stop_reason is None:
                self._interrupted = evolve(self._interrupted, stop_reason=StopReason.ABORTED)
        if isinstance(error, RunError):
            error.partial = self.partial
            self.error = error
            return
        self.error = RunError(f"{type(error).__name__}: {error}", partial=self.partial)
        self.error.__cause__ = error

    def _finish(self, status: str) -> None:
        self.over = True
        self.result = self._evidence(status)

    # asking

    async def _ask(self) -> None:
        self._keep_limits()
        self._interrupted = None
        first, self._first = self._first, None
        conversation = Conversation(self._messages, system=self._spent.system)
        self._stream = first or self._open(conversation, self._free_choice())
        self._call = self._stream.plan.call
        self.events.append(TurnStart(self._spent.turns + 1))
        self._step = self._read

    def _free_choice(self) -> ToolChoice | None:
        """A forced call is for the first answer: forced in every one, the run would never end."""
        choice = self._choice
        if choice is None or not choice.forced or not self._spent.turns:
            return None
        return ToolChoice("auto", parallel=choice.parallel)

    async def _read(self) -> None:
        assert self._stream is not None
        try:
            event = await anext(self._stream)
        except StopAsyncIteration:
            self._take_answer(await self._stream.message())
        else:
            self.events.append(event)

    def _take_answer(self, message: AssistantMessage) -> None:
        self._stream = None
        if not message.tool_calls and (fault := _fault_of_calls(message)) is not None:
            self._interrupted = message
            raise RunError(fault)
        self._spent = _with(self._spent, message, turns=1)
        self._tokens += (message.usage.input or 0) + (message.usage.output or 0)
        self._messages.append(message)
        self.events.append(TurnEnd(self._spent.turns, message))
        calls = open_calls(self._messages)[1]
        if calls:
            self._take_calls(calls)
        elif message.stop_reason is StopReason.PAUSE:
            self._step = self._ask
        else:
            self._take_end(message)

    def _take_end(self, message: AssistantMessage) -> None:
        output, by_tool = self._call.output, self._call.output_schema is None
        if output is not None and is_answer(message, output, by_tool=by_tool):
            try:
                self._output = output.read(message, by_tool=by_tool)
            except OutputError as error:
                said = correction(message, output, error, by_tool=by_tool) if self._may_correct() else None
                if said is None:
                    raise
                self._messages.extend(said)
                self._step = self._ask
                return
        self._finish("finished")

    def _may_correct(self) -> bool:
        assert self._call.output is not None
        left = self._call.output.corrections if self._corrections is None else self._corrections
        self._corrections = left - 1
        return left > 0

    # tools

    def _take_calls(self, calls: Sequence[tuple[ToolCall, ToolResult | None]]) -> None:
        self._calls = [call for call, _ in calls]
        self._results = [result for _, result in calls]
        self._step = self._start_tools

    async def _start_tools(self) -> None:
        tools = {tool.name: tool for tool in self._call.tools if isinstance(tool, Tool)}
        self._jobs = []
        waits = 0
        for place, call in enumerate(self._calls):
            if self._results[place] is not None:
                continue
            decided = self._approvals.get(call.id)
            if isinstance(decided, ToolResult):
                self._results[place] = evolve(decided, call_id=call.id, name=call.name)
            elif decided is False:
                self._results[place] = error_result(call, _DENIED)
            elif self._gives_output(call):
                self._results[place] = self._taken_output(call)
            elif self._is_external(call) or (decided is not True and _needs_approval(tools.get(call.name), call)):
                waits += 1
            else:
                self._jobs.append(Job(place, call, tools.get(call.name), self._rules.tool_deadline))
        if self._jobs and not self._answered:
            self._keep_limits(len(self._jobs))
        self._spent = evolve(self._spent, tool_calls=self._spent.tool_calls + len(self._jobs))
        self.events.extend(ToolStarted(job.call) for job in self._jobs)
        self._step = self._run_tools

    async def _run_tools(self) -> None:
        known = [tool.name for tool in self._call.tools if isinstance(tool, Tool)]
        with anyio.CancelScope() as self._scope:
            await run_jobs(self._jobs, self._take_result, raises=self._rules.on_tool_error == "raise", known=known)
        self._scope = None
        if self.over:
            return
        if None in self._results:
            self._finish("approval")
            return
        self._messages.extend(result for result in self._results if result is not None)
        self._calls, self._results = [], []
        if self._answered:
            self._finish("finished")
        else:
            self._step = self._ask

    def _take_result(self, job: Job, result: ToolResult) -> None:
        self._results[job.place] = result
        self.events.append(ToolFinished(job.call, result))
        self.wake()

    def _is_external(self, call: ToolCall) -> bool:
        """Whether the result of a call comes from outside: its tool has no handler, or is declared in raw form."""
        for tool in self._call.tools:
            if isinstance(tool, ServerTool):
                if call.name in (tool.data.get("name"), _function_name(tool)):
                    return True
            elif tool.name == call.name:
                return tool.handler is None and not self._gives_output(call)
        return False

    def _gives_output(self, call: ToolCall) -> bool:
        output = self._call.output
        return output is not None and self._call.output_schema is None and call.name == output.schema.name

    def _taken_output(self, call: ToolCall) -> ToolResult:
        output = self._call.output
        assert output is not None
        message = next(each for each in reversed(self._messages) if isinstance(each, AssistantMessage))
        try:
            self._output = output.read(evolve(message, content=(call,)))
        except OutputError as error:
            if not self._may_correct():
                raise
            return error_result(call, f"{error.message}. Call the tool again with the whole answer, corrected.")
        self._answered = True
        return ToolResult(call.id, _ACCEPTED, name=call.name)

    # limits

    def _keep_limits(self, jobs: int = 0) -> None:
        """Check the limits before calls are run, and before the model is asked. Raises RunError."""
        rules, spent = self._rules, self._spent
        if spent.turns >= rules.max_turns:
            _reached("max_turns", rules.max_turns, "turns")
        if rules.max_tool_calls is not None and spent.tool_calls + jobs > rules.max_tool_calls:
            _reached("max_tool_calls", rules.max_tool_calls, "calls of tools")
        if rules.max_total_tokens is not None and spent.turns:
            if spent.usage.input is None or spent.usage.output is None:
                raise RunError(
                    "max_total_tokens cannot be kept: an answer did not tell its tokens", limit="max_total_tokens"
                )
            if self._tokens >= rules.max_total_tokens:
                _reached("max_total_tokens", rules.max_total_tokens, "tokens")
        if rules.max_cost is not None and spent.turns:
            total = None if spent.cost is None else spent.cost.total
            total = spent.usage.billed_usd if total is None else total
            if total is None:
                raise RunError("max_cost cannot be kept: the cost of an answer is not known", limit="max_cost")
            if total >= rules.max_cost:
                _reached("max_cost", rules.max_cost, "USD")


def _fault_of_calls(message: AssistantMessage) -> str | None:
    """Why an answer whose calls can none be run is not the end; None where it is."""
    calls = message.incomplete_tool_calls
    if any(call.name for call in calls):
        return "the answer ended inside of a call, which cannot be run; a larger max_tokens may do"
    if not calls or (message.stop_reason is StopReason.END and message.text):
        return None  # a stray call without a name, beside an answer, has its notice
    return "the model called a tool without its name, which cannot be run; asking again may do"


def _reached(name: str, limit: float, what: str) -> None:
    raise RunError(f"the limit of {limit:g} {what} is reached; raise {name} to go on", limit=name)


def _with(spent: RunResult, message: AssistantMessage, *, turns: int) -> RunResult:
    """What was spent, with an answer."""
    first = spent.turns == 0 and spent.usage == type(spent.usage)()
    cost: Cost | None = message.cost
    if not first:
        cost = None if spent.cost is None or cost is None else spent.cost + cost
    return evolve(
        spent, turns=spent.turns + turns, usage=message.usage if first else spent.usage + message.usage, cost=cost
    )


def _needs_approval(tool: Tool | None, call: ToolCall) -> bool:
    if tool is None:
        return False
    if not callable(tool.needs_approval):
        return tool.needs_approval
    try:
        needed = tool.needs_approval(call.arguments)
    except MalformedToolArguments:
        return False  # it is not run, whoever approves
    except Exception as error:  # whatever a function of the user's raises ends the run
        raise RunError(f"needs_approval of the tool {tool.name!r} failed: {said_of(error)}") from error
    if not isinstance(needed, bool):  # a forgotten `return` must not let a call through
        if isinstance(needed, Coroutine):
            needed.close()
        raise RunError(f"needs_approval of the tool {tool.name!r} must give True or False, not {shown(needed)}")
    return needed


def _function_name(tool: ServerTool) -> object:
    function = tool.data.get("function")
    return function.get("name") if isinstance(function, dict) else None
