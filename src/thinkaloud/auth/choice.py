"""Chooses what lets a call in: what was given, else what the environment holds, by the kind that the provider names."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256

from thinkaloud.auth.api_key import ApiKey, NoAuth
from thinkaloud.auth.aws import AwsAuth
from thinkaloud.auth.base import Auth
from thinkaloud.auth.extras import installed
from thinkaloud.auth.google import GoogleAuth
from thinkaloud.auth.secret import Secret
from thinkaloud.errors import ConfigurationError, MissingCredentials
from thinkaloud.models.providers import PROVIDERS, Provider


def find_auth(
    provider: Provider, key: ApiKey | None, *, auth: Auth | None = None, url: str = "", first: bool = True
) -> Auth:
    """Choose the credentials for a call: the given ones that fit its provider, else the environment's.

    auth: wins over the key, except at providers of another kind than its own.
    url: the address that will be called.
    first: whether it is the provider that a call asks first, or its address.

    Raises MissingCredentials, which names the variables that were looked at, and ConfigurationError where a token of
    Google Cloud has no project.
    """
    if auth is not None and fits(auth, provider, first=first):
        if isinstance(auth, GoogleAuth) and _EXPRESS.match(url):
            raise ConfigurationError(
                f"provider {provider.id!r} needs a project for a token of Google Cloud: set GOOGLE_CLOUD_PROJECT, or "
                "use GoogleAuth(project=...)"
            )
        return auth
    if key is not None:
        return key.in_header(provider.key_header)
    if provider.auth == "google" and "/projects/" in url:  # where a project is named, keys are not taken
        return _from_environment("google")
    for variable in provider.key_variables:
        if os.environ.get(variable, "").strip():
            return ApiKey(Secret(os.environ[variable]), provider.key_header)
    if not provider.key_required:
        return NoAuth()
    if provider.auth == "aws" and installed("botocore"):
        return _from_environment("aws")
    wanted = " or ".join(provider.key_variables)
    ways = [f"set the environment variable {wanted}"] if wanted else []
    given = "..." if first else f'{{"{provider.id}": ...}}'
    ways += [f"use Client(api_key={given})", *_OTHER_WAYS.get(provider.auth, ())]
    raise MissingCredentials(
        f"no key for provider {provider.id!r}: {', or '.join(ways)}", variables=provider.key_variables
    )


def fits(auth: Auth, provider: Provider, *, first: bool = True) -> bool:
    """Whether credentials are of the kind that a provider takes: a token of one cloud is never sent to another one.

    Credentials that name no kinds fit what is asked first, and every kind fits an endpoint of one's own.
    """
    kinds: tuple[str, ...] | None = getattr(auth, "kinds", None)
    if kinds is None:
        return first
    return provider.auth in kinds or provider.id not in PROVIDERS


# The address of Vertex AI that names no project; only keys are taken there.
_EXPRESS = re.compile(r"https://[^/]*aiplatform[^/]*\.googleapis\.com/[^/]+/publishers/")

_OTHER_WAYS = {
    "aws": ("pip install 'thinkaloud[bedrock]' for profiles, roles and SSO",),
    "google": ("name a project (GOOGLE_CLOUD_PROJECT) for a token of Google Cloud",),
    "azure": ("use Client(auth=BearerAuth(...)) with a token of Entra ID",),
}

# What the environment says of a cloud's credentials: variables whose names begin so.
_PREFIXES = {"aws": ("AWS_",), "google": ("GOOGLE_", "CLOUDSDK_")}
_MAKERS: Mapping[str, Callable[[], Auth]] = {"aws": AwsAuth, "google": GoogleAuth}


def _from_environment(kind: str) -> Auth:
    """The credentials of the environment, kept as long as it does not change: looking for them takes long."""
    said = sorted(item for item in os.environ.items() if item[0].startswith(_PREFIXES[kind]))
    return _kept(kind, sha256(repr(said).encode("utf-8", "surrogateescape")).hexdigest())


@lru_cache(maxsize=8)
def _kept(kind: str, environment: str) -> Auth:
    return _MAKERS[kind]()
