"""The wire protocol `anthropic-messages`: Claude at Anthropic, on Vertex and Azure, and compatible servers."""

from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.protocols.anthropic import blocks, encode, errors, families, output, parse
from thinkaloud.protocols.anthropic.options import Adaptive, AnthropicOptions, BetweenTools, Budget, Disabled
from thinkaloud.protocols.base import WireProtocol


def _control(model: Model, dialect: Dialect) -> ThinkingControl:
    return families.family_of(model).control


PROTOCOL = WireProtocol(
    id=blocks.PROTOCOL_ID,
    framing="sse",
    options=AnthropicOptions,
    parser=parse.AnthropicParser,
    encode=encode.encode,
    error=errors.error,
    control=_control,
    takes_output=output.takes_output,
)

__all__ = ["PROTOCOL", "Adaptive", "AnthropicOptions", "BetweenTools", "Budget", "Disabled"]
