"""Writes the API reference, `docs/reference/`, from the docstrings and the source of the public names.

    python scripts/build_reference.py            writes the pages
    python scripts/build_reference.py --check    tells whether they are current: exit code 1 where they are not

Signatures are read from the source, so that the pages are the same on every version of Python.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
PAGES = ROOT / "docs" / "reference"

# Page, title, and the modules whose public names stand on it, in order. Names of modules that stand on no page go on
# the last one.
TOPICS = (
    ("calls", "Calls and streams", ("client", "batch", "plan", "event_stream", "transport.retry", "transport.timeouts",
                                    "limits", "observing", "transport.base", "wire.http")),
    ("events", "Events", ("events", "notices", "accumulator", "jsontext")),
    ("messages", "Messages and blocks", ("messages", "content", "usage")),
    ("tools", "Tools, runs and structured output", ("tools", "runs.loop", "runs.stream", "run_result", "structured")),
    ("history", "History", ("history.validation", "history.decisions", "history.processors")),
    ("models", "Models, levels and providers", ("levels", "model_levels", "models.resolve", "models.catalog",
                                                "models.model", "models.prices", "models.provider",
                                                "models.providers", "models.provider_files", "models.dialect")),
    ("options", "Native options", ("protocols.anthropic.options", "protocols.bedrock.options",
                                   "protocols.gemini.options", "protocols.openai_responses.options",
                                   "protocols.openai_chat.options")),
    ("credentials", "Credentials", ("auth.aws", "auth.google", "auth.bearer", "auth.base")),
    ("errors", "Errors", ("errors",)),
    ("storage", "Storage and captures", ("protocols.captured",)),
    ("more", "More", ()),
)  # fmt: skip

# Packages with public names of their own: page, title, module, and the names where its `__all__` does not tell them.
PACKAGES = (
    ("storage", "thinkaloud.codec", ("dumps", "loads", "to_data", "from_data")),
    ("testing", "thinkaloud.testing", ()),
    ("ui", "thinkaloud.ui", ()),
)
PACKAGE_TITLES = {"testing": "The test kit", "ui": "Encoders for web front ends"}


class Name(NamedTuple):
    """A public name: how users reach it, the module that defines it, and its name there."""

    shown: str
    module: str
    name: str


def main() -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description="Write the API reference from the docstrings.")
    parser.add_argument("--check", action="store_true", help="write nothing; tell what is not current")
    check: bool = parser.parse_args().check
    pages = {PAGES / f"{page}.md": text for page, text in written().items()}
    old = {path: path.read_text() for path in PAGES.glob("*.md")}
    stale = sorted(path.name for path in {*pages, *old} if pages.get(path) != old.get(path))
    if check:
        if stale:
            print("not current:", ", ".join(stale), "- run: python scripts/build_reference.py")
        return 1 if stale else 0
    PAGES.mkdir(parents=True, exist_ok=True)
    for path in old.keys() - pages.keys():
        path.unlink()
    for path, text in pages.items():
        path.write_text(text)
    print(len(pages), "pages,", len(stale), "of them changed")
    return 0


def written() -> dict[str, str]:
    """All pages, by their names."""
    pages: dict[str, str] = {}
    for page, title, names in _contents():
        parts = [_entry(name) for name in names]
        if parts:
            listed = ", ".join(f"[`{name.shown}`](#{_anchor(name.shown)})" for name in names)
            pages[page] = "\n".join([f"# {title}", "", listed, "", *parts]).rstrip() + "\n"
    index = ["# API reference", "", "Written from the docstrings; `help(...)` shows the same text.", ""]
    for page, title, names in _contents():
        if page in pages:
            index.append(f"- [{title}]({page}.md): " + ", ".join(f"`{name.shown}`" for name in names))
    return {"index": "\n".join(index) + "\n", **pages}


def _contents() -> Iterator[tuple[str, str, list[Name]]]:
    """Each page with its title and its names."""
    homes: dict[str, list[str]] = {}
    for name, home in importlib.import_module("thinkaloud.homes").HOMES.items():
        homes.setdefault(home, []).append(name)
    pages: dict[str, tuple[str, list[Name]]] = {}
    placed = {module for _, _, modules in TOPICS for module in modules}
    for page, title, modules in TOPICS:
        listed = modules if modules else tuple(sorted(set(homes) - placed))
        names = [Name(f"ta.{name}", f"thinkaloud.{home}", name) for home in listed for name in homes.get(home, ())]
        pages[page] = (title, sorted(names, key=_place))
    for page, package, given in PACKAGES:
        title, names = pages.setdefault(page, (PACKAGE_TITLES.get(page, page), []))
        names += _of_package(package, given)
    yield from ((page, title, names) for page, (title, names) in pages.items())


def _of_package(package: str, given: Iterable[str]) -> Iterator[Name]:
    module = importlib.import_module(package)
    for name in given or getattr(module, "__all__", ()):
        found = getattr(module, name)
        if isinstance(found, type(importlib)):  # a module: its own public names, reached through it
            yield from (
                Name(f"{package.removeprefix('thinkaloud.')}.{name}.{inner}", *_home(found.__name__, inner))
                for inner in getattr(found, "__all__", None) or _public(found.__name__)
            )
        else:
            yield Name(f"{package.removeprefix('thinkaloud.')}.{name}", *_home(package, name))


def _public(module: str) -> list[str]:
    nodes = (node for node in _tree(module).body if isinstance(node, ast.ClassDef | ast.FunctionDef))
    return [node.name for node in nodes if not node.name.startswith("_")]


def _home(module: str, name: str) -> tuple[str, str]:
    """The module whose source defines a name, followed through imports."""
    for node in _tree(module).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _home(node.module, alias.name)
    if _definition(module, name) is None:
        found = getattr(importlib.import_module(module), name)
        return found.__module__, found.__name__
    return module, name


def _place(name: Name) -> tuple[int, int]:
    """The order of the table of topics, and in a module that of its source."""
    modules = [module for _, _, listed in TOPICS for module in listed]
    home = name.module.removeprefix("thinkaloud.")
    node = _definition(name.module, name.name)
    return (modules.index(home) if home in modules else len(modules), node.lineno if node is not None else 0)


# the source


@cache
def _tree(module: str) -> ast.Module:
    path = SOURCE / Path(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(file.read_text())
    return _Constants(tree).visit(tree)  # type: ignore[no-any-return]


class _Constants(ast.NodeTransformer):
    """Puts values in the place of a module's private constants, which say nothing to a reader."""

    def __init__(self, tree: ast.Module) -> None:
        self._values: dict[str, object] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if name.startswith("_") and (value := _constant(self.visit(node.value))) is not None:
                    self._values[name] = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._values.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if value is None else ast.parse(repr(value), mode="eval").body

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        whole = self.generic_visit(node)
        value = _constant(whole)
        return whole if value is None else ast.Constant(value)  # type: ignore[arg-type]


def _constant(node: ast.AST) -> object:
    """A number, text or tuple of them that an expression of constants gives; None for all else."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        factors = _constant(node.left), _constant(node.right)
        return factors[0] * factors[1] if isinstance(factors[0], int) and isinstance(factors[1], int) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
        return node.value
    if isinstance(node, ast.Tuple) and len(node.elts) < 4:
        parts = tuple(_constant(each) for each in node.elts)
        return None if None in parts else parts
    return None


def _definition(module: str, name: str) -> ast.stmt | None:
    for node in _tree(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
            return node
    return None


# one name


def _entry(name: Name) -> str:
    node = _definition(name.module, name.name)
    lines = [f"## `{name.shown}`", ""]
    if isinstance(node, ast.ClassDef):
        lines += [*_of_class(node), ""]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        lines += ["```python", *_signature(node, node.name), "```", "", *_prose(ast.get_docstring(node)), ""]
    elif isinstance(node, ast.Assign):
        source = ast.unparse(node.value)
        told = _string_behind(name.module, node)
        shown = textwrap.wrap(f"{name.name} = {source}", 100, subsequent_indent="    ", break_long_words=False)
        lines += ["```python", *shown, "```", "", *_prose(told), ""]
    else:
        raise SystemExit(f"{name.module} does not define {name.name}")
    return "\n".join(lines)


def _string_behind(module: str, node: ast.stmt) -> str | None:
    body = _tree(module).body
    following = body[body.index(node) + 1 :][:1]
    for told in following:
        if isinstance(told, ast.Expr) and isinstance(told.value, ast.Constant) and isinstance(told.value.value, str):
            return textwrap.dedent(told.value.value)
    return None


def _of_class(node: ast.ClassDef) -> Iterator[str]:
    """Signature or members, docstring, and public methods."""
    bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
    init = next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    yield "```python"
    if "Enum" in bases:
        yield f"class {node.name}(Enum)"
        for each in node.body:
            if isinstance(each, ast.Assign):
                yield "    " + ast.unparse(each)
    elif init is not None:
        yield from _signature(init, f"class {node.name}")
    elif bases and bases[0] != "Stored" and not node.decorator_list and not node.name.endswith("Error"):
        yield f"class {node.name}({', '.join(bases)})"
        for each in node.body:
            if isinstance(each, ast.AnnAssign):
                yield "    " + ast.unparse(each)
    elif fields := list(_fields(node)):
        yield from _wrapped(f"class {node.name}", fields, "")
    else:
        yield f"class {node.name}" + (f"({', '.join(bases)})" if bases and bases[0] != "Stored" else "")
    yield "```"
    yield ""
    if init is not None and bases and bases[0] not in ("Stored", "Protocol"):
        yield f"A kind of `{' and '.join(bases)}`."
        yield ""
    yield from _prose(ast.get_docstring(node))
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and not each.name.startswith("_"):
            yield ""
            yield from _method(each)


def _method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    kinds = {ast.unparse(decorator) for decorator in node.decorator_list}
    shown = f".{node.name}"
    if not kinds & {"property", "cached_property"}:
        arguments = ", ".join(_parts(_without_self(node, kinds)))
        shown = f"{'await ' if isinstance(node, ast.AsyncFunctionDef) else ''}.{node.name}({arguments})"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    yield f"- `{shown}{returns}`"
    yield ""
    yield from (f"  {line}".rstrip() for line in _prose(ast.get_docstring(node)))


def _without_self(node: ast.FunctionDef | ast.AsyncFunctionDef, kinds: set[str]) -> ast.arguments:
    arguments = ast.parse(f"def f({ast.unparse(node.args)}): ...").body[0]
    assert isinstance(arguments, ast.FunctionDef)
    if "staticmethod" not in kinds and arguments.args.args:
        arguments.args.args.pop(0)
    return arguments.args


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, shown: str) -> Iterator[str]:
    is_init = node.name == "__init__"
    arguments = _without_self(node, set()) if is_init else node.args
    parts = [part for part in _parts(arguments) if part]
    prefix = "" if is_init else "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    returns = "" if is_init or node.returns is None else f" -> {ast.unparse(node.returns)}"
    yield from _wrapped(prefix + shown, parts, returns)


def _parts(arguments: ast.arguments) -> Iterator[str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    for argument, default in zip(plain, defaults, strict=True):
        yield _argument(argument, default)
    if arguments.vararg is not None:
        yield f"*{ast.unparse(arguments.vararg)}"
    elif arguments.kwonlyargs:
        yield "*"
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _argument(argument, default)
    if arguments.kwarg is not None:
        yield f"**{ast.unparse(arguments.kwarg)}"


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + ("" if default is None else f" = {ast.unparse(default)}")


def _wrapped(start: str, parts: list[str], end: str) -> Iterator[str]:
    line = f"{start}({', '.join(parts)}){end}"
    if len(line) <= 100:
        yield line
        return
    yield f"{start}("
    yield from (f"    {part}," if part != "*" else "    *," for part in parts)
    yield f"){end}"


def _fields(node: ast.ClassDef) -> Iterator[str]:
    """The arguments of a data class, from its fields."""
    all_named = any("kw_only=True" in ast.unparse(decorator) for decorator in node.decorator_list)
    parted = False
    for each in node.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        if each.target.id.startswith("_") or "ClassVar" in ast.unparse(each.annotation):
            continue
        if re.search(r"\b_\w", ast.unparse(each.annotation)):  # of no use to others
            continue
        default, named = _default(each.value)
        if default is None and not (all_named or named) and parted:
            continue
        if (all_named or named) and not parted:
            parted = True
            yield "*"
        yield f"{each.target.id}: {ast.unparse(each.annotation)}" + ("" if default is None else f" = {default}")


def _default(value: ast.expr | None) -> tuple[str | None, bool]:
    """The default of a field as its text, and whether the field must be named."""
    if value is None:
        return None, False
    if not (isinstance(value, ast.Call) and ast.unparse(value.func) in ("field", "attrs.field")):
        return ast.unparse(value), False
    given = {keyword.arg: keyword.value for keyword in value.keywords}
    named = "kw_only" in given and ast.unparse(given["kw_only"]) == "True"
    if "default" in given:
        return ast.unparse(given["default"]), named
    if "factory" in given:
        factory = ast.unparse(given["factory"])
        return {"dict": "{}", "list": "[]", "tuple": "()"}.get(
            factory, "{}" if factory[0] == "_" else f"{factory}()"
        ), named
    return None, named


# docstrings


_FIELD = re.compile(r"^(\w[\w., ]*?): (?=\S)")
_ENDS = ("Raises", "Yields", "Returns", "Example", "Note")


def _prose(docstring: str | None) -> list[str]:
    """A docstring as Markdown: lines of `name: meaning` become a list, indented paragraphs code."""
    if not docstring:
        return []
    lines: list[str] = []
    for paragraph in re.split(r"\n\s*\n", docstring.strip("\n")):
        lines += [*_paragraph(paragraph.split("\n")), ""]
    return _joined_code(lines)


def _paragraph(lines: list[str]) -> Iterator[str]:
    indents = [len(line) - len(line.lstrip()) for line in lines]
    if min(indents) >= 4 or "──" in "\n".join(lines):
        yield "```python" if "──" not in "\n".join(lines) else "```text"
        yield from textwrap.dedent("\n".join(lines)).split("\n")
        yield "```"
        return
    first, listed, before = True, False, ""
    for line, indent in zip(lines, indents, strict=True):
        text = line.strip()
        found = _FIELD.match(text)
        # A word with a colon may also stand in the middle of a sentence.
        begins = first or listed or before.endswith((".", ":", ";")) or _bare_heading(before)
        if found and begins and not text.startswith(_ENDS) and indent in (0, 2) and _is_names(found.group(1)):
            names = ", ".join(f"`{name.strip()}`" for name in found.group(1).split(","))
            yield f"- {names}: {text[found.end() :]}"
            listed = True
        elif indent == 0 and not first and _bare_heading(text):
            yield ""
            yield f"*{text}*"
        elif indent >= 4 and not first:
            yield "  " + text
        elif _bare_heading(text) and len(lines) > 1 and first:
            yield f"*{text}*"
            yield ""
        else:
            if listed and indent == 0:
                yield ""
                listed = False
            yield text
        first, before = False, text


def _is_names(text: str) -> bool:
    return all(re.fullmatch(r"[a-z_][\w.]*", name.strip()) for name in text.split(","))


def _bare_heading(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Z][\w ]{2,30}", text))


def _joined_code(lines: list[str]) -> list[str]:
    """Two pieces of code behind each other are one."""
    text = "\n".join(lines).replace("```\n\n```python\n", "\n").rstrip()
    return text.split("\n")


def _anchor(text: str) -> str:
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


if __name__ == "__main__":
    sys.exit(main())
