"""Markdown with styles on a terminal: what is shown is never taken back, and hardly anything is held."""

from __future__ import annotations

import pytest

from thinkaloud.cli.styled_markdown import StyledMarkdown


def shown(text: str, size: int = 10_000) -> list[tuple[str, str]]:
    """All pieces, neighbours of one style joined."""
    styled, joined = StyledMarkdown(), list[tuple[str, str]]()
    pieces = [piece for at in range(0, len(text), size) for piece in styled.feed(text[at : at + size])]
    for piece, style in [*pieces, *styled.finish()]:
        if joined and joined[-1][1] == style:
            joined[-1] = (joined[-1][0] + piece, style)
        else:
            joined.append((piece, style))
    return joined


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("plain", [("plain", "")]),
        ("a **b** c", [("a ", ""), ("b", "bold"), (" c", "")]),
        ("an *em*.", [("an ", ""), ("em", "italic"), (".", "")]),
        ("***both***", [("both", "bold italic")]),
        ("**a *b* c**", [("a ", "bold"), ("b", "bold italic"), (" c", "bold")]),
        ("run `x**2` now", [("run ", ""), ("x**2", "cyan"), (" now", "")]),
        ("``a ` b``", [("a ` b", "cyan")]),
        ("## Title\ntext", [("Title", "bold"), ("\ntext", "")]),
        ("- one\n  * two\n+ three", [("• one\n  • two\n• three", "")]),
        ("2 * 3 * 4, 2**64, a ** b", [("2 * 3 * 4, 2**64, a ** b", "")]),
        ("1. one", [("1. one", "")]),
        ("#hash", [("#hash", "")]),
        ("*never closed\n\nplain", [("never closed", "italic"), ("\n\nplain", "")]),
        ("```py\n**x**\n```\n**y**", [("```py", "dim"), ("\n", ""), ("**x**", "cyan"), ("\n", ""), ("```", "dim"),
                                     ("\n", ""), ("y", "bold")]),
        ("~~~\n```\n~~~\n*a*", [("~~~", "dim"), ("\n", ""), ("```", "cyan"), ("\n", ""), ("~~~", "dim"), ("\n", ""),
                                ("a", "italic")]),
        ("ends with *", [("ends with *", "")]),
        ("ends with `", [("ends with ", "")]),
        ("---", [("---", "")]),
        ("", []),
    ],
)  # fmt: skip
def test_marks_become_styles_however_the_text_is_cut(text: str, pieces: list[tuple[str, str]]) -> None:
    for size in (10_000, 1, 2, 3):
        assert [piece for piece in shown(text, size) if piece[0]] == pieces, size


def test_words_show_at_once() -> None:
    styled = StyledMarkdown()
    assert styled.feed("Blue ") == [("Blue ", "")]
    assert styled.feed("**light") == [("light", "bold")]
    assert styled.feed(" scatters") == [(" scatters", "bold")]


def test_only_an_open_mark_is_held_back() -> None:
    styled = StyledMarkdown()
    assert styled.feed("so *") == [("so ", "")]
    assert styled.feed("* x") == [("** x", "")]


def test_a_line_of_marks_alone_does_not_hold_back_forever() -> None:
    styled = StyledMarkdown()
    assert styled.feed("#" * 100) == [("#" * 100, "")]
