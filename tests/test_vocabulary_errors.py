"""Every error class keeps all its fields through pickle and copies."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from typing import Any

import pytest

from support.vocabulary import ASSISTANT
from thinkaloud import errors
from thinkaloud.errors import ConfigurationError, DeadlineExceeded, ProviderError, ThinkaloudError
from thinkaloud.notices import Issue, Notice

CLASSES = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, ThinkaloudError)]
FIELDS: dict[str, Any] = {
    "variables": ("ANTHROPIC_API_KEY",),
    "issues": (Issue("call_without_result", "messages[1]", "add a result"),),
    "path": "messages[3].content[1].signature",
    "provider": "anthropic",
    "status": 529,
    "code": "overloaded_error",
    "request_id": "req_1",
    "body": {"error": {"type": "overloaded_error"}},
    "retryable": True,
    "retry_after": 1.5,
    "notices": (Notice("retrying", "again", detail={"attempt": 2}),),
    "partial": ASSISTANT,
    "kind": "silence",
    "which": "event_size",
    "limit": 16,
    "raw": '{"a": ',
}
every_class = pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: str(kind.__name__))


def made(kind: type[ThinkaloudError]) -> tuple[ThinkaloudError, dict[str, Any]]:
    """An error with all the fields that its class has."""
    names = [name for name, it in inspect.signature(kind).parameters.items() if it.kind is it.KEYWORD_ONLY]
    fields = {name: FIELDS[name] for name in names}
    return kind("what happened", **fields), fields


@every_class
def test_an_error_keeps_its_fields(kind: type[ThinkaloudError]) -> None:
    error, fields = made(kind)
    assert {name: getattr(error, name) for name in fields} == fields
    assert error.message == str(error) == "what happened"


@every_class
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_an_error_survives_pickle(kind: type[ThinkaloudError], protocol: int) -> None:
    error, fields = made(kind)
    loaded = pickle.loads(pickle.dumps(error, protocol))
    assert type(loaded) is kind
    assert {name: getattr(loaded, name) for name in fields} == fields
    assert loaded.message == "what happened"


@every_class
def test_an_error_survives_copies(kind: type[ThinkaloudError]) -> None:
    error, fields = made(kind)
    for copied in (copy.copy(error), copy.deepcopy(error)):
        assert type(copied) is kind
        assert {name: getattr(copied, name) for name in fields} == fields
        assert str(copied) == "what happened"


@every_class
def test_a_note_survives_with_its_error(kind: type[ThinkaloudError]) -> None:
    error, _ = made(kind)
    error.add_note("seen on Tuesday")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["seen on Tuesday"]


@every_class
def test_an_error_needs_no_fields(kind: type[ThinkaloudError]) -> None:
    assert kind().message == ""
    assert str(kind()) == ""
    assert repr(kind("a")) == f"{kind.__name__}('a')"


@every_class
def test_an_error_is_in_the_drawing_of_the_tree(kind: type[ThinkaloudError]) -> None:
    drawn = re.findall(r"^ {4}[│ ├└─]*(\w+)", errors.__doc__ or "", re.MULTILINE)
    assert drawn.count(kind.__name__) == 1


def test_the_errors_that_waiting_may_mend_say_so() -> None:
    retryable = {kind.__name__ for kind in CLASSES if issubclass(kind, ProviderError) and kind().retryable}
    assert retryable == {"RateLimited", "Overloaded", "ServerError", "MalformedToolCall"}


def test_a_provider_error_may_say_otherwise() -> None:
    assert errors.RateLimited("no credit", retryable=False).retryable is False
    assert errors.InvalidRequest("try again", retryable=True).retryable is True


def test_a_deadline_is_a_timeout_too() -> None:
    with pytest.raises(TimeoutError) as raised:
        raise DeadlineExceeded("too slow", kind="silence", partial=ASSISTANT)
    assert raised.value.partial is ASSISTANT  # type: ignore[attr-defined]


def test_variables_and_issues_become_tuples() -> None:
    assert errors.MissingCredentials("no key", variables=["A", "B"]).variables == ("A", "B")
    assert errors.HistoryError("bad", issues=[]).issues == ()


def test_configuration_errors_are_no_provider_errors() -> None:
    assert not issubclass(ConfigurationError, ProviderError)
