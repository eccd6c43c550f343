"""Payloads of chat completions, fed to the parser without any framing, in both forms of an answer."""

from __future__ import annotations

import json
from typing import Any

from support.parsed import Reading, streamed, whole
from thinkaloud.messages import Origin
from thinkaloud.models.dialect import Dialect
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.openai_chat.parse import OpenAIChatParser
from thinkaloud.wire.server_event import ServerEvent

Payload = dict[str, Any]

ORIGIN = Origin("openai-chat", "openrouter", "asked-for")
DONE = "[DONE]"


def parser(dialect: Dialect = Dialect(), *, prefix_digest: str | None = None) -> OpenAIChatParser:
    return OpenAIChatParser(ParseContext(origin=ORIGIN, dialect=dialect, prefix_digest=prefix_digest))


def sse(payload: Payload | str | ServerEvent) -> ServerEvent:
    """A payload as the event that the server sends it in; a string goes as it is."""
    if isinstance(payload, ServerEvent):
        return payload
    return ServerEvent(data=payload if isinstance(payload, str) else json.dumps(payload))


def read(*payloads: Any, dialect: Dialect = Dialect(), prefix_digest: str | None = None) -> Reading:
    """Feed payloads, end the body, and check the rules of the events on every way out."""
    return streamed(parser(dialect, prefix_digest=prefix_digest), map(sse, payloads))


def read_whole(body: Any, *, dialect: Dialect = Dialect()) -> Reading:
    """Feed a whole body."""
    return whole(parser(dialect), body)


def chunk(
    finish: str | None = None, *, choice: Payload | None = None, top: Payload | None = None, **delta: Any
) -> Payload:
    """One chunk. choice, top: further fields of the choice and of the chunk."""
    return {
        "id": "chatcmpl-1",
        "model": "answering",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish, **(choice or {})}],
        **(top or {}),
    }


def stop(finish: str = "stop", **top: Any) -> Payload:
    """The last chunk."""
    return chunk(finish, top=top)


def call(index: Any = 0, id: Any = None, name: Any = None, arguments: Any = None, **fields: Any) -> Payload:
    """One fragment of a tool call; what is None is not there."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    entry = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {**entry, "function": function, **fields}


def calls(*fragments: Payload) -> Payload:
    """A chunk with fragments of tool calls."""
    return chunk(tool_calls=list(fragments))


def body(
    finish: str | None = "stop", *, choice: Payload | None = None, top: Payload | None = None, **message: Any
) -> Payload:
    """A whole answer."""
    return {
        "id": "chatcmpl-1",
        "model": "answering",
        "choices": [
            {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, **(choice or {})}
        ],
        **(top or {}),
    }
