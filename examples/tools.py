"""Holds a conversation of two turns with a tool: the model calls it, and its thinking goes back with every call.

Between the turns the evidence is stored as JSON and loaded again. Run it with a scripted model on this machine, which
verifies what comes back, or with a real one, whose key comes from the environment:

    python examples/tools.py --local
    python examples/tools.py anthropic/claude-opus-5
"""

from __future__ import annotations

import argparse
from typing import Annotated

import anyio

import thinkaloud as ta
from local_model import client_for

PROMPTS = (
    "A tower clock needs six seconds to strike four. How long does it need to strike eight? Ring it for me.",
    "Once more, please.",
)


def ring_bell(strokes: int, seconds_between: Annotated[float, "pause after each stroke"] = 1.0) -> str:
    """Rings the tower's bell.

    strokes: how often it strikes
    """
    return f"The bell has struck {strokes} times, every {seconds_between:g} seconds."


async def turn(client: ta.Client, model: str, prompt: str, history: ta.RunResult | None) -> ta.RunResult:
    """Ask, and show what happens."""
    print(f"[user] {prompt}")
    async with client.run_stream(model, prompt, history=history, reasoning="high") as events:
        async for event in events:
            match event:
                case ta.ThinkingEnd(block=block):
                    print(f"[thinking] {len(block.text)} characters, signature {block.signature}")
                case ta.TextEnd(block=block):
                    print(f"[text] {block.text}")
                case ta.ToolStarted(call=call):
                    print(f"[tool] {call.name} {call.arguments}")
                case ta.ToolFinished(result=result):
                    print(f"[result] {''.join(block.text for block in result.content if isinstance(block, ta.Text))}")
                case _:
                    pass
        return await events.result()


async def main(model: str, local: bool) -> None:
    """Hold both turns, and tell what they took."""
    async with client_for(local, tools=[ta.Tool.from_function(ring_bell)], model=model) as client:
        history: ta.RunResult | None = None
        for prompt in PROMPTS:
            result = await turn(client, model, prompt, history)
            print(f"[{result.status}] {result.turns} answers, {result.tool_calls} calls, {result.usage}")
            history = ta.RunResult.from_json(result.to_json())
            assert history == result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Hold a conversation with a tool.")
    parser.add_argument("model", nargs="?", default="anthropic/claude-opus-5")
    parser.add_argument("--local", action="store_true", help="a scripted model on this machine, without a key")
    arguments = parser.parse_args()
    anyio.run(main, arguments.model, arguments.local)
