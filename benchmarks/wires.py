"""Answers of any length on each wire: 45 % thinking, 45 % text, 10 % tool arguments, one JSON payload per event."""

from __future__ import annotations

import json
from collections.abc import Callable

from thinkaloud.testing.aws_frames import event_frame

WORDS = ("think ", "about ", "the ", "blue ", "of ", "a ", "clear ", "sky; ", "then ", "answer. ")
SIGNATURE = "c2lnbmF0dXJl" * 40


def _shares(deltas: int) -> tuple[int, int, int]:
    calls = max(1, deltas // 10)
    thinking = max(1, deltas * 45 // 100)
    return thinking, deltas - calls - thinking, calls


def _word(place: int) -> str:
    return WORDS[place % len(WORDS)]


def _argument_pieces(count: int) -> list[str]:
    """Pieces of one JSON object: a long string that grows a little with each piece."""
    return ['{"text": "', *(_word(place) for place in range(max(0, count - 2))), '"}']


def anthropic_payloads(deltas: int, *, only_arguments: bool = False) -> list[dict[str, object]]:
    """The events of one answer on the Anthropic wire."""
    thinking, text, calls = (0, 0, deltas) if only_arguments else _shares(deltas)
    usage = {"input_tokens": 25, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-bench", "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
    events: list[dict[str, object]] = [{"type": "message_start", "message": message}]
    index = 0

    def block(start: dict[str, object], deltas: list[dict[str, object]]) -> None:
        nonlocal index
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events.extend({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        events.append({"type": "content_block_stop", "index": index})
        index += 1

    if thinking:
        pieces: list[dict[str, object]] = [{"type": "thinking_delta", "thinking": _word(i)} for i in range(thinking)]
        block({"type": "thinking", "thinking": "", "signature": ""}, [
            *pieces, {"type": "signature_delta", "signature": SIGNATURE}])  # fmt: skip
    if text:
        block({"type": "text", "text": ""}, [{"type": "text_delta", "text": _word(i)} for i in range(text)])
    block(
        {"type": "tool_use", "id": "toolu_1", "name": "note", "input": {}},
        [{"type": "input_json_delta", "partial_json": piece} for piece in _argument_pieces(calls)],
    )
    stop = {"stop_reason": "tool_use", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": deltas}})
    events.append({"type": "message_stop"})
    return events


def chat_payloads(deltas: int, *, only_arguments: bool = False) -> list[dict[str, object]]:
    """The chunks of one answer on the OpenAI chat wire, thinking in `reasoning_content`."""
    thinking, text, calls = (0, 0, deltas) if only_arguments else _shares(deltas)

    def chunk(delta: dict[str, object], finish: str | None = None) -> dict[str, object]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1760000000,
                "model": "bench", "system_fingerprint": "fp_1", "choices": [choice]}  # fmt: skip

    def call(fields: dict[str, object]) -> dict[str, object]:
        return chunk({"tool_calls": [{"index": 0, **fields}]})

    events = [chunk({"role": "assistant", "content": None, "reasoning_content": ""})]
    events += [chunk({"content": None, "reasoning_content": _word(i)}) for i in range(thinking)]
    events += [chunk({"content": _word(i)}) for i in range(text)]
    events.append(call({"id": "call_1", "type": "function", "function": {"name": "note", "arguments": ""}}))
    events += [call({"function": {"arguments": piece}}) for piece in _argument_pieces(calls)]
    events.append(chunk({}, "tool_calls"))
    usage = {"prompt_tokens": 25, "completion_tokens": deltas, "total_tokens": 25 + deltas}
    events.append({**chunk({}), "choices": [], "usage": usage})
    return events


def gemini_payloads(deltas: int, *, only_arguments: bool = False) -> list[dict[str, object]]:
    """The chunks of one answer on the Gemini wire, with running counts; arguments stream as Vertex AI streams them."""
    thinking, text, calls = (0, 0, deltas) if only_arguments else _shares(deltas)
    counts = {"promptTokenCount": 25, "candidatesTokenCount": 0, "totalTokenCount": 25, "thoughtsTokenCount": 0}

    def chunk(part: dict[str, object], **end: str) -> dict[str, object]:
        counts["thoughtsTokenCount" if part.get("thought") else "candidatesTokenCount"] += 1
        counts["totalTokenCount"] += 1
        candidate = {"content": {"parts": [part], "role": "model"}, "index": 0, **end}
        return {"candidates": [candidate], "usageMetadata": dict(counts), "modelVersion": "gemini-bench",
                "responseId": "r1"}  # fmt: skip

    def call(**fields: object) -> dict[str, object]:
        return chunk({"functionCall": fields})

    events = [chunk({"text": _word(i), "thought": True}) for i in range(thinking)]
    events += [chunk({"text": _word(i)}) for i in range(text)]
    events.append(chunk({"functionCall": {"name": "note", "willContinue": True}, "thoughtSignature": SIGNATURE}))
    events += [
        call(partialArgs=[{"jsonPath": "$.text", "stringValue": _word(i), "willContinue": True}], willContinue=True)
        for i in range(calls)
    ]
    events.append(call())
    events.append(chunk({"text": ""}, finishReason="STOP"))
    return events


def responses_payloads(deltas: int, *, only_arguments: bool = False) -> list[dict[str, object]]:
    """The events of one answer on the OpenAI Responses wire."""
    thinking, text, calls = (0, 0, deltas) if only_arguments else _shares(deltas)
    response: dict[str, object] = {"id": "resp_1", "object": "response", "model": "bench", "status": "in_progress",
                                   "error": None, "output": [], "usage": None}  # fmt: skip
    events: list[dict[str, object]] = [{"type": "response.created", "response": response}]
    output: list[dict[str, object]] = []

    def item(start: dict[str, object], done: dict[str, object], delta: dict[str, object], pieces: list[str]) -> None:
        of: dict[str, object] = {"item_id": start["id"], "output_index": len(output)}
        events.append({"type": "response.output_item.added", **of, "item": start})
        events.extend({**delta, **of, "delta": piece, "obfuscation": "x9TzQ1"} for piece in pieces)
        events.append({"type": "response.output_item.done", **of, "item": {**start, **done}})
        output.append({**start, **done})

    if thinking:
        pieces = [_word(i) for i in range(thinking)]
        summary = [{"type": "summary_text", "text": "".join(pieces)}]
        item({"id": "rs_1", "type": "reasoning", "summary": []},
             {"summary": summary, "encrypted_content": SIGNATURE},
             {"type": "response.reasoning_summary_text.delta", "summary_index": 0}, pieces)  # fmt: skip
    if text:
        pieces = [_word(i) for i in range(text)]
        content = [{"type": "output_text", "text": "".join(pieces), "annotations": []}]
        item({"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []},
             {"status": "completed", "content": content},
             {"type": "response.output_text.delta", "content_index": 0, "logprobs": []}, pieces)  # fmt: skip
    pieces = _argument_pieces(calls)
    item({"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "note", "arguments": ""},
         {"arguments": "".join(pieces), "status": "completed"},
         {"type": "response.function_call_arguments.delta"}, pieces)  # fmt: skip
    usage = {"input_tokens": 25, "output_tokens": deltas, "total_tokens": 25 + deltas}
    end = {**response, "status": "completed", "output": output, "usage": usage}
    events.append({"type": "response.completed", "response": end})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _sse(payload: dict[str, object], name: str | None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(payload, separators=(',', ':'))}\n\n".encode()


def anthropic_pieces(deltas: int, *, only_arguments: bool = False) -> list[bytes]:
    """The same answer as the bytes of its events."""
    payloads = anthropic_payloads(deltas, only_arguments=only_arguments)
    return [_sse(payload, str(payload["type"])) for payload in payloads]


def chat_pieces(deltas: int, *, only_arguments: bool = False) -> list[bytes]:
    """The same answer as the bytes of its chunks."""
    payloads = chat_payloads(deltas, only_arguments=only_arguments)
    return [*(_sse(payload, None) for payload in payloads), b"data: [DONE]\n\n"]


def gemini_pieces(deltas: int, *, only_arguments: bool = False) -> list[bytes]:
    """The same answer as the bytes of its chunks, with the line ends that Google sends."""
    payloads = gemini_payloads(deltas, only_arguments=only_arguments)
    return [_sse(payload, None).replace(b"\n", b"\r\n") for payload in payloads]


def responses_pieces(deltas: int, *, only_arguments: bool = False) -> list[bytes]:
    """The same answer as the bytes of its events."""
    payloads = responses_payloads(deltas, only_arguments=only_arguments)
    return [_sse(payload, str(payload["type"])) for payload in payloads]


def _bedrock_events(deltas: int, only_arguments: bool) -> list[tuple[str, dict[str, object]]]:
    """Names and payloads of one answer, padded as the service pads them."""
    thinking, text, calls = (0, 0, deltas) if only_arguments else _shares(deltas)
    events: list[tuple[str, dict[str, object]]] = [("messageStart", {"role": "assistant"})]

    def block(index: int, pieces: list[dict[str, object]]) -> None:
        events.extend(("contentBlockDelta", {"contentBlockIndex": index, "delta": piece}) for piece in pieces)
        events.append(("contentBlockStop", {"contentBlockIndex": index}))

    if thinking:
        thoughts: list[dict[str, object]] = [{"reasoningContent": {"text": _word(i)}} for i in range(thinking)]
        block(0, [*thoughts, {"reasoningContent": {"signature": SIGNATURE}}])
    if text:
        block(1, [{"text": _word(i)} for i in range(text)])
    start = {"toolUse": {"toolUseId": "tooluse_1", "name": "note"}}
    events.append(("contentBlockStart", {"contentBlockIndex": 2, "start": start}))
    block(2, [{"toolUse": {"input": piece}} for piece in _argument_pieces(calls)])
    events.append(("messageStop", {"stopReason": "tool_use"}))
    usage = {"inputTokens": 25, "outputTokens": deltas, "totalTokens": 25 + deltas}
    events.append(("metadata", {"usage": usage, "metrics": {"latencyMs": 9}}))
    return [
        (name, {**payload, "p": "abcdefghijklmnop"[: place % 16 + 1]}) for place, (name, payload) in enumerate(events)
    ]


def bedrock_payloads(deltas: int, *, only_arguments: bool = False) -> list[dict[str, object]]:
    """The events of one answer of Bedrock's Converse."""
    return [payload for _, payload in _bedrock_events(deltas, only_arguments)]


def bedrock_pieces(deltas: int, *, only_arguments: bool = False) -> list[bytes]:
    """The same answer as the frames of its events."""
    return [
        event_frame(name, json.dumps(payload, separators=(",", ":")).encode())
        for name, payload in _bedrock_events(deltas, only_arguments)
    ]


Payloads = Callable[..., list[dict[str, object]]]
Pieces = Callable[..., list[bytes]]

WIRES: dict[str, tuple[Payloads, Pieces]] = {
    "anthropic-messages": (anthropic_payloads, anthropic_pieces),
    "bedrock-converse": (bedrock_payloads, bedrock_pieces),
    "gemini": (gemini_payloads, gemini_pieces),
    "openai-chat": (chat_payloads, chat_pieces),
    "openai-responses": (responses_payloads, responses_pieces),
}
