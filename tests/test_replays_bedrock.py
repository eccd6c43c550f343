"""Recorded answers of Bedrock go back whole, and as the provider has accepted them.

For every recording: nothing opaque gets lost, moved or reordered. For every recorded conversation: the turns that we
write from its answers are those of the request that the provider accepted, or a row of HARMLESS says why not.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.replays import Harmless, Replay, answered, history_after, listed, message_of, named, replays, rewritten
from support.shared import Recording, needs_shared, parameters, recordings
from thinkaloud.models.model import Model
from thinkaloud.plan import prepare

Turn = list[dict[str, Any]]

# Claude through InvokeModel speaks the Messages API inside Amazon's frames.
PROTOCOLS = {"bedrock-converse": "bedrock-converse", "other": "anthropic-messages"}

ALL = [recording for wire in PROTOCOLS for recording in recordings(wire)]
ANSWERED = answered(ALL)


def turn_of(recording: Recording) -> Turn:
    """What we send back of an answer, to the model that gave it."""
    history = history_after(message_of(recording, "bedrock"))
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


def turns_of(request: dict[str, Any]) -> list[Turn]:
    return [message["content"] for message in request.get("messages", ()) if message["role"] == "assistant"]


def without_tagged_thinking(accepted: Turn, ours: Turn) -> Turn:
    return [block for block in accepted if not block.get("text", "").startswith("<think>")]


def with_plain_dashes(accepted: Turn, ours: Turn) -> Turn:
    plain: Turn = json.loads(json.dumps(accepted, ensure_ascii=False).replace("\u2014", "--"))
    return plain


Row = Harmless[Turn]

HARMLESS = (
    Row(
        ("pydantic-ai-bedrock-bedrock-model-thinking-part-deepseek-1",),
        "thinking without a signature is never written into the text; the model is refused it as thinking",
        without_tagged_thinking,
    ),
    Row(
        ("pydantic-ai-bedrock-bedrock-model-thinking-part-anthropic-legacy-1",),
        "the collection stores the answer with two hyphens where the request has the dash that had come",
        with_plain_dashes,
    ),
)

REPLAYS = replays(ALL, turns_of)


def compared(replay: Replay[Turn], rows: tuple[Row, ...] = HARMLESS) -> tuple[Turn, Turn]:
    return rewritten(rows, replay.name, turn_of(replay.answer), replay.accepted)


@pytest.mark.parametrize("replay", parameters(REPLAYS, lambda replay: replay.id))
def test_an_answer_goes_back_as_the_provider_has_accepted_it(replay: Replay[Turn]) -> None:
    ours, accepted = compared(replay)
    assert ours == accepted


@needs_shared
@pytest.mark.parametrize("row", HARMLESS, ids=lambda row: row.rewrite.__name__)
def test_a_harmless_difference_is_still_there(row: Row) -> None:
    concerned = [replay for replay in REPLAYS if row.concerns(replay.name)]
    assert concerned
    others = tuple(other for other in HARMLESS if other is not row)
    for replay in concerned:
        ours, accepted = compared(replay, others)
        assert ours != accepted, replay.id


@needs_shared
def test_every_conversation_of_the_collection_is_compared() -> None:
    names = {name for wire in PROTOCOLS for name in listed(ALL, wire)}
    assert names
    assert names - {replay.name for replay in REPLAYS} == set()
    assert len(REPLAYS) == 23
