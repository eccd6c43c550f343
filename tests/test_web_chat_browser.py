"""The web example in headless Chromium, before a model that verifies: what people see, and what browsers get."""

from __future__ import annotations

import json
import shutil
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.web_chat import ThreadGate, running_web_chat, seconds_until
from thinkaloud import Text, Thinking, ToolCall, supported_thinking_levels
from thinkaloud.errors import Overloaded
from thinkaloud.testing import Delivery, Failure, Reply, Scripted, Server, serve_in_thread

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("hypercorn")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
if CHROMIUM is None:
    pytest.skip("chromium is not installed: apt-get install chromium", allow_module_level=True)

MODELS = ("anthropic/claude-opus-5", "anthropic/claude-haiku-4-5", "openai/gpt-5.2")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
SIGNATURE = "c2VhbGVkLW9uZQ=="
CALLING = Reply(
    [
        Thinking.signed("Better to compute it.", SIGNATURE),
        ToolCall.of("call_1", "calculate", {"expression": "6*7"}),
    ]
)
ANSWERING = Reply([Thinking.signed("That is it.", "c2VhbGVkLXR3bw=="), Text("It is **42**.")])

# What happens in the page alone needs no second event loop in the server.
ON_ASYNCIO = pytest.mark.parametrize("running", ["asyncio"], indirect=True)

Page = Any
Script = Callable[..., Server]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as starter:
        browser = starter.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS.split())
        yield browser.new_context(viewport={"width": 1000, "height": 800}, reduced_motion="reduce")
        browser.close()


@pytest.fixture(params=["asyncio", "trio"], scope="module")
def running(request: pytest.FixtureRequest) -> Iterator[tuple[str, Server, deque[Any]]]:
    """The example on each event loop, before a model that says what a test has put into the queue."""
    queue: deque[Any] = deque()
    model = Scripted([lambda _: queue.popleft()], repeat_last=True, verify_signatures=True)
    with (
        serve_in_thread(model) as server,
        running_web_chat(*MODELS, backend=request.param, base_url=server.base_url("anthropic-messages")) as url,
    ):
        yield url, server, queue


@pytest.fixture
def script(running: tuple[str, Server, deque[Any]]) -> Script:
    _, server, queue = running

    def put(*replies: Any) -> Server:
        queue.clear()
        queue.extend(replies)
        server.requests.clear()
        server.closed_by_client = 0
        return server

    return put


@pytest.fixture
def page(chromium: Any, running: tuple[str, Server, deque[Any]]) -> Iterator[Page]:
    """A new page. An error in its scripts, or a request to anywhere else, fails the test."""
    url, _, _ = running
    page = chromium.new_page()
    page.set_default_timeout(60_000)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("request", lambda request: None if request.url.startswith(url) else faults.append(request.url))
    page.goto(url)
    page.wait_for_selector("#suggestions button")
    yield page
    page.evaluate("localStorage.clear()")
    page.close()
    assert faults == []


def say(page: Page, text: str) -> None:
    page.fill("#prompt", text)
    page.press("#prompt", "Enter")


def ended(page: Page, turn: int = 1) -> None:
    page.wait_for_selector(f".turn:nth-child({turn}) .below", state="attached")


def test_thinking_shows_before_the_answer_and_its_pane_closes_with_it(page: Page, script: Script) -> None:
    thinking, answer = ThreadGate(), ThreadGate()
    content: list[Text | Thinking] = [
        Thinking.signed("Long waves pass, short ones scatter.", SIGNATURE),
        Text("Blue scatters most of all."),
    ]
    script(Reply(content, delivery=Delivery(gates={5: thinking, 14: answer})))
    say(page, "Why is the sky blue?")
    page.wait_for_selector(".thinking.live[open] .thought :text('Long waves')")
    assert page.locator(".thinking .label").inner_text().startswith("Thinking…")
    assert page.locator(".text").count() == 0
    thinking.open()
    page.wait_for_selector(".text :text('Blue')")
    assert page.locator(".thinking[open]").count() == 0
    assert page.locator(".below").count() == 0
    assert page.locator("body.busy").count() == 1
    answer.open()
    ended(page)
    assert page.locator(".text").inner_text() == "Blue scatters most of all."
    assert page.locator(".thinking .label").inner_text().startswith("Thought for")
    page.click(".thinking summary")
    page.wait_for_selector(".thinking[open] .thought :text('Long waves pass, short ones scatter.')")


@ON_ASYNCIO
def test_a_pane_that_the_reader_has_touched_stays_as_it_is(page: Page, script: Script) -> None:
    gate = ThreadGate()
    script(Reply([Thinking("Long waves pass."), Text("Blue.")], delivery=Delivery(gates={4: gate})))
    say(page, "Why?")
    page.wait_for_selector(".thinking.live[open] .thought :text('Long')")
    page.click(".thinking summary")
    page.click(".thinking summary")
    gate.open()
    ended(page)
    assert page.locator(".thinking[open]").count() == 1


def test_a_tool_conversation_of_two_turns_verifies_and_no_signature_reaches_the_page(
    page: Page, script: Script
) -> None:
    traffic: list[str] = []
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.on("Network.eventSourceMessageReceived", lambda event: traffic.append(event["data"]))
    page.on("response", lambda response: traffic.append(json.dumps(dict(response.headers))))
    server = script(CALLING, ANSWERING, Reply([Text("You are welcome.")]))
    say(page, "What is 6 * 7?")
    ended(page)
    assert page.locator(".call .name").inner_text() == "calculate"
    assert page.locator(".call .gist").inner_text() == "6*7"
    assert page.locator(".call .outcome").inner_text() == "42"
    assert page.locator(".text strong").inner_text() == "42"
    say(page, "Thanks.")
    ended(page, 2)
    assert page.locator(".turn:nth-child(2) .text").inner_text() == "You are welcome."
    assert page.locator(".failure").count() == 0
    assert len(server.requests) == 3
    assert SIGNATURE in server.requests[2].body.decode()
    chat = page.url.partition("#")[2]
    traffic += [page.content(), page.evaluate(f"fetch('chats/{chat}').then(response => response.text())")]
    assert any("thinking_delta" in piece for piece in traffic)
    assert [piece for piece in traffic if "c2VhbGVk" in piece] == []


@pytest.mark.parametrize("way", ["button", "key"])
def test_stop_closes_the_connection_of_the_provider_within_a_second(page: Page, script: Script, way: str) -> None:
    server = script(Reply(["One two three four."], delivery=Delivery(gates={4: ThreadGate()})), ANSWERING)
    say(page, "Count.")
    page.wait_for_selector(".text :text('One')")
    if way == "button":
        assert page.locator("#send").get_attribute("aria-label") == "Stop"
        page.click("#send")
    else:
        page.keyboard.press("Escape")
    seconds_until(lambda: server.closed_by_client == 1, at_most=1)
    page.wait_for_selector(".notice:text('You stopped this answer.')")
    say(page, "Go on.")
    ended(page, 2)
    assert page.locator(".turn:nth-child(2) .text").inner_text() == "It is 42."


def test_a_reload_in_mid_answer_reads_on(page: Page, script: Script) -> None:
    gate = ThreadGate()
    content = Thinking.signed("Counting is easy.", SIGNATURE), Text("One two three four five.")
    script(Reply(content, delivery=Delivery(gates={10: gate})))
    say(page, "Count.")
    page.wait_for_selector(".text :text('One')")
    page.reload()
    page.wait_for_selector(".text :text('One')")
    assert page.locator(".said").inner_text().endswith("Count.")
    assert page.locator("body.busy").count() == 1
    gate.open()
    ended(page)
    assert page.locator(".text").inner_text() == "One two three four five."


def test_a_reload_afterwards_shows_the_same_conversation(page: Page, script: Script) -> None:
    script(CALLING, ANSWERING)
    say(page, "What is 6 * 7?")
    ended(page)
    parts = ".said, .label, .gist, .outcome, .text, .below"
    before = page.locator(parts).all_inner_texts()
    page.reload()
    ended(page)
    assert page.locator(parts).all_inner_texts() == before
    assert page.locator("#welcome").is_hidden()


def test_another_model_goes_on_and_says_once_what_it_does_not_get(page: Page, script: Script) -> None:
    server = script(CALLING, ANSWERING, Reply([Text("Hello.")]))
    say(page, "What is 6 * 7?")
    ended(page)
    page.select_option("#model", MODELS[2])
    say(page, "Hi")
    ended(page, 2)
    assert page.locator(".turn:nth-child(2) .notice").all_inner_texts() == [
        "Left out: thinking verifies only where it was made (2 times)"
    ]
    assert SIGNATURE not in server.requests[2].body.decode()


def test_a_failure_is_told_and_can_be_tried_again(page: Page, script: Script) -> None:
    script(Reply([Text("One two three.")], error=Failure(Overloaded, "inner words"), error_after=3), ANSWERING)
    say(page, "What is 6 * 7?")
    page.wait_for_selector(".failure[role=alert]")
    assert "overloaded" in page.locator(".failure").inner_text()
    assert "inner words" not in page.content()
    page.click(".failure button")
    ended(page)
    assert page.locator(".turn").count() == 1
    assert page.locator(".text").inner_text() == "It is 42."


HOSTILE = """\
<img src=x onerror="document.title='taken'"> <script>document.title='taken'</script>

[a](javascript:document.title='taken') [b](data:text/html,x) [c](//elsewhere.example) [d](https://example.org/page)

![picture](https://elsewhere.example/leak?secret)

> <b onclick=x>quoted</b>

| a | b |
| --- | --- |
| <i>x</i> | `<u>` |
"""


@ON_ASYNCIO
def test_an_answer_can_neither_run_scripts_nor_load_anything(page: Page, script: Script) -> None:
    title = page.title()
    script(Reply([Thinking(HOSTILE), Text(HOSTILE)]))
    say(page, "Do your worst.")
    ended(page)
    for part in (".text", ".thought"):
        assert page.locator(f"{part} :is(img, script, iframe, b, i, u, [onclick], [onerror], [style])").count() == 0
        links = page.locator(f"{part} a").evaluate_all(
            "links => links.map(link => [link.textContent, link.href, link.rel])"
        )
        assert [link[:2] for link in links] == [
            ["d", "https://example.org/page"],
            ["Image: picture", "https://elsewhere.example/leak?secret"],
        ]
        assert all("noopener" in link[2] for link in links)
    assert page.title() == title


MARKDOWN = """\
## Title

Some *soft*, **strong**, ~~gone~~ and `code` words: snake_case_name, 2 * 3 * 4.

1. one
2. two
   - inner

- loose

  with more

```python
def f():
    return "**x**"
```

> said

| n | value |
| - | ----: |
| a \\| b | 1 |

Line one\\
and [a *link*](https://example.org/a_(b)), https://example.org/x.
"""


@ON_ASYNCIO
def test_markdown_becomes_elements(page: Page, script: Script) -> None:
    script(Reply([Text(MARKDOWN)]))
    say(page, "Show.")
    ended(page)

    def texts(selector: str) -> list[str]:
        found: list[str] = page.locator(f".text {selector}").all_inner_texts()
        return found

    assert texts("h4") == ["Title"]
    assert (texts("em"), texts("strong"), texts("del")) == (["soft", "link"], ["strong"], ["gone"])
    assert "snake_case_name, 2 * 3 * 4." in texts("p")[0]
    assert texts("ol > li")[0] == "one"
    assert texts("ol ul li") == ["inner"]
    assert texts("li p") == ["loose", "with more"]
    assert texts("pre code") == ['def f():\n    return "**x**"']
    assert texts("figcaption span") == ["python"]
    assert texts("blockquote") == ["said"]
    assert texts("td") == ["a | b", "1"]
    assert page.locator(".text a").evaluate_all("links => links.map(link => link.href)") == [
        "https://example.org/a_(b)",
        "https://example.org/x",
    ]


@ON_ASYNCIO
def test_a_text_shows_the_same_however_it_grew(page: Page) -> None:
    same = page.evaluate(
        """async (text) => {
            const { MarkdownView } = await import("./markdown.js");
            const [grown, whole] = [document.createElement("div"), document.createElement("div")];
            const view = new MarkdownView(grown);
            for (let end = 1; end <= text.length; end++) view.show(text.slice(0, end), { growing: true });
            view.show(text);
            new MarkdownView(whole).show(text);
            return [grown.textContent, grown.children.length] + "" === [whole.textContent, whole.children.length] + "";
        }""",
        MARKDOWN + HOSTILE,
    )
    assert same


@ON_ASYNCIO
def test_markdown_that_never_closes_costs_little(page: Page) -> None:
    milliseconds = page.evaluate(
        """async () => {
            const { MarkdownView } = await import("./markdown.js");
            const began = performance.now();
            for (const piece of ["*a ", "**a ", "[a](", "`a ``", "> ", "- a\\n ", "_a ", "~~a ", "| a ", "\\\\"]) {
                new MarkdownView(document.createElement("div")).show(piece.repeat(60000 / piece.length));
                new MarkdownView(document.createElement("div")).show(piece.repeat(7900 / piece.length));
            }
            return performance.now() - began;
        }"""
    )
    assert milliseconds < 8000


@ON_ASYNCIO
def test_the_level_picker_knows_the_levels_of_the_model(page: Page, script: Script) -> None:
    for model in MODELS:
        page.select_option("#model", model)
        offered = page.locator("#level option").evaluate_all("options => options.map(option => option.value)")
        assert offered == ["", *(level.value for level in supported_thinking_levels(model))]
    server = script(ANSWERING)
    page.select_option("#model", MODELS[0])
    page.select_option("#level", "low")
    say(page, "Hi")
    ended(page)
    assert server.requests[0].json["output_config"]["effort"] == "low"


@ON_ASYNCIO
def test_the_keyboard_alone_is_enough(page: Page, script: Script) -> None:
    script(ANSWERING)
    assert page.evaluate("document.activeElement.id") == "prompt"
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    ended(page)
    assert page.locator(".said").inner_text().endswith("one\ntwo")
    page.locator(".thinking summary").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".thinking[open]")
    assert page.locator(".thinking summary").evaluate("it => getComputedStyle(it).outlineStyle") == "solid"


@ON_ASYNCIO
def test_a_screen_reader_is_told_the_stages_and_the_answer(page: Page, script: Script) -> None:
    page.evaluate(
        """() => {
            window.told = [];
            const status = document.getElementById("status");
            new MutationObserver(() => window.told.push(status.textContent)).observe(status, { childList: true });
        }"""
    )
    assert page.locator("#status").get_attribute("aria-live") == "polite"
    script(CALLING, ANSWERING)
    say(page, "What is 6 * 7?")
    ended(page)
    told = page.evaluate("window.told")
    assert told[-1] == "Answer: It is **42**."


@ON_ASYNCIO
@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_the_screen(page: Page, script: Script, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    wide = "x" * 300
    script(Reply([Thinking(wide), Text(f"{wide}\n\n```\n{wide}\n```\n\n| {wide} |\n| - |\n| `{wide}` |")]))
    say(page, wide)
    ended(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(
        "(() => { const m = document.getElementById('scroll'); return m.scrollWidth <= m.clientWidth })()"
    )


@ON_ASYNCIO
def test_a_new_chat_begins_empty(page: Page, script: Script) -> None:
    script(ANSWERING)
    say(page, "What is 6 * 7?")
    ended(page)
    page.click("#new")
    page.wait_for_selector("#suggestions button")
    assert page.locator(".turn").count() == 0


@ON_ASYNCIO
def test_the_theme_is_kept(page: Page) -> None:
    def paper() -> Any:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    light = paper()
    page.click("#theme")
    dark = paper()
    assert dark != light
    page.reload()
    assert paper() == dark
