"""Read a captured answer: bytes from a file, a gateway or a test, without any I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from thinkaloud.errors import ConfigurationError, TruncatedStream, shown
from thinkaloud.events import StreamEvent
from thinkaloud.messages import AssistantMessage, Origin
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.providers import PROVIDERS, provider_id
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
    if isinstance(chunks, (bytes, bytearray, memoryview)):
        return (bytes(chunks),)
    if not isinstance(chunks, Iterable):
        raise ConfigurationError(f"chunks must be bytes, or pieces of bytes, not {type(chunks).__name__}")
    return map(_piece, chunks)


def _piece(chunk: Any) -> bytes:
    if not isinstance(chunk, (bytes, bytearray, memoryview)):
        raise ConfigurationError(f"chunks must be bytes, or pieces of bytes, not of {type(chunk).__name__}")
    return bytes(chunk)


def _reader(
    protocol: str, provider: str | None, dialect: Dialect | None, status: int, headers: Mapping[str, str] | None
) -> Reader:
    wire = wire_protocol(protocol)
    if provider is not None and not isinstance(provider, str):
        raise ConfigurationError(f"provider must be the id of one, not {type(provider).__name__}")
    if dialect is None:
        dialect = _dialect_of(provider)
    elif not isinstance(dialect, Dialect):
        raise ConfigurationError(f"dialect must be a Dialect, not {type(dialect).__name__}")
    if not isinstance(status, int) or isinstance(status, bool):
        raise ConfigurationError(f"status must be a status of HTTP, such as 200, not {shown(status)}")
    if headers is not None and not (isinstance(headers, Mapping) and all(_are_texts(pair) for pair in headers.items())):
        raise ConfigurationError("headers must be a mapping of names to texts")
    context = ParseContext(origin=Origin(protocol, provider or "", ""), dialect=dialect)
    return Reader(wire, context, status=status, headers=headers)


def _are_texts(pair: tuple[Any, Any]) -> bool:
    return all(isinstance(part, str) for part in pair)


def _dialect_of(provider: str | None) -> Dialect:
    row = PROVIDERS.get(provider_id(provider)) if provider else None
    return Dialect() if row is None else row.dialect
