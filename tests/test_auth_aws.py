"""Requests signed for AWS: as botocore signs them, over the wire too, with credentials from everywhere it looks."""

from __future__ import annotations

import json
import logging
import pickle
import sys
import threading
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

import thinkaloud as ta
from support.clouds import LoopIsAlive, token_place, without_credentials
from thinkaloud.auth import aws
from thinkaloud.testing import serve
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.wire.http import HttpRequest

auth_of_botocore = pytest.importorskip("botocore.auth")
credentials_of_botocore = pytest.importorskip("botocore.credentials")
session_of_botocore = pytest.importorskip("botocore.session")
AWSRequest = pytest.importorskip("botocore.awsrequest").AWSRequest

KEY, SECRET = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
NOW = datetime(2026, 11, 30, 12, 34, 56, tzinfo=UTC)
ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123"


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_credentials(monkeypatch, tmp_path)


@pytest.fixture
def at_noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clocks of both signers."""
    monkeypatch.setattr(aws, "_now", lambda: NOW)
    monkeypatch.setattr(auth_of_botocore, "get_current_datetime", lambda *_: NOW)


def signed_by_botocore(request: HttpRequest, region: str, token: str | None = None) -> dict[str, str]:
    wanted = AWSRequest(
        request.method, request.url, {"content-type": request.headers["content-type"]}, request.body or None
    )
    credentials = credentials_of_botocore.Credentials(KEY, SECRET, token)
    auth_of_botocore.SigV4Auth(credentials, "bedrock", region).add_auth(wanted)
    return {name.lower(): text for name, text in wanted.headers.items() if name != "content-type"}


@pytest.mark.anyio
@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize("token", [None, "IQoJb3JpZ2luX2VjEXAMPLE//////////wEaCXVz=="])
@pytest.mark.parametrize("region", ["us-east-1", "eu-central-1", "us-gov-west-1", "ap-southeast-2"])
@pytest.mark.parametrize("model", ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-opus-4-6-v1", ARN])
async def test_a_request_is_signed_as_botocore_signs_it(
    monkeypatch: pytest.MonkeyPatch, model: str, region: str, token: str | None
) -> None:
    monkeypatch.setenv("AWS_REGION", region)
    request = ta.prepare(f"bedrock/{model}", "Grüße, 世界").request
    auth = ta.AwsAuth(access_key=KEY, secret_key=SECRET, session_token=token)
    headers = await auth.headers(request)
    assert headers == signed_by_botocore(request, region, token)
    assert ("x-amz-security-token" in headers) is (token is not None)


@pytest.mark.anyio
@pytest.mark.usefixtures("at_noon")
async def test_headers_of_aws_are_signed_and_all_others_are_not() -> None:
    headers = {"content-type": "application/json", "accept": "a/b", "x-amzn-bedrock-trace": "ENABLED", "x-trace": "7"}
    request = HttpRequest("POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", headers, b"{}")
    signed = await ta.AwsAuth(access_key=KEY, secret_key=SECRET).headers(request)
    assert "SignedHeaders=content-type;host;x-amz-date;x-amzn-bedrock-trace, " in signed["authorization"]
    assert set(signed) == {"authorization", "x-amz-date"}


@pytest.mark.anyio
@pytest.mark.usefixtures("at_noon")
async def test_a_date_of_the_users_own_gives_way_to_the_one_that_is_signed() -> None:
    headers = {"content-type": "application/json", "x-amz-date": "20200101T000000Z"}
    request = HttpRequest("POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", headers, b"{}")
    signed = await ta.AwsAuth(access_key=KEY, secret_key=SECRET).headers(request)
    assert signed == signed_by_botocore(request, "us-east-1")
    assert signed["x-amz-date"] == "20261130T123456Z"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("host", "scope"),
    [
        ("bedrock-runtime.eu-west-3.amazonaws.com", "eu-west-3/bedrock"),
        ("bedrock-runtime-fips.us-gov-east-1.amazonaws.com", "us-gov-east-1/bedrock"),
        ("bedrock-runtime.eu-west-3.api.aws", "eu-west-3/bedrock"),
        ("bedrock-runtime.cn-north-1.amazonaws.com.cn", "cn-north-1/bedrock"),
        ("vpce-0a1b-xyz.bedrock-runtime.us-west-2.vpce.amazonaws.com", "us-west-2/bedrock"),
        ("bedrock-mantle.us-east-2.api.aws", "us-east-2/bedrock-mantle"),
        ("gateway.example.com", "ca-central-1/bedrock"),
    ],
)
async def test_the_address_tells_region_and_service(monkeypatch: pytest.MonkeyPatch, host: str, scope: str) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "ca-central-1")
    auth = ta.AwsAuth(access_key=KEY, secret_key=SECRET)
    headers = await auth.headers(HttpRequest("POST", f"https://{host}/model/m/converse"))
    assert f"/{scope}/aws4_request, " in headers["authorization"]


def verified(request: RecordedRequest, region: str) -> None:
    """Sign what came over the wire again, as the service does to check it."""
    [authorization] = [text for name, text in request.credentials.items() if name == "authorization"]
    listed = authorization.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    received = {**request.headers, **request.credentials}
    again = AWSRequest(
        request.method, request.url, {name: received[name] for name in listed if name != "host"}, request.body
    )
    signer = auth_of_botocore.SigV4Auth(credentials_of_botocore.Credentials(KEY, SECRET), "bedrock", region)
    again.context["timestamp"] = received["x-amz-date"]
    canonical = signer.canonical_request(again)
    assert f"host:{received['host']}" in canonical
    signature = signer.signature(signer.string_to_sign(again, canonical), again)
    assert authorization.endswith(f", Signature={signature}")


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("model", ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", ARN])
@pytest.mark.parametrize("streaming", [True, False])
async def test_what_arrives_at_the_server_verifies(library: str, model: str, streaming: bool) -> None:
    module = pytest.importorskip(library)
    auth = ta.AwsAuth(access_key=KEY, secret_key=SECRET, session_token="IQoJ//wEa==", region="eu-west-1")
    async with (
        serve(["Hi"]) as server,
        module.AsyncClient(verify=False) as http_client,
        ta.Client(auth=auth, http_client=http_client, base_url=server.base_url("bedrock-converse")) as client,
    ):
        answer = await client.complete(f"bedrock/{model}", "Grüße", streaming=streaming)
    assert answer.text == "Hi"
    [request] = server.requests
    assert request.credentials["x-amz-security-token"] == "IQoJ//wEa=="
    verified(request, "eu-west-1")


class Rotating:
    """Credentials that expire, as roles, SSO and containers give them, in a session of botocore's shape."""

    region_name = "us-east-1"

    def __init__(self, *, lasts: timedelta = timedelta(hours=1)) -> None:
        self.lasts = lasts
        self.refreshed = 0
        self.threads: set[int] = set()
        self.looked = 0
        self.fails: Exception | None = None
        self.while_refreshing: Any = lambda: None

    def get_credentials(self) -> Any:
        self.looked += 1
        return credentials_of_botocore.DeferredRefreshableCredentials(self._refresh, "test")

    def _refresh(self) -> dict[str, str]:
        self.refreshed += 1
        self.threads.add(threading.get_ident())
        self.while_refreshing()
        if self.fails is not None:
            raise self.fails
        expiry = (datetime.now(UTC) + self.lasts).isoformat()
        return {
            "access_key": f"KEY{self.refreshed}",
            "secret_key": SECRET,
            "token": f"session-{self.refreshed}",
            "expiry_time": expiry,
        }


REQUEST = HttpRequest("POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse")


@pytest.mark.anyio
async def test_credentials_are_looked_for_once_and_kept_while_they_last() -> None:
    session = Rotating()
    auth = ta.AwsAuth(session=session)
    for _ in range(3):
        headers = await auth.headers(REQUEST)
        assert headers["x-amz-security-token"] == "session-1"
    assert (session.looked, session.refreshed) == (1, 1)


@pytest.mark.anyio
async def test_credentials_that_are_about_to_expire_are_refreshed() -> None:
    session = Rotating(lasts=timedelta(minutes=5))
    auth = ta.AwsAuth(session=session)
    assert (await auth.headers(REQUEST))["x-amz-security-token"].startswith("session-")
    before = session.refreshed
    assert (await auth.headers(REQUEST))["x-amz-security-token"] == f"session-{session.refreshed}"
    assert session.refreshed > before


@pytest.mark.anyio
async def test_a_refresh_does_not_block_the_event_loop() -> None:
    session, alive = Rotating(), LoopIsAlive()
    session.while_refreshing = alive.wait
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(alive.tick)
        await ta.AwsAuth(session=session).headers(REQUEST)
    assert alive.seen
    assert threading.get_ident() not in session.threads


@pytest.mark.anyio
async def test_many_calls_that_wait_share_one_refresh() -> None:
    session = Rotating()
    auth = ta.AwsAuth(session=session)
    tokens: list[str] = []

    async def call() -> None:
        tokens.append((await auth.headers(REQUEST))["x-amz-security-token"])

    async with anyio.create_task_group() as tasks:
        for _ in range(60):
            tasks.start_soon(call)
    assert tokens == ["session-1"] * 60
    assert (session.looked, session.refreshed) == (1, 1)


@pytest.mark.anyio
async def test_a_cancelled_wait_does_not_wait_for_the_refresh() -> None:
    session, release = Rotating(), threading.Event()
    session.while_refreshing = lambda: release.wait(5)
    auth = ta.AwsAuth(session=session)
    with anyio.move_on_after(0.02) as scope:
        await auth.headers(REQUEST)
    assert scope.cancelled_caught
    release.set()
    assert (await auth.headers(REQUEST))["x-amz-security-token"] == "session-1"
    assert session.refreshed == 1


ERRORS = pytest.importorskip("botocore.exceptions")
EXPIRED_SSO = ERRORS.UnauthorizedSSOTokenError()
REFUSED_ROLE = ERRORS.ClientError(
    {"Error": {"Code": "ExpiredToken", "Message": "The security token included in the request is expired"}},
    "AssumeRole",
)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("raised", "wanted", "words"),
    [
        (EXPIRED_SSO, ta.AuthenticationError, "SSO"),
        (REFUSED_ROLE, ta.AuthenticationError, "ExpiredToken.*AssumeRole"),
        (RuntimeError("the refreshed credentials are still expired."), ta.AuthenticationError, "still expired"),
        (ERRORS.ConnectTimeoutError(endpoint_url="http://169.254.170.2"), ta.ConnectFailed, "169.254.170.2"),
    ],
)
async def test_a_refresh_that_fails_is_told_in_our_words(raised: Exception, wanted: Any, words: str) -> None:
    session = Rotating()
    session.fails = raised
    with pytest.raises(wanted, match=words) as caught:
        await ta.AwsAuth(session=session).headers(REQUEST)
    assert caught.value.__context__ is None


@pytest.mark.anyio
async def test_a_refresh_that_failed_is_tried_again_by_the_next_call() -> None:
    session = Rotating()
    session.fails = EXPIRED_SSO
    auth = ta.AwsAuth(session=session)
    with pytest.raises(ta.AuthenticationError):
        await auth.headers(REQUEST)
    session.fails = None
    assert (await auth.headers(REQUEST))["x-amz-security-token"] == "session-2"


@pytest.mark.anyio
async def test_without_credentials_every_place_is_named() -> None:
    with pytest.raises(ta.MissingCredentials) as caught:
        await ta.AwsAuth(region="us-east-1").headers(REQUEST)
    for place in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_PROFILE", "~/.aws/config", "SSO", "container"):
        assert place in str(caught.value)
    assert "AWS_ACCESS_KEY_ID" in caught.value.variables


@pytest.mark.anyio
async def test_a_profile_that_does_not_exist_is_named() -> None:
    with pytest.raises(ta.MissingCredentials, match=r"ProfileNotFound.*nobody"):
        await ta.AwsAuth(profile="nobody", region="us-east-1").headers(REQUEST)


@pytest.fixture
def profiles(tmp_path: Path) -> None:
    (tmp_path / "credentials").write_text(f"[work]\naws_access_key_id = PROFILEKEY\naws_secret_access_key = {SECRET}\n")
    (tmp_path / "config").write_text(
        "[profile work]\nregion = eu-north-1\n"
        f"[profile made]\nregion = eu-south-1\ncredential_process = {sys.executable} {tmp_path / 'made.py'}\n"
    )
    given = {"Version": 1, "AccessKeyId": "MADEKEY", "SecretAccessKey": SECRET, "SessionToken": "made-token"}
    (tmp_path / "made.py").write_text(f"print({json.dumps(json.dumps(given))})\n")


@pytest.mark.anyio
@pytest.mark.usefixtures("profiles")
async def test_a_profile_gives_keys_and_a_region() -> None:
    request = HttpRequest("POST", "https://gateway.example.com/model/m/converse")
    auth = ta.AwsAuth(profile="work")
    assert auth.parts() == {"region": "eu-north-1"}
    assert "Credential=PROFILEKEY/" in (headers := await auth.headers(request))["authorization"]
    assert "/eu-north-1/bedrock/aws4_request" in headers["authorization"]


@pytest.mark.anyio
@pytest.mark.usefixtures("profiles")
async def test_the_program_of_a_profile_gives_keys() -> None:
    headers = await ta.AwsAuth(profile="made").headers(REQUEST)
    assert "Credential=MADEKEY/" in headers["authorization"]
    assert headers["x-amz-security-token"] == "made-token"


@pytest.mark.anyio
async def test_a_container_gives_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "AccessKeyId": "CONTAINERKEY",
        "SecretAccessKey": SECRET,
        "Token": "container-token",
        "Expiration": (datetime.now(UTC) + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    with token_place((200, given)) as place:
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{place.url}/creds")
        monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "let-me-in")
        auth = ta.AwsAuth()
        headers = [await auth.headers(REQUEST) for _ in range(2)]
    assert headers[0]["x-amz-security-token"] == headers[1]["x-amz-security-token"] == "container-token"
    [(path, sent, _)] = place.requests
    assert (path, sent["authorization"]) == ("/creds", "let-me-in")


@pytest.mark.anyio
async def test_a_session_of_botocore_is_taken_as_it_is() -> None:
    session = session_of_botocore.Session()
    session.set_credentials("SESSIONKEY", SECRET)
    session.set_config_variable("region", "sa-east-1")
    auth = ta.AwsAuth(session=session)
    assert auth.parts() == {"region": "sa-east-1"}
    assert "Credential=SESSIONKEY/" in (await auth.headers(REQUEST))["authorization"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("given", "of_environment", "parts"),
    [("eu-west-1", "us-east-2", {"region": "eu-west-1"}), (None, "us-east-2", {}), (None, None, {})],
)
async def test_a_region_of_the_environment_is_left_to_the_address(
    monkeypatch: pytest.MonkeyPatch, given: str | None, of_environment: str | None, parts: dict[str, str]
) -> None:
    if of_environment:
        monkeypatch.setenv("AWS_REGION", of_environment)
    assert ta.AwsAuth(region=given).parts() == parts


@pytest.mark.anyio
async def test_without_any_region_nothing_is_signed() -> None:
    auth = ta.AwsAuth(access_key=KEY, secret_key=SECRET)
    with pytest.raises(ta.ConfigurationError, match=r"AWS_REGION.*AwsAuth\(region"):
        await auth.headers(HttpRequest("POST", "https://gateway.example.com/model/m/converse"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"access_key": KEY}, "secret_key"),
        ({"session_token": "t"}, "session_token"),
        ({"profile": "work", "access_key": KEY, "secret_key": SECRET}, "profile"),
        ({"session": object()}, "session"),
        ({"region": "nowhere/else"}, "region"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=words):
        ta.AwsAuth(**arguments)


def test_without_botocore_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "botocore", None)
    with pytest.raises(ta.ConfigurationError, match=r"pip install 'thinkaloud\[bedrock\]'"):
        ta.AwsAuth()


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


@pytest.mark.anyio
async def test_no_secret_shows_in_repr_logs_or_tracebacks(everything_logged: pytest.LogCaptureFixture) -> None:
    auth = ta.AwsAuth(access_key=KEY, secret_key=SECRET, session_token="very-secret-token", region="us-east-1")
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(auth)
    client = ta.Client(auth=auth, base_url="http://127.0.0.1:9")
    with pytest.raises(ta.ConnectFailed) as caught:
        await client.complete("bedrock/anthropic.claude-opus-4-6-v1", "hi")
    await client.aclose()
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    for text in (repr(auth), repr(client), shown, everything_logged.text):
        assert SECRET not in text
        assert "very-secret-token" not in text
