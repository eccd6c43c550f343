"""What the real front-end clients make of our streams: the `ai` package, `@ag-ui/client`, and AG-UI's Python models.

They are installed with `npm ci` in `tests/ui_clients`, in pinned versions, and are given every stream in one process
each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

import thinkaloud as ta
from support.reading import Outcome, one_piece, read
from support.shared import cases
from support.streams import LITERAL, STREAMS, named
from support.ui import FIRST, RESULT, SECOND, client, needs_clients, run_events, told
from support.wires import WIRES
from thinkaloud.messages import AssistantMessage, ToolResult
from thinkaloud.ui import MemoryStore, agui, failure_of, vercel
from thinkaloud.ui.encoder import AnswerEncoder, is_runnable

VERCEL = ("ai-5", "ai-6", "ai-7")
AGUI = {"@ag-ui/client": "1.0", "ag-ui-client-0": None}

Answer = tuple[AssistantMessage | ToolResult, ...]


@frozen
class Told:
    """A body for a client, and what it was made of."""

    name: str
    body: bytes
    messages: Answer
    error: BaseException | None


# what is told


@cache
def outcomes() -> dict[str, Outcome]:
    """Every literal stream, recording and case, read to its end."""
    found = {named(stream): read(stream.wire, one_piece(stream.body), provider=stream.provider) for stream in STREAMS}
    wires = {wire.id for wire in WIRES}
    streamed = (case for case in cases() if case.has_stream and case.wire in wires)
    return {**found, **{f"case/{case.name}": read(case.wire, case.pieces) for case in streamed}}


def bodies(make: Any) -> Iterator[Told]:
    """All outcomes as bodies; the literal ones also with their signatures, and broken off at several places."""
    for name, outcome in outcomes().items():
        yield _told(name, make(), outcome.events, outcome.error)
    for stream in LITERAL[:-5]:  # the last ones are long
        name, events = named(stream), outcomes()[named(stream)].events
        yield _told(f"{name}/signed", make(include_signatures=True), events, outcomes()[name].error)
        for quarter in range(4):
            place = 1 + quarter * len(events) // 4
            error = ta.StreamAborted() if quarter % 2 else ta.ServerError("host-7")
            yield _told(f"{name}/cut at {place}", make(), events[:place], error)
    yield _told("a tool loop", make(), run_events(FIRST, RESULT, SECOND), None)
    yield _told("a call id used again", make(), run_events(FIRST, RESULT, FIRST, RESULT, SECOND), None)
    failed = ta.ToolResult("call_1", "no network", is_error=True)
    yield _told("a tool that fails", make(), run_events(FIRST, failed, SECOND), None)


def _told(name: str, encoder: AnswerEncoder, events: Any, error: BaseException | None) -> Told:
    body = told(encoder, events, error)
    return Told(name, body, encoder.messages, error)


def _streams(bodies: list[Told]) -> list[dict[str, Any]]:
    return [{"name": each.name, "body": each.body.decode("ascii")} for each in bodies]


# what is wanted


def parts_of(messages: Answer) -> list[tuple[Any, ...]]:
    """An answer as the parts of a UI message."""
    parts: list[tuple[Any, ...]] = []
    for message in messages:
        for block in message.content if isinstance(message, AssistantMessage) else ():
            match block:
                case ta.Thinking():
                    parts.append(("reasoning", block.text))
                case ta.Text():
                    parts.append(("text", block.text))
                case ta.ToolCall():
                    parts.append((f"tool-{block.name}", block.arguments if is_runnable(block) else None))
                case _:
                    pass
    return parts


def shown_parts(message: dict[str, Any]) -> list[tuple[Any, ...]]:
    parts: list[tuple[Any, ...]] = []
    for part in message["parts"]:
        if part["type"] in ("reasoning", "text"):
            assert part["state"] == "done"
            parts.append((part["type"], part["text"]))
        elif part["type"].startswith("tool-"):
            broken = part["state"] == "output-error" and not isinstance(part.get("input"), dict)
            parts.append((part["type"], None if broken else part["input"]))
    return parts


@needs_clients
@pytest.mark.parametrize("library", VERCEL)
def test_the_ai_package_reads_every_stream(library: str, tmp_path: Path) -> None:
    store = MemoryStore()
    given = list(bodies(lambda **options: vercel.Encoder(message_id="M", **options)))
    for each, seen in zip(given, client("read-vercel", library, _streams(given), tmp_path), strict=True):
        assert seen.get("error") is None, each.name
        failed = each.error is not None and not isinstance(each.error, ta.StreamAborted)
        assert seen["errors"] == ([failure_of(each.error).text] if failed and each.error else []), each.name
        assert (seen["open"], seen["valid"], seen["message"]["id"]) == (0, True, "M"), each.name
        if not _has_odd_numbers(each.messages):
            assert shown_parts(seen["message"]) == parts_of(each.messages), each.name
        store.save("M", each.messages)
        request = [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}, seen["message"]]
        if each.messages:
            assert vercel.parse_messages(request, store=store).messages[1:] == each.messages, each.name


def _has_odd_numbers(messages: Answer) -> bool:
    """JavaScript has no whole numbers beyond 2**53."""
    text = "".join(call.arguments_json for m in messages if isinstance(m, AssistantMessage) for call in m.tool_calls)
    return any(len(digits) > 15 and digits.isdecimal() for digits in text.replace("}", " ").replace(",", " ").split())


@needs_clients
@pytest.mark.parametrize("library", AGUI)
def test_the_agui_client_reads_every_stream(library: str, tmp_path: Path) -> None:
    version = AGUI[library]
    store = MemoryStore()
    given = list(
        bodies(
            lambda **options: agui.Encoder(
                message_id="M", thread_id="t1", run_id="r1", protocol_version=version, **options
            )
        )
    )
    for each, seen in zip(given, client("read-agui", library, _streams(given), tmp_path), strict=True):
        assert seen["warned"] == [], each.name
        aborted = isinstance(each.error, ta.StreamAborted)
        ends = "RUN_ERROR" if each.error and not (aborted and version) else "RUN_FINISHED"
        assert seen["last"]["type"] == ends, each.name
        if ends == "RUN_FINISHED":
            assert seen.get("failed") is None, each.name
        assert shown_messages(seen["messages"]) == messages_of(each.messages), each.name
        store.save("M", each.messages)
        asked = {"id": "u", "role": "user", "content": "Hi"}
        request = {"threadId": "t1", "runId": "r2", "messages": [asked, *seen["messages"]]}
        if any(message["role"] in ("assistant", "reasoning") for message in seen["messages"]):
            assert agui.parse_input(request, store=store).messages[1:] == each.messages, each.name


def messages_of(messages: Answer) -> list[tuple[str, str]]:
    """An answer as what AG-UI messages say, in order."""
    said: list[tuple[str, str]] = []
    for message in messages:
        for block in message.content if isinstance(message, AssistantMessage) else ():
            match block:
                case ta.Thinking():
                    said.append(("reasoning", block.text))
                case ta.Text():
                    said.append(("assistant", block.text))
                case ta.ToolCall():
                    said.append((block.name, block.arguments_json))
                case _:
                    pass
    return said


def shown_messages(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    said: list[tuple[str, str]] = []
    for message in messages:
        if message["role"] in ("assistant", "reasoning") and "content" in message:
            said.append((message["role"], message["content"]))
        calls = [call["function"] for call in message.get("toolCalls", ())]
        said += [(function["name"], function["arguments"]) for function in calls]
    return said


def test_the_models_of_agui_take_every_event() -> None:
    core = pytest.importorskip("ag_ui.core", reason="ag-ui-protocol is not installed")
    pydantic = pytest.importorskip("pydantic")
    adapter = pydantic.TypeAdapter(core.Event)
    count = 0
    for each in bodies(lambda **options: agui.Encoder(**options)):
        for frame in each.body.split(b"\n\n")[:-1]:
            adapter.validate_json(frame.removeprefix(b"data: "))
            count += 1
    assert count > 1000


@pytest.mark.parametrize("make", [vercel.Encoder, agui.Encoder])
def test_no_opaque_value_leaves_the_server(make: Any) -> None:
    for name, outcome in outcomes().items():
        encoder = make()
        body = told(encoder, outcome.events, outcome.error)
        for message in encoder.messages:
            for value in opaque_values(message):
                assert value.encode() not in body, name


def opaque_values(message: Any) -> Iterator[str]:
    for block in message.content:
        for value in (getattr(block, "signature", None), getattr(block, "redacted_data", None)):
            if value and len(value) > 8:
                yield value


# the clients bite


def _frames(*chunks: str) -> str:
    return "".join(f"data: {chunk}\n\n" for chunk in chunks)


START = '{"type":"start","messageId":"M"}'
TEXT = '{"type":"text-start","id":"0.0"}'
END = '{"type":"text-end","id":"0.0"}'

UNREADABLE_BY_AI = {
    "an unknown type": _frames(START, '{"type":"thinkaloud"}'),
    "a delta without a start": _frames(START, '{"type":"text-delta","id":"0.0","delta":"x"}'),
    "an end given twice": _frames(START, TEXT, END, END),
    "null for what is not there": _frames(START, '{"type":"text-start","id":"0.0","providerMetadata":null}'),
    "flat metadata": _frames(START, TEXT, '{"type":"text-end","id":"0.0","providerMetadata":{"signature":"x"}}'),
    "a number as id": _frames(START, '{"type":"text-start","id":0}'),
    "our own stop reason": _frames(START, '{"type":"finish","finishReason":"stop_sequence"}'),
    "an output without its call": _frames(START, '{"type":"tool-output-available","toolCallId":"c","output":1}'),
}

RUN = '{"type":"RUN_STARTED","threadId":"t1","runId":"r1"}'
OVER = '{"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}'
THOUGHT = '{"type":"REASONING_MESSAGE_START","messageId":"a","role":"reasoning"}'
SAID = '{"type":"TEXT_MESSAGE_START","messageId":"b","role":"assistant"}'

UNREADABLE_BY_AGUI = {
    "no start of the run": _frames(OVER),
    "no end of the run": _frames(RUN),
    "a text that is open": _frames(RUN, SAID, OVER),
    "thinking that is open": _frames(RUN, THOUGHT, OVER),
    "a call that is open": _frames(RUN, '{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}', OVER),
    "a step that is open": _frames(RUN, '{"type":"STEP_STARTED","stepName":"0"}', OVER),
    "an event after the error": _frames(RUN, '{"type":"RUN_ERROR","message":"x"}', SAID),
    "thinking without its role": _frames(RUN, '{"type":"REASONING_MESSAGE_START","messageId":"a"}', OVER),
    "CRLF": (_frames(RUN) + _frames(OVER)).replace("\n", "\r\n"),
}


@needs_clients
@pytest.mark.parametrize("library", VERCEL)
def test_the_ai_package_refuses_what_is_wrong(library: str, tmp_path: Path) -> None:
    given = [{"name": name, "body": body} for name, body in UNREADABLE_BY_AI.items()]
    for seen in client("read-vercel", library, given, tmp_path):
        assert seen.get("error") or seen["errors"], seen["name"]


@needs_clients
def test_the_agui_client_refuses_what_is_wrong(tmp_path: Path) -> None:
    given = [{"name": name, "body": body} for name, body in UNREADABLE_BY_AGUI.items()]
    for seen in client("read-agui", "@ag-ui/client", given, tmp_path):
        assert seen.get("failed"), seen["name"]


# whole chats


@needs_clients
@pytest.mark.parametrize("library", VERCEL)
def test_a_chat_goes_on_with_a_tool_of_the_browser_and_sends_a_history_that_we_read(
    library: str, tmp_path: Path
) -> None:
    store = MemoryStore()
    given = [
        (vercel.Encoder(message_id="M", store=store), run_events(FIRST)),
        (vercel.Encoder(message_id="M", store=store, earlier=(FIRST, RESULT)), run_events(SECOND)),
        (vercel.Encoder(message_id="N", store=store), run_events(SECOND)),
    ]
    streams: list[dict[str, Any]] = [{"body": told(*each).decode()} for each in given]
    streams[0]["output"] = {"call_1": "4"}
    chat = client("chat-vercel", library, streams, tmp_path)
    assert [turn["status"] for turn in chat["seen"]] == ["ready", "ready"]
    assert [message["role"] for message in chat["messages"]] == ["user", "assistant", "user", "assistant"]
    assert shown_parts(chat["messages"][1]) == parts_of((FIRST, RESULT, SECOND))
    first, going_on, last = chat["requests"]
    assert vercel.parse_messages(first) == ta.Conversation("turn 1")
    later = MemoryStore()
    later.save("M", (FIRST,))
    request = vercel.read_request(going_on, store=later)
    assert request.conversation.messages == (ta.UserMessage("turn 1"), FIRST, RESULT)
    assert request.continues == "M"
    read_last = vercel.parse_messages(last, store=store).messages
    assert read_last == (ta.UserMessage("turn 1"), FIRST, RESULT, SECOND, ta.UserMessage("turn 3"))


@needs_clients
@pytest.mark.parametrize("library", VERCEL)
def test_a_chat_shows_a_failure_as_an_error_with_nothing_left_open(library: str, tmp_path: Path) -> None:
    events = [ta.StreamStart(), ta.ThinkingStart(0), ta.ThinkingDelta(0, "Hm")]
    body = told(vercel.Encoder(message_id="M"), events, ta.Overloaded("host-7"))
    chat = client("chat-vercel", library, [{"body": body.decode()}], tmp_path)
    assert chat["status"] == "error"
    assert chat["seen"][0]["error"] == "The model is overloaded right now. Please try again in a moment."
    assert shown_parts(chat["messages"][-1]) == [("reasoning", "Hm")]
