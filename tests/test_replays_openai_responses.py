"""History goes back to the Responses API as it came: every recorded answer, and as the providers have accepted it.

Where our items differ from those of an accepted request, a row of DIFFERENCES says why that is harmless.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import pytest
from attrs import frozen

import thinkaloud as ta
from support.reading import one_piece, read
from support.shared import Recording, needs_shared, parameters, recordings
from thinkaloud.content import Opaque, Thinking, ToolCall
from thinkaloud.messages import AssistantMessage

WIRE = "openai-responses"
Item = dict[str, Any]

ALL = recordings(WIRE)
BY_NAME = {recording.name: recording for recording in ALL}
ANSWERED = [recording for recording in ALL if "error" not in recording.expected]


def named(recording: Recording) -> str:
    return recording.name


@cache
def answer(recording: Recording) -> AssistantMessage:
    return read(
        WIRE,
        one_piece(recording.body),
        provider=recording.endpoint,
        status=recording.status,
        headers=recording.headers,
    ).finished


def replayed(recording: Recording) -> list[Item]:
    """The input of the turn after an answer: a question, the answer, results for its calls, a question."""
    message = answer(recording)
    results = [ta.ToolResult(call.id, "42") for call in message.tool_calls]
    model = ta.Model(recording.endpoint, message.origin.model, protocol=WIRE, base_url="http://localhost/v1")
    history: list[Any] = [ta.UserMessage("q"), message, *results, ta.UserMessage("more")]
    body = json.loads(ta.prepare(model, history).request.body)
    items: list[Item] = body["input"]
    return items


def is_of_the_model(item: Item) -> bool:
    kind = str(item.get("type", ""))
    calls_or_lists = kind.endswith("_call") or kind in ("mcp_list_tools", "mcp_approval_request")
    return item.get("role") == "assistant" or kind == "reasoning" or calls_or_lists


# Nothing is lost.


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
    content = answer(recording).content
    sealed = [block.signature for block in content if isinstance(block, Thinking) and block.signature]
    items = replayed(recording)
    assert [item["encrypted_content"] for item in items if item.get("encrypted_content")] == sealed
    calls = [block.id for block in content if isinstance(block, ToolCall)]
    assert [item["call_id"] for item in items if item.get("type") == "function_call"] == calls
    assert [item["call_id"] for item in items if item.get("type") == "function_call_output"] == calls
    kinds = [block.kind for block in content if isinstance(block, Opaque)]
    ours = ("reasoning", "message", "function_call")
    assert [item["type"] for item in items if is_of_the_model(item) and item["type"] not in ours] == kinds


# What the providers have accepted.


def before(recording: Recording) -> Recording | None:
    """The answer that a request of a conversation sends back."""
    numbered = re.fullmatch(r"(.*)-(\d+)", recording.name)
    return BY_NAME.get(f"{numbered[1]}-{int(numbered[2]) - 1}") if numbered else None


def accepted_turn(recording: Recording) -> list[Item]:
    """The last turn of the model in a recorded request; [] where there is none."""
    path = recording.folder / "request.json"
    sent = json.loads(path.read_text("utf-8"))["input"] if path.exists() else []
    turn: list[Item] = []
    for item in sent if isinstance(sent, list) else []:
        if not is_of_the_model(item):
            continue
        follows = sent[sent.index(item) - 1] if sent.index(item) else item
        turn = [*turn, item] if turn and is_of_the_model(follows) else [item]
    return turn


REPLAYS = [
    recording
    for recording in ALL
    if recording.status == 200 and before(recording) in ANSWERED and accepted_turn(recording)
]


@frozen(kw_only=True)
class Difference:
    """Why an accepted turn is not ours word by word. change: brings an item of either side to what both say."""

    recordings: tuple[str, ...]
    reason: str
    change: Callable[[Item], Item | None]

    def concerns(self, recording: Recording) -> bool:
        return any(fnmatchcase(recording.name, name) for name in self.recordings)


def without(*names: str) -> Callable[[Item], Item]:
    return lambda item: {name: value for name, value in item.items() if name not in names}


def texts_alone(item: Item) -> Item:
    if item.get("role") != "assistant":
        return item
    content = item["content"]
    texts = [content] if isinstance(content, str) else [part["text"] for part in content]
    return {"role": "assistant", "content": texts}


def plain_quotes(item: Item) -> Item:
    written = json.dumps(item, ensure_ascii=False).replace("\u2019", "'")
    found: Item = json.loads(re.sub("[\u201c\u201d]", '\\\\"', written))
    return found


DIFFERENCES = (
    Difference(
        recordings=("pydantic-ai-*", "fantasy-*", "ruby-llm-*"),
        reason="the status of an item is optional, and ours is the one that was received",
        change=lambda item: item if item.get("type") == "message" else without("status")(item),
    ),
    Difference(
        recordings=("ruby-llm-*", "fantasy-*-thinking-streaming-1", "*-deepseek-*", "*-model-retry-1"),
        reason="the client sends its items without ids; with its thinking beside it each id is looked up and found",
        change=without("id"),
    ),
    Difference(
        recordings=("ruby-llm-*-2", "*-replay-own-reasoning-history-1"),
        reason="the client sends the text of a message alone; ours is the message that was received",
        change=texts_alone,
    ),
    Difference(
        recordings=("*-reused-tool-call-ids-request-[12]", "*-reused-tool-call-ids-stream-[12]"),
        reason="this server calls the first call of every answer the same; the client makes the ids unique at once, we "
        "do it where one would be there twice, and an id only ties a call to its result",
        change=without("call_id"),
    ),
    Difference(
        recordings=("*-deepseek-*",),
        reason="DeepSeek takes its thinking back as text; what it puts in `encrypted_content` is only the name of it",
        change=without("encrypted_content"),
    ),
    Difference(
        recordings=("fantasy-*-thinking-streaming-1",),
        reason="the client leaves the thinking out, which the provider takes as well",
        change=lambda item: None if item.get("type") == "reasoning" else item,
    ),
    Difference(
        recordings=("*-model-retry-1",),
        reason="the client makes an empty message where the answer had none",
        change=lambda item: None if item.get("content") == "" else item,
    ),
    Difference(
        recordings=("*-phase-streamed-on-part-start-1",),
        reason="the source of the recording writes typographic quotes in requests as plain ones",
        change=plain_quotes,
    ),
)


def both(recording: Recording, differences: tuple[Difference, ...] = DIFFERENCES) -> tuple[list[Item], list[Item]]:
    """Our turn and the accepted one, without the harmless differences."""
    earlier = before(recording)
    assert earlier is not None
    sides = [[item for item in replayed(earlier) if is_of_the_model(item)], accepted_turn(recording)]
    for difference in differences:
        if difference.concerns(recording):
            sides = [[new for item in side if (new := difference.change(item)) is not None] for side in sides]
    return sides[0], sides[1]


@pytest.mark.parametrize("recording", parameters(REPLAYS, named))
def test_our_second_turn_is_the_one_that_the_provider_accepted(recording: Recording) -> None:
    ours, accepted = both(recording)
    assert ours == accepted


@needs_shared
@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.reason[:40])
def test_a_difference_is_still_needed(difference: Difference) -> None:
    others = tuple(row for row in DIFFERENCES if row is not difference)
    concerned = [recording for recording in REPLAYS if difference.concerns(recording)]
    differing = [recording for recording in concerned if len(set(map(json.dumps, both(recording, others)))) > 1]
    assert differing


@needs_shared
def test_the_accepted_requests_are_all_compared() -> None:
    assert len(REPLAYS) == 24
