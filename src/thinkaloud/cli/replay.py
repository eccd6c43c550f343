"""`thinkaloud replay`: a captured answer through the parser, as its events or its message. How to report a bug."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from io import BufferedReader
from typing import Any, cast

from thinkaloud.cli.arguments import WrongUse, http_status
from thinkaloud.cli.output import Output, reason
from thinkaloud.errors import ProviderError, StreamError, UnknownModel
from thinkaloud.models.providers import find_provider
from thinkaloud.protocols.captured import parse, parse_events
from thinkaloud.protocols.registry import PROTOCOL_IDS

HELP = "run a captured answer through the parser and print its events or its message as JSON"
_PIECE = 64 * 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    ids = ", ".join(PROTOCOL_IDS)
    parser.add_argument("file", metavar="FILE", help="the body of the answer as it came; - for standard input")
    parser.add_argument("--protocol", required=True, choices=PROTOCOL_IDS, metavar="P", help=f"one of: {ids}")
    parser.add_argument("--provider", metavar="NAME", help="who answered; decides how a chat body is read")
    parser.add_argument("--status", type=http_status, default=200, metavar="N", help="the HTTP status of the answer")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--events", action="store_true", help="print the events, one JSON object a line (the default)")
    form.add_argument("--message", action="store_true", help="print the message; on a failure, what had arrived of it")


def run(arguments: argparse.Namespace) -> int:
    """Carry the command out."""
    from thinkaloud import codec

    _check_provider(arguments.provider)
    out = Output(sys.stdout)
    answer: dict[str, Any] = {"provider": arguments.provider, "status": arguments.status}
    with _opened(arguments.file) as file:
        if not arguments.message:
            for event in parse_events(arguments.protocol, _pieces(file), **answer):
                out.line(codec.dumps(event))
            return 0
        try:
            message = parse(arguments.protocol, _pieces(file), **answer)
        except (ProviderError, StreamError) as error:
            if error.partial is not None:
                out.line(codec.dumps(error.partial))
            raise
    out.line(codec.dumps(message))
    return 0


def _opened(path: str) -> BufferedReader:
    if path == "-":
        return cast(BufferedReader, sys.stdin.buffer)
    try:
        return open(path, "rb")
    except OSError as error:
        raise WrongUse(f"{path}: {reason(error)}") from None


def _pieces(file: BufferedReader) -> Iterator[bytes]:
    while piece := file.read1(_PIECE):
        yield piece


def _check_provider(name: str | None) -> None:
    """A provider without a row of its own is read by the protocol's defaults; a slip of the pen should show."""
    try:
        if name is not None:
            find_provider(name)
    except UnknownModel as error:
        Output(sys.stderr).line(f"note: {error}; read by the protocol's defaults")
