"""Runs the calls of one answer, all at once, and makes results of what their tools give."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import anyio.to_thread
from attrs import evolve, frozen

from thinkaloud.content import Document, Image, Opaque, Text, ToolCall
from thinkaloud.errors import MalformedToolArguments, ThinkaloudError
from thinkaloud.jsontext import dumps
from thinkaloud.messages import ToolResult
from thinkaloud.tools import Tool
from thinkaloud.typed.functions import is_async

_BLOCKS = (Text, Image, Document, Opaque)
_SAID = (str, *_BLOCKS)


@frozen
class Job:
    """A call to be run. place: among the calls of its answer. tool: None where there is none of the call's name."""

    place: int
    call: ToolCall
    tool: Tool | None
    deadline: float | None


class ToolFailed(ThinkaloudError):
    """A tool failed, and the run is to end of it."""


async def run_jobs(
    jobs: Sequence[Job], finished: Callable[[Job, ToolResult], None], *, raises: bool, known: Sequence[str]
) -> None:
    """Run calls at once, and tell of each result as it comes. known: names of the tools there are.

    Raises ToolFailed for the first failure where `raises`; the others are cancelled then. What is no error but an order
    to stop, such as SystemExit, ends the calls too, and comes out as it is.
    """
    failures: list[BaseException] = []
    done: set[int] = set()

    async def one(job: Job) -> None:
        try:
            result = await _result(job, raises=raises, known=known)
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # raised below, plain and not as a group
            failures.append(error)
            tasks.cancel_scope.cancel()
        else:
            done.add(job.place)
            finished(job, result)

    async with anyio.create_task_group() as tasks:
        for job in jobs:
            tasks.start_soon(one, job)
    if failures:
        raise failures[0]
    for job in jobs:
        if job.place not in done:  # the group was not cancelled, so the tool has raised a cancellation of its own
            finished(job, _failed(job.call, "it was cancelled", None, raises))


async def _result(job: Job, *, raises: bool, known: Sequence[str]) -> ToolResult:
    call, tool = job.call, job.tool
    if tool is None or tool.handler is None:
        listed = ", ".join(known) or "none"
        return _failed(call, f"there is no tool {call.name!r}; there are: {listed}", None, raises)
    seconds = job.deadline if tool.deadline is None else tool.deadline
    try:
        with anyio.move_on_after(seconds):
            value = await _called(tool.handler, call.arguments)
            return _as_result(call, value)
    except MalformedToolArguments as error:
        return error_result(call, str(error))
    except Exception as error:  # whatever a tool of the user's raises is told to the model
        return _failed(call, said_of(error), error, raises)
    return _failed(call, f"the deadline of {seconds:g} s ran out", None, raises)


async def _called(handler: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    if is_async(handler):
        return await handler(arguments)
    value = await anyio.to_thread.run_sync(handler, arguments, abandon_on_cancel=True)
    return await value if inspect.isawaitable(value) else value


def said_of(error: Exception) -> str:
    """An exception of the user's, as text: one that cannot say what it is, is told by its type."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # of its own `__str__`
        return type(error).__name__


def _failed(call: ToolCall, text: str, cause: Exception | None, raises: bool) -> ToolResult:
    if raises:
        raise ToolFailed(f"the tool {call.name!r} failed: {text}") from cause
    return error_result(call, text)


def error_result(call: ToolCall, text: str) -> ToolResult:
    """The result of a call that went wrong."""
    return ToolResult(call.id, text, name=call.name, is_error=True)


def _as_result(call: ToolCall, value: Any) -> ToolResult:
    """What a tool gave, as the result of its call. Raises TypeError or ValueError for what JSON cannot hold."""
    if isinstance(value, ToolResult):
        return evolve(value, call_id=call.id, name=call.name)
    if isinstance(value, _SAID):
        return ToolResult(call.id, value, name=call.name)
    if isinstance(value, list | tuple) and value and all(isinstance(item, _BLOCKS) for item in value):
        return ToolResult(call.id, value, name=call.name)
    return ToolResult(call.id, _as_json(value), name=call.name)


def _as_json(value: Any) -> str:
    try:
        return dumps(value)
    except TypeError:  # classes of fields, sets, enums
        from cattrs import Converter

        return dumps(Converter(unstruct_collection_overrides={set: list, frozenset: list}).unstructure(value))
