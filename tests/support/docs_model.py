"""The model that the pages of the documentation talk to: it thinks, calls the first tool it is given, and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from thinkaloud import jsontext
from thinkaloud.content import Thinking, ToolCall
from thinkaloud.testing import RecordedRequest, Reply, Scripted
from thinkaloud.testing.wires import encoder_at
from thinkaloud.usage import Usage

_THINKING = "Sunlight holds all colours. Air scatters the short waves most."
_ANSWER = "Air scatters blue light more than red, so blue comes from everywhere."
_AFTER_THE_RESULT = "Done, and here is what I found."
_SIGNATURE = "c2hvcnQgd2F2ZXM="
_USAGE = Usage(input=120, output=80, reasoning=50, cache_read=0)

# What stands in the last item of a request that gives the result of a call, on each wire.
_RESULTS = ('"tool_result"', '"role":"tool"', '"function_call_output"', '"toolResult"', '"functionResponse"')
_ITEMS = ("messages", "input", "contents")


def docs_model() -> Scripted:
    """A scripted model for all pages, which refuses thinking that does not come back as it was issued."""
    numbers = count(1)

    def answer(request: RecordedRequest) -> Reply:
        return _reply(request, f"call_{next(numbers)}")

    return Scripted([answer], repeat_last=True, verify_signatures=True)


def _reply(request: RecordedRequest, id: str) -> Reply:
    body = request.json
    encoder = encoder_at(request.path)
    signs = encoder is not None and encoder.signs_thinking
    thinking = Thinking(_THINKING, signature=_SIGNATURE if signs else None)
    schema = _output_schema(body)
    if schema is not None:
        return Reply([thinking, jsontext.dumps(_value(schema, schema))], usage=_USAGE)
    if any(mark in _last(body) for mark in _RESULTS):
        return Reply(_AFTER_THE_RESULT, usage=_USAGE)
    if (tool := _first_tool(body)) is not None:
        call = ToolCall.of(id, tool[0], _value(tool[1], tool[1]))
        return Reply([thinking, call], usage=_USAGE)
    return Reply([thinking, _ANSWER], usage=_USAGE)


def _last(body: Mapping[str, Any]) -> str:
    items: list[Any] = next((body[name] for name in _ITEMS if isinstance(body.get(name), list)), [])
    return jsontext.dumps(items[-1]).replace(" ", "") if items else ""


def _first_tool(body: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """Name and schema of the first function that the request offers."""
    tools = body.get("tools") or body.get("toolConfig", {}).get("tools") or []
    for tool in tools:
        declared = tool.get("function") or tool.get("toolSpec") or (tool.get("functionDeclarations") or [tool])[0]
        if "name" not in declared:
            continue
        keys = ("input_schema", "parameters", "parametersJsonSchema", "inputSchema")
        schema: Mapping[str, Any] = next((declared[key] for key in keys if declared.get(key)), {})
        return declared["name"], schema.get("json", schema)
    return None


def _output_schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema that the answer must have, where the request gives one."""
    for path in (
        ("output_config", "format", "schema"),
        ("text", "format", "schema"),
        ("response_format", "json_schema", "schema"),
        ("generationConfig", "responseJsonSchema"),
    ):
        found: Any = body
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(found, Mapping):
            return found
    return None


_PLAIN: dict[str, Any] = {"string": "Bergen", "integer": 8, "number": 2.0, "boolean": True, "null": None}


def _value(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """The simplest value that fits a schema."""
    if "$ref" in schema:
        found: Any = root
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        return _value(found, root)
    for words in ("enum", "anyOf", "oneOf"):
        if schema.get(words):
            first = schema[words][0]
            return first if words == "enum" else _value(first, root)
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    makers: dict[str, Callable[[], Any]] = {
        "object": lambda: {name: _value(each, root) for name, each in schema.get("properties", {}).items()},
        "array": lambda: [_value(schema.get("items", {"type": "string"}), root)],
    }
    return makers[kind]() if kind in makers else _PLAIN[kind]
