"""Asks a callable for a key or a token, off the event loop where it may block."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import anyio.to_thread

from thinkaloud.auth.failures import failure_of, told
from thinkaloud.auth.secret import Secret
from thinkaloud.errors import AuthenticationError, ThinkaloudError


async def ask(source: Callable[[], Any]) -> Any:
    """Call a plain callable in a worker thread, an async one here, and give what it gives in the end.

    Plain callables that fetch tokens (such as those of azure-identity) block while they do. A wait that is cancelled
    leaves the thread to itself.
    """
    if inspect.iscoroutinefunction(source) or inspect.iscoroutinefunction(type(source).__call__):
        return await source()
    given = await anyio.to_thread.run_sync(source, abandon_on_cancel=True)
    return await given if inspect.isawaitable(given) else given


async def ask_for_secret(source: Callable[[], Any], name: str) -> Secret:
    """Ask a user's callable for a key or a token. name: the argument that it was given as.

    Raises AuthenticationError, with its cause, where the callable fails; what a cloud's library says of credentials in
    our words; and an error of ours as it is.
    """
    try:
        return Secret(await ask(source))
    except ThinkaloudError:
        raise
    except Exception as error:
        failure = failure_of(error)  # not chained: it may quote what was sent
        if failure is None:
            raise AuthenticationError(f"the callable given as {name} failed ({told(error)})") from error
    raise failure
