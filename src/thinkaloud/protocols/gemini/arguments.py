"""The arguments of a call that stream as values at JSON paths, written down as one growing piece of JSON text.

Vertex AI streams arguments as `{"jsonPath": "$.a.b[0]", "stringValue": "..."}` entries. Values come in the order of the
document, so the text grows with each entry, and every piece of it can be handed on at once. Linear in all that comes.
"""

from __future__ import annotations

import re
from itertools import pairwise
from json.encoder import encode_basestring_ascii
from math import isfinite

from thinkaloud.errors import MalformedStream
from thinkaloud.fragments import Fragments
from thinkaloud.jsontext import dumps
from thinkaloud.protocols.fields import JsonObject, text_field

_STEP = re.compile(
    r"""\.(?P<name>[^.\[\]]+)
      | \[(?P<index>\d{1,9})\]
      | \['(?P<single>(?:[^'\\]|\\.)*)'\]
      | \["(?P<double>(?:[^"\\]|\\.)*)"\]""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_DEEPEST = 200

_Container = dict[str, object] | list[object]
_Key = str | int


class StreamedArguments:
    """Takes the entries of one call in order and gives the JSON text that each of them adds.

    An entry that goes back to a part of the document that is already written cannot change the text; from there on the
    values are only kept, and `close` writes those that have changed a second time, which every JSON reader takes for
    the valid ones.
    """

    def __init__(self) -> None:
        self._root: dict[str, object] = {}
        self._begun = False
        self._names: list[_Key] = []  # where the containers lie that are open in the text
        self._containers: list[_Container] = [self._root]
        self._path: str | None = None  # of the string that is open in the text
        self._string: Fragments | None = None
        self._changed: dict[str, None] | None = None  # members written too early; None: the text is right so far

    def begin(self, members: JsonObject) -> str:
        """Take in the members that came with the start of the call, before all entries."""
        pieces: list[str] = []
        for name, value in members.items():
            if isinstance(value, str):
                string = Fragments()
                string.append(value)
                value = string
            pieces.append(self._write([name], 0, "", value))
        return "".join(pieces)

    def add(self, entry: JsonObject) -> str:
        """Take in one entry. One whose place makes no sense is passed over. Raises MalformedStream."""
        grown = self.grow(entry)
        if grown is not None:
            return grown
        path = text_field(entry, "jsonPath")
        keys, is_list = _keys(path)
        value = _value(entry, is_list=is_list)
        if not keys:
            return ""
        if self._changed is None:
            common = self._shared_with(keys)
            if _is_new(self._containers[common], keys[common]):
                return self._write(keys, common, path, value)
        if self._place(keys, value):
            self._path = None
            self._changed = self._changed or {}
            self._changed[str(keys[0])] = None
        return ""

    def grow(self, entry: JsonObject) -> str | None:
        """Take in an entry that makes the string longer that is open in the text; None: it is another entry."""
        string = entry.get("stringValue")
        if self._string is None or entry.get("jsonPath") != self._path or type(string) is not str:
            return None
        self._string.append(string)
        return encode_basestring_ascii(string)[1:-1]

    def close(self) -> str:
        """The text that makes the arguments a whole JSON object."""
        pieces = [self._settled(0)] if self._begun else ["{"]
        comma = "," if self._begun else ""
        for name in self._changed or ():
            pieces.append(f"{comma}{dumps(name)}:{dumps(_plain(self._root[name]))}")
            comma = ","
        return "".join((*pieces, "}"))

    def _shared_with(self, keys: list[_Key]) -> int:
        """How many of the open containers a path leads through."""
        shared = 0
        for name, key in zip(self._names, keys[:-1], strict=False):
            if name != key:
                break
            shared += 1
        return shared

    def _write(self, keys: list[_Key], common: int, path: str, value: object) -> str:
        """The text of a value that comes right after all that is written."""
        if any(isinstance(key, int) and key for key in keys[common + 1 :]):
            return ""  # a list of which nothing is there cannot be begun in the middle
        pieces = [self._settled(common)]
        if not self._begun:
            self._begun = True
            pieces.append("{")
        container = self._containers[common]
        for key, below in pairwise(keys[common:]):
            child: _Container = [] if isinstance(below, int) else {}
            pieces += (_head(container, key), "[" if isinstance(child, list) else "{")
            _put(container, key, child)
            self._names.append(key)
            self._containers.append(child)
            container = child
        pieces.append(_head(container, keys[-1]))
        _put(container, keys[-1], value)
        if isinstance(value, Fragments):
            self._path, self._string = path, value
            pieces.append(encode_basestring_ascii(str(value))[:-1])
        else:
            pieces.append(dumps(value))
        return "".join(pieces)

    def _settled(self, depth: int) -> str:
        """The text that closes the open string, and the containers below a depth."""
        closing = ""
        if self._string is not None:
            self._path = self._string = None
            closing = '"'
        while len(self._names) > depth:
            self._names.pop()
            closing += "]" if isinstance(self._containers.pop(), list) else "}"
        return closing

    def _place(self, keys: list[_Key], value: object) -> bool:
        """Keep a value without any text; False where its place makes no sense."""
        container: object = self._root
        for key, below in pairwise(keys):
            if not isinstance(container, dict | list):
                return False
            child = _get(container, key)
            if child is None:
                if not _is_new(container, key):
                    return False
                child = [] if isinstance(below, int) else {}
                _put(container, key, child)
            container = child
        if not isinstance(container, dict | list):
            return False
        standing = _get(container, keys[-1])
        if isinstance(standing, Fragments) and isinstance(value, Fragments):
            standing.append(str(value))
            return True
        if isinstance(standing, dict | list) and value in ([], {}):
            return False
        if standing is None and not _is_new(container, keys[-1]) and not _has(container, keys[-1]):
            return False
        _put(container, keys[-1], value)
        return True


def _keys(path: str) -> tuple[list[_Key], bool]:
    """The steps of a path below the root, and whether it ends as that of an empty list."""
    text = path.removeprefix("$")
    is_list = text.endswith("[]")
    text = text.removesuffix("[]")
    if text and text[0] not in ".[":
        text = "." + text
    keys: list[_Key] = []
    place = 0
    while place < len(text):
        step = _STEP.match(text, place)
        if step is None or len(keys) == _DEEPEST:
            raise MalformedStream(f"the path of an argument cannot be read: {path[:100]!r}")
        place = step.end()
        if step["index"] is not None:
            keys.append(int(step["index"]))
        elif step["name"] is not None:
            keys.append(step["name"])
        else:
            quoted = step["double"] if step["single"] is None else step["single"]
            keys.append(_ESCAPED.sub(r"\1", quoted))
    return keys, is_list


def _value(entry: JsonObject, *, is_list: bool) -> object:
    if "stringValue" in entry:
        string = Fragments()
        if text := text_field(entry, "stringValue"):
            string.append(text)
        return string
    if "boolValue" in entry and isinstance(entry["boolValue"], bool):
        return entry["boolValue"]
    if "numberValue" in entry:
        number = entry["numberValue"]
        if type(number) is int or (isinstance(number, float) and isfinite(number)):
            return number
        raise MalformedStream("'numberValue' is not a number")
    if "nullValue" in entry:
        return None
    return [] if is_list else {}


def _is_new(container: _Container, key: _Key) -> bool:
    """Whether a key is the next one that a container can take."""
    if isinstance(container, list):
        return isinstance(key, int) and key == len(container)
    return isinstance(key, str) and key not in container


def _has(container: _Container, key: _Key) -> bool:
    if isinstance(container, list):
        return isinstance(key, int) and key < len(container)
    return isinstance(key, str) and key in container


def _get(container: _Container, key: _Key) -> object:
    if isinstance(container, list):
        return container[key] if isinstance(key, int) and key < len(container) else None
    return container.get(key) if isinstance(key, str) else None


def _put(container: _Container, key: _Key, value: object) -> None:
    if isinstance(container, dict):
        container[str(key)] = value
    elif key == len(container):
        container.append(value)
    elif isinstance(key, int):
        container[key] = value


def _head(container: _Container, key: _Key) -> str:
    """What stands before a new member."""
    comma = "," if container else ""
    return comma if isinstance(container, list) else f"{comma}{dumps(key)}:"


def _plain(value: object) -> object:
    """The value with its growing strings as strings."""
    if isinstance(value, Fragments):
        return str(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
