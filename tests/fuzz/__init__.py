"""Throws damaged input at every decoder and parser: `python -m fuzz --minutes 10` inside `tests`; a little in CI."""
