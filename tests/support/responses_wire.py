"""Payloads of the Responses API, fed to its parser without any framing, in both forms of an answer."""

from __future__ import annotations

import json
from typing import Any

from support.parsed import Reading, streamed, whole
from support.responses_streams import BEGUN
from thinkaloud.messages import Origin
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.openai_responses.parse import OpenAIResponsesParser
from thinkaloud.wire.server_event import ServerEvent

Payload = dict[str, Any]

ORIGIN = Origin("openai-responses", "openai", "asked-for")


def sse(payload: Payload | str | ServerEvent) -> ServerEvent:
    """A payload as the event that the server sends it in; a string goes as it is, in an event without a name."""
    if isinstance(payload, ServerEvent):
        return payload
    if isinstance(payload, str):
        return ServerEvent(data=payload)
    name = payload.get("type")
    return ServerEvent(data=json.dumps(payload), event=name if isinstance(name, str) else "message")


def parser() -> OpenAIResponsesParser:
    return OpenAIResponsesParser(ParseContext(origin=ORIGIN))


def read(*payloads: Any) -> Reading:
    """Feed payloads, end the body, and check the rules of the events on every way out."""
    return streamed(parser(), map(sse, payloads))


def read_whole(body: Any) -> Reading:
    """Feed a whole body."""
    return whole(parser(), body)


def added(place: int, **item: Any) -> Payload:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def done(place: int, **item: Any) -> Payload:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def delta(kind: str, place: int, piece: Any, **fields: Any) -> Payload:
    """A delta of "output_text", "reasoning_summary_text", "function_call_arguments"..."""
    return {"type": f"response.{kind}.delta", "output_index": place, "delta": piece, **fields}


def end(status: str = "completed", output: Any = (), **response: Any) -> Payload:
    """The last event."""
    told = {**BEGUN["response"], "status": status, "output": list(output), **response}
    return {"type": f"response.{status}", "response": told}


def body(*output: Payload, status: str = "completed", **response: Any) -> Payload:
    """A whole answer."""
    return {**BEGUN["response"], "status": status, "output": list(output), **response}


def message_item(*texts: str, id: str = "msg_1", **fields: Any) -> Payload:
    """A finished message."""
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": id, "role": "assistant", "status": "completed", "content": content, **fields}


def reasoning_item(*parts: str, id: str = "rs_1", sealed: str | None = "c2VhbA==", **fields: Any) -> Payload:
    """A finished reasoning item."""
    summary = [{"type": "summary_text", "text": part} for part in parts]
    encrypted = {} if sealed is None else {"encrypted_content": sealed}
    return {"type": "reasoning", "id": id, "summary": summary, **encrypted, **fields}


def call_item(arguments: str = "{}", id: str = "fc_1", call_id: str = "call_1", **fields: Any) -> Payload:
    """A finished function call."""
    item = {"type": "function_call", "id": id, "call_id": call_id, "name": "f", "arguments": arguments}
    return {**item, "status": "completed", **fields}
