"""Small literal streams of Converse, frame by frame."""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from typing import Any
from zlib import crc32


def word(name: str, value: str) -> bytes:
    """A header of text."""
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value.encode())) + value.encode()


def frame(headers: dict[str, str], payload: bytes = b"") -> bytes:
    """One frame with headers of text."""
    block = b"".join(word(name, value) for name, value in headers.items())
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    body = prelude + struct.pack(">I", crc32(prelude)) + block + payload
    return body + struct.pack(">I", crc32(body))


def event(name: str, **payload: Any) -> bytes:
    """An event, padded as the service pads it."""
    data = json.dumps({**payload, "p": "abcdef"}, ensure_ascii=False).encode()
    return frame({":event-type": name, ":content-type": "application/json", ":message-type": "event"}, data)


def exception(name: str, message: str = "it broke", **payload: Any) -> bytes:
    """An exception that the service models."""
    data = json.dumps({"message": message, **payload}).encode()
    return frame({":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}, data)


def error(code: str, message: str) -> bytes:
    """A failure that the service does not model."""
    return frame({":message-type": "error", ":error-code": code, ":error-message": message})


def started() -> bytes:
    return event("messageStart", role="assistant")


def deltas(index: int, *deltas: dict[str, Any]) -> bytes:
    return b"".join(event("contentBlockDelta", contentBlockIndex=index, delta=delta) for delta in deltas)


def block(index: int, *pieces: dict[str, Any]) -> bytes:
    """A block without a start: its deltas and its stop."""
    return deltas(index, *pieces) + stopped_block(index)


def stopped_block(index: int) -> bytes:
    return event("contentBlockStop", contentBlockIndex=index)


def said(index: int, *pieces: str) -> bytes:
    return block(index, *({"text": piece} for piece in pieces))


def thought(index: int, signature: str | None, *pieces: str) -> bytes:
    texts = [{"reasoningContent": {"text": piece}} for piece in pieces]
    signed = [] if signature is None else [{"reasoningContent": {"signature": signature}}]
    return block(index, *texts, *signed)


def redacted(index: int, *pieces: str) -> bytes:
    return block(index, *({"reasoningContent": {"redactedContent": piece}} for piece in pieces))


def began(index: int, **start: Any) -> bytes:
    return event("contentBlockStart", contentBlockIndex=index, start=start)


def called(index: int, id: str, name: str, *pieces: str, **more: Any) -> bytes:
    start = began(index, toolUse={"toolUseId": id, "name": name, **more})
    return start + block(index, *({"toolUse": {"input": piece}} for piece in pieces))


def stopped(reason: str, **more: Any) -> bytes:
    return event("messageStop", stopReason=reason, **more)


def counted(input: int = 20, output: int = 57, **more: Any) -> bytes:
    usage = {"inputTokens": input, "outputTokens": output, "totalTokens": input + output, **more}
    return event("metadata", usage=usage, metrics={"latencyMs": 5})


BEDROCK = {
    "thinking, text and a call": (
        started()
        + thought(0, "c2lnbmF0dXJl+/==", "Two and two", " are ", "four. ")
        + said(1, "Let me check: ", "naïve 日本 😀.")
        + called(2, "tooluse_a", "add", '{"a": 2, ', '"b": ', "2}")
        + stopped("tool_use")
        + counted(cacheReadInputTokens=4)
    ),
    "withheld, redacted and signed thinking": (
        started()
        + thought(0, "c2lnLW9uZQ==")
        + redacted(1, "cmVkYWN0ZWQ=")
        + redacted(2, "cGllY2Ux", "cGllY2Uy")
        + thought(3, "c2lnLXR3bw==", "Visible again.")
        + called(4, "tooluse_b", "now")
        + stopped("tool_use")
        + counted()
    ),
    "an empty block, then thinking without a signature": (
        started() + said(0, "") + thought(1, None, "Hm", ".") + said(2, "So.") + stopped("end_turn") + counted()
    ),
    "blocks side by side": (
        started()
        + deltas(0, {"text": "Both "})
        + began(1, toolUse={"toolUseId": "tooluse_c", "name": "add"})
        + deltas(1, {"toolUse": {"input": '{"a"'}})
        + deltas(0, {"text": "at once."})
        + deltas(1, {"toolUse": {"input": ": 1}"}})
        + stopped_block(1)
        + stopped_block(0)
        + counted()
        + stopped("tool_use")
    ),
    "a server's own tool": (
        started()
        + called(0, "tooluse_d", "nova_code_interpreter", '{"snippet":', '"1+1"}', type="server_tool_use")
        + began(1, toolResult={"toolUseId": "tooluse_d", "type": "nova_code_interpreter_result", "status": "success"})
        + block(1, {"toolResult": [{"json": {"stdOut": "2"}}]})
        + said(2, "Two.")
        + stopped("end_turn")
        + counted()
    ),
    "a call cut by the limit": (
        started()
        + called(0, "tooluse_e", "write", '{"path": "a.md", ', '"text": "# He')
        + stopped("max_tokens")
        + counted()
    ),
    "an exception after some text": (
        started() + deltas(0, {"text": "So far so good"}) + exception("throttlingException", "slow down")
    ),
    "no counts": started() + said(0, "Short.") + stopped("end_turn"),
}

LONG = (
    started()
    + thought(0, "c2lnLWxvbmc=", *(f"thought {number}, " for number in range(300)))
    + said(1, *(f"word {number} " for number in range(40)))
    + stopped("end_turn")
    + counted()
)


def chunk(inner: dict[str, Any]) -> bytes:
    """An event of the Messages API, packed into a frame (InvokeModelWithResponseStream)."""
    return event("chunk", bytes=b64encode(json.dumps(inner, ensure_ascii=False).encode()).decode())


def _message(*blocks: list[dict[str, Any]], stop: str) -> bytes:
    opening: dict[str, Any] = {
        "id": "msg_bdrk_a",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "usage": {"input_tokens": 5},
    }
    closing = {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}}
    metrics = {"inputTokenCount": 5, "outputTokenCount": 9, "invocationLatency": 700, "firstByteLatency": 90}
    ends = {"type": "message_stop", "amazon-bedrock-invocationMetrics": metrics}
    opening["usage"] = {"input_tokens": 5}
    events = [{"type": "message_start", "message": opening}, *(event for block in blocks for event in block)]
    return b"".join(chunk(event) for event in [*events, closing, ends])


def _packed(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


INVOKED = {
    "thinking, text and a call in chunks": _message(
        _packed(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Hm, größe."},
            {"type": "signature_delta", "signature": "c2lnbmF0dXJl+/=="},
        ),
        _packed(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "So 😀."}),
        _packed(
            2,
            {"type": "tool_use", "id": "toolu_bdrk_a", "name": "add", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"a": 1}'},
        ),
        stop="tool_use",
    ),
}
