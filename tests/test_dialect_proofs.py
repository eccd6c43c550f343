"""The dialects in the providers table are those that recorded exchanges show."""

from __future__ import annotations

import pytest

from support.dialect_proofs import CELLS, PROOFS, Proof, Seen
from support.shared import Recording, needs_shared, recordings
from thinkaloud.models.providers import PROVIDERS

# Who is called otherwise in the recordings.
ENDPOINTS = {"qwen": "alibaba"}


@needs_shared
@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: f"{proof.provider} {proof.cell} {proof.model}")
def test_a_cell_of_a_dialect_is_as_it_was_recorded(proof: Proof) -> None:
    found = {recording.name: recording for recording in recordings("openai-chat")}
    recording = found[proof.recording]
    assert (recording.endpoint, recording.status) == (ENDPOINTS.get(proof.provider, proof.provider), 200)
    assert recording.meta["authentic"] is True
    dialect = PROVIDERS[proof.provider].dialect.for_model(proof.model)
    assert CELLS[proof.cell](Seen(recording), dialect), "the recording shows something else"


@needs_shared
def test_every_endpoint_with_recorded_thinking_has_a_proof_of_where_it_is_read() -> None:
    def thinks(recording: Recording) -> bool:
        return recording.meta["authentic"] is True and "thinking" in recording.meta["features"]

    endpoints = {recording.endpoint for recording in recordings("openai-chat") if thinks(recording)}
    names = {endpoint: id for id, endpoint in ENDPOINTS.items()}
    read = {proof.provider for proof in PROOFS if proof.cell.startswith(("reasoning_field", "thinking in"))}
    assert {names.get(endpoint, endpoint) for endpoint in endpoints} - read == set()


def test_every_proof_is_of_a_row_and_no_cell_is_proved_twice() -> None:
    assert {proof.provider for proof in PROOFS} <= set(PROVIDERS)
    assert len({(proof.provider, proof.cell, proof.model) for proof in PROOFS}) == len(PROOFS)
