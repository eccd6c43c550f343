"""What a cloud's own library raises where it finds no credentials or cannot refresh them, in our words.

The libraries are told by the names of their classes, so that none of them is loaded for it.
"""

from __future__ import annotations

from thinkaloud.errors import AuthenticationError, ConnectFailed, MissingCredentials, ThinkaloudError
from thinkaloud.protocols.failures import shortened
from thinkaloud.wire.hiding import hidden

_Kind = type[MissingCredentials] | type[AuthenticationError] | type[ConnectFailed]

# (package, class) of the exception or of any class above it, the most exact first.
_KINDS: dict[tuple[str, str], _Kind] = {
    ("google", "DefaultCredentialsError"): MissingCredentials,
    ("google", "TransportError"): ConnectFailed,
    ("google", "GoogleAuthError"): AuthenticationError,
    ("azure", "CredentialUnavailableError"): MissingCredentials,
    ("azure", "ClientAuthenticationError"): AuthenticationError,
    ("azure", "ServiceRequestError"): ConnectFailed,
    ("botocore", "NoCredentialsError"): MissingCredentials,
    ("botocore", "PartialCredentialsError"): MissingCredentials,
    ("botocore", "ProfileNotFound"): MissingCredentials,
    ("botocore", "ConfigNotFound"): MissingCredentials,
    ("botocore", "ConfigParseError"): MissingCredentials,
    ("botocore", "ConnectionError"): ConnectFailed,
    ("botocore", "HTTPClientError"): ConnectFailed,
    ("botocore", "BotoCoreError"): AuthenticationError,
    ("botocore", "ClientError"): AuthenticationError,
}


def failure_of(error: Exception, *, looked: str = "", variables: tuple[str, ...] = ()) -> ThinkaloudError | None:
    """Put the error of a cloud's library in our words; None for one that is no matter of credentials.

    looked: where credentials were looked for.
    """
    kind = _kind(error)
    if kind is None:
        return None
    text = told(error)
    if kind is MissingCredentials:
        hint = f"; looked at {looked}" if looked else ""
        return MissingCredentials(f"no usable credentials were found ({text}){hint}", variables=variables)
    if kind is ConnectFailed:
        return ConnectFailed(f"the place that gives credentials cannot be reached ({text})")
    return AuthenticationError(f"the credentials could not be refreshed ({text})")


def told(error: Exception) -> str:
    """The kind of an error and what it says, in one line."""
    said = shortened(" ".join(str(hidden(str(error.args[0] if error.args else error))).split()))
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _kind(error: Exception) -> _Kind | None:
    for above in type(error).__mro__:
        if (kind := _KINDS.get((above.__module__.partition(".")[0], above.__name__))) is not None:
            return kind
    return None
