"""The names that users may rely on, and the rule by which modules import each other."""

from __future__ import annotations

import ast
import graphlib
import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import thinkaloud

SOURCE = Path(thinkaloud.__file__).parent

PUBLIC_NAMES = [
    "Accumulator",
    "Adaptive",
    "AddressPart",
    "AnthropicOptions",
    "AssistantBlock",
    "AssistantMessage",
    "Auth",
    "AuthenticationError",
    "AwsAuth",
    "BearerAuth",
    "BedrockOptions",
    "BetweenTools",
    "Block",
    "Budget",
    "CallOptions",
    "Client",
    "CodecError",
    "ConfigurationError",
    "ConnectFailed",
    "ContentFiltered",
    "ContextTooLong",
    "Conversation",
    "Cost",
    "DeadlineExceeded",
    "Dialect",
    "Disabled",
    "Document",
    "EventStream",
    "Exchange",
    "GeminiOptions",
    "GoogleAuth",
    "HistoryError",
    "HttpRequest",
    "Image",
    "InvalidRequest",
    "Issue",
    "LevelChoice",
    "LimitExceeded",
    "Limits",
    "MalformedStream",
    "MalformedToolArguments",
    "MalformedToolCall",
    "Message",
    "Messages",
    "MissingCredentials",
    "Model",
    "NotFound",
    "Notice",
    "Opaque",
    "OpaqueBlock",
    "OpenAIChatOptions",
    "OpenAIResponsesOptions",
    "Origin",
    "Outcome",
    "Output",
    "OutputError",
    "Overloaded",
    "PermissionDenied",
    "Plan",
    "PriceChange",
    "PriceTier",
    "Prices",
    "Processor",
    "Progress",
    "Provider",
    "ProviderError",
    "QuotaExceeded",
    "RateLimited",
    "Rates",
    "ReadFailed",
    "RequestInfo",
    "ResponseInfo",
    "Retry",
    "RunError",
    "RunEvent",
    "RunOptions",
    "RunResult",
    "RunStream",
    "ServerError",
    "ServerTool",
    "StaleThinking",
    "StopReason",
    "StreamAborted",
    "StreamEnd",
    "StreamError",
    "StreamEvent",
    "StreamStart",
    "Surface",
    "SwitchPolicy",
    "Text",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "ThinkTags",
    "ThinkaloudError",
    "Thinking",
    "ThinkingControl",
    "ThinkingDelta",
    "ThinkingEnd",
    "ThinkingLevel",
    "ThinkingStart",
    "Timeouts",
    "Timing",
    "Tool",
    "ToolCall",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
    "ToolChoice",
    "ToolFinished",
    "ToolResult",
    "ToolStarted",
    "Transport",
    "TransportError",
    "TruncatedStream",
    "TurnEnd",
    "TurnStart",
    "UnknownModel",
    "UnsupportedOption",
    "Usage",
    "UsageUpdate",
    "UserBlock",
    "UserMessage",
    "WrongValue",
    "clamp_thinking_level",
    "complete",
    "complete_many",
    "complete_sync",
    "find_model",
    "list_models",
    "load_models",
    "load_providers",
    "parse",
    "parse_events",
    "prepare",
    "preview_arguments",
    "register_model",
    "register_provider",
    "replay_events",
    "run",
    "run_stream",
    "stream",
    "supported_thinking_levels",
    "trim_tokens",
    "trim_turns",
    "validate",
]

# From the top down: a module, or a folder with all that is in it, imports at run time only from its own row and above.
ORDER: list[str] = [
    "homes",
    "errors",
    "checked",
    "jsontext",
    "levels",
    "stored",
    "content",
    "usage",
    "notices",
    "messages",
    "run_result",
    "events",
    "typed",
    "tools",
    "structured",
    "fragments",
    "digests",
    "limits",
    "block_builder",
    "accumulator",
    "converter",
    "codec",
    "wire",
    "models",
    "cost",
    "protocols",
    "model_levels",
    "history",
    "arguments",
    "plan",
    "auth",
    "loop_end",
    "transport",
    "observing",
    "tracing",
    "deadlines",
    "abandoned",
    "call_errors",
    "attempts",
    "event_stream",
    "corrected",
    "client",
    "batch",
    "runs",
    "ui",
    "testing",
    "cli",
]

# Protocol folders that read facts of another one: Claude at Bedrock, and OpenAI's models behind both of its protocols.
SHARED_MODELS = {("bedrock", "anthropic"), ("openai_responses", "openai_chat")}

# Imports against the order, inside a method and when it is called: a value that can write itself, and a client that
# holds runs and batches through itself.
LATE = {
    ("thinkaloud.messages", "thinkaloud.codec"),
    ("thinkaloud.run_result", "thinkaloud.codec"),
    ("thinkaloud.client", "thinkaloud.batch"),
    ("thinkaloud.client", "thinkaloud.runs.loop"),
}

# What may be imported besides the standard library, and from which row of ORDER down.
FOREIGN = {
    "attrs": "content",
    "orjson": "jsontext",
    "cattrs": "typed",
    "anyio": "auth",
    "httpx": "transport",
    "httpx2": "transport",
    "h11": "testing",
    "rich": "cli",
}


def test_the_public_names_are_these() -> None:
    assert sorted(thinkaloud.__all__) == sorted(PUBLIC_NAMES)
    assert len(set(thinkaloud.__all__)) == len(thinkaloud.__all__)


def test_every_public_name_exists_and_no_other_name_shows() -> None:
    assert dir(thinkaloud) == sorted(PUBLIC_NAMES)
    assert all(getattr(thinkaloud, name) is not None for name in PUBLIC_NAMES)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = thinkaloud.nothing


def test_type_checkers_see_each_name_where_it_is_loaded_from() -> None:
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    seen = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    for name in PUBLIC_NAMES:
        module = importlib.import_module(str(seen[name]))
        assert getattr(module, name) is getattr(thinkaloud, name)


def test_public_names_stay_the_same_objects_when_every_module_is_imported() -> None:
    script = """
import importlib, pkgutil, thinkaloud
before = {name: id(getattr(thinkaloud, name)) for name in thinkaloud.__all__}
modules = [info.name for info in pkgutil.walk_packages(thinkaloud.__path__, "thinkaloud.")]
for name in modules:
    importlib.import_module(name)
after = {name: id(getattr(thinkaloud, name)) for name in thinkaloud.__all__}
assert before == after, {name for name in before if before[name] != after[name]}
print(len(modules))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    assert int(run.stdout) >= len(list(SOURCE.rglob("*.py"))) - 1


def test_no_function_takes_the_place_of_a_module_of_the_same_name() -> None:
    names = [info.name for info in pkgutil.walk_packages(thinkaloud.__path__, "thinkaloud.")]
    hidden = [name for name in names if importlib.import_module(name) is not _attribute(name)]
    assert not hidden


def test_every_module_and_folder_has_its_row_in_the_order() -> None:
    assert {path.stem for path in SOURCE.iterdir() if _is_module(path)} == set(ORDER)


def test_modules_import_only_from_above_themselves() -> None:
    faults = [
        f"{module} imports {imported}"
        for module, imported in _run_time_imports()
        if imported.startswith("thinkaloud.") and ORDER.index(_row(imported)) > ORDER.index(_row(module))
        if (module, imported) not in LATE
    ]
    assert not faults


def test_no_two_modules_need_each_other_to_be_imported() -> None:
    graph: dict[str, set[str]] = {}
    for module, imported in _run_time_imports(in_functions=False):
        if imported.startswith("thinkaloud."):
            graph.setdefault(module, set()).add(imported)
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert len(order) > len(ORDER)


def test_a_protocol_knows_another_only_where_the_same_models_speak_both() -> None:
    folders = {path.name for path in (SOURCE / "protocols").iterdir() if (path / "__init__.py").exists()}
    known = {
        (module.split(".")[2], imported.split(".")[2])
        for module, imported in _run_time_imports()
        if module.startswith("thinkaloud.protocols.") and imported.startswith("thinkaloud.protocols.")
        if module.split(".")[2] in folders and imported.split(".")[2] in folders - {module.split(".")[2]}
    }
    assert known <= SHARED_MODELS


def test_other_libraries_are_imported_only_where_they_belong() -> None:
    faults = [
        f"{module} imports {imported}"
        for module, imported in _run_time_imports()
        if not imported.startswith("thinkaloud.")
        if imported not in FOREIGN or ORDER.index(_row(module)) < ORDER.index(FOREIGN[imported])
    ]
    assert not faults


def test_the_import_rule_sees_a_breach(tmp_path: Path) -> None:
    module = tmp_path / "probe.py"
    module.write_text(
        "import os\n"
        "from typing import TYPE_CHECKING\n"
        "from thinkaloud import client\n"
        "if TYPE_CHECKING:\n"
        "    from thinkaloud.cli.program import main\n"
        "def later():\n"
        "    import httpx.models\n"
        "    from thinkaloud.plan import Plan\n"
    )
    assert sorted(_imports(module)) == ["httpx", "thinkaloud.client", "thinkaloud.plan"]


# reading the imports


def _attribute(name: str) -> object:
    package, _, module = name.rpartition(".")
    return getattr(sys.modules[package], module)


def _is_module(path: Path) -> bool:
    return (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").exists()


def _row(module: str) -> str:
    return module.split(".")[1]


def _run_time_imports(*, in_functions: bool = True) -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        if path == SOURCE / "__init__.py":
            continue  # it gathers the public names from everywhere
        name = ".".join(("thinkaloud", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        for imported in _imports(path, in_functions=in_functions):
            yield name, imported


def _imports(path: Path, *, in_functions: bool = True) -> Iterator[str]:
    """Modules of ours in full, others by their package; those for type checking and the standard library left out."""
    for node in _run_time_nodes(ast.parse(path.read_text()), in_functions):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            names = [_module_of(node.module or "", alias.name) for alias in node.names]
        else:
            continue
        for name in dict.fromkeys(names):
            package = name.split(".")[0]
            if package == "thinkaloud":
                yield name
            elif package not in sys.stdlib_module_names:
                yield package


def _module_of(module: str, name: str) -> str:
    """`from package import name` may name a module of the package, or something in the package's own file."""
    folder = SOURCE.joinpath(*module.split(".")[1:])
    is_module = (folder / f"{name}.py").exists() or (folder / name / "__init__.py").exists()
    return f"{module}.{name}" if module.split(".")[0] == "thinkaloud" and is_module else module


def _run_time_nodes(node: ast.AST, in_functions: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and not in_functions:
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            for other in child.orelse:
                yield from _run_time_nodes(other, in_functions)
            continue
        yield child
        yield from _run_time_nodes(child, in_functions)
