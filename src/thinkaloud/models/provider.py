"""What is said of a provider: who serves which protocols, where, with which key and in which dialect."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args

from attrs import fields, frozen

from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.models.dialect import Dialect, check_pattern

PROTOCOLS = ("anthropic-messages", "bedrock-converse", "gemini", "openai-chat", "openai-responses")

Form = Literal["plain", "azure", "vertex-anthropic"]
KeyHeader = Literal["bearer", "x-api-key", "api-key", "x-goog-api-key"]
AuthKind = Literal["key", "aws", "google", "azure"]


@frozen(kw_only=True)
class AddressPart:
    """A part of an address that every user has an own value of.

    name: what takes its place in the address: {name}.
    variables: environment variables that may hold it, first one first.
    default: the value where nobody names one; None: it must be named.
    """

    name: str
    variables: tuple[str, ...] = ()
    default: str | None = None


@frozen(kw_only=True)
class Surface:
    """How a provider serves one wire protocol.

    protocol: the wire protocol.
    base_url: where paths of the protocol are appended, with {parts}; None: the provider's address with all that
        belongs to it; where that is None too, the user must give it.
    base_path: what an address that the user gives without any path is followed by.
    base_url_variable: environment variable that may hold another base URL.
    express_url: the address where no project is named and a key is all there is.
    form: "plain" sends the protocol's own requests; the others say what a cloud changes in them.
    models: a pattern of the ids that are served on this surface where nobody names a protocol.
    """

    protocol: str
    base_url: str | None = None
    base_path: str = ""
    base_url_variable: str | None = None
    express_url: str | None = None
    form: Form = "plain"
    models: str | None = None


@frozen(kw_only=True)
class Provider:
    """One row: who serves models.

    id: the name before the slash in "provider/model".
    protocol: wire protocol of its models, unless a model is one of another surface.
    base_url, base_path, base_url_variable, express_url, form: of this protocol, as in Surface.
    surfaces: the other protocols that it serves.
    parts: what takes the place of {names} in its addresses.
    auth: kind of its credentials: "key", or a cloud's own, next to which keys are taken too.
    key_variables: environment variables that may hold the key, first one first; empty: no key is needed.
    key_header: how the key is sent: "bearer" or the name of a header.
    key_required: a call without a key is refused.
    allow_http: plain http is allowed to hosts other than this machine.
    dialect: its way of speaking chat completions.
    """

    id: str
    protocol: str
    base_url: str | None = None
    base_path: str = ""
    base_url_variable: str | None = None
    express_url: str | None = None
    form: Form = "plain"
    surfaces: tuple[Surface, ...] = ()
    parts: tuple[AddressPart, ...] = ()
    auth: AuthKind = "key"
    key_variables: tuple[str, ...] = ()
    key_header: KeyHeader = "bearer"
    key_required: bool = True
    allow_http: bool = False
    dialect: Dialect = Dialect()

    @property
    def protocols(self) -> tuple[str, ...]:
        """All wire protocols that it serves, its own first."""
        return (self.protocol, *(surface.protocol for surface in self.surfaces))

    def protocol_of(self, model_id: str) -> str:
        """The wire protocol of a model, as far as its id tells."""
        id = model_id.lower()
        found = (other.protocol for other in self.surfaces if other.models and re.search(other.models, id))
        return next(found, self.protocol)

    def surface(self, protocol: str) -> Surface | None:
        """How a protocol is served; None where nothing is known of it."""
        other = next((surface for surface in self.surfaces if surface.protocol == protocol), None)
        if other is not None and other.base_url is not None:
            return other
        if other is None and protocol != self.protocol:
            return None
        return Surface(
            protocol=protocol,
            base_url=self.base_url,
            base_path=self.base_path,
            base_url_variable=self.base_url_variable,
            express_url=self.express_url,
            form=self.form,
        )


def check_provider(provider: Provider) -> None:
    """Raise ConfigurationError for a row that cannot work, with the field that is wrong."""
    if not isinstance(provider, Provider):
        raise ConfigurationError(f"a provider must be a Provider, not {type(provider).__name__}")
    _check_types(provider)
    if not provider.id or "/" in provider.id or not provider.id.isprintable():
        raise ConfigurationError(f"id={shown(provider.id)} must be a name without a slash")
    for protocol in provider.protocols:
        if protocol not in PROTOCOLS:
            raise ConfigurationError(f"protocol={shown(protocol)} is unknown; use one of: {', '.join(PROTOCOLS)}")
    if provider.dialect.levels != tuple(sorted(set(provider.dialect.levels))):
        raise ConfigurationError("dialect.levels must go from the lowest to the highest, each once")
    for place, surface in enumerate(provider.surfaces):
        check_pattern(f"surfaces[{place}].models", surface.models or "")
    _check_addresses(provider)


_WORDS = {"form": get_args(Form), "auth": get_args(AuthKind), "key_header": get_args(KeyHeader)}
_HOLD = {"surfaces": Surface, "parts": AddressPart, "key_variables": str, "variables": str}
_NOT_TEXTS = {"key_required": bool, "allow_http": bool, "dialect": Dialect}
_FREE = ("default", "base_url", "base_url_variable", "express_url", "models")  # may be None


def _check_types(row: Any, path: str = "") -> None:
    """Refuse what a field cannot hold: a row that is wrong would fail in a call, far from here."""
    for name in (field.name for field in fields(type(row))):
        value, here = getattr(row, name), f"{path}{name}"
        if name in _HOLD:
            if not isinstance(value, tuple) or not all(isinstance(item, _HOLD[name]) for item in value):
                raise ConfigurationError(f"{here} must be a tuple of {_HOLD[name].__name__}, not {shown(value)}")
            for place, item in enumerate(value):
                if isinstance(item, str):
                    _check_text(f"{here}[{place}]", item)
                else:
                    _check_types(item, f"{here}[{place}].")
        elif name in _NOT_TEXTS:
            if not isinstance(value, _NOT_TEXTS[name]):
                raise ConfigurationError(f"{here} must be {_NOT_TEXTS[name].__name__}, not {shown(value)}")
        elif value is not None or name not in _FREE:
            _check_text(here, value)
            if name in _WORDS and value not in _WORDS[name]:
                raise ConfigurationError(f"{here}={shown(value)} must be one of: {', '.join(_WORDS[name])}")


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str) or "\0" in value or not value.isprintable():
        raise ConfigurationError(f"{name} must be a printable text, not {shown(value)}")


PLACEHOLDER = re.compile(r"\{(\w*)\}")

DERIVED = ("google_host",)
"""Parts of addresses that follow from others."""


def _check_addresses(provider: Provider) -> None:
    known = {*DERIVED, *(part.name for part in provider.parts)}
    for address in (provider.base_url, *(surface.base_url for surface in provider.surfaces)):
        for name in PLACEHOLDER.findall(address or ""):
            if name not in known:
                raise ConfigurationError(f"base_url={address!r} has {{{name}}}, which no part of the address is named")
