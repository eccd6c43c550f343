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
    said = written(conversations)
    assert json.loads(said) == conversations
    assert KEY not in said
    file = GOLDEN / f"{provider}.json"
    if WRITE:
        file.write_text(said)
        pytest.skip(f"{file.name} is written anew")
    assert conversations == json.loads(file.read_text())


def written(conversations: list[dict[str, Any]]) -> str:
    """JSON with a line for each field of a request and each message in it."""

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    def field(name: str, value: Any) -> str:
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return f"    {line(name)}: [\n" + ",\n".join(f"     {line(item)}" for item in value) + "\n    ]"
        return f"    {line(name)}: {line(value)}"

    def request(sent: dict[str, Any]) -> str:
        body = ",\n".join(field(name, value) for name, value in sent["body"].items())
        return (
            f'  {{"url": {line(sent["url"])},\n   "headers": {line(sent["headers"])},\n   "body": {{\n{body}\n   }}}}'
        )

    def conversation(held: dict[str, Any]) -> str:
        about = line({name: value for name, value in held.items() if name != "requests"})
        requests = ",\n".join(request(sent) for sent in held["requests"])
        return f' {about[:-1]}, "requests": [\n{requests}\n ]}}'

    return "[\n" + ",\n".join(conversation(held) for held in conversations) + "\n]\n"


def test_every_row_has_its_conversation_and_every_golden_file_its_row() -> None:
    assert set(CONVERSATIONS) == set(PROVIDERS)
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(PROVIDERS)
