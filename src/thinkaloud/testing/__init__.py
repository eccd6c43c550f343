"""The test kit: a scripted model behind real wire bytes, in memory or on a loopback server, and ways to cut them."""

from thinkaloud.testing.chunking import cuts, event_ends, truncate
from thinkaloud.testing.delivery import Delivery
from thinkaloud.testing.demo import demo_script
from thinkaloud.testing.event_rules import check_event_rules
from thinkaloud.testing.memory import MemoryTransport
from thinkaloud.testing.recording_rules import conformance
from thinkaloud.testing.reply import Failure, NoAnswer, Reply, ScriptError
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.testing.scripted import Scripted
from thinkaloud.testing.server import Server, serve, serve_in_thread
from thinkaloud.testing.stalling import stall
from thinkaloud.testing.wires import encode_stream, encode_whole
from thinkaloud.transport.retry import no_backoff

__all__ = [
    "Delivery",
    "Failure",
    "MemoryTransport",
    "NoAnswer",
    "RecordedRequest",
    "Reply",
    "ScriptError",
    "Scripted",
    "Server",
    "check_event_rules",
    "conformance",
    "cuts",
    "demo_script",
    "encode_stream",
    "encode_whole",
    "event_ends",
    "no_backoff",
    "serve",
    "serve_in_thread",
    "stall",
    "truncate",
]
