"""Payloads of the Messages API, fed to its parser without any framing."""

from __future__ import annotations

import json
from typing import Any

from support.parsed import Reading, streamed, whole
from thinkaloud.messages import Origin
from thinkaloud.protocols.anthropic.parse import AnthropicParser
from thinkaloud.protocols.base import ParseContext
from thinkaloud.wire.server_event import ServerEvent

Payload = dict[str, Any]

ORIGIN = Origin("anthropic-messages", "anthropic", "claude-asked-for")


def parser() -> AnthropicParser:
    return AnthropicParser(ParseContext(origin=ORIGIN))


def sse(payload: Payload | str) -> ServerEvent:
    """A payload as the event that the server sends it in; a string goes as it is, in an event without a name."""
    if isinstance(payload, str):
        return ServerEvent(data=payload)
    name = payload.get("type")
    return ServerEvent(event=name if isinstance(name, str) else "message", data=json.dumps(payload))


def read(*payloads: Payload | str | ServerEvent | list[Payload]) -> Reading:
    """Feed payloads, end the body, and check the rules of the events on every way out."""
    flat: list[Any] = []
    for payload in payloads:
        flat.extend(payload) if isinstance(payload, list) else flat.append(payload)
    return streamed(parser(), (payload if isinstance(payload, ServerEvent) else sse(payload) for payload in flat))


def read_whole(body: Any) -> Reading:
    """Feed a whole body."""
    return whole(parser(), body)


def start(**fields: Any) -> Payload:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-answering", "content": []}
    return {"type": "message_start", "message": {**message, "usage": {"input_tokens": 9, "output_tokens": 1}, **fields}}


def opening(index: Any, **block: Any) -> Payload:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: Any, **delta: Any) -> Payload:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def closing(index: Any) -> Payload:
    return {"type": "content_block_stop", "index": index}


def text(index: int, *pieces: str) -> list[Payload]:
    deltas = [delta(index, type="text_delta", text=piece) for piece in pieces]
    return [opening(index, type="text", text=""), *deltas, closing(index)]


def thinking(index: int, *pieces: str, signature: str = "") -> list[Payload]:
    deltas = [delta(index, type="thinking_delta", thinking=piece) for piece in pieces]
    if signature:
        deltas.append(delta(index, type="signature_delta", signature=signature))
    return [opening(index, type="thinking", thinking="", signature=""), *deltas, closing(index)]


def tool_use(index: int, *pieces: str, id: str = "toolu_1", name: str = "add", **fields: Any) -> list[Payload]:
    deltas = [delta(index, type="input_json_delta", partial_json=piece) for piece in pieces]
    return [opening(index, type="tool_use", id=id, name=name, **{"input": {}, **fields}), *deltas, closing(index)]


def end(reason: str | None = "end_turn", usage: Any = None, **fields: Any) -> list[Payload]:
    said = {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None, **fields}}
    return [{**said, "usage": {"output_tokens": 7} if usage is None else usage}, {"type": "message_stop"}]
