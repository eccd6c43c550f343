"""Live reasoning for the browser: encoders from events to web protocols, responses, and histories from the browser.

`vercel`, `agui` and `sse` hold one protocol each: an Encoder without I/O, and what reads the browser's messages.
`EventResponse` streams through any ASGI server, `ByteStream` through a framework's own response, `LiveAnswer` to
readers who come and go. `MemoryStore` keeps what browsers do not get to see.
"""

from thinkaloud.ui import agui, sse, vercel
from thinkaloud.ui.answer_store import AnswerStore, MemoryStore
from thinkaloud.ui.byte_stream import ByteStream
from thinkaloud.ui.event_response import EventResponse
from thinkaloud.ui.failures import Failure, failure_of
from thinkaloud.ui.live_answer import LiveAnswer

__all__ = [
    "AnswerStore",
    "ByteStream",
    "EventResponse",
    "Failure",
    "LiveAnswer",
    "MemoryStore",
    "agui",
    "failure_of",
    "sse",
    "vercel",
]
