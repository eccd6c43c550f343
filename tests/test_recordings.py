"""Every recorded answer of a provider comes out as the provider's own SDK reads it.

The mapping from our message to the oracle's shape is `support.neutral`, that of the token counts is `provider_usage`
of the wire's row in `support.wires`, that of the errors is ERRORS below. Deliberate deviations are the rows of
`support.deviations`; examples that were written by hand (`authentic: false`) are held to the same.
"""

from __future__ import annotations

import copy
import re
from functools import cache

import pytest
from attrs import frozen

from support.deviations import DEVIATIONS, Deviation
from support.neutral import Neutral, known
from support.reading import Outcome, one_piece, read
from support.shared import Recording, needs_shared, parameters, recorded_wires, recordings
from support.wires import WIRES, Wire
from thinkaloud.errors import (
    AuthenticationError,
    ContextTooLong,
    InvalidRequest,
    MalformedToolCall,
    NotFound,
    ProviderError,
    QuotaExceeded,
    ServerError,
    StaleThinking,
)

ROWS = {wire.id: wire for wire in WIRES}
ALL = [recording for wire in WIRES for recording in recordings(wire.id)]
FAILED = [recording for recording in ALL if "error" in recording.expected]


def named(recording: Recording) -> str:
    return f"{recording.wire}/{recording.name}"


@frozen(kw_only=True)
class ErrorRow:
    """An SDK's exception and ours.

    sdk: the exception class of the official SDK; None where no SDK sees a failure.
    status: the HTTP status, None for an error inside a 200 stream.
    word: pattern that the error's code or message must hold.
    """

    sdk: str | None
    status: int | None = None
    word: str = ""
    ours: type[ProviderError]

    def fits(self, error: Neutral) -> bool:
        text = f"{error.get('code')} {error.get('type')} {error['message']}"
        return (
            self.sdk == error["class"]
            and self.status == error.get("status")
            and re.search(self.word, text, re.IGNORECASE) is not None
        )


# The first row that fits decides.
ERRORS = (
    ErrorRow(sdk="BadRequestError", status=400, word="context length|too_many_prompt_tokens", ours=ContextTooLong),
    ErrorRow(sdk="BadRequestError", status=400, word="required following item", ours=StaleThinking),
    ErrorRow(sdk="BadRequestError", status=400, ours=InvalidRequest),
    ErrorRow(sdk="ValidationException", status=400, word="input tokens exceeded", ours=ContextTooLong),
    ErrorRow(sdk="ClientError", status=400, word="model identifier is invalid", ours=NotFound),
    ErrorRow(sdk="AuthenticationError", status=401, ours=AuthenticationError),
    ErrorRow(sdk="NotFoundError", status=404, ours=NotFound),
    ErrorRow(sdk="RateLimitError", status=429, word="insufficient_quota", ours=QuotaExceeded),
    ErrorRow(sdk="APIError", word="insufficient_quota", ours=QuotaExceeded),
    ErrorRow(sdk="ClientError", status=400, word="maximum number of tokens allowed", ours=ContextTooLong),
    ErrorRow(sdk="ClientError", status=400, word="API key not valid", ours=AuthenticationError),
    ErrorRow(sdk="ClientError", status=404, word="NOT_FOUND", ours=NotFound),
    ErrorRow(sdk="APIError", word="tool_use_failed", ours=MalformedToolCall),
    ErrorRow(sdk="APIError", word="token limit reached", ours=InvalidRequest),
    ErrorRow(sdk=None, word="failed to decode", ours=ServerError),
)


@cache
def outcome_of(recording: Recording) -> Outcome:
    return read(
        recording.wire,
        one_piece(recording.body),
        provider=recording.endpoint,
        status=recording.status,
        headers=recording.headers,
    )


def http_status(recording: Recording, status: int | None) -> int | None:
    """The status of an HTTP error; for an error inside a stream only we name the one that it stands for."""
    return status if recording.status >= 400 else None


def ours(recording: Recording) -> Neutral:
    """What we make of a recording, in the oracle's shape."""
    wire, outcome = ROWS[recording.wire], outcome_of(recording)
    message, error = outcome.message, outcome.error
    found: Neutral = {"content": [], "usage": {}}
    if message is not None:
        found["content"] = wire.content(message)
        found["usage"] = wire.provider_usage(message.usage, recording.endpoint)
        found |= known(stop=message.raw_stop_reason)
    if error is not None:
        assert isinstance(error, ProviderError)
        found["error"] = known(kind=type(error), message=error.message, status=http_status(recording, error.status))
    return found


def theirs(recording: Recording, deviations: tuple[Deviation, ...] = DEVIATIONS) -> Neutral:
    """What the oracle makes of it, with our deliberate deviations written in."""
    expected = copy.deepcopy(recording.expected)
    for deviation in deviations:
        if deviation.concerns(recording):
            deviation.rewrite(expected)
    for entry in expected.get("content", ()):
        # OpenAI seals thinking anew for its last event; ours is that of the finished item.
        entry |= known(encrypted=next(iter(entry.pop("encrypted_also", ())), None))
    found: Neutral = {"content": expected.get("content", []), "usage": expected.get("usage", {})}
    found |= known(stop=expected.get("stop"))
    if "error" in expected:
        error = expected["error"]
        row = next(row for row in ERRORS if row.fits(error))
        found["error"] = known(kind=row.ours, message=error["message"], status=error.get("status"))
    return found


@pytest.mark.parametrize("recording", parameters(ALL, named), scope="module")
def test_content_is_what_the_oracle_reads(recording: Recording) -> None:
    assert ours(recording)["content"] == theirs(recording)["content"]


@pytest.mark.parametrize("recording", parameters(ALL, named), scope="module")
def test_stop_reason_is_the_providers_own_word(recording: Recording) -> None:
    assert ours(recording).get("stop") == theirs(recording).get("stop")


@pytest.mark.parametrize("recording", parameters(ALL, named), scope="module")
def test_usage_is_the_providers_own_count(recording: Recording) -> None:
    assert ours(recording)["usage"] == theirs(recording)["usage"]


@pytest.mark.parametrize("recording", parameters(ALL, named), scope="module")
def test_a_failure_is_typed_and_nothing_else_fails(recording: Recording) -> None:
    assert ours(recording).get("error") == theirs(recording).get("error")


@needs_shared
@pytest.mark.parametrize("deviation", DEVIATIONS, ids=lambda deviation: deviation.recordings[0])
def test_a_deviation_is_still_needed(deviation: Deviation) -> None:
    others = tuple(row for row in DEVIATIONS if row is not deviation)
    concerned = [recording for recording in ALL if deviation.concerns(recording)]
    assert concerned
    assert [named(recording) for recording in concerned if ours(recording) == theirs(recording, others)] == []


@needs_shared
@pytest.mark.parametrize("row", ERRORS, ids=lambda row: row.ours.__name__)
def test_an_error_row_is_still_needed(row: ErrorRow) -> None:
    assert any(next(row for row in ERRORS if row.fits(recording.expected["error"])) is row for recording in FAILED)


@needs_shared
def test_every_wire_is_proved() -> None:
    assert recorded_wires() == set(ROWS)


@needs_shared
@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.id)
def test_every_recording_is_run(wire: Wire) -> None:
    streamed = [recording.streamed for recording in ALL if recording.wire == wire.id]
    assert (streamed.count(True), streamed.count(False)) == (wire.streamed, wire.whole)
