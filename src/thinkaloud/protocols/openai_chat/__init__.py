"""Chat completions: OpenAI, Azure, and every endpoint that is compatible with them.

An endpoint's deviations are data (`models.dialect`); the four files here serve them all.
"""

from __future__ import annotations

from thinkaloud.protocols.base import WireProtocol
from thinkaloud.protocols.openai_chat.encode import encode
from thinkaloud.protocols.openai_chat.errors import error
from thinkaloud.protocols.openai_chat.options import OpenAIChatOptions
from thinkaloud.protocols.openai_chat.parse import OpenAIChatParser

PROTOCOL = WireProtocol(
    id="openai-chat",
    framing="sse",
    options=OpenAIChatOptions,
    parser=OpenAIChatParser,
    encode=encode,
    error=error,
)

__all__ = ["PROTOCOL", "OpenAIChatOptions"]
