"""The wire protocol `anthropic-messages`: Claude at Anthropic, on Vertex and Azure, and compatible servers."""

from thinkaloud.protocols.anthropic import blocks, encode, errors, parse
from thinkaloud.protocols.anthropic.options import AnthropicOptions
from thinkaloud.protocols.base import WireProtocol

PROTOCOL = WireProtocol(
    id=blocks.PROTOCOL_ID,
    framing="sse",
    options=AnthropicOptions,
    parser=parse.AnthropicParser,
    encode=encode.encode,
    error=errors.error,
)

__all__ = ["PROTOCOL", "AnthropicOptions"]
