"""Carries a conversation from one provider to another, and shows what goes along and what is left out.

Thinking verifies only where it was made: the second model gets what was said, called and found, without it. The stored
conversation keeps it all, so the first model can take over again. Run it with scripted models on this machine, or with
real ones, whose keys come from the environment:

    python examples/switch.py --local
    python examples/switch.py anthropic/claude-opus-5 google/gemini-3.6-flash
"""

from __future__ import annotations

import argparse

import anyio

import thinkaloud as ta
from local_model import clients_for

PROMPT = "A tower clock needs six seconds to strike four. How long does it need to strike eight? Ring it for me."


def ring_bell(strokes: int, seconds_between: float = 1.0) -> str:
    """Rings the tower's bell."""
    return f"The bell has struck {strokes} times, every {seconds_between:g} seconds."


async def main(first: str, second: str, local: bool) -> None:
    """Ask the first model, then the second, then the first again."""
    tools = [ta.Tool.from_function(ring_bell)]
    async with clients_for(local, [first, second], tools=tools) as (one, other):
        result = await one.run(first, PROMPT, reasoning="high")
        print(f"[{first}] {result.text}")

        result = await other.run(second, "And to strike twelve?", history=result, reasoning="high")
        print(f"[{second}] {result.text}")
        for notice in dict.fromkeys(notice for message in answers(result) for notice in message.notices):
            print(f"[notice] {notice.code} at {notice.path}: {notice.text}")

        result = await one.run(first, "And to strike one?", history=result, reasoning="high")
        print(f"[{first}] {result.text}")
    for message in answers(result):
        for block in message.thinking_blocks:
            print(f"[kept] thinking of {message.origin.provider}, signature {block.signature}")


def answers(result: ta.RunResult) -> list[ta.AssistantMessage]:
    """What the models said."""
    return [message for message in result.messages if isinstance(message, ta.AssistantMessage)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Carry a conversation from one provider to another.")
    parser.add_argument("first", nargs="?", default="anthropic/claude-opus-5")
    parser.add_argument("second", nargs="?", default="google/gemini-3.6-flash")
    parser.add_argument("--local", action="store_true", help="scripted models on this machine, without a key")
    arguments = parser.parse_args()
    anyio.run(main, arguments.first, arguments.second, arguments.local)
