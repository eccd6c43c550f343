"""A request as it came to a scripted model, for assertions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from attrs import field, frozen

from thinkaloud.jsontext import loads_exact

CREDENTIAL_HEADERS = frozenset(
    {"authorization", "x-api-key", "api-key", "x-goog-api-key", "x-amz-security-token", "proxy-authorization"}
)
"""Headers that carry secrets: kept apart, and out of every repr."""


@frozen(kw_only=True)
class RecordedRequest:
    """One request, as it was sent.

    url: absolute.
    headers: names in lower case, without credentials.
    credentials: the headers that carry secrets.
    body: the bytes as sent.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(factory=dict)
    credentials: Mapping[str, str] = field(factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)

    @property
    def path(self) -> str:
        """The path of the URL, without the query."""
        return urlsplit(self.url).path

    @property
    def json(self) -> Any:
        """The decoded body. Raises ValueError where it is not JSON."""
        return loads_exact(self.body)
