"""Faults of a history, found before any call. What this library's parsers made is never at fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from thinkaloud.content import Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.digests import edit_of
from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.history.decisions import is_cut
from thinkaloud.history.inputs import fault_of
from thinkaloud.messages import AssistantMessage, Conversation, Message, ToolResult, UserMessage
from thinkaloud.models.model import Model
from thinkaloud.models.resolve import resolve_model
from thinkaloud.notices import Issue


def validate(
    conversation: Conversation | str | Message | Sequence[str | Message],
    model: Model | str | None = None,
    *,
    orphans: Literal["error", "synthesize"] = "error",
) -> tuple[Issue, ...]:
    """Find everything in a history that a provider would refuse, each with its place and its fix. Pure.

    model: where it goes; with it, images and documents that it takes in no form are found too.
    orphans: as in `SwitchPolicy`: "synthesize" finds no fault in calls without results.

    Covers: blocks in messages that cannot hold them, contradictory or empty thinking, signed blocks that were edited,
    dropped or moved, calls without results, results before or without calls, results given twice, ids that two calls
    share, messages without content, and images and documents that are empty or not taken.

    Raises ConfigurationError or UnknownModel for a model that is none.
    """
    if not isinstance(conversation, Conversation):
        conversation = Conversation(conversation)
    if orphans not in ("error", "synthesize"):
        raise ConfigurationError(f"orphans={shown(orphans)} must be one of: error, synthesize")
    if model is not None and not (isinstance(model, Model) and model.protocol is not None):
        model, _ = resolve_model(model)
    issues = (*_contents(conversation, model), *_calls(conversation))
    return tuple(issue for issue in issues if orphans == "error" or issue.code != "call_without_result")


def _contents(conversation: Conversation, model: Model | None) -> Iterator[Issue]:
    for place, message in enumerate(conversation.messages):
        path = f"messages[{place}]"
        match message:
            case AssistantMessage():
                yield from _assistant(path, message)
            case UserMessage():
                if not message.content:
                    yield Issue("empty_message", path, "a user message has no content; leave it out")
                yield from _plain_blocks(path, message.content, "user message", model)
            case ToolResult():
                yield from _plain_blocks(path, message.content, "tool result", model)


def _plain_blocks(path: str, blocks: tuple[object, ...], holder: str, model: Model | None) -> Iterator[Issue]:
    for place, block in enumerate(blocks):
        here = f"{path}.content[{place}]"
        if not isinstance(block, (Text, Image, Document, Opaque)):
            kind = "thinking" if isinstance(block, Thinking) else "a tool call"
            yield Issue("misplaced_block", here, f"a {holder} cannot hold {kind}; it belongs into an assistant message")
        elif isinstance(block, Image) and block.data is None and block.url is None and not block.extra:
            yield Issue("empty_image", here, "an image needs data or a url")
        elif isinstance(block, Document) and not _is_filled(block):
            yield Issue("empty_document", here, "a document needs data, text or a url")
        elif isinstance(block, (Image, Document)) and (fault := fault_of(block, model)) is not None:
            yield Issue("unsupported_image" if isinstance(block, Image) else "unsupported_document", here, fault)


def _is_filled(block: Document) -> bool:
    return not (block.data is None and block.url is None and block.text is None) or bool(block.extra)


def _assistant(path: str, message: AssistantMessage) -> Iterator[Issue]:
    built_by_hand = not message.origin.protocol
    if built_by_hand and not message.content:
        yield Issue("empty_message", path, "an assistant message has no content; leave it out")
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
    if (edit := edit_of(message)) is not None:
        here = path if edit.place is None else f"{path}.content[{edit.place}]"
        text = "signed blocks were edited, dropped or moved; send the message as it was received, or without them all"
        yield Issue("content_edited", here, text)


def _calls(conversation: Conversation) -> Iterator[Issue]:
    waiting: dict[str, tuple[str, ToolCall]] = {}
    optional: set[str] = set()  # calls of a cut message: they may have results, and need none
    answered: set[str] = set()
    earlier: set[str] = set()  # ids of the calls of all answers so far
    later = _last_calls(conversation)
    for place, message in enumerate(conversation.messages):
        path = f"messages[{place}]"
        if isinstance(message, ToolResult):
            if message.call_id in answered:
                yield Issue("duplicate_result", path, f"the call {message.call_id!r} has a result already; keep one")
            elif waiting.pop(message.call_id, None) is None and message.call_id not in optional:
                yield _stray(path, message.call_id, before_its_call=later.get(message.call_id, -1) > place)
            answered.add(message.call_id)
            continue
        yield from _unanswered(waiting)
        waiting, optional, answered = {}, set(), set()
        if not isinstance(message, AssistantMessage):
            continue
        cut, built_by_hand = is_cut(message), not message.origin.protocol
        for index, block in enumerate(message.content):
            if not isinstance(block, ToolCall) or not block.complete:
                continue
            here = f"{path}.content[{index}]"
            if built_by_hand and (block.id in waiting or block.id in optional):
                text = f"two calls of one message have the id {block.id!r}; give each call an id of its own"
                yield Issue("duplicate_call_id", here, text)
            elif built_by_hand and block.id in earlier:
                text = f"an earlier call has the id {block.id!r} too; give each call an id of its own"
                yield Issue("duplicate_call_id", here, text)
            if cut:
                optional.add(block.id)
            else:
                waiting[block.id] = (here, block)
        earlier.update(waiting, optional)
    yield from _unanswered(waiting)


def _last_calls(conversation: Conversation) -> dict[str, int]:
    """For each call's id, the place of the last answer with it."""
    return {
        block.id: place
        for place, message in enumerate(conversation.messages)
        if isinstance(message, AssistantMessage)
        for block in message.content
        if isinstance(block, ToolCall)
    }


def _stray(path: str, id: str, *, before_its_call: bool) -> Issue:
    if before_its_call:
        return Issue("result_before_call", path, f"the call {id!r} comes later; move the result behind its message")
    text = f"no call right before it has the id {id!r}, or that call was cut off; leave the result out"
    return Issue("result_without_call", path, text)


def _unanswered(waiting: dict[str, tuple[str, ToolCall]]) -> Iterator[Issue]:
    for path, call in waiting.values():
        text = (
            f"the call {call.id!r} of {call.name!r} has no result; add ToolResult({call.id!r}, ...) after its message"
        )
        yield Issue("call_without_result", path, text)
