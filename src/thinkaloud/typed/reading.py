"""JSON that a model wrote, read into values of Python types. Nothing is guessed, and every fault is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any

from thinkaloud.typed import kinds

if TYPE_CHECKING:
    from cattrs import Converter


class Unfit(ValueError):
    """JSON that does not fit its type; the text names every fault with its place."""


class _At(ValueError):
    def __init__(self, place: int | str, cause: Exception) -> None:
        super().__init__(place, cause)
        self.place = place
        self.cause = cause


def read(value: Any, kind: Any) -> Any:
    """Read a decoded JSON value into a type. Raises Unfit."""
    _forget_where_many()
    try:
        return _converter().structure(value, kind)
    except (ExceptionGroup, ValueError, TypeError, LookupError) as error:
        raise Unfit(_told(error)) from None


def read_members(value: Mapping[str, Any], members: list[kinds.Member]) -> dict[str, Any]:
    """Read an object into the values of its members; those left out are missing. Raises Unfit."""
    _forget_where_many()
    try:
        return _members(value, members)
    except ExceptionGroup as error:
        raise Unfit(_told(error)) from None


def _members(value: Mapping[str, Any], members: list[kinds.Member]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    known = {member.name for member in members}
    faults: list[Exception] = [_At(name, ValueError("there is no such field")) for name in value if name not in known]
    for member in members:
        if member.name in value:
            try:
                found[member.name] = _item(member.name, value[member.name], member.kind)
            except _At as error:
                faults.append(error)
        elif member.required:
            faults.append(_At(member.name, KeyError()))
    if faults:
        raise ExceptionGroup("the object does not fit", faults)
    return found


# faults


def _told(error: Exception) -> str:
    return "; ".join(f"{path.removeprefix('.')}: {text}" if path else text for path, text in _faults(error, ""))


def _faults(error: Exception, path: str) -> Iterator[tuple[str, str]]:
    from cattrs import AttributeValidationNote, ForbiddenExtraKeysError

    if isinstance(error, _At):
        place = f"[{error.place}]" if isinstance(error.place, int) else f".{error.place}"
        yield from _faults(error.cause, path + place)
    elif isinstance(error, ExceptionGroup):
        for each in error.exceptions:
            notes = getattr(each, "__notes__", ())
            names = [note.name for note in notes if isinstance(note, AttributeValidationNote)]
            yield from _faults(each, path + "".join(f".{name}" for name in names))
    elif isinstance(error, ForbiddenExtraKeysError):
        for name in sorted(error.extra_fields):
            yield f"{path}.{name}", "there is no such field"
    elif isinstance(error, KeyError):
        yield path, "the field is missing"
    else:
        yield path, str(error)


_NAMES = {str: "a string", bool: "true or false", int: "a whole number", float: "a number", NoneType: "null"}


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _wanted(kind: Any, value: Any) -> ValueError:
    return ValueError(f"{_NAMES[kind]} is wanted, not {_shown(value)}")


# reading


def _exactly(kind: type) -> Callable[[Any, Any], Any]:
    def read_exactly(value: Any, _: Any) -> Any:
        if type(value) is not kind:
            raise _wanted(kind, value)
        return value

    return read_exactly


def _whole_number(value: Any, _: Any) -> int:
    if type(value) is float and value.is_integer():
        return int(value)
    if type(value) is not int:
        raise _wanted(int, value)
    return value


def _number(value: Any, _: Any) -> float:
    if type(value) not in (int, float):
        raise _wanted(float, value)
    try:
        return float(value)
    except OverflowError:
        raise ValueError("the number is too large") from None


def _null(value: Any, _: Any) -> None:
    if value is not None:
        raise _wanted(NoneType, value)


def _as_it_is(value: Any, _: Any) -> Any:
    return value


def _words(kind: Any) -> Callable[[Any, Any], Any]:
    words = kinds.words_of(kind) or {}

    def read_word(value: Any, _: Any) -> Any:
        for word, meaning in words.items():
            if type(word) is type(value) and word == value:
                return meaning
        raise ValueError(f"one of {', '.join(map(repr, words))} is wanted, not {_shown(value)}")

    return read_word


def _union(kind: Any) -> Callable[[Any, Any], Any]:
    members = kinds.union_of(kind) or ()
    others = [member for member in members if member is not NoneType]

    def read_union(value: Any, _: Any) -> Any:
        if value is None and len(others) < len(members):
            return None
        if len(others) == 1:
            return _converter().structure(value, others[0])
        for member in others:
            try:
                return _converter().structure(value, member)
            except (ExceptionGroup, ValueError, TypeError, LookupError):
                continue
        raise ValueError(f"{_shown(value)} is none of: {', '.join(map(kinds.named, members))}")

    return read_union


def _list(kind: Any) -> Callable[[Any, Any], Any]:
    maker, item = kinds.list_of(kind) or (list, Any)

    def read_list(value: Any, _: Any) -> Any:
        return maker([_item(place, each, item) for place, each in enumerate(_array(value))])

    return read_list


def _row(kind: Any) -> Callable[[Any, Any], Any]:
    row = kinds.row_of(kind) or ()

    def read_row(value: Any, _: Any) -> Any:
        if len(_array(value)) != len(row):
            raise ValueError(f"an array of {len(row)} is wanted, not of {len(value)}")
        return tuple(_item(place, each, row[place]) for place, each in enumerate(value))

    return read_row


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"an array is wanted, not {_shown(value)}")
    return value


def _item(place: int | str, value: Any, kind: Any) -> Any:
    try:
        return _converter().structure(value, kind)
    except (ExceptionGroup, ValueError, TypeError, LookupError) as error:
        raise _At(place, error) from None


def _object(kind: Any) -> Callable[[Any, Any], Any]:
    values = kinds.object_of(kind)

    def read_object(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValueError(f"an object is wanted, not {_shown(value)}")
        return {name: _item(name, each, values) for name, each in value.items()}

    return read_object


def _class(cls: Any) -> Callable[[Any, Any], Any]:
    from typing import is_typeddict

    from cattrs.gen import make_dict_structure_fn

    if is_typeddict(cls):  # annotations that are strings hide what is required from other readers
        members = kinds.members_of(cls)
        read_fields: Callable[[Any, Any], Any] = lambda value, _: _members(value, members)  # noqa: E731
    else:
        read_fields = make_dict_structure_fn(
            cls, _converter(), _cattrs_forbid_extra_keys=True, _cattrs_use_linecache=False
        )

    def read_class(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValueError(f"an object is wanted, not {_shown(value)}")
        return read_fields(value, cls)

    return read_class


@cache
def _converter() -> Converter:
    """Made at first use: importing cattrs takes longer than importing the whole vocabulary."""
    from cattrs import Converter

    converter = Converter(detailed_validation=True, forbid_extra_keys=True)
    for kind in (str, bool):
        converter.register_structure_hook(kind, _exactly(kind))
    converter.register_structure_hook(int, _whole_number)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook_func(lambda kind: kind in (None, NoneType), _null)
    converter.register_structure_hook_func(lambda kind: kind in (Any, object), _as_it_is)
    # The last that fits is taken.
    for fits, factory in (
        (kinds.is_class, _class),
        (lambda kind: _is(kinds.object_of, kind), _object),
        (lambda kind: _is(kinds.list_of, kind), _list),
        (lambda kind: _is(kinds.row_of, kind), _row),
        (lambda kind: _is(kinds.words_of, kind), _words),
        (lambda kind: _is(kinds.union_of, kind), _union),
    ):
        converter.register_structure_hook_factory(fits, _counted(factory))
    return converter


# A converter keeps every type that it has read. A program may make a type for each call, inside a function.
_MOST_KINDS = 500
_kinds_read = 0


def _counted(factory: Callable[[Any], Callable[[Any, Any], Any]]) -> Callable[[Any], Callable[[Any, Any], Any]]:
    def make(kind: Any) -> Callable[[Any, Any], Any]:
        global _kinds_read
        _kinds_read += 1
        return factory(kind)

    return make


def _forget_where_many() -> None:
    """Begin with a new converter where this one has read very many types."""
    global _kinds_read
    if _kinds_read > _MOST_KINDS:
        _kinds_read = 0
        _converter.cache_clear()


def _is(find: Callable[[Any], Any], kind: Any) -> bool:
    return find(kind) is not None
