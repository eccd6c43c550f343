"""A provider is the same by whatever name it is called."""

from __future__ import annotations

import pytest

from thinkaloud.content import Thinking
from thinkaloud.errors import UnknownModel
from thinkaloud.history.switching import for_target
from thinkaloud.messages import AssistantMessage, Origin
from thinkaloud.models.model import Model
from thinkaloud.models.providers import PROVIDERS, find_provider, provider_id
from thinkaloud.models.resolve import find_model


@pytest.mark.parametrize(
    ("name", "id"), [("moonshot", "moonshotai"), ("alibaba", "qwen"), ("x-ai", "xai"), ("hf", "huggingface")]
)
def test_common_names_lead_to_the_row(name: str, id: str) -> None:
    assert provider_id(name) == id
    assert find_provider(name) is PROVIDERS[id]


def test_a_name_that_is_not_known_stays_and_has_no_row() -> None:
    assert provider_id("my-own") == "my-own"
    with pytest.raises(UnknownModel, match="deepseek"):
        find_provider("my-own")


def test_thinking_that_a_provider_made_under_another_name_is_its_own() -> None:
    message = AssistantMessage((Thinking("why"),), origin=Origin("openai-chat", "moonshot", "kimi-k3"))
    switched = for_target([message], Model("moonshotai", "kimi-k3", protocol="openai-chat"))
    assert (switched.messages, switched.notices) == ((message,), ())
    assert for_target([message], Model("deepseek", "m", protocol="openai-chat")).messages != (message,)


def test_every_chat_endpoint_has_one_shape_of_effort_and_one_way_of_replay() -> None:
    for row in PROVIDERS.values():
        if row.protocol == "openai-chat":
            assert row.dialect.replay_blank is None or row.dialect.replay_field is not None
            assert list(row.dialect.levels) == sorted(row.dialect.levels, key=lambda level: level.rank)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("anthropc/claude-opus-5", "did you mean anthropic? There are: anthropic, "),
        ("nowhere/x", "use one of: anthropic, "),
        (Model("mine", "x"), "or give a Model its protocol= and base_url="),
        (Model("mine", "x", base_url="http://localhost:9000/v1"), "a Model at one of your own needs protocol= too"),
        (Model("mine", "x", protocol="openai-chat"), "a Model at one of your own needs base_url= too"),
    ],
)
def test_an_unknown_provider_is_told_what_helps(model: str | Model, words: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        find_model(model)
    assert words in str(caught.value)
