"""How answers of the Responses API are proved: a naive reader of its payloads, a joiner to whole bodies, and our
messages in the oracle's shape. None of it shares code with the parser.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from attrs import define, field

from support.neutral import Neutral, known, neutral_arguments
from support.walkers import Collected, first_arrivals
from thinkaloud.content import Opaque, Text, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage
from thinkaloud.usage import Usage

Payload = dict[str, Any]

ENDS = ("response.completed", "response.incomplete")
DELTAS = {
    "response.reasoning_summary_text.delta": "summary_index",
    "response.reasoning_text.delta": "content_index",
    "response.output_text.delta": "content_index",
    "response.refusal.delta": "content_index",
    "response.function_call_arguments.delta": "",
    "response.custom_tool_call_input.delta": "",
}
MODELLED = ("reasoning", "message", "function_call", "custom_tool_call")


@define
class ResponsesWalker:
    """Items by `output_index`: the deltas of each, until the finished item takes their place.

    Of items that are not finished only the first sight and the deltas count: the encrypted thinking is not whole there.
    """

    ended: bool = False
    failed: bool = False
    closed: set[str] = field(factory=set)
    items: dict[int, Payload] = field(factory=dict)
    parts: dict[int, dict[Any, str]] = field(factory=dict)
    finished: set[int] = field(factory=set)

    def add(self, payload: str) -> None:
        if payload.startswith("[DONE]") or self.ended or self.failed:
            return
        event = json.loads(payload)
        kind, place = event["type"], event.get("output_index", -1)
        self.ended |= kind in ENDS
        self.failed |= kind in ("error", "response.failed")
        if kind == "response.output_item.added":
            self.items[place], self.parts[place] = event["item"], {}
        elif kind == "response.output_item.done":
            self.items[place] = event["item"]
            self.parts[place] = dict(enumerate(texts_of(event["item"])))
            self.finished.add(place)
            self.closed.add(event["item"].get("call_id", ""))
        elif kind in DELTAS:
            part = event.get(DELTAS[kind])
            self.parts[place][part] = self.parts[place].get(part, "") + event["delta"]

    def collected(self) -> Collected:
        thinking, text, calls, opaque, others, order = "", "", [], [], [], []
        for place, item in self.items.items():
            parts = [part for part in self.parts[place].values() if part]
            if item["type"] == "reasoning":
                thinking += "\n\n".join(parts)
                order.append("thinking")
                if place in self.finished and item.get("encrypted_content"):
                    opaque.append(item["encrypted_content"])
            elif item["type"] == "message":
                text += "".join(parts)
                order += ["text"] if parts else []
            elif item["type"] in MODELLED:
                calls.append((item["call_id"], item["name"], "".join(parts)))
                order.append(item["call_id"])
            else:
                others.append(item["type"])
                order.append(item["type"])
        return Collected(thinking, text, tuple(calls), tuple(opaque), tuple(others), first_arrivals(order))


def texts_of(item: Payload) -> list[str]:
    """The texts of a finished item's parts."""
    parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
    texts = [part.get("text") or part.get("refusal") or "" for part in parts]
    return texts or [item.get("arguments") or item.get("input") or ""]


def responses_body(payloads: Iterable[str]) -> Payload:
    """The response object, with the items as they were finished and the id that the stream began with."""
    body: Payload = {}
    items: dict[int, Payload] = {}
    first_id = None
    for payload in payloads:
        if payload.startswith("[DONE]"):
            continue
        event = json.loads(payload)
        if "response" in event:
            body = event["response"]
            first_id = first_id or body.get("id")
        if event["type"] == "response.output_item.done":
            items[event["output_index"]] = event["item"]
    return {**body, "id": first_id, "output": [items[place] for place in sorted(items)]}


def items_in_order(message: AssistantMessage) -> list[Neutral]:
    """The blocks one by one, with the ids and fields of their items."""
    return [_entry(block) for block in message.content]


def _entry(block: Text | Thinking | ToolCall | Opaque) -> Neutral:
    match block:
        case Thinking():
            shown = "content" if block.extra.get("content") else "summary"
            return known(
                type="thinking",
                text=block.text,
                encrypted=block.signature,
                id=block.extra.get("id"),
                text_from=shown if block.text else None,
            )
        case Text():
            extra = block.extra
            count = len(block.citations) or None
            return known(type="text", text=block.text, citations=count, id=extra.get("id"), phase=extra.get("phase"))
        case ToolCall():
            arguments = neutral_arguments(block)
            return known(type="tool_call", id=block.id, item_id=block.extra.get("id"), name=block.name, **arguments)
        case Opaque():
            return known(type="other", kind=block.kind, id=block.data.get("id"))


def responses_usage(usage: Usage, endpoint: str) -> Neutral:
    """The Responses API counts as we do."""
    return known(
        input=usage.input,
        output=usage.output,
        reasoning=usage.reasoning,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
    )
