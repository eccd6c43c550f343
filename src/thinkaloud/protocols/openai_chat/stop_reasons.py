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

# What some servers write where they have no finish reason to give, in lower case.
_PLACEHOLDERS = frozenset({"", "null", "none", "nil", "undefined"})

# How much a word says: the first one of those that say the most counts.
NOTHING, PLACEHOLDER, UNKNOWN, KNOWN = range(4)

_REFUSABLE = frozenset({StopReason.END, StopReason.CONTENT_FILTER, StopReason.UNKNOWN})


def weight(word: str | None) -> int:
    """How much a finish reason says: nothing came, a placeholder, a word that is not known, or one that is."""
    if word is None:
        return NOTHING
    if word in STOP_REASONS:
        return KNOWN
    return PLACEHOLDER if word.lower() in _PLACEHOLDERS else UNKNOWN


def stop_reason(word: str | None, *, called: bool, refused: bool) -> StopReason:
    """Tell why an answer ended.

    word: the finish reason; None or a placeholder where the stream ended with its marker alone.
    called: there are tool calls; many servers say "stop" all the same.
    refused: a refusal was written; the word for that is an ordinary "stop".
    """
    reason = STOP_REASONS.get(word or "", StopReason.UNKNOWN) if weight(word) > PLACEHOLDER else StopReason.END
    if refused and reason in _REFUSABLE:
        return StopReason.REFUSAL
    return StopReason.TOOL_USE if called and reason is StopReason.END else reason
