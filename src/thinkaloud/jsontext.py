"""JSON as it comes from models and providers: decoding, strict tool arguments, and a preview of half-written ones.

Decoding goes through orjson where it is installed, else through the standard library; the standard library also takes
over where orjson refuses (lone surrogates).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from thinkaloud.errors import MalformedToolArguments

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

orjson_loads: Callable[[str | bytes], Any] | None
try:
    from orjson import loads as orjson_loads
except ImportError:
    orjson_loads = None


def loads_exact(text: str | bytes) -> Any:
    """Decode JSON with every digit of big integers kept. Raises ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def loads(text: str | bytes) -> Any:
    """Decode JSON by the fastest decoder there is. Integers beyond 64 bits may lose digits. Raises ValueError."""
    if orjson_loads is not None:
        try:
            return orjson_loads(text)
        except ValueError:
            pass
    return loads_exact(text)


def dumps(value: Any) -> str:
    """Encode as compact JSON in pure ASCII, so that every string survives. Raises ValueError for NaN and infinity."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse_arguments(text: str) -> dict[str, Json]:
    """Decode the arguments of a tool call: one JSON object; blank text is no arguments; integers keep all digits.

    Raises MalformedToolArguments, with the raw text.
    """
    if not text or text.isspace():
        return {}
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise MalformedToolArguments(f"the tool arguments are not JSON: {reason}", raw=text) from None
    if not isinstance(value, dict):
        raise MalformedToolArguments(f"the tool arguments are a JSON {_kind(value)}, not an object", raw=text)
    return value


def is_json_object(text: str) -> bool:
    """Whether the text is one whole JSON object, and so cannot be the start of a longer one."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
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


# What may follow a complete value inside a container, when the text is cut there.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|"', re.DOTALL)
_LITERALS = {"true", "false", "null"}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_CUT_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{0,3}|\\)\Z")


def preview_arguments(text: str) -> dict[str, Json]:
    """Read as much as can be read of half-written tool arguments, for showing them while they are written.

    A string that is still open shows as far as it goes; a key without a value, a half number or a half word is left
    out. Never raises: what is no object gives {}. Do not run a tool on a preview.
    """
    closers: list[str] = []
    kept: list[str] = []  # tokens of the longest readable beginning
    safe = 0  # how many of them stand when all open containers are closed after them
    safe_closers: list[str] = []
    after_key = False
    pending_key = False
    position = 0
    while match := _TOKEN.search(text, position):
        token = match.group()
        position = match.end()
        if token == '"':  # a string that does not end
            if not closers or (closers[-1] == "}" and not after_key):
                break
            rest = text[match.start() :]
            kept.append(_closed_string(rest))
            safe, safe_closers = len(kept), closers.copy()
            break
        if token in "{[":
            if not closers and kept:
                break
            closers.append("}" if token == "{" else "]")
            kept.append(token)
            safe, safe_closers = len(kept), closers.copy()
            after_key = pending_key = False
        elif token in "}]":
            if not closers or closers.pop() != token:
                break
            kept.append(token)
            safe, safe_closers = len(kept), closers.copy()
            after_key = pending_key = False
        elif token == ",":
            kept.append(token)
            after_key = pending_key = False
        elif token == ":":
            if not pending_key:
                break
            kept.append(token)
            after_key, pending_key = True, False
        else:
            if not closers:
                break
            if closers[-1] == "}" and not after_key:
                if not token.startswith('"') or pending_key:
                    break
                kept.append(token)
                pending_key = True
                continue
            last = position == len(text)
            whole = token.startswith('"') or token in _LITERALS or (not last and _NUMBER.match(token) is not None)
            if not whole:
                break
            kept.append(token)
            safe, safe_closers = len(kept), closers.copy()
            after_key = False
    try:
        value = json.loads("".join(kept[:safe]) + "".join(reversed(safe_closers)))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _closed_string(text: str) -> str:
    """Close a string that was cut, without the half escape at its end."""
    backslashes = len(text) - len(text.rstrip("\\"))
    if backslashes % 2:
        return text[:-1] + '"'
    cut = _CUT_ESCAPE.search(text)
    if cut and (len(text[: cut.start()]) - len(text[: cut.start()].rstrip("\\"))) % 2 == 0:
        text = text[: cut.start()]
    return text + '"'
