"""Headers that hold secrets, and show them to nobody."""

from __future__ import annotations


class Credentials(dict[str, str]):
    """Headers that hold a secret: they show their names alone, in tracebacks too."""

    def __repr__(self) -> str:
        return f"Credentials({', '.join(self)})"

    __str__ = __repr__
