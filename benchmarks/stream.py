"""Client CPU per event through the default client over loopback, against the HTTP client alone and the official SDKs.

The server runs in its own process and sends one event per HTTP chunk; only this process's CPU is counted. Contenders
run in turn, and the medians of the rounds are shown with the ratio to `aiter_bytes` of the same HTTP library in the
same round: only the ratios mean anything.
`python benchmarks/stream.py [--rounds N] [--deltas N ...] [--httpx]`
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from wires import WIRES

import thinkaloud as ta

Contender = Callable[[], Awaitable[None]]
MESSAGES: list[Any] = [{"role": "user", "content": "hi"}]


def bytes_only(library: Any, url: str) -> Contender:
    """The floor: the HTTP library's own body iteration."""
    client = library.AsyncClient(verify=False)

    async def run() -> None:
        async with client.stream("POST", url, content=b"{}") as response:
            async for _ in response.aiter_bytes():
                pass

    return run


def ours(model: ta.Model, base_url: str, library: Any) -> dict[str, Contender]:
    """Both forms of the stream and the message alone on the default client, and one on a client that is handed in."""
    client = ta.Client(api_key="bench", base_url=base_url)
    handed = ta.Client(api_key="bench", base_url=base_url, http_client=library.AsyncClient(verify=False))

    async def entered() -> None:
        async with client.stream(model, "hi") as events:
            async for _ in events:
                pass
            await events.message()

    async def bare() -> None:
        events = client.stream(model, "hi")
        async for _ in events:
            pass
        await events.message()

    async def message() -> None:
        await client.complete(model, "hi")

    async def on_handed() -> None:
        async for _ in handed.stream(model, "hi"):
            pass

    return {
        "thinkaloud async with": entered,
        "thinkaloud bare": bare,
        "thinkaloud complete": message,
        f"thinkaloud bare, your {library.__name__}": on_handed,
    }


def anthropic_sdk(base_url: str) -> dict[str, Contender]:
    """The official SDK's raw stream and its accumulating helper."""
    client = import_module("anthropic").AsyncAnthropic(api_key="bench", base_url=base_url, max_retries=0)
    arguments: dict[str, Any] = {"model": "claude-bench", "max_tokens": 1000, "messages": MESSAGES}

    async def raw() -> None:
        async for _ in await client.messages.create(stream=True, **arguments):
            pass

    async def helper() -> None:
        async with client.messages.stream(**arguments) as stream:
            async for _ in stream:
                pass
            await stream.get_final_message()

    return {"anthropic raw": raw, "anthropic helper": helper}


def openai_sdk(base_url: str) -> dict[str, Contender]:
    """The official SDK's raw stream and its accumulating helper."""
    client = import_module("openai").AsyncOpenAI(api_key="bench", base_url=base_url, max_retries=0)

    async def raw() -> None:
        async for _ in await client.chat.completions.create(model="bench", messages=MESSAGES, stream=True):
            pass

    async def helper() -> None:
        async with client.chat.completions.stream(model="bench", messages=MESSAGES) as stream:
            async for _ in stream:
                pass
            await stream.get_final_completion()

    return {"openai raw": raw, "openai helper": helper}


CALLED: dict[str, tuple[str, Callable[[str], dict[str, Contender]]]] = {
    "anthropic-messages": ("anthropic", anthropic_sdk),
    "openai-chat": ("openai", openai_sdk),
}


def contenders(wire: str, base: str, library: Any) -> dict[str, Contender]:
    """All that can be measured on this wire here, the floor first."""
    found: dict[str, Contender] = {f"{library.__name__} aiter_bytes": bytes_only(library, f"{base}/floor")}
    provider, sdk = CALLED[wire]
    found.update(ours(ta.Model(provider, "bench", protocol=wire), base, library))
    try:
        found.update(sdk(base))
    except ModuleNotFoundError as error:
        print(f"({error.name} is not installed, so it is not measured)")
    return found


async def measure(wire: str, base: str, deltas: int, rounds: int, library: Any) -> None:
    """Run the contenders in turn and print a row for each."""
    events = len(WIRES[wire][1](deltas))
    found = contenders(wire, base, library)
    repeat = max(1, 2000 // deltas)
    times: dict[str, list[float]] = {name: [] for name in found}
    for run in found.values():
        await run()
    for _ in range(rounds):
        for name, run in found.items():
            start = time.process_time()
            for _ in range(repeat):
                await run()
            times[name].append((time.process_time() - start) / repeat / events * 1e6)
    floor = times[next(iter(times))]
    for name, spent in times.items():
        ratio = statistics.median(own / base for own, base in zip(spent, floor, strict=True))
        print(f"{wire:20} {deltas:7} {name:26} {statistics.median(spent):8.2f} {ratio:6.2f}")


async def measure_all(server: str, lengths: list[int], rounds: int, library: Any) -> None:
    """Measure every wire and length."""
    print(f"{'wire':20} {'events':>7} {'contender':26} {'us/event':>8} {'ratio':>6}")
    for wire in CALLED:
        for deltas in lengths:
            await measure(wire, f"{server}/{wire}/{deltas}", deltas, rounds, library)


def main() -> None:
    """Start the server, measure every wire and length, end the server."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--deltas", type=int, nargs="*", default=[200, 10_000])
    arguments.add_argument("--httpx", action="store_true", help="measure on httpx where httpx2 is installed too")
    given = arguments.parse_args()
    try:
        library = import_module("httpx" if given.httpx else "httpx2")
    except ModuleNotFoundError:
        library = import_module("httpx")
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("server.py"))], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        asyncio.run(measure_all(f"http://127.0.0.1:{port}", given.deltas, given.rounds, library))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
