"""Structured output: the type that an answer is read into, what a model is told of it, and what it wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from thinkaloud.checked import whole_number
from thinkaloud.errors import ConfigurationError, MalformedToolArguments, OutputError, shown
from thinkaloud.jsontext import Json, loads_exact
from thinkaloud.messages import AssistantMessage, Message, StopReason, ToolResult, UserMessage
from thinkaloud.tools import Tool

_HOW = "Gives the final answer. Call it once, when the answer is ready, with the answer as its arguments."
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_FENCE = "```"

# Ends that no word of ours mends.
_FINAL = frozenset({StopReason.LENGTH, StopReason.REFUSAL, StopReason.CONTENT_FILTER})


@frozen
class OutputSchema:
    """What a wire is told of an output.

    name: letters, digits, `_` and `-`.
    strict: the schema is of the kind that providers can hold a model to.
    """

    name: str
    schema: Mapping[str, Json] = field(hash=False)
    strict: bool


def _count(_output: Any, _attribute: Any, value: Any) -> None:
    whole_number("corrections", value, least=0)


def _mode(_output: Any, _attribute: Any, value: Any) -> None:
    if value not in ("auto", "native", "tool"):
        raise ConfigurationError(f"mode={shown(value)} must be one of: auto, native, tool")


@frozen
class Output:
    """The type of a structured output, and how it is asked for: for `complete(..., output=Output(City))`.

    kind: a class of attrs, a dataclass, a TypedDict, or any type with a form in JSON, such as list[str].
    corrections: how often the model is told what does not fit, and asked again, before OutputError is raised.
    mode: "native" sends the schema as the protocol's own output format; "tool" as a tool that gives the answer; "auto"
        takes the first where the model is known to take it together with thinking and with the call's tools.
    name: the name of the schema or the tool; None: the name of the type.

    Raises ConfigurationError for a type that has no form in JSON.
    """

    kind: Any
    corrections: int = field(default=1, validator=_count, kw_only=True)
    mode: str = field(default="auto", validator=_mode, kw_only=True)
    name: str | None = field(default=None, kw_only=True)
    schema: OutputSchema = field(init=False, repr=False, eq=False)
    wrapped: bool = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        from thinkaloud.typed.kinds import named
        from thinkaloud.typed.schema import is_strict, schema_of

        if self.name is not None and not isinstance(self.name, str):
            raise ConfigurationError(f"name={shown(self.name)} must be a name, or None")
        written: Any = schema_of(self.kind, every_field=True)
        wrapped = written.get("type") != "object" or "properties" not in written
        if wrapped:  # providers want an object
            inner = {name: value for name, value in written.items() if name != "$defs"}
            defs = {"$defs": written["$defs"]} if "$defs" in written else {}
            closed = {"required": ["value"], "additionalProperties": False}
            written = {"type": "object", "properties": {"value": inner}, **closed, **defs}
        name = _NO_NAME.sub("_", self.name or named(self.kind)).strip("_")[:64] or "answer"
        object.__setattr__(self, "schema", OutputSchema(name, written, is_strict(written)))
        object.__setattr__(self, "wrapped", wrapped)

    @property
    def tool(self) -> Tool:
        """The tool that gives the answer, where the protocol has no output format."""
        about = self.schema.schema.get("description")
        return Tool(self.schema.name, f"{_HOW} {about}" if isinstance(about, str) else _HOW, self.schema.schema)

    def read(self, message: AssistantMessage, *, by_tool: bool = True) -> Any:
        """Read the output from an answer, such as that of a stream.

        by_tool: it may stand in a call of the output's tool, and not only in the text.

        Raises OutputError.
        """
        if not isinstance(message, AssistantMessage):
            raise ConfigurationError(f"message must be an AssistantMessage, not {type(message).__name__}")
        call = next((call for call in message.tool_calls if by_tool and call.name == self.schema.name), None)
        raw = message.text if call is None else call.arguments_json
        try:
            data: Any = _decoded(raw) if call is None else call.arguments
            return self._value(data)
        except (ValueError, MalformedToolArguments) as error:
            reason = str(error)
        if message.stop_reason in _FINAL:
            reason = f"the answer ended early ({message.stop_reason.value}): {reason}"
        text = f"the output does not fit {self.schema.name}: {reason}"
        raise OutputError(text, raw=raw, partial=message)

    def _value(self, data: Any) -> Any:
        from thinkaloud.typed.reading import Unfit, read

        if self.wrapped:
            if not isinstance(data, dict) or data.keys() != {"value"}:
                raise Unfit("an object with the one field 'value' is wanted")
            data = data["value"]
        return read(data, self.kind)


def as_output(value: Any) -> Output | None:
    """An Output, or what stands for one: a type. Raises ConfigurationError."""
    if value is None or isinstance(value, Output):
        return value
    try:
        return Output(value)
    except ConfigurationError as error:
        raise ConfigurationError(f"output: {error.message}") from None


def is_answer(message: AssistantMessage, output: Output, *, by_tool: bool) -> bool:
    """Whether an answer is the final one: it calls no tool but the one that gives the output."""
    return message.stop_reason is not StopReason.PAUSE and all(
        by_tool and call.name == output.schema.name for call in message.tool_calls
    )


def correction(
    message: AssistantMessage, output: Output, error: OutputError, *, by_tool: bool
) -> tuple[Message, ...] | None:
    """What is said to a model whose output does not fit; None where the answer ended in a way that no word mends."""
    if message.stop_reason in _FINAL:
        return None
    how = f"Call the tool {output.schema.name} with the whole answer" if by_tool else "Answer with the JSON alone"
    text = f"{error.message}. {how}, corrected."
    if calls := message.tool_calls:
        return tuple(ToolResult(call.id, text, name=call.name, is_error=True) for call in calls)
    return (UserMessage(text),)


def _unfenced(text: str) -> str:
    """What stands inside a fence of Markdown; a text without one as it is."""
    opening, line_end, rest = text.strip().partition("\n")
    inside, closing, indent = rest.removesuffix(_FENCE).rpartition("\n")
    fenced = opening.rstrip() in (_FENCE, f"{_FENCE}json") and rest.endswith(_FENCE) and not indent.strip()
    return inside if fenced and line_end and closing else text


def _decoded(text: str) -> Any:
    text = _unfenced(text)
    if not text.strip():
        raise ValueError("the answer has no text")
    try:
        return loads_exact(text)
    except ValueError as error:
        raise ValueError(f"it is not JSON: {error}") from None
