"""The providers: who serves which protocol where, with which key and in which dialect. A table, nothing else.

Base URLs, key variables and dialects are those of each provider's own documentation; where a recorded answer of the
provider shows a trait, the reading tests prove it.
"""

from __future__ import annotations

from typing import Literal

from attrs import evolve, frozen

from thinkaloud.errors import UnknownModel
from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.dialect import Dialect, ThinkTags


@frozen(kw_only=True)
class Provider:
    """One row: who serves models.

    id: the name before the slash in "provider/model".
    protocol: wire protocol of its models.
    base_url: where paths of the protocol are appended; None: the user must give it.
    key_variables: environment variables that may hold the key, first one first; empty: no key is needed.
    base_url_variable: environment variable that may hold another base URL.
    region_variables: environment variables that may hold the region, which takes the place of {region} in the base URL.
    key_header: how the key is sent: "bearer" or the name of a header.
    auth: what lets a request in where no key is given or found: "key" nothing else, "aws" a signature by AWS
        credentials, "google" a token of Google credentials (for addresses that name a project).
    """

    id: str
    protocol: str
    base_url: str | None
    key_variables: tuple[str, ...] = ()
    base_url_variable: str | None = None
    region_variables: tuple[str, ...] = ()
    key_header: Literal["bearer", "x-api-key", "api-key", "x-goog-api-key"] = "bearer"
    key_required: bool = True
    auth: Literal["key", "aws", "google"] = "key"
    dialect: Dialect = Dialect()


def _chat(
    id: str,
    base_url: str | None,
    *keys: str,
    base_url_variable: str | None = None,
    key_required: bool = True,
    key_header: Literal["bearer", "x-api-key", "api-key"] = "bearer",
    dialect: Dialect = Dialect(),
) -> Provider:
    return Provider(
        id=id,
        protocol="openai-chat",
        base_url=base_url,
        key_variables=keys,
        base_url_variable=base_url_variable,
        key_required=key_required,
        key_header=key_header,
        dialect=dialect,
    )


_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH, _MAX = ThinkingLevel

_OPENAI = Dialect(
    system_role="developer",
    max_tokens_field="max_completion_tokens",
    samples_thinking=False,
    replay="never",
    tool_id="openai",
    cache_key=True,
)
# Servers of open models: what goes back runs through the model's own template, and only the open tool loop needs it.
_LOCAL = Dialect(replay="may", replay_turns="loop", top_k=True)

_OLLAMA = Dialect(
    reasoning_field="reasoning",
    levels=(_OFF, _LOW, _MEDIUM, _HIGH),
    replay_field="reasoning",
    replay_turns="loop",
)

_ROWS = (
    Provider(
        id="anthropic",
        protocol="anthropic-messages",
        base_url="https://api.anthropic.com",
        key_variables=("ANTHROPIC_API_KEY",),
        base_url_variable="ANTHROPIC_BASE_URL",
        key_header="x-api-key",
    ),
    Provider(
        id="google",
        protocol="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        key_header="x-goog-api-key",
    ),
    # With a key alone ("express mode"). With a project, the base URL names it, and its location:
    # https://{location}-aiplatform.googleapis.com/v1beta1/projects/{project}/locations/{location}/publishers/google
    Provider(
        id="google-vertex",
        protocol="gemini",
        base_url="https://aiplatform.googleapis.com/v1beta1/publishers/google",
        key_variables=("GOOGLE_API_KEY",),
        key_header="x-goog-api-key",
        auth="google",
    ),
    Provider(
        id="bedrock",
        protocol="bedrock-converse",
        base_url="https://bedrock-runtime.{region}.amazonaws.com",
        key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
        base_url_variable="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        region_variables=("AWS_REGION", "AWS_DEFAULT_REGION"),
        auth="aws",
    ),
    _chat(
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        base_url_variable="OPENAI_BASE_URL",
        dialect=_OPENAI,
    ),
    _chat("azure", None, "AZURE_OPENAI_API_KEY", key_header="api-key", dialect=_OPENAI),
    _chat(
        "deepseek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        dialect=Dialect(
            reasoning_field="reasoning_content",
            effort="deepseek",
            levels=(_OFF, _LOW, _HIGH, _MAX),
            replay="must",
            replay_field="reasoning_content",
            replay_blank=" ",
        ),
    ),
    _chat(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        dialect=Dialect(
            reasoning_field="reasoning", effort="openrouter", levels=tuple(ThinkingLevel), replay="must", top_k=True
        ),
    ),
    _chat(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        dialect=Dialect(
            reasoning_field="reasoning",
            effort="groq",
            max_tokens_field="max_completion_tokens",
            replay_field="reasoning",
            replay_turns="loop",
        ),
    ),
    _chat(
        "xai",
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        dialect=Dialect(reasoning_field="reasoning_content", replay="never"),
    ),
    _chat(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        dialect=Dialect(
            stream_usage=None,
            seed_field="random_seed",
            levels=(_OFF, _HIGH),
            replay_field="content",
            tool_id="mistral",
        ),
    ),
    _chat(
        "qwen",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        "ALIBABA_API_KEY",
        dialect=Dialect(
            reasoning_field="reasoning_content",
            effort="qwen",
            levels=(_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH),
            replay="never",
            top_k=True,
        ),
    ),
    _chat(
        "moonshotai",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        "MOONSHOTAI_API_KEY",
        dialect=Dialect(
            reasoning_field="reasoning_content",
            effort="moonshot",
            samples_thinking=False,
            levels=(_LOW, _HIGH, _MAX),
            replay="must",
            replay_field="reasoning_content",
            replay_blank=" ",
        ),
    ),
    _chat(
        "zai",
        "https://api.z.ai/api/paas/v4",
        "ZAI_API_KEY",
        dialect=Dialect(
            reasoning_field="reasoning_content",
            effort="zai",
            levels=(_OFF, _HIGH),
            replay="must",
            replay_field="reasoning_content",
        ),
    ),
    _chat(
        "cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        dialect=Dialect(
            reasoning_field="reasoning",
            max_tokens_field="max_completion_tokens",
            replay_field="reasoning",
            replay_turns="loop",
        ),
    ),
    _chat(
        "together",
        "https://api.together.ai/v1",
        "TOGETHER_API_KEY",
        dialect=Dialect(effort="together", levels=(_OFF, _HIGH), replay_turns="loop", top_k=True),
    ),
    _chat(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        dialect=Dialect(
            reasoning_field="reasoning_content",
            levels=(_OFF, _LOW, _MEDIUM, _HIGH),
            replay_field="reasoning_content",
            top_k=True,
        ),
    ),
    _chat("huggingface", "https://router.huggingface.co/v1", "HF_TOKEN", dialect=Dialect(replay_turns="loop")),
    _chat(
        "perplexity",
        "https://api.perplexity.ai",
        "PERPLEXITY_API_KEY",
        dialect=Dialect(
            think_tags=ThinkTags(), stream_usage=None, levels=(_MINIMAL, _LOW, _MEDIUM, _HIGH), replay="never"
        ),
    ),
    _chat(
        "gemini-openai",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        dialect=Dialect(
            think_tags=ThinkTags("<thought>", "</thought>"),
            levels=(_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH),
            replay="never",  # of thinking; the signatures of calls always go back
        ),
    ),
    _chat(
        "vercel-gateway",
        "https://ai-gateway.vercel.sh/v1",
        "AI_GATEWAY_API_KEY",
        dialect=Dialect(
            reasoning_field="reasoning", effort="openrouter", levels=tuple(ThinkingLevel), replay="must", top_k=True
        ),
    ),
    _chat("avian", "https://api.avian.io/v1", "AVIAN_API_KEY", dialect=Dialect(replay_field="reasoning_content")),
    _chat("databricks", None, "DATABRICKS_TOKEN", dialect=Dialect(stream_usage=None)),
    _chat("snowflake", None, "SNOWFLAKE_TOKEN", dialect=Dialect(effort="openrouter", replay="must")),
    _chat(
        "vllm",
        "http://localhost:8000/v1",
        "VLLM_API_KEY",
        key_required=False,
        dialect=evolve(_LOCAL, effort="template", levels=(_OFF, _HIGH)),
    ),
    _chat(
        "sglang",
        "http://localhost:30000/v1",
        "SGLANG_API_KEY",
        key_required=False,
        dialect=evolve(_LOCAL, effort="template", levels=(_OFF, _HIGH)),
    ),
    _chat(
        "llama-cpp",
        "http://localhost:8080/v1",
        "LLAMA_API_KEY",
        key_required=False,
        dialect=evolve(_LOCAL, levels=(_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH)),
    ),
    _chat("gpustack", None, "GPUSTACK_API_KEY", dialect=_LOCAL),
    _chat(
        "lmstudio",
        "http://localhost:1234/v1",
        key_required=False,
        dialect=evolve(_LOCAL, levels=(_OFF, _LOW, _MEDIUM, _HIGH, _XHIGH)),
    ),
    _chat("ollama", "http://localhost:11434/v1", "OLLAMA_API_KEY", key_required=False, dialect=_OLLAMA),
    _chat("ollama-cloud", "https://ollama.com/v1", "OLLAMA_API_KEY", dialect=_OLLAMA),
)

PROVIDERS: dict[str, Provider] = {row.id: row for row in _ROWS}

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
    "hf": "huggingface",
    "mistralai": "mistral",
    "vercel": "vercel-gateway",
    "llamacpp": "llama-cpp",
    "llama.cpp": "llama-cpp",
    "lm-studio": "lmstudio",
}


def provider_id(name: str) -> str:
    """The id of a provider that may be called by another common name; a name that is not known stays as it is."""
    return _ALIASES.get(name, name)


def find_provider(id: str) -> Provider:
    """Find a row by id or by a common other name. Raises UnknownModel, with the names there are."""
    row = PROVIDERS.get(provider_id(id))
    if row is None:
        raise UnknownModel(f"provider {id!r} is unknown; use one of: {', '.join(sorted(PROVIDERS))}")
    return row
