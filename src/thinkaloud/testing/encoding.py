"""What every wire's encoder provides, and what it is given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from attrs import frozen

from thinkaloud.content import Thinking
from thinkaloud.errors import InvalidRequest, ProviderError, ServerError
from thinkaloud.protocols.failures import by_status
from thinkaloud.testing.reply import Failure, Reply, ScriptError
from thinkaloud.testing.request import RecordedRequest

ThinkingIn = Literal["reasoning_content", "reasoning", "reasoning_details", "content", "think_tags"]
"""Where a chat endpoint puts thinking: a field of its own, OpenRouter's list, Mistral's content parts, or tags."""


@frozen(kw_only=True)
class Asked:
    """What a request decides about the form of its answer.

    stream: the answer comes as events.
    model: the model that was asked for.
    number: place of the request in the script, from 1; makes ids.
    usage: usage was asked for (chat streams have it on request only).
    thinking_in: where thinking goes (chat only).
    """

    stream: bool = True
    model: str = "scripted"
    number: int = 1
    usage: bool = True
    thinking_in: ThinkingIn = "reasoning_content"


@frozen(kw_only=True)
class HttpError:
    """A failure in the terms of a wire."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@frozen(kw_only=True)
class WireEncoder:
    """Says replies on one wire, as a server of that protocol would.

    path: matches the end of the URL path that the protocol is served at.
    base_path: what a client's base URL has after the host.
    asked: reads out of a request, and its place in the script, what its answer must look like.
    stream: a reply as wire events.
    whole: a reply as one body.
    failure: a failure as an HTTP error; `number` as in Asked.
    request_id_header: header that names the request in every answer.
    signs_thinking: thinking has a signature on this wire, whatever the dialect.
    """

    protocol: str
    path: re.Pattern[str]
    base_path: str
    asked: Callable[[RecordedRequest, int], Asked]
    stream: Callable[[Reply, Asked], list[bytes]]
    whole: Callable[[Reply, Asked], bytes]
    failure: Callable[[Failure, int], HttpError]
    request_id_header: str
    signs_thinking: bool
    stream_type: str = "text/event-stream; charset=utf-8"


@frozen
class FailureWords:
    """How a provider says one kind of failure."""

    status: int
    type: str
    code: str | None
    message: str


def failure_words(protocol: str, table: Mapping[type[ProviderError], FailureWords], failure: Failure) -> FailureWords:
    """Find how a wire says a failure; the failure's own words win. Raises ScriptError where it has no such failure."""
    if isinstance(failure.what, int):
        status = failure.what
        fallback = table[ServerError if status >= 500 else InvalidRequest]
        meant = table.get(by_status(status).error, fallback)
        row = next((row for row in table.values() if row.status == status), meant)
    elif failure.what in table:
        row = table[failure.what]
        status = failure.status or row.status
    else:
        raise ScriptError(f"{protocol} has no way to say {failure.what.__name__}; give a status, a code and a message")
    return FailureWords(
        status,
        row.type if failure.code is None else failure.code,
        row.code if failure.code is None else failure.code,
        row.message if failure.message is None else failure.message,
    )


def http_error(words: FailureWords, failure: Failure, body: Any, headers: Mapping[str, str] | None = None) -> HttpError:
    """A failure as a wire says it. body, headers: what its provider would send; the failure's own win."""
    own = json_bytes(body) if failure.body is None else raw_body(failure.body)
    return HttpError(status=words.status, body=own, headers={**(headers or {}), **failure.headers})


def known(counts: Mapping[str, Any]) -> dict[str, Any]:
    """The counts that there are."""
    return {name: count for name, count in counts.items() if count is not None}


def redacted_payload(block: Thinking) -> str | None:
    """The payload of a redacted block; None for another one. Raises ScriptError where more than it would get lost."""
    if block.redacted_data is not None and (block.text or block.signature is not None):
        raise ScriptError("a redacted block has a payload and nothing else")
    return block.redacted_data


def json_bytes(value: Any) -> bytes:
    """Encode JSON as providers do: compact, in UTF-8; in ASCII where a lone surrogate asks for it."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def raw_body(body: bytes | Any) -> bytes:
    """A failure's own body as bytes."""
    if isinstance(body, bytes):
        return body
    return body.encode() if isinstance(body, str) else json_bytes(body)


def server_sent_event(data: Any, event: str | None = None) -> bytes:
    """Frame one JSON value, or a string as it is, as a server-sent event."""
    payload = data.encode() if isinstance(data, str) else json_bytes(data)
    name = b"" if event is None else b"event: " + event.encode() + b"\n"
    return name + b"data: " + payload + b"\n\n"


def with_error(events: Sequence[bytes], reply: Reply, error: Sequence[bytes]) -> list[bytes]:
    """Put a mid-stream error into a reply's events: after `error_after` of them, or after all the content."""
    return [*events[: reply.error_after], *error]
