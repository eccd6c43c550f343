"""Certificates are verified unless the user's own HTTP client says otherwise, with a private authority as witness."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute
from anyio.streams.tls import TLSAttribute, TLSListener, TLSStream

import thinkaloud as ta
from support.raw_server import gone
from thinkaloud.transport.http import HttpTransport
from thinkaloud.transport.own_client import own_client

pytestmark = pytest.mark.anyio
x509: Any = pytest.importorskip("cryptography.x509")

BODY = b'data: {"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b" % (len(BODY), BODY)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A private authority, and a certificate of it for this machine."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    folder = tmp_path_factory.mktemp("tls")
    now = datetime.datetime.now(datetime.UTC)

    def certificate(name: str, key: Any, issuer: str, signer: Any, *extensions: tuple[Any, bool]) -> Any:
        def named(text: str) -> Any:
            return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])

        made = (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False)
        )
        for extension, critical in extensions:
            made = made.add_extension(extension, critical)
        return made.sign(signer, hashes.SHA256())

    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    root_key, leaf_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = certificate("root", root_key, "root", root_key, (x509.BasicConstraints(True, None), True), (usage, True))
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    leaf = certificate("leaf", leaf_key, "root", root_key, (names, False))
    form = serialization.Encoding.PEM
    plain = (form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "ca.pem").write_bytes(root.public_bytes(form))
    (folder / "server.pem").write_bytes(leaf.public_bytes(form) + leaf_key.private_bytes(*plain))
    return {"ca": folder / "ca.pem", "server": folder / "server.pem"}


@asynccontextmanager
async def secured(
    authority: dict[str, Path], *, torn: bool = False, more: bytes = b""
) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Serve one answer over TLS to each connection; the requests that came through are in the list.

    torn: before the end of the answer comes what is no TLS.
    more: a record that comes after the answer in the same packet; the connection stays open then.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority["server"])
    requests: list[bytes] = []

    async def answer(stream: TLSStream) -> None:
        async with stream:
            data = await stream.receive()
            while not data.endswith(b"}"):
                data += await stream.receive()
            requests.append(data)
            if more:
                stream.extra(TLSAttribute.ssl_object).write(ANSWER)
                await stream.send(more)
                await gone(stream)
                return
            await stream.send(ANSWER[: len(ANSWER) - 10 * torn])
            if torn:
                await stream.transport_stream.send(b"no record of TLS" * 4)

    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as plain:
        listener = TLSListener(plain, context, standard_compatible=False)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, answer)
            yield f"https://127.0.0.1:{plain.extra(SocketAttribute.local_port)}", requests
            tasks.cancel_scope.cancel()


async def test_a_certificate_that_nobody_vouches_for_gets_no_key(authority: dict[str, Path]) -> None:
    async with secured(authority) as (url, requests):
        async with ta.Client(api_key="test-key", base_url=url, retries=0) as client:
            with pytest.raises(ta.ConnectFailed, match=r"(?i)certificate"):
                await client.complete("deepseek/deepseek-v4-pro", "Hi")
        assert requests == []


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_a_private_authority_is_trusted_where_the_user_s_client_trusts_it(
    library: str, authority: dict[str, Path]
) -> None:
    pytest.importorskip(library)
    trusting = ssl.create_default_context(cafile=str(authority["ca"]))
    async with (
        secured(authority) as (url, requests),
        import_module(library).AsyncClient(verify=trusting) as http_client,
        ta.Client(api_key="test-key", base_url=url, http_client=http_client) as client,
    ):
        assert (await client.complete("deepseek/deepseek-v4-pro", "Hi")).text == "Hello"
    assert b"authorization: Bearer test-key" in requests[0].replace(b"Authorization", b"authorization")


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_a_client_of_the_user_s_verifies_by_default(library: str, authority: dict[str, Path]) -> None:
    pytest.importorskip(library)
    async with (
        secured(authority) as (url, requests),
        import_module(library).AsyncClient() as http_client,
        ta.Client(api_key="test-key", base_url=url, http_client=http_client, retries=0) as client,
    ):
        with pytest.raises(ta.ConnectFailed, match=r"(?i)certificate"):
            await client.complete("deepseek/deepseek-v4-pro", "Hi")
    assert requests == []


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("own", [False, True])
async def test_what_is_no_tls_in_the_middle_of_an_answer_breaks_the_connection(
    library: str, own: bool, authority: dict[str, Path]
) -> None:
    module = pytest.importorskip(library)
    trusting = ssl.create_default_context(cafile=str(authority["ca"]))
    http_client = own_client(module, trusting) if own else module.AsyncClient(verify=trusting)
    async with (
        secured(authority, torn=True) as (url, _),
        http_client,
        ta.Client(api_key="test-key", base_url=url, http_client=http_client, retries=0) as client,
    ):
        with pytest.raises(ta.ReadFailed, match="SSL") as caught:
            await client.complete("deepseek/deepseek-v4-pro", "Hi")
    assert caught.value.partial is not None
    assert caught.value.partial.text == "Hello"


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
async def test_a_record_after_the_end_of_an_answer_is_no_answer_to_the_next_request(
    library: str, authority: dict[str, Path]
) -> None:
    module = pytest.importorskip(library)
    trusting = ssl.create_default_context(cafile=str(authority["ca"]))
    async with (
        secured(authority, more=ANSWER.replace(b"Hello", b"Stale")) as (url, requests),
        own_client(module, trusting) as http_client,
        ta.Client(api_key="test-key", base_url=url, http_client=http_client, retries=0) as client,
    ):
        texts = [(await client.complete("deepseek/deepseek-v4-pro", "Hi")).text for _ in range(2)]
    assert texts == ["Hello", "Hello"]
    assert len(requests) == 2


def test_a_connection_of_ours_asks_for_a_certificate_and_the_host_s_name() -> None:
    from thinkaloud.transport import http

    context = http._tls_context()
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert context.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert isinstance(HttpTransport(), HttpTransport)
