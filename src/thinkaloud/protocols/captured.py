"""Read a captured answer: bytes from a file, a gateway or a test, without any I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from thinkaloud.errors import ConfigurationError, TruncatedStream, UnknownModel
from thinkaloud.events import StreamEvent
from thinkaloud.messages import AssistantMessage, Origin
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.providers import find_provider
from thinkaloud.protocols.base import ParseContext
from thinkaloud.protocols.reader import Reader
from thinkaloud.protocols.registry import wire_protocol


def parse_events(
    protocol: str,
    chunks: bytes | Iterable[bytes],
    *,
    provider: str | None = None,
    dialect: Dialect | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Iterator[StreamEvent]:
    """Turn the body of an answer, in pieces of any size, into its events.

    protocol: wire protocol id, such as "anthropic-messages".
    chunks: the body, as bytes or as pieces of them.
    provider: who answered; chooses the dialect, unless `dialect` is given.
    status, headers: of the HTTP answer.

    Raises the typed error, after the events that came before it; a ConfigurationError for an unknown protocol.
    """
    reader = _reader(protocol, provider, dialect, status, headers)
    for chunk in _pieces(chunks):
        yield from reader.feed(chunk)
        if reader.ended:
            break
    yield from reader.close()
    if reader.error is not None:
        raise reader.error


def parse(
    protocol: str,
    chunks: bytes | Iterable[bytes],
    *,
    provider: str | None = None,
    dialect: Dialect | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> AssistantMessage:
    """Turn the body of an answer, streamed or whole, into its message.

    Arguments as in `parse_events`. Raises the typed error, with `.partial`.
    """
    reader = _reader(protocol, provider, dialect, status, headers)
    for chunk in _pieces(chunks):
        reader.feed(chunk)
        if reader.ended:
            break
    reader.close()
    if reader.error is not None:
        raise reader.error
    if reader.message is None:
        raise TruncatedStream("the answer has no end")
    return reader.message


def _pieces(chunks: bytes | Iterable[bytes]) -> Iterable[bytes]:
    if isinstance(chunks, str):
        raise ConfigurationError("chunks must be bytes, or pieces of bytes, not text: encode it as UTF-8")
    return (bytes(chunks),) if isinstance(chunks, (bytes, bytearray, memoryview)) else chunks


def _reader(
    protocol: str, provider: str | None, dialect: Dialect | None, status: int, headers: Mapping[str, str] | None
) -> Reader:
    wire = wire_protocol(protocol)
    if dialect is None:
        dialect = _dialect_of(provider)
    context = ParseContext(origin=Origin(protocol, provider or "", ""), dialect=dialect)
    return Reader(wire, context, status=status, headers=headers)


def _dialect_of(provider: str | None) -> Dialect:
    try:
        return find_provider(provider).dialect if provider else Dialect()
    except UnknownModel:
        return Dialect()
