"""The wire protocol `bedrock-converse`: models of many vendors at Amazon Bedrock, streamed and whole."""

from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.protocols.anthropic.families import family_of as family_of_claude
from thinkaloud.protocols.base import WireProtocol
from thinkaloud.protocols.bedrock import blocks, encode, errors, families, output, parse
from thinkaloud.protocols.bedrock.options import Adaptive, BedrockOptions, BetweenTools, Budget, Disabled


def _control(model: Model, dialect: Dialect) -> ThinkingControl | None:
    family = families.family_of(model)
    return family_of_claude(model).control if family.claude else family.control


PROTOCOL = WireProtocol(
    id=blocks.PROTOCOL_ID,
    framing="awsevents",
    options=BedrockOptions,
    parser=parse.BedrockParser,
    encode=encode.encode,
    error=errors.error,
    control=_control,
    takes_output=output.takes_output,
    response_id_header="x-amzn-requestid",
)

__all__ = ["PROTOCOL", "Adaptive", "BedrockOptions", "BetweenTools", "Budget", "Disabled"]
