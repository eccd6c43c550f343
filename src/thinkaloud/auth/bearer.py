"""Tokens that go in `Authorization: Bearer` whatever header the provider's keys go in: Entra ID, OAuth, gateways."""

from __future__ import annotations

from collections.abc import Mapping

from thinkaloud.auth.api_key import Key
from thinkaloud.auth.asking import ask_for_secret
from thinkaloud.auth.credentials import Credentials
from thinkaloud.auth.secret import Secret, covered
from thinkaloud.auth.shared import SharedRefresh
from thinkaloud.wire.http import HttpRequest


class BearerAuth:
    """A token, or a callable (plain or async) that gives a valid one, for any provider.

    A callable is asked before every attempt and should keep a token while it is valid; calls that ask at the same time
    share one answer, and a plain callable runs off the event loop. For Azure with Entra ID, the providers of
    azure-identity fit, the plain ones and those of its `aio`:

        Client(auth=BearerAuth(get_bearer_token_provider(credential, "https://cognitiveservices.azure.com/.default")))

    Raises ConfigurationError for what is no token.
    """

    __slots__ = ("_asked", "_token")

    def __init__(self, token: Key) -> None:
        given = covered(token)
        del token
        self._token = given.checked("token") if isinstance(given, Secret) else given
        self._asked = SharedRefresh(self._ask)

    def __repr__(self) -> str:
        return "BearerAuth(***)"

    def __reduce__(self) -> str:
        raise TypeError("a token cannot be pickled")

    async def headers(self, request: HttpRequest) -> Mapping[str, str]:
        """The Authorization header. Raises AuthenticationError, MissingCredentials, ConnectFailed."""
        if isinstance(self._token, Secret):
            return Credentials({"authorization": f"Bearer {self._token.reveal()}"})
        return await self._asked()

    async def _ask(self) -> Credentials:
        assert not isinstance(self._token, Secret)
        token = (await ask_for_secret(self._token, "token")).checked("token")
        return Credentials({"authorization": f"Bearer {token.reveal()}"})
