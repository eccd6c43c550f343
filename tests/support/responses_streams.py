"""Small literal streams of the Responses API, and the pieces that they are put together from."""

from __future__ import annotations

import json
from typing import Any

Payload = dict[str, Any]

BEGUN: Payload = {
    "type": "response.created",
    "response": {"id": "resp_a", "model": "m", "status": "in_progress", "output": [], "error": None, "usage": None},
}


def framed(*events: Payload | str) -> bytes:
    """Events by name and payload; a string is a payload as it stands."""
    return b"".join(
        f"data: {event}\n\n".encode()
        if isinstance(event, str)
        else f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
        for event in events
    )


def item(place: int, first: Payload, done: Payload, *between: Payload) -> list[Payload]:
    """An output item from its first sight to its end."""
    return [
        {"type": "response.output_item.added", "output_index": place, "item": first},
        *({**event, "output_index": place, "item_id": done.get("id")} for event in between),
        {"type": "response.output_item.done", "output_index": place, "item": done},
    ]


def thought(place: int, *parts: str, sealed: str | None = "Z0FBQUE=", split: int = 6) -> list[Payload]:
    """A reasoning item with the parts of its summary."""
    start: Payload = {"id": f"rs_{place}", "type": "reasoning", "summary": []}
    early = {} if sealed is None else {"encrypted_content": "Z0FB"}
    end = {} if sealed is None else {"encrypted_content": sealed}
    deltas = [
        {"type": "response.reasoning_summary_text.delta", "summary_index": number, "delta": piece}
        for number, part in enumerate(parts)
        for piece in pieces(part, split)
    ]
    summary = [{"type": "summary_text", "text": part} for part in parts]
    return item(place, {**start, **early}, {**start, "summary": summary, **end}, *deltas)


def said(place: int, *texts: str, phase: str | None = None, split: int = 5) -> list[Payload]:
    """A message with its parts."""
    start: Payload = {"id": f"msg_{place}", "type": "message", "role": "assistant"}
    start |= {} if phase is None else {"phase": phase}
    deltas = [
        {"type": "response.output_text.delta", "content_index": number, "delta": piece}
        for number, text in enumerate(texts)
        for piece in pieces(text, split)
    ]
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    done = {**start, "status": "completed", "content": content}
    return item(place, {**start, "status": "in_progress", "content": []}, done, *deltas)


def called(place: int, id: str, name: str, arguments: str, *, status: str = "completed") -> list[Payload]:
    """A function call."""
    start: Payload = {"id": f"fc_{place}", "type": "function_call", "call_id": id, "name": name}
    deltas = [{"type": "response.function_call_arguments.delta", "delta": piece} for piece in pieces(arguments, 7)]
    done = {**start, "status": status, "arguments": arguments}
    return item(place, {**start, "status": "in_progress", "arguments": ""}, done, *deltas)


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def ended(*items: list[Payload], status: str = "completed", **response: Any) -> list[Payload]:
    """All items, and the end that repeats them."""
    output = [events[-1]["item"] for events in items]
    usage = {"input_tokens": 20, "output_tokens": 9, "total_tokens": 29}
    told = {**BEGUN["response"], "status": status, "output": output, "usage": usage, **response}
    return [event for events in items for event in events] + [{"type": f"response.{status}", "response": told}]


SEARCH: Payload = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"query": "sky"}}

RESPONSES = {
    "a summary in two parts, text and a call": framed(
        BEGUN,
        *ended(
            thought(0, "**Adding** two and two", "It is four."),
            said(1, "Let me check: naïve 日本 😀."),
            called(2, "call_a", "add", '{"a": 2, "b": 2}'),
        ),
    ),
    "withheld thinking, a search and a refusal": framed(
        BEGUN,
        *ended(
            thought(0),
            item(1, {**SEARCH, "status": "in_progress"}, SEARCH, {"type": "response.web_search_call.searching"}),
            thought(2, "Found.", sealed="c2Vjb25k"),
            item(
                3,
                {"id": "msg_3", "type": "message", "role": "assistant", "content": []},
                {
                    "id": "msg_3",
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "refusal", "refusal": "I will not."}],
                },
                {"type": "response.refusal.delta", "content_index": 0, "delta": "I will "},
                {"type": "response.refusal.delta", "content_index": 0, "delta": "not."},
            ),
        ),
    ),
    "a call cut by the limit": framed(
        BEGUN,
        *ended(
            called(0, "call_b", "write", '{"text": "# He', status="incomplete"),
            status="incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        ),
    ),
    "an error after some text": framed(
        BEGUN,
        *said(0, "So far so good")[:-1],
        {"type": "error", "error": {"code": "server_is_overloaded", "message": "Busy", "param": None}},
        {
            "type": "response.failed",
            "response": {"id": "resp_a", "status": "failed", "error": {"code": "server_is_overloaded"}},
        },
    ),
    "raw thinking and two messages, CRLF and comments": framed(
        BEGUN,
        *ended(
            item(
                0,
                {"id": "x-1", "type": "reasoning", "summary": []},
                {
                    "id": "x-1",
                    "type": "reasoning",
                    "summary": [],
                    "content": [{"type": "reasoning_text", "text": "a\u2028b"}],
                },
                {"type": "response.reasoning_text.delta", "content_index": 0, "delta": "a\u2028"},
                {"type": "response.reasoning_text.delta", "content_index": 0, "delta": "b"},
            ),
            said(1, "First.", phase="commentary"),
            said(2, "Second ", "and third.", phase="final_answer"),
        ),
        "[DONE]",
    )
    .replace(b"\n\n", b"\n\n: still here\n\n")
    .replace(b"\n", b"\r\n"),
}

LONG = framed(
    BEGUN,
    *ended(
        thought(0, "".join(f"thought {number}, " for number in range(250)), split=12),
        said(1, "".join(f"word {number} " for number in range(60)), split=8),
    ),
)
