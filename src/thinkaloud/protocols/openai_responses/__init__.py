"""The wire protocol `openai-responses`: OpenAI, Azure, xAI, and every other server that speaks it, statelessly."""

from __future__ import annotations

from thinkaloud.protocols.base import WireProtocol
from thinkaloud.protocols.openai_responses import amend, encode, errors, families, items, output, parse
from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions

PROTOCOL = WireProtocol(
    id=items.PROTOCOL_ID,
    framing="sse",
    options=OpenAIResponsesOptions,
    parser=parse.OpenAIResponsesParser,
    encode=encode.encode,
    error=errors.error,
    control=families.thinking_control,
    takes_output=output.takes_output,
    amend=amend.amend,
)

__all__ = ["PROTOCOL", "OpenAIResponsesOptions"]
