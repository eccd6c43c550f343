"""Faults of a history, found before any call. What this library's parsers made is never at fault."""

from __future__ import annotations

from collections.abc import Iterator

from thinkaloud.content import Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.digests import content_digest
from thinkaloud.messages import AssistantMessage, Conversation, StopReason, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.notices import Issue

# After such an end, calls without results are left out of the next request instead of being a fault.
_CUT = frozenset({StopReason.ERROR, StopReason.ABORTED})


def validate(conversation: Conversation, model: Model | None = None) -> tuple[Issue, ...]:
    """Find everything in a history that a provider would refuse, each with its place and its fix.

    Covers: blocks in messages that cannot hold them, contradictory or empty thinking, signed blocks that were edited,
    dropped or moved, calls without results, results without calls, results given twice, and messages without content.
    """
    return (*_contents(conversation), *_calls(conversation))


def _contents(conversation: Conversation) -> Iterator[Issue]:
    for place, message in enumerate(conversation.messages):
        path = f"messages[{place}]"
        match message:
            case AssistantMessage():
                yield from _assistant(path, message)
            case UserMessage():
                if not message.content:
                    yield Issue("empty_message", path, "a user message has no content; leave it out")
                yield from _plain_blocks(path, message.content, "user message")
            case ToolResult():
                yield from _plain_blocks(path, message.content, "tool result")


def _plain_blocks(path: str, blocks: tuple[object, ...], holder: str) -> Iterator[Issue]:
    for place, block in enumerate(blocks):
        if not isinstance(block, (Text, Image, Document, Opaque)):
            kind = "thinking" if isinstance(block, Thinking) else "a tool call"
            text = f"a {holder} cannot hold {kind}; it belongs into an assistant message"
            yield Issue("misplaced_block", f"{path}.content[{place}]", text)
        elif isinstance(block, Image) and block.data is None and block.url is None:
            yield Issue("empty_image", f"{path}.content[{place}]", "an image needs data or a url")
        elif isinstance(block, Document) and block.data is None and block.url is None and block.text is None:
            yield Issue("empty_document", f"{path}.content[{place}]", "a document needs data, text or a url")


def _assistant(path: str, message: AssistantMessage) -> Iterator[Issue]:
    built_by_hand = not message.origin.protocol
    for place, block in enumerate(message.content):
        here = f"{path}.content[{place}]"
        match block:
            case Thinking():
                if block.redacted_data is not None and block.text:
                    text = "redacted thinking has a text; keep the text or the payload, as it was received"
                    yield Issue("redacted_with_text", here, text)
                elif built_by_hand and not block.text and block.signature is None and block.redacted_data is None:
                    text = "thinking has neither text, signature nor payload; leave it out"
                    yield Issue("empty_thinking", here, text)
            case Image() | Document():
                yield Issue("misplaced_block", here, "an assistant message cannot hold an image or a document")
            case _:
                pass
    if message.content_digest is not None and message.content_digest != content_digest(message.content):
        text = "signed blocks were edited, dropped or moved; send the message as it was received, or without them all"
        yield Issue("content_edited", path, text)


def _calls(conversation: Conversation) -> Iterator[Issue]:
    waiting: dict[str, tuple[str, ToolCall]] = {}
    optional: set[str] = set()  # calls of a cut message: they may have results, and need none
    answered: set[str] = set()
    for place, message in enumerate(conversation.messages):
        path = f"messages[{place}]"
        if isinstance(message, ToolResult):
            if message.call_id in answered:
                yield Issue("duplicate_result", path, f"the call {message.call_id!r} has a result already")
            elif waiting.pop(message.call_id, None) is None and message.call_id not in optional:
                text = f"no call right before it has the id {message.call_id!r}, or that call was cut off"
                yield Issue("result_without_call", path, text)
            answered.add(message.call_id)
            continue
        yield from _unanswered(waiting)
        waiting, optional, answered = {}, set(), set()
        if not isinstance(message, AssistantMessage):
            continue
        for index, block in enumerate(message.content):
            if not isinstance(block, ToolCall) or not block.complete:
                continue
            if (block.id in waiting or block.id in optional) and not message.origin.protocol:
                text = f"two calls of one message have the id {block.id!r}"
                yield Issue("duplicate_call_id", f"{path}.content[{index}]", text)
            if message.stop_reason in _CUT:
                optional.add(block.id)
            else:
                waiting[block.id] = (f"{path}.content[{index}]", block)
    yield from _unanswered(waiting)


def _unanswered(waiting: dict[str, tuple[str, ToolCall]]) -> Iterator[Issue]:
    for path, call in waiting.values():
        text = (
            f"the call {call.id!r} of {call.name!r} has no result; add ToolResult({call.id!r}, ...) after its message"
        )
        yield Issue("call_without_result", path, text)
