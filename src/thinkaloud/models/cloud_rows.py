"""The providers with protocols of their own, and the clouds that serve them: rows of the providers table."""

from __future__ import annotations

from attrs import evolve

from thinkaloud.models.dialect import Dialect
from thinkaloud.models.provider import AddressPart, Provider, Surface

_RESPONSES = "openai-responses"
_CHAT_TOO = (Surface(protocol="openai-chat"),)

_OPENAI = Dialect(
    system_role="developer",
    max_tokens_field="max_completion_tokens",
    samples_thinking=False,
    replay="never",
    tool_id="openai",
    cache_key=True,
)
_AWS_REGION = (AddressPart(name="region", variables=("AWS_REGION", "AWS_DEFAULT_REGION")),)

CLOUDS = (
    Provider(
        id="anthropic",
        protocol="anthropic-messages",
        base_url="https://api.anthropic.com",
        key_variables=("ANTHROPIC_API_KEY",),
        base_url_variable="ANTHROPIC_BASE_URL",
        key_header="x-api-key",
    ),
    # Claude on Azure: the Messages API as it is, the model is the deployment's name.
    Provider(
        id="azure-anthropic",
        protocol="anthropic-messages",
        base_url="https://{resource}.services.ai.azure.com/anthropic",
        base_path="/anthropic",
        base_url_variable="ANTHROPIC_FOUNDRY_BASE_URL",
        parts=(AddressPart(name="resource", variables=("ANTHROPIC_FOUNDRY_RESOURCE",)),),
        auth="azure",
        key_variables=("ANTHROPIC_FOUNDRY_API_KEY",),
        key_header="x-api-key",
    ),
    Provider(
        id="google",
        protocol="gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        key_header="x-goog-api-key",
    ),
    # With a project and its tokens, or with a key alone ("express mode"). Claude is served beside Gemini.
    Provider(
        id="google-vertex",
        protocol="gemini",
        base_url="https://{google_host}/v1beta1/projects/{project}/locations/{location}/publishers/google",
        express_url="https://aiplatform.googleapis.com/v1beta1/publishers/google",
        surfaces=(
            Surface(
                protocol="anthropic-messages",
                base_url="https://{google_host}/v1",
                base_path="/v1",
                base_url_variable="ANTHROPIC_VERTEX_BASE_URL",
                form="vertex-anthropic",
                models="claude",
            ),
        ),
        parts=(
            AddressPart(name="project", variables=("GOOGLE_CLOUD_PROJECT", "ANTHROPIC_VERTEX_PROJECT_ID")),
            AddressPart(name="location", variables=("GOOGLE_CLOUD_LOCATION", "CLOUD_ML_REGION"), default="global"),
        ),
        auth="google",
        key_variables=("GOOGLE_API_KEY",),
        key_header="x-goog-api-key",
    ),
    Provider(
        id="bedrock",
        protocol="bedrock-converse",
        base_url="https://bedrock-runtime.{region}.amazonaws.com",
        base_url_variable="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
        parts=_AWS_REGION,
        auth="aws",
        key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    ),
    Provider(
        id="openai",
        protocol=_RESPONSES,
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        surfaces=_CHAT_TOO,
        key_variables=("OPENAI_API_KEY",),
        dialect=_OPENAI,
    ),
    # The address is a resource's, and a model is the name of a deployment there. A dated version leads to the older
    # paths. Deployments of other makers' models know no role but "system", and OpenAI's take it too (seen at Azure).
    Provider(
        id="azure",
        protocol=_RESPONSES,
        base_url="https://{resource}.openai.azure.com/openai",
        base_path="/openai",
        base_url_variable="AZURE_OPENAI_ENDPOINT",
        form="azure",
        surfaces=_CHAT_TOO,
        parts=(
            AddressPart(name="resource", variables=("AZURE_RESOURCE_NAME",)),
            AddressPart(name="api_version", variables=("OPENAI_API_VERSION",), default="v1"),
        ),
        auth="azure",
        key_variables=("AZURE_OPENAI_API_KEY",),
        key_header="api-key",
        dialect=evolve(_OPENAI, system_role="system"),
    ),
    # GPT at Amazon, under the names that Amazon has for them.
    Provider(
        id="bedrock-mantle",
        protocol=_RESPONSES,
        base_url="https://bedrock-mantle.{region}.api.aws/openai/v1",
        surfaces=(
            Surface(protocol="openai-chat", base_url="https://bedrock-mantle.{region}.api.aws/v1"),
            Surface(
                protocol="anthropic-messages",
                base_url="https://bedrock-mantle.{region}.api.aws/anthropic",
                base_url_variable="ANTHROPIC_BEDROCK_MANTLE_BASE_URL",
                models="claude",
            ),
        ),
        parts=_AWS_REGION,
        auth="aws",
        key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
        dialect=evolve(_OPENAI, system_role="system", cache_key=False),
    ),
)
