"""Streams a model's thinking and its answer as they are made.

Run it with a scripted model on this machine, or with a real one, whose key comes from the environment:

    python examples/stream.py --local
    python examples/stream.py anthropic/claude-opus-5
"""

from __future__ import annotations

import argparse

import anyio

import thinkaloud as ta
from local_model import client_for

PROMPT = "A tower clock needs six seconds to strike four. How long does it need to strike eight?"


async def main(model: str, local: bool) -> None:
    """Show the thinking, the answer and what they took."""
    async with client_for(local) as client, client.stream(model, PROMPT, reasoning="high") as events:
        async for event in events:
            match event:
                case ta.ThinkingStart():
                    print("[thinking]")
                case ta.TextStart():
                    print("[answer]")
                case ta.ThinkingDelta(text=piece) | ta.TextDelta(text=piece):
                    print(piece, end="", flush=True)
                case ta.ThinkingEnd() | ta.TextEnd():
                    print()
                case ta.ToolCallEnd(call=call):
                    print(f"[tool call] {call.name} {call.arguments}")
                case ta.Notice(text=text):
                    print(f"[notice] {text}")
                case _:
                    pass
        message = await events.message()
    print(f"[{message.raw_stop_reason}] {message.usage}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Stream a model's thinking and its answer.")
    parser.add_argument("model", nargs="?", default="anthropic/claude-opus-5")
    parser.add_argument("--local", action="store_true", help="a scripted model on this machine, without a key")
    arguments = parser.parse_args()
    anyio.run(main, arguments.model, arguments.local)
