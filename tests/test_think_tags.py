"""Thinking that stands between two tags in the text is parted from the answer, however the text is cut."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkaloud.wire.thinktags import Piece, ThinkTagSplitter


def split(*texts: str, open: str = "<think>", close: str = "</think>", implied_open: bool = False) -> list[Piece]:
    splitter = ThinkTagSplitter(open, close, implied_open=implied_open)
    pieces = [piece for text in texts for piece in splitter.feed(text)]
    return pieces + splitter.close()


def joined(pieces: list[Piece]) -> tuple[str, str]:
    return (
        "".join(text for kind, text in pieces if kind == "thinking"),
        "".join(text for kind, text in pieces if kind == "text"),
    )


def test_thinking_and_answer_are_parted() -> None:
    assert split("<think>why</think>so") == [("thinking", "why"), ("text", "so")]


def test_text_without_a_tag_is_text_at_once() -> None:
    splitter = ThinkTagSplitter("<think>", "</think>")
    assert splitter.feed("Hello") == [("text", "Hello")]
    assert splitter.feed(" <think>") == [("text", " <think>")]


def test_only_what_could_be_the_tag_is_held_back() -> None:
    splitter = ThinkTagSplitter("<think>", "</think>")
    assert splitter.feed("<thi") == []
    assert splitter.feed("nk>secret</thi") == [("thinking", "secret")]
    assert splitter.feed("s> is not it </thin") == [("thinking", "</this> is not it ")]
    assert splitter.feed("k>ANSWER") == [("text", "ANSWER")]


def test_a_beginning_that_turns_out_to_be_no_tag_is_text() -> None:
    assert joined(split("<thi", "s is text")) == ("", "<this is text")


def test_white_space_before_the_tag_is_dropped_and_before_text_it_is_kept() -> None:
    assert split("\n ", "\n<think>a</think>b") == [("thinking", "a"), ("text", "b")]
    assert joined(split("\n ", "\n", "b")) == ("", "\n \nb")


def test_one_line_end_after_the_opening_tag_and_two_after_the_closing_tag_belong_to_the_tags() -> None:
    assert joined(split("<think>\n\nwhy\n</think>\n\n\nso")) == ("\nwhy\n", "\nso")
    assert joined(split("<think>", "\n", "why</think>", "\n", "\n", "so")) == ("why", "so")


def test_a_tag_that_is_never_closed_makes_all_of_it_thinking() -> None:
    assert split("<think>why", " then</thi") == [("thinking", "why"), ("thinking", " then"), ("thinking", "</thi")]


def test_a_later_tag_is_what_the_model_talks_about() -> None:
    assert joined(split("Use <think> tags</think>.")) == ("", "Use <think> tags</think>.")
    assert joined(split("<think>a</think>b<think>c</think>")) == ("a", "b<think>c</think>")


def test_an_implied_opening_tag_starts_inside_thinking() -> None:
    assert split("why</think>so", implied_open=True) == [("thinking", "why"), ("text", "so")]
    assert joined(split(" \nwhy</think>so", implied_open=True)) == (" \nwhy", "so")


def test_an_opening_tag_that_is_written_all_the_same_is_dropped() -> None:
    assert joined(split("<th", "ink>why</think>so", implied_open=True)) == ("why", "so")


def test_with_an_implied_opening_tag_what_is_held_at_the_end_is_thinking() -> None:
    assert split(" <thin", implied_open=True) == [("thinking", " <thin")]


def test_nothing_at_all_gives_nothing() -> None:
    assert split() == []
    assert split("", "") == []
    assert split("<think></think>") == []


@pytest.mark.parametrize(
    ("open", "close"),
    [("<thought>", "</thought>"), ("◁think▷", "◁/think▷"), ("[THINK]", "[/THINK]"), ("<|a|>x", "<|end|>")],
)
def test_any_pair_of_tags_will_do(open: str, close: str) -> None:
    assert joined(split(f"{open}why{close}so", open=open, close=close)) == ("why", "so")


@given(
    text=st.text(alphabet="<>/think \nx", max_size=40) | st.just(" <think>\nab</thinx</think>\n\nc<think>"),
    cuts=st.lists(st.integers(0, 60), max_size=6),
    implied_open=st.booleans(),
)
def test_every_cut_gives_the_same_parts(text: str, cuts: list[int], implied_open: bool) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    texts = [text[start:end] for start, end in pairwise(places)]
    assert joined(split(*texts, implied_open=implied_open)) == joined(split(text, implied_open=implied_open))


def test_no_piece_is_empty() -> None:
    for text in ("<think>", "<think>\n", "<think>a</think>\n\n", "\n"):
        assert all(piece for _, piece in split(*text))


def test_a_long_text_takes_linear_time() -> None:
    def seconds(count: int) -> float:
        started = time.process_time()
        split("<think>", *[" <"] * count, "</think>", *["\n"] * count)
        split(*[" "] * count, *["<"] * count)
        return time.process_time() - started

    seconds(1000)
    assert seconds(40_000) < 100 * max(seconds(4_000), 1e-3)
