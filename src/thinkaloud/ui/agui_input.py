"""Conversations from what an AG-UI client sends: untrusted, and without what the server kept back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from thinkaloud.content import AssistantBlock, Text, Thinking, ToolCall, UserBlock
from thinkaloud.errors import CodecError
from thinkaloud.messages import AssistantMessage, Conversation, Origin, ToolResult, UserMessage
from thinkaloud.notices import Notice
from thinkaloud.tools import Tool
from thinkaloud.ui import reading
from thinkaloud.ui.answer_store import AnswerStore
from thinkaloud.ui.encoder import is_runnable
from thinkaloud.ui.exposure import restored, restored_origin
from thinkaloud.ui.reading import History, call_place, optional_text, text_of, wanted

if TYPE_CHECKING:
    from thinkaloud.ui.agui import Encoder

_OURS = re.compile(r"(?P<answer>.+)\.(?P<step>\d{1,6})\.\d{1,6}\Z", re.DOTALL)
_VERSION = re.compile(r"(\d{1,6})(?:\.|\Z)")
_ANSWERING = ("assistant", "reasoning", "tool")
_SYSTEM = ("system", "developer")
_ROLES = (*_ANSWERING, *_SYSTEM, "user", "activity")

_Placed = tuple[str, dict[str, Any]]  # a message with its path


@frozen
class RunInput:
    """What an AG-UI client asks for.

    conversation: the history, ready to be sent.
    tools: the tools that the browser runs; a call of one ends the run.
    thread_id, run_id, protocol_version: as the client sent them. The ids are the client's own choice, so no permission.
    state, context, forwarded_props: as the client sent them, unread.
    notices: what was left out of the browser's messages, and why.
    """

    conversation: Conversation
    thread_id: str
    run_id: str
    protocol_version: str | None = None
    tools: tuple[Tool, ...] = ()
    state: Any = None
    context: Any = None
    forwarded_props: Any = None
    notices: tuple[Notice, ...] = ()
    store: AnswerStore | None = None

    def encoder(self, **options: Any) -> Encoder:
        """An encoder for the answer of this run. Options as in `agui.Encoder`."""
        from thinkaloud.ui.agui import Encoder

        run = {"thread_id": self.thread_id, "run_id": self.run_id, "protocol_version": self.protocol_version}
        return Encoder(**{**run, "store": self.store, **options})


def speaks_1_0(version: str | None) -> bool:
    """Whether a peer of this version knows what 1.0 brought. Peers of 0.0.x name none."""
    match = _VERSION.match(version or "")
    return match is not None and int(match[1]) >= 1


def parse_input(
    body: Any, *, store: AnswerStore | None = None, system: str | None = None, include_signatures: bool = False
) -> Conversation:
    """The conversation of a run's input; arguments and errors as in `read_input`."""
    return read_input(body, store=store, system=system, include_signatures=include_signatures).conversation


def answer_ids(body: Any) -> list[str]:
    """The ids of the answers in an input, to be loaded from a store beforehand. Raises CodecError."""
    found = (_answer_of(message) for _, message in _messages(reading.decoded(body)))
    return list(dict.fromkeys(id for id in found if id is not None))


def read_input(
    body: Any,
    *,
    store: AnswerStore | None = None,
    system: str | None = None,
    include_signatures: bool = False,
    trust_system: bool = False,
) -> RunInput:
    """Read the input of a run: decoded JSON, or its text.

    store: the answers of this user. Those found in it replace the browser's copies whole.
    system: the system text of the conversation.
    include_signatures: take signatures that were let out to the browser, for answers that are not in the store. Whoever
        holds the browser can change them: only for front ends that are trusted, or without a store.
    trust_system: take the system text from the browser, where `system` is not given.

    Raises CodecError, with the path, for what is no such input, and HistoryError for a history that cannot be sent.
    """
    data = wanted(reading.decoded(body), dict, "the input", "an object")
    history = History()
    found: list[str] = []
    for group in _groups(_messages(data)):
        path, first = group[0]
        if first["role"] in _SYSTEM:
            found.append(text_of(first, "content", path))
            if not trust_system:
                history.note("system_omitted", "left out: a browser does not instruct the model", path)
        elif first["role"] == "user":
            content = list(_content(first, path))
            if content:
                history.add(UserMessage(content))
            else:
                history.note("message_omitted", "left out: it is empty", path)
        else:
            id = next((id for _, message in group if (id := _answer_of(message)) is not None), None)
            kept = store.load(id) if store is not None and id is not None else None
            if id is not None and kept is not None:
                history.add_answer(kept, dict(_results(group, id, kept)))
            else:
                _add_answer(history, group, include_signatures)
    return RunInput(
        history.conversation(system if system is not None else "\n\n".join(found) if found and trust_system else None),
        thread_id=text_of(data, "threadId", "input"),
        run_id=text_of(data, "runId", "input"),
        protocol_version=optional_text(data, "protocolVersion", "input"),
        tools=tuple(_tools(data)),
        state=data.get("state"),
        context=data.get("context"),
        forwarded_props=data.get("forwardedProps"),
        notices=tuple(history.notices),
        store=store,
    )


def _messages(data: Any) -> Iterator[_Placed]:
    """The messages that are for the model."""
    held = wanted(data, dict, "the input", "an object").get("messages")
    for place, message in enumerate(wanted(held, list, "messages", "an array")):
        path = f"messages[{place}]"
        role = text_of(wanted(message, dict, path, "an object"), "role", path)
        if role not in _ROLES:
            raise CodecError(f"{path}.role: {role[:40]!r} is not one of: {', '.join(_ROLES)}", path=f"{path}.role")
        text_of(message, "id", path)
        if role != "activity":
            yield path, message


def _answer_of(message: Mapping[str, Any]) -> str | None:
    """The answer that a message is a part of; None where it is no part of one of ours."""
    match = _OURS.match(message["id"]) if message["role"] in ("assistant", "reasoning") else None
    return match["answer"] if match else None


def _step_of(message: Mapping[str, Any]) -> tuple[str, str]:
    """The step that a message is a part of. What others made has none: it is one step up to its results."""
    match = _OURS.match(message["id"])
    return (match["answer"], match["step"]) if match else ("", "")


def _groups(messages: Iterator[_Placed]) -> Iterator[list[_Placed]]:
    """Messages that make up one answer, with the results of its tools; every other message alone."""
    group: list[_Placed] = []
    answer: str | None = None
    for path, message in messages:
        own = _answer_of(message)
        joins = group and message["role"] in _ANSWERING and (message["role"] == "tool" or own == answer)
        if group and not joins:
            yield group
            group = []
        if message["role"] not in _ANSWERING:
            yield [(path, message)]
            continue
        if not group:
            answer = own
        group.append((path, message))
    if group:
        yield group


def _results(
    group: Sequence[_Placed], answer_id: str, kept: Sequence[AssistantMessage | ToolResult]
) -> Iterator[tuple[tuple[int, str], ToolResult]]:
    """The results that the browser adds to an answer that the server kept."""
    for path, message in group:
        if message["role"] == "tool":
            place = call_place(answer_id, text_of(message, "toolCallId", path), kept)
            if place is not None:
                yield place, _result(message, place[1], path)


def _result(message: Mapping[str, Any], call_id: str, path: str) -> ToolResult:
    error = optional_text(message, "error", path)
    content = tuple(_content(message, path))
    return ToolResult(call_id, content or (Text(error),) if error else content, is_error=bool(error))


def _add_answer(history: History, group: Sequence[_Placed], include_signatures: bool) -> None:
    """Add an answer that the server does not know, one message for each of its steps."""
    content: list[AssistantBlock] = []
    origin = Origin()
    step: tuple[str, str] | None = None

    def end_step() -> None:
        sendable = [block for block in content if block not in (Text(""), Thinking(""))]
        if sendable:
            history.add(AssistantMessage(tuple(sendable), origin=origin))
        content.clear()

    for path, message in group:
        if message["role"] == "tool":
            end_step()
            history.add_result(_result(message, text_of(message, "toolCallId", path), path), path)
            continue
        if _step_of(message) != step:
            end_step()
            step = _step_of(message)
        values = _values(message) if include_signatures else None
        text = optional_text(message, "content", path) or ""
        content.append(restored(Thinking(text) if message["role"] == "reasoning" else Text(text), values))
        origin = restored_origin(values) or origin
        for here, call in _calls(message, path):
            values = _values(call) if include_signatures else None
            block = _call(call, here)
            if is_runnable(block):
                content.append(restored(block, values))
                origin = restored_origin(values) or origin
            else:
                history.note("call_omitted", "left out: its arguments are not JSON", here)
    end_step()


def _calls(message: Mapping[str, Any], path: str) -> Iterator[_Placed]:
    calls = message.get("toolCalls")
    for place, call in enumerate(wanted([] if calls is None else calls, list, f"{path}.toolCalls", "an array")):
        here = f"{path}.toolCalls[{place}]"
        yield here, wanted(call, dict, here, "an object")


def _call(call: Mapping[str, Any], path: str) -> ToolCall:
    function = wanted(call.get("function"), dict, f"{path}.function", "an object")
    name, arguments = text_of(function, "name", f"{path}.function"), text_of(function, "arguments", f"{path}.function")
    return ToolCall(text_of(call, "id", path), name=name, arguments_json=arguments)


def _values(holder: Mapping[str, Any]) -> Any:
    """Our values in an encrypted value; what others put there is never guessed to be a signature."""
    sealed = holder.get("encryptedValue")
    try:
        value = json.loads(sealed) if isinstance(sealed, str) else None
    except (ValueError, RecursionError):
        return None
    return value.get("thinkaloud") if isinstance(value, dict) else None


def _content(message: Mapping[str, Any], path: str) -> Iterator[UserBlock]:
    content = message.get("content")
    if isinstance(content, str):
        if content:
            yield Text(content)
        return
    for place, part in enumerate(wanted(content, list, f"{path}.content", "a string or an array")):
        here = f"{path}.content[{place}]"
        kind = text_of(wanted(part, dict, here, "an object"), "type", here)
        if kind == "text":
            if text := text_of(part, "text", here):
                yield Text(text)
        elif kind == "binary":  # of 0.0.x
            yield _binary(part, here)
        elif kind in ("image", "document"):
            yield _sourced(part, kind, here)
        else:
            raise CodecError(f"{here}.type: {kind[:40]!r} cannot be sent to a model", path=f"{here}.type")


def _binary(part: Mapping[str, Any], path: str) -> UserBlock:
    media_type, name = text_of(part, "mimeType", path), optional_text(part, "filename", path)
    if "url" in part:
        return reading.file_block(text_of(part, "url", path), media_type, name, f"{path}.url")
    return reading.data_block(text_of(part, "data", path), media_type, name)


def _sourced(part: Mapping[str, Any], kind: str, path: str) -> UserBlock:
    source = wanted(part.get("source"), dict, f"{path}.source", "an object")
    here = f"{path}.source"
    value, media_type = text_of(source, "value", here), optional_text(source, "mimeType", here)
    media_type = media_type or ("image/png" if kind == "image" else None)
    match source.get("type"):
        case "data":
            return reading.data_block(value, media_type, None)
        case "url":
            return reading.file_block(value, media_type, None, f"{here}.value")
        case _:
            raise CodecError(f"{here}.type: a source of type data or url is wanted", path=f"{here}.type")


def _tools(data: Mapping[str, Any]) -> Iterator[Tool]:
    tools = data.get("tools")
    for place, tool in enumerate(wanted([] if tools is None else tools, list, "tools", "an array")):
        path = f"tools[{place}]"
        name = text_of(wanted(tool, dict, path, "an object"), "name", path)
        description = optional_text(tool, "description", path) or ""
        schema = tool.get("parameters")
        if schema is None:
            yield Tool(name, description)
        else:
            yield Tool(name, description, wanted(schema, dict, f"{path}.parameters", "an object"))
