"""Conversations from the messages that a Vercel chat sends: untrusted, and without what the server kept back.

request = vercel.read_request(await http_request.json(), store=store.of(user))
events = thinkaloud.stream(model, request.conversation)
return EventResponse(events, request.encoder())
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from thinkaloud.content import AssistantBlock, Text, Thinking, ToolCall, UserBlock
from thinkaloud.errors import CodecError
from thinkaloud.messages import AssistantMessage, Conversation, Origin, ToolResult, UserMessage
from thinkaloud.notices import Notice
from thinkaloud.ui import reading
from thinkaloud.ui.answer_store import AnswerStore
from thinkaloud.ui.exposure import restored, restored_origin
from thinkaloud.ui.reading import History, call_place, optional_text, text_of, wanted

if TYPE_CHECKING:
    from thinkaloud.ui.vercel import Encoder

_DENIED = "The user did not allow the call."
# Parts that are for the page alone, or that only their maker could send back.
_PASSED_OVER = ("source-", "data-", "file", "reasoning-file", "custom", "steering-message")


@frozen
class ChatRequest:
    """What a chat asks for.

    conversation: the history, ready to be sent; raises nothing any more but what the model's own rules refuse.
    chat_id, trigger, trigger_message_id: as the client sent them; None where it did not.
    continues: id of the answer at the end that waits to be gone on with, such as after a tool ran in the browser.
    notices: what was left out of the browser's messages, and why.
    """

    conversation: Conversation
    chat_id: str | None = None
    trigger: str | None = None
    trigger_message_id: str | None = None
    continues: str | None = None
    notices: tuple[Notice, ...] = ()
    store: AnswerStore | None = None
    earlier: tuple[AssistantMessage | ToolResult, ...] = ()

    def encoder(self, **options: Any) -> Encoder:
        """An encoder for the answer: of a new message, or of one that goes on. Options as in `vercel.Encoder`."""
        from thinkaloud.ui.vercel import Encoder

        options = {"message_id": self.continues, "store": self.store, "earlier": self.earlier, **options}
        return Encoder(**options)


def parse_messages(
    body: Any, *, store: AnswerStore | None = None, system: str | None = None, include_signatures: bool = False
) -> Conversation:
    """The conversation of a chat's request, or of a list of its messages; arguments and errors as in `read_request`."""
    return read_request(body, store=store, system=system, include_signatures=include_signatures).conversation


def answer_ids(body: Any) -> list[str]:
    """The ids of the answers in a request, to be loaded from a store beforehand. Raises CodecError."""
    found = enumerate(_messages(reading.decoded(body)))
    return [
        text_of(message, "id", f"messages[{place}]") for place, message in found if message.get("role") == "assistant"
    ]


def read_request(
    body: Any,
    *,
    store: AnswerStore | None = None,
    system: str | None = None,
    include_signatures: bool = False,
    trust_system: bool = False,
) -> ChatRequest:
    """Read a chat's request: decoded JSON, or its text.

    store: the answers of this user. Those found in it replace the browser's copies whole.
    system: the system text of the conversation.
    include_signatures: take signatures that were let out to the browser, for answers that are not in the store. Whoever
        holds the browser can change them: only for front ends that are trusted, or without a store.
    trust_system: take the system text from the browser, where `system` is not given.

    Raises CodecError, with the path, for what is no such request, and HistoryError for a history that cannot be sent.
    """
    data = reading.decoded(body)
    history = History()
    found: list[str] = []
    continues: str | None = None
    earlier: tuple[AssistantMessage | ToolResult, ...] = ()
    for place, message in enumerate(_messages(data)):
        path = f"messages[{place}]"
        role = text_of(message, "role", path)
        continues, earlier = None, ()
        if role == "system":
            found.extend(part["text"] for _, part in _parts(message, path) if isinstance(part.get("text"), str))
            if not trust_system:
                history.note("system_omitted", "left out: a browser does not instruct the model", path)
        elif role == "user":
            content = list(_user_content(message, path))
            if content:
                history.add(UserMessage(content))
            else:
                history.note("message_omitted", "left out: it is empty", path)
        elif role == "assistant":
            start, continues = len(history.messages), text_of(message, "id", path)
            kept = store.load(continues) if store is not None else None
            if kept is not None:
                history.add_answer(kept, dict(_results(message, path, continues, kept)))
            else:
                _add_answer(history, message, path, include_signatures)
            earlier = tuple(m for m in history.messages[start:] if not isinstance(m, UserMessage))
        else:
            raise CodecError(f"{path}.role: {role!r} is not one of: system, user, assistant", path=f"{path}.role")
    about = data if isinstance(data, Mapping) else {}
    return ChatRequest(
        history.conversation(system if system is not None else "\n\n".join(found) if found and trust_system else None),
        chat_id=optional_text(about, "id", "") if "messages" in about else None,
        trigger=optional_text(about, "trigger", ""),
        trigger_message_id=optional_text(about, "messageId", ""),
        continues=continues,
        notices=tuple(history.notices),
        store=store,
        earlier=earlier,
    )


def _messages(data: Any) -> list[dict[str, Any]]:
    """Whole requests, requests with the last message alone, and bare lists of messages."""
    if isinstance(data, Mapping):
        data = data["messages"] if "messages" in data else [data["message"]] if "message" in data else None
    messages: list[dict[str, Any]] = wanted(data, list, "messages", "an array")
    for place, message in enumerate(messages):
        wanted(message, dict, f"messages[{place}]", "an object")
    return messages


def _parts(message: Mapping[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, part in enumerate(wanted(message.get("parts"), list, f"{path}.parts", "an array")):
        here = f"{path}.parts[{place}]"
        text_of(wanted(part, dict, here, "an object"), "type", here)
        yield here, part


def _user_content(message: Mapping[str, Any], path: str) -> Iterator[UserBlock]:
    for here, part in _parts(message, path):
        if part["type"] == "text":
            if text := text_of(part, "text", here):
                yield Text(text)
        elif part["type"] == "file":
            media_type, name = text_of(part, "mediaType", here), optional_text(part, "filename", here)
            yield reading.file_block(text_of(part, "url", here), media_type, name, f"{here}.url")


def _tool_name(part: Mapping[str, Any], path: str) -> str | None:
    """The tool of a part; None for a part that is no call."""
    if part["type"] == "dynamic-tool":
        return text_of(part, "toolName", path)
    return part["type"].removeprefix("tool-") if part["type"].startswith("tool-") else None


def _result(part: Mapping[str, Any], id: str, name: str, path: str) -> ToolResult | None:
    """The result in a tool's part; None where there is none yet."""
    match part.get("state"):
        case "output-available" if not part.get("preliminary"):
            return ToolResult(id, reading.json_text(part.get("output"), f"{path}.output"), name=name)
        case "output-error":
            return ToolResult(id, text_of(part, "errorText", path), name=name, is_error=True)
        case "output-denied":
            return ToolResult(id, _DENIED, name=name, is_error=True)
        case _:
            return None


def _results(
    message: Mapping[str, Any], path: str, message_id: str, kept: Sequence[AssistantMessage | ToolResult]
) -> Iterator[tuple[tuple[int, str], ToolResult]]:
    """The results that the browser adds to an answer that the server kept."""
    for here, part in _parts(message, path):
        name = _tool_name(part, here)
        if name is None or (place := call_place(message_id, text_of(part, "toolCallId", here), kept)) is None:
            continue
        if (result := _result(part, place[1], name, here)) is not None:
            yield place, result


def _add_answer(history: History, message: Mapping[str, Any], path: str, include_signatures: bool) -> None:
    """Add an answer that the server does not know, one message for each of its steps."""
    content: list[AssistantBlock] = []
    results: list[tuple[ToolResult, str]] = []
    origin = Origin()

    def end_step() -> None:
        if content:
            history.add(AssistantMessage(tuple(content), origin=origin))
        for result, here in results:
            history.add_result(result, here)
        content.clear()
        results.clear()

    for here, part in _parts(message, path):
        kind = part["type"]
        if kind == "step-start":
            end_step()
            continue
        name = _tool_name(part, here)
        if name is not None:
            call = _call(history, part, name, here)
            if call is None:
                continue
            if (result := _result(part, call.id, name, here)) is not None:
                results.append((result, here))
            block: AssistantBlock = call
            told = part.get("callProviderMetadata")
        elif kind in ("text", "reasoning"):
            text = text_of(part, "text", here)
            block = Text(text) if kind == "text" else Thinking(text)
            told = part.get("providerMetadata")
        else:
            if not kind.startswith(_PASSED_OVER):
                history.note("part_omitted", f"left out: a part of the unknown type {kind[:40]!r}", here)
            continue
        values = told.get("thinkaloud") if include_signatures and isinstance(told, dict) else None
        block = restored(block, values)
        origin = restored_origin(values) or origin
        if block in (Text(""), Thinking("")):
            continue
        content.append(block)
    end_step()


def _call(history: History, part: Mapping[str, Any], name: str, path: str) -> ToolCall | None:
    """The call in a tool's part; None for one that cannot be sent back."""
    id = text_of(part, "toolCallId", path)
    if part.get("providerExecuted") is True:
        history.note("call_omitted", "left out: only the server's own copy of a provider's tool can go back", path)
        return None
    given = part.get("input")
    if part.get("state") == "input-streaming" or not isinstance(given, dict):
        history.note("call_omitted", "left out: it was cut off", path)
        return None
    return ToolCall(id, name=name, arguments_json=reading.json_text(given, f"{path}.input"))
