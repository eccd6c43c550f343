"""A Python function as a tool: its parameters, what its docstring says of them, and a handler that reads arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from thinkaloud.errors import ConfigurationError, MalformedToolArguments
from thinkaloud.jsontext import Json, dumps
from thinkaloud.typed.kinds import NO_DEFAULT, Member, hints_of
from thinkaloud.typed.reading import Unfit, read_members
from thinkaloud.typed.schema import Schema, schema_of_members

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@frozen
class Function:
    """What a tool needs of a function.

    name, description: for the model. schema: of the arguments.
    handler: takes the arguments as an object; async where the function is.
    """

    name: str
    description: str
    schema: Schema
    handler: Callable[[Mapping[str, Json]], Any]


def function_of(function: Callable[..., Any]) -> Function:
    """Look at a function. Raises ConfigurationError for what no model could call."""
    name = getattr(function, "__name__", type(function).__name__)
    if not callable(function):
        raise ConfigurationError(f"a tool is made from a function, not from a {name}")
    if _is_generator(function):
        raise ConfigurationError(f"{name} is a generator, and a tool gives one result: return it, do not yield")
    parameters = _signature(function, name)
    description, told = _docstring(function, set(parameters))
    members, positional = _parameters(function, name, parameters, told)
    return Function(name, description, schema_of_members(members, name), _handler(function, members, positional))


def _signature(function: Callable[..., Any], name: str) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"the parameters of {name} cannot be read: {error}") from None


def _parameters(
    function: Callable[..., Any],
    name: str,
    parameters: Mapping[str, inspect.Parameter],
    told: Callable[[str], str],
) -> tuple[list[Member], frozenset[str]]:
    hints = hints_of(_underlying(function), f"the parameters of {name} cannot be read")
    members: list[Member] = []
    positional: set[str] = set()
    for parameter in parameters.values():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.add(parameter.name)
        elif parameter.kind not in _NAMED:
            raise ConfigurationError(f"{name}: {parameter} has no form in JSON; give it parameters with names")
        default = NO_DEFAULT if parameter.default is inspect.Parameter.empty else parameter.default
        members.append(Member(parameter.name, hints.get(parameter.name, Any), default, told(parameter.name)))
    return members, frozenset(positional)


def _underlying(function: Any) -> Any:
    """What carries the annotations: of a partial its function, of an object its `__call__`."""
    while hasattr(function, "func"):
        function = function.func
    return function if inspect.isroutine(function) else type(function).__call__


def _handler(
    function: Callable[..., Any], members: list[Member], positional: frozenset[str]
) -> Callable[[Mapping[str, Json]], Any]:
    def bound(arguments: Mapping[str, Json]) -> tuple[list[Any], dict[str, Any]]:
        try:
            values = read_members(arguments, members)
        except Unfit as error:
            raise MalformedToolArguments(f"the arguments do not fit: {error}", raw=dumps(dict(arguments))) from None
        first = [values.pop(member.name, member.default) for member in members if member.name in positional]
        return first, values

    if is_async(function):

        async def run_async(arguments: Mapping[str, Json]) -> Any:
            first, values = bound(arguments)
            return await function(*first, **values)

        return run_async

    def run(arguments: Mapping[str, Json]) -> Any:
        first, values = bound(arguments)
        return function(*first, **values)

    return run


def is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(_underlying(function))


def _is_generator(function: Any) -> bool:
    inner = _underlying(function)
    return inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner)


# docstrings

_SECTION = re.compile(
    r"(args|arguments|parameters|params|returns?|raises|yields|examples?|notes?)\s*:?$", re.IGNORECASE
)
_RULE = re.compile(r"-{3,}$")
# `name: text`, `name (type): text`, `name : type` with the text below, `:param type name: text`.
_ENTRY = re.compile(r"(?::param\s+(?:\S+\s+)?)?\*{0,2}(?P<name>\w+)(?:\s*\([^)]*\))?(?P<gap>\s*):(?:\s+(?P<text>.*))?$")


def _docstring(function: Callable[..., Any], names: set[str]) -> tuple[str, Callable[[str], str]]:
    """What a docstring says of a function, and of each parameter. Google's, NumPy's and Sphinx's forms are known."""
    text = inspect.getdoc(_underlying(function)) or ""
    if text == inspect.getdoc(object.__call__):
        text = ""
    about: list[str] = []
    entries: dict[str, list[str]] = {}
    current, depth, over = "", 0, False
    for line in text.splitlines():
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        found = _ENTRY.match(bare)
        if found and found["name"] in names and found["name"] not in entries:
            current, depth = found["name"], indent
            # NumPy's form has the type there.
            entries[current] = [] if found["gap"] else [found["text"] or ""]
        elif current and bare and indent > depth:
            entries[current].append(bare)
        else:
            if bare:
                current = ""
            over = over or bool(_SECTION.match(bare)) or bare.startswith((":return", ":raise", ":param"))
            if not over and not entries and not _RULE.match(bare):
                about.append(line)
    return "\n".join(about).strip(), lambda name: " ".join(entries.get(name, ())).strip()
