"""Bedrock as a provider: its region, its key, and calls over HTTP on both event loops and both HTTP libraries."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import thinkaloud as ta
from support.calling import calling
from thinkaloud.auth.choice import find_auth
from thinkaloud.models.providers import find_provider
from thinkaloud.testing import Failure, Reply, Scripted
from thinkaloud.wire.http import HttpRequest

MODEL = "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0"
VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_BEARER_TOKEN_BEDROCK")


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


def host(**arguments: Any) -> str:
    return ta.prepare(MODEL, "Hi", **arguments).request.url.partition("/model/")[0]


def test_the_region_is_part_of_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert host() == "https://bedrock-runtime.eu-west-1.amazonaws.com"
    monkeypatch.setenv("AWS_REGION", "us-gov-west-1")
    assert host() == "https://bedrock-runtime.us-gov-west-1.amazonaws.com"


def test_an_address_that_is_given_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert host(base_url="https://proxy.example.com/aws/") == "https://proxy.example.com/aws"
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "https://vpce.example.com")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert host() == "https://vpce.example.com"


def test_without_a_region_the_variables_are_named() -> None:
    with pytest.raises(ta.ConfigurationError, match=r"AWS_REGION or AWS_DEFAULT_REGION.*base_url"):
        host()


@pytest.mark.parametrize("region", ["us east", "evil.example.com/", "x@y"])
def test_a_region_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, region: str) -> None:
    monkeypatch.setenv("AWS_REGION", region)
    with pytest.raises(ta.ConfigurationError, match="AWS_REGION"):
        host()


@pytest.mark.anyio
async def test_the_key_comes_from_its_variable_and_goes_as_a_bearer_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "ABSK-test")
    headers = await find_auth(find_provider("bedrock"), None).headers(HttpRequest("POST", "https://example.com"))
    assert headers == {"authorization": "Bearer ABSK-test"}


def test_without_a_key_its_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)  # with it, credentials are looked for when the call is sent
    with pytest.raises(ta.MissingCredentials) as caught:
        find_auth(find_provider("bedrock"), None)
    assert caught.value.variables == ("AWS_BEARER_TOKEN_BEDROCK",)


@pytest.mark.parametrize("name", ["aws", "amazon-bedrock"])
def test_other_names_of_the_provider_are_known(name: str) -> None:
    assert find_provider(name).id == "bedrock"


CALLS = [
    ta.ToolCall("tooluse_1", name="add", arguments_json='{"a":1}'),
    ta.ToolCall("tooluse_2", name="add", arguments_json='{"a":2}'),
]
FIRST = Reply([ta.Thinking.signed("Two of them.", "Eq+/9w=="), "Adding.", *CALLS], usage=ta.Usage(input=9, output=20))
SECOND = Reply([ta.Thinking.signed("", "c2ln"), "Three in all."])


async def converse(client: ta.Client, *, streaming: bool) -> list[Any]:
    """A question, two calls and their results, and the answer."""
    messages: list[Any] = [ta.UserMessage("Add one and two.")]
    tools = [ta.Tool("add")]
    for _ in range(2):
        answer = await client.complete(MODEL, messages, tools=tools, reasoning="low", streaming=streaming)
        messages += [answer, *(ta.ToolResult(call.id, "3") for call in answer.tool_calls)]
    return messages


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_conversation_with_calls_runs_over_http(library: str, streaming: bool) -> None:
    pytest.importorskip(library)
    script = Scripted([FIRST, SECOND])
    async with calling(script, library=library, protocol="bedrock-converse") as (server, client):
        _, first, *results, second = await converse(client, streaming=streaming)
    assert first.content == FIRST.content
    assert second.content == SECOND.content
    assert [result.call_id for result in results] == ["tooluse_1", "tooluse_2"]
    assert (first.response_id, first.usage) == ("req_scripted_1", FIRST.usage)
    assert (first.origin.provider, first.origin.model) == ("bedrock", MODEL.partition("/")[2])
    asked, again = server.requests
    kind = "converse-stream" if streaming else "converse"
    assert asked.path == f"/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/{kind}"
    assert asked.credentials == {"authorization": "Bearer test-key"}
    assert [list(block) for block in again.json["messages"][1]["content"]] == [
        ["reasoningContent"],
        ["text"],
        ["toolUse"],
        ["toolUse"],
    ]
    thinking = again.json["messages"][1]["content"][0]["reasoningContent"]["reasoningText"]
    assert thinking == {"text": "Two of them.", "signature": "Eq+/9w=="}


@pytest.mark.anyio
async def test_an_arn_reaches_the_server_escaped_once() -> None:
    arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123"
    async with calling(["Hi"], protocol="bedrock-converse") as (server, client):
        await client.complete(f"bedrock/{arn}", "Hi")
    escaped = "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123"
    assert server.requests[0].path == f"/model/{escaped}/converse-stream"


@pytest.mark.anyio
async def test_a_failure_is_the_same_as_a_status_and_inside_a_stream() -> None:
    broken_off = Reply("So", error=Failure(ta.RateLimited, "slow down"))
    failures: list[Any] = [Failure(ta.RateLimited, "slow down"), broken_off]
    async with calling(Scripted(failures), protocol="bedrock-converse") as (_, client):
        for partial in (None, "So"):
            with pytest.raises(ta.RateLimited, match="slow down") as caught:
                await client.complete(MODEL, "Hi")
            assert caught.value.status == 429
            assert (caught.value.partial.text if caught.value.partial else None) == partial
