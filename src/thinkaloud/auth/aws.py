"""AWS credentials: each request is signed (SigV4) with what botocore finds, which is refreshed off the event loop."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread

from thinkaloud.auth.credentials import Credentials
from thinkaloud.auth.extras import require
from thinkaloud.auth.failures import failure_of
from thinkaloud.auth.secret import Secret
from thinkaloud.auth.shared import SharedRefresh
from thinkaloud.errors import AuthenticationError, ConfigurationError, MissingCredentials, shown
from thinkaloud.wire.http import HttpRequest

_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_VARIABLES = ("AWS_BEARER_TOKEN_BEDROCK", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE")
_LOOKED = (
    "the environment (AWS_BEARER_TOKEN_BEDROCK, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), the profile "
    "(AWS_PROFILE; ~/.aws/config and ~/.aws/credentials: keys, roles, SSO, processes), web identity, container and "
    "instance roles"
)

# The host of an endpoint of Bedrock: what it is, and its region. Private endpoints have a label of their own in front.
_ENDPOINT = re.compile(r"(?:^|\.)(bedrock-runtime|bedrock-mantle)(?:-fips)?\.([a-z0-9-]+)\.")
# Names that signatures are made for, where they differ from the host's.
_SERVICES = {"bedrock-runtime": "bedrock"}


class AwsAuth:
    """Credentials of AWS, for Bedrock: given ones, or what botocore finds (the extra `bedrock`).

    profile: name of a profile of the AWS configuration; None: the environment's.
    region: such as "us-east-1"; None: the address's own, then AWS_REGION, AWS_DEFAULT_REGION, the profile's.
    access_key, secret_key, session_token: keys, in place of all looking.
    session: a session of botocore or boto3, in place of a profile.
    service: name that signatures are made for; None: the address tells it.

    Credentials are looked for when the first request is sent, kept, and refreshed in a worker thread before they
    expire, once for all calls that wait. Raises ConfigurationError.
    """

    kinds = ("aws",)

    def __init__(
        self,
        *,
        profile: str | None = None,
        region: str | None = None,
        access_key: str | None = None,
        secret_key: str | None = None,
        session_token: str | None = None,
        session: Any = None,
        service: str | None = None,
    ) -> None:
        keys = [None if key is None else Secret(key) for key in (access_key, secret_key, session_token)]
        del access_key, secret_key, session_token  # what a frame holds may be shown when something fails
        self._profile, self._region, self._keys = profile, region, keys if any(keys) else None
        require("botocore", "bedrock", "signing for AWS")
        if (keys[0] is None) != (keys[1] is None) or (keys[2] is not None and keys[0] is None):
            raise ConfigurationError("access_key and secret_key belong together, and session_token to both")
        if sum(given is not None for given in (profile, self._keys, session)) > 1:
            raise ConfigurationError("give one of profile, access_key with secret_key, and session")
        if session is not None and not callable(getattr(session, "get_credentials", None)):
            raise ConfigurationError(f"session must be one of botocore or boto3, not {type(session).__name__}")
        if region is not None and not (isinstance(region, str) and re.fullmatch("[a-z0-9-]+", region)):
            raise ConfigurationError(f"region={shown(region)} is no region; give one such as us-east-1")
        for name, value in (("profile", profile), ("service", service)):
            if value is not None and not (isinstance(value, str) and value):
                raise ConfigurationError(f"{name} must be a name, not {shown(value)}")
        self._session = session
        self._service = service
        self._found: Any = None  # credentials of botocore
        self._profile_region: str | None = None
        self._profile_read = False
        self._looking = threading.Lock()
        self._ready = SharedRefresh(self._make_ready)

    def __repr__(self) -> str:
        keys = "" if self._keys is None else ", access_key=***"
        return f"AwsAuth(profile={self._profile!r}, region={self._region!r}{keys})"

    def __reduce__(self) -> str:
        raise TypeError("AWS credentials cannot be pickled")

    def parts(self) -> Mapping[str, str]:
        """The region as part of the provider's address, where the environment does not name it itself.

        Without a given one the configuration files are read.
        """
        region = self._region or (None if _from_environment() else self._of_profile())
        return {"region": region} if region else {}

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """The headers that sign this request.

        Raises MissingCredentials, AuthenticationError where they cannot be refreshed, ConnectFailed.
        """
        found = self._found
        if found is None or (_refreshable(found) and found.refresh_needed()):
            await self._ready()
            found = self._found
        if _refreshable(found):  # whoever takes them out may have to refresh them, which blocks
            return await anyio.to_thread.run_sync(self._signed, request, abandon_on_cancel=True)
        return self._signed(request)

    async def _make_ready(self) -> None:
        await anyio.to_thread.run_sync(self._look, abandon_on_cancel=True)

    def _look(self) -> None:
        """Find the credentials, and refresh them where they need it."""
        failure: Exception
        with self._looking:
            try:
                found = self._found or self._credentials()
                if found is not None:
                    found.get_frozen_credentials()
                    self._of_profile()
                    self._found = found
                    return
                failure = MissingCredentials(
                    f"no AWS credentials were found; looked at {_LOOKED}", variables=_VARIABLES
                )
            except Exception as error:
                failure = _told(error)
        raise failure

    def _credentials(self) -> Any:
        if self._keys is not None:
            return import_module("botocore.credentials").Credentials(
                *(None if key is None else key.reveal() for key in self._keys)
            )
        return self._opened().get_credentials()

    def _of_profile(self) -> str | None:
        """The region that the session or its profile names; read once."""
        if not self._profile_read:
            self._profile_region, self._profile_read = _of_session(self._opened()), True
        return self._profile_region

    def _opened(self) -> Any:
        if self._session is None:
            self._session = import_module("botocore.session").Session(profile=self._profile)
        return self._session

    def _signed(self, request: HttpRequest) -> Credentials:
        parts = _ENDPOINT.search(urlsplit(request.url).hostname or "")
        service = self._service or (_SERVICES.get(parts[1], parts[1]) if parts else "bedrock")
        region = (parts[2] if parts else None) or self._region or _from_environment() or self._of_profile()
        if region is None:
            wanted = " or ".join(_REGIONS)
            raise ConfigurationError(f"signing for AWS needs a region: set {wanted}, or use AwsAuth(region=...)")
        sent = {
            name: text for name, text in request.headers.items() if name == "content-type" or name.startswith("x-amz")
        }
        signed = import_module("botocore.awsrequest").AWSRequest(
            method=request.method, url=request.url, data=request.body, headers=sent
        )
        failure: Exception
        try:
            _signer()(self._found.get_frozen_credentials(), service, region).add_auth(signed)
        except Exception as error:
            failure = _told(error)
        else:
            return Credentials(
                {name.lower(): text for name, text in signed.headers.items() if text != sent.get(name.lower())}
            )
        raise failure


@cache
def _signer() -> Any:
    library = import_module("botocore.auth")

    class Signer(library.SigV4Auth):  # type: ignore[misc, name-defined]
        """Signs as botocore does, without its debug log, which would show session tokens."""

        def add_auth(self, request: Any) -> None:
            request.context["timestamp"] = _now().strftime(library.SIGV4_TIMESTAMP)
            self._modify_request_before_signing(request)
            text = self.string_to_sign(request, self.canonical_request(request))
            self._inject_signature_to_request(request, self.signature(text, request))

    return Signer


def _now() -> datetime:
    return datetime.now(UTC)


def _refreshable(found: Any) -> bool:
    return hasattr(found, "refresh_needed")


def _from_environment() -> str | None:
    return next((region for name in _REGIONS if (region := os.environ.get(name, "").strip())), None)


def _of_session(session: Any) -> str | None:
    """The region that a profile names; boto3's sessions tell it by an attribute, botocore's by a variable."""
    if hasattr(session, "region_name"):
        region = session.region_name
    else:
        try:
            region = session.get_config_variable("region")
        except import_module(
            "botocore.exceptions"
        ).BotoCoreError:  # told when the credentials of the profile are looked for
            return None
    return region if isinstance(region, str) and region else None


def _told(error: Exception) -> Exception:
    """The error in our words; one that is none of AWS's stays as it is."""
    if isinstance(error, RuntimeError):  # what botocore raises where fresh credentials have expired already
        return AuthenticationError(f"the AWS credentials could not be refreshed ({error})")
    return failure_of(error, looked=_LOOKED, variables=_VARIABLES) or error
