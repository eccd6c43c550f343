"""Tells a user which extra is missing, before anything is tried with it."""

from __future__ import annotations

from importlib.util import find_spec

from thinkaloud.errors import ConfigurationError


def installed(package: str) -> bool:
    """Whether a package could be imported; it is not imported for it."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # not even the package that it would be in
        return False


def require(package: str, extra: str, purpose: str) -> None:
    """Raise ConfigurationError, which names the extra, unless the package is installed."""
    if not installed(package):
        raise ConfigurationError(f"{purpose} needs {package}: pip install 'thinkaloud[{extra}]'")
