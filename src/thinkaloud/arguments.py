"""The arguments of a call, each taken as what it means: one small check for each, before any network.

All of them raise ConfigurationError, with the name of the argument and what it must be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from inspect import isroutine
from typing import Any

from attrs import evolve

from thinkaloud.checked import items_of, whole_number
from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import Conversation
from thinkaloud.protocols.base import WireProtocol
from thinkaloud.tools import ServerTool, Tool, ToolChoice


def conversation_of(messages: Any, system: str | None) -> Conversation:
    """The messages as a conversation, with the system text that is given beside them."""
    if system is not None and not isinstance(system, str):
        raise ConfigurationError(f"system must be a string, not {type(system).__name__}")
    if not isinstance(messages, Conversation):
        try:
            conversation = Conversation(messages)
        except TypeError as error:
            raise ConfigurationError(f"messages must be a string, messages or a Conversation: {error}") from None
    else:
        conversation = messages
    if not conversation.messages:
        raise ConfigurationError("messages is empty; give at least one user message")
    return conversation if system is None else evolve(conversation, system=system)


def level_of(value: Any) -> ThinkingLevel | None:
    """The thinking level that a name tells."""
    if value is None or isinstance(value, ThinkingLevel):
        return value
    try:
        return ThinkingLevel(value if isinstance(value, str) else "")
    except ValueError:
        names = ", ".join(level.value for level in ThinkingLevel)
        raise ConfigurationError(f"reasoning={shown(value)} must be one of: {names}") from None


def tools_of(value: Iterable[Tool | ServerTool] | None) -> tuple[Tool | ServerTool, ...]:
    """The tools, each under a name of its own."""
    if isinstance(value, (Tool, ServerTool)):
        value = (value,)
    tools = items_of("tools", () if value is None else value)
    for place, tool in enumerate(tools):
        if not isinstance(tool, (Tool, ServerTool)):
            hint = "; use Tool.from_function(...)" if isroutine(tool) else ""
            raise ConfigurationError(f"tools[{place}] must be a Tool or a ServerTool, not {type(tool).__name__}{hint}")
    seen: set[str] = set()
    for place, tool in enumerate(tools):
        if isinstance(tool, Tool):
            if not tool.name or any(mark.isspace() or not mark.isprintable() for mark in tool.name):
                raise ConfigurationError(f"tools[{place}].name={shown(tool.name)} must be letters, digits, _ and -")
            if tool.name in seen:
                raise ConfigurationError(f"tools has {tool.name!r} twice; names must differ")
            seen.add(tool.name)
    return tools


def tool_choice_of(value: Any) -> ToolChoice | None:
    """The choice that a word tells."""
    if value is None or isinstance(value, ToolChoice):
        return value
    if value in ("auto", "none", "required"):
        return ToolChoice(value)
    raise ConfigurationError(
        f'tool_choice={shown(value)} must be "auto", "none", "required" or ToolChoice.tool("name of the tool")'
    )


def one_of(name: str, value: Any, allowed: Sequence[str]) -> Any:
    """A word, if it is one of these."""
    if value is not None and value not in allowed:
        raise ConfigurationError(f"{name}={shown(value)} must be one of: {', '.join(allowed)}, or None")
    return value


def positive(name: str, value: Any) -> int | None:
    """A whole number above 0."""
    whole_number(name, value, or_none=True)
    return value  # type: ignore[no-any-return]


_MOST = 2**63  # beyond it a number is no sampling parameter, and JSON cannot hold infinity


def number(name: str, value: Any) -> float | None:
    """A number, 0 or more."""
    if value is not None and (
        not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= _MOST
    ):
        raise ConfigurationError(f"{name}={shown(value)} must be a number, 0 or more")
    return value


def stops_of(value: str | Iterable[str] | None) -> tuple[str, ...]:
    """The texts that end an answer."""
    if not isinstance(value, (str, Iterable, type(None))):
        raise ConfigurationError(f"stop must be a text or texts, not {type(value).__name__}")
    texts = (value,) if isinstance(value, str) else tuple(value or ())
    if any(not isinstance(text, str) or not text for text in texts):
        raise ConfigurationError("stop must hold texts that are not empty")
    return texts


def options_for(value: Any, wire: WireProtocol) -> Any:
    """The options object of a wire's own protocol; None where those that are given are of others."""
    if value is None:
        return None
    given = value if isinstance(value, tuple) else (value,)
    own = [options for options in given if isinstance(options, wire.options)]
    if len(own) > 1:
        raise ConfigurationError(f"options has more than one {wire.options.__name__}; give one")
    if not own and not isinstance(value, tuple):
        raise ConfigurationError(f"options is a {type(value).__name__}, but {wire.id} takes {wire.options.__name__}")
    return own[0] if own else None


def mapping_of(name: str, value: Any) -> Mapping[str, Any]:
    """A mapping with names as keys; {} for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{name} must be a mapping with names as keys, not {type(value).__name__}")
    if not all(isinstance(key, str) for key in value):
        raise ConfigurationError(f"{name} must be a mapping with names as keys, not one with others")
    return value


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FRAMING = frozenset({"content-length", "transfer-encoding", "host", "connection"})


def headers_of(value: Any) -> Mapping[str, str]:
    """Headers that may be added to a request."""
    headers = mapping_of("extra_headers", value)
    for name in headers:
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _FRAMING:
            raise ConfigurationError(f"extra_headers has {shown(name)}, which is no header that can be set here")
        if not _is_value(headers[name]):
            raise ConfigurationError(
                f"extra_headers[{shown(name)}] must be a printable ASCII string, without blanks around it"
            )
    return headers


def _is_value(text: object) -> bool:
    return isinstance(text, str) and text.isascii() and text.isprintable() and text == text.strip()


def fitting(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers of a protocol, if HTTP can carry them: what they hold may come from options, models and histories."""
    for name, text in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not text.isascii() or not text.isprintable():
            raise ConfigurationError(
                f"an option or the model makes the header {shown(name)} one that HTTP cannot carry"
            )
    return headers
