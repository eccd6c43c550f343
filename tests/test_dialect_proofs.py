"""The dialects in the providers table are those that recorded exchanges show, or that somebody is named for."""

from __future__ import annotations

import re

import pytest
from attrs import fields

from support.dialect_proofs import CELLS, PROOFS, Proof, Seen
from support.dialect_sources import SOURCES
from support.shared import Recording, needs_shared, recordings
from thinkaloud.models.dialect import Dialect
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


# Cells that more than one kind of proof speaks of.
READ = {"think_tags": "thinking in tags"}


def cells() -> set[tuple[str, str]]:
    """All that the table says of a provider, or of some models of it, beyond what holds of any endpoint."""
    said: set[tuple[str, str]] = set()
    for row in PROVIDERS.values():
        variants = [(row.id, Dialect(), row.dialect)]
        variants += [(f"{row.id} {pattern}", row.dialect, dialect) for pattern, dialect in row.dialect.by_model]
        for name, usual, dialect in variants:
            for cell in (field.name for field in fields(Dialect)):
                if cell != "by_model" and getattr(dialect, cell) != getattr(usual, cell):
                    said.add((name, cell))
    return said


def proved() -> set[tuple[str, str]]:
    """What recordings show, by the same names."""
    shown: set[tuple[str, str]] = set()
    for proof in PROOFS:
        name = proof.provider
        for pattern, _ in PROVIDERS[name].dialect.by_model:
            if proof.model and re.search(pattern, proof.model.lower()):
                name = f"{name} {pattern}"
        shown |= {(name, cell) for cell in (proof.cell, *(one for one, other in READ.items() if other == proof.cell))}
    return shown


def test_every_cell_of_a_dialect_has_a_recording_or_a_source() -> None:
    told = {(row, cell) for source in SOURCES for row in source.rows for cell in source.cells}
    assert cells() - proved() - told == set()


def test_no_source_speaks_of_a_cell_that_is_not_there() -> None:
    told = [(row, cell) for source in SOURCES for row in source.rows for cell in source.cells]
    assert set(told) - cells() == set()
    assert len(set(told)) == len(told)


def test_every_proof_is_of_a_row_and_no_cell_is_proved_twice() -> None:
    assert {proof.provider for proof in PROOFS} <= set(PROVIDERS)
    assert len({(proof.provider, proof.cell, proof.model) for proof in PROOFS}) == len(PROOFS)
