"""The wires that a scripted model speaks: a table by protocol id, and by the path that a request came to."""

from __future__ import annotations

from thinkaloud.testing import wire_anthropic, wire_bedrock, wire_gemini, wire_openai_chat, wire_openai_responses
from thinkaloud.testing.encoding import Asked, ThinkingIn, WireEncoder
from thinkaloud.testing.reply import Reply, ScriptError

ENCODERS: dict[str, WireEncoder] = {
    encoder.protocol: encoder
    for encoder in (
        wire_anthropic.ENCODER,
        wire_bedrock.ENCODER,
        wire_gemini.ENCODER,
        wire_openai_chat.ENCODER,
        wire_openai_responses.ENCODER,
    )
}


def encoder_of(protocol: str) -> WireEncoder:
    """Find an encoder by protocol id. Raises ScriptError for one that is not there."""
    if protocol not in ENCODERS:
        raise ScriptError(f"the test kit does not speak {protocol!r}; it speaks {', '.join(ENCODERS)}")
    return ENCODERS[protocol]


def encoder_at(path: str) -> WireEncoder | None:
    """Find the encoder of the protocol that is served at a path; None where none is."""
    return next((encoder for encoder in ENCODERS.values() if encoder.path.search(path)), None)


def encode_stream(
    protocol: str,
    reply: Reply | str,
    *,
    model: str = "scripted",
    usage: bool = True,
    thinking_in: ThinkingIn = "reasoning_content",
) -> list[bytes]:
    """Say a reply as the wire events of a streamed answer; joined they are its body.

    model: the model that was asked for.
    usage: chat streams have usage on request only; False leaves it out.
    thinking_in: where a chat endpoint puts thinking.

    Raises ScriptError where the wire cannot say it.
    """
    asked = Asked(stream=True, model=model, usage=usage, thinking_in=thinking_in)
    return encoder_of(protocol).stream(_as_reply(reply), asked)


def encode_whole(
    protocol: str,
    reply: Reply | str,
    *,
    model: str = "scripted",
    thinking_in: ThinkingIn = "reasoning_content",
) -> bytes:
    """Say a reply as the body of an answer that is not streamed; arguments as in `encode_stream`."""
    asked = Asked(stream=False, model=model, thinking_in=thinking_in)
    return encoder_of(protocol).whole(_as_reply(reply), asked)


def _as_reply(reply: Reply | str) -> Reply:
    return Reply(reply) if isinstance(reply, str) else reply
