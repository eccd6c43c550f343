"""What a type annotation is: the one place that tells the kinds apart, for schemas and for reading alike."""

from __future__ import annotations

import collections.abc as abc
import dataclasses
from collections.abc import Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import attrs

from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.jsontext import Json, dumps

_LISTS = (list, set, frozenset, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, abc.Set)
_OBJECTS = (dict, abc.Mapping, abc.MutableMapping)
NO_DEFAULT = object()


@attrs.frozen
class Member:
    """A field of a class, or a parameter of a function.

    default: what stands where it is left out; NO_DEFAULT where it must be given, and a value without a form in JSON
        where it is made anew.
    """

    name: str
    kind: Any
    default: Any = NO_DEFAULT
    description: str = ""

    @property
    def required(self) -> bool:
        """It must be given."""
        return self.default is NO_DEFAULT


def bare(kind: Any) -> tuple[Any, str]:
    """A type without what only describes it, and the description."""
    description = ""
    while True:
        origin = get_origin(kind)
        if origin is Annotated:
            kind, *notes = get_args(kind)
            texts = (note if isinstance(note, str) else getattr(note, "documentation", None) for note in notes)
            description = description or next((text for text in texts if isinstance(text, str)), "")
        elif origin in (Required, NotRequired):
            (kind,) = get_args(kind)
        elif hasattr(kind, "__supertype__"):  # NewType
            kind = kind.__supertype__
        elif hasattr(kind, "__value__"):  # type X = ...
            kind = kind.__value__
        else:
            return kind, description


def union_of(kind: Any) -> tuple[Any, ...] | None:
    """The members of a union; None for what is none."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else None


def words_of(kind: Any) -> dict[Any, Any] | None:
    """The values of a Literal or an Enum, each with what it stands for; None for other types."""
    if get_origin(kind) is Literal:
        return {word.value if isinstance(word, Enum) else word: word for word in get_args(kind)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {word.value: word for word in kind}
    return None


def list_of(kind: Any) -> tuple[Any, Any] | None:
    """What makes the collection, and the type of its items; None for what is no list, set or tuple of any length."""
    origin = get_origin(kind) or kind
    arguments = get_args(kind)
    if origin is tuple and (not arguments or arguments[-1] is Ellipsis):
        return tuple, (arguments[0] if arguments else Any)
    if origin not in _LISTS:
        return None
    maker = set if origin is abc.Set else origin if origin in (list, set, frozenset) else list
    return maker, (arguments[0] if arguments else Any)


def row_of(kind: Any) -> tuple[Any, ...] | None:
    """The types of a tuple of fixed length; None for other types."""
    arguments = get_args(kind)
    return arguments if get_origin(kind) is tuple and arguments and arguments[-1] is not Ellipsis else None


def object_of(kind: Any) -> Any | None:
    """The type of the values of a dict with strings as keys; None for other types. Raises ConfigurationError."""
    if (get_origin(kind) or kind) not in _OBJECTS:
        return None
    arguments = get_args(kind)
    if arguments and bare(arguments[0])[0] is not str:
        raise ConfigurationError(f"{named(kind)}: the keys of a JSON object are strings; use dict[str, ...]")
    return arguments[1] if arguments else Any


def is_class(kind: Any) -> bool:
    """Whether a type is a class of named fields: attrs, a dataclass or a TypedDict."""
    if not isinstance(kind, type):
        return is_typeddict(kind)
    return attrs.has(kind) or dataclasses.is_dataclass(kind) or is_typeddict(kind)


def members_of(cls: Any) -> list[Member]:
    """The fields of a class. Raises ConfigurationError for annotations that name nothing."""
    hints = hints_of(cls, f"{named(cls)}: an annotation cannot be resolved")
    if is_typeddict(cls):
        return [_of_typeddict(cls, name, kind) for name, kind in hints.items()]
    if attrs.has(cls):
        return [
            Member(each.name, hints.get(each.name, Any), _default(each.default, attrs.NOTHING), _told(each.metadata))
            for each in attrs.fields(cls)
            if each.init
        ]
    for name, kind in hints.items():
        if isinstance(kind, dataclasses.InitVar):
            raise ConfigurationError(f"{named(cls)}.{name}: an InitVar is no field; make it one, or leave it out")
    return [
        Member(
            each.name,
            hints.get(each.name, Any),
            ... if each.default_factory is not dataclasses.MISSING else _default(each.default, dataclasses.MISSING),
            _told(each.metadata),
        )
        for each in dataclasses.fields(cls)
        if each.init
    ]


def hints_of(owner: Any, wrong: str) -> dict[str, Any]:
    """The annotations of a function or a class. Raises ConfigurationError, with these words."""
    try:
        return get_type_hints(owner, include_extras=True)
    except Exception as error:  # an annotation is code, and raises anything
        raise ConfigurationError(f"{wrong}: {error}") from None


def _of_typeddict(cls: Any, name: str, kind: Any) -> Member:
    """A field of a TypedDict; the class itself does not know what is required of annotations that are strings."""
    origin, required = get_origin(kind), name in cls.__required_keys__
    if origin in (Required, NotRequired):
        (kind,), required = get_args(kind), origin is Required
    return Member(name, kind, NO_DEFAULT if required else ...)


def _default(value: Any, nothing: Any) -> Any:
    return NO_DEFAULT if value is nothing else value


def _told(metadata: Mapping[Any, Any]) -> str:
    text = metadata.get("description")
    return text if isinstance(text, str) else ""


def _written(kind: Any) -> str:
    return str(kind) if get_origin(kind) is not None else shown(kind)


def named(kind: Any) -> str:
    """The name of a type, for people."""
    return "null" if kind in (None, NoneType) else getattr(kind, "__name__", None) or _written(kind)


def is_plain(value: Any) -> bool:
    """Whether a value is a string, number, flag or null: a JSON value without parts."""
    return value is None or (isinstance(value, (str, int, float)) and not isinstance(value, Enum))


def is_written(value: Any) -> bool:
    """Whether a value may stand in a schema as a default: plain, and a number that JSON can hold."""
    try:
        return is_plain(value) and value is not None and dumps(value) != ""
    except ValueError:
        return False


def plain(value: Any) -> Json:
    """A JSON value without parts of a word of a Literal or an Enum. Raises ConfigurationError."""
    if not is_plain(value):
        raise ConfigurationError(f"{shown(value)} has no form in JSON; use words that are strings or numbers")
    plain_value: Json = value
    return plain_value
