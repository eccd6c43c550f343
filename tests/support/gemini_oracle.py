"""How answers of Gemini are proved: a naive reader of its payloads, a joiner to whole bodies, and our messages in the
oracle's shape. None of it shares code with the parser.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from attrs import define, field

from support.neutral import Neutral, known, neutral_arguments
from support.walkers import Collected, first_arrivals
from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage
from thinkaloud.usage import Usage

Body = dict[str, Any]

FAILURES = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")
NOT_A_PAYLOAD = ("thought", "thoughtSignature")


@define
class GeminiWalker:
    """The parts of the first candidate, one after another. Streamed arguments are members of one flat object."""

    ended: bool = False
    failed: bool = False
    closed: set[str] = field(factory=set)
    thinking: str = ""
    text: str = ""
    calls: dict[str, list[str]] = field(factory=dict)
    opaque: list[str] = field(factory=list)
    others: list[str] = field(factory=list)
    order: list[str] = field(factory=list)
    unnamed: int = 0
    streaming: str = ""
    path: str = ""

    def add(self, payload: str) -> None:
        chunk = json.loads(payload)
        self.failed |= "error" in chunk
        for candidate in () if self.failed else chunk.get("candidates") or ():
            for part in (candidate.get("content") or {}).get("parts") or ():
                self.part(part, chunk)
            reason = candidate.get("finishReason")
            self.failed |= reason in FAILURES
            self.ended |= reason is not None
            if reason == "STOP":
                self.close()

    def part(self, part: Body, chunk: Body) -> None:
        signature = part.get("thoughtSignature")
        if "functionCall" in part:
            self.call(part["functionCall"], chunk)
        elif "text" in part:
            if part.get("thought"):
                self.thinking += part["text"]
            else:
                self.text += part["text"]
            if part["text"] or signature:
                self.order.append("thinking" if part.get("thought") else "text")
        else:
            (kind,) = (name for name in part if name not in NOT_A_PAYLOAD)
            self.others.append(kind)
            self.order.append(kind)
            return
        self.opaque += [signature] if signature else []

    def call(self, call: Body, chunk: Body) -> None:
        if "name" in call:
            self.close()
            id = call.get("id")
            if id is None:
                self.unnamed += 1
                id = f"call_{chunk['responseId']}_{self.unnamed}"
            streams = "partialArgs" in call or "willContinue" in call
            arguments = "" if streams else json.dumps(call.get("args", {}), separators=(",", ":"))
            self.calls[id] = [call["name"], arguments]
            self.order.append(id)
            if streams:
                self.streaming, self.path = id, ""
            else:
                self.closed.add(id)
        for entry in call.get("partialArgs") or ():
            path, value = entry["jsonPath"], json.dumps(entry.get("stringValue", entry.get("numberValue")))
            if path != self.path:
                before = '",' if self.path else "{"
                self.calls[self.streaming][1] += f'{before}"{path[2:]}":'
                self.path = path
                value = value[:-1]
            else:
                value = value[1:-1]
            self.calls[self.streaming][1] += value
        if not call.get("willContinue"):
            self.close()

    def close(self) -> None:
        if self.streaming:
            self.calls[self.streaming][1] += '"}' if self.path else "{}"
            self.closed.add(self.streaming)
            self.streaming = ""

    def collected(self) -> Collected:
        return Collected(
            thinking=self.thinking,
            text=self.text,
            calls=tuple((id, name, arguments) for id, (name, arguments) in self.calls.items()),
            opaque=tuple(self.opaque),
            others=tuple(self.others),
            order=first_arrivals(self.order),
        )


def gemini_body(payloads: Iterable[str]) -> Body:
    """The response object, with the texts in one piece and each signature on the part that a whole body has it on."""
    body: Body = {}
    candidate: Body = {}
    parts: list[Body] = []
    for chunk in map(json.loads, payloads):
        counts = {**body.get("usageMetadata", {}), **chunk.get("usageMetadata", {})}
        body |= {**chunk, "usageMetadata": counts}
        for piece in chunk.get("candidates") or ():
            candidate |= piece
            for part in (piece.get("content") or {}).get("parts") or ():
                _join(parts, part)
    for part in parts:
        if "partial" in part:
            part["functionCall"] = {"name": part["functionCall"]["name"], "args": part.pop("partial")}
    candidate["content"] = {"role": "model", "parts": parts}
    return body | {"candidates": [candidate]}


def _join(parts: list[Body], part: Body) -> None:
    last = parts[-1] if parts else {}
    call = part.get("functionCall")
    if "text" in part:
        open_text = "text" in last and "thoughtSignature" not in last
        if open_text and last.get("thought") == part.get("thought"):
            parts[-1] = {**last, **part, "text": last["text"] + part["text"]}
        elif part["text"] or "thoughtSignature" in part:
            parts.append(dict(part))
    elif call is None or "name" in call:
        parts.append(dict(part))
        if call is not None and "willContinue" in call:
            parts[-1]["partial"] = {}
    for entry in (call or {}).get("partialArgs") or ():
        partial = parts[-1]["partial"]
        name = entry["jsonPath"][2:]
        partial[name] = partial.get(name, "") + entry["stringValue"]


def gemini_content(message: AssistantMessage) -> list[Neutral]:
    """The blocks one by one. Ids that we made are left out: the oracle has none there."""
    return [_entry(block) for block in message.content]


def _entry(block: AssistantBlock) -> Neutral:
    match block:
        case Text() | Thinking():
            kind = "text" if isinstance(block, Text) else "thinking"
            return known(type=kind, text=block.text, signature=block.signature)
        case ToolCall():
            id = block.extra.get("wire_id", block.id)
            return known(
                type="tool_call", id=id, name=block.name, signature=block.signature, **neutral_arguments(block)
            )
        case Opaque():
            return known(type="other", kind=block.kind, signature=block.data.get("thoughtSignature"))


def gemini_usage(usage: Usage, endpoint: str) -> Neutral:
    """Gemini counts thoughts beside the output; an output of thoughts alone has no count of its own."""
    visible = None if usage.output is None else usage.output - (usage.reasoning or 0)
    return known(input=usage.input, output=visible or None, reasoning=usage.reasoning, cache_read=usage.cache_read)
