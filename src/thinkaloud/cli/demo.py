"""`thinkaloud demo`: a scripted model thinks aloud over real HTTP, in two turns and without a key."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from typing import TYPE_CHECKING

from thinkaloud.cli.arguments import WrongUse, seconds
from thinkaloud.cli.output import Output, terminal_outputs
from thinkaloud.cli.transcript import Transcript
from thinkaloud.client import Client
from thinkaloud.messages import AssistantMessage, Conversation, ToolResult
from thinkaloud.models.model import Model
from thinkaloud.models.resolve import find_model
from thinkaloud.tools import Tool

if TYPE_CHECKING:
    from thinkaloud.testing import Server

HELP = "watch a scripted model think aloud, over real HTTP from this machine to itself"
_BELL = Tool("ring_bell", "Rings the tower's bell.")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--pace", type=seconds, default=0.03, metavar="S", help="seconds between words (%(default)s)")
    parser.add_argument("--trio", action="store_true", help="run on trio in place of asyncio")


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out."""
    import anyio

    if arguments.trio and find_spec("trio") is None:
        raise WrongUse("trio is not installed: pip install trio")
    backend = "trio" if arguments.trio else "asyncio"
    anyio.run(_demo, arguments.pace, backend, backend=backend)
    return 0


async def _demo(pace: float, backend: str) -> None:
    from thinkaloud.testing.demo import DEMO_MODEL, DEMO_PROMPT, demo_script
    from thinkaloud.testing.server import serve

    out, _ = terminal_outputs(words_whole=True)
    model = Model("anthropic", DEMO_MODEL, thinking=find_model("anthropic/claude-opus-5").thinking)
    async with (
        serve(demo_script(pace=pace, verify_signatures=True)) as server,
        Client(api_key="no-key-needed", base_url=server.base_url("anthropic-messages"), tools=[_BELL]) as client,
    ):
        out.line(f"A scripted model, served at {server.url} and read on {backend}.\n", "dim")
        out.line(f"> {DEMO_PROMPT}\n")
        conversation = Conversation(DEMO_PROMPT)
        message = await _show(out, client, model, conversation)
        results = [ToolResult(call.id, "Eight strokes, fourteen seconds.") for call in message.tool_calls]
        conversation = conversation.adding(message, results)
        out.line("\nThe bell rings, and its result goes back together with the thinking.\n")
        await _show(out, client, model, conversation)
        _confirm(out, server, message)


async def _show(out: Output, client: Client, model: Model, conversation: Conversation) -> AssistantMessage:
    transcript = Transcript(out, out, headings=True)
    try:
        async with client.stream(model, conversation, reasoning="high") as events:
            async for event in events:
                transcript.show(event)
            return await events.message()
    finally:
        transcript.end_lines()


def _confirm(out: Output, server: Server, message: AssistantMessage) -> None:
    """Say what the second request held of the first answer's thinking, as the server got it."""
    sent = server.requests[-1].json["messages"]
    held = [block.get("signature") for item in sent for block in item["content"] if block["type"] == "thinking"]
    signatures = [block.signature for block in message.thinking_blocks]
    if signatures and held == signatures:
        out.line("\nThe server got the signature of the thinking back as it had sent it.", "dim")
    else:
        raise AssertionError("the second request does not hold the thinking of the first answer as it came")
