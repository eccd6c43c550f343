"""The wire protocol `anthropic-messages`: Claude at Anthropic, on Vertex and Azure, and compatible servers."""

from thinkaloud.protocols.anthropic.blocks import PROTOCOL_ID
from thinkaloud.protocols.anthropic.encode import encode
from thinkaloud.protocols.anthropic.errors import error
from thinkaloud.protocols.anthropic.options import AnthropicOptions
from thinkaloud.protocols.anthropic.parse import AnthropicParser
from thinkaloud.protocols.base import WireProtocol

PROTOCOL = WireProtocol(
    id=PROTOCOL_ID,
    framing="sse",
    options=AnthropicOptions,
    parser=AnthropicParser,
    encode=encode,
    error=error,
)
