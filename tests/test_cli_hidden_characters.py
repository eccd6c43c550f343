"""What would turn a model's text around, or hide in it, does not reach a terminal; writing that needs joiners does."""

from __future__ import annotations

import pytest

from thinkaloud.cli.output import one_line, printable

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


@pytest.mark.parametrize(
    "code", [0x061C, 0x200E, 0x200F, 0x202A, 0x202D, 0x202E, 0x2066, 0x2069, 0x206A, 0x2028, 0xFFF9]
)
def test_what_turns_text_around_becomes_a_visible_sign(code: int) -> None:
    assert printable(f"rm {chr(code)}fr") == "rm \ufffdfr"


@pytest.mark.parametrize("code", [0x00AD, 0x180E, 0x200B, 0x2060, 0x2063, 0xFEFF, 0xE0001, 0xE0041, 0xE007F])
def test_what_nobody_can_see_goes_away(code: int) -> None:
    assert printable(f"pass{chr(code)}word") == "password"


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d", "\u200d\u200c"])
def test_a_joiner_between_plain_letters_goes_away(joiner: str) -> None:
    assert printable(f"pay{joiner}pal") == "paypal"


@pytest.mark.parametrize("text", [FAMILY, "می\u200cخواهم", "क्\u200dष", "שלום", "❤\ufe0f\u200d\U0001f525"])
def test_writing_that_needs_joiners_keeps_them(text: str) -> None:
    assert printable(text) == text


def test_a_joiner_at_the_start_of_a_piece_belongs_to_the_piece_before() -> None:
    assert printable("\u200d\U0001f469", before="\U0001f468") == "\u200d\U0001f469"
    assert printable("\u200dpal", before="y") == "pal"
    assert printable("\u200d", before="") == ""


def test_messages_of_errors_are_cleaned_too() -> None:
    assert one_line("key \u202esecret\u200b\n gone") == "key \ufffdsecret gone"
