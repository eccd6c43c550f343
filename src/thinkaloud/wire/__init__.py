"""Framing: bytes to server events, and plain data for HTTP. Nothing here does I/O or knows a provider."""
