"""Who says what no recording shows of the dialects in the providers table."""

from __future__ import annotations

from attrs import frozen


@frozen
class Source:
    """What is said of some cells.

    rows: ids of providers, with a pattern of `by_model` after a space where it is of these models alone.
    cells: fields of Dialect.
    said: what is said, and by whom.
    """

    rows: tuple[str, ...]
    cells: tuple[str, ...]
    said: str


_LOCAL = ("vllm", "sglang", "llama-cpp", "gpustack", "lmstudio")
_OPENAIS = ("openai", "azure", "bedrock-mantle")

SOURCES = (
    Source(
        ("openai",), ("system_role",), "reasoning models take instructions as a developer's (OpenAI's documentation)"
    ),
    Source(
        _OPENAIS,
        ("samples_thinking",),
        "reasoning models refuse temperature and top_p while they think (OpenAI's documentation)",
    ),
    Source(_OPENAIS, ("replay",), "chat completions have no field for earlier thinking (OpenAI's client library)"),
    Source(("openai", "azure"), ("cache_key",), "prompt_cache_key is a field of requests (OpenAI's client library)"),
    Source(
        ("bedrock-mantle",),
        ("max_tokens_field", "tool_id"),
        "OpenAI's models are spoken to as at OpenAI (Amazon's documentation)",
    ),
    Source(
        ("deepseek",), ("effort",), "a switch `thinking`, and `reasoning_effort` beside it (DeepSeek's documentation)"
    ),
    Source(
        ("deepseek",),
        ("levels",),
        "low, high and max, and off by the switch; other words are read as one of these (DeepSeek's documentation)",
    ),
    Source(
        ("deepseek",),
        ("replay", "replay_blank"),
        "a turn with calls without reasoning_content is refused with 400, which says so; a blank passes",
    ),
    Source(
        ("deepseek deepseek-(chat|reasoner|r1)",),
        ("replay_turns",),
        "older models ignored thinking of turns before the last user's, or refused it (DeepSeek's documentation)",
    ),
    Source(("openrouter", "vercel-gateway"), ("top_k",), "top_k is a field of requests (OpenRouter's documentation)"),
    Source(
        ("openrouter", "vercel-gateway", "snowflake"),
        ("replay",),
        "Gemini and Claude behind a gateway refuse calls without their signatures, and these are in the entries",
    ),
    Source(
        ("groq",), ("max_tokens_field",), "max_tokens is deprecated for max_completion_tokens (Groq's client library)"
    ),
    Source(
        ("groq",),
        ("replay_field", "replay_turns"),
        "an assistant message may hold `reasoning`; only the open tool loop gains by it (Groq's client library)",
    ),
    Source(("xai",), ("replay_turns",), "chat keeps no thinking of earlier turns (xAI's documentation)"),
    Source(
        ("mistral",), ("seed_field",), "the seed is `random_seed`, other fields are refused (Mistral's documentation)"
    ),
    Source(("mistral",), ("levels",), "adjustable models take `none` and `high` only (Mistral's documentation)"),
    Source(
        ("mistral",),
        ("after_results",),
        "some models refuse a user right after a tool: unexpected role (Mistral's error text)",
    ),
    Source(("mistral",), ("tool_id",), "ids of calls are nine letters or digits (Mistral's error text)"),
    Source(
        ("qwen",),
        ("effort", "levels", "top_k"),
        "enable_thinking and thinking_budget in tokens, and top_k, are fields of requests (Alibaba's documentation)",
    ),
    Source(("qwen",), ("replay",), "thinking in a history is not to be sent (Alibaba's documentation)"),
    Source(
        ("moonshotai",),
        ("reasoning_field", "replay_field"),
        "thinking is in reasoning_content, both ways (Moonshot's documentation)",
    ),
    Source(("moonshotai",), ("samples_thinking",), "sampling is fixed on thinking models (Moonshot's documentation)"),
    Source(
        ("moonshotai",),
        ("effort", "levels"),
        "reasoning_effort low, high or max; older models have a switch `thinking` (Moonshot's documentation)",
    ),
    Source(
        ("moonshotai",),
        ("replay", "replay_blank"),
        "a message with calls without reasoning_content is refused with 400, which says so; a blank passes",
    ),
    Source(("zai",), ("levels",), "the switch `thinking` is enabled or disabled (Z.ai's documentation)"),
    Source(("zai",), ("replay",), "thinking goes back with the results of tools (Z.ai's documentation)"),
    Source(("cerebras",), ("max_tokens_field",), "the limit is max_completion_tokens (Cerebras's client library)"),
    Source(
        ("cerebras",),
        ("replay_field", "replay_turns"),
        "an assistant message may hold `reasoning`, which gpt-oss reads in a tool loop (Cerebras's documentation)",
    ),
    Source(
        ("cerebras glm",),
        ("replay_field", "replay_turns"),
        "earlier thinking stands in think tags before the text, with clear_thinking false (Cerebras's documentation)",
    ),
    Source(
        ("together",),
        ("effort", "levels"),
        "hybrid models have reasoning.enabled, others reasoning_effort (Together's documentation)",
    ),
    Source(("together", "fireworks"), ("top_k",), "top_k is a field of requests (their client libraries)"),
    Source(
        ("together", "huggingface"),
        ("replay_turns",),
        "what goes back runs through the model's own template, and these read the open tool loop",
    ),
    Source(
        ("fireworks",),
        ("reasoning_field", "replay_field", "levels"),
        "reasoning_content both ways, as reasoning_history says; none, low, medium, high (Fireworks's documentation)",
    ),
    Source(
        ("perplexity",),
        ("think_tags", "stream_usage", "levels", "replay"),
        "thinking begins the text, usage is in every chunk, efforts minimal to high (Perplexity's documentation)",
    ),
    Source(
        ("gemini-openai",),
        ("think_tags", "levels", "replay"),
        "thoughts stand in `thought` tags; none to high; signatures are those of calls (Google's documentation)",
    ),
    Source(("databricks",), ("replay",), "no field for earlier thinking is documented; parts of the text go back"),
    Source(_LOCAL, ("top_k",), "top_k is a field of requests (the servers' documentation)"),
    Source(
        (*_LOCAL, "ollama", "ollama-cloud"),
        ("replay_turns",),
        "what goes back runs through the model's own template, and these read the open tool loop",
    ),
    Source(
        ("vllm", "sglang"),
        ("effort", "levels"),
        "chat_template_kwargs turn the thinking of hybrid models on and off (the servers' documentation)",
    ),
    Source(
        ("llama-cpp",),
        ("levels",),
        "reasoning_effort none turns off, other words go to the template (its documentation)",
    ),
    Source(("lmstudio",), ("levels",), "reasoning_effort none, low, medium, high, xhigh (LM Studio's documentation)"),
    Source(
        ("ollama", "ollama-cloud"),
        ("levels",),
        "none, low, medium and high; all else is refused with 400, which says so (Ollama's source)",
    ),
)
