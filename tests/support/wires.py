"""The wires whose recordings and cases are proved, one row each."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import frozen

from support.bedrock_oracle import BedrockWalker, bedrock_blocks, bedrock_body, bedrock_usage
from support.gemini_oracle import GeminiWalker, gemini_body, gemini_content, gemini_usage
from support.neutral import Content, Neutral, blocks_in_order, kinds_in_order, known
from support.responses_oracle import ResponsesWalker, items_in_order, responses_body, responses_usage
from support.walkers import AnthropicWalker, ChatWalker, Walker
from support.whole_bodies import Body, anthropic_body, chat_body
from thinkaloud.usage import Usage


def anthropic_usage(usage: Usage, endpoint: str) -> Neutral:
    """The Messages API counts cached tokens beside the input; we count them as a part of it."""
    cached = (usage.cache_read or 0) + (usage.cache_write or 0)
    return known(
        input=None if usage.input is None else usage.input - cached,
        output=usage.output,
        reasoning=usage.reasoning,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
    )


def chat_usage(usage: Usage, endpoint: str) -> Neutral:
    """Chat counts as we do, except xAI: its completion tokens come without the reasoning; our output is with it."""
    beside = (usage.reasoning or 0) if endpoint == "xai" else 0
    return known(
        input=usage.input,
        output=None if usage.output is None else usage.output - beside,
        reasoning=usage.reasoning,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
    )


@frozen(kw_only=True)
class Wire:
    """One wire protocol under proof.

    streamed, whole: how many recordings of each form there are.
    walker: makes an independent reader of its payloads.
    whole_body: joins the payloads of a stream to one body, independently.
    content: the view of a message that is compared with the oracle.
    provider_usage: our usage in the provider's own numbers.
    every_byte: recordings that are cut off after each of their bytes.
    """

    id: str
    streamed: int
    whole: int
    walker: Callable[[], Walker]
    whole_body: Callable[[Iterable[str]], Body]
    content: Content
    provider_usage: Callable[[Usage, str], Neutral]
    every_byte: tuple[str, ...]


WIRES = (
    Wire(
        id="anthropic-messages",
        streamed=33,
        whole=39,
        walker=AnthropicWalker,
        whole_body=anthropic_body,
        content=blocks_in_order,
        provider_usage=anthropic_usage,
        every_byte=(
            "llm-anthropic-anthropic-stream-events-thinking",
            "pydantic-ai-anthropic-anthropic-advisor-tool-stream",
            "anthropic-sdk-incomplete-partial-json-response",
        ),
    ),
    Wire(
        id="bedrock-converse",
        streamed=14,
        whole=36,
        walker=BedrockWalker,
        whole_body=bedrock_body,
        content=bedrock_blocks,
        provider_usage=bedrock_usage,
        every_byte=(
            "pydantic-ai-bedrock-bedrock-model-code-execution-tool-stream",
            "pydantic-ai-bedrock-bedrock-model-thinking-part-stream",
            "ruby-llm-chat-function-calling-bedrock-amazon-nova-2-lite-v1-0-can-use-tools-with-mult-a8640169-0",
        ),
    ),
    Wire(
        id="other",
        streamed=4,
        whole=0,
        walker=AnthropicWalker,
        whole_body=anthropic_body,
        content=blocks_in_order,
        provider_usage=anthropic_usage,
        every_byte=("fantasy-bedrockbasicauth-simple-streaming",),
    ),
    Wire(
        id="gemini",
        streamed=22,
        whole=37,
        walker=GeminiWalker,
        whole_body=gemini_body,
        content=gemini_content,
        provider_usage=gemini_usage,
        every_byte=(
            "fantasy-googlecommon-gemini-3-pro-preview-multi-tool-streaming-0",
            "fantasy-googlethinking-gemini-2.5-pro-thinking-streaming-0",
            "pydantic-ai-code-execution-code-execution-stream",
        ),
    ),
    Wire(
        id="openai-chat",
        streamed=73,
        whole=71,
        walker=ChatWalker,
        whole_body=chat_body,
        content=kinds_in_order,
        provider_usage=chat_usage,
        every_byte=(
            "pydantic-ai-openrouter-openrouter-streaming-reasoning",
            "fantasy-openaicommon-openai-gpt-5-multi-tool-streaming-0",
            "vercel-ai-mistral-reasoning-stream",
        ),
    ),
    Wire(
        id="openai-responses",
        streamed=53,
        whole=38,
        walker=ResponsesWalker,
        whole_body=responses_body,
        content=items_in_order,
        provider_usage=responses_usage,
        every_byte=(
            "ruby-llm-providers-bedrock-mantle-responses-chat-streams-through-the-responses-surface",
            "pydantic-ai-bedrock-mantle-reused-tool-call-ids-stream-0",
            "vercel-ai-openai-local-shell-tool.1-stream",
        ),
    ),
)
