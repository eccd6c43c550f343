"""The providers: who serves which protocol where, with which key and in which dialect, and what finds a row.

Base URLs, variables and dialects are those of each provider's own documentation, or of its client library. Where a
recorded answer or an accepted request of a provider shows a trait, a test reads it there; where the documentation alone
says something unusual, a comment tells.
"""

from __future__ import annotations

from difflib import get_close_matches

from thinkaloud.errors import UnknownModel, shown
from thinkaloud.models.cloud_rows import CLOUDS
from thinkaloud.models.endpoint_rows import ENDPOINTS
from thinkaloud.models.provider import Provider as Provider
from thinkaloud.models.provider import check_provider

PROVIDERS: dict[str, Provider] = {row.id: row for row in (*CLOUDS, *ENDPOINTS)}

_ALIASES = {
    "aws": "bedrock",
    "amazon-bedrock": "bedrock",
    "alibaba": "qwen",
    "dashscope": "qwen",
    "moonshot": "moonshotai",
    "kimi": "moonshotai",
    "z.ai": "zai",
    "x-ai": "xai",
    "grok": "xai",
    "gemini": "google",
    "vertex": "google-vertex",
    "google-vertex-anthropic": "google-vertex",
    "vertex-anthropic": "google-vertex",
    "foundry": "azure-anthropic",
    "azure-openai": "azure",
    "hf": "huggingface",
    "mistralai": "mistral",
    "vercel": "vercel-gateway",
    "llamacpp": "llama-cpp",
    "llama.cpp": "llama-cpp",
    "lm-studio": "lmstudio",
}


def provider_id(name: str) -> str:
    """The id of a provider that may be called by another common name; a name that is not known stays as it is."""
    return name if name in PROVIDERS else _ALIASES.get(name, name)


def register_provider(provider: Provider) -> None:
    """Add a row of your own, or put it in the place of one that is there; its models are "id/model" from then on.

    Raises ConfigurationError for a row that cannot work.
    """
    check_provider(provider)
    PROVIDERS[provider.id] = provider


def find_provider(id: str) -> Provider:
    """Find a row by id or by a common other name. Raises UnknownModel, with the names there are."""
    row = PROVIDERS.get(provider_id(id)) if isinstance(id, str) else None
    if row is None:
        near = get_close_matches(id, [*PROVIDERS, *_ALIASES], 1, 0.75) if isinstance(id, str) else []
        hint = f"did you mean {near[0]}? There are" if near else "use one of"
        raise UnknownModel(f"provider {shown(id)} is unknown; {hint}: {', '.join(sorted(PROVIDERS))}")
    return row
