"""One HTTP request as plain data, without credentials: what `prepare()` shows and a transport sends."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from thinkaloud.wire.hiding import shown_headers


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _shown(headers: Mapping[str, str]) -> str:
    return repr(shown_headers(headers))


@frozen
class HttpRequest:
    """A request that any HTTP stack can send.

    url: absolute.
    headers: names in lower case; credentials are added only when the request is sent.
    body: the encoded JSON.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(factory=dict, converter=_lowered, repr=_shown)
    body: bytes = field(default=b"", repr=False)
