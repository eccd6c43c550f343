"""One answer with its tools: the model is asked, its calls are run, and it is asked again until it calls no more."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

import thinkaloud as ta

_MOST_STEPS = 12
_log = logging.getLogger("web_chat")


class ToolRun:
    """The events of all steps and the results of the tools, one after the other, as `LiveAnswer` reads them.

    ask: starts the stream of one step.
    conversation: what it begins with; the user has the last word in it.
    run_tool: gives the result of a call.
    """

    def __init__(
        self,
        ask: Callable[[ta.Conversation], ta.EventStream],
        conversation: ta.Conversation,
        run_tool: Callable[[ta.ToolCall], ta.ToolResult],
    ) -> None:
        self._ask = ask
        self._conversation = conversation
        self._run_tool = run_tool
        self._results: deque[ta.ToolResult] = deque()
        self._stream: ta.EventStream | None = None
        self._steps = 0

    async def __aenter__(self) -> Self:
        self._next_step()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, ta.ThinkaloudError):  # the page gets a sentence that tells nothing of the provider
            _log.warning("%s: %s", type(error).__name__, error)
        if self._stream is not None:
            await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ta.StreamEvent | ta.ToolResult:
        while not self._results:
            if self._stream is None:
                raise StopAsyncIteration
            event = await anext(self._stream, None)
            if event is not None:
                return event
            self._take(await self._stream.message())
        result = self._results.popleft()
        if not self._results:
            self._next_step()
        return result

    def _next_step(self) -> None:
        self._steps += 1
        self._stream = self._ask(self._conversation)

    def _take(self, message: ta.AssistantMessage) -> None:
        """Run what the model calls; where it calls nothing, or has called too often, the answer is over."""
        self._stream = None
        if self._steps < _MOST_STEPS:
            self._results.extend(self._run_tool(call) for call in message.tool_calls)
            self._conversation = self._conversation.adding(message, self._results)
