"""Fields of a provider's JSON, each in the type that it should have or not at all: no odd value breaks a stream.

Everything outside the text deltas is read through here. A value of another type is passed over, with one notice for
each field.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from thinkaloud.protocols.fields import unsendable

# What is counted or paid is below this; beyond it, arithmetic overflows.
_LARGEST = 2**53

Object = dict[str, Any]


class Fields:
    """Reads fields, and tells of each odd one once.

    notice: takes code, text and path of a notice.
    """

    def __init__(self, notice: Callable[[str, str, str], None]) -> None:
        self._notice = notice
        self._told: set[tuple[str, str]] = set()

    def odd(self, name: str, value: Any) -> None:
        """Note a field whose value makes no sense and is passed over."""
        self.once("odd_field", f"{name!r} is a {_KINDS[type(value)]} here; it was passed over", name)

    def once(self, code: str, text: str, path: str) -> None:
        """Tell something about a field, the first time only."""
        if (code, path) not in self._told:
            self._told.add((code, path))
            self._notice(code, text, path)

    def text(self, holder: Object, name: str) -> str:
        """A string; "" where there is none."""
        value = holder.get(name)
        if type(value) is str:
            return value
        if value is not None:
            self.odd(name, value)
        return ""

    def index(self, holder: Object, name: str = "index") -> int | None:
        """A whole number that is not negative."""
        value = holder.get(name)
        if type(value) is int and value >= 0:
            return value
        if value is not None:
            self.odd(name, value)
        return None

    def count(self, holder: Object, name: str) -> int | None:
        """A count of tokens: a whole number that is not negative, however it is written."""
        value = self.amount(holder, name)
        if value is None:
            return None
        if not value.is_integer():
            self.odd(name, value)
            return None
        return int(holder[name])

    def amount(self, holder: Object, name: str) -> float | None:
        """A finite number that is not negative."""
        value: Any = holder.get(name)
        if type(value) in (int, float) and 0 <= value <= _LARGEST:
            return float(value)
        if value is not None:
            self.odd(name, value)
        return None

    def object(self, holder: Object, name: str) -> Object:
        """A JSON object; {} where there is none."""
        value = holder.get(name)
        if type(value) is dict:
            return value
        if value is not None:
            self.odd(name, value)
        return {}

    def objects(self, holder: Object, name: str) -> list[Object]:
        """The objects of a list; [] where there is none."""
        value = holder.get(name)
        if value is None:
            return []
        if type(value) is not list:
            self.odd(name, value)
            return []
        for item in value:
            if type(item) is not dict:
                self.odd(f"{name}[]", item)
                return [item for item in value if type(item) is dict]
        return value

    def kept(self, name: str, value: Object) -> Object:
        """An object that a block will keep, as it came; {} where it could not be stored or sent again."""
        for item in value.values():
            if type(item) in _CHECKED:
                fault = unsendable(value)
                if fault is None:
                    return value
                self.once("odd_field", f"{name!r} {fault}; it was passed over", name)
                return {}
        return value


# What may make an object impossible to send: numbers that are none, and containers in which they may be.
_CHECKED = frozenset({dict, list, float})

_KINDS = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "list",
    dict: "object",
}
