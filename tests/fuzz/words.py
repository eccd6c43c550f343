"""What damage is made with: the words that a parser looks for, and the values that its seeds hold."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

import thinkaloud
from fuzz.bodies import events_of

_SOURCES = Path(thinkaloud.__file__).parent
_LONGEST_WORD = 60
_LARGEST_VALUE = 400  # characters of JSON


@frozen
class Words:
    """names: names of fields and words for kinds, as the parser or a seed says them. values: JSON texts of seeds."""

    names: tuple[str, ...]
    values: tuple[str, ...]


def words_of(bodies: Iterable[bytes], *sources: str) -> Words:
    """The words of seeds, and of the source files or folders of the library that read them."""
    names, values = {name: None for source in sources for name in _of_source(source)}, dict[str, None]()
    for body in bodies:
        for event in events_of(body):
            try:
                found = list(_inside(json.loads(event.payload)))
            except (ValueError, RecursionError):
                continue
            names.update((name, None) for name, _ in found if name)
            values.update((text, None) for _, value in found if len(text := json.dumps(value)) <= _LARGEST_VALUE)
            names.update((v, None) for _, v in found if isinstance(v, str) and 0 < len(v) <= _LONGEST_WORD)
    return Words(tuple(names) or ("x",), tuple(values) or ("1",))


def _inside(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    yield name, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _inside(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _inside(item)


@cache
def _of_source(name: str) -> tuple[str, ...]:
    """The string constants of a module, or of all modules of a folder, that could be words of a wire."""
    path = _SOURCES / name
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    constants = (node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8"))))
    texts = (n.value for n in constants if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return tuple(dict.fromkeys(text for text in texts if 0 < len(text) <= _LONGEST_WORD and " " not in text))
