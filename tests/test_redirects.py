"""Credentials stay with the host that they are for, even where the user's HTTP client follows redirects by itself."""

from __future__ import annotations

from importlib import import_module

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

import thinkaloud as ta
from thinkaloud.testing import serve

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_client_that_follows_redirects_is_kept_from_it(library: str, status: int) -> None:
    pytest.importorskip(library)
    module = import_module(library)
    asked = 0
    async with serve(["Hello"]) as elsewhere, module.AsyncClient(follow_redirects=True, verify=False) as http_client:
        moved = f"HTTP/1.1 {status} Moved\r\nlocation: {elsewhere.url}/chat/completions\r\ncontent-length: 0\r\n\r\n"

        async def redirect(stream: SocketStream) -> None:
            nonlocal asked
            async with stream:
                await stream.receive()
                asked += 1
                await stream.send(moved.encode())

        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, redirect)
            base_url = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
            async with ta.Client(api_key="secret-key", http_client=http_client, base_url=base_url) as client:
                with pytest.raises(ta.ConfigurationError, match=r"redirects to http://127\.0\.0\.1") as caught:
                    await client.complete("deepseek/deepseek-v4-pro", "Hi")
                assert "secret-key" not in str(caught.value)
            tasks.cancel_scope.cancel()
    assert asked == 1
    assert elsewhere.requests == []
