"""One scripted conversation with every provider, as it goes over HTTP: what is asked of whom, and its requests.

The client believes that it speaks to the provider; a transport between the two leads each request to a loopback server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from attrs import evolve, field, frozen

import thinkaloud as ta
from thinkaloud.auth.aws import AwsAuth
from thinkaloud.auth.base import Auth
from thinkaloud.auth.bearer import BearerAuth
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.providers import PROVIDERS
from thinkaloud.testing import Reply, Scripted, serve
from thinkaloud.testing.encoding import ThinkingIn
from thinkaloud.transport.base import Exchange
from thinkaloud.transport.http import HttpTransport
from thinkaloud.wire.http import HttpRequest

KEY = "sk-golden-0123456789"


@frozen
class Asked:
    """One conversation.

    model: id of the model.
    protocol: as the user names it; None: as the provider chooses it.
    environment: variables besides the key's.
    auth: "token": a cloud's token in place of a key; "aws": a signature.
    """

    model: str
    protocol: str | None = None
    environment: Mapping[str, str] = field(factory=dict)
    auth: Literal["key", "token", "aws"] = "key"


_AWS = {"AWS_REGION": "us-east-1"}
_AZURE = {"AZURE_OPENAI_ENDPOINT": "https://my-resource.openai.azure.com/"}
_VERTEX = {"GOOGLE_CLOUD_PROJECT": "my-project", "GOOGLE_CLOUD_LOCATION": "us-east5"}

CONVERSATIONS: Mapping[str, tuple[Asked, ...]] = {
    "anthropic": (Asked("claude-opus-5"),),
    "azure-anthropic": (Asked("claude-opus-5", environment={"ANTHROPIC_FOUNDRY_RESOURCE": "my-resource"}),),
    "google": (Asked("gemini-3-flash-preview"), Asked("gemini-2.5-flash")),
    "google-vertex": (
        Asked("gemini-3-flash-preview"),
        Asked("gemini-2.5-flash", environment=_VERTEX, auth="token"),
        Asked("claude-opus-5", environment=_VERTEX, auth="token"),
    ),
    "bedrock": (
        Asked("us.anthropic.claude-sonnet-4-6", environment=_AWS),
        Asked("us.amazon.nova-2-lite-v1:0", environment=_AWS, auth="aws"),
    ),
    "bedrock-mantle": (
        Asked("openai.gpt-5.6-luna", environment=_AWS),
        Asked("anthropic.claude-opus-4-8", environment=_AWS),
    ),
    "openai": (Asked("gpt-5.5"), Asked("gpt-5.2", "openai-chat")),
    "azure": (
        Asked("gpt-5.5", environment=_AZURE),
        Asked("gpt-5-mini", "openai-chat", _AZURE),
        Asked("gpt-5-mini", "openai-chat", {**_AZURE, "OPENAI_API_VERSION": "2024-10-21"}),
        Asked("gpt-5-mini", environment={**_AZURE, "OPENAI_API_VERSION": "2025-03-01-preview"}, auth="token"),
    ),
    "deepseek": (Asked("deepseek-v4-pro"), Asked("deepseek-reasoner"), Asked("deepseek-v4-flash", "openai-responses")),
    "openrouter": (Asked("anthropic/claude-sonnet-4.6"), Asked("z-ai/glm-5.2")),
    "groq": (Asked("openai/gpt-oss-120b"), Asked("qwen/qwen3.8-27b")),
    "xai": (Asked("grok-4.3"), Asked("grok-4.3", "openai-chat")),
    "mistral": (Asked("mistral-medium-3.5"),),
    "qwen": (Asked("qwen3.7-max"),),
    "moonshotai": (Asked("kimi-k3"), Asked("kimi-k2.6")),
    "zai": (Asked("glm-5.3"), Asked("glm-4.7")),
    "cerebras": (Asked("gpt-oss-120b"), Asked("zai-glm-4.7")),
    "together": (Asked("openai/gpt-oss-120b"), Asked("Qwen/Qwen3.5-397B-A17B")),
    "fireworks": (Asked("accounts/fireworks/models/glm-5p2"),),
    "huggingface": (Asked("openai/gpt-oss-120b:cerebras"),),
    "perplexity": (Asked("sonar-reasoning-pro"),),
    "gemini-openai": (Asked("gemini-2.5-flash"),),
    "vercel-gateway": (Asked("anthropic/claude-sonnet-4.6"),),
    "avian": (Asked("moonshotai/kimi-k2.5"),),
    "databricks": (
        Asked("databricks-gpt-oss-120b", environment={"DATABRICKS_HOST": "my-workspace.databricks.example"}),
    ),
    "snowflake": (Asked("claude-sonnet-4-6", environment={"SNOWFLAKE_ACCOUNT": "my-org-my-account"}),),
    "vllm": (Asked("Qwen/Qwen3-32B"), Asked("openai/gpt-oss-20b")),
    "sglang": (Asked("Qwen/Qwen3-32B"), Asked("deepseek-ai/DeepSeek-V3.2")),
    "llama-cpp": (Asked("qwen3-8b"), Asked("qwen3-8b", "openai-responses"), Asked("qwen3-8b", "anthropic-messages")),
    "gpustack": (Asked("qwen3"),),
    "lmstudio": (Asked("qwen/qwen3-8b"),),
    "ollama": (Asked("gpt-oss:20b"), Asked("qwen3:8b")),
    "ollama-cloud": (Asked("gpt-oss:120b"),),
}

# Providers without an address of their own.
ADDRESSES = {"gpustack": "https://gpustack.example/v1"}

TOOLS = (
    ta.Tool("weather", "Tells the weather of a city.", {"type": "object", "properties": {"city": {"type": "string"}}}),
    ta.Tool("clock", "Tells the time of a city.", {"type": "object", "properties": {"city": {"type": "string"}}}),
)
CALLS = (
    ta.ToolCall("call_1", name="weather", arguments_json='{"city":"Oslo"}'),
    ta.ToolCall("call_2", name="clock", arguments_json='{"city":"Oslo"}'),
)


def script(protocol: str, dialect: Dialect) -> Scripted:
    """What the provider's model says, in the provider's way."""
    where = thinking_in(dialect)
    signed = protocol != "openai-chat" or where in ("reasoning_details", "content")

    def thinking(text: str, seal: str) -> ta.Thinking:
        return ta.Thinking.signed(text, seal) if signed else ta.Thinking(text)

    return Scripted(
        [
            Reply([thinking("I need both.", "c2VhbC1vbmU="), *CALLS], id="resp_1"),
            Reply([thinking("Now I know.", "c2VhbC10d28="), ta.Text("Rain, and it is noon.")], id="resp_2"),
            Reply([ta.Text("You are welcome.")], id="resp_3"),
        ],
        thinking_in=where,
    )


def thinking_in(dialect: Dialect) -> ThinkingIn:
    """Where the endpoint of a dialect says its thinking."""
    if dialect.think_tags is not None and dialect.think_tags.open == "<think>":
        return "think_tags"
    if dialect.replay_field == "content":
        return "content"
    if dialect.effort == "openrouter":
        return "reasoning_details"
    return "reasoning" if dialect.reasoning_field == "reasoning" else "reasoning_content"


class Rerouted:
    """Leads every request to another server over real HTTP, and remembers where it was to go."""

    def __init__(self, server_url: str) -> None:
        self.urls: list[str] = []
        self._server_url = server_url
        self._inner = HttpTransport()

    async def send(self, request: HttpRequest, credentials: Mapping[str, str]) -> Exchange:
        """Send a request to the server, at the path of its own URL."""
        self.urls.append(request.url)
        own = urlsplit(request.url)
        return await self._inner.send(
            evolve(request, url=self._server_url + request.url.removeprefix(f"{own.scheme}://{own.netloc}")),
            credentials,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


async def converse(provider: str, asked: Asked) -> tuple[list[ta.AssistantMessage], list[dict[str, Any]]]:
    """Think, call two tools, get their results, think, answer, and be thanked: the answers and the requests."""
    model = ta.Model(provider, asked.model, protocol=asked.protocol)
    base_url = ADDRESSES.get(provider)
    plan = ta.prepare(model, "?", base_url=base_url)
    auth = _AUTH[asked.auth]()
    async with serve(script(plan.context.origin.protocol, plan.context.dialect)) as server:
        transport = Rerouted(server.url)
        async with ta.Client(
            transport=transport, auth=auth, base_url=base_url, tools=TOOLS, system="Be brief.", max_tokens=9000
        ) as client:
            history = ta.Conversation("How is Oslo?")
            answers: list[ta.AssistantMessage] = []
            for _ in range(3):
                answer = await client.complete(model, history, reasoning="high")
                answers.append(answer)
                results = [ta.ToolResult(call.id, f"the {call.name} of Oslo") for call in answer.tool_calls]
                history = history.adding(answer, results or "Thank you.")
    sent = [
        {
            "url": url,
            "headers": _headers({**request.headers, **request.credentials}),
            "body": request.json,
        }
        for url, request in zip(transport.urls, server.requests, strict=True)
    ]
    return answers, sent


_AUTH: Mapping[str, Callable[[], Auth | None]] = {
    "key": lambda: None,
    "token": lambda: BearerAuth(KEY),
    "aws": lambda: AwsAuth(access_key="AKIDEXAMPLE", secret_key="secret", session_token=KEY),
}

# What is another one with every request.
_MOMENTS = re.compile(r"\b\d{8}(T\d{6}Z)?\b|(?<=Signature=)[0-9a-f]{64}")

# What the HTTP library says of itself and of the connection.
_OF_THE_LIBRARY = {"host", "connection", "content-length", "user-agent", "accept-encoding"}


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: _MOMENTS.sub("***", value.replace(KEY, "***"))
        for name, value in sorted(headers.items())
        if name not in _OF_THE_LIBRARY
    }


def environment(provider: str, asked: Asked) -> dict[str, str]:
    """The variables that make a call work: where a key is needed, the first one for keys holds it."""
    row = PROVIDERS[provider]
    keys = row.key_variables[:1] if row.key_required and asked.auth == "key" else ()
    return {**dict.fromkeys(keys, KEY), **asked.environment}


def variables() -> set[str]:
    """Every variable that the table reads."""
    named: set[str] = set()
    for row in PROVIDERS.values():
        named |= {*row.key_variables, *(name for part in row.parts for name in part.variables)}
        named |= {surface.base_url_variable or "" for surface in row.surfaces} | {row.base_url_variable or ""}
    return named - {""}
