"""Kinds of command-line values, and the complaint about a wrong one."""

from __future__ import annotations

import argparse


class WrongUse(Exception):
    """The command cannot be carried out as it was given. The text is one line for the user."""


def seconds(text: str) -> float:
    """A time that is not negative."""
    value = float(text)
    if not 0 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} must be seconds from 0 to 3600")
    return value


def port(text: str) -> int:
    """A TCP port; 0 for any free one."""
    value = int(text)
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} must be a port from 0 to 65535")
    return value


def http_status(text: str) -> int:
    """A final HTTP status."""
    value = int(text)
    if not 200 <= value <= 599:
        raise argparse.ArgumentTypeError(f"{text!r} must be an HTTP status from 200 to 599")
    return value
