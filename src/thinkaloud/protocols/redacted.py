"""Payloads of redacted thinking as the hosts of Claude write them: the same data in two encodings.

The Messages API gives a string; Converse gives the base64 text of that string's bytes. Blocks keep what they came with,
so a payload is written anew only where it goes to the other kind of host.
"""

from __future__ import annotations

from base64 import b64decode, b64encode

MESSAGES = "anthropic-messages"
CONVERSE = "bedrock-converse"


def payload_for(target: str, data: str, origin: str) -> str | None:
    """The payload as a protocol takes it; None where it cannot be one.

    target, origin: protocols that it goes to and came from; one that is unknown is taken to be the same.
    """
    if (origin, target) == (MESSAGES, CONVERSE):
        return b64encode(data.encode("utf-8", "surrogatepass")).decode("ascii")
    if (origin, target) == (CONVERSE, MESSAGES):
        try:
            return b64decode(data, validate=True).decode()
        except ValueError:
            return None
    return data
