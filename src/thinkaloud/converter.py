"""How each stored class stands in JSON: its tag, its reader and its writer, put together in one converter of cattrs.

`thinkaloud.codec` is what others use of it. What is newer than this version is carried along: fields beside the value
(`thinkaloud.stored`), and a block as Opaque.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

import attrs

from thinkaloud.content import Block, Document, Image, Opaque, Text, Thinking, ToolCall, shortened
from thinkaloud.events import (
    OpaqueBlock,
    Progress,
    StreamEnd,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingStart,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolFinished,
    ToolStarted,
    TurnEnd,
    TurnStart,
    UsageUpdate,
)
from thinkaloud.jsontext import Json
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import AssistantMessage, LevelChoice, Message, StopReason, Timing, ToolResult, UserMessage
from thinkaloud.notices import Notice
from thinkaloud.run_result import RunResult
from thinkaloud.stored import NOT_STORED, Stored, newer_fields, with_newer_fields

if TYPE_CHECKING:
    from cattrs import Converter

ROLES: dict[str, type] = {"user": UserMessage, "assistant": AssistantMessage, "tool": ToolResult}
BLOCKS: dict[str, type] = {
    "text": Text,
    "thinking": Thinking,
    "tool_call": ToolCall,
    "image": Image,
    "document": Document,
    "opaque": Opaque,
}
EVENTS: dict[str, type] = {
    "stream_start": StreamStart,
    "thinking_start": ThinkingStart,
    "thinking_delta": ThinkingDelta,
    "thinking_end": ThinkingEnd,
    "text_start": TextStart,
    "text_delta": TextDelta,
    "text_end": TextEnd,
    "tool_call_start": ToolCallStart,
    "tool_call_delta": ToolCallDelta,
    "tool_call_end": ToolCallEnd,
    "opaque_block": OpaqueBlock,
    "usage_update": UsageUpdate,
    "progress": Progress,
    "notice": Notice,
    "stream_end": StreamEnd,
    "turn_start": TurnStart,
    "turn_end": TurnEnd,
    "tool_started": ToolStarted,
    "tool_finished": ToolFinished,
}
RUN = "run_result"
# What tells a class in JSON: the name of a field, and its word.
TAGS: dict[type, tuple[str, str]] = {
    **{cls: ("role", word) for word, cls in ROLES.items()},
    **{cls: ("type", word) for word, cls in (BLOCKS | EVENTS).items()},
    RunResult: ("type", RUN),
}
_PAIRS = (LevelChoice, Timing)

# A block type of a newer version becomes an Opaque of this "protocol", which no wire has.
_NEWER_BLOCK = "thinkaloud"


# faults


class At(ValueError):
    """A fault in an item of a list, or in a field."""

    def __init__(self, place: int | str, cause: Exception) -> None:
        super().__init__(place, cause)
        self.place = place
        self.cause = cause


def located(error: Exception) -> tuple[str, str]:
    """Where the first fault is, and what it is."""
    from cattrs import AttributeValidationNote

    path = ""
    while isinstance(error, (At, ExceptionGroup)):
        place: int | str
        if isinstance(error, At):
            place, error = error.place, error.cause
        else:
            error = error.exceptions[0]
            notes = getattr(error, "__notes__", ())
            place = next((note.name for note in notes if isinstance(note, AttributeValidationNote)), "")
        path += f"[{place}]" if isinstance(place, int) else f".{place}" if place else ""
    reason = "the field is missing" if isinstance(error, KeyError) else str(error)
    return path.removeprefix("."), reason


_JSON_TYPES = {str: "a string", bool: "a boolean", int: "a number", float: "a number", type(None): "null"}


def kind_of(value: Any) -> str:
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, Mapping):
        return "an object"
    return _JSON_TYPES.get(type(value), "an array" if isinstance(value, (list, tuple)) else type(value).__name__)


# reading


def as_object(value: Any, _: Any = None) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise ValueError(f"an object is wanted, not {kind_of(value)}")
    return value


def _text(value: Any, _: Any) -> str:
    if type(value) is not str:
        raise ValueError(f"a string is wanted, not {kind_of(value)}")
    return value


def _whole_number(value: Any, _: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"a whole number is wanted, not {kind_of(value)}")
    return value


def _number(value: Any, _: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"a number is wanted, not {kind_of(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("the number is too large") from None


def _flag(value: Any, _: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"true or false is wanted, not {kind_of(value)}")
    return value


def _word(value: Any, words: type[Enum]) -> Enum:
    if not isinstance(value, str) or value not in {word.value for word in words}:
        raise ValueError(f"{kind_of(value)} is no {words.__name__}")
    return words(value)


def read_tagged(data: Any, tag: str, classes: Mapping[str, type], newer: Callable[[str], Any] | None = None) -> Any:
    """Read an object of the class that its tag names; `newer` makes what stands for a class that is not known."""
    word = as_object(data).get(tag)
    if not isinstance(word, str):
        raise At(tag, KeyError() if word is None else ValueError(f"a string is wanted, not {kind_of(word)}"))
    cls = classes.get(word)
    if cls is not None:
        return stored_converter().structure(data, cls)
    if newer is None:
        raise At(tag, ValueError(f"{kind_of(word)} is not one of: {', '.join(classes)}"))
    return newer(word)


def _read_message(data: Any, _: Any) -> Message:
    message: Message = read_tagged(data, "role", ROLES)
    return message


def _read_block(data: Any, _: Any) -> Block:
    block: Block = read_tagged(data, "type", BLOCKS, lambda word: Opaque(_NEWER_BLOCK, kind=word, data=data))
    return block


def _list_reader(converter: Converter, kind: Any) -> Callable[[Any, Any], tuple[Any, ...]]:
    read = converter.get_structure_hook(kind)

    def read_list(data: Any, _: Any) -> tuple[Any, ...]:
        if not isinstance(data, (list, tuple)):
            raise ValueError(f"an array is wanted, not {kind_of(data)}")
        items = []
        for place, item in enumerate(data):
            try:
                items.append(read(item, kind))
            except (ExceptionGroup, ValueError) as error:
                raise At(place, error) from None
        return tuple(items)

    return read_list


def _class_reader(converter: Converter, cls: Any) -> Callable[[Any, Any], Any]:
    from cattrs.gen import make_dict_structure_fn

    omitted: Any = _not_stored(cls)
    read = make_dict_structure_fn(cls, converter, **omitted)
    tag, word = TAGS.get(cls, ("", ""))
    fields = {field.name for field in attrs.fields(cls)} - omitted.keys() | {tag}
    pairs = {field.name: field.type._fields for field in attrs.fields(cls) if field.type in _PAIRS}

    def read_class(data: Any, _: Any) -> Stored:
        if tag and as_object(data).get(tag, word) != word:
            raise At(tag, ValueError(f"{word!r} is wanted here"))
        value: Stored = read(as_object(data), cls)
        newer = {}
        for name, field in data.items():
            if name not in fields:
                newer[name] = field
            elif name in pairs and (beside := {key: field[key] for key in field if key not in pairs[name]}):
                newer[name] = beside
        return with_newer_fields(value, newer) if newer else value

    return read_class


def _not_stored(cls: Any) -> dict[str, Any]:
    from cattrs.gen import override

    return {field.name: override(omit=True) for field in attrs.fields(cls) if field.metadata == NOT_STORED}


def _pair_reader(converter: Converter, pair: type) -> Callable[[Any, Any], Any]:
    kinds = get_type_hints(pair)

    def read_pair(data: Any, _: Any) -> Any:
        data, values = as_object(data), {}
        for name, kind in kinds.items():
            try:
                values[name] = converter.structure(data.get(name), kind)
            except ValueError as error:
                raise At(name, error) from None
        return pair(**values)

    return read_pair


# writing


def _class_writer(converter: Converter, cls: Any) -> Callable[[Any], dict[str, Any]]:
    from cattrs.gen import make_dict_unstructure_fn

    omitted: Any = _not_stored(cls)
    write = make_dict_unstructure_fn(cls, converter, **omitted)
    tag = dict([TAGS[cls]]) if cls in TAGS else {}

    def write_class(value: Any) -> dict[str, Any]:
        data: dict[str, Any] = {**tag, **write(value)}
        newer: Mapping[str, Any] = newer_fields(value)
        for name, field in newer.items():
            data[name] = {**field, **data[name]} if name in data else field
        return data

    return write_class


def _write_opaque(write: Callable[[Any], dict[str, Any]]) -> Callable[[Opaque], dict[str, Any]]:
    def write_opaque(block: Opaque) -> dict[str, Any]:
        newer = block.protocol == _NEWER_BLOCK and block.kind not in BLOCKS and block.data.get("type") == block.kind
        return dict(block.data) if newer and block.complete else write(block)

    return write_opaque


# the converter


def _is_union_of(classes: Mapping[str, type]) -> Callable[[Any], bool]:
    members = set(classes.values())
    return lambda kind: get_origin(kind) in (Union, UnionType) and members.issuperset(get_args(kind))


def _is_tuple(kind: Any) -> bool:
    return get_origin(kind) is tuple


def _is_object(kind: Any) -> bool:
    return get_origin(kind) is Mapping


@cache
def stored_converter() -> Converter:
    """Made at first use: importing cattrs takes longer than importing the whole vocabulary."""
    from cattrs import Converter

    converter = Converter(detailed_validation=True)
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook(int, _whole_number)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook(bool, _flag)
    for words in (StopReason, ThinkingLevel):
        converter.register_structure_hook(words, _word)
    converter.register_structure_hook_func(_is_object, as_object)
    converter.register_unstructure_hook_func(_is_object, lambda value: value)
    converter.register_structure_hook_factory(_is_tuple, lambda kind: _list_reader(converter, get_args(kind)[0]))
    converter.register_structure_hook_func(_is_union_of(ROLES), _read_message)
    converter.register_structure_hook_func(_is_union_of(BLOCKS), _read_block)
    converter.register_structure_hook_factory(attrs.has, lambda cls: _class_reader(converter, cls))
    converter.register_unstructure_hook_factory(attrs.has, lambda cls: _class_writer(converter, cls))
    converter.register_unstructure_hook(Opaque, _write_opaque(_class_writer(converter, Opaque)))
    for pair in _PAIRS:
        converter.register_structure_hook(pair, _pair_reader(converter, pair))
        converter.register_unstructure_hook(pair, lambda value: converter.unstructure(value._asdict()))
    return converter
