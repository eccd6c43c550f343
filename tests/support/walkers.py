"""Naive readers of raw payloads, one per wire: what the parsers are measured against.

A walker keeps whatever text, calls and opaque strings have gone by. It shares no code with the parsers, knows nothing
of events, and is short enough to be checked by eye.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from attrs import define, field, frozen


@frozen
class Collected:
    """What there is of an answer, kind by kind.

    calls: (id, name, arguments as text).
    opaque: signatures, payloads and encrypted data, in order of first arrival.
    others: the type names of blocks that the library does not model.
    order: "thinking" and "text", the ids of calls and the names of others, in order of first arrival.
    """

    thinking: str = ""
    text: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    opaque: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    order: tuple[str, ...] = ()


class Walker(Protocol):
    """A reader of payloads.

    ended: the terminal signal went by.
    failed: an error went by.
    closed: ids of the calls that the wire has called finished.
    """

    ended: bool
    failed: bool
    closed: set[str]

    def add(self, payload: str) -> None: ...
    def collected(self) -> Collected: ...


@define
class AnthropicWalker:
    """Messages API: blocks by index, from `content_block_*` events."""

    ended: bool = False
    failed: bool = False
    closed: set[str] = field(factory=set)
    blocks: dict[int, dict[str, Any]] = field(factory=dict)

    def add(self, payload: str) -> None:
        event = json.loads(payload)
        match event.get("type"):
            case "content_block_start":
                self.blocks[event["index"]] = {"pieces": [], **event["content_block"]}
            case "content_block_delta":
                block, delta = self.blocks[event["index"]], event["delta"]
                block["pieces"] += [delta[key] for key in ("thinking", "text", "partial_json") if key in delta]
                block["signature"] = delta.get("signature") or block.get("signature")
            case "content_block_stop":
                self.closed.add(self.blocks[event["index"]].get("id", ""))
            case "message_delta":
                self.ended |= bool(event["delta"].get("stop_reason"))
            case "message_stop":
                self.ended = True
            case "error":
                self.failed = True

    def collected(self) -> Collected:
        def of(*kinds: str) -> list[dict[str, Any]]:
            return [block for block in self.blocks.values() if block["type"] in kinds]

        return Collected(
            thinking="".join(block["thinking"] + "".join(block["pieces"]) for block in of("thinking")),
            text="".join(block["text"] + "".join(block["pieces"]) for block in of("text")),
            calls=tuple((block["id"], block["name"], "".join(block["pieces"])) for block in of("tool_use")),
            opaque=tuple(
                opaque
                for block in of("thinking", "redacted_thinking")
                if (opaque := block.get("signature") or block.get("data"))
            ),
            others=tuple(
                block["type"]
                for block in self.blocks.values()
                if block["type"] not in ("thinking", "text", "tool_use", "redacted_thinking")
            ),
            order=first_arrivals(
                block["id"] if block["type"] == "tool_use" else block["type"].removeprefix("redacted_")
                for block in self.blocks.values()
            ),
        )


@define
class ChatWalker:
    """Chat completions: the fields of `choices[].delta`, details before plain reasoning fields.

    The wire does not tell that a call is finished before the answer is.
    """

    ended: bool = False
    failed: bool = False
    closed: set[str] = field(factory=set)
    thinking: list[str] = field(factory=list)
    text: list[str] = field(factory=list)
    calls: dict[int, list[str]] = field(factory=dict)
    opaque: dict[tuple[str, int, str], str] = field(factory=dict)
    order: list[str] = field(factory=list)

    def add(self, payload: str) -> None:
        if payload.startswith("[DONE]"):
            self.ended = True
            return
        chunk = json.loads(payload)
        self.failed |= bool(chunk.get("error"))
        for choice in () if self.failed else chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            details = delta.get("reasoning_details") or ()
            for detail in details:
                self._think(detail.get("text") or detail.get("summary") or "")
                for name in ("signature", "data"):
                    if detail.get(name):
                        self.opaque[detail["type"], detail["index"], name] = detail[name]
                        self.order.append("thinking")
            if not details:
                self._think(delta.get("reasoning_content") or delta.get("reasoning") or "")
            content = delta.get("content") or ""
            parts: list[dict[str, Any]] = content if isinstance(content, list) else [{"text": content}]
            for part in parts:
                self._think("".join(piece["text"] for piece in part.get("thinking") or ()))
                self.text.append(part.get("text") or "")
                self.order += ["text"] if part.get("text") else []
            for call in delta.get("tool_calls") or ():
                slot = self.calls.setdefault(call["index"], ["", "", ""])
                function = call.get("function") or {}
                slot[0] = slot[0] or call.get("id") or ""
                slot[1] = slot[1] or function.get("name") or ""
                slot[2] += function.get("arguments") or ""
                self.order.append(slot[0])
            self.ended |= bool(choice.get("finish_reason"))

    def _think(self, text: str) -> None:
        self.thinking.append(text)
        self.order += ["thinking"] if text else []

    def collected(self) -> Collected:
        return Collected(
            thinking="".join(self.thinking),
            text="".join(self.text),
            calls=tuple((call[0], call[1], call[2]) for call in self.calls.values()),
            opaque=tuple(self.opaque.values()),
            order=first_arrivals(self.order),
        )


def first_arrivals(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once."""
    return tuple(dict.fromkeys(names))


_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")


def event_ends(body: bytes) -> list[int]:
    """Where the events of a stream end: offsets right after each blank line, or after each frame of Amazon's."""
    if body[:1] == b"\0":
        return [end for _, end in frames(body)]
    return [match.end() for match in _BLANK_LINE.finditer(body)]


def payloads(body: bytes) -> list[str]:
    """The payloads in a stream of server-sent events that may be cut: a last one that is not whole is left out."""
    if body[:1] == b"\0":
        return [_named_payload(body[start:end]) for start, end in frames(body)]
    found = []
    for block in _BLANK_LINE.split(body):
        lines = re.split(rb"\r\n|\n|\r", block)
        data = b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))
        errors = [line[6:] for line in lines if line.startswith(b"error:")]
        payload = (data or b"\n".join(errors)).decode("utf-8", "replace")
        if payload and is_whole(payload):
            found.append(payload)
    return found


def frames(body: bytes) -> list[tuple[int, int]]:
    """Start and end of each frame in an Amazon event stream that may be cut, by the lengths alone."""
    found, start = [], 0
    while start + 12 <= len(body) and (end := start + int.from_bytes(body[start : start + 4], "big")) <= len(body):
        found.append((start, end))
        start = end
    return found


_FRAME_NAME = re.compile(rb":(?:event|exception)-type\x07\x00.([a-zA-Z]+)", re.DOTALL)


def _named_payload(frame: bytes) -> str:
    """The payload of a frame under the name of its event; that of a chunk is what is packed inside."""
    headers_end = 12 + int.from_bytes(frame[4:8], "big")
    (name,) = _FRAME_NAME.findall(frame[12:headers_end])
    payload = frame[headers_end:-4].decode()
    if name == b"chunk":
        return b64decode(json.loads(payload)["bytes"]).decode()
    return f'{{"{name.decode()}": {payload}}}'


def is_whole(payload: str) -> bool:
    """Whether a payload is not cut."""
    if payload.startswith("[DONE]"):
        return True
    try:
        json.loads(payload)
    except ValueError:
        return False
    return True


def walk(walker: Callable[[], Walker], body: bytes) -> Walker:
    """Lead a new walker over a body."""
    walking = walker()
    for payload in payloads(body):
        walking.add(payload)
    return walking
