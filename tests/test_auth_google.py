"""Tokens of Google Cloud: from key files, defaults and given credentials, over a token endpoint on loopback."""

from __future__ import annotations

import base64
import json
import pickle
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import anyio
import pytest

import thinkaloud as ta
from support.clouds import LoopIsAlive, TokenPlace, token_place, without_credentials
from thinkaloud.testing import serve
from thinkaloud.wire.http import HttpRequest

pytest.importorskip("google.auth")
pytest.importorskip("requests")
serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")

REQUEST = HttpRequest("POST", "https://aiplatform.googleapis.com/v1beta1/projects/p/locations/global/x")
GIVEN = {"access_token": "ya29.given", "expires_in": 3600, "token_type": "Bearer"}
SHORT = {**GIVEN, "access_token": "ya29.short", "expires_in": 60}  # about to expire from the beginning


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_credentials(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem: bytes = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return pem.decode()


@pytest.fixture
def place() -> Iterator[TokenPlace]:
    with token_place((200, GIVEN)) as place:
        yield place


@pytest.fixture
def account(private_key: str, place: TokenPlace) -> dict[str, str]:
    """What the key file of a service account says."""
    return {
        "type": "service_account",
        "project_id": "its-project",
        "private_key_id": "k1",
        "private_key": private_key,
        "client_email": "caller@its-project.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": f"{place.url}/token",
    }


@pytest.mark.anyio
async def test_a_service_account_gets_a_token_and_keeps_it(account: dict[str, str], place: TokenPlace) -> None:
    auth = ta.GoogleAuth(service_account=account)
    for _ in range(3):
        assert await auth.headers(REQUEST) == {"authorization": "Bearer ya29.given"}
    [(path, _, body)] = place.requests
    assert path == "/token"
    payload = parse_qs(body.decode())["assertion"][0].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    assert claims["iss"] == account["client_email"]
    assert claims["scope"] == "https://www.googleapis.com/auth/cloud-platform"


@pytest.mark.anyio
async def test_the_key_file_may_be_named(account: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "key.json"
    file.write_text(json.dumps(account))
    auth = ta.GoogleAuth(service_account=file)
    assert auth.parts() == {"project": "its-project"}
    assert (await auth.headers(REQUEST))["authorization"] == "Bearer ya29.given"


@pytest.mark.anyio
async def test_the_default_credentials_are_found(
    monkeypatch: pytest.MonkeyPatch, account: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "key.json"
    file.write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    auth = ta.GoogleAuth()
    assert auth.parts() == {"project": "its-project"}
    assert (await auth.headers(REQUEST))["authorization"] == "Bearer ya29.given"


@pytest.mark.anyio
async def test_the_login_of_gcloud_is_found_with_the_project_that_pays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: TokenPlace
) -> None:
    login = {
        "type": "authorized_user",
        "client_id": "c",
        "client_secret": "s",
        "refresh_token": "r",
        "quota_project_id": "payer",
    }
    monkeypatch.setenv("PATH", "")  # gcloud itself is not asked for its project
    (tmp_path / "gcloud").mkdir()
    (tmp_path / "gcloud" / "application_default_credentials.json").write_text(json.dumps(login))
    credentials_of_users = pytest.importorskip("google.oauth2.credentials")
    monkeypatch.setattr(credentials_of_users, "_GOOGLE_OAUTH2_TOKEN_ENDPOINT", f"{place.url}/user")
    headers = await ta.GoogleAuth(project="p").headers(REQUEST)
    assert headers == {"authorization": "Bearer ya29.given", "x-goog-user-project": "payer"}
    assert parse_qs(place.requests[0][2].decode())["refresh_token"] == ["r"]


@pytest.mark.anyio
async def test_given_credentials_are_scoped_and_refreshed(account: dict[str, str]) -> None:
    service_accounts = pytest.importorskip("google.oauth2.service_account")
    given = service_accounts.Credentials.from_service_account_info(account)
    auth = ta.GoogleAuth(given)
    assert auth.parts() == {"project": "its-project"}
    assert (await auth.headers(REQUEST))["authorization"] == "Bearer ya29.given"


@pytest.mark.anyio
async def test_a_refresh_does_not_block_the_event_loop(account: dict[str, str], place: TokenPlace) -> None:
    alive = LoopIsAlive()
    place.before_answer = alive.wait
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(alive.tick)
        await ta.GoogleAuth(service_account=account).headers(REQUEST)
    assert alive.seen


@pytest.mark.anyio
async def test_many_calls_that_wait_share_one_refresh(account: dict[str, str], place: TokenPlace) -> None:
    auth = ta.GoogleAuth(service_account=account)
    got: list[str] = []

    async def call() -> None:
        got.append((await auth.headers(REQUEST))["authorization"])

    async with anyio.create_task_group() as tasks:
        for _ in range(60):
            tasks.start_soon(call)
    assert got == ["Bearer ya29.given"] * 60
    assert len(place.requests) == 1


@pytest.mark.anyio
async def test_a_token_that_is_about_to_expire_is_refreshed(account: dict[str, str], place: TokenPlace) -> None:
    place.answers = [(200, SHORT), (200, GIVEN)]
    auth = ta.GoogleAuth(service_account=account)
    got = [(await auth.headers(REQUEST))["authorization"] for _ in range(3)]
    assert got == ["Bearer ya29.short", "Bearer ya29.given", "Bearer ya29.given"]
    assert len(place.requests) == 2


@pytest.mark.anyio
async def test_a_token_that_still_works_is_used_where_no_new_one_can_be_had(
    account: dict[str, str], place: TokenPlace
) -> None:
    place.answers = [(200, SHORT), (400, {"error": "invalid_grant"})]
    auth = ta.GoogleAuth(service_account=account)
    got = [(await auth.headers(REQUEST))["authorization"] for _ in range(2)]
    assert got == ["Bearer ya29.short"] * 2
    assert len(place.requests) == 2


@pytest.mark.anyio
async def test_a_refused_key_is_an_authentication_error(
    account: dict[str, str], place: TokenPlace, private_key: str
) -> None:
    place.answers = [(400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."})]
    with pytest.raises(ta.AuthenticationError, match="invalid_grant: Invalid JWT Signature") as caught:
        await ta.GoogleAuth(service_account=account).headers(REQUEST)
    assert caught.value.__context__ is None
    assert caught.value.__traceback__ is not None
    ours = caught.value.__traceback__.tb_next  # this test's own frame holds the key
    shown = "".join(
        traceback.TracebackException(ta.AuthenticationError, caught.value, ours, capture_locals=True).format()
    )
    assert "_refresh" in shown
    assert private_key.splitlines()[3] not in shown


@pytest.mark.anyio
async def test_a_token_endpoint_that_cannot_be_reached_is_a_failed_connection(account: dict[str, str]) -> None:
    account["token_uri"] = "http://127.0.0.1:9/token"
    with pytest.raises(ta.ConnectFailed, match="TransportError"):
        await ta.GoogleAuth(service_account=account).headers(REQUEST)


@pytest.mark.anyio
async def test_without_credentials_every_place_is_named() -> None:
    with pytest.raises(ta.MissingCredentials, match=r"GOOGLE_APPLICATION_CREDENTIALS.*gcloud.*metadata") as caught:
        await ta.GoogleAuth(project="p").headers(REQUEST)
    assert caught.value.variables == ("GOOGLE_APPLICATION_CREDENTIALS",)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("change", "words"),
    [({"private_key": "-----BEGIN secret-----"}, "no usable key"), ({"client_email": None}, "no usable key")],
)
async def test_a_key_that_cannot_be_used_is_refused_without_being_shown(
    account: dict[str, Any], change: dict[str, Any], words: str
) -> None:
    content = {name: value for name, value in {**account, **change}.items() if value is not None}
    with pytest.raises(ta.ConfigurationError, match=words) as caught:
        await ta.GoogleAuth(service_account=content).headers(REQUEST)
    assert "BEGIN" not in str(caught.value)


@pytest.mark.anyio
@pytest.mark.parametrize("content", [None, "no JSON", "[]"])
async def test_a_key_file_that_is_none_is_named(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "key.json"
    if content is not None:
        file.write_text(content)
    auth = ta.GoogleAuth(service_account=str(file))
    assert auth.parts() == {}
    with pytest.raises(ta.ConfigurationError, match=r"key\.json"):
        await auth.headers(REQUEST)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"credentials": object()}, "google-auth"),
        ({"service_account": 5}, "service_account"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=words):
        ta.GoogleAuth(**arguments)


def test_credentials_and_a_key_file_are_one_too_many(account: dict[str, str]) -> None:
    service_accounts = pytest.importorskip("google.oauth2.service_account")
    given = service_accounts.Credentials.from_service_account_info(account)
    with pytest.raises(ta.ConfigurationError, match="not both"):
        ta.GoogleAuth(given, service_account=account)


def test_the_project_of_the_environment_is_left_to_the_address(
    monkeypatch: pytest.MonkeyPatch, account: dict[str, str]
) -> None:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "named")
    assert ta.GoogleAuth(service_account=account).parts() == {}
    assert ta.GoogleAuth(project="mine", location="eu").parts() == {"project": "mine", "location": "eu"}


def test_without_google_auth_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.auth", None)
    with pytest.raises(ta.ConfigurationError, match=r"pip install 'thinkaloud\[vertex\]'"):
        ta.GoogleAuth()


def test_credentials_show_in_no_repr_and_no_pickle(account: dict[str, str]) -> None:
    auth = ta.GoogleAuth(service_account=account)
    assert "PRIVATE" not in repr(auth)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(auth)


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_a_call_goes_over_http_with_the_token(account: dict[str, str], library: str) -> None:
    module = pytest.importorskip(library)
    auth = ta.GoogleAuth(service_account=account)
    async with (
        serve(["Hi"]) as server,
        module.AsyncClient(verify=False) as http_client,
        ta.Client(auth=auth, http_client=http_client, base_url=server.base_url("gemini")) as client,
    ):
        assert (await client.complete("google-vertex/gemini-3-pro-preview", "hi")).text == "Hi"
    assert server.requests[0].credentials == {"authorization": "Bearer ya29.given"}
