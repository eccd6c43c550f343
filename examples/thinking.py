"""Asks a question that wants thinking, and shows the blocks of the answer with their signatures.

Run it with a scripted model on this machine, or with a real one, whose key comes from the environment:

    python examples/thinking.py --local
    python examples/thinking.py openai/gpt-5.5
"""

from __future__ import annotations

import argparse

import anyio

import thinkaloud as ta
from local_model import client_for

PROMPT = "A tower clock needs six seconds to strike four. How long does it need to strike eight?"


def shown(block: ta.AssistantBlock) -> str:
    """One block in a few lines."""
    match block:
        case ta.Thinking(redacted=True):
            return "[thinking] redacted by the provider; its payload goes back as it is"
        case ta.Thinking(withheld=True, signature=signature):
            return f"[thinking] withheld; signature {signature}"
        case ta.Thinking(text=text, signature=signature):
            return f"[thinking] {text}\n  signature: {signature or 'none: this provider does not sign it'}"
        case ta.Text(text=text):
            return f"[text] {text}"
        case ta.ToolCall(name=name):
            return f"[tool call] {name}"
        case _:
            return "[block of the provider's own]"


async def main(model: str, local: bool) -> None:
    """Ask, and show every block, what it took, and what was changed on the way."""
    async with client_for(local, model=model) as client:
        message = await client.complete(model, PROMPT, reasoning="high")
    for block in message.content:
        print(shown(block))
    print(f"[level] asked for {message.level.asked}, sent {message.level.sent}")
    print(f"[usage] {message.usage}")
    for notice in message.notices:
        print(f"[notice] {notice.code}: {notice.text}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Show what a model thinks, and the signatures of it.")
    parser.add_argument("model", nargs="?", default="anthropic/claude-opus-5")
    parser.add_argument("--local", action="store_true", help="a scripted model on this machine, without a key")
    arguments = parser.parse_args()
    anyio.run(main, arguments.model, arguments.local)
