"""How an endpoint deviates from the OpenAI chat protocol, as data: the same parser and encoder serve every row."""

from __future__ import annotations

from typing import Literal

from attrs import frozen


@frozen
class ThinkTags:
    """Thinking that stands inline in the text, between two tags.

    implied_open: the opening tag is part of the prompt, so the text starts inside thinking.
    """

    open: str = "<think>"
    close: str = "</think>"
    implied_open: bool = False


@frozen(kw_only=True)
class Dialect:
    """One endpoint's way of speaking chat completions. The defaults are OpenAI's own.

    Reading
      reasoning_field: the delta field that holds thinking, looked at first; the other known names follow.
      think_tags: thinking stands inline between these tags; None where the endpoint has a field for it.
      lenient_end: the end of the body is a success even without finish reason and end marker.
      repeats_reasoning: the endpoint may send the same thinking delta twice in a row (xAI).
      reasoning_on_top: reasoning tokens may be counted beside the completion tokens (xAI); the total tells.

    Writing
      system_role: role of the system text.
      max_tokens_field: name of the output limit.
      stream_usage: how usage is asked for in a stream: "stream_options", or None where it comes unasked.
      effort: how a thinking level is said: the shape of the request fields.
      replay: whether thinking must, may or must not go back.
      replay_field: where it goes back; None: in the field that it arrived in.
      tool_id: rule for tool-call ids: "any", "openai" (at most 40 characters), "mistral" (nine letters or digits).
      image_input, strict_fields: False where the endpoint refuses images, or fields that it does not know.
    """

    reasoning_field: str | None = None
    think_tags: ThinkTags | None = None
    lenient_end: bool = False
    repeats_reasoning: bool = False
    reasoning_on_top: bool = False

    system_role: Literal["system", "developer"] = "system"
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: Literal["stream_options"] | None = "stream_options"
    effort: Literal[
        "reasoning_effort", "openrouter", "deepseek", "zai", "moonshot", "qwen", "together", "groq", "template", "none"
    ] = "reasoning_effort"
    replay: Literal["must", "may", "never"] = "may"
    replay_field: Literal["reasoning_content", "reasoning", "reasoning_details", "content"] | None = None
    tool_id: Literal["any", "openai", "mistral"] = "any"
    cache_key: bool = False
