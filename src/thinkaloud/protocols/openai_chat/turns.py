"""A conversation as the messages of a chat completion: every block in its place, or left out with a notice.

What no endpoint takes is never sent: blocks and calls that were cut off, and assistant messages with nothing in them.
Stored messages are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from thinkaloud.content import AssistantBlock, Block, Document, Image, Opaque, Text, Thinking, ToolCall
from thinkaloud.jsontext import Json
from thinkaloud.messages import AssistantMessage, Message, ToolResult, UserMessage
from thinkaloud.models.dialect import Dialect, ThinkTags
from thinkaloud.notices import Notice
from thinkaloud.protocols.openai_chat.delta import PROTOCOL_ID
from thinkaloud.protocols.openai_chat.details import KEY, replayed
from thinkaloud.protocols.sendable import image_type

_Object = dict[str, Any]

# Fields of a user's text that mean something to an endpoint, and make a part of its own of it.
_PART_FIELDS = ("cache_control", "prompt_cache_breakpoint")


def turns(
    messages: Sequence[Message], dialect: Dialect, *, model: str, blank: str | None
) -> tuple[list[_Object], list[Notice]]:
    """The `messages` of a request without its system text, and a notice for each thing left out.

    model: id of the model that they go to.
    blank: what stands for thinking that is not known, in a turn with calls; None: nothing.
    """
    dialect = dialect.for_model(model)
    writer = _Writer(dialect, blank)
    in_loop = 1 + max((place for place, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
    replayed_from = in_loop if dialect.replay_turns == "loop" else 0
    for place, message in enumerate(messages):
        path = f"messages[{place}]"
        match message:
            case UserMessage():
                writer.add_user(message, path)
            case AssistantMessage():
                writer.add_assistant(message, path, replay=dialect.replay != "never" and place >= replayed_from)
            case ToolResult():
                writer.add_result(message, path)
    writer.add_shown_results()
    return writer.messages, writer.notices


_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_MISTRAL_ID = re.compile("[a-zA-Z0-9]{9}")
_OPENAI_LONGEST = 40


def wire_id(id: str, rule: str) -> str:
    """A call's id as the endpoint takes it: the same for a call and its result, and kept wherever it can be."""
    digest = sha256(id.encode("utf-8", "surrogatepass"))
    if rule == "mistral" and not _MISTRAL_ID.fullmatch(id):
        number, letters = int.from_bytes(digest.digest()[:8], "big"), ""
        while len(letters) < 9:
            number, place = divmod(number, len(_ALPHABET))
            letters += _ALPHABET[place]
        return letters
    if rule == "openai" and len(id) > _OPENAI_LONGEST:
        return f"call_{digest.hexdigest()[: _OPENAI_LONGEST - len('call_')]}"
    return id


class _Writer:
    def __init__(self, dialect: Dialect, blank: str | None) -> None:
        self.messages: list[_Object] = []
        self.notices: list[Notice] = []
        self._dialect = dialect
        self._blank = blank
        self._unsent_calls: set[str] = set()
        self._shown: list[Json] = []  # what tools gave to see, waiting for the end of their results
        self._shown_path = ""

    def omit(self, path: str, reason: str) -> None:
        """Tell of a block that is left out."""
        self.notices.append(Notice("block_omitted", f"left out: {reason}", path))

    # what users say and tools give

    def add_user(self, message: UserMessage, path: str) -> None:
        """Add a user's message."""
        self.add_shown_results()
        parts = self._parts(message.content, path)
        if parts:
            self._add_said(_plainest(parts), path)
        else:
            self.notices.append(Notice("message_omitted", "left out: nothing of it can be sent", path))

    def add_result(self, result: ToolResult, path: str) -> None:
        """Add a tool's result. Its role takes text alone, so pictures follow in a user's message."""
        if result.call_id in self._unsent_calls:
            self.notices.append(Notice("result_omitted", "left out: its call is not sent either", path))
            return
        id = wire_id(result.call_id, self._dialect.tool_id)
        parts = self._parts(result.content, path)
        texts = [part["text"] for part in parts if part.keys() >= {"type", "text"}]
        shown = [part for part in parts if not part.keys() >= {"type", "text"}]
        if shown:
            self._shown += [{"type": "text", "text": f"From the result of the tool call {id}:"}, *shown]
            self._shown_path = path
        content = "\n\n".join(texts) or ("The result follows the tool results." if shown else "")
        self.messages.append({"role": "tool", "tool_call_id": id, "content": content})

    def add_shown_results(self) -> None:
        """Add the pictures of the results before, which may not be parted from their calls."""
        if self._shown:
            self._add_said(self._shown, self._shown_path)
            self._shown = []

    def _add_said(self, content: Json, path: str) -> None:
        words = self._dialect.after_results
        if words is not None and self.messages and self.messages[-1]["role"] == "tool":
            text = "this endpoint refuses a user right after a tool; an assistant's message was put between them"
            self.notices.append(Notice("message_added", text, path, {"text": words}))
            self.messages.append({"role": "assistant", "content": words})
        self.messages.append({"role": "user", "content": content})

    def _parts(self, blocks: Sequence[Block], path: str) -> list[_Object]:
        parts = []
        for place, block in enumerate(blocks):
            match block:
                case Text():
                    own = {name: block.extra[name] for name in _PART_FIELDS if name in block.extra}
                    if block.text:
                        parts.append({"type": "text", "text": block.text, **own})
                case Image():
                    parts.append(_image_part(block))
                case Document():
                    parts.append(_document_part(block))
                case Opaque(protocol=protocol) if protocol == PROTOCOL_ID:
                    parts.append(_opaque_part(block))
                case Opaque():
                    self.omit(f"{path}.content[{place}]", f"{block.kind!r} is a block of {block.protocol}")
                case _:
                    self.omit(f"{path}.content[{place}]", f"a {type(block).__name__} is not for this role")
        return parts

    # what the model said

    def add_assistant(self, message: AssistantMessage, path: str, *, replay: bool) -> None:
        """Add an answer. replay: its thinking goes back, in the way of the dialect."""
        self.add_shown_results()
        answer = _Answer(self._dialect, replay)
        for place, block in enumerate(message.content):
            reason = answer.add(block) if block.complete else "it was cut off"
            if reason is not None:
                self.omit(f"{path}.content[{place}]", reason)
                if isinstance(block, ToolCall):
                    self._unsent_calls.add(block.id)
        body = answer.body(self._blank if replay else None)
        if body is None:
            self.notices.append(Notice("message_omitted", "left out: it has neither text nor calls to send", path))
        else:
            self.messages.append(body)


# A text of thinking in tags, while an answer is written.
_TAGGED = "tagged"

# The fields of its own in which thinking goes back as plain text.
_FIELDS = ("reasoning_content", "reasoning")


class _Answer:
    """One assistant message while it is written."""

    def __init__(self, dialect: Dialect, replay: bool) -> None:
        self._dialect = dialect
        self._replay = replay
        self._parts: list[_Object] = []
        self._calls: list[_Object] = []
        self._details: list[_Object] = []
        self._thoughts: dict[str, list[str]] = {}

    def add(self, block: AssistantBlock) -> str | None:
        """Add a block, or say why it is left out."""
        match block:
            case Text():
                if block.text:
                    self._parts.append({"type": "text", "text": block.text})
            case ToolCall():
                self._calls.append(_call(block, self._dialect))
                self._add_details(block)
            case Thinking():
                return self._add_thinking(block) if self._replay and self._takes(block) else None
            case Opaque(protocol=protocol) if protocol != PROTOCOL_ID:
                return f"{block.kind!r} is a block of {block.protocol}"
            case Opaque() if block.kind.startswith("reasoning."):
                if self._replay and self._takes_details():
                    self._details.append(dict(block.data))
            case Opaque():
                self._parts.append(_opaque_part(block))
        return None

    def body(self, blank: str | None) -> _Object | None:
        """The message; None where nothing is left of it."""
        if not self._calls and all(part.get("type") in ("thinking", _TAGGED) for part in self._parts):
            return None
        body: _Object = {"role": "assistant", "content": _joined(self._parts) if self._parts else None}
        if self._calls:
            body["tool_calls"] = self._calls
        if self._details:
            body[KEY] = replayed(self._details)
        else:
            body.update({name: "".join(thoughts) for name, thoughts in self._thoughts.items()})
            field = self._dialect.replay_field
            if blank is not None and field in _FIELDS and self._calls and field not in body:
                body[field] = blank
        return body

    def _takes(self, block: Thinking) -> bool:
        """Thinking that came in tags is nothing that goes back, but where tags are the endpoint's own way."""
        return "tags" not in block.extra or self._dialect.replay_field == "think_tags"

    def _add_thinking(self, block: Thinking) -> str | None:
        field = self._dialect.replay_field
        if field == "content":
            return self._add_thinking_part(block)
        if field == "think_tags" and block.text:
            tags = self._dialect.think_tags or ThinkTags()
            self._parts.append({"type": _TAGGED, "text": f"{tags.open}{block.text}{tags.close}"})
            return None
        if self._takes_details() and block.extra.get(KEY):
            self._add_details(block)
            return None
        if not block.text:
            return "it has no text, and this endpoint takes no other thinking"
        self._thoughts.setdefault(self._plain_field(block), []).append(block.text)
        return None

    def _plain_field(self, block: Thinking) -> str:
        """The field of its own that thinking goes back in: the endpoint's, else the one it arrived in."""
        if self._dialect.replay_field in _FIELDS:
            return self._dialect.replay_field
        arrived = block.extra.get("field")
        if isinstance(arrived, str) and arrived != "content":
            return arrived
        return self._dialect.reasoning_field or "reasoning_content"

    def _add_thinking_part(self, block: Thinking) -> str | None:
        inner = block.extra.get("thinking") or ([{"type": "text", "text": block.text}] if block.text else [])
        if not inner and block.signature is None:
            return "it has nothing that this endpoint takes back"
        part: _Object = {"type": "thinking", "thinking": inner}
        if "closed" in block.extra:
            part["closed"] = block.extra["closed"]
        if block.signature is not None:
            part["signature"] = block.signature
        self._parts.append(part)
        return None

    def _takes_details(self) -> bool:
        return self._dialect.replay_field in (None, KEY)

    def _add_details(self, block: Thinking | ToolCall) -> None:
        entries: Any = block.extra.get(KEY)
        if self._replay and self._takes_details() and isinstance(entries, list):
            self._details += [dict(entry) for entry in entries if isinstance(entry, Mapping)]


def _call(call: ToolCall, dialect: Dialect) -> _Object:
    id = wire_id(call.id, dialect.tool_id)
    if call.extra.get("type") == "custom":
        written: _Object = {"id": id, "type": "custom", "custom": {"name": call.name, "input": call.arguments_json}}
    else:
        arguments = call.arguments_json if call.arguments_json.strip() else "{}"
        written = {"id": id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
    if "extra_content" in call.extra:
        written["extra_content"] = call.extra["extra_content"]
    return written


def _joined(parts: list[_Object]) -> Json:
    """A plain string wherever it can be: some models imitate a list of parts that they see (seen at DeepSeek)."""
    if all(part.get("type") in ("text", _TAGGED) for part in parts):
        return "".join(part["text"] for part in parts)
    return [{**part, "type": "text"} if part.get("type") == _TAGGED else part for part in parts]


def _plainest(parts: list[_Object]) -> Json:
    """What a user says: a string where it is text alone, since not every endpoint takes parts."""
    if all(part.keys() == {"type", "text"} for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


def _opaque_part(block: Opaque) -> _Object:
    return {**({"type": block.kind} if block.kind else {}), **block.data}


def _image_part(image: Image) -> _Object:
    url = image.url
    if url is None:
        data = image.data or ""
        url = f"data:{image.media_type or image_type(data) or 'image/png'};base64,{data}"
    detail = {"detail": image.extra["detail"]} if "detail" in image.extra else {}
    return {"type": "image_url", "image_url": {"url": url, **detail}}


def _document_part(document: Document) -> _Object:
    if document.text is not None:
        title = f"{document.name}\n\n" if document.name else ""
        return {"type": "text", "text": title + document.text}
    media_type = document.media_type or "application/pdf"
    data = document.url or f"data:{media_type};base64,{document.data or ''}"
    return {"type": "file", "file": {"filename": document.name or "document.pdf", "file_data": data}}
