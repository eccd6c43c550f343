"""Messages, conversations, events and runs as JSON, to be stored and read again, also by other versions of us.

A message has a `role`, an event or a run a `type`, a conversation has `messages`; blocks have a `type`. All fields are
written, under their own names, except those that are read from the rest anew; a `version` stands at the top. `dumps`
and `loads` are each other's inverse: signatures survive byte for byte, halves of surrogate pairs and all digits of
integers too.

A minor version may add fields, block types and event types. What this version does not know of them it carries along:
fields beside the value (`thinkaloud.stored`), a block as Opaque, an event as a Notice with the code "newer_event".
Writing gives them back. A change that older versions must not pass over raises `version`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

import attrs

from thinkaloud.content import Block, Document, Image, Opaque, Text, Thinking, ToolCall, shortened
from thinkaloud.errors import CodecError
from thinkaloud.events import (
    OpaqueBlock,
    Progress,
    RunEvent,
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
from thinkaloud.jsontext import Json, copied, copied_object, loads_exact
from thinkaloud.jsontext import dumps as json_dumps
from thinkaloud.levels import ThinkingLevel
from thinkaloud.messages import (
    AssistantMessage,
    Conversation,
    LevelChoice,
    Message,
    StopReason,
    Timing,
    ToolResult,
    UserMessage,
)
from thinkaloud.notices import Notice
from thinkaloud.run_result import RunResult
from thinkaloud.stored import NOT_STORED, Stored, newer_fields, with_newer_fields

if TYPE_CHECKING:
    from cattrs import Converter

VERSION = 1

Value = Message | Conversation | RunEvent | RunResult

_ROLES: dict[str, type] = {"user": UserMessage, "assistant": AssistantMessage, "tool": ToolResult}
_BLOCKS: dict[str, type] = {
    "text": Text,
    "thinking": Thinking,
    "tool_call": ToolCall,
    "image": Image,
    "document": Document,
    "opaque": Opaque,
}
_EVENTS: dict[str, type] = {
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
_RUN = "run_result"
# What tells a class in JSON: the name of a field, and its word.
_TAGS: dict[type, tuple[str, str]] = {
    **{cls: ("role", word) for word, cls in _ROLES.items()},
    **{cls: ("type", word) for word, cls in (_BLOCKS | _EVENTS).items()},
    RunResult: ("type", _RUN),
}
_PAIRS = (LevelChoice, Timing)

# A block type of a newer version becomes an Opaque of this "protocol", which no wire has.
_NEWER_BLOCK = "thinkaloud"
_NEWER_EVENT = "newer_event"


def dumps(value: Value) -> str:
    """Write a message, a conversation or an event as one line of JSON, in pure ASCII.

    Raises CodecError for a value that JSON cannot hold (NaN or infinity in provider fields), and TypeError for a value
    of another kind.
    """
    try:
        return json_dumps(to_data(value))
    except ValueError as error:
        raise CodecError(f"the {type(value).__name__} cannot be written as JSON: {error}") from None


def loads(text: str | bytes) -> Value:
    """Read what `dumps` wrote. Raises CodecError, with the path of the fault, for anything else."""
    return _read(_json_of(text))


def _json_of(text: Any) -> Any:
    if not isinstance(text, (str, bytes)):
        raise CodecError(f"not JSON: what is read must be text or bytes, not {type(text).__name__}")
    try:
        return loads_exact(text)
    except ValueError as error:
        raise CodecError(f"not JSON: {error}") from None


def conversation_from(text: str | bytes) -> Conversation:
    """Read a conversation that `dumps` wrote; a list of messages is one too.

    Raises CodecError, with the path of the fault, for anything else.
    """
    data = _json_of(text)
    value = _read({"messages": data} if isinstance(data, list) else data)
    if not isinstance(value, Conversation):
        raise CodecError(f"a conversation is wanted, and this is a {type(value).__name__}")
    return value


def run_result_from(text: str | bytes) -> RunResult:
    """Read a run that `dumps` wrote. Raises CodecError, with the path of the fault, for anything else."""
    value = loads(text)
    if not isinstance(value, RunResult):
        raise CodecError(f"a run is wanted, and this is a {type(value).__name__}")
    return value


def to_data(value: Value) -> dict[str, Json]:
    """What `dumps` writes, as fresh dicts and lists: for storing it inside other JSON."""
    if (type(value) not in _TAGS and not isinstance(value, Conversation)) or type(value) in _BLOCKS.values():
        raise TypeError(f"a message, a conversation, an event or a run is wanted, not {type(value).__name__}")
    if isinstance(value, Notice) and value == _newer_event(value.text, value.detail) and value.text not in _EVENTS:
        return copied_object({"version": VERSION, **value.detail})
    return copied_object({"version": VERSION, **_converter().unstructure(value)})


def from_data(data: Any) -> Value:
    """Read what `to_data` gave. Raises CodecError, with the path of the fault, for anything else."""
    try:
        data = copied(data)
    except (TypeError, ValueError) as error:
        raise CodecError(f"not JSON: {error}") from None
    return _read(data)


def _read(data: Any) -> Value:
    try:
        return _read_value(data)
    except (ExceptionGroup, ValueError) as error:
        path, reason = _located(error)
        raise CodecError(f"{path}: {reason}" if path else reason, path=path) from None


def _read_value(data: Any) -> Value:
    data = dict(_object(data))
    version = data.pop("version", VERSION)
    if type(version) is not int or version < 1:
        raise _At("version", ValueError(f"a number from 1 is wanted, not {_shown(version)}"))
    if version > VERSION:
        raise _At("version", ValueError(f"this library reads up to version {VERSION}, and this is {version}"))
    if "role" in data:
        message: Message = _read_tagged(data, "role", _ROLES)
        return message
    if data.get("type") == _RUN:
        return _converter().structure(data, RunResult)
    if "type" in data:
        event: RunEvent = _read_tagged(data, "type", _EVENTS, lambda word: _newer_event(word, data))
        return event
    if "messages" in data:
        return _converter().structure(data, Conversation)
    raise ValueError(
        "'role' (of a message), 'messages' (of a conversation) or 'type' (of an event or a run) is missing"
    )


def _newer_event(word: str, data: Mapping[str, Json]) -> Notice:
    return Notice(_NEWER_EVENT, word, detail={**data, "type": word})


# faults


class _At(ValueError):
    """A fault in an item of a list, or in a field."""

    def __init__(self, place: int | str, cause: Exception) -> None:
        super().__init__(place, cause)
        self.place = place
        self.cause = cause


def _located(error: Exception) -> tuple[str, str]:
    """Where the first fault is, and what it is."""
    from cattrs import AttributeValidationNote

    path = ""
    while isinstance(error, (_At, ExceptionGroup)):
        place: int | str
        if isinstance(error, _At):
            place, error = error.place, error.cause
        else:
            error = error.exceptions[0]
            notes = getattr(error, "__notes__", ())
            place = next((note.name for note in notes if isinstance(note, AttributeValidationNote)), "")
        path += f"[{place}]" if isinstance(place, int) else f".{place}" if place else ""
    reason = "the field is missing" if isinstance(error, KeyError) else str(error)
    return path.removeprefix("."), reason


_JSON_TYPES = {str: "a string", bool: "a boolean", int: "a number", float: "a number", type(None): "null"}


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return shortened(value)
    if isinstance(value, Mapping):
        return "an object"
    return _JSON_TYPES.get(type(value), "an array" if isinstance(value, (list, tuple)) else type(value).__name__)


# reading


def _object(value: Any, _: Any = None) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise ValueError(f"an object is wanted, not {_shown(value)}")
    return value


def _text(value: Any, _: Any) -> str:
    if type(value) is not str:
        raise ValueError(f"a string is wanted, not {_shown(value)}")
    return value


def _whole_number(value: Any, _: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"a whole number is wanted, not {_shown(value)}")
    return value


def _number(value: Any, _: Any) -> float:
    if type(value) not in (int, float):
        raise ValueError(f"a number is wanted, not {_shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError("the number is too large") from None


def _flag(value: Any, _: Any) -> bool:
    if type(value) is not bool:
        raise ValueError(f"true or false is wanted, not {_shown(value)}")
    return value


def _word(value: Any, words: type[Enum]) -> Enum:
    if not isinstance(value, str) or value not in {word.value for word in words}:
        raise ValueError(f"{_shown(value)} is no {words.__name__}")
    return words(value)


def _read_tagged(data: Any, tag: str, classes: Mapping[str, type], newer: Callable[[str], Any] | None = None) -> Any:
    """Read an object of the class that its tag names; `newer` makes what stands for a class that is not known."""
    word = _object(data).get(tag)
    if not isinstance(word, str):
        raise _At(tag, KeyError() if word is None else ValueError(f"a string is wanted, not {_shown(word)}"))
    cls = classes.get(word)
    if cls is not None:
        return _converter().structure(data, cls)
    if newer is None:
        raise _At(tag, ValueError(f"{_shown(word)} is not one of: {', '.join(classes)}"))
    return newer(word)


def _read_message(data: Any, _: Any) -> Message:
    message: Message = _read_tagged(data, "role", _ROLES)
    return message


def _read_block(data: Any, _: Any) -> Block:
    block: Block = _read_tagged(data, "type", _BLOCKS, lambda word: Opaque(_NEWER_BLOCK, kind=word, data=data))
    return block


def _list_reader(converter: Converter, kind: Any) -> Callable[[Any, Any], tuple[Any, ...]]:
    read = converter.get_structure_hook(kind)

    def read_list(data: Any, _: Any) -> tuple[Any, ...]:
        if not isinstance(data, (list, tuple)):
            raise ValueError(f"an array is wanted, not {_shown(data)}")
        items = []
        for place, item in enumerate(data):
            try:
                items.append(read(item, kind))
            except (ExceptionGroup, ValueError) as error:
                raise _At(place, error) from None
        return tuple(items)

    return read_list


def _class_reader(converter: Converter, cls: Any) -> Callable[[Any, Any], Any]:
    from cattrs.gen import make_dict_structure_fn

    omitted: Any = _not_stored(cls)
    read = make_dict_structure_fn(cls, converter, **omitted)
    tag, word = _TAGS.get(cls, ("", ""))
    fields = {field.name for field in attrs.fields(cls)} - omitted.keys() | {tag}
    pairs = {field.name: field.type._fields for field in attrs.fields(cls) if field.type in _PAIRS}

    def read_class(data: Any, _: Any) -> Stored:
        if tag and _object(data).get(tag, word) != word:
            raise _At(tag, ValueError(f"{word!r} is wanted here"))
        value: Stored = read(_object(data), cls)
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
        data, values = _object(data), {}
        for name, kind in kinds.items():
            try:
                values[name] = converter.structure(data.get(name), kind)
            except ValueError as error:
                raise _At(name, error) from None
        return pair(**values)

    return read_pair


# writing


def _class_writer(converter: Converter, cls: Any) -> Callable[[Any], dict[str, Any]]:
    from cattrs.gen import make_dict_unstructure_fn

    omitted: Any = _not_stored(cls)
    write = make_dict_unstructure_fn(cls, converter, **omitted)
    tag = dict([_TAGS[cls]]) if cls in _TAGS else {}

    def write_class(value: Any) -> dict[str, Any]:
        data: dict[str, Any] = {**tag, **write(value)}
        newer: Mapping[str, Any] = newer_fields(value)
        for name, field in newer.items():
            data[name] = {**field, **data[name]} if name in data else field
        return data

    return write_class


def _write_opaque(write: Callable[[Any], dict[str, Any]]) -> Callable[[Opaque], dict[str, Any]]:
    def write_opaque(block: Opaque) -> dict[str, Any]:
        newer = block.protocol == _NEWER_BLOCK and block.kind not in _BLOCKS and block.data.get("type") == block.kind
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
def _converter() -> Converter:
    """Made at first use: importing cattrs takes longer than importing the whole vocabulary."""
    from cattrs import Converter

    converter = Converter(detailed_validation=True)
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook(int, _whole_number)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook(bool, _flag)
    for words in (StopReason, ThinkingLevel):
        converter.register_structure_hook(words, _word)
    converter.register_structure_hook_func(_is_object, _object)
    converter.register_unstructure_hook_func(_is_object, lambda value: value)
    converter.register_structure_hook_factory(_is_tuple, lambda kind: _list_reader(converter, get_args(kind)[0]))
    converter.register_structure_hook_func(_is_union_of(_ROLES), _read_message)
    converter.register_structure_hook_func(_is_union_of(_BLOCKS), _read_block)
    converter.register_structure_hook_factory(attrs.has, lambda cls: _class_reader(converter, cls))
    converter.register_unstructure_hook_factory(attrs.has, lambda cls: _class_writer(converter, cls))
    converter.register_unstructure_hook(Opaque, _write_opaque(_class_writer(converter, Opaque)))
    for pair in _PAIRS:
        converter.register_structure_hook(pair, _pair_reader(converter, pair))
        converter.register_unstructure_hook(pair, lambda value: converter.unstructure(value._asdict()))
    return converter
