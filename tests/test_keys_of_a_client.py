"""A key goes to the provider that it is for, and a model to its own address: also where others are asked instead."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.testing import Failure, Reply, Scripted, no_backoff

CLAUDE, GPT = "anthropic/claude-opus-5", "openai/gpt-5.2"
VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")


@pytest.fixture(autouse=True)
def _nothing_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def sent_by_a_fallback(**options: Any) -> list[Mapping[str, str]]:
    """The credentials of both requests: of Claude's, which fails, and of GPT's."""
    scripted = Scripted([Failure(529), Reply("Hello")])
    client = ta.Client(transport=scripted.transport(), retries=0, **options)
    with no_backoff():
        ta.complete_sync(CLAUDE, "Hi", fallbacks=[GPT], client=client)
    return [request.credentials for request in scripted.requests]


def test_a_lone_key_is_not_sent_to_a_fallback_at_another_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    assert sent_by_a_fallback(api_key="key-of-anthropic") == [
        {"x-api-key": "key-of-anthropic"},
        {"authorization": "Bearer key-of-openai"},
    ]


def test_without_a_key_for_the_fallback_the_call_is_refused_before_it_begins() -> None:
    with pytest.raises(ta.MissingCredentials) as caught:
        sent_by_a_fallback(api_key="key-of-anthropic")
    assert str(caught.value) == (
        "no key for provider 'openai': set the environment variable OPENAI_API_KEY, or "
        'use Client(api_key={"openai": ...})'
    )


def test_each_provider_has_its_own_key_in_a_mapping() -> None:
    keys = {"anthropic": "key-of-anthropic", "openai": lambda: "key-of-openai"}
    assert sent_by_a_fallback(api_key=keys) == [
        {"x-api-key": "key-of-anthropic"},
        {"authorization": "Bearer key-of-openai"},
    ]


def test_a_provider_that_the_mapping_does_not_name_takes_the_environment_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-anthropic")
    assert sent_by_a_fallback(api_key={"openai": "key-of-openai"})[0] == {"x-api-key": "key-of-anthropic"}


def test_a_gateway_gets_its_key_for_all_models() -> None:
    assert sent_by_a_fallback(api_key="key", base_url="https://gateway.example/v1") == [
        {"x-api-key": "key"},
        {"authorization": "Bearer key"},
    ]


def test_a_bearer_token_is_not_sent_to_a_fallback_at_another_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    sent = sent_by_a_fallback(auth=ta.BearerAuth("token-of-anthropic"))
    assert sent[1] == {"authorization": "Bearer key-of-openai"}


def test_the_address_of_the_call_then_of_the_model_then_of_the_client() -> None:
    mine = ta.Model("mine", "some-model", protocol="openai-chat", base_url="https://mine.example/v1")
    client = ta.Client(base_url="https://gateway.example/v1")
    called = "https://called.example/v1"
    assert client.prepare(mine, "Hi", base_url=called).url == "https://called.example/v1/chat/completions"
    assert client.prepare(mine, "Hi").url == "https://mine.example/v1/chat/completions"
    assert client.prepare(CLAUDE, "Hi").url.startswith("https://gateway.example/v1/")


@pytest.mark.parametrize("keys", [{"openai": 7}, {"openai": ""}, {7: "key-that-is-secret"}])
def test_keys_that_are_none_are_refused_and_shown_to_nobody(keys: Any) -> None:
    with pytest.raises(ta.ConfigurationError) as caught:
        ta.Client(api_key={"anthropic": "key-that-is-secret", **keys})
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    inside = [frame for frame in frames.stack if "thinkaloud/" in frame.filename and "tests" not in frame.filename]
    assert inside
    assert "key-that-is-secret" not in str([frame.locals for frame in inside])
