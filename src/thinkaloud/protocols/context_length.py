"""Tells a prompt that is too long for its model by what the refusal says, at every provider: one table, with sources.

Wording is unstable: what matches nothing stays what its word or status says.
"""

from __future__ import annotations

import re

# (pattern, whose text it is). Matched in any case, without backticks.
TEXTS: tuple[tuple[str, str], ...] = (
    (r"context[_ ]length[_ ]exceeded", "the code of OpenAI's errors, quoted in gateways' texts"),
    (r"maximum context length", "OpenAI's documentation; seen at DeepSeek and OpenRouter; vLLM, SGLang"),
    (r"exceeds the context window", "OpenAI's documentation of Responses"),
    (r"input tokens exceed the configured limit", "OpenAI's documentation"),
    (r"prompt is too long", "Anthropic's documentation; Claude at Bedrock; Fireworks"),
    (r"exceed context limit", "Anthropic's documentation: prompt and max_tokens together"),
    (r"input is too long", "Amazon's documentation of Bedrock"),
    (r"input tokens exceeded", "seen at Bedrock, for Nova"),
    (r"exceeds the maximum number of tokens allowed", "seen at Gemini on Vertex"),
    (r"maximum prompt length is \d+", "xAI's documentation"),
    (r"reduce the length of the messages", "Groq's documentation"),
    (r"total length of all messages is too long", "seen at Perplexity"),
    (r"exceeds the available context size|exceed_context_size_error", "llama.cpp's server"),
    (r"greater than the context length", "LM Studio's server"),
    (r"longer than the model's context length", "SGLang's server"),
    (r"exceeded model token limit", "Moonshot's documentation"),
    (r"too large for model with \d+ maximum context length", "Mistral's documentation"),
    (r"current length is \d+ while limit is \d+", "Cerebras's documentation"),
    (r"context window exceeds limit", "MiniMax's documentation"),
    (r"range of input length should be", "Alibaba's documentation"),
    (r"inputs tokens \+ max_new_tokens must be", "Together's documentation; text-generation-inference"),
    (r"input too long", "gateways"),
    (r"prompt tokens? \(?\d+\)? exceeds? .{0,200}(?:maximum|limit)", "gateways before servers of one's own"),
    (r"model_context_window_exceeded", "Z.ai's documentation; Anthropic's documentation"),
)

# Texts that sound like it and mean the length of one field, or a rate.
_OTHER = re.compile(r"string_above_max_length|string too long|tokens per min|\btpm\b", re.IGNORECASE)
_KNOWN = re.compile("|".join(pattern for pattern, _ in TEXTS), re.IGNORECASE)

_LONGEST = 20_000  # characters that are looked at


def tells_context_length(text: str) -> bool:
    """Whether a provider's text says that the prompt does not fit the context window."""
    plain = text[:_LONGEST].replace("`", "")
    return _KNOWN.search(plain) is not None and _OTHER.search(plain) is None
