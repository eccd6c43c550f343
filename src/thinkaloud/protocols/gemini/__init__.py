"""The wire protocol `gemini`: generateContent on the Gemini Developer API and on Vertex AI."""

from thinkaloud.protocols.base import WireProtocol
from thinkaloud.protocols.gemini import encode, errors, families, output, parse
from thinkaloud.protocols.gemini.options import GeminiOptions

PROTOCOL = WireProtocol(
    id=parse.PROTOCOL_ID,
    framing="sse",
    options=GeminiOptions,
    parser=parse.GeminiParser,
    encode=encode.encode,
    error=errors.error,
    control=families.thinking_control,
    takes_output=output.takes_output,
)

__all__ = ["PROTOCOL", "GeminiOptions"]
