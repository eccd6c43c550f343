"""What holds for any history, whoever made it and wherever it goes."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

import thinkaloud as ta
from support.reading import read
from support.sent_shapes import calls_and_results, faults
from support.targets import TARGETS, body_of, prepared, sealed, strings_in
from thinkaloud.history.decisions import SwitchPolicy
from thinkaloud.history.switching import for_target
from thinkaloud.models.resolve import resolve_model
from thinkaloud.models.signing import signing_realm
from thinkaloud.testing import Reply, encode_stream

ORIGINS = [
    ta.Origin("anthropic-messages", "anthropic", "claude-opus-5"),
    ta.Origin("anthropic-messages", "minimax", "MiniMax-M2"),
    ta.Origin("bedrock-converse", "bedrock", "us.anthropic.claude-sonnet-4-6"),
    ta.Origin("bedrock-converse", "bedrock", "amazon.nova-2-lite-v1:0"),
    ta.Origin("gemini", "google", "gemini-3-pro"),
    ta.Origin("gemini", "google-vertex", "gemini-3-pro"),
    ta.Origin("openai-responses", "openai", "gpt-5.5"),
    ta.Origin("openai-responses", "azure", "gpt-5.5"),
    ta.Origin("openai-chat", "deepseek", "deepseek-v4-pro"),
    ta.Origin("openai-chat", "openrouter", "anthropic/claude-opus-5"),
]
KINDS = ("text", "signed text", "open", "signed", "withheld", "redacted", "call", "signed call", "opaque")
STOPS = [ta.StopReason.END, ta.StopReason.TOOL_USE, ta.StopReason.LENGTH, ta.StopReason.ERROR, ta.StopReason.ABORTED]
POLICIES = [SwitchPolicy(), SwitchPolicy(foreign_thinking="text"), SwitchPolicy(orphans="synthesize")]


def seal(number: int) -> str:
    return b64encode(f"seal number {number:04}".encode()).decode()


def block(kind: str, number: int, origin: ta.Origin, complete: bool) -> ta.AssistantBlock:
    """A block whose strings no other one has."""
    words, proof = f"words {number:04}", seal(number)
    match kind:
        case "text" | "signed text":
            signature = proof if kind == "signed text" and origin.protocol == "gemini" else None
            return ta.Text(words, signature=signature, complete=complete)
        case "open":
            return ta.Thinking(words, complete=complete)
        case "signed" | "withheld":
            return ta.Thinking(words if kind == "signed" else "", signature=proof, complete=complete)
        case "redacted":
            return ta.Thinking(redacted_data=proof, complete=complete)
        case "opaque":
            data = {"type": "future", "text": words}
            return ta.Opaque(origin.protocol, kind="future", data=data, complete=complete)
        case _:
            signature = proof if kind == "signed call" and origin.protocol == "gemini" else None
            arguments = f'{{"n":{number}}}' if complete else '{"n":'
            return ta.ToolCall(
                f"call_{number:04}", name="look", arguments_json=arguments, signature=signature, complete=complete
            )


@st.composite
def histories(draw: st.DrawFn) -> ta.Conversation:
    """A history as it comes about: whole calls have results, or their answer was cut off."""
    messages: list[ta.Message] = []
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        messages.append(ta.UserMessage(f"question {len(messages):04}"))
        for _ in range(draw(st.integers(0, 2))):
            origin, stop = draw(st.sampled_from(ORIGINS)), draw(st.sampled_from(STOPS))
            cut = stop in (ta.StopReason.ERROR, ta.StopReason.ABORTED)
            blocks: list[ta.AssistantBlock] = []
            for kind in draw(st.lists(st.sampled_from(KINDS), max_size=6)):
                number += 1
                blocks.append(block(kind, number, origin, draw(st.integers(0, 4)) != 0))
            answer = ta.AssistantMessage(blocks, origin=origin, stop_reason=stop)
            messages.append(answer)
            messages += [
                ta.ToolResult(call.id, f"result {call.id}")
                for call in answer.tool_calls
                if not cut or draw(st.booleans())
            ]
    messages.append(ta.UserMessage("and now?"))
    return ta.Conversation(messages, system=draw(st.sampled_from([None, "Be brief."])))


def realm_of(model: ta.Model) -> str:
    resolved, _ = resolve_model(model)
    return signing_realm(resolved.protocol or "", resolved.provider, resolved.id)


REALMS = {protocol: realm_of(model) for protocol, model in TARGETS.items()}


@settings(max_examples=60, deadline=None)
@given(histories(), st.sampled_from(sorted(TARGETS)), st.sampled_from(POLICIES))
def test_any_history_goes_to_any_model(history: ta.Conversation, goes: str, policy: SwitchPolicy) -> None:
    target = TARGETS[goes]
    before = history.to_json()
    assert ta.validate(history, target) == ()
    plan = prepared(target, history, switch=policy)
    body = body_of(plan)
    # what a provider would refuse is not in it
    assert faults(goes, body) == []
    sent = list(strings_in(body))
    # no seal of another realm
    foreign = [
        proof
        for message in history
        if isinstance(message, ta.AssistantMessage)
        if signing_realm(message.origin.protocol, message.origin.provider, message.origin.model) != REALMS[goes]
        for proof in sealed(message)
    ]
    assert not set(foreign) & set(sent)
    # never in another order
    for start in ("words", "call_", "question"):
        kept = [text.strip() for text in sent if text.strip().startswith(start) and len(text.strip()) < 20]
        kept = list(dict.fromkeys(kept))
        if goes != "openai-chat" or start != "words":
            assert kept == sorted(kept)
    # nothing of what was given is changed, and a stored history is the same
    assert history.to_json() == before
    assert prepared(target, ta.Conversation.from_json(before), switch=policy).request.body == plan.request.body


@settings(max_examples=60, deadline=None)
@given(histories(), st.sampled_from(sorted(TARGETS)), st.sampled_from(POLICIES))
def test_every_block_is_kept_as_it_is_or_has_its_notice(
    history: ta.Conversation, goes: str, policy: SwitchPolicy
) -> None:
    model, provider = resolve_model(TARGETS[goes])
    switched = for_target(history.messages, model, dialect=provider.dialect, policy=policy)
    places = switched.given or tuple(range(len(history)))
    told = {notice.path for notice in switched.notices}
    answers = [
        (places[place], message)
        for place, message in enumerate(switched.messages)
        if isinstance(message, ta.AssistantMessage)
    ]
    for place, message in answers:
        given_message = history.messages[place]
        assert isinstance(given_message, ta.AssistantMessage)
        assert len(message.content) == len(given_message.content)
        for index, (one, other) in enumerate(zip(given_message.content, message.content, strict=True)):
            if one != other:
                assert f"messages[{place}].content[{index}]" in told
    assert [message for message in switched.messages if isinstance(message, ta.UserMessage)] == [
        message for message in history if isinstance(message, ta.UserMessage)
    ]


# what a model says goes back, and goes on wherever it was cut


@st.composite
def replies(draw: st.DrawFn) -> tuple[str, Reply]:
    protocol = draw(st.sampled_from(sorted(TARGETS)))
    origin = ta.Origin(protocol)
    allowed = [kind for kind in KINDS if kind not in ("opaque", "signed text")]
    if protocol == "openai-chat":
        allowed = ["text", "open", "call"]
    elif protocol in ("gemini", "openai-responses"):
        allowed.remove("redacted")
    kinds = draw(st.lists(st.sampled_from(allowed), min_size=1, max_size=6))
    return protocol, Reply([block(kind, number, origin, True) for number, kind in enumerate(kinds)], id="resp_1")


def parsed(protocol: str, reply: Reply, end: int | None = None) -> Any:
    body = b"".join(encode_stream(protocol, reply))
    return read(protocol, [body if end is None else body[:end]], provider=TARGETS[protocol].provider)


@settings(max_examples=60, deadline=None)
@given(replies())
def test_every_opaque_string_of_an_answer_goes_back_in_order(made: tuple[str, Reply]) -> None:
    protocol, reply = made
    message = parsed(protocol, reply).finished
    results = [ta.ToolResult(call.id, "done") for call in message.tool_calls]
    # thinking that led to nothing is not taken back: an answer ends with something
    answer = evolve(message, content=(*message.content, ta.Text("at last")))
    sent = list(strings_in(body_of(prepared(TARGETS[protocol], ["hi", answer, *results, "more"]))))
    wanted = sealed(message)
    assert [text for text in sent if text in wanted] == wanted


@settings(max_examples=80, deadline=None)
@given(replies(), st.floats(0, 1), st.sampled_from(sorted(TARGETS)))
def test_wherever_an_answer_is_cut_the_next_request_is_sound(made: tuple[str, Reply], where: float, goes: str) -> None:
    protocol, reply = made
    size = sum(map(len, encode_stream(protocol, reply)))
    message = parsed(protocol, reply, int(size * where)).message
    if message is None:
        return
    cut = message.stop_reason is ta.StopReason.ERROR
    results = [] if cut else [ta.ToolResult(call.id, "done") for call in message.tool_calls]
    history = ["hi", message, *results, "go on"]
    assert ta.validate(history, TARGETS[goes]) == ()
    body = body_of(prepared(TARGETS[goes], history))
    assert faults(goes, body) == []
    assert len(calls_and_results(body)[0]) <= len(results)
