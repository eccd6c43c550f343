"""Google credentials: tokens from google-auth, which are refreshed off the event loop."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio.to_thread

from thinkaloud.auth.credentials import Credentials
from thinkaloud.auth.extras import require
from thinkaloud.auth.failures import failure_of
from thinkaloud.auth.shared import SharedRefresh
from thinkaloud.checked import items_of
from thinkaloud.errors import ConfigurationError, ThinkaloudError
from thinkaloud.wire.http import HttpRequest

_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
_FILE = "GOOGLE_APPLICATION_CREDENTIALS"
_LOOKED = (
    f"{_FILE}, the credentials of `gcloud auth application-default login`, and the metadata server of Google Cloud"
)


class GoogleAuth:
    """Credentials of Google Cloud, for Vertex AI (the extra `vertex`).

    credentials: a credentials object of google-auth.
    service_account: the key file of a service account, or its content as a mapping.
        With neither of the two: the application default credentials, looked for when the first request is sent.
    project, location: parts of the address; None: GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION, then the project of
        the service account.
    scopes: what a token is asked for.

    Tokens are kept and refreshed in a worker thread before they expire, once for all calls that wait. Raises
    ConfigurationError.
    """

    kinds = ("google",)

    def __init__(
        self,
        credentials: Any = None,
        *,
        service_account: str | Path | Mapping[str, Any] | None = None,
        project: str | None = None,
        location: str | None = None,
        scopes: Sequence[str] = _SCOPES,
    ) -> None:
        require("google.auth", "vertex", "a token of Google Cloud")
        if credentials is not None and service_account is not None:
            raise ConfigurationError("give credentials or service_account, not both")
        if credentials is not None and not (hasattr(credentials, "refresh") and hasattr(credentials, "apply")):
            raise ConfigurationError(f"credentials must be an object of google-auth, not {type(credentials).__name__}")
        if not isinstance(service_account, str | Path | Mapping | None):
            raise ConfigurationError("service_account must be the path of a key file, or its content as a mapping")
        self._given = credentials
        self._service_account = service_account
        self._project = project
        self._location = location
        self._scopes = (scopes,) if isinstance(scopes, str) else items_of("scopes", scopes)
        self._found: Any = None  # credentials of google-auth
        self._read_project: str | None = None
        self._project_read = False
        self._refreshing = threading.Lock()
        self._ready = SharedRefresh(self._make_ready)

    def __repr__(self) -> str:
        return f"GoogleAuth(project={self._project!r}, location={self._location!r})"

    def __reduce__(self) -> str:
        raise TypeError("Google credentials cannot be pickled")

    def parts(self) -> Mapping[str, str]:
        """Project and location as parts of the provider's address, where the environment does not name them itself.

        Without a given project the key file is read, once.
        """
        project = self._project
        if project is None and not os.environ.get("GOOGLE_CLOUD_PROJECT", "").strip():
            project = self._own_project()
        named = {"project": project, "location": self._location}
        return {name: value for name, value in named.items() if value}

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """The headers that hold the token, and the project that pays where the credentials name one.

        Raises MissingCredentials, AuthenticationError where no token can be had, ConnectFailed.
        """
        found = self._found
        if found is None or not _fresh(found):
            found = await self._ready()
        headers = Credentials()
        found.apply(headers)
        return Credentials({name.lower(): text for name, text in headers.items()})

    def _own_project(self) -> str | None:
        """The project of the credentials themselves."""
        if not self._project_read:
            self._read_project, self._project_read = self._look_for_project(), True
        return self._read_project

    def _look_for_project(self) -> str | None:
        if self._given is not None:
            project = getattr(self._given, "project_id", None)
        else:
            info = self._service_account or os.environ.get(_FILE)
            try:
                content = info if isinstance(info, Mapping) else _content(info) if info else {}
            except (OSError, ValueError):  # told when the credentials are looked for
                return None
            project = content.get("project_id")
        return project if isinstance(project, str) and project else None

    async def _make_ready(self) -> Any:
        return await anyio.to_thread.run_sync(self._refresh, abandon_on_cancel=True)

    def _refresh(self) -> Any:
        """Find the credentials, and get them a token where they have no fresh one."""
        failure: ThinkaloudError | None
        with self._refreshing:
            found = self._found
            try:
                if found is None:
                    found = self._credentials()
                if not _fresh(found):
                    found.refresh(import_module("google.auth.transport.requests").Request())
                self._found = found
                return found
            except Exception as error:
                if found is not None and found is self._found and _usable(found):
                    return found  # the token is about to expire, and still lets requests in
                failure = failure_of(error, looked=_LOOKED, variables=(_FILE,))
                if failure is None:
                    raise
        raise failure

    def _credentials(self) -> Any:
        given = self._given
        if given is None and self._service_account is not None:
            info = self._service_account
            if not isinstance(info, Mapping):
                try:
                    info = _content(info)
                except (OSError, ValueError) as error:
                    raise ConfigurationError(
                        f"service_account={str(self._service_account)!r} is no key file: {type(error).__name__}"
                    ) from None
            try:
                given = import_module("google.oauth2.service_account").Credentials.from_service_account_info(info)
            except ValueError as error:  # its text may quote the file
                raise ConfigurationError(f"service_account is no usable key: {type(error).__name__}") from None
        if given is None:
            return import_module("google.auth").default(scopes=self._scopes)[0]
        return import_module("google.auth.credentials").with_scopes_if_required(given, self._scopes)


def _content(path: str | Path) -> Mapping[str, Any]:
    content = json.loads(Path(path).read_bytes())
    if not isinstance(content, dict):
        raise ValueError("no JSON object")
    return content


def _fresh(found: Any) -> bool:
    return bool(found.token_state.name == "FRESH")  # and not about to expire


def _usable(found: Any) -> bool:
    return bool(found.token_state.name != "INVALID")
