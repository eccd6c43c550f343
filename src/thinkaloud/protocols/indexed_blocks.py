"""Blocks that are keyed by their index on the wire: which of them are open, and whether a call that ends is whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, Protocol, TypeVar

from thinkaloud.block_builder import BlockBuilder, OpenBlock
from thinkaloud.jsontext import is_json_object


class IndexedReader(Protocol):
    """What is asked of the reader of a block."""

    open: OpenBlock | None

    def settle(self, *, complete: bool) -> None:
        """Bring in what is still pending, before the block is closed."""


_Reader = TypeVar("_Reader", bound=IndexedReader)


class IndexedBlocks(Generic[_Reader]):
    """The blocks of one answer that are open.

    calls: the class whose readers read calls of the caller's tools.
    at: the readers by index.
    left_call: a call was left without its end, or has arguments that came where none was open.
    """

    def __init__(self, builder: BlockBuilder, calls: type[_Reader]) -> None:
        self.at: dict[int | None, _Reader] = {}
        self.left_call = False
        self._builder = builder
        self._calls = calls
        self._empty_calls: dict[int | None, OpenBlock] = {}  # stopped without arguments, and nothing came since
        self._strays: set[int | None] = set()  # indexes whose arguments came where no call was open

    def stop(self, index: int | None) -> None:
        """The wire stops a block: it is whole, unless arguments of a call have gone astray."""
        self._close(index, certain=index not in self._strays)

    def displace(self, index: int | None) -> None:
        """A block that was never stopped gives way. A call is whole then only if its arguments are."""
        self._close(index, certain=False)

    def stray(self, index: int | None) -> None:
        """Arguments came before the start of their call or after its stop: what it has may not be all of it."""
        self.left_call = True
        self._strays.add(index)
        self._empty_calls.pop(index, None)  # it stays open, and is closed as incomplete at the end

    def close_empty_calls(self) -> None:
        """Something else follows, or the end: calls that were stopped without arguments are whole."""
        if self._empty_calls:
            for call in self._empty_calls.values():
                self._builder.close(call)
            self._empty_calls.clear()

    def settle(self) -> None:
        """The answer ends: bring in what is still pending, and leave the closing to the builder."""
        for reader in self.at.values():
            reader.settle(complete=True)
        self.at.clear()

    def pending(self) -> list[Callable[[], None]]:
        """What brings in what is pending, for each block that is open, where the answer fails."""
        return [partial(reader.settle, complete=False) for reader in self.at.values()]

    def _close(self, index: int | None, *, certain: bool) -> None:
        reader = self.at.pop(index, None)
        if reader is None:
            return
        reader.settle(complete=True)
        block = reader.open
        if block is None:
            return
        if isinstance(reader, self._calls):
            self._strays.discard(index)
            if not certain and not is_json_object(str(block.fragments)):
                self.left_call = True
                return  # it stays open, and is closed as incomplete at the end
            if not block.fragments:
                self._empty_calls[index] = block
                return
        self._builder.close(block)
