"""What the fields of blocks, messages, tools and results may hold, told in errors of ours that are Python's own too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from thinkaloud.errors import WrongValue, shown

Check = Callable[[Any, Any, Any], None]


def instance_of(*kinds: type) -> Check:
    """The value is of one of these types."""
    wanted = " or ".join(kind.__name__ for kind in kinds)

    def check(owner: Any, attribute: Any, value: Any) -> None:
        if not isinstance(value, kinds):
            raise WrongValue(f"{_place(owner, attribute)} must be {wanted}, not {type(value).__name__}")

    return check


def optional(inner: Check) -> Check:
    """The value is None, or as another check says."""

    def check(owner: Any, attribute: Any, value: Any) -> None:
        if value is not None:
            inner(owner, attribute, value)

    return check


def each(inner: Check) -> Check:
    """Every item of a tuple is as another check says."""

    def check(owner: Any, attribute: Any, value: Any) -> None:
        for item in value:
            inner(owner, attribute, item)

    return check


def one_of(*words: str) -> Any:
    """The value is one of these words. Typed as Any: the type of the field is the one that it is annotated with."""

    def check(owner: Any, attribute: Any, value: Any) -> None:
        if not isinstance(value, str) or value not in words:
            raise WrongValue(f"{_place(owner, attribute)} must be one of {', '.join(words)}, not {shown(value)}")

    return check


def function(owner: Any, attribute: Any, value: Any) -> None:
    """The value can be called."""
    if not callable(value):
        raise WrongValue(f"{_place(owner, attribute)} must be a function, not {type(value).__name__}")


def whole_number(name: str, value: Any, *, least: int = 1, or_none: bool = False) -> None:
    """Raise WrongValue unless this is a whole number of `least` or more."""
    if value is None and or_none:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        bound = " above 0" if least == 1 else f", {least} or more"
        raise WrongValue(f"{name}={shown(value)} must be a whole number{bound}{', or None' if or_none else ''}")


def real_number(
    name: str, value: Any, what: str = "a number", *, above_zero: bool = True, or_none: bool = False
) -> None:
    """Raise WrongValue unless this is a number above 0, or from 0 on. what: what it counts, such as "seconds"."""
    if value is None and or_none:
        return
    if (
        not isinstance(value, (int, float))
        or isinstance(value, bool)
        or not (value > 0 or (value == 0 and not above_zero))
    ):
        bound = " above 0" if above_zero else ", 0 or more"
        raise WrongValue(f"{name}={shown(value)} must be {what}{bound}{', or None' if or_none else ''}")


def items_of(name: str, value: Any) -> tuple[Any, ...]:
    """The items of any iterable. Raises WrongValue, with the name of the field, for what has none."""
    if type(value) is tuple:
        return value
    if not isinstance(value, Iterable):
        raise WrongValue(f"{name} must be a sequence, not {type(value).__name__}")
    return tuple(value)


def _place(owner: Any, attribute: Any) -> str:
    return f"{type(owner).__name__}.{attribute.name}"
