"""JSON as it comes from models and providers: decoding, strict tool arguments, and a preview of half-written ones.

Decoding goes through orjson where it is installed, else through the standard library; the standard library also takes
over where orjson refuses (lone surrogates).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from thinkaloud.errors import MalformedToolArguments, WrongValue

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

orjson_loads: Callable[[str | bytes], Any] | None
try:
    from orjson import loads as orjson_loads
except ImportError:
    orjson_loads = None


def loads_exact(text: str | bytes) -> Any:
    """Decode JSON with every digit of big integers kept. Raises ValueError."""
    if type(text) is str:
        try:
            value, end = _scan(text, 0)
        except (StopIteration, ValueError, RecursionError):
            pass
        else:
            if end == len(text):
                return value
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply for Python to read, which no Limits change") from None


def loads(text: str | bytes) -> Any:
    """Decode JSON by the fastest decoder there is. Integers beyond 64 bits may lose digits. Raises ValueError."""
    if orjson_loads is not None:
        try:
            return orjson_loads(text)
        except ValueError:
            pass
    elif type(text) is str:  # as in loads_exact, without one more call: this is done for every event
        try:
            value, end = _scan(text, 0)
        except (StopIteration, ValueError, RecursionError):
            pass
        else:
            if end == len(text):
                return value
    return loads_exact(text)


# What `json.loads` does at heart, without the checks around it that take a fifth of the time of a small event.
_decoder: Any = json.JSONDecoder()
_scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once


def dumps(value: Any) -> str:
    """Encode as compact JSON in pure ASCII, so that every string survives.

    Raises ValueError for NaN and infinity, and for what is nested too deeply.
    """
    try:
        return _compact.encode(value)
    except RecursionError:
        raise ValueError("the value is nested too deeply for JSON") from None


_compact = json.JSONEncoder(separators=(",", ":"), allow_nan=False)

_DEEPEST = 10_000  # no decoder gives a tenth of it: deeper is a value that holds itself


def copied(value: Any) -> Any:
    """Copy a JSON value, however deep it is; arrays become lists.

    Raises WrongValue for what is not JSON, and for a value that holds itself.
    """
    root: list[Any] = [value]
    unread: list[tuple[Any, int]] = [(root, 0)]
    while unread:
        container, depth = unread.pop()
        if depth > _DEEPEST:
            raise WrongValue("the value is nested too deeply for JSON")
        for key, child in container.items() if isinstance(container, dict) else enumerate(container):
            if child is None or isinstance(child, (str, int, float)):
                continue
            if isinstance(child, Mapping):
                for name in child:
                    if not isinstance(name, str):
                        raise WrongValue(f"a JSON object has strings as keys, not {type(name).__name__}")
                container[key] = dict(child)
            elif isinstance(child, (list, tuple)):
                container[key] = list(child)
            else:
                raise WrongValue(f"{type(child).__name__} is not JSON")
            unread.append((container[key], depth + 1))
    return root[0]


def copied_object(value: Mapping[str, Json]) -> dict[str, Json]:
    """Copy a JSON object. Raises WrongValue for anything else."""
    if type(value) is not dict and not isinstance(value, Mapping):
        raise WrongValue(f"expected a JSON object (a mapping with string keys), got {type(value).__name__}")
    if not value:
        return {}
    copy: dict[str, Json] = copied(value)
    return copy


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_strict = json.JSONDecoder(parse_constant=_refuse_constant)


def parse_arguments(text: str) -> dict[str, Json]:
    """Decode the arguments of a tool call: one JSON object; blank text is no arguments; integers keep all digits.

    Raises MalformedToolArguments, with the raw text.
    """
    if not text or text.isspace():
        return {}
    try:
        value = _strict.decode(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise MalformedToolArguments(f"the tool arguments are not JSON: {reason}", raw=text) from None
    if not isinstance(value, dict):
        raise MalformedToolArguments(f"the tool arguments are a JSON {_kind(value)}, not an object", raw=text)
    return value


def is_json_object(text: str) -> bool:
    """Whether the text is one whole JSON object, and so cannot be the start of a longer one."""
    try:
        value = _strict.decode(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case _:
            return "array"


def joined_surrogates(text: str) -> str:
    """Join the surrogate halves that stand beside each other; a half without its mate becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# Possessive, so that a string of a megabyte that does not end is read once.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++|"', re.DOTALL)
_WORDS = {"true", "false", "null"}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
# The part of an open string that no later text can change: without half an escape, and without an escaped high
# surrogate whose mate may still come.
_SETTLED = re.compile(
    r"""
    "(?: [^"\\]++
       | \\[^u]
       | \\u(?![dD][89abAB])[0-9a-fA-F]{4}
       | \\u[dD][89abAB][0-9a-fA-F]{2} (?= [^\\] | \\[^u] | \\u[0-9a-fA-F]{4} )
    )*
    """,
    re.DOTALL | re.VERBOSE,
)


def preview_arguments(text: str) -> dict[str, Json]:
    """Read as much as can be read of half-written tool arguments, for showing them while they are written.

    A string that is still open shows as far as it goes; a key without a value, a half number or a half word is left
    out. Never raises: what is no object gives {}. Do not run a tool on a preview. Linear in the size of the text.
    """
    if not isinstance(text, str):
        return {}
    kept: list[str] = []
    closers: list[str] = []  # what closes the containers that are open
    readable = 0  # how many tokens of `kept` are JSON when `closers` follow them
    expects_key = expects_value = False  # inside an object: before a key, or between its colon and its value
    position = 0
    while match := _TOKEN.search(text, position):
        token = match.group()
        position = match.end()
        in_object = bool(closers) and closers[-1] == "}"
        if token == ":":
            if not in_object or expects_key or expects_value:
                break
            expects_value = True
            kept.append(token)
            continue
        if token == ",":
            expects_key = in_object
            kept.append(token)
            continue
        if in_object and expects_key and token != "}":
            if token[0] != '"' or token == '"':
                break
            expects_key = False
            kept.append(token)
            continue
        if token in ("{", "["):
            if kept and not closers:
                break  # a second value
            closers.append("}" if token == "{" else "]")
            expects_key = token == "{"
        elif token in ("}", "]"):
            if not closers or closers[-1] != token:
                break
            closers.pop()
            expects_key = False
        elif token == '"':
            token = _SETTLED.match(text, match.start()).group() + '"'  # type: ignore[union-attr]
            position = len(text)
        elif token[0] != '"' and token not in _WORDS and (position == len(text) or not _NUMBER.match(token)):
            break
        if not kept and not closers:
            break  # not an object
        expects_value = False
        kept.append(token)
        readable = len(kept)
    try:
        value = json.loads("".join(kept[:readable]) + "".join(reversed(closers)), strict=False)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
