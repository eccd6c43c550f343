"""Where the signatures of thinking verify, and which models tie them to all that stands before them."""

from __future__ import annotations

import re

from thinkaloud.models.bedrock_ids import bare_id, is_claude, vendor
from thinkaloud.models.providers import provider_id

CLAUDE = "claude"

# Hosts of the Messages API that serve Claude whatever a model is called there.
_CLAUDES_OWN = frozenset({"", "anthropic", "azure-anthropic", "google-vertex"})

# Claude models that take thinking back only behind the very system text, tools and messages that it was made with
# (Anthropic's documentation: Fable 5.1 and all that came after it).
_BOUND = re.compile(r"claude-(?:(?:fable|mythos)-5-[12]|(?:opus|sonnet|haiku)-5-5)(?![0-9])")


def signing_realm(protocol: str, provider: str, model: str) -> str:
    """Name the realm in which a provider's signatures verify.

    Claude's is the same on every host. All others are a protocol's at one provider: OpenAI's at each service, Gemini's
    on each surface, a gateway's at the gateway. Bedrock serves models of several vendors, each with a realm of its own.
    """
    provider = provider_id(provider) if provider else ""
    if protocol == "anthropic-messages" and (provider in _CLAUDES_OWN or is_claude(model)):
        return CLAUDE
    if protocol == "bedrock-converse" and is_claude(model):
        return CLAUDE
    maker = f" by {vendor(model)}" if protocol == "bedrock-converse" else ""
    return f"{protocol} at {provider}{maker}"


def binds_prefix(model: str) -> bool:
    """Whether a model is known to refuse thinking whose system text, tools or earlier messages have changed."""
    return _BOUND.search(bare_id(model)) is not None
