"""One check tells whether a captured answer is read by the rules, whatever the network does to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from thinkaloud.content import AssistantBlock, Thinking, ToolCall
from thinkaloud.errors import MalformedStream, Overloaded
from thinkaloud.events import StreamEvent
from thinkaloud.protocols.captured import parse_events
from thinkaloud.testing import Failure, Reply, conformance, encode_stream, encode_whole, recording_rules

ANSWER: list[str | AssistantBlock] = [
    Thinking("Hm, größe?"),
    "So it is.",
    ToolCall("call_1", name="add", arguments_json='{"a": 1}'),
]
BOTH = pytest.mark.parametrize("protocol", ["anthropic-messages", "bedrock-converse", "openai-chat"])


@BOTH
def test_an_answer_that_keeps_the_rules_passes_and_gives_its_message(protocol: str) -> None:
    message = conformance(protocol, b"".join(encode_stream(protocol, Reply(ANSWER))))
    assert message.text == "So it is."
    assert len(message.tool_calls) == 1


@BOTH
def test_an_answer_that_fails_inside_passes_and_gives_what_had_come(protocol: str) -> None:
    reply = Reply(ANSWER, error=Failure(Overloaded))
    assert conformance(protocol, b"".join(encode_stream(protocol, reply))).text == "So it is."


@BOTH
def test_a_whole_body_passes(protocol: str) -> None:
    assert conformance(protocol, encode_whole(protocol, Reply(ANSWER))).text == "So it is."


def broken(monkeypatch: pytest.MonkeyPatch, read: Any) -> None:
    monkeypatch.setattr(recording_rules, "parse_events", read)


def test_reading_that_depends_on_the_cuts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(protocol: str, pieces: Iterable[bytes], **how: Any) -> Iterator[StreamEvent]:
        yield from parse_events(protocol, [piece for piece in pieces if len(piece) > 1], **how)

    broken(monkeypatch, careless)
    with pytest.raises(AssertionError, match="the answer is another one"):
        conformance("anthropic-messages", b"".join(encode_stream("anthropic-messages", Reply(ANSWER))))


def test_events_that_break_the_rules_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(protocol: str, pieces: Iterable[bytes], **how: Any) -> Iterator[StreamEvent]:
        yield from reversed(list(parse_events(protocol, pieces, **how)))

    broken(monkeypatch, careless)
    with pytest.raises(AssertionError):
        conformance("anthropic-messages", b"".join(encode_stream("anthropic-messages", Reply(ANSWER))))


def test_an_early_end_that_is_called_malformed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"".join(encode_stream("anthropic-messages", Reply(ANSWER)))

    def careless(protocol: str, pieces: Iterable[bytes], **how: Any) -> Iterator[StreamEvent]:
        given = b"".join(pieces)
        if given != body:
            raise MalformedStream("it ends early")
        yield from parse_events(protocol, [given], **how)

    broken(monkeypatch, careless)
    with pytest.raises(AssertionError, match=r"cut off after .* fails as .*MalformedStream"):
        conformance("anthropic-messages", body)


@pytest.mark.parametrize("body", [b"", b"\n\n", b"<html>", b"nonsense", b"data: {}\n\n"])
@pytest.mark.parametrize(
    "protocol", ["anthropic-messages", "bedrock-converse", "gemini", "openai-chat", "openai-responses"]
)
def test_a_body_that_is_no_answer_is_refused(protocol: str, body: bytes) -> None:
    with pytest.raises(AssertionError, match=f"no whole answer .* is '{protocol}' the right protocol"):
        conformance(protocol, body)


@pytest.mark.parametrize("protocol", ["bedrock-converse", "gemini", "openai-chat", "openai-responses"])
@pytest.mark.parametrize("encode", [encode_stream, encode_whole])
def test_an_answer_of_another_protocol_is_refused(protocol: str, encode: Any) -> None:
    made = encode("anthropic-messages", Reply(ANSWER))
    with pytest.raises(AssertionError, match=r"the right protocol\?"):
        conformance(protocol, made if isinstance(made, bytes) else b"".join(made))


def test_an_answer_that_was_cut_off_is_refused() -> None:
    body = b"".join(encode_stream("anthropic-messages", Reply(ANSWER)))
    with pytest.raises(AssertionError, match="without message_stop"):
        conformance("anthropic-messages", body[: len(body) // 2])


def test_a_failure_that_the_provider_tells_is_an_answer() -> None:
    message = conformance("openai-chat", b'{"error": {"message": "no such model", "code": 404}}', status=404)
    assert message.content == ()
