"""Native options are checked where they are made, and the error names the field and the fix."""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.errors import ConfigurationError
from thinkaloud.messages import UserMessage
from thinkaloud.models.model import Model
from thinkaloud.protocols.base import Call
from thinkaloud.protocols.openai_chat import PROTOCOL, OpenAIChatOptions


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"effort": "huge"}, ("effort='huge'", "'xhigh'")),
        ({"effort": 3}, ("effort=3",)),
        ({"verbosity": "loud"}, ("verbosity='loud'", "'medium'")),
        ({"service_tier": ""}, ("service_tier=''", "not empty")),
        ({"prompt_cache_key": 7}, ("prompt_cache_key=7",)),
        ({"store": "yes"}, ("store='yes'", "True, False")),
        ({"metadata": {"a": 1}}, ("metadata['a']", "512")),
        ({"metadata": {"k" * 65: "v"}}, ("64",)),
        ({"metadata": {"a": "v" * 513}}, ("512",)),
        ({"metadata": {str(n): "v" for n in range(17)}}, ("17 pairs", "16")),
        ({"metadata": ["a"]}, ("metadata=['a']", "mapping")),
        ({"safety_identifier": "x" * 129}, ("safety_identifier has 129", "128")),
        ({"user": ""}, ("user=''",)),
        ({"reasoning": "high"}, ("reasoning='high'", "mapping")),
        ({"reasoning": {1: 2}}, ("reasoning=", "string keys")),
        ({"effort": "low", "reasoning": {"effort": "low"}}, ("effort and reasoning",)),
        ({"reasoning": {"effort": "low", "max_tokens": 5}}, ("effort and max_tokens",)),
    ],
)
def test_what_cannot_work_is_refused_by_name(fields: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        OpenAIChatOptions(**fields)
    assert all(word in caught.value.message for word in words)


def test_options_go_into_the_body_under_their_own_names() -> None:
    options = OpenAIChatOptions(
        verbosity="low",
        service_tier="flex",
        prompt_cache_key="k",
        store=False,
        metadata={"team": "a"},
        safety_identifier="s",
        user="u",
    )
    body = PROTOCOL.encode(Call(model=Model("openai", "m"), messages=(UserMessage("hi"),), options=options)).body
    assert {name: body[name] for name in body if name not in ("model", "messages", "stream", "stream_options")} == {
        "verbosity": "low",
        "service_tier": "flex",
        "prompt_cache_key": "k",
        "store": False,
        "metadata": {"team": "a"},
        "safety_identifier": "s",
        "user": "u",
    }


def test_options_that_say_nothing_send_nothing() -> None:
    call = Call(model=Model("openai", "m"), messages=(UserMessage("hi"),), stream=False)
    assert PROTOCOL.encode(call).body == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def test_options_are_values() -> None:
    assert OpenAIChatOptions(effort="low") == OpenAIChatOptions(effort="low")
    assert hash(OpenAIChatOptions(metadata={"a": "b"})) == hash(OpenAIChatOptions(metadata={"a": "b"}))
    assert PROTOCOL.options is OpenAIChatOptions
