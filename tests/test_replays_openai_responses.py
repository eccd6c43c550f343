"""Recorded answers of the Responses API go back whole, and as the providers have accepted them.

For every recording: no item gets lost, moved or edited. For every recorded conversation: the turns that we write from
its answers are those of the request that the provider accepted, or a row of HARMLESS says why not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import groupby
from typing import Any

import pytest

from support.replays import Harmless, Replay, answered, history_after, listed, message_of, named, replays, rewritten
from support.shared import Recording, needs_shared, parameters, recordings
from thinkaloud.content import Opaque, Thinking, ToolCall
from thinkaloud.models.model import Model
from thinkaloud.plan import prepare

WIRE = "openai-responses"
Item = dict[str, Any]
Turn = list[Item]

ALL = recordings(WIRE)
ANSWERED = answered(ALL)


def replayed(recording: Recording) -> list[Item]:
    """The input of the turn after an answer: a question, the answer, results for its calls, a question."""
    message = message_of(recording, recording.endpoint)
    model = Model(recording.endpoint, message.origin.model, protocol=WIRE, base_url="http://localhost/v1")
    body: Any = prepare(model, history_after(message)).body
    items: list[Item] = body["input"]
    return items


def is_of_the_model(item: Item) -> bool:
    kind = str(item.get("type", ""))
    calls_or_lists = kind.endswith("_call") or kind in ("mcp_list_tools", "mcp_approval_request")
    return item.get("role") == "assistant" or kind == "reasoning" or calls_or_lists


# nothing gets lost


def received(recording: Recording) -> list[Item]:
    """The finished items of a raw answer."""
    if not recording.streamed:
        items: list[Item] = json.loads(recording.body)["output"]
        return items
    lines = recording.body.decode().splitlines()
    events = [json.loads(line[5:]) for line in lines if line.startswith("data:") and "[DONE]" not in line]
    done = [event for event in events if event["type"] == "response.output_item.done"]
    return [event["item"] for event in sorted(done, key=lambda event: event["output_index"])]


def readable_later(item: Item) -> bool:
    """Whether an item means something to a server that keeps nothing."""
    return item["type"] != "reasoning" or bool(item.get("encrypted_content") or item.get("content"))


def as_sent(item: Item, *, with_id: bool) -> Item:
    """A received item as it goes back: without the token probabilities and without what is null or empty."""
    content = [{name: part[name] for name in part if name != "logprobs"} for part in item.get("content") or ()]
    written = {**item, **({"content": content} if content else {})}
    written = {name: written[name] for name in written if name != "content" or content}
    if written.get("encrypted_content", "") is None:
        del written["encrypted_content"]
    if not with_id:
        written = {name: written[name] for name in written if name != "id"}
        if written["type"] == "message":
            del written["status"]
    return written


@pytest.mark.parametrize("recording", parameters(ANSWERED, named))
def test_every_item_goes_back_as_it_came_and_in_its_order(recording: Recording) -> None:
    items, expected = received(recording), []
    bare = False  # the thinking that the items belong to cannot go back, so they go without their ids
    for place, item in enumerate(items):
        if item["type"] == "reasoning":
            bare = (bare and items[place - 1]["type"] == "reasoning") or not readable_later(item)
        if readable_later(item):
            expected.append(as_sent(item, with_id=not bare))
    assert [item for item in replayed(recording) if is_of_the_model(item)] == expected


@pytest.mark.parametrize("recording", parameters(ANSWERED, named))
def test_no_opaque_string_is_lost_and_all_are_in_order(recording: Recording) -> None:
    content = message_of(recording, recording.endpoint).content
    sealed = [block.signature for block in content if isinstance(block, Thinking) and block.signature]
    items = replayed(recording)
    assert [item["encrypted_content"] for item in items if item.get("encrypted_content")] == sealed
    calls = [block.id for block in content if isinstance(block, ToolCall)]
    assert [item["call_id"] for item in items if item.get("type") == "function_call"] == calls
    assert [item["call_id"] for item in items if item.get("type") == "function_call_output"] == calls
    kinds = [block.kind for block in content if isinstance(block, Opaque)]
    ours = ("reasoning", "message", "function_call")
    assert [item["type"] for item in items if is_of_the_model(item) and item["type"] not in ours] == kinds


# the requests that were accepted


def turns_of(request: dict[str, Any]) -> list[Turn]:
    sent = request.get("input")
    grouped = groupby(sent if isinstance(sent, list) else [], is_of_the_model)
    return [list(turn) for of_the_model, turn in grouped if of_the_model]


def turn_of(recording: Recording) -> Turn:
    """What we send back of an answer, to the model that gave it."""
    return [item for item in replayed(recording) if is_of_the_model(item)]


Rewrite = Callable[[Turn, Turn], Turn]


def with_our(name: str, *, of_messages: bool = True) -> Rewrite:
    """One field of each item as ours has it, or has it not."""

    def rewritten(item: Item, mine: Item) -> Item:
        if item.get("type") == "message" and not of_messages:
            return item
        others = {key: value for key, value in item.items() if key != name}
        return {**others, name: mine[name]} if name in mine else others

    return each(rewritten)


def each(rewritten: Callable[[Item, Item], Item]) -> Rewrite:
    """A rewrite of each accepted item, given ours in its place."""

    def rewrite(accepted: Turn, ours: Turn) -> Turn:
        if len(accepted) != len(ours):
            return accepted
        return [rewritten(item, mine) for item, mine in zip(accepted, ours, strict=True)]

    return rewrite


def whole_message(item: Item, mine: Item) -> Item:
    """Our message, where its texts are those that were sent."""
    return mine if item.get("role") == mine.get("role") == "assistant" and texts(item) == texts(mine) else item


def texts(item: Item) -> list[str]:
    content = item["content"]
    return [content] if isinstance(content, str) else [part["text"] for part in content]


def our_quotes(item: Item, mine: Item) -> Item:
    return mine if item == with_plain_quotes(mine) else item


def with_plain_quotes(item: Item) -> Item:
    written = json.dumps(item, ensure_ascii=False).replace("\u2019", "'")
    found: Item = json.loads(re.sub("[\u201c\u201d]", '\\\\"', written))
    return found


def with_thinking(accepted: Turn, ours: Turn) -> Turn:
    assert not any(item.get("type") == "reasoning" for item in accepted)
    others = iter(accepted)
    return [*(item if item.get("type") == "reasoning" else next(others) for item in ours), *others]


def without_empty_messages(accepted: Turn, ours: Turn) -> Turn:
    return [item for item in accepted if item.get("content") != ""]


Row = Harmless[Turn]

HARMLESS = (
    Row(
        ("fantasy-*-thinking-streaming-1",),
        "the client leaves the thinking out, which the provider takes as well",
        with_thinking,
    ),
    Row(
        ("*-model-retry-1",),
        "the client makes an empty message where the answer had none",
        without_empty_messages,
    ),
    Row(
        ("pydantic-ai-*", "fantasy-*", "ruby-llm-*"),
        "the status of an item is optional, and ours is the one that was received",
        with_our("status", of_messages=False),
    ),
    Row(
        ("ruby-llm-*", "fantasy-*-thinking-streaming-1", "*-deepseek-*", "*-model-retry-1"),
        "the client sends its items without ids; with its thinking beside it each id is looked up and found",
        with_our("id"),
    ),
    Row(
        ("ruby-llm-*-[23]", "*-replay-own-reasoning-history-1"),
        "the client sends the text of a message alone; ours is the message that was received",
        each(whole_message),
    ),
    Row(
        ("*-reused-tool-call-ids-request-*", "*-reused-tool-call-ids-stream-[12]"),
        "this server calls the first call of every answer the same; the client makes the ids unique at once, we do it "
        "where one would be there twice, and an id only ties a call to its result",
        with_our("call_id"),
    ),
    Row(
        ("*-deepseek-*",),
        "DeepSeek takes its thinking back as text; what it puts in `encrypted_content` is only the name of it",
        with_our("encrypted_content"),
    ),
    Row(
        ("*-phase-streamed-on-part-start-1",),
        "the source of the recording writes typographic quotes in requests as plain ones",
        each(our_quotes),
    ),
)

REPLAYS = replays(ALL, turns_of)

# Conversations without a recorded answer of this protocol that a turn was made from.
ALONE = {
    "pydantic-ai-deepseek-responses-deepseek-responses-replay-own-reasoning-history-0",
    "pydantic-ai-openai-responses-openai-previous-response-id-auto-mode",
    "pydantic-ai-tool-search-live-tool-search-handoff-anthropic-to-openai-2",
}


def compared(replay: Replay[Turn], rows: tuple[Row, ...] = HARMLESS) -> tuple[Turn, Turn]:
    return rewritten(rows, replay.name, turn_of(replay.answer), replay.accepted)


@pytest.mark.parametrize("replay", parameters(REPLAYS, lambda replay: replay.id))
def test_an_answer_goes_back_as_the_provider_has_accepted_it(replay: Replay[Turn]) -> None:
    ours, accepted = compared(replay)
    assert ours == accepted


@needs_shared
@pytest.mark.parametrize("row", HARMLESS, ids=lambda row: row.reason[:40])
def test_a_harmless_difference_is_still_there(row: Row) -> None:
    others = tuple(other for other in HARMLESS if other is not row)
    concerned = [compared(replay, others) for replay in REPLAYS if row.concerns(replay.name)]
    assert any(ours != accepted for ours, accepted in concerned)


@needs_shared
def test_every_conversation_of_the_collection_is_compared() -> None:
    assert listed(ALL, WIRE) - {replay.name for replay in REPLAYS} == ALONE
    assert len(REPLAYS) == 34
