"""Takes what looks like a credential out of all that is shown: header values by their names, texts by their form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "[hidden]"

# Providers quote the credential that they got; AWS the whole request that it would have signed, session token included.
_SECRET = re.compile(
    r"(?i)\b(?:sk-[\w-]{8,}|AIza[\w-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|ya29\.[\w.-]+|(?<=bearer )\S{8,}"
    r"|(?:gsk|xai|csk|nvapi|hf|pplx|tgp|fw|r8)[_-](?:v1[_-])?[a-z0-9_-]{20,}"
    r"|ABSK[\w+/=-]{16,}|bedrock-api-key-[\w+/=-]{16,}|(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*"
    r"|(?<=x-amz-security-token:)[^\s'\"\\]{8,}|(?<=x-amz-security-token: )[^\s'\"\\]{8,})"
)
_SECRET_NAME = re.compile(r"auth|key|token|secret|cookie|credential|signature", re.IGNORECASE)


def names_secret(header: str) -> bool:
    """Whether a header of this name holds a secret, or may."""
    return _SECRET_NAME.search(header) is not None


def shown_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers for people: the value of each that may hold a secret is ***."""
    return {name: "***" if names_secret(name) else hidden(value) for name, value in headers.items()}


def hidden(value: Any) -> Any:
    """A copy of a text or of decoded JSON in which nothing looks like a credential any more."""
    if isinstance(value, str):
        return _SECRET.sub(HIDDEN, value)
    if isinstance(value, list):
        return [hidden(item) for item in value]
    if isinstance(value, dict):
        return {hidden(name): hidden(item) for name, item in value.items()}
    return value


class Unshown(dict[str, Any]):
    """What may hold a secret: it shows its names alone, in tracebacks too."""

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: ***' for name in self)}}}"

    __str__ = __repr__


def cover(options: Any) -> None:
    """Let what is added to a request show its names alone among the arguments of a call.

    For the first line of a function that is handed them: what a frame holds may be shown when something fails.

    options: the keyword arguments, as a mapping of the function's own.
    """
    for name in ("extra_headers", "extra_body"):
        if isinstance(options.get(name), Mapping):
            options[name] = Unshown(options[name])
