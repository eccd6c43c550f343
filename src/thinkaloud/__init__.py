"""Stream a reasoning model's thinking and its answer as typed events, and keep the thinking for the next turn.

    async with thinkaloud.stream("anthropic/claude-opus-5", "Why is the sky blue?", reasoning="high") as events:
        async for event in events:
            match event:
                case thinkaloud.ThinkingDelta(text=piece): ...
                case thinkaloud.TextDelta(text=piece): ...
        message = await events.message()

Data flows one way: a conversation becomes a plan, the plan a request, the answer's bytes server events, these become
stream events, and their fold is the message that goes back into the conversation.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thinkaloud.homes import HOMES

if TYPE_CHECKING:
    from thinkaloud.accumulator import Accumulator, replay_events
    from thinkaloud.auth.aws import AwsAuth
    from thinkaloud.auth.base import Auth
    from thinkaloud.auth.bearer import BearerAuth
    from thinkaloud.auth.google import GoogleAuth
    from thinkaloud.batch import Outcome, complete_many
    from thinkaloud.client import Client, complete, complete_sync, stream
    from thinkaloud.content import (
        AssistantBlock,
        Block,
        Document,
        Image,
        Opaque,
        Text,
        Thinking,
        ToolCall,
        UserBlock,
    )
    from thinkaloud.errors import (
        AuthenticationError,
        CodecError,
        ConfigurationError,
        ConnectFailed,
        ContentFiltered,
        ContextTooLong,
        DeadlineExceeded,
        HistoryError,
        InvalidRequest,
        LimitExceeded,
        MalformedStream,
        MalformedToolArguments,
        MalformedToolCall,
        MissingCredentials,
        NotFound,
        OutputError,
        Overloaded,
        PermissionDenied,
        ProviderError,
        QuotaExceeded,
        RateLimited,
        ReadFailed,
        RunError,
        ServerError,
        StaleThinking,
        StreamAborted,
        StreamError,
        ThinkaloudError,
        TransportError,
        TruncatedStream,
        UnknownModel,
        UnsupportedOption,
        WrongValue,
    )
    from thinkaloud.event_stream import EventStream
    from thinkaloud.events import (
        OpaqueBlock,
        Progress,
        RunEvent,
        StreamEnd,
        StreamEvent,
        StreamStart,
        TextDelta,
        TextEnd,
        TextStart,
        ThinkingDelta,
        ThinkingEnd,
        ThinkingStart,
        ToolCallDelta,
        ToolCallEnd,
        ToolCallStart,
        ToolFinished,
        ToolStarted,
        TurnEnd,
        TurnStart,
        UsageUpdate,
    )
    from thinkaloud.history.decisions import SwitchPolicy
    from thinkaloud.history.processors import Processor, trim_tokens, trim_turns
    from thinkaloud.history.validation import validate
    from thinkaloud.jsontext import preview_arguments
    from thinkaloud.levels import ThinkingLevel
    from thinkaloud.limits import Limits
    from thinkaloud.messages import (
        AssistantMessage,
        Conversation,
        LevelChoice,
        Message,
        Origin,
        StopReason,
        Timing,
        ToolResult,
        UserMessage,
    )
    from thinkaloud.model_levels import clamp_thinking_level, supported_thinking_levels
    from thinkaloud.models.catalog import list_models, load_models, register_model
    from thinkaloud.models.dialect import Dialect, ThinkTags
    from thinkaloud.models.model import Model, ThinkingControl
    from thinkaloud.models.prices import PriceChange, Prices, PriceTier, Rates
    from thinkaloud.models.provider import AddressPart, Provider, Surface
    from thinkaloud.models.provider_files import load_providers
    from thinkaloud.models.providers import register_provider
    from thinkaloud.models.resolve import find_model
    from thinkaloud.notices import Issue, Notice
    from thinkaloud.observing import RequestInfo, ResponseInfo
    from thinkaloud.plan import CallOptions, Messages, Plan, prepare
    from thinkaloud.protocols.anthropic.options import Adaptive, AnthropicOptions, BetweenTools, Budget, Disabled
    from thinkaloud.protocols.bedrock.options import BedrockOptions
    from thinkaloud.protocols.captured import parse, parse_events
    from thinkaloud.protocols.gemini.options import GeminiOptions
    from thinkaloud.protocols.openai_chat.options import OpenAIChatOptions
    from thinkaloud.protocols.openai_responses.options import OpenAIResponsesOptions
    from thinkaloud.run_result import RunResult
    from thinkaloud.runs.loop import RunOptions, run, run_stream
    from thinkaloud.runs.stream import RunStream
    from thinkaloud.structured import Output
    from thinkaloud.tools import ServerTool, Tool, ToolChoice
    from thinkaloud.transport.base import Exchange, Transport
    from thinkaloud.transport.retry import Retry
    from thinkaloud.transport.timeouts import Timeouts
    from thinkaloud.usage import Cost, Usage
    from thinkaloud.wire.http import HttpRequest

__all__ = [
    "Accumulator",
    "Adaptive",
    "AddressPart",
    "AnthropicOptions",
    "AssistantBlock",
    "AssistantMessage",
    "Auth",
    "AuthenticationError",
    "AwsAuth",
    "BearerAuth",
    "BedrockOptions",
    "BetweenTools",
    "Block",
    "Budget",
    "CallOptions",
    "Client",
    "CodecError",
    "ConfigurationError",
    "ConnectFailed",
    "ContentFiltered",
    "ContextTooLong",
    "Conversation",
    "Cost",
    "DeadlineExceeded",
    "Dialect",
    "Disabled",
    "Document",
    "EventStream",
    "Exchange",
    "GeminiOptions",
    "GoogleAuth",
    "HistoryError",
    "HttpRequest",
    "Image",
    "InvalidRequest",
    "Issue",
    "LevelChoice",
    "LimitExceeded",
    "Limits",
    "MalformedStream",
    "MalformedToolArguments",
    "MalformedToolCall",
    "Message",
    "Messages",
    "MissingCredentials",
    "Model",
    "NotFound",
    "Notice",
    "Opaque",
    "OpaqueBlock",
    "OpenAIChatOptions",
    "OpenAIResponsesOptions",
    "Origin",
    "Outcome",
    "Output",
    "OutputError",
    "Overloaded",
    "PermissionDenied",
    "Plan",
    "PriceChange",
    "PriceTier",
    "Prices",
    "Processor",
    "Progress",
    "Provider",
    "ProviderError",
    "QuotaExceeded",
    "RateLimited",
    "Rates",
    "ReadFailed",
    "RequestInfo",
    "ResponseInfo",
    "Retry",
    "RunError",
    "RunEvent",
    "RunOptions",
    "RunResult",
    "RunStream",
    "ServerError",
    "ServerTool",
    "StaleThinking",
    "StopReason",
    "StreamAborted",
    "StreamEnd",
    "StreamError",
    "StreamEvent",
    "StreamStart",
    "Surface",
    "SwitchPolicy",
    "Text",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "ThinkTags",
    "ThinkaloudError",
    "Thinking",
    "ThinkingControl",
    "ThinkingDelta",
    "ThinkingEnd",
    "ThinkingLevel",
    "ThinkingStart",
    "Timeouts",
    "Timing",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolChoice",
    "ToolFinished",
    "ToolResult",
    "ToolStarted",
    "Transport",
    "TransportError",
    "TruncatedStream",
    "TurnEnd",
    "TurnStart",
    "UnknownModel",
    "UnsupportedOption",
    "Usage",
    "UsageUpdate",
    "UserBlock",
    "UserMessage",
    "WrongValue",
    "clamp_thinking_level",
    "complete",
    "complete_many",
    "complete_sync",
    "find_model",
    "list_models",
    "load_models",
    "load_providers",
    "parse",
    "parse_events",
    "prepare",
    "preview_arguments",
    "register_model",
    "register_provider",
    "replay_events",
    "run",
    "run_stream",
    "stream",
    "supported_thinking_levels",
    "trim_tokens",
    "trim_turns",
    "validate",
]


def __getattr__(name: str) -> Any:
    home = HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
