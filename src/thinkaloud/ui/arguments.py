"""The arguments of encoders and responses, refused where they are given and not where they would fail.

All of them raise WrongValue, with the name of the argument and what it must be.
"""

from __future__ import annotations

from typing import Any

from thinkaloud.checked import items_of
from thinkaloud.errors import WrongValue, shown
from thinkaloud.messages import AssistantMessage, ToolResult

_OF_ENCODERS = ("opening", "feed", "fail", "finish", "leave")
_OF_STREAMS = {"__aenter__": "async with", "__anext__": "async for"}


def text_or_none(name: str, value: Any) -> str | None:
    """A text, or None."""
    if not isinstance(value, str | None):
        raise WrongValue(f"{name} must be a string, or None, not {type(value).__name__}")
    return value


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise WrongValue(f"{name} must be True or False, not {shown(value)}")
    return value


def names_or_flag(name: str, value: Any) -> bool | tuple[str, ...]:
    """Names of tools, or True or False for all or none of them."""
    if isinstance(value, bool):
        return value
    names = () if isinstance(value, str) else items_of(name, value)
    if isinstance(value, str) or not all(isinstance(each, str) for each in names):
        raise WrongValue(f"{name} must be True, False or names of tools, not {shown(value)}")
    return names


def store_or_none(value: Any) -> Any:
    """What keeps answers, or None."""
    if value is not None and (isinstance(value, type) or not _has(value, "load", "save")):
        raise WrongValue(f"store must have load and save, as a MemoryStore, not {_told(value)}")
    return value


def messages_of_answer(name: str, value: Any) -> tuple[AssistantMessage | ToolResult, ...]:
    """The messages of an answer."""
    messages = items_of(name, value)
    for place, message in enumerate(messages):
        if not isinstance(message, (AssistantMessage, ToolResult)):
            wanted = "an AssistantMessage or a ToolResult"
            raise WrongValue(f"{name}[{place}] must be {wanted}, not {type(message).__name__}")
    return messages


def encoder_of(value: Any) -> Any:
    """An encoder, and not the class of one."""
    if isinstance(value, type) or not _has(value, *_OF_ENCODERS):
        raise WrongValue(f"encoder must be an encoder such as vercel.Encoder(), not {_told(value)}")
    return value


def source_of(value: Any, method: str) -> Any:
    """A stream that has this method of its two forms."""
    if isinstance(value, type) or not _has(value, method):
        raise WrongValue(
            f"source must be a stream for `{_OF_STREAMS[method]}`, such as thinkaloud.stream(...), not {_told(value)}"
        )
    return value


def _has(value: Any, *methods: str) -> bool:
    return all(callable(getattr(value, method, None)) for method in methods)


def _told(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else shown(value)
