"""Reads what a delta or a whole message says into blocks: both have the same shape.

A delta is read in this order: reasoning, content, refusal, tool calls. Thinking and text last until another kind
begins; tool calls stay open until the end, because their fragments may interleave and their signatures may come last.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from thinkaloud.block_builder import BlockBuilder, OpenBlock
from thinkaloud.content import Opaque
from thinkaloud.errors import MalformedStream
from thinkaloud.jsontext import is_json_object
from thinkaloud.models.dialect import Dialect
from thinkaloud.protocols.openai_chat.details import ENCRYPTED, KEY, VISIBLE, CallDetails, Detail
from thinkaloud.protocols.openai_chat.fields import Fields, Object
from thinkaloud.protocols.openai_chat.thinking import ThinkingRun, is_redacted
from thinkaloud.protocols.openai_chat.tool_slots import Slot, ToolSlots
from thinkaloud.wire.thinktags import Piece, ThinkTagSplitter

PROTOCOL_ID = "openai-chat"

# The names that thinking goes by, in the order in which they are looked at. Servers that fill two say the same twice.
_REASONING_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")


class DeltaReader:
    """Reads deltas into a builder.

    make_id: gives the id of the call of this number, for a server that gives none.
    """

    def __init__(self, builder: BlockBuilder, fields: Fields, dialect: Dialect, make_id: Callable[[int], str]) -> None:
        self.saw_text = False
        self.saw_refusal = False
        self._builder = builder
        self._fields = fields
        own = (dialect.reasoning_field,) if dialect.reasoning_field else ()
        self._reasoning_fields = tuple(dict.fromkeys((*own, *_REASONING_FIELDS)))
        tags = dialect.think_tags
        self._tags = ThinkTagSplitter(tags.open, tags.close, implied_open=tags.implied_open) if tags else None
        self._calls = ToolSlots(builder, make_id)
        # the block that is being written: at most one of the two
        self._text: OpenBlock | None = None
        self._thinking: ThinkingRun | None = None
        self._refusing = False
        self._seed: Detail | None = None  # an entry that has begun without saying anything
        self._call_details: dict[str, CallDetails] = {}  # by the id of the call that they name
        self._citations: list[Object] = []  # of a text that has not come yet
        self._saw_field = False  # thinking has come in a field of its own

    def read(self, delta: Object, exact: Callable[[Object], Object]) -> None:
        """Read one delta or message. exact: gives it again, with all digits of its integers."""
        if delta.get(KEY):
            self._read_details(delta)
        else:
            self._read_reasoning(delta)
        if "annotations" in delta:
            self.cite([self._fields.kept("annotations[]", note) for note in self._fields.objects(delta, "annotations")])
        content = delta.get("content")
        if content:
            if type(content) is not str:
                self._read_parts(delta)
            elif self._tags is not None:
                self._write(self._tags.feed(content))
            elif self._text is not None and not self._refusing:
                self._builder.extend(self._text, content)
            else:
                self._say(content)
        if "refusal" in delta:
            self._refuse(self._fields.text(delta, "refusal"))
        if "tool_calls" in delta:
            self._read_calls(delta, exact)
        if "function_call" in delta:
            self._read_legacy_call(delta, exact)

    def cite(self, citations: list[Object]) -> None:
        """Add sources to the text that is being written, or else to the next one."""
        if self._text is not None:
            self._text.citations.extend(citations)
        else:
            self._citations.extend(citations)

    # the end

    def let_go(self) -> None:
        """Write what is held back: for a tag, for the rest of a call's name, for a call that never came."""
        if self._tags is not None:
            self._write(self._tags.close())
        self._calls.settle()
        self._calls.open_nameless()
        for id in [id for id in self._call_details if self._calls.named(id) is None]:
            for detail in self._call_details.pop(id).all:
                self._prove(detail)

    def seal(self) -> None:
        """Put on the open blocks what belongs to them besides their text."""
        if self._thinking is not None:
            self._thinking.seal()
        for slot in self._calls.slots:
            if slot.block is not None:
                self._seal_call(slot, slot.block)

    def leftovers(self) -> None:
        """Tell what has come and belongs to no block."""
        if self._citations:
            text = "the provider cites sources, but beside no text"
            self._builder.notice("citations_without_text", text, detail={"citations": self._citations})
            self._citations = []

    def half_call(self, *, free_text: bool = True) -> bool:
        """Whether a call's arguments have begun and are no whole object. free_text: custom calls count, too."""
        return any(
            slot.arguments.strip() and not is_json_object(slot.arguments)
            for slot in self._calls.slots
            if free_text or slot.extra.get("type") != "custom"
        )

    def _seal_call(self, slot: Slot, block: OpenBlock) -> None:
        block.extra.update(slot.extra)
        google = self._fields.object(self._fields.object(slot.extra, "extra_content"), "google")
        block.signature = self._fields.text(google, "thought_signature") or None
        named = self._call_details.get(slot.id) if self._calls.named(slot.id) is slot else None
        if named is not None:
            kept = (self._fields.kept(KEY, detail.entry()) for detail in named.all)
            block.extra[KEY] = [entry for entry in kept if entry]
            block.signature = named.all[0].data

    # thinking

    def _read_reasoning(self, delta: Object) -> None:
        for name in self._reasoning_fields:
            thought = delta.get(name)
            if thought:
                if type(thought) is str:
                    self._think(thought, name)
                    return
                self._fields.odd(name, thought)

    def _think(self, thought: str, name: str) -> None:
        self._saw_field = True
        self._builder.extend(self._run(name).block, thought)

    def _read_details(self, delta: Object) -> None:
        """Read a gateway's entries. Its plain field repeats their text, and counts only where they have none."""
        fragments = [(fragment, self._fields.text(fragment, "type")) for fragment in self._fields.objects(delta, KEY)]
        if not any(kind in VISIBLE and fragment.get(VISIBLE[kind]) for fragment, kind in fragments):
            self._read_reasoning(delta)
        for position, (fragment, kind) in enumerate(fragments):
            if kind in VISIBLE:
                self._read_visible(fragment, position, VISIBLE[kind])
            elif kind == ENCRYPTED:
                self._read_encrypted(fragment, position)
            else:
                self._add_opaque(kind if kind.startswith("reasoning.") else f"reasoning.{kind}", fragment)
        if self._thinking is not None and "field" not in self._thinking.block.extra:
            used = next((name for name in self._reasoning_fields if delta.get(name)), None)
            if used is not None:
                self._thinking.block.extra["field"] = used

    def _read_visible(self, fragment: Object, position: int, name: str) -> None:
        text, signature = self._fields.text(fragment, name), self._fields.text(fragment, "signature")
        run = self._thinking
        detail = run.continued(fragment, position) if run is not None else None
        if detail is not None:
            detail.add(fragment)
        elif not text and not signature:
            self._seed = self._begun(fragment, position)
            return
        else:
            detail = self._begun(fragment, position)
            if run is None or run.details:
                run = self._open_thinking()
            run.details.append(detail)
        assert run is not None
        if text:
            self._builder.extend(run.block, text)
        if signature:
            run.block.signature = signature

    def _begun(self, fragment: Object, position: int) -> Detail:
        seed, self._seed = self._seed, None
        if seed is not None and seed.continues(fragment, position):
            seed.add(fragment)
            return seed
        return Detail(fragment, position)

    def _read_encrypted(self, fragment: Object, position: int) -> None:
        if not self._fields.text(fragment, "data"):
            return
        id, format = self._fields.text(fragment, "id"), self._fields.text(fragment, "format")
        if id and (self._calls.named(id) is not None or _may_name_a_call(format)):
            self._call_details.setdefault(id, CallDetails()).add(fragment, position)
            return
        known = self._thinking.continued(fragment, position) if self._thinking is not None else None
        if known is not None:
            known.add(fragment)
        else:
            self._prove(Detail(fragment, position))

    def _prove(self, detail: Detail) -> None:
        """Add an encrypted entry: as the proof of the thinking before it, or as a block of its own."""
        run = self._thinking
        if run is None or is_redacted(detail.format) or not run.takes_encrypted():
            run = self._open_thinking()
        run.details.append(detail)

    def _run(self, name: str) -> ThinkingRun:
        """The thinking that is being written, or a new one from the field of this name: a payload takes no text."""
        run = self._thinking
        return run if run is not None and not run.redacted else self._open_thinking(name)

    def _open_thinking(self, name: str | None = None) -> ThinkingRun:
        self._close_run()
        run = self._thinking = ThinkingRun(self._builder.open_thinking(), self._fields)
        if name is not None:
            run.block.extra["field"] = name
        return run

    def _close_run(self) -> None:
        """Close the thinking or the text that is being written: another kind begins."""
        if self._thinking is not None:
            self._thinking.seal()
            self._builder.close(self._thinking.block)
            self._thinking = None
        if self._text is not None:
            self._builder.close(self._text)
            self._text = None
        self._calls.settle()

    # text

    def _say(self, text: str, *, refusal: bool = False) -> None:
        if self._text is None or self._refusing is not refusal:
            self._close_run()
            self._text = self._builder.open_text()
            self._text.citations.extend(self._citations)
            self._citations = []
            self._refusing = refusal
            self.saw_text = True
            if refusal:
                self._text.extra["refusal"] = True
        self._builder.extend(self._text, text)

    def _refuse(self, text: str) -> None:
        if text:
            self.saw_refusal = True
            self._say(text, refusal=True)

    def _write(self, pieces: list[Piece]) -> None:
        """Write what the tags have parted. Where a field tells the thinking as well, the tags only repeat it."""
        for kind, text in pieces:
            if kind == "text":
                self._say(text)
            elif not self._saw_field:
                run = self._run("content")
                run.block.extra["tags"] = True
                self._builder.extend(run.block, text)

    def _read_parts(self, delta: Object) -> None:
        """Read content that is a list of typed parts (seen at Mistral)."""
        parts: Any = delta["content"]
        if type(parts) is list:
            parts = [{"type": "text", "text": part} if type(part) is str else part for part in parts]
        for part in self._fields.objects({"content": parts}, "content"):
            kind = self._fields.text(part, "type")
            if kind == "text":
                text = self._fields.text(part, "text")
                if text:
                    self._say(text)
            elif kind == "thinking":
                self._read_thinking_part(part)
            elif kind == "refusal":
                self._refuse(self._fields.text(part, "refusal"))
            else:
                self._add_opaque(kind, part)

    def _read_thinking_part(self, part: Object) -> None:
        inner = part.get("thinking")
        pieces = [{"type": "text", "text": inner}] if type(inner) is str else self._fields.objects(part, "thinking")
        signature = self._fields.text(part, "signature")
        for piece in pieces:
            text = self._fields.text(piece, "text") if piece.get("type") == "text" else ""
            if piece.get("type") == "text" and not text:
                continue
            run = self._run("content")
            if text:
                run.add_text(text)
                self._builder.extend(run.block, text)
            else:
                run.add_piece(piece)
        if signature:
            run = self._run("content")
            run.block.signature = signature
        if self._thinking is not None:
            if type(part.get("closed")) is bool:
                self._thinking.block.extra["closed"] = part["closed"]
            if part.get("closed") is True or not pieces:
                self._close_run()

    def _add_opaque(self, kind: str, data: Object) -> None:
        kept = self._fields.kept(kind or "part", data)
        if kept:
            self._close_run()
            self._builder.opaque(Opaque(PROTOCOL_ID, kind=kind, data=kept))

    # tool calls

    def _read_calls(self, delta: Object, exact: Callable[[Object], Object]) -> None:
        calls = self._fields.objects(delta, "tool_calls")
        again: list[Object] | None = None
        for place, call in enumerate(calls):
            function = call.get("function")
            if type(function) is not dict:
                function = self._fields.object(call, "function")
            if type(function.get("arguments")) in (dict, list):
                again = again or self._fields.objects(exact(delta), "tool_calls")
                function = again[place]["function"]
            if "custom" in call and not any(function.values()):
                custom = self._fields.object(call, "custom")
                slot = self._add_call(call, self._fields.text(custom, "name"), custom.get("input"))
                if slot is not None and any(custom.values()):
                    slot.extra["type"] = "custom"
            else:
                slot = self._add_call(call, self._fields.text(function, "name"), function.get("arguments"))
            if slot is not None and "extra_content" in call:
                kept = self._fields.kept("extra_content", self._fields.object(call, "extra_content"))
                slot.extra.setdefault("extra_content", {}).update(kept)

    def _read_legacy_call(self, delta: Object, exact: Callable[[Object], Object]) -> None:
        function = self._fields.object(delta, "function_call")
        if type(function.get("arguments")) in (dict, list):
            function = exact(delta)["function_call"]
        self._add_call({}, self._fields.text(function, "name"), function.get("arguments"))

    def _add_call(self, call: Object, name: str, arguments: Any) -> Slot | None:
        id = self._fields.text(call, "id")
        if id == "null":  # seen at Mistral
            id = ""
        if type(arguments) in (dict, list):
            arguments = _as_text(arguments)
        elif arguments is not None and type(arguments) is not str:
            self._fields.odd("arguments", arguments)
            arguments = None
        if not (id or name or arguments):
            return None
        if self._tags is not None:
            self._write(self._tags.close())
        if self._thinking is not None or self._text is not None:
            self._close_run()
        return self._calls.add(id, self._fields.index(call), name, arguments)


def _as_text(arguments: Any) -> str:
    """Arguments that came as JSON itself, as the text that they would have been."""
    try:
        return json.dumps(arguments, separators=(",", ":"), ensure_ascii=False)
    except RecursionError:
        raise MalformedStream(
            "the arguments of a call are nested too deeply for Python, which no Limits change"
        ) from None


def _may_name_a_call(format: str) -> bool:
    """Whether the id of an encrypted entry of this format may be that of a call: others are ids of reasoning items."""
    return "responses" not in format and not is_redacted(format)
