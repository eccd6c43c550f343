"""Every provider of the table, over HTTP: the requests of one conversation are those of its golden file.

The files in `golden/providers` are read by people before they are believed: after a change on purpose write them anew
with `THINKALOUD_WRITE_GOLDEN=1 pytest tests/test_every_provider.py`, and review the difference.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import thinkaloud as ta
from support.provider_calls import CONVERSATIONS, KEY, converse, environment, variables
from thinkaloud.models.providers import PROVIDERS

GOLDEN = Path(__file__).parent / "golden" / "providers"
WRITE = bool(os.environ.get("THINKALOUD_WRITE_GOLDEN"))


@pytest.mark.anyio
@pytest.mark.parametrize("provider", CONVERSATIONS)
async def test_the_requests_of_a_conversation_are_the_golden_ones(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversations = []
    for asked in CONVERSATIONS[provider]:
        with monkeypatch.context() as patch:
            for name in variables():
                patch.delenv(name, raising=False)
            for name, value in environment(provider, asked).items():
                patch.setenv(name, value)
            answers, sent = await converse(provider, asked)
        assert [answer.stop_reason for answer in answers] == [
            ta.StopReason.TOOL_USE,
            ta.StopReason.END,
            ta.StopReason.END,
        ]
        assert [answer.thinking for answer in answers] == ["I need both.", "Now I know.", ""]
        assert answers[1].text == "Rain, and it is noon."
        conversations.append({"model": asked.model, "environment": dict(asked.environment), "requests": sent})
    said = json.dumps(conversations, indent=1, ensure_ascii=False)
    assert KEY not in said
    file = GOLDEN / f"{provider}.json"
    if WRITE:
        file.write_text(f"{said}\n")
        pytest.skip(f"{file.name} is written anew")
    golden: Any = json.loads(file.read_text())
    assert json.loads(said) == golden


def test_every_row_has_its_conversation_and_every_golden_file_its_row() -> None:
    assert set(CONVERSATIONS) == set(PROVIDERS)
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(PROVIDERS)
