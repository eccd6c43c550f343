"""Where we differ from the oracle of the recordings on purpose: one row each, with its reason.

A row rewrites what the oracle expects into what we give. A row that changes nothing, or without which the recording
agrees just as well, fails the test: it is no longer needed.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from attrs import frozen

from support.neutral import Neutral
from support.shared import Recording


@frozen(kw_only=True)
class Deviation:
    """One row.

    wire, recordings: which answers, by name patterns.
    reason: why ours is right.
    rewrite: changes the expected object in place.
    """

    wire: str
    recordings: tuple[str, ...]
    reason: str
    rewrite: Callable[[Neutral], None]

    def concerns(self, recording: Recording) -> bool:
        return recording.wire == self.wire and any(fnmatchcase(recording.name, name) for name in self.recordings)


def _cut_call_keeps_its_text(expected: Neutral) -> None:
    call = expected["content"][-1]
    del call["arguments"]
    call["incomplete"] = True
    call["arguments_raw"] = (
        '{"filename": "taxes.txt", "lines_of_text": [\n'
        '"# COMPREHENSIVE TAX GUIDE FOR INDIVIDUALS WITH MULTIPLE W-2s",\n"",\n"## INTRODUCTION",\n"",\n"Filing taxes'
    )


def _details_are_visible(expected: Neutral) -> None:
    thinking = expected["content"][0]
    thinking["text"] = "".join(detail["text"] for detail in thinking["details"])


def _no_stop_reason(expected: Neutral) -> None:
    del expected["stop"]


def _cached_at_the_top(expected: Neutral) -> None:
    expected["usage"]["cache_read"] = 0


def _ids_of_the_finished_items(expected: Neutral) -> None:
    for entry, number in zip(expected["content"], (8, 68), strict=True):
        entry["id"] = f"capture-id-{number}"


def _with_tool_prompt(tokens: int) -> Callable[[Neutral], None]:
    def rewrite(expected: Neutral) -> None:
        expected["usage"]["input"] += tokens

    return rewrite


def _detail_is_the_message(expected: Neutral) -> None:
    expected["error"]["message"] = "Invalid API Key"


def _cited_text_is_text(expected: Neutral) -> None:
    text = "Ruby was created by Yukihiro Matsumoto in 1993."
    expected["content"] = [{"type": "text", "text": text, "citations": 1}]


# Recordings of Gemini in which tools ran at the server, and the tokens of what these gave the model to read.
_TOOL_PROMPTS = {
    "pydantic-ai-anthropic-anthropic-server-tool-receive-history-from-another-provider-0": 289,
    "pydantic-ai-code-execution-code-execution-stream": 360,
    "pydantic-ai-google-google-model-file-search-grounding-gemini-3-false-3": 439,
    "pydantic-ai-google-google-model-file-search-grounding-gemini-3-false-4": 643,
    "pydantic-ai-google-google-model-file-search-grounding-gemini-3-true-3": 771,
    "pydantic-ai-google-google-model-file-search-grounding-gemini-3-true-4": 605,
}

DEVIATIONS = (
    *(
        Deviation(
            wire="gemini",
            recordings=(name,),
            reason="the results of server-run tools are counted apart from the prompt; ours is all that the model read",
            rewrite=_with_tool_prompt(tokens),
        )
        for name, tokens in _TOOL_PROMPTS.items()
    ),
    Deviation(
        wire="bedrock-converse",
        recordings=(
            "ruby-llm-chat-citations-with-bedrock-claude-haiku-4-5-cites-tool-results-returned-as-s-8ba8ce5d-1",
        ),
        reason="text with citations is text: the answer must not be missing from what users read",
        rewrite=_cited_text_is_text,
    ),
    Deviation(
        wire="anthropic-messages",
        recordings=("anthropic-sdk-incomplete-partial-json-response",),
        reason="the SDK reads cut arguments as far as they go; a call that was cut off must not look like a whole one",
        rewrite=_cut_call_keeps_its_text,
    ),
    Deviation(
        wire="openai-chat",
        recordings=("pydantic-ai-snowflake-snowflake-thinking-0",),
        reason="the oracle shows the text of plain reasoning fields only; here the details alone hold it",
        rewrite=_details_are_visible,
    ),
    Deviation(
        wire="openai-chat",
        recordings=("pydantic-ai-openrouter-openrouter-stream-error",),
        reason="an error wins over the finish reason before it: an answer that failed has no stop reason",
        rewrite=_no_stop_reason,
    ),
    Deviation(
        wire="openai-responses",
        recordings=("vercel-ai-openai-error.1-stream",),
        reason="an answer that failed has no stop reason",
        rewrite=_no_stop_reason,
    ),
    Deviation(
        wire="openai-responses",
        recordings=("vercel-ai-github-copilot-id-rotation.1-stream",),
        reason="ids change with every event: ours are those of the finished items, the oracle shows the last ones",
        rewrite=_ids_of_the_finished_items,
    ),
    Deviation(
        wire="openai-chat",
        recordings=("pydantic-ai-huggingface-max-completion-tokens",),
        reason="the oracle does not look for cached tokens at the top of the usage, where this server has them",
        rewrite=_cached_at_the_top,
    ),
    Deviation(
        wire="openai-chat",
        recordings=("ruby-llm-chat-error-handling-with-mistral-mistral-small-latest-raises-appropriate-auth-error",),
        reason="the SDK finds no error object in the body and says null; the words are in its `detail`",
        rewrite=_detail_is_the_message,
    ),
)
