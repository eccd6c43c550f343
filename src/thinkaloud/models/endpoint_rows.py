"""The providers that speak OpenAI's protocols, each in its own dialect: rows of the providers table."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.dialect import Dialect, ThinkTags
from thinkaloud.models.provider import AddressPart, Provider, Surface


def _chat(id: str, base_url: str | None, *keys: str, dialect: Dialect = Dialect(), **columns: Any) -> Provider:
    return Provider(id=id, protocol="openai-chat", base_url=base_url, key_variables=keys, dialect=dialect, **columns)


_RESPONSES = "openai-responses"


_RESPONSES_TOO = (Surface(protocol=_RESPONSES),)
_CHAT_TOO = (Surface(protocol="openai-chat"),)

_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH, _MAX = ThinkingLevel

# Servers of open models: what goes back runs through the model's own template, and only the open tool loop needs it.
_LOCAL = Dialect(replay="may", replay_turns="loop", top_k=True)

# A router: the server behind it is not known.
_BACKEND = Dialect(replay_turns="loop")

_OLLAMA = Dialect(
    reasoning_field="reasoning",
    levels=(_OFF, _LOW, _MEDIUM, _HIGH),
    replay_field="reasoning",
    replay_turns="loop",
)

_DEEPSEEK = Dialect(
    reasoning_field="reasoning_content",
    effort="deepseek",
    levels=(_OFF, _LOW, _HIGH, _MAX),
    replay="must",
    replay_field="reasoning_content",
    replay_blank=" ",
)
# Gateways keep the signatures of the makers behind them in entries of their own, and want these back as they were.
_GATEWAY = Dialect(
    reasoning_field="reasoning", effort="openrouter", levels=tuple(ThinkingLevel), replay="must", top_k=True
)
_GROQ = Dialect(
    reasoning_field="reasoning",
    effort="groq",
    max_tokens_field="max_completion_tokens",
    replay_field="reasoning",
    replay_turns="loop",
)
_CEREBRAS = Dialect(
    reasoning_field="reasoning",
    max_tokens_field="max_completion_tokens",
    replay_field="reasoning",
    replay_turns="loop",
)

ENDPOINTS = (
    _chat(
        "deepseek",
        "https://api.deepseek.com",
        "DEEPSEEK_API_KEY",
        surfaces=_RESPONSES_TOO,
        dialect=evolve(_DEEPSEEK, by_model=((r"deepseek-(chat|reasoner|r1)", evolve(_DEEPSEEK, replay_turns="loop")),)),
    ),
    _chat(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        surfaces=_RESPONSES_TOO,
        dialect=_GATEWAY,
    ),
    _chat(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        base_url_variable="GROQ_BASE_URL",
        base_path="/openai/v1",
        surfaces=_RESPONSES_TOO,
        # Unasked, the thinking of these models stands in their text.
        dialect=evolve(
            _GROQ, by_model=((r"qwen|deepseek-r1", evolve(_GROQ, thinking_fields=(("reasoning_format", "parsed"),))),)
        ),
    ),
    # Only on Responses does sealed thinking go back.
    Provider(
        id="xai",
        protocol=_RESPONSES,
        base_url="https://api.x.ai/v1",
        surfaces=_CHAT_TOO,
        key_variables=("XAI_API_KEY",),
        dialect=Dialect(reasoning_field="reasoning_content", replay_field="reasoning_content", replay_turns="loop"),
    ),
    # Fields that it does not know are refused: usage comes unasked, and the seed has a name of its own.
    _chat(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        dialect=Dialect(
            stream_usage=None,
            seed_field="random_seed",
            levels=(_OFF, _HIGH),
            replay_field="content",
            after_results="I have the results.",  # some models refuse a user right after a tool
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
            replay="never",  # it would be ignored, and paid
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
    # The templates of GLM read earlier thinking in tags only, and the server drops it unless it is told not to.
    _chat(
        "cerebras",
        "https://api.cerebras.ai/v1",
        "CEREBRAS_API_KEY",
        dialect=evolve(
            _CEREBRAS,
            by_model=(
                (
                    "glm",
                    evolve(
                        _CEREBRAS,
                        thinking_fields=(("clear_thinking", False),),
                        replay_field="think_tags",
                        replay_turns="all",
                    ),
                ),
            ),
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
        surfaces=_RESPONSES_TOO,
        dialect=Dialect(
            reasoning_field="reasoning_content",
            levels=(_OFF, _LOW, _MEDIUM, _HIGH),
            replay_field="reasoning_content",
            top_k=True,
        ),
    ),
    # Everything behind it belongs to the server that it chooses.
    _chat(
        "huggingface",
        "https://router.huggingface.co/v1",
        "HF_TOKEN",
        dialect=evolve(_BACKEND, by_model=((r"deepseek-r1|qwq", evolve(_BACKEND, think_tags=ThinkTags())),)),
    ),
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
    _chat("vercel-gateway", "https://ai-gateway.vercel.sh/v1", "AI_GATEWAY_API_KEY", dialect=_GATEWAY),
    _chat(
        "avian",
        "https://api.avian.io/v1",
        "AVIAN_API_KEY",
        dialect=Dialect(reasoning_field="reasoning_content", replay_field="reasoning_content"),
    ),
    _chat(
        "databricks",
        None,
        "DATABRICKS_TOKEN",
        base_url_variable="DATABRICKS_HOST",
        base_path="/serving-endpoints",
        dialect=Dialect(stream_usage=None, replay="never"),  # of thinking in fields; parts of the text always go back
    ),
    _chat(
        "snowflake",
        "https://{account}.snowflakecomputing.com/api/v2/cortex/v1",
        "SNOWFLAKE_TOKEN",
        parts=(AddressPart(name="account", variables=("SNOWFLAKE_ACCOUNT",)),),
        dialect=Dialect(effort="openrouter", replay="must"),
    ),
    _chat(
        "vllm",
        "http://localhost:8000/v1",
        "VLLM_API_KEY",
        key_required=False,
        surfaces=_RESPONSES_TOO,
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
        surfaces=(
            *_RESPONSES_TOO,
            Surface(protocol="anthropic-messages", base_url="http://localhost:8080"),
        ),
        dialect=evolve(
            _LOCAL, reasoning_field="reasoning_content", levels=(_OFF, _MINIMAL, _LOW, _MEDIUM, _HIGH, _XHIGH)
        ),
    ),
    _chat("gpustack", None, "GPUSTACK_API_KEY", dialect=evolve(_LOCAL, reasoning_field="reasoning_content")),
    _chat(
        "lmstudio",
        "http://localhost:1234/v1",
        key_required=False,
        surfaces=_RESPONSES_TOO,
        dialect=evolve(_LOCAL, levels=(_OFF, _LOW, _MEDIUM, _HIGH, _XHIGH)),
    ),
    _chat(
        "ollama",
        "http://localhost:11434/v1",
        "OLLAMA_API_KEY",
        base_url_variable="OLLAMA_HOST",
        base_path="/v1",
        key_required=False,
        surfaces=_RESPONSES_TOO,
        dialect=_OLLAMA,
    ),
    _chat("ollama-cloud", "https://ollama.com/v1", "OLLAMA_API_KEY", dialect=_OLLAMA),
)
