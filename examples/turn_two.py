"""Sends a model's thinking back in the second turn, after a stay in a JSON file, signatures and all.

Run it with a scripted model on this machine, or with a real one, whose key comes from the environment:

    python examples/turn_two.py --local
    python examples/turn_two.py anthropic/claude-opus-5
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import anyio

import thinkaloud as ta
from local_model import client_for
from thinkaloud import codec

PROMPT = "A tower clock needs six seconds to strike four. How long does it need to strike eight? Ring it for me."
BELL = ta.Tool(
    "ring_bell",
    "Rings the tower's bell.",
    {
        "type": "object",
        "properties": {"strokes": {"type": "integer"}, "seconds_between": {"type": "number"}},
        "required": ["strokes"],
    },
)


def ring(call: ta.ToolCall) -> ta.ToolResult:
    """Run one call. A failure is told to the model, which may then try again."""
    try:
        strokes = call.arguments["strokes"]
    except (ta.MalformedToolArguments, KeyError) as error:
        return ta.ToolResult(call.id, f"cannot ring: {error}", is_error=True)
    return ta.ToolResult(call.id, f"The bell has struck {strokes} times.")


def stored_and_loaded(conversation: ta.Conversation, file: Path) -> ta.Conversation:
    """Write a conversation to a file as JSON, and read it back."""
    file.write_text(codec.dumps(conversation))
    loaded = codec.loads(file.read_text())
    assert isinstance(loaded, ta.Conversation)
    return loaded


async def main(model: str, local: bool, file: Path) -> None:
    """Ask, store, load, answer the calls, ask again."""
    async with client_for(local, tools=[BELL]) as client:
        conversation = ta.Conversation(PROMPT)
        first = await client.complete(model, conversation, reasoning="high")
        print(f"[turn one] {first.text}")

        conversation = stored_and_loaded(conversation.adding(first), file)
        assert conversation.messages[-1] == first
        for block in first.thinking_blocks:
            print(f"[thinking] {len(block.text)} characters, signature {block.signature}")

        conversation = conversation.adding(ring(call) for call in first.tool_calls)
        if not first.tool_calls:
            conversation = conversation.adding(ta.UserMessage("And to strike twelve?"))
        second = await client.complete(model, conversation, reasoning="high")
        print(f"[turn two] {second.text}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Send a model's thinking back in the second turn.")
    parser.add_argument("model", nargs="?", default="anthropic/claude-opus-5")
    parser.add_argument("--local", action="store_true", help="a scripted model on this machine, without a key")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(main, arguments.model, arguments.local, Path(folder, "conversation.json"))
