"""The wire protocol `bedrock-converse`: models of many vendors at Amazon Bedrock, streamed and whole."""

from thinkaloud.protocols.base import WireProtocol
from thinkaloud.protocols.bedrock import blocks, encode, errors, parse
from thinkaloud.protocols.bedrock.options import BedrockOptions

PROTOCOL = WireProtocol(
    id=blocks.PROTOCOL_ID,
    framing="awsevents",
    options=BedrockOptions,
    parser=parse.BedrockParser,
    encode=encode.encode,
    error=errors.error,
    response_id_header="x-amzn-requestid",
)

__all__ = ["PROTOCOL", "BedrockOptions"]
