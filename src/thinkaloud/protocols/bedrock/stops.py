"""What the stop reasons of Converse mean: ends that the model chose, ends that were forced on it, and failures."""

from __future__ import annotations

from thinkaloud.errors import MalformedToolCall, ProviderError, ServerError
from thinkaloud.messages import StopReason

STOP_REASONS = {
    "end_turn": StopReason.END,
    "stop_sequence": StopReason.STOP_SEQUENCE,
    "tool_use": StopReason.TOOL_USE,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "guardrail_intervened": StopReason.CONTENT_FILTER,
    "content_filtered": StopReason.CONTENT_FILTER,
    # Words of Claude that the service may let through.
    "refusal": StopReason.REFUSAL,
    "pause_turn": StopReason.PAUSE,
    "compaction": StopReason.END,
}

# Ends that are failures: the model botched what it wrote, and nothing of it may be run.
BOTCHED: dict[str, tuple[type[ProviderError], str]] = {
    "malformed_tool_use": (MalformedToolCall, "the model wrote a tool call that the service could not read"),
    "malformed_model_output": (ServerError, "the model wrote an answer that the service could not read"),
}
