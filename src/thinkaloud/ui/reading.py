"""What reading a browser's messages shares, whatever protocol they came in: nothing in them is trusted.

Answers that the server kept replace the browser's copies whole. What is not known becomes a message without an origin,
which every model takes as foreign. Results of tools count only for calls that wait for one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from thinkaloud.content import Document, Image, ToolCall, UserBlock
from thinkaloud.errors import CodecError, HistoryError
from thinkaloud.history.validation import validate
from thinkaloud.jsontext import Json, dumps, loads_exact
from thinkaloud.messages import AssistantMessage, Conversation, Message, ToolResult
from thinkaloud.notices import Notice
from thinkaloud.ui.encoder import is_runnable


def decoded(body: Any) -> Any:
    """A request's body as JSON: decoded already, or as text or bytes. Raises CodecError."""
    if not isinstance(body, (str, bytes, bytearray)):
        return body
    try:
        return loads_exact(bytes(body) if isinstance(body, bytearray) else body)
    except ValueError as error:
        raise CodecError(f"the request is not JSON: {error}") from None


def wanted(value: Any, kind: type | tuple[type, ...], path: str, what: str) -> Any:
    """The value, if it has the right type. Raises CodecError that names the path."""
    if not isinstance(value, kind):
        raise CodecError(f"{path}: {what} is wanted", path=path)
    return value


def text_of(data: Mapping[str, Any], name: str, path: str) -> str:
    """A field that must be a text. Raises CodecError."""
    text: str = wanted(data.get(name), str, f"{path}.{name}", "a string")
    return text


def optional_text(data: Mapping[str, Any], name: str, path: str) -> str | None:
    """A field that is a text, or is not there. Raises CodecError."""
    text: str | None = wanted(data.get(name), (str, type(None)), f"{path}.{name}", "a string")
    return text


def file_block(url: str, media_type: str | None, name: str | None, path: str) -> UserBlock:
    """A file from the browser: a data URL, or an address on the web that the provider fetches. Raises CodecError."""
    if url.startswith("data:"):
        head, comma, data = url.removeprefix("data:").partition(",")
        if not comma or not head.endswith(";base64"):
            raise CodecError(f"{path}: a data URL in base64 is wanted", path=path)
        return data_block(data, media_type or head.removesuffix(";base64").split(";")[0], name)
    if not url.startswith(("https://", "http://")):
        raise CodecError(f"{path}: a URL with https:, http: or data: is wanted", path=path)
    if (media_type or "").startswith("image/"):
        return Image(url=url, media_type=media_type)
    return Document(url=url, media_type=media_type, name=name)


def data_block(data: str, media_type: str | None, name: str | None) -> UserBlock:
    """A file whose base64 came with the message."""
    if (media_type or "").startswith("image/"):
        return Image(data, media_type=media_type)
    return Document(data, media_type=media_type, name=name)


# Results of tools that ran in the browser, by the step and the provider's id of their calls.
Results = Mapping[tuple[int, str], ToolResult]


def call_place(
    message_id: str, known_id: str, answer: Sequence[AssistantMessage | ToolResult]
) -> tuple[int, str] | None:
    """The step and the provider's id of the call that the browser knows by an id; None for an unknown one."""
    steps = [message for message in answer if isinstance(message, AssistantMessage)]
    address = known_id.removeprefix(f"{message_id}.").split(".") if known_id.startswith(f"{message_id}.") else []
    if len(address) == 2 and all(part.isdecimal() and len(part) < 7 for part in address):
        step, index = map(int, address)
        block = steps[step].content[index] if step < len(steps) and index < len(steps[step].content) else None
        return (step, block.id) if isinstance(block, ToolCall) else None
    for step, message in enumerate(steps):
        if any(isinstance(block, ToolCall) and block.id == known_id for block in message.content):
            return step, known_id
    return None


class History:
    """A conversation in the making."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.notices: list[Notice] = []
        self._waiting: dict[str, ToolCall] = {}

    def note(self, code: str, text: str, path: str) -> None:
        """Tell that something of the browser's was left out or changed."""
        self.notices.append(Notice(code, text, path))

    def add(self, message: Message) -> None:
        """Add a message that is whole."""
        self.messages.append(message)
        if isinstance(message, AssistantMessage):
            self._waiting = {call.id: call for call in message.tool_calls}
        elif isinstance(message, ToolResult):
            self._waiting.pop(message.call_id, None)

    def add_answer(self, messages: Iterable[AssistantMessage | ToolResult], results: Results) -> None:
        """Add what the server kept of an answer, with the browser's results for calls that have none."""
        step = -1
        for message in messages:
            if isinstance(message, AssistantMessage):
                self._settle(step, results)
                step += 1
            self.add(message)
        self._settle(step, results)

    def _settle(self, step: int, results: Results) -> None:
        """Add the results of the calls that wait for one, in the order of the calls."""
        for id, call in list(self._waiting.items()):
            if (step, id) in results and is_runnable(call):
                self.add(results[step, id])

    def add_result(self, result: ToolResult, path: str) -> None:
        """Add a result of the browser's, if its call waits for one."""
        call = self._waiting.get(result.call_id)
        if call is None or not is_runnable(call):
            self.note("result_omitted", "left out: no call waits for it", path)
        else:
            self.add(result)

    def conversation(self, system: str | None) -> Conversation:
        """The conversation, checked. Calls without results are left to the policy of the request.

        Raises HistoryError.
        """
        conversation = Conversation(tuple(self.messages), system=system)
        if issues := validate(conversation, orphans="synthesize"):
            listed = "; ".join(f"{issue.path}: {issue.text}" for issue in issues)
            raise HistoryError(f"the conversation cannot be sent as it is: {listed}", issues=issues)
        return conversation


def json_text(value: Json, path: str) -> str:
    """A tool's output as the model is given it: a text as it is, anything else as JSON. Raises CodecError."""
    try:
        return value if isinstance(value, str) else dumps(value)
    except (ValueError, TypeError) as error:
        raise CodecError(f"{path} has no form in JSON: {error}", path=path) from None
