"""Recorded answers of chat completions go back whole, and as the providers have accepted them.

For every recording: no call, no reasoning entry and no text gets lost, moved or edited. For every recorded
conversation: the turns that we write from its answers are those of the request that the provider accepted, or a row of
HARMLESS says why not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import frozen

from support.replays import Harmless, Replay, answered, history_after, listed, message_of, named, replays, rewritten
from support.shared import Recording, needs_shared, parameters, recordings
from thinkaloud.messages import AssistantMessage
from thinkaloud.models.model import Model
from thinkaloud.models.providers import find_provider
from thinkaloud.plan import prepare

WIRE = "openai-chat"
Object = dict[str, Any]

ALL = recordings(WIRE)
ANSWERED = answered(ALL)


def turn_of(recording: Recording, answer: AssistantMessage, *, goes_on: bool) -> Object:
    """What we send back of an answer, to the model that gave it. goes_on: the user asks once more after it."""
    model = Model(recording.endpoint, str(recording.meta["model"]), protocol=WIRE)
    history = history_after(answer, goes_on=goes_on)
    body: Any = prepare(model, history, base_url="https://example.com").body
    turns: list[Object] = [message for message in body["messages"] if message["role"] == "assistant"]
    return turns[0] if turns else {}


# nothing gets lost


def entries_of(recording: Recording) -> Iterator[Object]:
    """The reasoning entries of a raw answer, one after the other as they came."""
    body = recording.body.decode()
    payloads = re.findall(r"(?m)^data: ?(\{.*?)\r?$", body) if recording.streamed else [body]
    for payload in payloads:
        for choice in json.loads(payload).get("choices") or ():
            yield from (choice.get("delta") or choice.get("message") or {}).get("reasoning_details") or ()


def opaque(entries: Iterator[Object]) -> list[tuple[str, str]]:
    """The strings that nobody may touch, in order."""
    return [(name, entry[name]) for entry in entries for name in ("data", "signature") if entry.get(name)]


def joined(entries: Iterator[Object]) -> str:
    return "".join(entry.get("text") or entry.get("summary") or "" for entry in entries)


WITH_ENTRIES = [
    recording
    for recording in ANSWERED
    if any(entries_of(recording)) and find_provider(recording.endpoint).dialect.replay_field is None
]


@pytest.mark.parametrize("recording", parameters(WITH_ENTRIES, named))
def test_reasoning_entries_go_back_in_order(recording: Recording) -> None:
    turn = turn_of(recording, message_of(recording, recording.endpoint), goes_on=False)
    sent = turn["reasoning_details"]
    assert opaque(iter(sent)) == opaque(entries_of(recording))
    assert joined(iter(sent)) == joined(entries_of(recording))
    assert {entry["format"] for entry in sent if "format" in entry} == {
        entry["format"] for entry in entries_of(recording) if "format" in entry
    }


@pytest.mark.parametrize("recording", parameters(ANSWERED, named))
def test_calls_and_thinking_go_back_as_the_oracle_reads_them(recording: Recording) -> None:
    turn = turn_of(recording, message_of(recording, recording.endpoint), goes_on=False)
    content = recording.expected["content"]
    calls = [entry for entry in content if entry["type"] == "tool_call" and "arguments" in entry]
    sent = turn.get("tool_calls", [])
    assert [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in sent] == [
        (call["name"], call["arguments"]) for call in calls
    ]
    if all(call["id"] for call in calls):
        assert [call["id"] for call in sent] == [call["id"] for call in calls]
    dialect = find_provider(recording.endpoint).dialect
    thinking = "".join(entry["text"] for entry in content if entry["type"] == "thinking")
    if dialect.replay != "never" and turn and thinking and "reasoning_details" not in turn:
        fields = [turn[name] for name in ("reasoning_content", "reasoning") if name in turn]
        assert fields == [thinking] or (not fields and inside(turn, thinking))


def inside(turn: Object, thinking: str) -> bool:
    """Whether thinking goes back as parts of the content."""
    parts = [part for part in turn["content"] or () if isinstance(part, dict) and part["type"] == "thinking"]
    return "".join(piece.get("text", "") for part in parts for piece in part["thinking"]) == thinking


# the requests that were accepted


@frozen
class Turn:
    """An assistant's message of a request. goes_on: the user spoke again after it."""

    message: Object
    goes_on: bool


def turns_of(request: Object) -> list[Turn]:
    messages = request.get("messages", [])
    asked = max((place for place, message in enumerate(messages) if message["role"] == "user"), default=0)
    return [
        Turn(message, place < asked)
        for place, message in enumerate(messages)
        if message["role"] == "assistant" and not is_made_up(message)
    ]


def is_made_up(message: Object) -> bool:
    """A call that a client puts into the history, and no model made (seen in one collection of recordings)."""
    return any(call["id"].startswith("auto_load_") for call in message.get("tool_calls") or ())


def plain(message: Object) -> Object:
    """A message without what every endpoint takes for the same: parts of text, nothing said, spaces in arguments."""
    content = message.get("content")
    if isinstance(content, list) and all(part["type"] == "text" for part in content):
        content = "".join(part["text"] for part in content)
    calls = [
        {**call, "function": {**call["function"], "arguments": json.loads(call["function"]["arguments"])}}
        for call in message.get("tool_calls") or ()
    ]
    return {**message, "content": content or None, "tool_calls": calls}


_FIELDS = ("reasoning", "reasoning_content")


def our_fields(accepted: Object, ours: Object) -> Object:
    """Thinking in a field of its own, under the names that ours has it under."""
    assert {ours[name] for name in _FIELDS if name in ours} <= {accepted[name] for name in _FIELDS if name in accepted}
    return {name: value for name, value in accepted.items() if name not in _FIELDS or name in ours}


def our_entries(accepted: Object, ours: Object) -> Object:
    """The client's entries are a part of ours, or made of them."""
    mine, theirs = ours["reasoning_details"], accepted["reasoning_details"]
    assert joined(iter(theirs)) in joined(iter(mine))
    assert set(opaque(iter(theirs))) <= set(opaque(iter(mine)))
    return {**accepted, "reasoning_details": mine}


def our_space(accepted: Object, ours: Object) -> Object:
    assert accepted["content"].strip() == ours["content"].strip() == ""
    return {**accepted, "content": ours["content"]}


def fewer_line_breaks(accepted: Object, ours: Object) -> Object:
    text = accepted["content"].replace("<think>\n\n", "<think>\n").replace("\n\n</think>", "\n</think>")
    return {**accepted, "content": text}


def closed(accepted: Object, ours: Object) -> Object:
    thinking, *others = accepted["content"]
    return {**accepted, "content": [{**thinking, "closed": True}, *others]}


Row = Harmless[Object]

HARMLESS = (
    Row(
        ("ruby-llm-chat-*-ollama-*", "ruby-llm-chat-*-deepseek-*"),
        "that client sends the same thinking under both names and of every turn; ours goes under the name that it came "
        "by, and only where the endpoint makes use of it",
        our_fields,
    ),
    Row(
        ("fantasy-openroutercommon-*", "fantasy-vercelthinking-*"),
        "that client loses the first piece of a text, or writes other entries of it; ours go back as they came",
        our_entries,
    ),
    Row(
        ("fantasy-openaicompatiblethinking-avian-*",),
        "that client loses spaces of a text that is nothing but spaces",
        our_space,
    ),
    Row(
        ("*-groq-model-thinking-part-iter-1",),
        "that client cuts the tags out of the text and writes them anew; in ours the text is as it came",
        fewer_line_breaks,
    ),
    Row(
        ("ruby-llm-chat-with-extended-thinking-mistral-*",),
        "that client drops a field of the thinking part; ours is the part that came",
        closed,
    ),
)

REPLAYS = replays(ALL, turns_of)

# Conversations without a recorded answer that a turn was made from.
ALONE = {
    "pydantic-ai-mistral-mistral-model-thinking-part-1",
    "pydantic-ai-groq-tool-use-failed-error-streaming-with-text-1",
}


def compared(replay: Replay[Turn], rows: tuple[Row, ...] = HARMLESS) -> tuple[Object, Object]:
    answer = message_of(replay.answer, replay.answer.endpoint)
    ours = plain(turn_of(replay.answer, answer, goes_on=replay.accepted.goes_on))
    return rewritten(rows, replay.name, ours, plain(replay.accepted.message))


@pytest.mark.parametrize("replay", parameters(REPLAYS, lambda replay: replay.id))
def test_an_answer_goes_back_as_the_provider_has_accepted_it(replay: Replay[Turn]) -> None:
    ours, accepted = compared(replay)
    assert ours == accepted


@needs_shared
@pytest.mark.parametrize("row", HARMLESS, ids=lambda row: f"{row.rewrite.__name__}-{row.names[0]}")
def test_a_harmless_difference_is_still_there(row: Row) -> None:
    concerned = [replay for replay in REPLAYS if row.concerns(replay.name)]
    assert concerned
    others = tuple(other for other in HARMLESS if other is not row)
    for name in {replay.name for replay in concerned}:
        turns = [compared(replay, others) for replay in concerned if replay.name == name]
        assert any(ours != accepted for ours, accepted in turns), name


@needs_shared
def test_every_conversation_of_the_collection_is_compared() -> None:
    assert listed(ALL, WIRE) - {replay.name for replay in REPLAYS} == ALONE
    assert len(REPLAYS) == 63
