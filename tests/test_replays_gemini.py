"""Recorded answers of Gemini go back whole, and as the provider has accepted them.

For every recording: nothing opaque gets lost, moved or reordered. For every recorded conversation: the turns that we
write from its answers are those of the request that the provider accepted, or a row of HARMLESS says why not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from support.gemini_wire import write
from support.replays import Harmless, Replay, answered, history_after, listed, message_of, named, replays, rewritten
from support.shared import Recording, needs_shared, parameters, recordings
from thinkaloud.models.model import Model

WIRE = "gemini"
Turn = list[dict[str, Any]]

ALL = recordings(WIRE)
ANSWERED = answered(ALL)
PROVIDERS = {"gemini-api": "google", "vertex": "google-vertex"}


def turn_of(recording: Recording) -> Turn:
    """What we send back of an answer, to the model that gave it."""
    provider = PROVIDERS[recording.endpoint]
    history = history_after(message_of(recording, provider))
    model = Model(provider, str(recording.meta["model"]))
    turns: list[Turn] = [content["parts"] for content in write(history, model).contents if content["role"] == "model"]
    return turns[0] if turns else []


# nothing gets lost


def parts_of(recording: Recording) -> Iterator[dict[str, Any]]:
    """The parts of an answer as they came."""
    body = recording.body.decode()
    payloads = re.findall(r"(?m)^data: (.*?)\r?$", body) if recording.streamed else [body]
    for payload in payloads:
        for candidate in json.loads(payload)["candidates"]:
            yield from (candidate.get("content") or {}).get("parts") or ()


def shape(parts: Turn) -> list[tuple[str, Any]]:
    """The signatures, calls and server parts, in order; text is compared as a whole, arguments with the oracle."""
    found: list[tuple[str, Any]] = []
    for part in parts:
        if "functionCall" in part:
            call = part["functionCall"]
            if "name" in call:  # else it is more of a call whose arguments stream
                found.append(("call", (call.get("id"), call["name"])))
        elif "text" not in part:
            found.append(("part", part))
        if "thoughtSignature" in part:
            found.append(("signature", (part["thoughtSignature"], "functionCall" in part, part.get("thought", False))))
    return found


@pytest.mark.parametrize("recording", parameters(ANSWERED, named))
def test_nothing_opaque_gets_lost_or_moved(recording: Recording) -> None:
    came, goes = list(parts_of(recording)), turn_of(recording)
    if recording.endpoint == "vertex":  # ids do not go to Vertex AI, and do not come from it
        assert not any("id" in part.get("functionCall", {}) for part in came)
    assert shape(goes) == shape(came)
    for thought in (True, False):
        texts = [
            "".join(p.get("text", "") for p in parts if p.get("thought", False) is thought) for parts in (came, goes)
        ]
        assert texts[0] == texts[1]


# the requests that were accepted


def turns_of(request: dict[str, Any]) -> list[Turn]:
    return [content["parts"] for content in request.get("contents", ()) if content.get("role") == "model"]


def with_thoughts(accepted: Turn, ours: Turn) -> Turn:
    return [*(part for part in ours if part.get("thought")), *accepted]


def without_ids(accepted: Turn, ours: Turn) -> Turn:
    def without(part: dict[str, Any]) -> dict[str, Any]:
        call = {name: value for name, value in part["functionCall"].items() if name != "id"}
        return {**part, "functionCall": call}

    return [without(part) if "functionCall" in part else part for part in accepted]


def signature_on_the_text(accepted: Turn, ours: Turn) -> Turn:
    *thoughts, text = [dict(part) for part in accepted]
    text["thoughtSignature"] = thoughts[0].pop("thoughtSignature")
    return [*(part for part in thoughts if part.get("text")), text]


def one_signature(accepted: Turn, ours: Turn) -> Turn:
    first, second, third = accepted
    return [first, {"functionCall": second["functionCall"]}, third]


def with_empty_part(accepted: Turn, ours: Turn) -> Turn:
    *others, text = accepted
    signature = text["thoughtSignature"]
    return [*others, {"text": text["text"]}, {"text": "", "thoughtSignature": signature}]


def server_parts_as_they_came(accepted: Turn, ours: Turn) -> Turn:
    assert [next(name for name in part if name in ("toolCall", "toolResponse")) for part in accepted[:2]] == [
        "toolCall",
        "toolResponse",
    ]
    assert [part["thoughtSignature"] for part in accepted[:2]] == [part["thoughtSignature"] for part in ours[:2]]
    return [*ours[:2], *accepted[2:]]


Row = Harmless[Turn]

HARMLESS = (
    Row(
        ("fantasy-googlethinking-*",),
        "that client leaves thought summaries out; sent, they are accepted as well (thinking-part-from-other-model)",
        with_thoughts,
    ),
    Row(
        (
            "fantasy-googlecommon-gemini-2.5-pro-multi-tool-1",
            "fantasy-googlethinking-gemini-2.5-pro-*",
            "pydantic-ai-google-google-model-iter-stream-*",
            "pydantic-ai-google-google-tool-output-1",
        ),
        "that client makes up ids where the server gave none; other accepted requests have none",
        without_ids,
    ),
    Row(
        ("ruby-llm-chat-with-extended-thinking-*", "ruby-llm-chat-with-schema-*"),
        "that client moves the signature onto the thought; ours stays on the part that carried it",
        signature_on_the_text,
    ),
    Row(
        ("ruby-llm-chat-function-calling-vertexai-*",),
        "that client repeats the signature on the second call; it came on the first alone",
        one_signature,
    ),
    Row(
        ("pydantic-ai-google-google-model-file-search-grounding-gemini-3-true-4",),
        "that client joins the signed empty part to the text; ours goes back as it came",
        with_empty_part,
    ),
    Row(
        ("pydantic-ai-google-google-model-file-search-*",),
        "that client writes its own spelling of server parts, and fills in the results; ours go back as they came",
        server_parts_as_they_came,
    ),
)


def normal(parts: Turn) -> Turn:
    """Signatures in the standard alphabet: some clients decode and encode them anew, and the server takes both."""
    written = json.dumps(parts)
    turn: Turn = json.loads(
        re.sub(
            r'("thoughtSignature": ")([^"]*)',
            lambda found: found[1] + found[2].replace("-", "+").replace("_", "/"),
            written,
        ),
        object_hook=lambda value: {name: item for name, item in value.items() if name != "args" or item},
    )
    return turn


REPLAYS = replays(ALL, turns_of)

# A conversation whose recorded answer is another protocol's.
ALONE = {"pydantic-ai-google-google-model-thinking-part-from-other-model-1"}


def compared(replay: Replay[Turn], rows: tuple[Row, ...] = HARMLESS) -> tuple[Turn, Turn]:
    return rewritten(rows, replay.name, normal(turn_of(replay.answer)), normal(replay.accepted))


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
        try:
            ours, accepted = compared(replay, others)
        except (KeyError, ValueError):  # another row cannot be applied without this one, so this one is needed
            continue
        assert ours != accepted, replay.id


@needs_shared
def test_every_conversation_of_the_collection_is_compared() -> None:
    assert listed(ALL, WIRE) - {replay.name for replay in REPLAYS} == ALONE
    assert len(REPLAYS) == 32
