"""Small literal streams of the built wires: cut, truncated and checked like the recordings, without any folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from attrs import frozen

from support.bedrock_streams import BEDROCK, INVOKED
from support.bedrock_streams import LONG as LONG_CONVERSE
from support.gemini_streams import GEMINI
from support.gemini_streams import LONG as LONG_GEMINI
from support.responses_streams import LONG as LONG_RESPONSE
from support.responses_streams import RESPONSES
from support.shared import UNSET, Recording, recordings, shared_folder
from support.walkers import Walker
from support.wires import WIRES

ROWS = {wire.id: wire for wire in WIRES}


@frozen
class Stream:
    """A streamed answer to be read.

    provider: who gave it; chooses the dialect.
    every_byte: it is small enough, or chosen, to be cut off after each of its bytes.
    """

    name: str
    wire: str
    provider: str
    body: bytes
    every_byte: bool = True

    @property
    def walker(self) -> Callable[[], Walker]:
        return ROWS[self.wire].walker


def anthropic(*events: dict[str, Any]) -> bytes:
    """Frame events as the Messages API does: by name and payload."""
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode() for event in events
    )


def chat(*chunks: dict[str, Any] | str, line: str = "\n") -> bytes:
    """Frame chunks as chat completions do; a string is a payload as it stands."""
    return b"".join(
        f"data: {chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False)}{line}{line}".encode()
        for chunk in chunks
    )


def started(**usage: int) -> dict[str, Any]:
    message = {"id": "msg_a", "role": "assistant", "model": "claude-x", "content": [], "usage": usage}
    return {"type": "message_start", "message": message}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """A content block from its start to its stop."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def thought(index: int, signature: str, *pieces: str) -> list[dict[str, Any]]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    return block(
        index,
        {"type": "thinking", "thinking": "", "signature": ""},
        *deltas,
        {"type": "signature_delta", "signature": signature},
    )


def said(index: int, *pieces: str) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in pieces))


def called(index: int, id: str, name: str, *pieces: str, kind: str = "tool_use") -> list[dict[str, Any]]:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, {"type": kind, "id": id, "name": name, "input": {}}, *deltas)


def stopped(reason: str, **usage: int) -> list[dict[str, Any]]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "chatcmpl-a", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def call(index: int, arguments: str, **first: str) -> dict[str, Any]:
    """A fragment of a tool call; the first one also has its id and name."""
    function = {"arguments": arguments} | ({"name": first["name"]} if first else {})
    return {"index": index, "function": function} | ({"id": first["id"], "type": "function"} if first else {})


COUNTED = {"id": "chatcmpl-a", "choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 30}}

ANTHROPIC = {
    "thinking, text and a call": anthropic(
        started(input_tokens=20, cache_read_input_tokens=4, output_tokens=1),
        {"type": "ping"},
        *thought(0, "c2lnbmF0dXJl+/==", "Two and two", " are ", "four. "),
        *said(1, "Let me check: ", "naïve 日本 😀."),
        *called(2, "toolu_a", "add", '{"a": 2, ', '"b": ', "2}"),
        *stopped("tool_use", output_tokens=57),
    ),
    "withheld, redacted and signed thinking": anthropic(
        started(input_tokens=9, output_tokens=1),
        *thought(0, "c2lnLW9uZQ=="),
        *block(1, {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="}),
        *thought(2, "c2lnLXR3bw==", "Visible again."),
        *called(3, "toolu_b", "now"),
        *stopped("tool_use", output_tokens=12),
    ),
    "a server's own tool": anthropic(
        started(input_tokens=9, output_tokens=1),
        *called(0, "srvtoolu_a", "web_search", '{"query": ', '"sky"}', kind="server_tool_use"),
        *block(1, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_a", "content": [{"title": "Sky"}]}),
        *said(2, "Blue", " it is."),
        *stopped("end_turn", output_tokens=33),
    ),
    "blocks that interleave": anthropic(
        started(input_tokens=9, output_tokens=1),
        called(0, "toolu_d", "add", '{"a": 1}')[0],
        said(1, "Adding.")[0],
        *called(0, "toolu_d", "add", '{"a": ', "1}")[1:3],
        *said(1, "Adding.")[1:],
        called(0, "toolu_d", "add")[-1],
        *stopped("tool_use", output_tokens=12),
    ),
    "a call cut by the limit": anthropic(
        started(input_tokens=9, output_tokens=1),
        *called(0, "toolu_c", "write", '{"path": "a.md", ', '"text": "# He'),
        *stopped("max_tokens", output_tokens=16),
    ),
    "an error after some text": anthropic(
        started(input_tokens=9, output_tokens=1),
        *said(0, "So far so good")[:-1],
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    ),
    "CRLF, comments and no space": anthropic(
        started(input_tokens=9, output_tokens=1), *said(0, "a\u2028b", "\x85c"), *stopped("end_turn", output_tokens=3)
    )
    .replace(b"\n\n", b"\n\n: still here\n\n")
    .replace(b"data: ", b"data:")
    .replace(b"\n", b"\r\n"),
}

CHAT = {
    "reasoning, text and two calls": chat(
        chunk(role="assistant", content="", reasoning_content=""),
        chunk(reasoning_content="Two calls, "),
        chunk(reasoning_content="then."),
        chunk(content="Calling "),
        chunk(content="both 😀.", reasoning_content=None),
        chunk(tool_calls=[call(0, "", id="call_a", name="add")]),
        chunk(tool_calls=[call(0, '{"a": 1')]),
        chunk(tool_calls=[call(0, "}")]),
        chunk(tool_calls=[call(1, '{"b": ', id="call_b", name="mul")]),
        chunk(tool_calls=[call(1, "2}")]),
        chunk("tool_calls"),
        COUNTED,
        "[DONE]",
    ),
    "details with a signature and a payload": chat(
        chunk(
            reasoning="See",
            reasoning_details=[{"type": "reasoning.text", "text": "See", "signature": "", "format": "f", "index": 0}],
        ),
        chunk(
            reasoning=" here",
            reasoning_details=[{"type": "reasoning.text", "text": " here", "format": "f", "index": 0}],
        ),
        chunk(reasoning_details=[{"type": "reasoning.text", "signature": "c2ln", "format": "f", "index": 0}]),
        chunk(reasoning_details=[{"type": "reasoning.encrypted", "data": "ZW5jcg==", "id": "rs_a", "index": 1}]),
        chunk(content="Seen."),
        chunk("stop", content=""),
        COUNTED,
        "[DONE]",
    ),
    "content as a list of parts": chat(
        chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Greet"}]}]),
        chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": " back."}]}]),
        chunk(content=[{"type": "thinking", "thinking": []}]),
        chunk(content="Hello"),
        chunk("stop", content=" there") | {"usage": {"prompt_tokens": 3, "completion_tokens": 9}},
        "[DONE]",
    ),
    "text, a call and text again": chat(
        chunk(content="First. "),
        chunk(tool_calls=[call(0, '{"a": ', id="call_d", name="add")]),
        chunk(content="Last."),
        chunk(tool_calls=[call(0, "1}")]),
        chunk("tool_calls"),
        "[DONE]",
    ),
    "calls before text": chat(
        chunk(tool_calls=[call(0, "{}", id="call_e", name="now")]),
        chunk(reasoning="Why not. "),
        chunk(content="Asked."),
        chunk("tool_calls"),
        "[DONE]",
    ),
    "no end marker": chat(chunk(content="Short."), chunk("stop")),
    "an end marker alone": chat(chunk(content="Short."), chunk(content=" Very."), "[DONE]"),
    "a call cut by the limit": chat(
        chunk(tool_calls=[call(0, '{"text": ', id="call_c", name="write")]),
        chunk(tool_calls=[call(0, '"# He')]),
        chunk("length"),
        "[DONE]",
    ),
    "an error after a finish reason": chat(
        chunk(reasoning="Hm"),
        chunk("length", content="It is"),
        {"error": {"code": 502, "message": "upstream closed"}, "choices": []},
        "[DONE]",
    ),
    "CRLF, comments and odd chunks": chat(
        {"id": "", "model": "", "choices": [], "prompt_filter_results": []},
        {"id": "chatcmpl-a", "model": "m", "choices": None},
        chunk(content="a\u2028b"),
        {"id": "chatcmpl-a", "choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        chunk(content="\x85c", finish_details=None),
        chunk("stop"),
        COUNTED,
        "[DONE]",
        line="\r\n",
    ).replace(b"\r\n\r\n", b"\r\n\r\n: PROCESSING\r\n\r\n"),
}

LONG = {
    "anthropic-messages": anthropic(
        started(input_tokens=9, output_tokens=1),
        *thought(0, "c2lnLWxvbmc=", *(f"thought {number}, " for number in range(300))),
        *said(1, *(f"word {number} " for number in range(40))),
        *stopped("end_turn", output_tokens=700),
    ),
    "openai-chat": chat(
        *(chunk(reasoning=f"thought {number}, ") for number in range(300)),
        *(chunk(content=f"word {number} ") for number in range(40)),
        chunk("stop"),
        COUNTED,
        "[DONE]",
    ),
    "gemini": LONG_GEMINI,
    "openai-responses": LONG_RESPONSE,
    "bedrock-converse": LONG_CONVERSE,
}

LITERAL = [
    *(Stream(name, "anthropic-messages", "anthropic", body) for name, body in ANTHROPIC.items()),
    *(Stream(name, "openai-chat", "", body) for name, body in CHAT.items()),
    *(Stream(name, "gemini", "google", body) for name, body in GEMINI.items()),
    *(Stream(name, "openai-responses", "openai", body) for name, body in RESPONSES.items()),
    *(Stream(name, "bedrock-converse", "bedrock", body) for name, body in BEDROCK.items()),
    *(Stream(name, "other", "bedrock", body) for name, body in INVOKED.items()),
    *(Stream("a long answer", wire, "", body, every_byte=False) for wire, body in LONG.items()),
]


def recorded(recording: Recording) -> Stream:
    """A recording as a stream."""
    chosen = recording.name in ROWS[recording.wire].every_byte
    return Stream(recording.name, recording.wire, recording.endpoint, recording.body, chosen)


STREAMS = [
    *LITERAL,
    *(recorded(recording) for wire in WIRES for recording in recordings(wire.id) if recording.streamed),
]
"""The literal streams, and the recorded ones where the shared folder is known."""


def named(stream: Stream) -> str:
    return f"{stream.wire}/{stream.name.replace(' ', '-')}"


def parameters(streams: Iterable[Stream] = STREAMS) -> list[ParameterSet]:
    """Streams as test parameters, with a skipped one in place of the recordings where the folder is unset."""
    found = [pytest.param(stream, id=named(stream)) for stream in streams]
    if shared_folder() is None:
        found.append(pytest.param(None, id="recordings", marks=pytest.mark.skip(reason=UNSET)))
    return found
