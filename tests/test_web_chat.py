"""The web example's server, asked as a page asks it: on uvicorn with asyncio and on hypercorn with trio."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from support.program import clean_environment
from support.web_chat import EXAMPLE, ThreadGate, running_web_chat, seconds_until
from thinkaloud import Text, Thinking, ToolCall, supported_thinking_levels
from thinkaloud.errors import Overloaded
from thinkaloud.testing import Delivery, Failure, Reply, Scripted, Server, serve_in_thread

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("hypercorn")

MODEL = "anthropic/claude-opus-5"
SIGNATURE = "c2VhbGVkLW9uZQ=="
CALLING = Reply(
    [
        Thinking.signed("Better to compute it.", SIGNATURE),
        ToolCall.of("call_1", "calculate", {"expression": "6*7"}),
    ]
)
ANSWERING = Reply([Thinking.signed("That is it.", "c2VhbGVkLXR3bw=="), Text("It is **42**.")])


class Page:
    """What a page does, without a browser; it remembers all that came."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=20)
        self.traffic = ""
        self.chat = self.post("/chats", {}).json()["id"]

    def post(self, path: str, body: Any) -> httpx.Response:
        return self.http.post(path, json=body)

    def say(self, text: str, **more: Any) -> httpx.Response:
        body = {"text": text, "model": MODEL, "level": "high", **more}
        return self.post(f"/chats/{self.chat}/messages", body)

    def events(self, *, after: int | None = None) -> Iterator[dict[str, Any]]:
        headers = {} if after is None else {"last-event-id": str(after)}
        with self.http.stream("GET", f"/chats/{self.chat}/events", headers=headers) as response:
            for line in response.iter_lines():
                self.traffic += line
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))

    def shown(self) -> list[dict[str, Any]]:
        response = self.http.get(f"/chats/{self.chat}")
        self.traffic += response.text
        turns: list[dict[str, Any]] = response.json()["turns"]
        return turns


@pytest.fixture(params=["asyncio", "trio"], scope="module")
def running(request: pytest.FixtureRequest) -> Iterator[tuple[str, Server, deque[Any]]]:
    """The example on each event loop, before a model that verifies and says what a test has put into the queue."""
    queue: deque[Any] = deque()
    model = Scripted([lambda _: queue.popleft()], repeat_last=True, verify_signatures=True)
    with (
        serve_in_thread(model) as server,
        running_web_chat(MODEL, backend=request.param, base_url=server.base_url("anthropic-messages")) as url,
    ):
        yield url, server, queue


@pytest.fixture
def asking(running: tuple[str, Server, deque[Any]]) -> Iterator[Any]:
    """A new page, before a model with a script."""
    url, server, queue = running
    page = Page(url)

    def start(script: list[Any]) -> tuple[Page, Server]:
        queue.clear()
        queue.extend(script)
        server.requests.clear()
        server.closed_by_client = 0
        return page, server

    yield start
    page.http.close()


def test_a_tool_conversation_of_two_turns_verifies_and_shows_no_signature(asking: Any) -> None:
    page, server = asking([CALLING, ANSWERING, Reply([Text("You are welcome.")])])
    assert page.say("What is 6 * 7?").status_code == 204
    events = list(page.events())
    assert [event["text"] for event in events if event["type"] == "tool_result"] == ["42"]
    assert events[-1] == {"type": "stream_end", "stop_reason": "end"}
    page.say("Thanks.")
    assert list(page.events())[-1]["stop_reason"] == "end"
    assert len(server.requests) == 3
    assert SIGNATURE in server.requests[2].body.decode()
    assert len(page.shown()) == 2
    assert "sealed" not in page.traffic
    assert "c2VhbGVk" not in page.traffic


def test_a_finished_turn_is_shown_whole_to_a_page_that_comes_later(asking: Any) -> None:
    page, _ = asking([CALLING, ANSWERING])
    page.say("What is 6 * 7?")
    list(page.events())
    [turn] = page.shown()
    assert (turn["text"], turn["model"], turn["level"], turn["live"]) == ("What is 6 * 7?", MODEL, "high", False)
    kinds = [event["type"] for event in turn["events"]]
    assert kinds == ["stream_start", "snapshot", "stream_end"]
    roles = [message["role"] for message in turn["events"][1]["messages"]]
    assert roles == ["assistant", "tool", "assistant"]


def test_stopping_closes_the_connection_of_the_provider(asking: Any) -> None:
    gate = ThreadGate()
    page, server = asking([Reply(["One two three four."], delivery=Delivery(gates={4: gate})), ANSWERING])
    page.say("Count.")
    events = page.events()
    assert next(event for event in events if event["type"] == "text_delta")["text"] == "One"
    page.post(f"/chats/{page.chat}/stop", {})
    seconds_until(lambda: server.closed_by_client == 1, at_most=1)
    assert list(events)[-1] == {"type": "stream_end", "stop_reason": "aborted"}
    page.say("Go on.")
    assert list(page.events())[-1]["stop_reason"] == "end"


def test_a_page_that_comes_back_reads_on_behind_its_last_event(asking: Any) -> None:
    page, _ = asking([Reply([Text("One two three.")])])
    page.say("Count.")
    whole = list(page.events())
    assert list(page.events(after=4)) == whole[4:]


def test_a_failure_tells_nothing_of_the_provider_and_can_be_tried_again(asking: Any) -> None:
    page, server = asking([Failure(400, "secret words of the provider"), ANSWERING])
    page.say("What is 6 * 7?")
    [*_, last] = page.events()
    assert last["type"] == "stream_error"
    assert page.shown()[0]["events"][-1]["kind"] == last["kind"] == "invalid_request"
    page.say("What is 6 * 7?", again=True)
    assert list(page.events())[-1]["stop_reason"] == "end"
    assert len(page.shown()) == 1
    assert len(server.requests[1].json["messages"]) == 1
    assert "secret" not in page.traffic


def test_an_error_in_mid_answer_keeps_what_had_come(asking: Any) -> None:
    page, _ = asking([Reply([Text("One two three four.")], error=Failure(Overloaded), error_after=4)])
    page.say("Count.")
    events = list(page.events())
    assert events[-1]["type"] == "stream_error"
    [content] = page.shown()[0]["events"][1]["messages"][0]["content"]
    assert content["text"].startswith("One")
    assert not content["complete"]


@pytest.fixture(scope="module")
def local() -> Iterator[str]:
    """The example with its own scripted model."""
    with running_web_chat("--local") as url:
        yield url


def test_the_levels_are_those_of_each_model(local: str) -> None:
    offered = httpx.get(f"{local}/about").json()
    assert offered["scripted"]
    assert len(offered["models"]) == 2
    for model in offered["models"]:
        assert model["levels"] == [level.value for level in supported_thinking_levels(model["id"])]
        assert model["levels"]


@pytest.mark.parametrize("file", sorted(path.name for path in (EXAMPLE / "page").iterdir()))
def test_every_file_of_the_page_is_served_under_a_strict_policy(local: str, file: str) -> None:
    response = httpx.get(f"{local}/{file}")
    assert response.status_code == 200
    assert "default-src 'none'" in response.headers["content-security-policy"]


@pytest.mark.parametrize("file", sorted(path.name for path in (EXAMPLE / "page").iterdir()))
def test_no_file_of_the_page_loads_anything_from_elsewhere(file: str) -> None:
    text = (EXAMPLE / "page" / file).read_text().replace("http://www.w3.org/", "")
    assert "http://" not in text
    assert "https://" not in text


@pytest.mark.parametrize("path", ["/../app.py", "/%2e%2e/app.py", "/..%2fapp.py", "/app.py"])
def test_nothing_beside_the_page_is_served(local: str, path: str) -> None:
    assert httpx.get(local + path).status_code == 404


def test_another_host_name_is_refused(local: str) -> None:
    assert httpx.get(local, headers={"host": "elsewhere.example"}).status_code == 400


def test_a_form_of_another_page_is_refused(local: str) -> None:
    response = httpx.post(f"{local}/chats", content="{}", headers={"content-type": "text/plain"})
    assert response.status_code == 415


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": ""}, 422),
        ({"text": 7}, 422),
        ({"text": "x" * 20_001}, 422),
        ({"text": "Hi", "model": "anthropic/another"}, 422),
        ({"text": "Hi", "model": MODEL, "level": "huge"}, 422),
        ([], 400),
    ],
)
def test_a_message_that_cannot_be_right_is_refused(local: str, body: Any, status: int) -> None:
    chat = httpx.post(f"{local}/chats", json={}).json()["id"]
    response = httpx.post(f"{local}/chats/{chat}/messages", json=body)
    assert response.status_code == status
    assert response.json()["error"]


def test_an_unknown_chat_is_told(local: str) -> None:
    assert httpx.get(f"{local}/chats/none").status_code == 404
    assert httpx.get(f"{local}/chats/none/events").status_code == 404


def test_without_a_key_the_program_says_which_one_it_wants() -> None:
    ended = subprocess.run(
        [sys.executable, EXAMPLE, MODEL], capture_output=True, text=True, env=clean_environment(), check=False
    )
    assert ended.returncode == 1
    assert "ANTHROPIC_API_KEY" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("expression", "value"),
    [("2**100", "1267650600228229401496703205376"), ("-(7 // 2) + 1.5", "-1.5"), ("2**-1", "0.5"), ("7 % 4", "3")],
)
def test_the_calculator_calculates(example_tools: Any, expression: str, value: str) -> None:
    assert example_tools.calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "x",
        "__import__('os')",
        "9**9**9",
        "10**300*10**300",
        "(-8)**0.5",
        "1/0",
        "1" * 500,
        "'a'*9",
        "2 << 9",
        "((1",
    ],
)
def test_the_calculator_refuses_what_is_no_small_sum(example_tools: Any, expression: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        example_tools.calculate(expression)


@pytest.mark.parametrize("place", ["Nowhere/Town", "../../etc/passwd", "", "/etc/passwd"])
def test_the_clock_knows_time_zones_alone(example_tools: Any, place: str) -> None:
    with pytest.raises(ValueError, match="no time zone"):
        example_tools.local_time(place)


@pytest.fixture
def example_tools() -> Any:
    """The module, which stands on no path of ours."""
    spec = importlib.util.spec_from_file_location("web_chat_tools", EXAMPLE / "chat_tools.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
