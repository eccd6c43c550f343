"""Chat completions: OpenAI, Azure, and every endpoint that is compatible with them.

An endpoint's deviations are data (`models.dialect`); the four files here serve them all.
"""

from __future__ import annotations

from thinkaloud.protocols.base import WireProtocol
from thinkaloud.protocols.openai_chat import encode, errors, families, output, parse
from thinkaloud.protocols.openai_chat.options import OpenAIChatOptions

PROTOCOL = WireProtocol(
    id="openai-chat",
    framing="sse",
    options=OpenAIChatOptions,
    parser=parse.OpenAIChatParser,
    encode=encode.encode,
    error=errors.error,
    control=families.thinking_control,
    takes_output=output.takes_output,
)

__all__ = ["PROTOCOL", "OpenAIChatOptions"]
