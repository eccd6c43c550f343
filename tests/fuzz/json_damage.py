"""Damage to JSON that stays JSON: another type, a key gone, renamed or twice, numbers and strings that nobody sends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

from fuzz.byte_damage import damaged_bytes
from fuzz.words import Words

ODD = (
    *("null", "true", "false", "0", "-0", "1", "-1", "7", "1.5", "-1e-7", "1e999", "-1e999", "NaN", "-Infinity"),
    *("9" * 19, "1" + "0" * 40, "-" + "9" * 30, "9" * 5000, "0.1e1", "2147483648", "9007199254740993"),
    *('""', '" "', '"7"', '"null"', '"\\u0000"', '"\\ud800"', '"x\\udc00"', '"\\ud83e"', '"\\udd14"'),
    *("[]", "[[]]", "[null]", '["x"]', "{}", '{"":1}', '{"x":{}}', '{"type":"text"}', '{"type":[]}', '{"type":null}'),
    *('{"text":"x"}', '{"error":{}}', '{"error":"x"}', '{"message":"x"}', '[{"type":"text","text":"x"}]'),
    *("[" * 150 + "]" * 150, '{"a":' * 250 + "1" + "}" * 250, "[" * 3000 + "]" * 3000),
    '"' + "word " * 2000 + '"',
)
"""JSON texts, for what the encoder could not write. The deepest one no decoder takes."""

_STRANGE = (
    *(
        "\0",
        "\ud800",
        "\udc00",
        "\U0001f914",
        "\u2028",
        "\ufeff",
        "<think>",
        "</think>",
        "</thi",
        '"',
        "\\",
        "\\u",
        "{",
    ),
    *(
        "}",
        "[",
        "]",
        ",",
        ":",
        "\n",
        "\r\n",
        " ",
        "```json\n",
        "```",
        "$.a",
        "[0]",
        "data: ",
        "%",
        "=",
        "-",
        "é",
        "x" * 300,
    ),
)

# Stands for an odd text until the JSON is written; characters that no provider sends.
_MARK = "\ue000{}\ue001"
_MARKED = re.compile(r'"\\ue000(\d+)\\ue001"')
_TWICE = "\ue002"  # after a key that is there already
_MARKED_TWICE = re.compile(r'(?:\\ue002)+":')


def damaged_json(dice: Random, text: bytes, words: Words) -> bytes:
    """A JSON text with a few changes; what is no JSON comes back as it is."""
    try:
        root = [json.loads(text)]
    except (ValueError, RecursionError):
        return text
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        holder, key = dice.choice(places(root))
        dice.choice(_CHANGES)(dice, holder, key, words)
    try:
        written = json.dumps(root[0] if root else None, ensure_ascii=True)
    except (ValueError, RecursionError):
        return text
    written = _MARKED.sub(lambda match: ODD[int(match[1]) % len(ODD)], written)
    return _MARKED_TWICE.sub('":', written).encode()


def places(root: list[Any]) -> list[tuple[Any, Any]]:
    """Every value inside, as what holds it and the key or index there."""
    found: list[tuple[Any, Any]] = []
    unread: list[Any] = [root]
    while unread:
        holder = unread.pop()
        for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            found.append((holder, key))
            if isinstance(value, (dict, list)):
                unread.append(value)
    return found or [([None], 0)]


_Change = Callable[[Random, Any, Any, Words], None]


def _odd(dice: Random, holder: Any, key: Any, words: Words) -> None:
    holder[key] = _MARK.format(dice.randrange(len(ODD)))


def _null(dice: Random, holder: Any, key: Any, words: Words) -> None:
    holder[key] = None


def _other(dice: Random, holder: Any, key: Any, words: Words) -> None:
    holder[key] = json.loads(dice.choice(words.values))


def _word(dice: Random, holder: Any, key: Any, words: Words) -> None:
    holder[key] = dice.choice(words.names)


def _gone(dice: Random, holder: Any, key: Any, words: Words) -> None:
    del holder[key]


def _renamed(dice: Random, holder: Any, key: Any, words: Words) -> None:
    if isinstance(holder, dict):
        holder[dice.choice(words.names)] = holder.pop(key)
    else:
        holder.insert(dice.randint(0, len(holder)), holder.pop(key))


def _added(dice: Random, holder: Any, key: Any, words: Words) -> None:
    value = json.loads(dice.choice(words.values)) if dice.random() < 0.6 else _MARK.format(dice.randrange(len(ODD)))
    if isinstance(holder, dict):
        holder[dice.choice(words.names)] = value
    else:
        holder.insert(key, value)


def _twice(dice: Random, holder: Any, key: Any, words: Words) -> None:
    if isinstance(holder, dict):
        holder[f"{key}{_TWICE}"] = json.loads(dice.choice(words.values)) if dice.random() < 0.5 else holder[key]
    else:
        holder[key:key] = [json.loads(json.dumps(holder[key]))] * dice.choice((1, 1, 3, 40))


def _wrapped(dice: Random, holder: Any, key: Any, words: Words) -> None:
    holder[key] = [holder[key]] if dice.random() < 0.5 else {dice.choice(words.names): holder[key]}


def _unwrapped(dice: Random, holder: Any, key: Any, words: Words) -> None:
    value = holder[key]
    if isinstance(value, (dict, list)) and value:
        holder[key] = dice.choice(list(value.values()) if isinstance(value, dict) else value)
    else:
        _odd(dice, holder, key, words)


def _changed(dice: Random, holder: Any, key: Any, words: Words) -> None:
    """Change a value and keep its type."""
    value = holder[key]
    if isinstance(value, str):
        holder[key] = _changed_text(dice, value)
    elif isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, (int, float)):
        near = (value + 0.5, str(value)) if abs(value) < 10**15 else ()  # an integer can be too large for either
        holder[key] = dice.choice((value + 1, value - 1, -value, *near, 0, 1, 2, 10**6))
    else:
        _odd(dice, holder, key, words)


def _changed_text(dice: Random, text: str) -> str:
    place = dice.randint(0, len(text))
    match dice.randrange(7):
        case 0:
            return text[:place]
        case 1:
            return text[place:]
        case 2:
            return text[:place] + dice.choice(_STRANGE) + text[place:]
        case 3:
            return text[:place] + text
        case 4:
            return dice.choice((text.upper(), text.title(), f" {text}\n", text[::-1]))
        case 5:
            return text[:2000] * dice.choice((2, 30))
        case _:
            return damaged_bytes(dice, text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


_CHANGES: tuple[_Change, ...] = (
    *(_odd, _odd, _other, _other, _word, _null, _gone, _gone, _renamed, _added, _added, _twice, _wrapped, _unwrapped),
    *(_changed, _changed, _changed),
)
