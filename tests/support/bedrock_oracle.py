"""Naive readers of Converse's frames: a walker, a joiner to a whole body, and the views for the oracle.

Frames are cut by their lengths alone; each payload is given as JSON under the name of its event.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable
from typing import Any

from attrs import define, field

from support.neutral import Neutral, known, neutral_block
from support.walkers import Collected, first_arrivals
from support.whole_bodies import Body
from thinkaloud.content import Opaque
from thinkaloud.messages import AssistantMessage
from thinkaloud.usage import Usage


@define
class BedrockWalker:
    """Converse: blocks by index, from `contentBlock*` events."""

    ended: bool = False
    failed: bool = False
    closed: set[str] = field(factory=set)
    blocks: dict[int, dict[str, Any]] = field(factory=dict)

    def add(self, payload: str) -> None:
        (name, data), *_ = json.loads(payload).items()
        match name:
            case "contentBlockStart":
                ((kind, start),) = data["start"].items()
                kind = start.get("type") if start.get("type") == "server_tool_use" else kind
                self.blocks[data["contentBlockIndex"]] = {"kind": kind, "input": "", **start}
            case "contentBlockDelta":
                self._extend(data["contentBlockIndex"], data["delta"])
            case "contentBlockStop":
                self.closed.add(self.blocks.get(data["contentBlockIndex"], {}).get("toolUseId", ""))
            case "messageStop":
                self.ended = True
            case _ if name.endswith("Exception"):
                self.failed = True

    def _extend(self, index: int, delta: dict[str, Any]) -> None:
        if "toolUse" in delta:
            self.blocks[index]["input"] += delta["toolUse"]["input"]
        if delta.get("text"):
            block = self.blocks.setdefault(index, {"kind": "text", "text": ""})
            block["text"] += delta["text"]
        for name, piece in delta.get("reasoningContent", {}).items():
            if piece:
                block = self.blocks.setdefault(index, {"kind": "thinking"})
                block[name] = block.get(name, "") + piece

    def collected(self) -> Collected:
        def of(kind: str) -> list[dict[str, Any]]:
            return [block for block in self.blocks.values() if block["kind"] == kind]

        return Collected(
            thinking="".join(block.get("text", "") for block in of("thinking")),
            text="".join(block["text"] for block in of("text")),
            calls=tuple((block["toolUseId"], block["name"], block["input"]) for block in of("toolUse")),
            opaque=tuple(
                opaque for block in of("thinking") if (opaque := block.get("signature") or block.get("redactedContent"))
            ),
            others=tuple(
                block["kind"] for block in self.blocks.values() if block["kind"] in ("server_tool_use", "toolResult")
            ),
            order=first_arrivals(
                block["toolUseId"] if block["kind"] == "toolUse" else block["kind"] for block in self.blocks.values()
            ),
        )


def bedrock_body(payloads: Iterable[str]) -> Body:
    """The answer object of Converse."""
    blocks: dict[int, Body] = {}
    inputs: dict[int, str] = {}
    answer: Body = {}
    for payload in payloads:
        ((name, data),) = json.loads(payload).items()
        index = data.get("contentBlockIndex", 0)
        match name:
            case "contentBlockStart":
                blocks[index] = data["start"]
            case "contentBlockDelta":
                _join(blocks.setdefault(index, {}), data["delta"], inputs, index)
            case "messageStop" | "metadata":
                answer |= {key: value for key, value in data.items() if key != "p"}
    for index, text in inputs.items():
        blocks[index]["toolUse"]["input"] = json.loads(text or "{}")
    content = [block for block in blocks.values() if block]
    return {"output": {"message": {"role": "assistant", "content": content}}, **answer}


def _join(block: Body, delta: Body, inputs: dict[int, str], index: int) -> None:
    if "toolUse" in delta:
        inputs[index] = inputs.get(index, "") + delta["toolUse"]["input"]
    if "toolResult" in delta:
        block["toolResult"].setdefault("content", []).extend(delta["toolResult"])
    if delta.get("text"):
        block["text"] = block.get("text", "") + delta["text"]
    reasoning = delta.get("reasoningContent", {})
    if "redactedContent" in reasoning:
        standing = block.get("reasoningContent", {}).get("redactedContent", "")
        joined = b64encode(b64decode(standing) + b64decode(reasoning["redactedContent"])).decode()
        block["reasoningContent"] = {"redactedContent": joined}
    for name in ("text", "signature"):
        if name in reasoning:
            inner = block.setdefault("reasoningContent", {}).setdefault("reasoningText", {"text": ""})
            inner[name] = inner.get(name, "") + reasoning[name]


def bedrock_blocks(message: AssistantMessage) -> list[Neutral]:
    """The blocks one by one; the oracle shows what a server's own tool was called with."""
    entries = []
    for block in message.content:
        if isinstance(block, Opaque) and block.kind == "server_tool_use":
            use: Any = block.data["toolUse"]
            told = {"id": use["toolUseId"], "name": use["name"], "arguments": use["input"]}
            entries.append(known(type="other", kind=block.kind, **told))
        else:
            entries.append(neutral_block(block))
    return entries


def bedrock_usage(usage: Usage, endpoint: str) -> Neutral:
    """Converse counts cached tokens beside the input; we count them as a part of it."""
    cached = (usage.cache_read or 0) + (usage.cache_write or 0)
    return known(
        input=None if usage.input is None else usage.input - cached,
        output=usage.output,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
    )
