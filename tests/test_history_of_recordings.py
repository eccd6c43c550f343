"""Every recorded answer goes on: with the model that gave it, and with a model of each other protocol.

`[question, answer, results, question]` is prepared without an error. On another protocol none of its opaque strings is
sent, except between the hosts of Claude.
"""

from __future__ import annotations

from functools import cache

import pytest

import thinkaloud as ta
from support.reading import read
from support.shared import Recording, needs_shared, parameters, recordings
from support.targets import TARGETS, URL, body_of, prepared, sealed, strings_in
from thinkaloud.models.resolve import resolve_model
from thinkaloud.models.signing import signing_realm

WIRES = (*TARGETS, "other")
ALL = [recording for wire in WIRES for recording in recordings(wire)]
ANSWERED = [recording for recording in ALL if recording.status == 200]

PROVIDERS = {"gemini-api": "google", "vertex": "google-vertex", "bedrock-mantle": "mantle"}


def named(recording: Recording) -> str:
    return recording.name


@cache
def answer_of(recording: Recording) -> ta.AssistantMessage | None:
    """What had arrived, also where the answer failed."""
    provider = PROVIDERS.get(recording.endpoint, recording.endpoint)
    return read(recording.wire, [recording.body], provider=provider).message


def history_of(answer: ta.AssistantMessage) -> list[ta.Message]:
    results = [ta.ToolResult(call.id, "done") for call in answer.tool_calls]
    return [ta.UserMessage("Hi"), answer, *results, ta.UserMessage("Go on")]


def own_model(recording: Recording, answer: ta.AssistantMessage) -> ta.Model:
    return ta.Model(answer.origin.provider, str(recording.meta["model"]), protocol=answer.origin.protocol, base_url=URL)


@pytest.mark.parametrize("recording", parameters(ANSWERED, named))
def test_an_answer_goes_on_with_its_own_model_and_with_one_of_each_other_protocol(recording: Recording) -> None:
    answer = answer_of(recording)
    if answer is None:
        return
    history = history_of(answer)
    own = own_model(recording, answer)
    assert ta.validate(history, own) == ()
    vertex = {"project": "p", "location": "us-east5"} if own.provider == "google-vertex" else None
    prepared(own, history, **({"endpoint": vertex} if vertex else {}))
    for protocol, target in TARGETS.items():
        if protocol == answer.origin.protocol:
            continue
        resolved, _ = resolve_model(target)
        assert ta.validate(history, target) == ()
        plan = prepared(target, history)
        sent = set(strings_in(body_of(plan)))
        seals = [seal for seal in sealed(answer) if len(seal) > 8]
        made = signing_realm(answer.origin.protocol, answer.origin.provider, str(recording.meta["model"]))
        if made == signing_realm(protocol, resolved.provider, resolved.id):
            continue
        assert not [seal for seal in seals if seal in sent]
        lost = [block for block in answer.thinking_blocks if block.complete]
        noted = [notice for notice in plan.notices if notice.code == "thinking_omitted"]
        assert len(noted) >= len(lost)


@needs_shared
def test_there_are_recordings_of_every_wire() -> None:
    assert {recording.wire for recording in ANSWERED} == set(WIRES)
