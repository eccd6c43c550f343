"""Recorded answers of the Messages API go back whole, and as the provider has accepted them.

For every recording: no block gets lost, moved or edited. For every recorded conversation: the turns that we write from
its answers are those of the request that the provider accepted, or a row of HARMLESS says why not.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from support.replays import Harmless, Replay, answered, history_after, listed, message_of, named, replays, rewritten
from support.shared import Recording, needs_shared, parameters, recordings
from thinkaloud.models.model import Model
from thinkaloud.plan import prepare

WIRE = "anthropic-messages"
Block = dict[str, Any]
Turn = list[Block]

ALL = recordings(WIRE)
ANSWERED = answered(ALL)


def turn_of(recording: Recording) -> Turn:
    """What we send back of an answer, to the model that gave it."""
    model = Model("anthropic", str(recording.meta["model"]))
    body: Any = prepare(model, history_after(message_of(recording, "anthropic"))).body
    turns: list[Turn] = [message["content"] for message in body["messages"] if message["role"] == "assistant"]
    return turns[0] if turns else []


# nothing gets lost


_JOINED = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}


def received(recording: Recording) -> Turn:
    """The blocks of a raw answer, put together as plainly as can be."""
    if not recording.streamed:
        content: Turn = json.loads(recording.body)["content"]
        return content
    blocks: dict[int, Block] = {}
    for payload in re.findall(r"(?m)^data: ?(.*?)\r?$", recording.body.decode()):
        event = json.loads(payload)
        if event["type"] == "content_block_start":
            blocks[event["index"]] = event["content_block"]
        elif event["type"] == "content_block_delta":
            add(blocks[event["index"]], event["delta"])
    for block in blocks.values():
        if recording.expected["stop"] != "max_tokens" and (written := block.pop("partial_json", "")):
            block["input"] = json.loads(written)
    return list(blocks.values())


def add(block: Block, delta: Block) -> None:
    match delta["type"]:
        case "signature_delta":
            block["signature"] = delta["signature"]
        case "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        case kind:
            name = _JOINED[kind]
            block[name] = block.get(name, "") + delta[name]


def goes_back(block: Block) -> bool:
    """Whether the API takes a block: no blank text, no thinking without its proof, no call that was cut off."""
    if block["type"] == "text":
        return bool(block["text"].strip())
    if block["type"] == "thinking":
        return bool(block["signature"])
    return "partial_json" not in block


def without_nothing(block: Block) -> Block:
    """Text that has no citations comes with an empty list of them, or with null."""
    return {name: value for name, value in block.items() if name != "citations" or value}


@pytest.mark.parametrize("recording", parameters(ANSWERED, named))
def test_no_block_gets_lost_moved_or_edited(recording: Recording) -> None:
    came = [without_nothing(block) for block in received(recording) if goes_back(block)]
    assert turn_of(recording) == came


# the requests that were accepted


def turns_of(request: dict[str, Any]) -> list[Turn]:
    return [message["content"] for message in request.get("messages", ()) if message["role"] == "assistant"]


def each(turn: Turn, *, without: str) -> Turn:
    return [{name: value for name, value in block.items() if name != without} for block in turn]


def with_callers(accepted: Turn, ours: Turn) -> Turn:
    calls = {block["id"]: block for block in ours if block["type"] == "tool_use"}
    return [
        {**block, "caller": calls[block["id"]]["caller"]} if block["type"] == "tool_use" else block
        for block in accepted
    ]


def without_cache_points(accepted: Turn, ours: Turn) -> Turn:
    return each(accepted, without="cache_control")


def without_blank_text(accepted: Turn, ours: Turn) -> Turn:
    return [block for block in accepted if block.get("text") != " "]


def without_null(accepted: Turn, ours: Turn) -> Turn:
    (place,) = (place for place, block in enumerate(accepted) if block["type"] == "web_fetch_tool_result")
    document = dict(accepted[place]["content"]["content"])
    assert document.pop("citations") is None
    fetched = {**accepted[place], "content": {**accepted[place]["content"], "content": document}}
    return [*accepted[:place], fetched, *accepted[place + 1 :]]


def with_citations(accepted: Turn, ours: Turn) -> Turn:
    cited = [block.get("citations") for block in ours]
    return [{**block, "citations": told} if told else block for block, told in zip(accepted, cited, strict=True)]


Row = Harmless[Turn]

HARMLESS = (
    Row(
        (
            "fantasy-anthropic*",
            "llm-anthropic-*",
            "*-native-tool-search-streaming-1",
            "*-handoff-anthropic-to-openai-1",
        ),
        "these clients leave out who called, which the API fills in by itself; ours is the block that came",
        with_callers,
    ),
    Row(
        ("fantasy-anthropicthinkingwithcachecontrol-*",),
        "the caller of that client marks a place for the cache; it is no part of the answer",
        without_cache_points,
    ),
    Row(
        ("llm-anthropic-anthropic-tools-1",),
        "that client makes a blank text where the answer had none; the API's documentation says such are refused",
        without_blank_text,
    ),
    Row(
        ("*-anthropic-web-fetch-tool-1",),
        "that client writes null for a field that the answer did not have; ours is the block that came",
        without_null,
    ),
    Row(
        ("*-anthropic-web-search-tool-1",),
        "that client drops the citations; with them the text goes back as it came",
        with_citations,
    ),
)

# The requests -1 and -2 of this conversation both go on from the answer -0.
BRANCHED = "pydantic-ai-cache-prefix-stability-anthropic-thinking-roundtrip-wire-stable-ag-ui-0-1-13-2"
BY_NAME = {recording.name: recording for recording in ALL}


def answer_of(replay: Replay[Turn]) -> Recording:
    return BY_NAME[replay.name[:-1] + "0"] if replay.name == BRANCHED else replay.answer


REPLAYS = replays(ALL, turns_of)


def compared(replay: Replay[Turn], rows: tuple[Row, ...] = HARMLESS) -> tuple[Turn, Turn]:
    return rewritten(rows, replay.name, turn_of(answer_of(replay)), replay.accepted)


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
    assert listed(ALL, WIRE) - {replay.name for replay in REPLAYS} == set()
    assert len(REPLAYS) == 19
