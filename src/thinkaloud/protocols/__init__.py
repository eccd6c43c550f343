"""The wire protocols: one folder each, with the same four files (options, encode, parse, errors).

Pure functions and small state machines: usable without this library's HTTP, in a gateway or a test.
"""
