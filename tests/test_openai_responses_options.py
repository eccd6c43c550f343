"""Options that cannot work are refused with the field and the fix."""

from __future__ import annotations

from typing import Any

import pytest

from thinkaloud.errors import ConfigurationError
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"effort": "extreme"}, "effort='extreme': use one of 'none', 'minimal'"),
        ({"summary": "long"}, "summary='long': use one of 'auto'"),
        ({"context": "all"}, "context='all': use one of"),
        ({"mode": "amateur"}, "mode='amateur': use one of"),
        ({"verbosity": 3}, "verbosity=3: use one of"),
        ({"truncation": "yes"}, "truncation='yes': use one of"),
        ({"store": 1}, "store=1: use True, False or None"),
        ({"text_format": "json"}, "text_format='json': give a mapping"),
        ({"prompt_cache_options": []}, r"prompt_cache_options=\[\]: give a mapping"),
        ({"include": [""]}, "include has ''"),
        ({"previous_response_id": ""}, "previous_response_id='': give a text"),
        ({"max_tool_calls": 0}, "max_tool_calls=0 must be a whole number above 0"),
        ({"max_tool_calls": True}, "max_tool_calls=True must be a whole number above 0"),
        ({"context_management": ["x"]}, "context_management has 'x'"),
        ({"metadata": {"a": 1}}, r"metadata\['a'\]"),
        ({"safety_identifier": "x" * 129}, "safety_identifier has 129 characters"),
        ({"previous_response_id": "r", "conversation": "c"}, "exclude each other"),
        ({"conversation": "c", "store": False}, "store=False does not go with conversation"),
        ({"effort": "none", "summary": "auto"}, "summary='auto' does not go with effort='none'"),
    ],
)
def test_a_value_that_cannot_work_is_refused(fields: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        OpenAIResponsesOptions(**fields)


def test_names_and_mappings_may_come_one_by_one() -> None:
    single: Any = {"include": "a", "context_management": {"type": "compaction"}}
    options = OpenAIResponsesOptions(**single)
    assert (options.include, options.context_management) == (("a",), ({"type": "compaction"},))


def test_nothing_is_set_by_itself() -> None:
    assert OpenAIResponsesOptions() == OpenAIResponsesOptions(effort=None, store=None, include=None)
