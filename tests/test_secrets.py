"""Keys and tokens show nowhere: not where they are held, and not where a provider quotes what it got."""

from __future__ import annotations

import copy
import logging
import pickle
import traceback
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import anyio
import pytest

import thinkaloud as ta
from support.raw_server import raw_server, saying
from support.secret_watch import watching
from thinkaloud.auth.api_key import ApiKey
from thinkaloud.auth.concealing import Concealer
from thinkaloud.auth.secret import Secret, covered
from thinkaloud.testing import Failure, MemoryTransport, Scripted, serve
from thinkaloud.wire.http import HttpRequest

KEY = "key-for-tests-0123456789"
CHAT = "deepseek/deepseek-v4-pro"
CLAUDE = "anthropic/claude-opus-5"


def shown(error: BaseException) -> str:
    """All that a report of an error may show: its fields, and the locals of every frame that is not the test's."""
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    frames = [str(frame.locals) for frame in trace.stack if "/tests/" not in frame.filename]
    return f"{error} {error.args} {vars(error)} {frames}"


# where they are held


def test_a_secret_shows_itself_to_nobody() -> None:
    secret = Secret(KEY)
    assert (repr(secret), str(secret), f"{secret}", repr([secret])) == ("***", "***", "***", "[***]")
    assert secret.reveal() == KEY
    for way in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled"):
            way(secret)


def test_a_callable_that_gives_a_key_stays_a_callable() -> None:
    assert covered(input) is input
    assert str(covered(KEY)) == "***"


@pytest.mark.parametrize("make", [ApiKey, ta.BearerAuth, lambda key: ta.Client(api_key=key)])
@pytest.mark.parametrize("bad", [f"{KEY} x", f"{KEY}\r\nx: y", f"{KEY}é"])
def test_a_refused_key_is_in_no_frame_of_its_refusal(make: Any, bad: str) -> None:
    with pytest.raises(ta.ConfigurationError) as caught:
        make(bad)
    assert KEY not in shown(caught.value)


def test_a_client_that_is_refused_for_something_else_shows_no_key() -> None:
    with pytest.raises(ta.ConfigurationError) as caught:
        ta.Client(api_key=KEY, timeouts=5)  # type: ignore[arg-type]
    assert KEY not in shown(caught.value)


def test_cloud_keys_that_do_not_belong_together_are_not_shown() -> None:
    pytest.importorskip("botocore")
    with pytest.raises(ta.ConfigurationError) as caught:
        ta.AwsAuth(access_key=KEY, session_token=KEY)
    assert KEY not in shown(caught.value)


IN_BODY = "a-word-for-the-gateway"
ADDED: dict[str, Any] = {
    "extra_headers": {"Authorization": f"Bearer {KEY}", "x-gateway-key": KEY},
    "extra_body": {"gateway": IN_BODY},
}


def failing(**more: Any) -> ta.Client:
    return ta.Client(api_key="none", transport=MemoryTransport(Scripted([Failure(400)], repeat_last=True)), **more)


@pytest.mark.anyio
async def test_what_is_added_to_a_request_shows_in_no_frame_of_a_failed_call() -> None:
    client = failing()
    for call in (client.complete, partial(ta.complete, client=client), client.run, partial(ta.run, client=client)):
        with pytest.raises(ta.ThinkaloudError) as caught:
            await call(CLAUDE, "Hi", **ADDED)
        told = shown(caught.value.__cause__ or caught.value) + shown(caught.value)
        assert "extra_headers" in told
        assert [word for word in (KEY, IN_BODY) if word in told] == []
    (outcome,) = await client.complete_many(CLAUDE, ["Hi"], **ADDED)
    assert isinstance(outcome, ta.InvalidRequest)
    assert KEY not in shown(outcome)
    with pytest.raises(ta.InvalidRequest) as caught:
        await failing(**ADDED).complete(CLAUDE, "Hi")
    assert KEY not in shown(caught.value)


def test_what_is_added_to_a_request_shows_in_no_frame_of_its_refusal() -> None:
    client = failing()
    called: Any = client
    calls: tuple[Any, ...] = (ta.prepare, ta.stream, ta.complete_sync, ta.run_stream)
    for call in (*calls, called.prepare, called.stream, called.run_stream):
        for wrong in ({"temperature": -1}, {"extra_headers": {"x-key": f"{KEY}\n"}}, {"extra_body": {"a": {IN_BODY}}}):
            with pytest.raises(ta.ConfigurationError) as caught:
                call(CLAUDE, "Hi", **{**ADDED, **wrong})
            told = shown(caught.value)
            assert [word for word in (KEY, IN_BODY) if word in told] == []
    with pytest.raises(ta.ConfigurationError) as caught:
        ta.Client(timeouts=5, **ADDED)  # type: ignore[arg-type]
    told = shown(caught.value)
    assert [word for word in (KEY, IN_BODY) if word in told] == []


def test_what_is_added_to_a_body_shows_in_the_body() -> None:
    plan = ta.prepare(CLAUDE, "Hi", extra_body={"metadata": {"user_id": "u1"}})
    assert "'user_id': 'u1'" in repr(plan.body)


def test_headers_of_one_s_own_that_hold_a_secret_show_in_no_repr() -> None:
    plan = ta.prepare(
        CLAUDE, "Hi", extra_headers={"x-gateway-key": KEY, "authorization": f"Bearer {KEY}", "x-team": "a"}
    )
    assert KEY not in f"{plan!r} {plan.request!r} {plan.headers}"
    assert "'x-team': 'a'" in repr(plan.request)
    assert plan.request.headers["x-gateway-key"] == KEY


def test_a_value_that_looks_like_a_key_is_hidden_under_any_name() -> None:
    request = HttpRequest("POST", "https://a.example", {"x-other": "sk-ant-0123456789abcdef"})
    assert "sk-ant" not in repr(request)


# what a provider quotes


class OwnAuth:
    """Credentials in a header of their own."""

    def __init__(self, **headers: str) -> None:
        self._given = {name.replace("_", "-"): value for name, value in headers.items()}

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        return self._given


ECHOES = [
    b'{"error": {"message": "the key %s is wrong", "code": "%s", "param": ["%s", {"%s": 1}]}}',
    b'{"message": "the key %s is wrong"}',
    b"<html><body>proxy: %s is wrong</body></html>",
    b"x-api-key: %s",
]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "model", [CHAT, CLAUDE, "google/gemini-3.1-pro-preview", "openai/gpt-5.2", "bedrock/amazon.nova-pro-v1:0"]
)
@pytest.mark.parametrize("echo", ECHOES)
async def test_a_key_of_any_form_that_a_provider_quotes_is_hidden(model: str, echo: bytes) -> None:
    body = echo.replace(b"%s", KEY.encode())
    head = b"HTTP/1.1 401 No\r\ncontent-length: %d\r\nx-request-id: %s\r\n\r\n" % (len(body), KEY.encode())
    async with (
        raw_server(saying(head + body)) as server,
        ta.Client(api_key=KEY, base_url=server.url, retries=0, endpoint=None) as client,
    ):
        with pytest.raises(ta.AuthenticationError) as caught:
            await client.complete(model, "Hi")
    assert KEY not in shown(caught.value)
    assert "[hidden]" in str(caught.value.body)


@pytest.mark.anyio
async def test_a_key_that_is_quoted_inside_a_stream_is_hidden() -> None:
    event = f'data: {{"error": {{"message": "no use for {KEY}", "code": 401}}}}\n\n'.encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n" % len(event)
    async with raw_server(saying(head + event)) as server, ta.Client(api_key=KEY, base_url=server.url) as client:
        with pytest.raises(ta.AuthenticationError, match=r"no use for \[hidden\]") as caught:
            await client.complete(CHAT, "Hi")
    assert KEY not in shown(caught.value)


def test_a_text_that_was_shortened_within_the_key_is_hidden_too() -> None:
    concealer = Concealer()
    concealer.note({"authorization": f"Bearer {KEY}"})
    error = ta.AuthenticationError(f"the key {KEY[:15]}…", body=[KEY], code=KEY, request_id=f"r-{KEY}")
    concealer.conceal(error)
    assert (error.message, error.body) == ("the key [hidden]…", ["[hidden]"])
    assert (error.code, error.request_id) == ("[hidden]", "r-[hidden]")


def test_what_is_too_short_to_be_a_secret_is_left_in_texts() -> None:
    concealer = Concealer()
    concealer.note({"authorization": "Bearer none"})
    error = ta.AuthenticationError("none of these Bearer tokens")
    concealer.conceal(error)
    assert error.message == "none of these Bearer tokens"


@pytest.mark.anyio
@pytest.mark.parametrize("value", ["a\r\nx-other: b", "a\nb", "a\0b", "é"])
async def test_credentials_that_would_inject_a_header_are_refused_without_being_shown(value: str) -> None:
    async with ta.Client(auth=OwnAuth(x_api_key=KEY + value), transport=MemoryTransport(Scripted(["Hello"]))) as client:
        with pytest.raises(ta.ConfigurationError, match="'x-api-key'") as caught:
            await client.complete(CLAUDE, "Hi")
    assert KEY not in shown(caught.value)


# frames of the HTTP library


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("model", [CHAT, CLAUDE])
async def test_a_deadline_of_the_caller_s_shows_no_key_in_any_frame(library: str, model: str) -> None:
    pytest.importorskip(library)
    async with (
        raw_server(saying(end="hold")) as server,
        import_module(library).AsyncClient(verify=False) as http_client,
        ta.Client(api_key=KEY, base_url=server.url, http_client=http_client) as client,
    ):
        with pytest.raises(TimeoutError) as caught:
            with anyio.fail_after(0.2):
                await client.complete(model, "Hi")
        chain: list[BaseException] = []
        error: BaseException | None = caught.value
        while error is not None:
            chain.append(error)
            error = error.__cause__ or error.__context__
        assert not [one for one in chain if KEY in shown(one)]


@pytest.mark.anyio
@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_the_http_libraries_log_no_key(library: str, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip(library)
    caplog.set_level(logging.DEBUG)
    async with (
        serve(["Hello"]) as server,
        import_module(library).AsyncClient(verify=False) as http_client,
        ta.Client(api_key=KEY, base_url=server.base_url("openai-chat"), http_client=http_client) as client,
    ):
        await client.complete(CHAT, "Hi")
    assert caplog.records
    assert not [record for record in caplog.records if KEY in f"{record.getMessage()} {record.__dict__}"]


# header injection

BREAKS = ["a\r\nx: y", "a\nb", "a\x00b", "a b\r\n"]


@pytest.mark.parametrize("text", BREAKS)
@pytest.mark.parametrize("provider", ["anthropic", "openai", "deepseek", "google", "bedrock", "openrouter"])
def test_no_model_name_breaks_out_of_its_place(provider: str, text: str) -> None:
    try:
        plan = ta.prepare(f"{provider}/{text}", "Hi")
    except ta.ConfigurationError:
        return
    assert plan.url.isprintable()
    assert " " not in plan.url
    assert all(value.isprintable() for value in plan.request.headers.values())


@pytest.mark.parametrize("text", BREAKS)
@pytest.mark.parametrize("model", [CLAUDE, CHAT, "openai/gpt-5.2", "google/gemini-3.1-pro-preview"])
def test_ids_of_calls_and_users_stay_in_the_body(model: str, text: str) -> None:
    call = ta.ToolCall(text, name="f", arguments_json="{}")
    history: list[ta.Message] = [ta.UserMessage("Hi"), ta.AssistantMessage(call), ta.ToolResult(text, "done")]
    plan = ta.prepare(model, history, tools=[ta.Tool("f")], extra_body={"metadata": {"user_id": text}})
    assert all(value.isprintable() for value in (plan.url, *plan.request.headers.values()))


@pytest.mark.parametrize("text", BREAKS)
def test_parts_of_addresses_and_headers_of_one_s_own_are_refused(text: str) -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"base_url": f"https://a.example/{text}"},
        {"extra_headers": {"x-user": text}},
        {"extra_headers": {text: "x"}},
        {"endpoint": {"region": text}},
    )
    for arguments in wrong:
        with pytest.raises(ta.ConfigurationError):
            ta.prepare("bedrock/amazon.nova-pro-v1:0", "Hi", **arguments)


# the watch itself


@pytest.mark.shows_keys
def test_the_watch_sees_a_key_wherever_one_shows() -> None:
    with watching() as watch:
        ta.prepare(CHAT, f"my key is {KEY}")
        logging.getLogger("thinkaloud").warning("%s", KEY)
        ta.AuthenticationError("no", body={"key": KEY})
        ta.NotFound(KEY)
    places = {leak.partition(":")[0] for leak in watch.leaks()}
    assert places == {
        "a log record",
        "the text of NotFound",
        "the fields of AuthenticationError",
        "the body of a plan",
    } | (places & {"the repr of HttpRequest", "the repr of Plan"})
