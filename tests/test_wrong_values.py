"""Values made of what they cannot hold: an error of ours that names the field, and a TypeError as with Python's own."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.errors import WrongValue, shown

_anything: Any = None


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: ta.Text(_anything), "Text.text must be str, not NoneType"),
        (lambda: ta.Text("a", citations=_anything), "citations must be a sequence, not NoneType"),
        (lambda: ta.Thinking("a", complete=_anything), "Thinking.complete must be bool, not NoneType"),
        (lambda: ta.ToolCall.of("1", "f", _anything), "expected a JSON object"),
        (lambda: ta.Image.from_bytes("text", "image/png"), "data must be bytes, not str"),  # type: ignore[arg-type]
        (lambda: ta.UserMessage(_anything), "content must be a sequence, not NoneType"),
        (lambda: ta.UserMessage([5]), "UserMessage.content must be Text or .* not int"),  # type: ignore[list-item]
        (lambda: ta.AssistantMessage("a", origin=_anything), "AssistantMessage.origin must be Origin"),
        (lambda: ta.AssistantMessage("a", level=_anything), "level must be a sequence, not NoneType"),
        (lambda: ta.AssistantMessage("a", level=(None,) * 3), "level has 3 values, of at most 2"),  # type: ignore[arg-type]
        (lambda: ta.AssistantMessage("a", timing=5), "timing must be a sequence"),  # type: ignore[arg-type]
        (lambda: ta.AssistantMessage("a", notices=_anything), "notices must be a sequence"),
        (lambda: ta.ToolResult("1", is_error=_anything), "ToolResult.is_error must be bool"),
        (lambda: ta.Conversation(_anything), "messages must be a sequence, not NoneType"),
        (lambda: ta.Conversation([5]), r"messages\[0\] must be a UserMessage"),  # type: ignore[list-item]
        (lambda: ta.Conversation("a").adding(5), "messages must be a sequence, not int"),  # type: ignore[arg-type]
        (lambda: ta.Usage(input=1.5), "input must be a whole number or None, not float"),  # type: ignore[arg-type]
        (lambda: ta.Cost(input=10**400), "Cost.input must be float, not int"),
        (lambda: ta.Notice(_anything), "Notice.code must be str"),
        (lambda: ta.Tool("f", handler=5), "Tool.handler must be a function, not int"),  # type: ignore[arg-type]
        (lambda: ta.Tool("f", "", _anything), "expected a JSON object"),
        (lambda: ta.ServerTool({"a": object()}), "object is not JSON"),  # type: ignore[dict-item]
        (lambda: ta.ToolChoice("some"), "ToolChoice.mode must be one of auto, .* not 'some'"),  # type: ignore[arg-type]
    ],
)
def test_a_value_made_of_the_wrong_type_is_an_error_that_names_the_field(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=told) as raised:
        make()
    assert isinstance(raised.value, TypeError)


def test_a_list_that_holds_itself_is_told_by_its_type() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for make in (ta.Text, ta.ToolResult, ta.Tool, ta.Notice):
        with pytest.raises(ta.ConfigurationError, match="must be str, not list"):
            make(endless)  # type: ignore[arg-type]


def test_wrong_values_survive_pickle() -> None:
    copy = pickle.loads(pickle.dumps(WrongValue("Text.text must be str")))
    assert type(copy) is WrongValue
    assert copy.message == "Text.text must be str"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("high", "'high'"),
        (None, "None"),
        (1.5, "1.5"),
        (7, "7"),
        (10**400, "a number of 1329 bits"),
        ("a" * 1000, f"'{'a' * 80}'… (1000 characters)"),
        ([["deep"]], "of the type list"),
    ],
)
def test_what_an_error_quotes_is_short(value: Any, told: str) -> None:
    assert shown(value) == told
