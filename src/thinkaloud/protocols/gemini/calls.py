"""Calls of Gemini while they are read: whole ones, and those whose arguments stream as paths and values.

A part that goes on with a call may repeat its name or leave it out; a call has an id only where the server gives one.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from thinkaloud.block_builder import OpenBlock
from thinkaloud.jsontext import Json, dumps
from thinkaloud.protocols.call_ids import tell_repeated
from thinkaloud.protocols.fields import JsonObject, as_object, kept, list_field, object_field, rest, text_field
from thinkaloud.protocols.gemini.arguments import StreamedArguments

if TYPE_CHECKING:
    from thinkaloud.protocols.gemini.parse import GeminiParser

_OF_CALL_PART = frozenset({"functionCall", "text", "thoughtSignature"})
_OF_CALL = frozenset({"id", "name", "args", "partialArgs", "willContinue"})


class Calls:
    """The calls of one answer.

    open: the call whose arguments stream; None where none does.
    lost_end: the wire never told the end of a call.
    """

    open: OpenBlock | None = None
    lost_end = False

    def __init__(self, parser: GeminiParser) -> None:
        self._parser = parser
        self._builder = parser.builder
        self._wire_id = ""  # of the open call, as the wire gives it
        self._repeats_name = False  # every part of it has its name (seen at gateways)
        self._arguments = StreamedArguments()
        self._ids: set[str] = set()
        self._made = 0

    def grow(self, call: object) -> bool:
        """Read a part that does nothing but make the open string of the open call longer; False: it is another one."""
        if type(call) is not dict or len(call) != 2 or call.get("willContinue") is not True:
            return False
        entries = call.get("partialArgs")
        if type(entries) is not list or len(entries) != 1 or type(entries[0]) is not dict:
            return False
        text = self._arguments.grow(entries[0])
        if text is None or self.open is None:
            return False
        self._builder.extend(self.open, text)
        return True

    def read(self, part: JsonObject, signature: str) -> None:
        """Read a part that holds a call: a whole one, the start of one that streams, or more of it."""
        call = object_field(part, "functionCall")
        name, id = text_field(call, "name"), text_field(call, "id")
        entries = list_field(call, "partialArgs")
        args = call.get("args")
        goes_on = call.get("willContinue") is True
        if self.open is not None and self._is_more(self.open, id, name, args, entries):
            block = self.open
        elif name or args is not None:
            block = self._opened(id, name, part, call, signature)
        else:
            if entries:
                self._parser.tell_once("unknown_delta", "partialArgs", "arguments that belong to no open call")
            if signature:  # it comes after its call has ended: kept as if it had come alone
                self._parser.keep_signature({name: part[name] for name in part if name != "functionCall"})
            return  # a keep-alive, or the end of a call that has ended
        if signature:
            if block.signature is None:
                block.signature = signature
            elif block.signature != signature:
                text = "a second signature of one call, passed over"
                self._parser.tell_once("signature_ignored", "functionCall", text)
        if args and not isinstance(args, str) and (entries or goes_on) and not block.fragments:
            self._builder.extend(block, self._arguments.begin(kept(object_field(call, "args"), "args")))
        for item in entries:
            entry = as_object(item, "partialArgs")
            self._builder.extend(block, self._arguments.add(entry))
            goes_on = goes_on or entry.get("willContinue") is True
        if goes_on:
            if isinstance(args, str) and args and not block.fragments:  # text, which no entry can go on with
                self._builder.extend(block, args)
                self.open, self.lost_end = None, True
        elif args is not None and not entries and not block.fragments:
            self.open = None
            text = args if isinstance(args, str) else dumps(kept(object_field(call, "args"), "args"))
            self._builder.extend(block, text or "{}")
            self._builder.close(block)
        else:
            self._end()

    def _is_more(self, call: OpenBlock, id: str, name: str, args: object, entries: list[object]) -> bool:
        """Whether a part goes on with the open call: it has no name, or repeats that of the call."""
        if not name:
            return True
        if name != call.name:
            return False
        if id:
            return id == self._wire_id
        if args:
            return False
        self._repeats_name = self._repeats_name or bool(entries)
        return self._repeats_name

    def _opened(self, id: str, name: str, part: JsonObject, call: JsonObject, signature: str) -> OpenBlock:
        self._parser.close_text()
        self.lost_end |= self.open is not None  # it stays open, and is closed as incomplete at the end
        self._wire_id, self._repeats_name = id, False
        extra: dict[str, Json] = {}
        if fields := rest(part, _OF_CALL_PART):
            extra["part"] = fields
        if fields := rest(call, _OF_CALL):
            extra["function_call"] = fields
        if not id or id in self._ids:
            wire_id, id = id, self._next_id(name, call, signature)
            extra["wire_id"] = wire_id or None
            if wire_id:
                tell_repeated(self._builder, wire_id, id)
        self._ids.add(id)
        self._parser.make_way()
        block = self._builder.open_tool_call(id, name)
        block.extra.update(extra)
        self.open, self._arguments = block, StreamedArguments()
        return block

    def _end(self) -> None:
        if self.open is not None:
            self._builder.extend(self.open, self._arguments.close())
            self._builder.close(self.open)
            self.open = None

    def _next_id(self, name: str, call: JsonObject, signature: str) -> str:
        """An id for a call that came without one, or with that of another call: the same however the answer is read."""
        answer = self._parser.response_id
        if not answer:  # old models name neither
            told = dumps([name, kept(call, "functionCall"), signature, self._parser.context.prefix_digest])
            answer = sha256(told.encode()).hexdigest()[:12]
        id = ""
        while not id or id in self._ids:
            self._made += 1
            id = f"call_{answer}_{self._made}"
        return id
