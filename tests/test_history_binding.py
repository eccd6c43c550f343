"""Every answer keeps the digest of what stood before it; thinking that follows something else is told or dropped."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

import thinkaloud as ta
from support.targets import TARGETS, body_of, prepared, strings_in
from thinkaloud.history.binding import prefixes
from thinkaloud.testing import Failure, Reply, Scripted, serve

BOUND = "anthropic/claude-opus-5-5"
ORIGIN = ta.Origin("anthropic-messages", "anthropic", "claude-opus-5-5")
SEARCH = ta.Tool("search", "Searches.")
THOUGHT = ta.Thinking.signed("hm", "c2ln")


def digest(messages: list[Any], system: str | None = None, tools: tuple[ta.Tool, ...] = ()) -> str:
    return prefixes(system, tools, ta.Conversation(messages).messages).last


def answered(before: list[Any], system: str | None = None, tools: tuple[ta.Tool, ...] = ()) -> ta.AssistantMessage:
    """An answer that was made behind these."""
    return ta.AssistantMessage(
        [THOUGHT, ta.Text("so")],
        origin=ORIGIN,
        stop_reason=ta.StopReason.END,
        prefix_digest=digest(before, system, tools),
    )


def stale(plan: ta.Plan) -> list[str]:
    return [notice.path for notice in plan.notices if notice.code == "stale_thinking"]


def test_the_digest_is_this_one_for_good() -> None:
    told = digest(["hi", ta.AssistantMessage([THOUGHT, ta.Text("so")])], "Be brief.", (SEARCH,))
    assert told == "p1:8858b9cc2cd64541a0df0fbc319a9c798afb32d51f376a843bd765f6bd352842"


@pytest.mark.parametrize(
    "changed",
    [
        (["hi"], "Be long.", ()),
        (["hi"], None, ()),
        (["hi"], "Be brief.", (SEARCH,)),
        (["Hi"], "Be brief.", ()),
        (["hi", "again"], "Be brief.", ()),
        ([], "Be brief.", ()),
    ],
)
def test_system_text_tools_and_messages_are_in_the_digest(changed: Any) -> None:
    assert digest(*changed) != digest(["hi"], "Be brief.")


def test_what_is_known_besides_the_content_is_not_in_the_digest() -> None:
    answer = answered(["hi"])
    noted = evolve(answer, usage=ta.Usage(1, 2), notices=(ta.Notice("x"),), response_id="r", prefix_digest=None)
    assert digest(["hi", noted]) == digest(["hi", answer])
    assert digest(["hi", answer], "") == digest(["hi", answer], None)


def test_an_unchanged_conversation_has_nothing_stale_also_after_storing() -> None:
    history = ta.Conversation(["hi", answered(["hi"], "Be brief.", (SEARCH,)), "more"], system="Be brief.")
    loaded = ta.Conversation.from_json(history.to_json())
    for conversation in (history, loaded):
        assert stale(prepared(BOUND, conversation, tools=[SEARCH], on_stale="error")) == []


@pytest.mark.parametrize("change", [{"system": "Else."}, {"tools": [SEARCH]}])
def test_changed_prefixes_are_told_and_sent_where_nothing_else_is_said(change: dict[str, Any]) -> None:
    plan = prepared(BOUND, ["hi", answered(["hi"]), "more"], **change)
    assert stale(plan) == ["messages[1]"]
    assert "c2ln" in list(strings_in(body_of(plan)))
    assert "block_binding" not in plan.request.body.decode()


def test_a_changed_prefix_can_be_an_error() -> None:
    with pytest.raises(ta.HistoryError) as caught:
        prepared(BOUND, ["Hi", answered(["hi"]), "more"], on_stale="error")
    assert [(issue.code, issue.path) for issue in caught.value.issues] == [("stale_thinking", "messages[1]")]


def test_the_server_is_asked_to_drop_it() -> None:
    plan = prepared(BOUND, ["Hi", answered(["hi"]), "more"], on_stale="drop")
    thinking = body_of(plan)["thinking"]
    assert thinking["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
    assert "thinking-binding-controls-2026-08-01" in plan.request.headers["anthropic-beta"]
    assert stale(plan) == ["messages[1]"]


@pytest.mark.parametrize("model", ["anthropic/claude-opus-5", "google/gemini-3-pro"])
def test_models_that_bind_nothing_are_not_asked_and_nothing_is_told(model: str) -> None:
    plan = prepared(model, ["Hi", answered(["hi"]), "more"], on_stale="drop")
    assert stale(plan) == []
    assert "block_binding" not in plan.request.body.decode()


def test_digests_of_other_versions_and_answers_without_seals_are_not_judged() -> None:
    newer = evolve(answered(["hi"]), prefix_digest="p9:other")
    unsealed = evolve(answered(["hi"]), content=(ta.Text("so"),))
    assert stale(prepared(BOUND, ["Hi", newer, "more", unsealed, "more"])) == []


def test_an_unknown_word_is_refused() -> None:
    with pytest.raises(ta.ConfigurationError, match="on_stale='keep' must be one of: send, error, drop"):
        prepared(BOUND, "hi", on_stale="keep")


REFUSED = Failure(ta.StaleThinking)


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", ["anthropic-messages", "bedrock-converse", "gemini", "openai-responses"])
async def test_a_refused_call_is_sent_once_more_without_sealed_thinking(protocol: str) -> None:
    model = TARGETS[protocol]
    script = Scripted([Reply([THOUGHT, ta.Text("so")]), REFUSED, Reply([ta.Text("fine")])])
    async with serve(script) as server, ta.Client(api_key="k", base_url=server.base_url(protocol)) as client:
        first = await client.complete(model, "hi")
        assert first.prefix_digest == digest(["hi"])
        second = await client.complete(model, ["hi", first, "more"], on_stale="drop")
    assert second.text == "fine"
    sent = [request.body.decode() for request in server.requests]
    assert ["c2ln" in body for body in sent] == [False, True, False]
    assert "so" in sent[2]
    codes = [(notice.code, notice.path) for notice in second.notices]
    assert ("thinking_omitted", "messages[1].content[0]") in codes or (
        "signature_omitted",
        "messages[1].content[1]",
    ) in codes
    assert "stale_thinking_dropped" in [code for code, _ in codes]


@pytest.mark.anyio
async def test_a_call_that_is_refused_again_and_one_without_the_wish_end_with_the_error() -> None:
    history = ["hi", answered(["hi"]), "more"]
    for options, requests in (({}, 1), ({"on_stale": "drop"}, 2)):
        script = Scripted([REFUSED, REFUSED, REFUSED])
        async with (
            serve(script) as server,
            ta.Client(api_key="k", base_url=server.base_url("anthropic-messages")) as client,
        ):
            with pytest.raises(ta.StaleThinking):
                await client.complete(BOUND, history, **options)  # type: ignore[arg-type]
        assert len(server.requests) == requests
