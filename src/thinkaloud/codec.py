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

from collections.abc import Mapping
from typing import Any

from thinkaloud.converter import (
    BLOCKS,
    EVENTS,
    ROLES,
    RUN,
    TAGS,
    At,
    as_object,
    kind_of,
    located,
    read_tagged,
    stored_converter,
)
from thinkaloud.errors import CodecError
from thinkaloud.events import RunEvent
from thinkaloud.jsontext import Json, copied, copied_object, loads_exact
from thinkaloud.jsontext import dumps as json_dumps
from thinkaloud.messages import Conversation, Message
from thinkaloud.notices import Notice
from thinkaloud.run_result import RunResult

VERSION = 1
_NEWER_EVENT = "newer_event"

Value = Message | Conversation | RunEvent | RunResult


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
    if (type(value) not in TAGS and not isinstance(value, Conversation)) or type(value) in BLOCKS.values():
        raise TypeError(f"a message, a conversation, an event or a run is wanted, not {type(value).__name__}")
    if isinstance(value, Notice) and value == _newer_event(value.text, value.detail) and value.text not in EVENTS:
        return copied_object({"version": VERSION, **value.detail})
    return copied_object({"version": VERSION, **stored_converter().unstructure(value)})


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
        path, reason = located(error)
        raise CodecError(f"{path}: {reason}" if path else reason, path=path) from None


def _read_value(data: Any) -> Value:
    data = dict(as_object(data))
    version = data.pop("version", VERSION)
    if type(version) is not int or version < 1:
        raise At("version", ValueError(f"a number from 1 is wanted, not {kind_of(version)}"))
    if version > VERSION:
        raise At("version", ValueError(f"this library reads up to version {VERSION}, and this is {version}"))
    if "role" in data:
        message: Message = read_tagged(data, "role", ROLES)
        return message
    if data.get("type") == RUN:
        return stored_converter().structure(data, RunResult)
    if "type" in data:
        event: RunEvent = read_tagged(data, "type", EVENTS, lambda word: _newer_event(word, data))
        return event
    if "messages" in data:
        return stored_converter().structure(data, Conversation)
    raise ValueError(
        "'role' (of a message), 'messages' (of a conversation) or 'type' (of an event or a run) is missing"
    )


def _newer_event(word: str, data: Mapping[str, Json]) -> Notice:
    return Notice(_NEWER_EVENT, word, detail={**data, "type": word})
