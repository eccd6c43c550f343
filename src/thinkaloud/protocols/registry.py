"""The wire protocols by id, each loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module

from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.protocols.base import WireProtocol

_FOLDERS = {
    "anthropic-messages": "anthropic",
    "bedrock-converse": "bedrock",
    "gemini": "gemini",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
}

PROTOCOL_IDS = tuple(_FOLDERS)


def wire_protocol(id: str) -> WireProtocol:
    """Find a protocol by its id. Raises ConfigurationError for an unknown one."""
    if not isinstance(id, str) or id not in _FOLDERS:
        raise ConfigurationError(f"protocol={shown(id)} is unknown; use one of: {', '.join(_FOLDERS)}")
    protocol: WireProtocol = import_module(f"thinkaloud.protocols.{_FOLDERS[id]}").PROTOCOL
    return protocol
