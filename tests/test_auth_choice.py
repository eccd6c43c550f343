"""Which credentials a call takes: the given ones where they fit, else what the environment holds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import thinkaloud as ta
from support.clouds import without_credentials
from thinkaloud.auth.api_key import ApiKey, NoAuth
from thinkaloud.auth.choice import find_auth
from thinkaloud.models.providers import find_provider
from thinkaloud.testing import Failure, Scripted, serve
from thinkaloud.wire.http import HttpRequest

BEDROCK = find_provider("bedrock")
VERTEX = find_provider("google-vertex")
ANTHROPIC = find_provider("anthropic")
PROJECT = "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/publishers/google"
EXPRESS = "https://aiplatform.googleapis.com/v1beta1/publishers/google"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_credentials(monkeypatch, tmp_path)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)


async def sent(auth: object) -> dict[str, str]:
    return dict(await auth.headers(HttpRequest("POST", "https://example.com")))  # type: ignore[attr-defined]


@pytest.mark.anyio
async def test_a_bearer_key_of_bedrock_needs_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "ABSK-key")
    assert await sent(find_auth(BEDROCK, None)) == {"authorization": "Bearer ABSK-key"}


@pytest.mark.anyio
async def test_a_given_key_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "of-environment")
    assert await sent(find_auth(BEDROCK, ApiKey("given"))) == {"authorization": "Bearer given"}


def test_without_a_key_bedrock_is_signed_for(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    assert isinstance(find_auth(BEDROCK, None), ta.AwsAuth)


def test_the_credentials_of_an_environment_are_kept_while_it_does_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    first = find_auth(BEDROCK, None)
    assert find_auth(BEDROCK, None) is first
    monkeypatch.setenv("AWS_PROFILE", "other")
    assert find_auth(BEDROCK, None) is not first


def test_without_a_library_the_key_and_the_extra_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(ta.MissingCredentials, match=r"AWS_BEARER_TOKEN_BEDROCK.*api_key.*thinkaloud\[bedrock\]"):
        find_auth(BEDROCK, None)


@pytest.mark.anyio
async def test_vertex_takes_an_express_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-express")
    assert await sent(find_auth(VERTEX, None, url=EXPRESS)) == {"x-goog-api-key": "AIza-express"}


def test_vertex_with_a_project_takes_a_token_and_no_key_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.auth")
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-express")
    assert isinstance(find_auth(VERTEX, None, url=PROJECT), ta.GoogleAuth)


def test_vertex_without_key_and_project_names_both() -> None:
    with pytest.raises(ta.MissingCredentials, match=r"GOOGLE_API_KEY.*GOOGLE_CLOUD_PROJECT"):
        find_auth(VERTEX, None, url=EXPRESS)


@pytest.mark.anyio
async def test_credentials_of_one_cloud_never_go_to_another_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    aws = ta.AwsAuth(access_key="A", secret_key="S")
    assert find_auth(BEDROCK, None, auth=aws) is aws
    assert await sent(find_auth(ANTHROPIC, None, auth=aws)) == {"x-api-key": "sk-ant"}
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ta.MissingCredentials, match="ANTHROPIC_API_KEY"):
        find_auth(ANTHROPIC, None, auth=aws)


@pytest.mark.anyio
async def test_a_key_stands_beside_credentials_of_a_cloud() -> None:
    pytest.importorskip("botocore")
    auth = ta.AwsAuth(access_key="A", secret_key="S", region="us-east-1")
    async with serve(["Hi", "Hi"]) as server:
        client = ta.Client(auth=auth, api_key="sk-ant", base_url=server.url)
        async with client:
            await client.complete("anthropic/claude-opus-5", "hi")
            await client.complete("bedrock/anthropic.claude-opus-4-6-v1", "hi")
    assert server.requests[0].credentials == {"x-api-key": "sk-ant"}
    assert server.requests[1].credentials["authorization"].startswith("AWS4-HMAC-SHA256 ")


def test_an_endpoint_of_ones_own_takes_every_kind() -> None:
    pytest.importorskip("botocore")
    aws = ta.AwsAuth(access_key="A", secret_key="S")
    model = ta.Model("my-proxy", "m", protocol="bedrock-converse", base_url="https://proxy.example.com")
    provider = ta.prepare(model, "hi").provider
    assert find_auth(provider, None, auth=aws) is aws


def test_a_server_that_asks_for_no_key_gets_none() -> None:
    assert isinstance(find_auth(find_provider("ollama"), None), NoAuth)


def test_credentials_tell_their_part_of_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    client = ta.Client(auth=ta.AwsAuth(access_key="A", secret_key="S", region="eu-west-1"))
    model = "bedrock/anthropic.claude-opus-4-6-v1"
    assert client.prepare(model, "hi").request.url.startswith("https://bedrock-runtime.eu-west-1.amazonaws.com/")
    other = client.prepare(model, "hi", endpoint={"region": "us-west-2"})
    assert other.request.url.startswith("https://bedrock-runtime.us-west-2.amazonaws.com/")
    monkeypatch.setenv("AWS_REGION", "ca-central-1")
    of_environment = ta.Client(auth=ta.AwsAuth(access_key="A", secret_key="S")).prepare(model, "hi")
    assert of_environment.request.url.startswith("https://bedrock-runtime.ca-central-1.amazonaws.com/")


def test_credentials_of_google_tell_project_and_location() -> None:
    pytest.importorskip("google.auth")
    client = ta.Client(auth=ta.GoogleAuth(project="my-project", location="europe-west4"))
    assert client.prepare("google-vertex/gemini-3-pro-preview", "hi").request.url.startswith(
        "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/my-project/locations/europe-west4/"
    )


@pytest.mark.anyio
async def test_fallbacks_take_each_its_own_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    script = Scripted([Failure(ta.AuthenticationError, "no"), "Hi"])
    auth = ta.AwsAuth(access_key="A", secret_key="S", region="us-east-1")
    async with (
        serve(script) as server,
        ta.Client(auth=auth, base_url=server.url) as client,
    ):
        model, other = "bedrock/anthropic.claude-opus-4-6-v1", "anthropic/claude-opus-5"
        await client.complete(model, "hi", fallbacks=[other])
    assert server.requests[0].credentials["authorization"].startswith("AWS4-HMAC-SHA256 ")
    assert server.requests[1].credentials == {"x-api-key": "sk-ant"}


def test_a_token_of_google_cloud_without_a_project_is_refused() -> None:
    pytest.importorskip("google.auth")
    client = ta.Client(auth=ta.GoogleAuth())
    with pytest.raises(ta.ConfigurationError, match=r"GOOGLE_CLOUD_PROJECT.*GoogleAuth\(project"):
        client.stream("google-vertex/gemini-3-pro-preview", "hi")


class Expired:
    """Credentials of a cloud that can be had no more."""

    kinds = ("aws",)

    async def headers(self, request: HttpRequest) -> dict[str, str]:
        raise ta.AuthenticationError("the SSO session has expired")


CONVERSE = "bedrock/anthropic.claude-opus-4-6-v1"


@pytest.mark.anyio
async def test_credentials_that_cannot_be_refreshed_end_the_stream_in_every_form() -> None:
    async with ta.Client(auth=Expired(), base_url="http://127.0.0.1:9") as client:
        with pytest.raises(ta.AuthenticationError, match="SSO"):
            await client.complete(CONVERSE, "hi")
        with pytest.raises(ta.AuthenticationError, match="SSO"):
            async for _ in client.stream(CONVERSE, "hi"):
                pass
        with pytest.raises(ta.AuthenticationError, match="SSO"):
            async with client.stream(CONVERSE, "hi") as events:
                async for _ in events:
                    pass


@pytest.mark.anyio
async def test_a_fallback_is_asked_where_credentials_cannot_be_refreshed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")
    async with serve(["Hi"]) as server, ta.Client(auth=Expired(), base_url=server.url) as client:
        answer = await client.complete(CONVERSE, "hi", fallbacks=["anthropic/claude-opus-5"])
    assert answer.text == "Hi"
    assert [notice.code for notice in answer.notices] == ["fallback"]
