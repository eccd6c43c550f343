"""A scripted model for `--local`: it thinks, calls tools and answers at a human pace, and checks what comes back."""

from __future__ import annotations

from thinkaloud import Text, Thinking, ToolCall
from thinkaloud.testing import Delivery, RecordedRequest, Reply, Scripted

RACE = [
    Reply(
        [
            Thinking.signed(
                "Both numbers have about thirty digits, so a glance is not enough. Logarithms will do: log10(2) is "
                "0.30103, and a hundred times that is 30.103. log10(3) is 0.47712, and sixty-three times that is "
                "30.0586.\n\nSo 2^100 is ahead, by a factor of ten to the 0.0444, which is about 1.108. That is close "
                "enough for a slip in the last digit of a logarithm to matter. The exact numbers are cheap to get, "
                "and more convincing than an estimate. I will compute both.",
                "c2NyaXB0ZWQtcmFjZS0x",
            ),
            Text("The two are close, so I compute both exactly."),
            ToolCall.of("call_power_1", "calculate", {"expression": "2**100"}),
            ToolCall.of("call_power_2", "calculate", {"expression": "3**63"}),
        ]
    ),
    Reply(
        [
            Thinking.signed(
                "Thirty-one digits each. 1267… against 1144…, so the estimate holds: the first is larger by a bit "
                "less than eleven percent.",
                "c2NyaXB0ZWQtcmFjZS0y",
            ),
            Text(
                "**2^100 is larger**, by almost eleven percent.\n\n"
                "| Number | Exact value | Digits |\n"
                "| --- | --- | ---: |\n"
                "| 2^100 | `1267650600228229401496703205376` | 31 |\n"
                "| 3^63 | `1144561273430837494885949696427` | 31 |\n\n"
                "You can see it coming without the digits:\n\n"
                "1. 100 × log₁₀ 2 ≈ 30.103\n"
                "2. 63 × log₁₀ 3 ≈ 30.059\n\n"
                "The difference of 0.044 is a factor of about 1.1."
            ),
        ]
    ),
]

CLOCK = [
    Reply(
        [
            Thinking.signed(
                "Twice as many strokes, so twice the time: twelve seconds? That feels too easy. What takes the time "
                "here? Not the strokes, they are over at once. It is the waiting between them.\n\nFour strokes have "
                "three gaps, and three gaps take six seconds, so one gap takes two. Eight strokes have seven gaps, "
                "and seven times two is fourteen. So not twelve.",
                "c2NyaXB0ZWQtY2xvY2s=",
            ),
            Text(
                "**Fourteen seconds.**\n\nThe time passes *between* the strokes, not in them:\n\n"
                "- four strokes have **three** gaps, so each gap takes 6 ÷ 3 = 2 seconds\n"
                "- eight strokes have **seven** gaps, and 7 × 2 = 14 seconds\n\n"
                "> Twice the strokes are not twice the gaps."
            ),
        ]
    )
]

CODE = [
    Reply(
        [
            Thinking.signed(
                "Every fourth year, but not every hundredth, yet every four-hundredth. The order of the checks matters "
                "for reading more than for the result. 1900 was none, 2000 was one: these make good examples.",
                "c2NyaXB0ZWQtY29kZQ==",
            ),
            Text(
                "A year is a leap year if it divides by 4, unless it divides by 100 and not by 400:\n\n"
                "```python\n"
                "def is_leap_year(year: int) -> bool:\n"
                '    """Whether February has 29 days, by the Gregorian calendar."""\n'
                "    if year % 100 == 0:\n"
                "        return year % 400 == 0\n"
                "    return year % 4 == 0\n"
                "```\n\n"
                "`is_leap_year(1900)` is `False`, and `is_leap_year(2000)` is `True`. "
                "The standard library has it as [`calendar.isleap`](https://docs.python.org/3/library/calendar.html)."
            ),
        ]
    )
]

OTHER = [
    Reply(
        [
            Thinking.signed(
                "This is not one of the questions in my script. I had better say so, instead of making something up.",
                "c2NyaXB0ZWQtb3RoZXI=",
            ),
            Text(
                "I am a script, so I cannot answer that. Ask one of the three questions that a new chat suggests, or "
                "start the server with a real model:\n\n"
                "```sh\npython examples/web_chat anthropic/claude-opus-5\n```"
            ),
        ]
    )
]

ANSWERS = {"Which is larger, 2^100": RACE, "strike eight?": CLOCK, "is a leap year.": CODE}
# What the model's messages and the results of its tools are called on the wires.
_ANSWERED = ('"role":"assistant"', '"role":"model"')
_RESULTS = ('"tool_result"', '"function_call_output"', '"functionResponse"', '"role":"tool"')


def reply(request: RecordedRequest) -> Reply:
    """Answer what was said last, on any wire; after the results of its tools, with the next step."""
    body = request.body.decode()
    question = max(ANSWERS, key=body.rfind)
    spoken = max(body.rfind(role) for role in _ANSWERED)
    answered = any(body.rfind(result) > spoken for result in _RESULTS)
    if (not answered and body.rfind(question) < spoken) or question not in body:
        return OTHER[0]
    steps = ANSWERS[question]
    return steps[min(int(answered), len(steps) - 1)]


def scripted_model(*, pace: float = 0.045) -> Scripted:
    """The model. It refuses thinking that does not come back as it was, as a provider does."""
    return Scripted([reply], repeat_last=True, delivery=Delivery(pace=pace, head=0.4), verify_signatures=True)
