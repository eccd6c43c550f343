"""Tokens and keys that a callable gives: in the right header, off the event loop, once for all that wait."""

from __future__ import annotations

import copy
import pickle
import threading
import traceback
from typing import Any

import anyio
import pytest

import thinkaloud as ta
from support.clouds import LoopIsAlive
from thinkaloud.auth.api_key import ApiKey
from thinkaloud.auth.shared import SharedRefresh
from thinkaloud.testing import serve
from thinkaloud.wire.http import HttpRequest

CLAUDE = "anthropic/claude-opus-5"
REQUEST = HttpRequest("POST", "https://example.com/v1/messages")


@pytest.mark.anyio
async def test_a_token_goes_as_a_bearer_whatever_header_keys_go_in() -> None:
    async with serve(["Hi"]) as server:
        client = ta.Client(auth=ta.BearerAuth("entra-token"), base_url=server.base_url("anthropic-messages"))
        async with client:
            await client.complete(CLAUDE, "hi")
    assert server.requests[0].credentials == {"authorization": "Bearer entra-token"}


@pytest.mark.anyio
async def test_a_key_goes_in_the_header_of_the_provider() -> None:
    async with (
        serve(["Hi"]) as server,
        ta.Client(api_key="azure-key", base_url=server.base_url("openai-chat")) as client,
    ):
        await client.complete(ta.Model("azure", "my-deployment", protocol="openai-chat"), "hi")
    assert server.requests[0].credentials == {"api-key": "azure-key"}


@pytest.mark.anyio
async def test_a_token_is_asked_for_anew_before_each_request() -> None:
    tokens = iter(["first", "second"])
    auth = ta.BearerAuth(lambda: next(tokens))
    assert await auth.headers(REQUEST) == {"authorization": "Bearer first"}
    assert await auth.headers(REQUEST) == {"authorization": "Bearer second"}


@pytest.mark.anyio
async def test_an_async_callable_gives_a_token() -> None:
    async def give() -> str:
        await anyio.lowlevel.checkpoint()
        return " token\n"

    assert await ta.BearerAuth(give).headers(REQUEST) == {"authorization": "Bearer token"}


@pytest.mark.anyio
async def test_an_async_callable_runs_in_the_event_loop() -> None:
    threads = []

    class Giver:
        async def __call__(self) -> str:
            threads.append(threading.get_ident())
            return "token"

    await ta.BearerAuth(Giver()).headers(REQUEST)
    assert threads == [threading.get_ident()]


@pytest.mark.anyio
@pytest.mark.parametrize("kind", [ta.BearerAuth, ApiKey])
async def test_a_plain_callable_that_blocks_does_not_block_the_event_loop(kind: Any) -> None:
    alive = LoopIsAlive()

    def fetch() -> str:
        alive.wait()
        return "token"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(alive.tick)
        assert await kind(fetch).headers(REQUEST) == {"authorization": "Bearer token"}
    assert alive.seen


@pytest.mark.anyio
async def test_many_calls_that_wait_share_one_token() -> None:
    asked = []
    all_wait = anyio.Event()
    got: list[str] = []

    async def fetch() -> str:
        asked.append(1)
        await all_wait.wait()
        return f"token-{len(asked)}"

    auth = ta.BearerAuth(fetch)

    async def call() -> None:
        got.append((await auth.headers(REQUEST))["authorization"])

    async with anyio.create_task_group() as tasks:
        for _ in range(50):
            tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        all_wait.set()
    assert got == ["Bearer token-1"] * 50


@pytest.mark.anyio
async def test_a_failed_refresh_fails_all_that_wait_each_with_an_error_of_its_own() -> None:
    asked = []
    all_wait = anyio.Event()
    errors: list[ta.ProviderError] = []

    async def refresh() -> None:
        asked.append(1)
        await all_wait.wait()
        raise ta.AuthenticationError("expired", code="invalid_grant")

    shared = SharedRefresh(refresh)

    async def call() -> None:
        with pytest.raises(ta.AuthenticationError) as caught:
            await shared()
        errors.append(caught.value)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        all_wait.set()
    assert len(asked) == 1
    assert [(error.message, error.code) for error in errors] == [("expired", "invalid_grant")] * 3
    assert len({id(error) for error in errors}) == 3


@pytest.mark.anyio
async def test_a_refresh_whose_call_is_cancelled_is_begun_anew_by_one_that_waits() -> None:
    begun = []
    scopes: list[anyio.CancelScope] = []
    all_wait = anyio.Event()
    got: list[str] = []

    async def refresh() -> str:
        begun.append(1)
        await all_wait.wait()
        return f"fresh-{len(begun)}"

    shared = SharedRefresh(refresh)

    async def call() -> None:
        with anyio.CancelScope() as scope:
            scopes.append(scope)
            got.append(await shared())

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        scopes[0].cancel()
        await anyio.wait_all_tasks_blocked()
        all_wait.set()
    assert got == ["fresh-2", "fresh-2"]


@pytest.mark.anyio
async def test_nothing_is_left_of_a_refresh_that_is_over() -> None:
    counts = iter("ab")

    async def refresh() -> str:
        return next(counts)

    shared = SharedRefresh(refresh)
    assert [await shared(), await shared()] == ["a", "b"]


def azure_error(name: str, above: str = "ClientAuthenticationError") -> type[Exception]:
    """A class named as one of azure-identity's, which is not installed where tests run."""
    base = type(above, (Exception,), {"__module__": "azure.core.exceptions"})
    return base if name == above else type(name, (base,), {"__module__": "azure.identity._exceptions"})


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "above", "wanted"),
    [
        ("ClientAuthenticationError", "ClientAuthenticationError", ta.AuthenticationError),
        ("CredentialUnavailableError", "ClientAuthenticationError", ta.MissingCredentials),
        ("ServiceRequestError", "ServiceRequestError", ta.ConnectFailed),
    ],
)
async def test_a_failure_of_entra_id_is_told_in_our_words(name: str, above: str, wanted: type[Exception]) -> None:
    def fetch() -> str:
        raise azure_error(name, above)("AADSTS700016: no such application; sent Bearer abcdefgh12345678")

    with pytest.raises(wanted, match="AADSTS700016") as caught:
        await ta.BearerAuth(fetch).headers(REQUEST)
    assert name in str(caught.value)
    assert "abcdefgh12345678" not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


@pytest.mark.anyio
@pytest.mark.parametrize("client", [lambda f: ta.Client(auth=ta.BearerAuth(f)), lambda f: ta.Client(api_key=f)])
async def test_a_callable_that_fails_is_an_error_of_ours_with_its_cause(client: Any) -> None:
    def fetch() -> str:
        raise KeyError("vault")

    async def fetch_there() -> str:
        raise OSError("no way to the vault")

    for source, words in ((fetch, "KeyError: vault"), (fetch_there, "OSError: no way to the vault")):
        with pytest.raises(ta.AuthenticationError, match=f"the callable given as .* failed .{words}") as caught:
            await client(source).complete(CLAUDE, "hi")
        assert isinstance(caught.value.__cause__, (KeyError, OSError))


@pytest.mark.anyio
async def test_an_error_of_ours_that_a_callable_raises_stays_what_it_is() -> None:
    def fetch() -> str:
        raise ta.MissingCredentials("no key for this tenant")

    with pytest.raises(ta.MissingCredentials, match="no key for this tenant"):
        await ta.Client(api_key=fetch).complete(CLAUDE, "hi")


@pytest.mark.anyio
@pytest.mark.parametrize("token", [None, "", "two words", 5])
async def test_a_callable_that_gives_no_token_is_refused(token: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match="token"):
        await ta.BearerAuth(lambda: token).headers(REQUEST)


def test_a_token_shows_in_no_repr_and_no_pickle() -> None:
    auth = ta.BearerAuth("very-secret")
    assert "very-secret" not in repr(auth)
    for leak in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="pickled"):
            leak(auth)


@pytest.mark.anyio
async def test_headers_that_hold_a_secret_do_not_show_it() -> None:
    headers = await ta.BearerAuth("very-secret").headers(REQUEST)
    assert repr(headers) == str(headers) == "Credentials(authorization)"


@pytest.mark.anyio
async def test_an_object_of_ones_own_lets_requests_in() -> None:
    class Signed:
        async def headers(self, request: HttpRequest) -> dict[str, str]:
            return {"x-signature": str(len(request.body))}

    async with serve(["Hi"]) as server:
        client = ta.Client(auth=Signed(), base_url=server.base_url("anthropic-messages"))
        async with client:
            await client.complete(CLAUDE, "hi")
    assert server.requests[0].headers["x-signature"] == str(len(server.requests[0].body))
    assert server.requests[0].credentials == {}


@pytest.mark.parametrize("auth", [5, "token", ta.BearerAuth, object()])
def test_what_is_no_auth_is_refused(auth: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match="auth"):
        ta.Client(auth=auth)


def test_a_token_for_every_provider_leaves_nothing_to_a_key() -> None:
    with pytest.raises(ta.ConfigurationError, match="api_key or auth"):
        ta.Client(auth=ta.BearerAuth("token"), api_key="key")


def test_auth_is_an_argument_of_clients() -> None:
    with pytest.raises(ta.UnsupportedOption, match=r"Client\(auth=\.\.\.\)"):
        ta.prepare(CLAUDE, "hi", auth=ta.BearerAuth("token"))  # type: ignore[call-arg]
