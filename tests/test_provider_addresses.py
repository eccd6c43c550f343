"""Where each provider is reached: addresses from arguments and the environment, and clouds with several surfaces."""

from __future__ import annotations

from typing import Any

import pytest

import thinkaloud as ta
from thinkaloud.models.address import find_address
from thinkaloud.models.model import Model
from thinkaloud.models.provider import AddressPart, Provider, Surface
from thinkaloud.models.providers import PROVIDERS
from thinkaloud.protocols.anthropic.options import AnthropicOptions

CHAT = {"protocol": "openai-chat"}


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in PROVIDERS.values():
        addresses = (row.base_url_variable, *(surface.base_url_variable for surface in row.surfaces))
        for variable in (*addresses, *(name for part in row.parts for name in part.variables)):
            if variable is not None:
                monkeypatch.delenv(variable, raising=False)


def url(provider: str, id: str = "m", *, protocol: str | None = None, **arguments: Any) -> str:
    return ta.prepare(Model(provider, id, protocol=protocol), "Hi", **arguments).request.url


# Azure

RESOURCE = {"resource": "mine"}


def test_azure_serves_both_protocols_on_its_v1_surface() -> None:
    assert url("azure", endpoint=RESOURCE) == "https://mine.openai.azure.com/openai/v1/responses"
    chat = url("azure", protocol="openai-chat", endpoint=RESOURCE)
    assert chat == "https://mine.openai.azure.com/openai/v1/chat/completions"


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://mine.services.ai.azure.com",
        "https://mine.services.ai.azure.com/",
        "https://mine.services.ai.azure.com/openai",
        "https://mine.services.ai.azure.com/openai/v1/",
    ],
)
def test_the_endpoint_of_a_resource_may_be_written_as_it_is_found(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = "https://mine.services.ai.azure.com/openai/v1/responses"
    assert url("azure", base_url=endpoint) == wanted
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", endpoint)
    assert url("azure") == wanted


def test_a_dated_version_leads_to_deployments_on_chat_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")
    dated = {"api_version": "2025-03-01-preview"}
    assert url("azure", "my gpt", protocol="openai-chat", endpoint=dated) == (
        "https://mine.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2025-03-01-preview"
    )
    monkeypatch.setenv("OPENAI_API_VERSION", "2025-03-01-preview")
    assert url("azure") == "https://mine.openai.azure.com/openai/responses?api-version=2025-03-01-preview"


def test_the_v1_surface_gets_no_dated_version_but_takes_preview() -> None:
    v1 = "https://mine.openai.azure.com/openai/v1"
    assert url("azure", base_url=v1, endpoint={"api_version": "2024-10-21"}) == f"{v1}/responses"
    assert url("azure", base_url=v1, endpoint={"api_version": "preview"}) == f"{v1}/responses?api-version=preview"


def test_claude_on_azure_speaks_the_messages_api() -> None:
    plan = ta.prepare("foundry/claude-opus-5", "Hi", endpoint=RESOURCE)
    assert plan.request.url == "https://mine.services.ai.azure.com/anthropic/v1/messages"
    assert plan.request.headers["anthropic-version"] == "2023-06-01"
    assert plan.body["model"] == "claude-opus-5"


# Google

PROJECT = {"project": "my-project"}


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("global", "aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
    ],
)
def test_a_location_chooses_the_host(location: str, host: str) -> None:
    asked = url("google-vertex", "gemini-3-pro", endpoint={**PROJECT, "location": location})
    place = f"projects/my-project/locations/{location}/publishers/google"
    assert asked == f"https://{host}/v1beta1/{place}/models/gemini-3-pro:streamGenerateContent?alt=sse"


def test_without_a_project_a_key_is_enough() -> None:
    assert url("google-vertex", "gemini-3-pro").startswith(
        "https://aiplatform.googleapis.com/v1beta1/publishers/google/"
    )


def test_a_project_of_the_environment_is_at_its_location(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p1")
    assert "/projects/p1/locations/global/" in url("google-vertex", "gemini-3-pro")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "us-east5")
    assert url("google-vertex", "gemini-3-pro").startswith("https://us-east5-aiplatform.googleapis.com/")


EXPRESS = "https://aiplatform.googleapis.com/v1beta1/publishers/google/"


def test_a_key_that_is_given_wins_over_a_project_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p1")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "us-east5")
    client = ta.Client(api_key="AIza-given")
    assert client.prepare("google-vertex/gemini-3-pro", "Hi").request.url.startswith(EXPRESS)
    both = ta.Client(api_key={"google": "AIza-one", "google-vertex": "AIza-given"})
    fallen = both.prepare("google/gemini-3-pro", "Hi", fallbacks=["google-vertex/gemini-3-pro"]).fallbacks[0]
    assert fallen.request.url.startswith(EXPRESS)
    other = client.prepare("google/gemini-3-pro", "Hi", fallbacks=["google-vertex/gemini-3-pro"]).fallbacks[0]
    assert "/projects/p1/" in other.request.url  # a lone key is for the provider that is asked first


@pytest.mark.parametrize("named", [{"project": "mine"}, {"location": "us-east5"}])
def test_a_project_or_location_that_is_named_stays_beside_a_given_key(
    named: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p1")
    plan = ta.Client(api_key="AIza-given").prepare("google-vertex/gemini-3-pro", "Hi", endpoint=named)
    place = f"/projects/{named.get('project', 'p1')}/locations/{named.get('location', 'global')}/"
    assert place in plan.request.url
    assert plan.notices == ()


def test_a_token_beside_a_given_key_goes_to_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.auth")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p1")
    client = ta.Client(api_key="sk-of-another-provider", auth=ta.GoogleAuth())
    assert "/projects/p1/" in client.prepare("google-vertex/gemini-3-pro", "Hi").request.url


@pytest.mark.parametrize("provider", ["google-vertex", "vertex", "google-vertex-anthropic"])
def test_claude_on_vertex_is_named_in_the_path_and_its_version_in_the_body(provider: str) -> None:
    model = Model(provider, "claude-sonnet-4-5@20250929", protocol="anthropic-messages")
    plan = ta.prepare(model, "Hi", endpoint={**PROJECT, "location": "us-east5"})
    assert plan.request.url == (
        "https://us-east5-aiplatform.googleapis.com/v1/projects/my-project/locations/us-east5"
        "/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"
    )
    assert plan.body["anthropic_version"] == "vertex-2023-10-16"
    assert plan.body["stream"] is True
    assert "model" not in plan.body
    assert "anthropic-version" not in plan.request.headers


def test_a_later_version_has_one_name_everywhere_and_betas_stay_in_the_header() -> None:
    model = Model("google-vertex", "claude-opus-5", protocol="anthropic-messages")
    options = AnthropicOptions(api_version="2026-10-21", betas=("a-beta",))
    plan = ta.prepare(model, "Hi", options=options, endpoint=PROJECT)
    assert plan.body["anthropic_version"] == "2026-10-21"
    assert plan.request.headers["anthropic-beta"] == "a-beta"


def test_claude_on_vertex_needs_a_project_wherever_it_is_called() -> None:
    model = Model("google-vertex", "claude-opus-5", protocol="anthropic-messages")
    for base_url in (None, "https://proxy.example.com/v1"):
        with pytest.raises(ta.ConfigurationError, match=r"needs a project: set GOOGLE_CLOUD_PROJECT.*endpoint="):
            ta.prepare(model, "Hi", base_url=base_url)


# others


def test_an_address_without_a_path_gets_the_one_of_its_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABRICKS_HOST", "my-place.cloud.example.com")
    assert url("databricks") == "https://my-place.cloud.example.com/serving-endpoints/chat/completions"
    monkeypatch.setenv("GROQ_BASE_URL", "https://groq.example.com")
    assert url("groq") == "https://groq.example.com/openai/v1/chat/completions"
    assert url("groq", base_url="https://proxy.example.com/x") == "https://proxy.example.com/x/chat/completions"
    assert url("snowflake", endpoint={"account": "org-name"}).startswith("https://org-name.snowflakecomputing.com/api/")


@pytest.mark.parametrize(
    ("host", "at"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("127.0.0.1:1234", "http://127.0.0.1:1234"),
        (":1234", "http://127.0.0.1:1234"),
        ("http://localhost:1/", "http://localhost:1"),
    ],
)
def test_the_host_of_ollama_is_read_as_its_own_programs_read_it(
    host: str, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", host)
    assert url("ollama") == f"{at}/v1/chat/completions"
    assert url("ollama", protocol="openai-responses") == f"{at}/v1/responses"


def test_an_argument_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert url("bedrock", endpoint={"region": "us-east-2"}).startswith(
        "https://bedrock-runtime.us-east-2.amazonaws.com/"
    )


@pytest.mark.parametrize(
    ("endpoint", "words"),
    [
        ({"regoin": "x"}, "'regoin'.*region"),
        ({"region": "evil.example.com/"}, "region"),
        ({"project": "a/b"}, "project"),
        ({"region": 7}, "region"),
        ("eu-west-1", "mapping"),
    ],
)
def test_an_endpoint_that_makes_no_sense_is_refused(endpoint: Any, words: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=f"endpoint.*{words}"):
        url("bedrock", endpoint=endpoint)


def told(plan: ta.Plan) -> list[tuple[str, str]]:
    return [(notice.code, notice.path) for notice in plan.notices]


def test_a_part_that_an_address_has_no_place_for_is_told() -> None:
    plan = ta.prepare(Model("openai", "m"), "Hi", endpoint={"region": "eu-west-1"})
    assert told(plan) == [("option_ignored", "endpoint.region")]
    assert plan.notices[0].text == "the address that openai is called at has no region"
    proxied = ta.prepare(Model("bedrock", "m"), "Hi", base_url="https://proxy.example.com", endpoint={"region": "x"})
    assert told(proxied) == [("option_ignored", "endpoint.region")]
    express = ta.prepare("google-vertex/gemini-3-pro", "Hi", endpoint={"location": "us-east5"})
    assert told(express) == [("option_ignored", "endpoint.location")]


@pytest.mark.parametrize(
    ("provider", "protocol", "endpoint"),
    [
        ("bedrock", None, {"region": "eu-west-1"}),
        ("azure", None, {**RESOURCE, "api_version": "preview"}),
        ("google-vertex", None, {**PROJECT, "location": "eu"}),
        ("google-vertex", "anthropic-messages", {**PROJECT, "location": "eu"}),
        ("snowflake", None, {"account": "org-name"}),
    ],
)
def test_a_part_that_has_its_place_is_not_told(provider: str, protocol: str | None, endpoint: dict[str, str]) -> None:
    assert told(ta.prepare(Model(provider, "m", protocol=protocol), "Hi", endpoint=endpoint)) == []


def test_a_chain_tells_only_what_none_of_its_addresses_has_a_place_for() -> None:
    plan = ta.prepare(
        Model("bedrock", "m"),
        "Hi",
        fallbacks=[Model("google-vertex", "gemini-3-pro"), Model("openai", "m")],
        endpoint={"region": "eu-west-1", **PROJECT, "account": "org-name"},
    )
    assert [told(each) for each in (plan, *plan.fallbacks)] == [[("option_ignored", "endpoint.account")]] * 3


def test_what_credentials_know_of_an_address_is_not_told_elsewhere() -> None:
    pytest.importorskip("botocore")
    client = ta.Client(auth=ta.AwsAuth(access_key="A", secret_key="S", region="eu-west-1"))
    assert told(client.prepare(Model("openai", "m"), "Hi")) == []


def test_a_protocol_that_a_provider_does_not_serve_needs_an_address() -> None:
    with pytest.raises(ta.ConfigurationError, match=r"mistral.*gemini.*base_url"):
        url("mistral", protocol="gemini")
    served = url("mistral", protocol="gemini", base_url="https://proxy.example.com/v1beta")
    assert served.startswith("https://proxy.example.com/v1beta/models/m:")


# clear text


def test_plain_http_to_another_machine_has_to_be_allowed() -> None:
    there = "http://10.0.0.7:8000/v1"
    with pytest.raises(ta.ConfigurationError, match=r"must be https.*allow_http=True"):
        url("vllm", base_url=there)
    assert url("vllm", base_url=there, allow_http=True).startswith(there)
    assert ta.Client(allow_http=True).prepare("vllm/m", "Hi", base_url=there).request.url.startswith(there)
    assert url("vllm", base_url="http://[::1]:8000/v1").startswith("http://[::1]:8000")


def test_a_row_may_allow_it_too() -> None:
    row = Provider(id="lan", protocol="openai-chat", base_url="http://gpu.lan/v1", allow_http=True)
    assert find_address(None, Model("lan", "m", protocol="openai-chat"), row).url == "http://gpu.lan/v1"


def test_a_row_of_an_address_in_clear_text_is_refused_unless_it_allows_it() -> None:
    row = Provider(
        id="lan",
        protocol="gemini",
        surfaces=(Surface(protocol="openai-chat", base_url="http://{host}/v1"),),
        parts=(AddressPart(name="host", default="gpu.lan"),),
    )
    with pytest.raises(ta.ConfigurationError, match="https"):
        find_address(None, Model("lan", "m", protocol="openai-chat"), row)


# the table


def test_every_part_of_an_address_is_named_in_its_row() -> None:
    for row in PROVIDERS.values():
        named = {part.name for part in row.parts}
        for protocol in row.protocols:
            surface = row.surface(protocol)
            assert surface is not None
            for piece in (surface.base_url or "").split("{")[1:]:
                assert piece.partition("}")[0] in {*named, "google_host"}, row.id


def test_reasoning_models_of_openai_azure_and_xai_speak_responses() -> None:
    for provider in ("openai", "azure", "xai"):
        assert PROVIDERS[provider].protocols == ("openai-responses", "openai-chat")


def test_local_servers_need_no_key() -> None:
    assert {row.id for row in PROVIDERS.values() if not row.key_required} == {
        "vllm",
        "sglang",
        "llama-cpp",
        "lmstudio",
        "ollama",
    }
