"""The script of the demonstration: a puzzle, thought through aloud, that ends in a tool call."""

from __future__ import annotations

from typing import Any

from thinkaloud import jsontext
from thinkaloud.content import Thinking, ToolCall
from thinkaloud.testing.delivery import Delivery
from thinkaloud.testing.reply import Reply
from thinkaloud.testing.request import RecordedRequest
from thinkaloud.testing.scripted import Scripted
from thinkaloud.testing.wires import encoder_at
from thinkaloud.usage import Usage

DEMO_MODEL = "ponder-1"

DEMO_PROMPT = "A tower clock needs six seconds to strike four. How long does it need to strike eight?"

_THINKING = """\
Twice as many strokes, so twice the time: twelve seconds? That feels too easy. What takes the time here? Not the \
strokes, they are over at once. It is the waiting between them. Four strokes have three gaps, and three gaps take six \
seconds, so one gap takes two. Eight strokes have seven gaps, and seven times two is fourteen. So not twelve."""

_ANSWER = """\
**Fourteen seconds.** The clock spends its time in the gaps between strokes: four strokes have three gaps of two \
seconds each, and eight strokes have seven. If you like, I ring the bell and you count along."""

_AFTER_THE_BELL = "Did you count along? Eight strokes, seven gaps, and the last one fades after fourteen seconds."

_SIGNATURE = "dGhlIGdhcHMsIG5vdCB0aGUgc3Ryb2tlcw=="

_CALL = ToolCall("call_ring_1", name="ring_bell", arguments_json=jsontext.dumps({"strokes": 8, "seconds_between": 2.0}))


def demo_reply(request: RecordedRequest) -> Reply:
    """What the demonstration answers: the puzzle's solution, and after the tool's result a closing word."""
    if _ends_in_a_result(request.json):
        return Reply(_AFTER_THE_BELL, usage=Usage(input=187, output=21, cache_read=0))
    encoder = encoder_at(request.path)
    signs = encoder is not None and encoder.signs_thinking
    thinking = Thinking(_THINKING, signature=_SIGNATURE if signs else None)
    return Reply([thinking, _ANSWER, _CALL], usage=Usage(input=34, output=159, reasoning=86, cache_read=0))


def demo_script(*, pace: float = 0.0, verify_signatures: bool = False) -> Scripted:
    """The demonstration's model: it gives the same answer as often as it is asked, `pace` seconds between deltas.

    verify_signatures: as in Scripted.
    """
    delivery = Delivery(pace=pace)
    return Scripted([demo_reply], repeat_last=True, delivery=delivery, verify_signatures=verify_signatures)


def _ends_in_a_result(body: Any) -> bool:
    """Whether the last message of a request is the result of a tool, on any of the wires."""
    messages = body.get("messages") or body.get("input") or body.get("contents")
    last = messages[-1] if isinstance(messages, list) else {}
    content = last.get("content", last.get("parts"))
    parts = content if isinstance(content, list) else []
    return (
        last.get("role") == "tool"
        or last.get("type") == "function_call_output"
        or any(part.get("type") == "tool_result" or part.keys() & _RESULTS for part in parts)
    )


# What holds a result among the parts of a message, at Bedrock and at Gemini.
_RESULTS = {"toolResult", "functionResponse"}
