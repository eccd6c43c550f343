"""What recorded requests and answers prove of the dialects in the providers table: one row for each cell.

What no recording shows stands in `support.dialect_sources`, with who says it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from support.shared import Recording
from thinkaloud.models.dialect import Dialect

Object = dict[str, Any]


@frozen
class Proof:
    """One row.

    provider: id of the provider.
    cell: what of its dialect is proved: a name of CELLS.
    recording: the name of an exchange that the provider took part in with success.
    model: the model of the exchange, where its dialect is another than the provider's.
    """

    provider: str
    cell: str
    recording: str
    model: str = ""


PROOFS = (
    Proof("openai", "max_tokens_field", "fantasy-openaicommon-openai-gpt-5-multi-tool-streaming-0"),
    Proof("openai", "stream_usage", "fantasy-openaicommon-openai-gpt-5-multi-tool-streaming-0"),
    Proof("openai", "tool_id", "fantasy-openaicommon-openai-gpt-5-multi-tool-streaming-1"),
    Proof("azure", "system_role", "fantasy-azurecommon-azure-o4-mini-tool-streaming-0"),
    Proof("azure", "max_tokens_field", "fantasy-azurecommon-azure-o4-mini-tool-streaming-0"),
    Proof("azure", "stream_usage", "fantasy-azurecommon-azure-o4-mini-tool-streaming-0"),
    Proof("azure", "tool_id", "fantasy-azurecommon-azure-o4-mini-tool-streaming-1"),
    Proof("azure", "effort", "fantasy-azurethinking-azure-gpt-5-mini-thinking-0"),
    Proof("deepseek", "reasoning_field", "chatlas-provider-deepseek-deepseek-simple-request"),
    Proof("deepseek", "replay_field", "chatlas-provider-deepseek-deepseek-tool-variations-1"),
    Proof("deepseek", "replay_turns", "chatlas-provider-deepseek-deepseek-tool-variations-2"),
    Proof("deepseek", "system_role", "chatlas-provider-deepseek-deepseek-simple-request"),
    Proof("deepseek", "stream_usage", "chatlas-provider-deepseek-deepseek-simple-request"),
    Proof("deepseek", "seed_field", "chatlas-provider-deepseek-deepseek-simple-request"),
    Proof(
        "deepseek",
        "reasoning_field",
        "pydantic-ai-deepseek-deepseek-deferred-capability-with-thinking-0",
        "deepseek-reasoner",
    ),
    Proof(
        "deepseek",
        "replay_field",
        "pydantic-ai-deepseek-deepseek-deferred-capability-with-thinking-1",
        "deepseek-reasoner",
    ),
    Proof(
        "deepseek",
        "system_role",
        "pydantic-ai-deepseek-deepseek-deferred-capability-with-thinking-0",
        "deepseek-reasoner",
    ),
    Proof("deepseek", "stream_usage", "pydantic-ai-deepseek-deepseek-model-thinking-stream", "deepseek-reasoner"),
    Proof("openrouter", "reasoning_field", "fantasy-openroutercommon-glm-multi-tool-streaming-0"),
    Proof("openrouter", "thinking in entries", "fantasy-openroutercommon-gemini-simple-streaming"),
    Proof("openrouter", "replay_field", "fantasy-openroutercommon-glm-multi-tool-streaming-1"),
    Proof("openrouter", "system_role", "fantasy-openroutercommon-gemini-simple-streaming"),
    Proof("openrouter", "max_tokens_field", "fantasy-openroutercommon-gemini-simple-streaming"),
    Proof("openrouter", "stream_usage", "fantasy-openroutercommon-gemini-simple-streaming"),
    Proof("openrouter", "effort", "pydantic-ai-openrouter-openrouter-streaming-reasoning"),
    Proof("groq", "reasoning_field", "pydantic-ai-groq-groq-model-web-search-tool-stream"),
    Proof("groq", "system_role", "pydantic-ai-groq-tool-use-failed-error-streaming-with-text-0"),
    Proof(
        "groq",
        "effort",
        "pydantic-ai-thinking-wire-contract-reasoning-wire-contract-groq-gpt-oss-explicit-effor-d1352a01",
    ),
    Proof(
        "groq", "reasoning_field", "pydantic-ai-groq-groq-model-thinking-part-iter-1", "deepseek-r1-distill-llama-70b"
    ),
    Proof("groq", "system_role", "pydantic-ai-groq-groq-model-thinking-part-iter-0", "deepseek-r1-distill-llama-70b"),
    Proof(
        "groq", "thinking_fields", "pydantic-ai-groq-groq-model-thinking-part-iter-1", "deepseek-r1-distill-llama-70b"
    ),
    Proof(
        "groq",
        "thinking in tags",
        "pydantic-ai-thinking-wire-contract-reasoning-wire-contract-groq-qwen3-effort-setting",
        "qwen/qwen3-32b",
    ),
    Proof(
        "groq",
        "effort",
        "pydantic-ai-thinking-wire-contract-reasoning-wire-contract-groq-qwen3-disable-merges-u-67f2a93b",
        "qwen/qwen3-32b",
    ),
    Proof("xai", "reasoning_field", "fantasy-openaicompatiblecommon-xai-grok-code-fast-multi-tool-streaming-0"),
    Proof("xai", "replay_field", "fantasy-openaicompatiblecommon-xai-grok-code-fast-multi-tool-streaming-1"),
    Proof("xai", "system_role", "fantasy-openaicompatiblecommon-xai-grok-code-fast-multi-tool-streaming-0"),
    Proof("xai", "max_tokens_field", "fantasy-openaicompatiblecommon-xai-grok-code-fast-multi-tool-streaming-0"),
    Proof("xai", "stream_usage", "fantasy-openaicompatiblecommon-xai-grok-code-fast-multi-tool-streaming-0"),
    Proof("xai", "effort", "fantasy-openaicompatiblethinking-xai-grok-3-mini-thinking-0"),
    Proof("mistral", "thinking in parts", "pydantic-ai-mistral-mistral-model-thinking-part-1"),
    Proof("mistral", "replay_field", "pydantic-ai-mistral-mistral-model-thinking-part-1"),
    Proof("mistral", "replay_turns", "pydantic-ai-mistral-mistral-model-thinking-part-1"),
    Proof("mistral", "stream_usage", "pydantic-ai-mistral-mistral-model-thinking-part-iter"),
    Proof("mistral", "effort", "pydantic-ai-thinking-wire-contract-reasoning-wire-contract-mistral-small-disable"),
    Proof("qwen", "reasoning_field", "vercel-ai-alibaba-reasoning"),
    Proof("zai", "reasoning_field", "fantasy-openaicompatiblecommon-zai-glm-4-7-flash-tool-0"),
    Proof("zai", "replay_field", "fantasy-openaicompatiblecommon-zai-glm-4-7-flash-tool-1"),
    Proof("zai", "replay_turns", "pydantic-ai-zai-zai-preserved-thinking-round-trip-1"),
    Proof("zai", "system_role", "fantasy-openaicompatiblecommon-zai-glm-4-7-flash-tool-0"),
    Proof("zai", "max_tokens_field", "fantasy-openaicompatiblecommon-zai-glm-4-7-flash-tool-0"),
    Proof("zai", "stream_usage", "fantasy-openaicompatiblethinking-zai-glm-4-7-flash-thinking-streaming-0"),
    Proof("zai", "effort", "pydantic-ai-zai-zai-preserved-thinking-round-trip-0"),
    Proof(
        "cerebras",
        "reasoning_field",
        "pydantic-ai-thinking-wire-contract-reasoning-wire-contract-cerebras-gpt-oss-always-on",
    ),
    Proof(
        "cerebras",
        "thinking_fields",
        "pydantic-ai-thinking-wire-contract-reasoning-wire-contract-cerebras-zai-clear-thinking",
        "zai-glm-4.7",
    ),
    Proof(
        "cerebras",
        "effort",
        "pydantic-ai-thinking-wire-contract-reasoning-wire-contract-cerebras-zai-clear-thinking",
        "zai-glm-4.7",
    ),
    Proof(
        "huggingface", "thinking in tags", "pydantic-ai-huggingface-max-completion-tokens", "deepseek-ai/DeepSeek-R1"
    ),
    Proof(
        "huggingface", "max_tokens_field", "pydantic-ai-huggingface-max-completion-tokens", "deepseek-ai/DeepSeek-R1"
    ),
    Proof("vercel-gateway", "reasoning_field", "fantasy-vercelthinking-gemini-3-pro-preview-thinking-streaming-0"),
    Proof("vercel-gateway", "thinking in entries", "fantasy-vercelcommon-gpt-5-multi-tool-streaming-0"),
    Proof("vercel-gateway", "replay_field", "fantasy-vercelcommon-gpt-5-multi-tool-streaming-1"),
    Proof("vercel-gateway", "system_role", "fantasy-vercelcommon-gpt-5-multi-tool-streaming-0"),
    Proof("vercel-gateway", "stream_usage", "fantasy-vercelcommon-gpt-5-multi-tool-streaming-0"),
    Proof("vercel-gateway", "effort", "fantasy-vercelthinking-gemini-3-pro-preview-thinking-streaming-0"),
    Proof("avian", "reasoning_field", "fantasy-openaicompatiblethinking-avian-kimi-thinking-streaming-0"),
    Proof("avian", "replay_field", "fantasy-openaicompatiblethinking-avian-kimi-thinking-streaming-1"),
    Proof("avian", "system_role", "fantasy-openaicompatiblethinking-avian-kimi-thinking-streaming-0"),
    Proof("avian", "stream_usage", "fantasy-openaicompatiblethinking-avian-kimi-thinking-streaming-0"),
    Proof("databricks", "system_role", "chatlas-provider-databricks-databricks-tool-variations-0"),
    Proof("databricks", "stream_usage", "chatlas-provider-databricks-databricks-tool-variations-0"),
    Proof("snowflake", "thinking in entries", "pydantic-ai-snowflake-snowflake-thinking-0"),
    Proof("snowflake", "replay_field", "pydantic-ai-snowflake-snowflake-thinking-1"),
    Proof("snowflake", "effort", "pydantic-ai-snowflake-snowflake-thinking-0"),
    Proof("llama-cpp", "reasoning_field", "fantasy-openaicompatiblecommon-llama-cpp-gpt-oss-simple-streaming"),
    Proof("llama-cpp", "system_role", "fantasy-openaicompatiblecommon-llama-cpp-gpt-oss-simple-streaming"),
    Proof("llama-cpp", "stream_usage", "fantasy-openaicompatiblecommon-llama-cpp-gpt-oss-simple-streaming"),
    Proof("llama-cpp", "effort", "fantasy-openaicompatiblethinking-llama-cpp-gpt-oss-thinking-0"),
    Proof(
        "gpustack",
        "reasoning_field",
        "ruby-llm-chat-with-extended-thinking-gpustack-qwen3-streams-thinking-content-when-available",
    ),
    Proof(
        "gpustack",
        "effort",
        "ruby-llm-chat-with-extended-thinking-gpustack-qwen3-streams-thinking-content-when-available",
    ),
    Proof("ollama", "reasoning_field", "ruby-llm-chat-function-calling-ollama-qwen3-can-use-parallel-tool-calls-0"),
    Proof("ollama", "replay_field", "ruby-llm-chat-function-calling-ollama-qwen3-can-use-parallel-tool-calls-1"),
    Proof(
        "ollama",
        "system_role",
        "ruby-llm-chat-function-calling-ollama-qwen3-can-use-tools-without-parameters-in-multi-d457fa24-0",
    ),
    Proof(
        "ollama",
        "stream_usage",
        "ruby-llm-chat-function-calling-ollama-qwen3-can-use-tools-with-multi-turn-streaming-co-de48360d-0",
    ),
    Proof(
        "ollama-cloud",
        "reasoning_field",
        "ruby-llm-chat-tool-attachments-ollama-cloud-gpt-oss-120b-returns-text-and-attachments-b976c5a9-0",
    ),
    Proof(
        "ollama-cloud",
        "replay_field",
        "ruby-llm-chat-tool-attachments-ollama-cloud-gpt-oss-120b-returns-text-and-attachments-b976c5a9-1",
    ),
)


@frozen
class Seen:
    """An exchange with the provider."""

    recording: Recording

    @property
    def request(self) -> Object:
        value: Object = json.loads((self.recording.folder / "request.json").read_text("utf-8"))
        return value

    @property
    def messages(self) -> list[Object]:
        found: list[Object] = self.request["messages"]
        return found

    def answers(self, *, before_last_user: bool = False) -> Iterator[Object]:
        """The assistant messages that were sent back, or only those of turns that are over."""
        messages = self.messages
        last = max(place for place, message in enumerate(messages) if message["role"] == "user")
        for message in messages[:last] if before_last_user else messages:
            if message["role"] == "assistant":
                yield message

    def spoken(self) -> Iterator[Object]:
        """The deltas of a streamed answer, or the message of a whole one."""
        for payload in self.payloads():
            for choice in payload.get("choices") or ():
                yield choice.get("delta") or choice.get("message") or {}

    def payloads(self) -> Iterator[Object]:
        text = self.recording.body.decode("utf-8")
        if not self.recording.streamed:
            yield json.loads(text)
            return
        for line in text.splitlines():
            data = line.removeprefix("data:").strip()
            if line.startswith("data:") and data != "[DONE]":
                yield json.loads(data)


def _reads_field(seen: Seen, dialect: Dialect) -> bool:
    return any(delta.get(dialect.reasoning_field or "") for delta in seen.spoken())


def _reads_parts(seen: Seen, dialect: Dialect) -> bool:
    assert dialect.replay_field == "content"
    return any(
        part.get("type") == "thinking"
        for delta in seen.spoken()
        if isinstance(delta.get("content"), list)
        for part in delta["content"]
    )


def _reads_tags(seen: Seen, dialect: Dialect) -> bool:
    """Without the fields that the dialect adds, thinking stands in the text."""
    assert dialect.think_tags is not None or dialect.thinking_fields
    assert not any(name in seen.request for name, _ in dialect.thinking_fields)
    text = "".join(delta["content"] for delta in seen.spoken() if isinstance(delta.get("content"), str))
    return text.lstrip().startswith("<think>")


def _reads_details(seen: Seen, dialect: Dialect) -> bool:
    assert dialect.replay_field is None
    return any(delta.get("reasoning_details") for delta in seen.spoken())


def _held(message: Object, dialect: Dialect) -> bool:
    """Whether a message that was sent back holds thinking where the dialect puts it."""
    if dialect.replay_field == "content":
        parts: Any = message["content"]
        return isinstance(parts, list) and any(part["type"] == "thinking" for part in parts)
    return bool(message.get(dialect.replay_field or "reasoning_details"))


def _replays(seen: Seen, dialect: Dialect) -> bool:
    return dialect.replay != "never" and any(_held(message, dialect) for message in seen.answers())


def _replays_all(seen: Seen, dialect: Dialect) -> bool:
    assert dialect.replay_turns == "all"
    return any(_held(message, dialect) for message in seen.answers(before_last_user=True))


def _role(seen: Seen, dialect: Dialect) -> bool:
    return bool(seen.messages[0]["role"] == dialect.system_role)


def _limit(seen: Seen, dialect: Dialect) -> bool:
    return dialect.max_tokens_field in seen.request


def _usage(seen: Seen, dialect: Dialect) -> bool:
    """Usage comes in the stream, asked for as the dialect says."""
    asked = seen.request.get("stream_options") == {"include_usage": True}
    told = any(payload.get("usage") for payload in seen.payloads())
    return seen.request["stream"] is True and told and asked == (dialect.stream_usage is not None)


def _seed(seen: Seen, dialect: Dialect) -> bool:
    return dialect.seed_field in seen.request


def _call_ids(seen: Seen, dialect: Dialect) -> bool:
    assert dialect.tool_id == "openai"
    ids = [call["id"] for message in seen.answers() for call in message.get("tool_calls", ())]
    return bool(ids) and all(len(id) <= 40 for id in ids)


def _thinking_fields(seen: Seen, dialect: Dialect) -> bool:
    return all(seen.request.get(name) == value for name, value in dialect.thinking_fields)


def _effort(seen: Seen, dialect: Dialect) -> bool:
    return any(name in seen.request for name in _EFFORT_FIELDS[dialect.effort])


# The fields by which a shape of effort is known.
_EFFORT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "openrouter": ("reasoning",),
    "deepseek": ("thinking",),
    "zai": ("thinking",),
    "groq": ("reasoning_effort",),
    "reasoning_effort": ("reasoning_effort",),
}


CELLS: Mapping[str, Callable[[Seen, Dialect], bool]] = {
    "reasoning_field": _reads_field,
    "thinking in parts": _reads_parts,
    "thinking in tags": _reads_tags,
    "thinking in entries": _reads_details,
    "replay_field": _replays,
    "replay_turns": _replays_all,
    "system_role": _role,
    "max_tokens_field": _limit,
    "stream_usage": _usage,
    "seed_field": _seed,
    "tool_id": _call_ids,
    "thinking_fields": _thinking_fields,
    "effort": _effort,
}
