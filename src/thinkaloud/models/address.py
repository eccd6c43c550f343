"""Where a provider is reached, and whether a key may be sent there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from attrs import field, frozen

from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.models.model import Model
from thinkaloud.models.provider import PLACEHOLDER, AddressPart, Form, Provider, Surface


@frozen
class Address:
    """An endpoint that may be called.

    url: what stands before the paths of the protocol.
    form: how requests differ there from the protocol's own.
    parts: what the user or the environment has named, such as project and location.
    unused: names of what the user has named, and the address has no place for.
    """

    url: str
    form: Form = "plain"
    parts: Mapping[str, str] = field(factory=dict)
    unused: tuple[str, ...] = ()


def _no_key(provider: Provider, first: bool) -> bool:
    return False


@frozen
class Entry:
    """What a client and its credentials say of addresses.

    parts: the parts of an address that the credentials know, such as their region.
    keyed: whether a provider gets a key that the user gave, and neither a token nor a key of the environment; the flag
        tells whether it is the provider that a call asks first.
    base_url: where models go that have no address of their own.
    """

    parts: Mapping[str, str] = field(factory=dict)
    keyed: Callable[[Provider, bool], bool] = _no_key
    base_url: str = ""


# What a user may name of an address, as `endpoint`: name, and what a value looks like.
PARTS: Mapping[str, str] = {
    "region": r"[a-z0-9-]+",
    "project": r"[a-zA-Z0-9:._-]+",
    "location": r"[a-z0-9-]+",
    "resource": r"[a-zA-Z0-9-]+",
    "account": r"[a-zA-Z0-9._-]+",
    "api_version": r"[a-zA-Z0-9.-]+",
}
_ANY_PART = r"[a-zA-Z0-9._-]+"


def find_address(
    given: str | None,
    model: Model,
    provider: Provider,
    *,
    endpoint: Mapping[str, str] | None = None,
    entry: Entry = Entry(),
    first: bool = True,
    allow_http: bool = False,
) -> Address:
    """Find the address: the given one, the model's, the client's, the environment's, or the provider's own.

    endpoint: the parts of the provider's address, by name; they win over what the credentials and the environment say.
    entry: what a client and its credentials say of it.
    first: whether it is the provider that a call asks first.
    allow_http: a key may be sent in clear text to another machine.

    Raises ConfigurationError for an address that cannot be used, or that would send a key in clear text.
    """
    protocol = model.protocol or provider.protocol
    surface = provider.surface(protocol) or Surface(protocol=protocol)
    parts = _Parts(provider, endpoint, entry.parts)
    url = given or model.base_url or entry.base_url or _from_environment(surface)
    if url:
        address = _checked(url, allow_http=allow_http or provider.allow_http)
        url = url.rstrip("/") + ("" if address.path.strip("/") else surface.base_path)
    elif surface.express_url is not None and _lets_in_alone(entry.keyed(provider, first), parts):
        url = surface.express_url
    elif surface.base_url is not None:
        url = PLACEHOLDER.sub(lambda found: parts.demand(found[1]), surface.base_url).rstrip("/")
        _checked(url, allow_http=allow_http or provider.allow_http)
    else:
        raise ConfigurationError(
            f"provider {provider.id!r} has no fixed address for {surface.protocol}; pass base_url="
        )
    for name in _NEEDED.get(surface.form, ()):
        parts.demand(name)
    for name in _TAKEN.get(surface.form, ()):
        parts.get(name)
    return Address(url, surface.form, parts if surface.form != "plain" else {}, parts.unused)


# What a form says in its requests, wherever they go, and what it says if it is named.
_NEEDED: Mapping[Form, tuple[str, ...]] = {"vertex-anthropic": ("project", "location")}
_TAKEN: Mapping[Form, tuple[str, ...]] = {"azure": ("api_version",)}


def _lets_in_alone(keyed: bool, parts: _Parts) -> bool:
    """Whether a key is all there is: a key that the user gives wins over a project that only the environment names."""
    if keyed and not parts.names("project", "location"):
        return True
    return parts.get("project") is None


def _google_host(parts: _Parts) -> str:
    """The host of Vertex AI at a location: one for all, one for each multi-region, or one for each region."""
    location = parts.demand("location")
    if location == "global":
        return "aiplatform.googleapis.com"
    return f"aiplatform.{location}.rep.googleapis.com" if location in ("us", "eu") else _regional(location)


def _regional(location: str) -> str:
    return f"{location}-aiplatform.googleapis.com"


# Parts that follow from others.
_DERIVED: Mapping[str, Callable[[_Parts], str]] = {"google_host": _google_host}


class _Parts(Mapping[str, str]):
    """The parts of a provider's addresses: as the user names them, else the environment, else as they mostly are."""

    def __init__(self, provider: Provider, endpoint: Mapping[str, str] | None, known: Mapping[str, str]) -> None:
        self._provider = provider
        self._known: dict[str, AddressPart] = {part.name: part for part in provider.parts}
        self._named = _named(endpoint, {*PARTS, *self._known})
        self._given = {**_named(known, {*PARTS, *self._known}), **self._named}
        self._used: set[str] = set()

    @property
    def unused(self) -> tuple[str, ...]:
        """What the user has named and nobody has asked for."""
        return tuple(name for name in self._named if name not in self._used)

    def names(self, *names: str) -> bool:
        """Whether the user, or the credentials, name one of these."""
        return any(self._given.get(name) for name in names)

    def __getitem__(self, name: str) -> str:
        self._used.add(name)
        if self._given.get(name):
            return self._given[name]
        part = self._known[name]
        for variable in part.variables:
            if value := os.environ.get(variable, "").strip():
                if not re.fullmatch(PARTS.get(name, _ANY_PART), value):
                    raise ConfigurationError(f"{variable}={shown(value)} is no {name}; {_example(name)}")
                return value
        if part.default is None:
            raise KeyError(name)
        return part.default

    def __iter__(self) -> Any:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def demand(self, name: str) -> str:
        """A part that an address cannot do without. Raises ConfigurationError, with the variables that may name it."""
        if name in _DERIVED:
            return _DERIVED[name](self)
        value = self.get(name)
        if value is not None:
            return value
        part = self._known.get(name, AddressPart(name=name))
        wanted = " or ".join(part.variables)
        how = f"set {wanted}, " if wanted else ""
        raise ConfigurationError(
            f'provider {self._provider.id!r} needs a {name}: {how}or pass endpoint={{"{name}": ...}} or base_url='
        )


def _example(name: str) -> str:
    return "set one such as us-east-1" if name in ("region", "location") else "it may hold letters, digits and dashes"


def _named(endpoint: Any, known: set[str]) -> Mapping[str, str]:
    if endpoint is None:
        return {}
    if not isinstance(endpoint, Mapping):
        raise ConfigurationError(f'endpoint must be a mapping such as {{"region": "us-east-1"}}, not {shown(endpoint)}')
    for name, value in endpoint.items():
        if name not in known:
            raise ConfigurationError(f"endpoint has {shown(name)}; an address is made of: {', '.join(sorted(known))}")
        if not isinstance(value, str) or not re.fullmatch(PARTS.get(name, _ANY_PART), value):
            raise ConfigurationError(f"endpoint[{shown(name)}]={shown(value)} is no {name}; {_example(name)}")
    return endpoint


def _from_environment(surface: Surface) -> str:
    """The address that the environment names. Hosts without a scheme are this machine's (seen at Ollama)."""
    found = os.environ.get(surface.base_url_variable, "").strip() if surface.base_url_variable else ""
    if not found or "://" in found:
        return found
    own = urlsplit(surface.base_url or "")
    if own.scheme != "http":
        return f"https://{found}"
    host, colon, port = found.partition(":")
    return f"http://{'127.0.0.1' if host in ('', '0.0.0.0') else host}:{port if colon else own.port}"


def _checked(url: Any, *, allow_http: bool) -> SplitResult:
    """Take an address apart. Raises ConfigurationError for one that cannot be used."""
    parts = None
    try:
        parts = urlsplit(url) if isinstance(url, str) and _CHARACTERS.fullmatch(url) else None
        usable = parts is not None and parts.scheme in ("http", "https") and parts.port != 0
        usable = usable and parts is not None and _is_host(parts.hostname or "")
    except ValueError:
        usable = False
    if parts is None or not usable:
        raise ConfigurationError("base_url must be an absolute http or https URL, such as https://api.example.com/v1")
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise ConfigurationError("base_url must have no user name, query or fragment; give a key as api_key=")
    if parts.scheme == "http" and not allow_http and not _is_loopback(parts.hostname or ""):
        raise ConfigurationError(
            f"base_url={url!r} must be https: plain http shows the key to everybody on the way, so it is for this "
            "machine only; allow_http=True allows it elsewhere"
        )
    return parts


_CHARACTERS = re.compile(r"[!-~]+")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")


def _is_host(host: str) -> bool:
    """Whether this is an IPv6 address, or a name of labels that a name server can be asked for."""
    if ":" in host:
        return True  # in brackets, which urlsplit has checked
    return len(host) <= 253 and all(_LABEL.fullmatch(label) for label in host.removesuffix(".").split("."))


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
