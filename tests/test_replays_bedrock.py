"""Recorded answers of Bedrock go back whole, and as the provider has accepted them.

For every recording: nothing opaque gets lost, moved or reordered. For every recorded conversation: the turns that we
write from its answers are those of the request that the provider accepted, or a row of HARMLESS says why not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import frozen

from support.reading import one_piece
from support.reading import read as read_bytes
from support.shared import Recording, needs_shared, parameters, recordings
from thinkaloud.messages import AssistantMessage, Message, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.plan import prepare

Turn = list[dict[str, Any]]

# Claude through InvokeModel speaks the Messages API inside Amazon's frames.
PROTOCOLS = {"bedrock-converse": "bedrock-converse", "other": "anthropic-messages"}

ALL = [recording for wire in PROTOCOLS for recording in recordings(wire)]
BY_NAME = {recording.name: recording for recording in ALL}
ANSWERED = [recording for recording in ALL if "error" not in recording.expected]


def named(recording: Recording) -> str:
    return recording.name


def message_of(recording: Recording) -> AssistantMessage:
    return read_bytes(recording.wire, one_piece(recording.body), provider="bedrock").finished


def turn_of(recording: Recording) -> Turn:
    """What we send back of an answer, to the model that gave it."""
    answer = message_of(recording)
    results = [ToolResult(call.id, "done") for call in answer.tool_calls]
    history: list[Message] = [UserMessage("Hi"), answer, *results, UserMessage("Go on")]
    model = Model("bedrock", str(recording.meta["model"]), protocol=PROTOCOLS[recording.wire])
    messages: Any = prepare(model, history, base_url="https://example.com").body["messages"]
    turns: list[Turn] = [message["content"] for message in messages if message["role"] == "assistant"]
    return turns[0] if turns else []


# nothing gets lost


def expected_shape(recording: Recording) -> list[tuple[str, Any]]:
    """What the oracle reads of an answer, as far as it must go back."""
    found: list[tuple[str, Any]] = []
    for entry in recording.expected["content"]:
        match entry["type"]:
            case "thinking":
                opaque = entry.get("signature") or entry.get("redacted_data")
                found += [("thinking", (entry["text"], opaque))] if opaque else []
            case "text":
                found.append(("text", entry["text"]))
            case "tool_call":
                found.append(("call", (entry["id"], entry["name"], entry["arguments"])))
            case _:
                found.append(("other", entry["kind"]))
    return found


def shape_of(turn: Turn) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for block in turn:
        match block:
            case {"reasoningContent": {"redactedContent": data}}:
                found.append(("thinking", ("", data)))
            case {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}:
                found.append(("thinking", (text, signature)))
            case {"type": "thinking"}:
                found.append(("thinking", (block["thinking"], block["signature"])))
            case {"toolUse": {"type": "server_tool_use"}}:
                found.append(("other", "server_tool_use"))
            case {"toolUse": use}:
                found.append(("call", (use["toolUseId"], use["name"], use["input"])))
            case {"type": "tool_use"}:
                found.append(("call", (block["id"], block["name"], block["input"])))
            case {"text": text}:
                found.append(("text", text))
            case _:
                found.append(("other", next(iter(block))))
    return found


@pytest.mark.parametrize("recording", parameters(ANSWERED, named))
def test_nothing_opaque_gets_lost_or_moved(recording: Recording) -> None:
    assert shape_of(turn_of(recording)) == expected_shape(recording)


WHOLE_BLOCKS = ("citationsContent", "toolResult")


@pytest.mark.parametrize(
    "recording", parameters((r for r in ANSWERED if r.wire == "bedrock-converse" and not r.streamed), named)
)
def test_cited_texts_and_server_blocks_go_back_as_they_came(recording: Recording) -> None:
    came: Turn = json.loads(recording.body)["output"]["message"]["content"]

    def kept(turn: Turn) -> Turn:
        servers = [block for block in turn if block.get("toolUse", {}).get("type") == "server_tool_use"]
        return servers + [block for block in turn if any(name in block for name in WHOLE_BLOCKS)]

    assert kept(turn_of(recording)) == kept(came)


# the requests that were accepted


def without_tagged_thinking(accepted: Turn) -> Turn:
    return [block for block in accepted if not block.get("text", "").startswith("<think>")]


def with_plain_dashes(accepted: Turn) -> Turn:
    plain: Turn = json.loads(json.dumps(accepted, ensure_ascii=False).replace("\u2014", "--"))
    return plain


@frozen
class Harmless:
    """A difference between an accepted turn and ours, and why it does no harm. rewrite: makes the accepted one ours."""

    name: str
    reason: str
    rewrite: Callable[[Turn], Turn]


HARMLESS = (
    Harmless(
        "pydantic-ai-bedrock-bedrock-model-thinking-part-deepseek-1",
        "thinking without a signature is never written into the text; the model is refused it as thinking",
        without_tagged_thinking,
    ),
    Harmless(
        "pydantic-ai-bedrock-bedrock-model-thinking-part-anthropic-legacy-1",
        "the collection stores the answer with two hyphens where the request has the dash that had come",
        with_plain_dashes,
    ),
)


def replays() -> Iterator[tuple[Recording, int, Recording]]:
    """Each assistant turn of a recorded request, by its place, with the recording of the answer that it replays."""
    for recording in ALL:
        stem, number = re.fullmatch(r"(.*?)(?:-(\d))?", recording.name).groups()  # type: ignore[union-attr]
        if number is None or recording.status != 200:
            continue
        answers = [BY_NAME[name] for place in range(int(number)) if (name := f"{stem}-{place}") in BY_NAME]
        places = [place for place, turn in enumerate(request_of(recording)) if turn["role"] == "assistant"]
        replayed = answers[max(0, len(answers) - len(places)) :]
        yield from ((recording, place, answer) for place, answer in zip(places, replayed, strict=True))


def request_of(recording: Recording) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = json.loads((recording.folder / "request.json").read_text())["messages"]
    return messages


REPLAYS = list(replays())


def accepted_turn(recording: Recording, place: int, rows: tuple[Harmless, ...] = HARMLESS) -> Turn:
    turn: Turn = request_of(recording)[place]["content"]
    for row in rows:
        if row.name == recording.name:
            turn = row.rewrite(turn)
    return turn


@pytest.mark.parametrize("replay", parameters(REPLAYS, lambda replay: f"{replay[0].name}-turn-{replay[1]}"))
def test_an_answer_goes_back_as_the_provider_has_accepted_it(replay: tuple[Recording, int, Recording]) -> None:
    recording, place, answer = replay
    assert turn_of(answer) == accepted_turn(recording, place)


@needs_shared
@pytest.mark.parametrize("row", HARMLESS, ids=lambda row: row.name)
def test_a_row_is_still_needed(row: Harmless) -> None:
    concerned = [replay for replay in REPLAYS if replay[0].name == row.name]
    assert concerned
    assert all(turn_of(answer) != accepted_turn(recording, place, ()) for recording, place, answer in concerned)


# What the collection lists as replayed by these wires, by the number of turns.


@needs_shared
def test_every_conversation_of_the_collection_is_compared() -> None:
    listed = (ALL[0].folder.parent.parent / "REPLAYS.md").read_text()
    names = set(re.findall(r"`(?:bedrock-converse|other)/([\w.-]+)`", listed))
    assert names
    assert names - {recording.name for recording, _, _ in REPLAYS} == set()
    assert len(REPLAYS) == 23
