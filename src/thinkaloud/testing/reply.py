"""What a scripted model answers, said in the library's own vocabulary and valid on every wire."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import field, frozen
from attrs.validators import deep_iterable, ge, instance_of, optional

from thinkaloud.content import AssistantBlock, Opaque, Text, Thinking, ToolCall
from thinkaloud.errors import ProviderError
from thinkaloud.jsontext import Json
from thinkaloud.messages import StopReason
from thinkaloud.testing.delivery import Delivery
from thinkaloud.usage import Usage

_BLOCKS = (Text, Thinking, ToolCall, Opaque)
_WORD = re.compile(r"\s*\S+|\s+\Z")
_PROMPT_TOKENS = 10
_ARGUMENT_PIECE = 12


class ScriptError(Exception):
    """The script itself is at fault: it has run out, or it asks for what a wire cannot say."""


def _as_blocks(value: str | AssistantBlock | Iterable[str | AssistantBlock]) -> tuple[AssistantBlock, ...]:
    if isinstance(value, str | Text | Thinking | ToolCall | Opaque):
        value = (value,)
    return tuple(Text(item) if isinstance(item, str) else item for item in value)


def _copied(value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return None if value is None else copy.deepcopy(dict(value))


def _headers(value: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): text for name, text in value.items()}


def _status_or_class(_instance: object, attribute: Any, value: Any) -> None:
    if isinstance(value, int) and 400 <= value <= 599:
        return
    if isinstance(value, type) and issubclass(value, ProviderError):
        return
    raise TypeError(f"{attribute.name}={value!r} is neither an HTTP error status nor a subclass of ProviderError")


@frozen
class Failure:
    """A failure of the provider: an HTTP error in the protocol's own shape, or an error inside a stream.

    what: an HTTP status, or the exception class that this library makes of it, such as RateLimited.
    message: the provider's words; None: usual ones.
    code: the provider's own word for the error (its `type` or `code`), in place of the usual one.
    status: the HTTP status, where `what` is a class and its usual status does not suit.
    body: sent as it is in place of the protocol's error shape: bytes, text, or JSON. Not for errors inside a stream.
    headers: headers beside the usual ones, such as {"retry-after": "2"}.
    delivery: how the bytes travel; None: as the script says.
    """

    what: int | type[ProviderError] = field(validator=_status_or_class)
    message: str | None = field(default=None, validator=optional(instance_of(str)))
    code: str | None = field(default=None, validator=optional(instance_of(str)), kw_only=True)
    status: int | None = field(default=None, validator=optional(instance_of(int)), kw_only=True)
    body: bytes | Json = field(default=None, kw_only=True, hash=False)
    headers: Mapping[str, str] = field(factory=dict, converter=_headers, kw_only=True, hash=False)
    delivery: Delivery | None = field(default=None, kw_only=True)


@frozen
class NoAnswer:
    """The connection breaks before an answer begins."""


@frozen
class Reply:
    """One answer of the scripted model.

    content: blocks in order; a plain string stands for a text block.
    stop: why it ends, as StopReason or as the provider's own word; None: TOOL_USE where a call is made, else END.
    stop_detail: details of the end, as the message will tell them.
    usage: tokens, in the library's meaning; None: counted from the content, one token a delta.
    model: the model that answers; None: the one that was asked for.
    id: the answer's id; None: one made from its place in the script.
    chunk_size: characters in a delta; None: one word each.
    error: the answer begins well and then fails; `error_after` is the number of wire events before the failure,
        None: after all content, in place of the end. An answer that is not streamed fails as a whole.
    headers: HTTP headers beside the usual ones.
    delivery: how the bytes travel; None: as the script says.
    """

    content: tuple[AssistantBlock, ...] = field(
        default=(), converter=_as_blocks, validator=deep_iterable(instance_of(_BLOCKS))
    )
    stop: StopReason | str | None = field(
        default=None, validator=optional(instance_of((StopReason, str))), kw_only=True
    )
    stop_detail: Mapping[str, Json] | None = field(default=None, converter=_copied, kw_only=True, hash=False)
    usage: Usage | None = field(default=None, validator=optional(instance_of(Usage)), kw_only=True)
    model: str | None = field(default=None, validator=optional(instance_of(str)), kw_only=True)
    id: str | None = field(default=None, validator=optional(instance_of(str)), kw_only=True)
    chunk_size: int | None = field(default=None, validator=optional([instance_of(int), ge(1)]), kw_only=True)
    error: Failure | None = field(default=None, validator=optional(instance_of(Failure)), kw_only=True)
    error_after: int | None = field(default=None, validator=optional([instance_of(int), ge(0)]), kw_only=True)
    headers: Mapping[str, str] = field(factory=dict, converter=_headers, kw_only=True, hash=False)
    delivery: Delivery | None = field(default=None, kw_only=True)

    @staticmethod
    def failure(
        what: int | type[ProviderError],
        message: str | None = None,
        *,
        code: str | None = None,
        status: int | None = None,
        body: bytes | Json = None,
        headers: Mapping[str, str] | None = None,
        delivery: Delivery | None = None,
    ) -> Failure:
        """A failure in place of an answer; the arguments are those of Failure."""
        return Failure(what, message, code=code, status=status, body=body, headers=headers or {}, delivery=delivery)

    @property
    def stop_or_default(self) -> StopReason | str:
        """Why it ends, with the default filled in."""
        if self.stop is not None:
            return self.stop
        calls = any(isinstance(block, ToolCall) for block in self.content)
        return StopReason.TOOL_USE if calls else StopReason.END

    @property
    def usage_or_counted(self) -> Usage:
        """The tokens, with the default filled in."""
        if self.usage is not None:
            return self.usage
        thinking = written = 0
        for block in self.content:
            match block:
                case Thinking():
                    thinking += len(self.pieces(block.text)) or 1
                case Text():
                    written += len(self.pieces(block.text))
                case ToolCall():
                    written += len(self.argument_pieces(block.arguments_json))
        return Usage(input=_PROMPT_TOKENS, output=thinking + written, reasoning=thinking or None)

    def pieces(self, text: str) -> list[str]:
        """Split text into the deltas that it is sent in; they join to the text."""
        return list(_slices(text, self.chunk_size) if self.chunk_size else _words(text))

    def argument_pieces(self, text: str) -> list[str]:
        """Split tool arguments into the deltas that they are sent in."""
        return list(_slices(text, self.chunk_size or _ARGUMENT_PIECE))


def _slices(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _words(text: str) -> Iterator[str]:
    return (match.group() for match in _WORD.finditer(text))
