"""Small literal streams of Gemini, framed as Google frames them."""

from __future__ import annotations

import json
from typing import Any

Part = dict[str, Any]


def chunk(*parts: Part, finish: str | None = None, usage: dict[str, int] | None = None, **more: Any) -> dict[str, Any]:
    """A chunk with one candidate; `more` are further fields of the candidate."""
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}, "index": 0, **more}
    if finish is not None:
        candidate["finishReason"] = finish
    counts = {} if usage is None else {"usageMetadata": usage}
    return {"candidates": [candidate], **counts, "modelVersion": "gemini-x", "responseId": "r1"}


def text(text: str, signature: str | None = None, **fields: Any) -> Part:
    return {"text": text, **fields} | ({} if signature is None else {"thoughtSignature": signature})


def thought(words: str, signature: str | None = None) -> Part:
    return text(words, signature, thought=True)


def call(name: str | None = None, signature: str | None = None, **fields: Any) -> Part:
    data = fields if name is None else {"name": name, **fields}
    return {"functionCall": data} | ({} if signature is None else {"thoughtSignature": signature})


def partial(path: str, signature: str | None = None, **value: Any) -> Part:
    """More of the arguments of the open call."""
    return call(None, signature, partialArgs=[{"jsonPath": path, **value}], willContinue=True)


def framed(*chunks: dict[str, Any]) -> bytes:
    """Frame chunks as server-sent events with the line ends that Google sends."""
    return b"".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n".encode() for chunk in chunks)


def counts(prompt: int, output: int, thoughts: int) -> dict[str, int]:
    return {
        "promptTokenCount": prompt,
        "candidatesTokenCount": output,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": prompt + output + thoughts,
    }


GEMINI = {
    "thoughts, text and a signature at the end": framed(
        chunk(thought("Two and two "), usage={"promptTokenCount": 12, "thoughtsTokenCount": 9}),
        chunk(thought("are four.")),
        chunk(text("It is ")),
        chunk(text("four, naïve 日本 😀.\u2028")),
        chunk(text("", "c2lnLW9uZQ=="), finish="STOP", usage=counts(12, 8, 20)),
    ),
    "a signed first text and unsigned ones": framed(
        chunk(thought("Hm.")),
        chunk(text("This", "c2lnbmF0dXJl+/==")),
        chunk(text(" is")),
        chunk(text(" it."), finish="STOP", usage=counts(12, 8, 20)),
    ),
    "parallel calls without ids": framed(
        chunk(thought("Both."), usage={"promptTokenCount": 12}),
        chunk(call("look", "c2lnLWNhbGw=", args={"place": "Oslo", "day": 3})),
        chunk(call("look", args={"place": "Rome"}), call("now")),
        chunk(text(""), finish="STOP", usage=counts(12, 30, 40)),
    ),
    "calls with ids, text between": framed(
        chunk(text("First this. "), call("add", "c2lnLWNhbGw=", id="c1", args={"a": 1})),
        chunk(text("Then that."), call("add", id="c2", args={"a": 2}), finish="STOP"),
    ),
    "server tools and code": framed(
        chunk({"executableCode": {"language": "PYTHON", "code": "2+2"}, "thoughtSignature": "Y29kZQ=="}),
        chunk(text("")),
        chunk({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "4"}}),
        chunk(text("Four")),
        chunk(text(".", "c2lnLW9uZQ=="), finish="STOP", groundingMetadata={"webSearchQueries": ["four"]}),
    ),
    "arguments in pieces": framed(
        chunk(call("note", "c2lnLWNhbGw=", willContinue=True)),
        chunk(partial("$.title", stringValue="Sk", willContinue=True)),
        chunk(partial("$.title", stringValue='y "blue"')),
        chunk(partial("$.body", stringValue="é😀", willContinue=True)),
        chunk(call()),
        chunk(call("now")),
        chunk(text(""), finish="STOP", usage=counts(12, 30, 0)),
    ),
    "arguments cut by the limit": framed(
        chunk(call("note", "c2lnLWNhbGw=", willContinue=True)),
        chunk(partial("$.title", stringValue="Sky and", willContinue=True)),
        chunk(text(""), finish="MAX_TOKENS"),
    ),
    "an error after some text": framed(
        chunk(text("So far ")), {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    ),
    "a malformed call after a thought": framed(chunk(thought("I look")), chunk(finish="MALFORMED_FUNCTION_CALL")),
}

LONG = framed(
    *(chunk(thought(f"thought {number}, "), usage=counts(9, 0, number)) for number in range(300)),
    *(chunk(text(f"word {number} "), usage=counts(9, number, 300)) for number in range(40)),
    chunk(text("", "c2lnLWxvbmc="), finish="STOP", usage=counts(9, 40, 300)),
)
