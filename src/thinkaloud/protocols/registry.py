"""The wire protocols by id, each loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module

from thinkaloud.errors import ConfigurationError
from thinkaloud.protocols.base import WireProtocol

_FOLDERS = {
    "anthropic-messages": "anthropic",
    "bedrock-converse": "bedrock",
    "gemini": "gemini",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
}
_BUILT = frozenset({"anthropic-messages", "bedrock-converse", "gemini", "openai-chat", "openai-responses"})

PROTOCOL_IDS = tuple(_FOLDERS)


def wire_protocol(id: str) -> WireProtocol:
    """Find a protocol by its id. Raises ConfigurationError for an unknown one, or one that this version lacks."""
    if id not in _FOLDERS:
        raise ConfigurationError(f"protocol={id!r} is unknown; use one of: {', '.join(_FOLDERS)}")
    if id not in _BUILT:
        raise ConfigurationError(f"protocol={id!r} is not in this version yet; it has: {', '.join(sorted(_BUILT))}")
    protocol: WireProtocol = import_module(f"thinkaloud.protocols.{_FOLDERS[id]}").PROTOCOL
    return protocol
