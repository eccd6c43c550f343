"""The whole body that says the same as a stream: put together from raw payloads, without the parsers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

Body = dict[str, Any]


def anthropic_body(payloads: Iterable[str]) -> Body:
    """The message object of the Messages API."""
    message: Body = {}
    inputs: dict[int, str] = {}
    for event in map(json.loads, payloads):
        match event["type"]:
            case "message_start":
                message = {**event["message"], "content": []}
            case "content_block_start":
                message["content"].append(dict(event["content_block"]))
            case "content_block_delta":
                _extend(message["content"][event["index"]], event["delta"], inputs, event["index"])
            case "message_delta":
                usage = {name: count for name, count in (event.get("usage") or {}).items() if count is not None}
                message |= {**event["delta"], "usage": {**message["usage"], **usage}}
                message |= {name: value for name, value in event.items() if name not in ("type", "delta", "usage")}
    for index, text in inputs.items():
        message["content"][index]["input"] = json.loads(text or "{}")
    return message


def _extend(block: Body, delta: Body, inputs: dict[int, str], index: int) -> None:
    for name in ("text", "thinking"):
        if name in delta:
            block[name] += delta[name]
    if "signature" in delta:
        block["signature"] = delta["signature"]
    if "partial_json" in delta:
        inputs[index] = inputs.get(index, "") + delta["partial_json"]
    if "citation" in delta:
        block["citations"] = [*(block.get("citations") or ()), delta["citation"]]


def chat_body(payloads: Iterable[str]) -> Body:
    """The completion object of chat."""
    body: Body = {}
    choice: Body = {"index": 0, "message": {}, "finish_reason": None}
    for payload in payloads:
        if payload.startswith("[DONE]"):
            continue
        chunk = json.loads(payload)
        body |= {name: value for name, value in chunk.items() if value and not (name == "id" and "id" in body)}
        for piece in chunk.get("choices") or ():
            for name, value in (piece.get("delta") or {}).items():
                if value:
                    _join(choice["message"], name, value)
            choice |= {name: value for name, value in piece.items() if value and name not in ("index", "delta")}
    return body | {"object": "chat.completion", "choices": [choice]}


def _join(message: Body, name: str, value: Any) -> None:
    if name == "role":
        message[name] = value
    elif name == "tool_calls":
        for fragment in value:
            calls = message.setdefault(name, [])
            if fragment["index"] == len(calls):
                calls.append({**fragment, "function": {**fragment["function"]}})
            else:
                calls[fragment["index"]]["function"]["arguments"] += fragment["function"]["arguments"]
    elif name == "reasoning_details":
        for detail in value:
            _join_detail(message.setdefault(name, []), detail)
    elif name == "content" and (isinstance(value, list) or isinstance(message.get(name), list)):
        _join_parts(message.setdefault(name, []), value)
    elif isinstance(value, str):
        message[name] = message.get(name, "") + value
    else:
        message[name] = [*message.get(name, ()), *value] if isinstance(value, list) else value


def _join_detail(entries: list[Body], detail: Body) -> None:
    for entry in entries:
        if (entry["type"], entry["index"]) == (detail["type"], detail["index"]):
            for name, value in detail.items():
                joined = name in ("text", "summary", "data")
                if value:
                    entry[name] = (entry.get(name) or "") + value if joined else value
            return
    entries.append(dict(detail))


def _join_parts(parts: list[Body], value: list[Body] | str) -> None:
    for part in [{"type": "text", "text": value}] if isinstance(value, str) else value:
        if parts and parts[-1]["type"] == part["type"]:
            name = "thinking" if part["type"] == "thinking" else "text"
            parts[-1][name] = parts[-1][name] + part[name]
        else:
            parts.append(dict(part))
