"""Where a provider is reached."""

from __future__ import annotations

import os
import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from thinkaloud.errors import ConfigurationError
from thinkaloud.models.model import Model
from thinkaloud.models.providers import Provider


def base_url(given: str | None, model: Model, provider: Provider) -> str:
    """Find the address: the given one, the model's, the environment's, or the provider's own, in this order.

    Raises ConfigurationError for an address that cannot be used, or that would send a key in clear text.
    """
    from_environment = os.environ.get(provider.base_url_variable, "") if provider.base_url_variable else ""
    url = given or model.base_url or from_environment or _in_region(provider)
    if not url:
        raise ConfigurationError(f"provider {provider.id!r} has no fixed address; pass base_url=")
    parts = None
    try:
        parts = urlsplit(url) if isinstance(url, str) and url.isascii() and url.isprintable() else None
        usable = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if parts is None or not usable:
        raise ConfigurationError("base_url must be an absolute http or https URL, such as https://api.example.com/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigurationError("base_url must have no user name, query or fragment; give a key as api_key=")
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise ConfigurationError(f"base_url={url!r} must be https; plain http is for this machine only")
    return url.rstrip("/")


def _in_region(provider: Provider) -> str | None:
    """The provider's own address, in the region that the environment names where it has one for each."""
    if provider.base_url is None or not provider.region_variables:
        return provider.base_url
    for variable in provider.region_variables:
        if region := os.environ.get(variable, "").strip():
            if not re.fullmatch("[a-z0-9-]+", region):
                raise ConfigurationError(f"{variable}={region!r} is no region; set one such as us-east-1")
            return provider.base_url.format(region=region)
    wanted = " or ".join(provider.region_variables)
    raise ConfigurationError(f"provider {provider.id!r} needs a region: set {wanted}, or pass base_url=")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
