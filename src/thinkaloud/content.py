"""The blocks that a message is made of: text, thinking, tool calls, images, documents, and what we do not model.

Blocks are frozen values. Opaque strings in them (signatures, encrypted payloads) are kept byte for byte: nothing here
parses, decodes, trims or re-encodes them, and `repr` shortens them. `extra` holds the provider's own fields that a
replay needs; treat it as read-only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen

from thinkaloud import jsontext
from thinkaloud.checked import instance_of, items_of, optional
from thinkaloud.errors import WrongValue
from thinkaloud.jsontext import Json, copied_object
from thinkaloud.stored import Stored


def _copied_citations(value: Iterable[Mapping[str, Json]]) -> tuple[Mapping[str, Json], ...]:
    return tuple(copied_object(citation) for citation in items_of("citations", value))


def _counted(citations: tuple[Mapping[str, Json], ...]) -> str:
    """Citations hold opaque strings of their own."""
    return f"<{len(citations)}>"


def shortened(value: Any) -> str:
    """Show an opaque string by its start and its length, so that a repr stays readable."""
    if isinstance(value, str) and len(value) > 20:
        return f"'{value[:12]}…' ({len(value)} characters)"
    return repr(value)


_text = instance_of(str)
_opt_text = optional(instance_of(str))
_flag = instance_of(bool)


@frozen
class Text(Stored):
    """A piece of the visible answer, or of what a user says.

    signature: a provider's opaque signature over this text (Gemini), or None.
    citations: the provider's citation objects, as received.
    complete: False when the stream ended inside the block.
    """

    text: str = field(validator=_text)
    signature: str | None = field(default=None, validator=_opt_text, kw_only=True, repr=shortened)
    citations: tuple[Mapping[str, Json], ...] = field(
        default=(), converter=_copied_citations, kw_only=True, hash=False, repr=_counted
    )
    complete: bool = field(default=True, validator=_flag, kw_only=True)
    extra: Mapping[str, Json] = field(factory=dict, converter=copied_object, kw_only=True, hash=False, repr=False)


@frozen
class Thinking(Stored):
    """One block of a model's thinking, as visible as the provider makes it.

    text: what may be shown; "" when the thinking is withheld or redacted.
    signature: opaque proof that goes back unchanged with the block, or None.
    redacted_data: the encrypted payload of a block that the provider redacted, or None.
    complete: False when the stream ended inside the block; such a block is never sent back.
    """

    text: str = field(default="", validator=_text)
    signature: str | None = field(default=None, validator=_opt_text, kw_only=True, repr=shortened)
    redacted_data: str | None = field(default=None, validator=_opt_text, kw_only=True, repr=shortened)
    complete: bool = field(default=True, validator=_flag, kw_only=True)
    extra: Mapping[str, Json] = field(factory=dict, converter=copied_object, kw_only=True, hash=False, repr=False)

    @classmethod
    def signed(cls, text: str, signature: str) -> Thinking:
        """A readable block with the provider's signature."""
        return cls(text, signature=signature)

    @classmethod
    def redacted_payload(cls, data: str) -> Thinking:
        """A block of which only the encrypted payload is known."""
        return cls("", redacted_data=data)

    @property
    def redacted(self) -> bool:
        """The provider sent a payload in place of the thinking."""
        return self.redacted_data is not None

    @property
    def withheld(self) -> bool:
        """Signed but without text: the display was omitted. It goes back as thinking, not as redacted."""
        return self.signature is not None and not self.text and self.redacted_data is None


@frozen
class ToolCall(Stored):
    """A model's wish to call a tool.

    id: ties the call to its result; unique within a conversation.
    arguments_json: what the model wrote, unparsed.
    signature: a provider's opaque signature over the call (Gemini, some gateways), or None.
    complete: False when the call was cut off or came without a name; such a call must not be run.
    """

    id: str = field(validator=_text)
    name: str = field(validator=_text, kw_only=True)
    arguments_json: str = field(default="", validator=_text, kw_only=True)
    signature: str | None = field(default=None, validator=_opt_text, kw_only=True, repr=shortened)
    complete: bool = field(default=True, validator=_flag, kw_only=True)
    extra: Mapping[str, Json] = field(factory=dict, converter=copied_object, kw_only=True, hash=False, repr=False)

    @classmethod
    def of(cls, id: str, name: str, arguments: Mapping[str, Json]) -> ToolCall:
        """A call with these arguments, for scripts and tests. Raises WrongValue for what is not JSON."""
        try:
            written = jsontext.dumps(copied_object(arguments))
        except ValueError as error:
            raise WrongValue(f"arguments cannot be written as JSON: {error}") from None
        return cls(id, name=name, arguments_json=written)

    @property
    def arguments(self) -> dict[str, Json]:
        """The arguments as a fresh dict; blank text means no arguments.

        Raises MalformedToolArguments, with the raw text, when they are not a JSON object.
        """
        return jsontext.parse_arguments(self.arguments_json)


@frozen
class Image(Stored):
    """A picture for the model. Give either `data` (base64) with `media_type`, or `url`."""

    data: str | None = field(default=None, validator=_opt_text, repr=shortened)
    media_type: str | None = field(default=None, validator=_opt_text, kw_only=True)
    url: str | None = field(default=None, validator=_opt_text, kw_only=True, repr=shortened)
    extra: Mapping[str, Json] = field(factory=dict, converter=copied_object, kw_only=True, hash=False, repr=False)

    @classmethod
    def from_bytes(cls, data: bytes, media_type: str) -> Image:
        """A picture from its encoded bytes, such as the content of a PNG file and "image/png"."""
        return cls(_base64(data), media_type=media_type)

    @classmethod
    def from_url(cls, url: str) -> Image:
        """A picture that the provider fetches itself."""
        return cls(url=url)


@frozen
class Document(Stored):
    """A document for the model: `data` (base64) with `media_type`, or plain `text`, or `url`."""

    data: str | None = field(default=None, validator=_opt_text, repr=shortened)
    media_type: str | None = field(default=None, validator=_opt_text, kw_only=True)
    text: str | None = field(default=None, validator=_opt_text, kw_only=True, repr=shortened)
    url: str | None = field(default=None, validator=_opt_text, kw_only=True, repr=shortened)
    name: str | None = field(default=None, validator=_opt_text, kw_only=True)
    extra: Mapping[str, Json] = field(factory=dict, converter=copied_object, kw_only=True, hash=False, repr=False)

    @classmethod
    def from_bytes(cls, data: bytes, media_type: str = "application/pdf", *, name: str | None = None) -> Document:
        """A document from the bytes of a file."""
        return cls(_base64(data), media_type=media_type, name=name)

    @classmethod
    def from_text(cls, text: str, *, name: str | None = None) -> Document:
        """A document of plain text."""
        return cls(text=text, media_type="text/plain", name=name)

    @classmethod
    def from_url(cls, url: str, *, name: str | None = None) -> Document:
        """A document that the provider fetches itself."""
        return cls(url=url, name=name)


@frozen
class Opaque(Stored):
    """A block that this library does not model: kept, persisted, and sent back in place to the same protocol.

    protocol: the wire protocol that it came from.
    kind: the provider's own type name.
    data: the block as received.
    complete: False when the stream ended inside the block.
    """

    protocol: str = field(validator=_text)
    kind: str = field(validator=_text, kw_only=True)
    data: Mapping[str, Json] = field(converter=copied_object, kw_only=True, hash=False, repr=False)
    complete: bool = field(default=True, validator=_flag, kw_only=True)


AssistantBlock = Text | Thinking | ToolCall | Opaque
UserBlock = Text | Image | Document | Opaque
Block = AssistantBlock | UserBlock


def _base64(data: bytes) -> str:
    from base64 import b64encode

    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise WrongValue(f"data must be bytes, not {type(data).__name__}")
    return b64encode(data).decode("ascii")
