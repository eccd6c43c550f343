"""The server side of the chat: a small Starlette application that keeps the signatures of what it streams to itself."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

import thinkaloud as ta
from chat_tools import TOOLS
from chats import Chat, Chats, PageEncoder, Turn
from thinkaloud.ui import LiveAnswer, failure_of

PAGE = Path(__file__).parent / "page"
SYSTEM = "You are a careful assistant in a chat window. Write Markdown, without images."
SUGGESTIONS = (
    ("A close race", "Which is larger, 2^100 or 3^63?"),
    ("A slow clock", "A clock needs six seconds to strike four. How long does it need to strike eight?"),
    ("A bit of code", "Write a Python function that tells whether a year is a leap year."),
)
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "cache-control": "no-cache",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
_log = logging.getLogger("web_chat")

# A page that is stopped between a call and its result leaves a call open; the next turn gives it one.
_SWITCH = ta.SwitchPolicy(orphans="synthesize")


def create_app(
    client: ta.Client, models: Mapping[str, Mapping[str, Any]], *, hosts: tuple[str, ...], scripted: bool = False
) -> Starlette:
    """The application.

    client: what asks the models. It must live in the event loop that serves the application.
    models: "provider/model" to further arguments of its calls; the page offers them in this order.
    hosts: names under which pages may reach it; others are refused, so that no stranger's page can.
    scripted: tells the page that no real model answers.
    """
    chats = Chats()
    tasks: TaskGroup

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        nonlocal tasks
        async with anyio.create_task_group() as tasks:  # an answer outlives the request that began it
            yield
            tasks.cancel_scope.cancel()

    async def about(_: Request) -> Response:
        offered = [
            {"id": name, "levels": [level.value for level in ta.supported_thinking_levels(name)]} for name in models
        ]
        suggestions = [{"title": title, "text": text} for title, text in SUGGESTIONS]
        return JSONResponse({"models": offered, "suggestions": suggestions, "scripted": scripted})

    async def begin(request: Request) -> Response:
        await _body(request)
        return JSONResponse({"id": chats.begin().id})

    async def show(request: Request) -> Response:
        return JSONResponse({"turns": [turn.shown() for turn in _chat(chats, request).turns]})

    async def say(request: Request) -> Response:
        body, chat = await _body(request), _chat(chats, request)
        text, model, level = body.get("text"), body.get("model"), body.get("level")
        if not isinstance(text, str) or not text.strip() or len(text) > 20_000:
            raise HTTPException(422, "The message must be a text of at most 20,000 characters.")
        if not isinstance(model, str) or model not in models:
            raise HTTPException(422, "This model is not offered here.")
        if level is not None and level not in {known.value for known in ta.ThinkingLevel}:
            raise HTTPException(422, "There is no such level of thinking.")
        if chat.is_live:
            raise HTTPException(409, "The last answer is not finished yet.")
        if body.get("again") is True and chat.turns:
            chat.turns.pop()
        try:
            turn = _turn(chat, text, model, level)
        except ta.ThinkaloudError as error:  # nothing was sent
            _log.warning("%s: %s", type(error).__name__, error)
            raise HTTPException(422, failure_of(error).text) from error
        chat.turns.append(turn)
        tasks.start_soon(_run, turn.live)
        return Response(status_code=204)

    def _turn(chat: Chat, text: str, model: str, level: Any) -> Turn:
        before, encoder = chat.conversation, PageEncoder(ids=True, names=False)
        options: dict[str, Any] = {"tools": TOOLS, "system": SYSTEM, "switch": _SWITCH, **models[model]}
        run = client.run_stream(model, before.adding(text), reasoning=level, max_turns=12, **options)
        return Turn(before, text, model, level, encoder, LiveAnswer(run, encoder))

    async def events(request: Request) -> ASGIApp:
        chat = _chat(chats, request)
        if not chat.turns:
            raise HTTPException(404, "Nothing was said yet.")
        return chat.turns[-1].live.response(request.headers.get("last-event-id"))

    async def stop(request: Request) -> Response:
        await _body(request)
        chat = _chat(chats, request)
        if chat.is_live:
            chat.turns[-1].live.stop()
        return Response(status_code=204)

    return Starlette(
        routes=[
            Route("/", _file),
            Route("/about", about),
            Route("/chats", begin, methods=["POST"]),
            Route("/chats/{chat}", show),
            Route("/chats/{chat}/messages", say, methods=["POST"]),
            Route("/chats/{chat}/events", events),
            Route("/chats/{chat}/stop", stop, methods=["POST"]),
            Route("/{file}", _file),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))],
        exception_handlers={HTTPException: _told},
        lifespan=lifespan,
    )


async def _run(live: LiveAnswer) -> None:
    try:
        await live.run()
    except Exception:  # the page has been told that something went wrong; the other chats go on
        _log.exception("an answer failed")


def _chat(chats: Chats, request: Request) -> Chat:
    chat = chats.find(request.path_params["chat"])
    if chat is None:
        raise HTTPException(404, "This chat is not known here any more.")
    return chat


async def _body(request: Request) -> dict[str, Any]:
    """A JSON object. Its content type keeps forms of other pages out: a browser asks before it sends JSON abroad."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "The request must be JSON.")
    try:
        body = await request.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise HTTPException(400, "The request must be a JSON object.")
    return body


async def _file(request: Request) -> Response:
    name = request.path_params.get("file", "index.html")
    if name not in {path.name for path in PAGE.iterdir()}:
        raise HTTPException(404, "There is no such page.")
    return FileResponse(PAGE / name, headers=_HEADERS)


async def _told(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code)
