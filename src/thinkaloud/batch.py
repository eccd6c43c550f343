"""Many conversations at once: so many at a time, in order, and one failure loses nothing."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Unpack

import anyio

from thinkaloud.checked import whole_number
from thinkaloud.client import Client, ModuleCallOptions, complete
from thinkaloud.errors import ConfigurationError, ThinkaloudError
from thinkaloud.messages import AssistantMessage, Conversation
from thinkaloud.models.model import Model
from thinkaloud.plan import Messages, refuse_unknown
from thinkaloud.wire.hiding import cover

Outcome = AssistantMessage | ThinkaloudError
"""What became of one of many conversations: its answer, or the error that it ended with."""
OnDone = Callable[[int, Outcome], None] | Callable[[int, Outcome], Awaitable[None]]


async def complete_many(
    model: str | Model,
    conversations: Iterable[Messages],
    *,
    limit: int = 8,
    on_done: OnDone | None = None,
    streaming: bool = True,
    **options: Unpack[ModuleCallOptions],
) -> list[Outcome]:
    """Ask a model in many conversations, and give for each the answer, or the error that it ended with, in their order.

    conversations: each as in `stream`; an iterator is read only as fast as they are asked.
    limit: how many are asked at the same time.
    on_done: called with the place of a conversation and its outcome as soon as there is one; plain or async.
    options: as in `complete`, for all of them; without a `client` they share one that is made for this call.

    Raises ConfigurationError for arguments that no call takes, and what `on_done` or the iterator raises. Cancelled or
    failed, it leaves no task and no connection, and gives nothing: what came before is what `on_done` was told.
    """
    cover(options)
    rest = dict(options)
    client = rest.pop("client", None)
    refuse_unknown(rest)
    whole_number("limit", limit)
    if isinstance(conversations, str | bytes | Conversation | Mapping) or not isinstance(conversations, Iterable):
        raise ConfigurationError("conversations must be several, such as a list of strings; for one use complete(...)")
    if on_done is not None and not callable(on_done):
        raise ConfigurationError(f"on_done must be a function, or None, not {type(on_done).__name__}")
    if client is None:
        async with Client() as own:
            options["client"] = own
            return await _asked(model, conversations, limit, on_done, streaming, options)
    return await _asked(model, conversations, limit, on_done, streaming, options)


async def _asked(
    model: str | Model,
    conversations: Iterable[Messages],
    limit: int,
    on_done: Callable[[int, Outcome], object] | None,
    streaming: bool,
    options: ModuleCallOptions,
) -> list[Outcome]:
    outcomes: dict[int, Outcome] = {}
    failures: list[Exception] = []
    waiting = enumerate(conversations)
    asking = 0

    def ask_more() -> None:
        nonlocal asking
        if asking < limit:
            asking += 1
            tasks.start_soon(ask)

    async def ask() -> None:
        try:
            for place, conversation in waiting:
                ask_more()  # only while there are conversations: the limit may be far above their number
                outcome: Outcome
                try:
                    outcome = await complete(model, conversation, streaming=streaming, **options)
                except ThinkaloudError as error:
                    outcome = error
                outcomes[place] = outcome
                if on_done is not None and inspect.isawaitable(told := on_done(place, outcome)):
                    await told
        except Exception as error:  # of `on_done` or the iterator: raised below, plain and not as a group
            failures.append(error)
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        ask_more()
    if failures:
        raise failures[0]
    return [outcomes[place] for place in sorted(outcomes)]
