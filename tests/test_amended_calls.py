"""A call that its endpoint refused for one part of it is written again without that part, and tells so."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from thinkaloud import Model, Plan, ProviderError, RateLimited, prepare
from thinkaloud.plan import amended
from thinkaloud.protocols.base import ErrorResponse
from thinkaloud.protocols.openai_responses import OpenAIResponsesOptions

MODEL = Model("openai", "gpt-5.5", protocol="openai-responses")
TOLD = "Your organization must be verified to generate reasoning summaries."


def refusal(message: str, param: str | None = None) -> ProviderError:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": "unsupported_value"}}
    return planned().wire.error(ErrorResponse(body=body, status=400, provider="openai"))


def planned(**options: Any) -> Plan:
    return prepare(MODEL, "Hi", reasoning="high", **options)


def test_a_refused_summary_is_left_out_and_told() -> None:
    plan = planned(extra_headers={"x-team": "blue"}, extra_body={"user": "u-1"}, max_tokens=900)
    assert plan.body["reasoning"] == {"effort": "high", "summary": "auto"}

    again = amended(plan, refusal(TOLD, "reasoning.summary"))

    assert again is not None
    assert again.body == {**plan.body, "reasoning": {"effort": "high"}}
    assert again.request.url == plan.request.url
    assert again.request.headers == plan.request.headers
    assert again.level == plan.level
    assert [notice.code for notice in again.notices] == ["summary_refused"]
    assert TOLD in str(again.notices[0].detail["told"])


def test_a_refusal_that_speaks_of_summaries_without_naming_the_field_is_understood() -> None:
    assert amended(planned(), refusal(TOLD)) is not None


def test_a_summary_that_the_caller_chose_is_not_left_out() -> None:
    plan = planned(options=OpenAIResponsesOptions(summary="detailed"))
    assert amended(plan, refusal(TOLD, "reasoning.summary")) is None


def test_a_summary_is_left_out_once() -> None:
    again = amended(planned(), refusal(TOLD, "reasoning.summary"))
    assert again is not None
    assert amended(again, refusal(TOLD, "reasoning.summary")) is None


def test_other_refusals_are_not_amended() -> None:
    assert amended(planned(), refusal("Unknown parameter.", "text.verbosity")) is None
    assert amended(planned(), refusal("The summary of your order is too long.")) is None
    assert amended(planned(), RateLimited(TOLD)) is None


def test_a_refusal_about_the_messages_is_not_about_the_summary_whatever_it_quotes() -> None:
    assert amended(planned(), refusal("input[2] has a reasoning.summary that is no list", "input[2].summary")) is None


def test_notices_of_the_call_stay_beside_that_of_the_change() -> None:
    plan = prepare(MODEL, "Hi", reasoning="minimal")
    again = amended(plan, refusal(TOLD, "reasoning.summary"))
    assert again is not None
    assert [notice.code for notice in again.notices] == ["level_clamped", "summary_refused"]


def test_a_protocol_that_amends_nothing_gives_nothing() -> None:
    plan = planned()
    assert amended(evolve(plan, wire=evolve(plan.wire, amend=None)), refusal(TOLD, "reasoning.summary")) is None
