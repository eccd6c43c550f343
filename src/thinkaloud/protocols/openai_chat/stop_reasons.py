"""The words of `finish_reason` on this wire, in the library's vocabulary."""

from __future__ import annotations

from thinkaloud.messages import StopReason

STOP_REASONS: dict[str, StopReason] = {
    "stop": StopReason.END,
    "eos": StopReason.END,  # Together
    "end": StopReason.END,
    "end_turn": StopReason.END,
    "done": StopReason.END,
    "load": StopReason.END,  # Ollama
    "unload": StopReason.END,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "length": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "max_output_tokens": StopReason.LENGTH,
    "model_length": StopReason.LENGTH,  # Mistral
    "model_context_window_exceeded": StopReason.LENGTH,  # Z.ai
    "tool_calls": StopReason.TOOL_USE,
    "tool_use": StopReason.TOOL_USE,
    "function_call": StopReason.TOOL_USE,
    "content_filter": StopReason.CONTENT_FILTER,
    "safety": StopReason.CONTENT_FILTER,
    "sensitive": StopReason.CONTENT_FILTER,  # Z.ai
    "guardrail_intervened": StopReason.CONTENT_FILTER,
    "refusal": StopReason.REFUSAL,
}

# The answer failed, though the server calls it an end.
FAILURES = frozenset(
    {
        "error",  # OpenRouter, Mistral
        "network_error",  # Z.ai
        "insufficient_system_resource",  # DeepSeek
        "abort",  # vLLM
        "cancelled",
        "repetition",  # vLLM
    }
)

_REFUSABLE = frozenset({StopReason.END, StopReason.CONTENT_FILTER, StopReason.UNKNOWN})


def stop_reason(word: str | None, *, called: bool, refused: bool) -> StopReason:
    """Tell why an answer ended.

    word: the finish reason; None or "" where the stream ended with its marker alone.
    called: there are tool calls; many servers say "stop" all the same.
    refused: a refusal was written; the word for that is an ordinary "stop".
    """
    reason = STOP_REASONS.get(word, StopReason.UNKNOWN) if word else StopReason.END
    if refused and reason in _REFUSABLE:
        return StopReason.REFUSAL
    return StopReason.TOOL_USE if called and reason is StopReason.END else reason
