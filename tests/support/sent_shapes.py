"""What every provider refuses, seen in a request's body, whatever the protocol."""

from __future__ import annotations

from itertools import pairwise
from typing import Any


def calls_and_results(body: Any) -> tuple[list[str], list[str]]:
    """The ids (on Gemini the names) of calls and of results, each in order."""
    calls: list[str] = []
    results: list[str] = []
    for item in _items(body):
        match item:
            case {"type": "tool_use", "id": id} | {"toolUse": {"toolUseId": id}}:
                calls.append(id)
            case {"type": "tool_result", "tool_use_id": id} | {"toolResult": {"toolUseId": id}}:
                results.append(id)
            case {"functionCall": {"id": id}}:
                calls.append(id)
            case {"functionResponse": {"id": id}}:
                results.append(id)
            case {"type": "function_call" | "custom_tool_call", "call_id": id}:
                calls.append(id)
            case {"type": "function_call_output" | "custom_tool_call_output", "call_id": id}:
                results.append(id)
            case {"role": "assistant", "tool_calls": told}:
                calls += [call["id"] for call in told]
            case {"role": "tool", "tool_call_id": id}:
                results.append(id)
            case _:
                pass
    return calls, results


def faults(protocol: str, body: Any) -> list[str]:
    """Why a provider would refuse the history in a body; nothing where it would not."""
    found: list[str] = []
    calls, results = calls_and_results(body)
    if sorted(calls) != sorted(results):
        found.append(f"calls {calls} and results {results}")
    messages = body.get("messages") or body.get("contents") or body["input"]
    if protocol in ("anthropic-messages", "bedrock-converse"):
        roles = [message["role"] for message in messages]
        if any(one == other for one, other in pairwise(roles)):
            found.append(f"roles {roles}")
        found += [f"empty {message}" for message in messages if not message["content"]]
    for item in _items(body):
        match item:
            case {"type": "thinking"} if not item.get("signature"):
                found.append("thinking without a signature")
            case {"reasoningContent": {"reasoningText": dict(text)}} if not text.get("signature"):
                found.append("thinking without a signature")
            case {"type": "text", "text": ""} | {"type": "output_text", "text": ""}:
                found.append("empty text")
            case {"role": "assistant", "content": None} if not item.get("tool_calls"):
                found.append("an answer of nothing")
            case _:
                pass
    if protocol == "openai-responses":
        found += _unfollowed(messages)
    return found


def _unfollowed(items: list[Any]) -> list[str]:
    """Reasoning items with nothing of the model behind them."""
    found = []
    for item, after in zip(items, [*items[1:], {}], strict=True):
        # a message, a call, or an item of a tool that the provider runs
        follows = after and not after.get("type", "").endswith("_output") and after.get("role") in (None, "assistant")
        if item.get("type") == "reasoning" and not follows:
            found.append("reasoning without its follower")
    return found


def _items(body: Any) -> list[Any]:
    """All objects of a body that stand in lists: messages, items, blocks and parts."""
    found: list[Any] = []
    unread: list[Any] = [body]
    while unread:
        value = unread.pop(0)
        if isinstance(value, dict):
            unread += value.values()
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, dict)]
            unread += value
    return found
