"""Replies and failures are values in the library's own words."""

from __future__ import annotations

import pytest

from thinkaloud.content import Text, Thinking, ToolCall
from thinkaloud.errors import RateLimited, StreamError
from thinkaloud.messages import StopReason
from thinkaloud.testing import Failure, Reply
from thinkaloud.usage import Usage

CALL = ToolCall("call_1", name="add", arguments_json='{"a": 1, "b": 22}')


def test_plain_text_is_one_text_block() -> None:
    assert Reply("Hello").content == (Text("Hello"),)


def test_text_and_blocks_may_be_mixed() -> None:
    assert Reply([Thinking("Hm."), "Hello"]).content == (Thinking("Hm."), Text("Hello"))


def test_one_block_stands_for_itself() -> None:
    assert Reply(CALL).content == (CALL,)


def test_what_is_no_block_is_refused() -> None:
    with pytest.raises(TypeError):
        Reply([1])  # type: ignore[list-item]


def test_an_answer_with_a_call_ends_for_its_tool() -> None:
    assert Reply([CALL]).stop_or_default is StopReason.TOOL_USE
    assert Reply("Hello").stop_or_default is StopReason.END
    assert Reply([CALL], stop="odd_word").stop_or_default == "odd_word"


def test_usage_is_counted_in_deltas_where_it_is_not_given() -> None:
    reply = Reply([Thinking("one two three"), "four five", CALL])
    assert reply.usage_or_counted == Usage(input=10, output=3 + 2 + 2, reasoning=3)
    assert Reply("one two").usage_or_counted == Usage(input=10, output=2)
    assert Reply("one", usage=Usage()).usage_or_counted == Usage()


def test_text_is_split_by_words_that_keep_their_space() -> None:
    assert Reply().pieces("The sky\n\nis  blue. ") == ["The", " sky", "\n\nis", "  blue.", " "]


def test_text_is_split_by_size_on_request() -> None:
    assert Reply(chunk_size=3).pieces("abcdefgh") == ["abc", "def", "gh"]


@pytest.mark.parametrize("text", ["", " ", "\n", "a", " a ", "a\u2028b c"])
def test_pieces_join_to_the_text(text: str) -> None:
    assert "".join(Reply().pieces(text)) == text
    assert all(Reply().pieces(text))


def test_a_reply_can_be_asked_for_a_failure() -> None:
    failure = Reply.failure(429, "slow down", headers={"Retry-After": "2"})
    assert failure == Failure(429, "slow down", headers={"retry-after": "2"})
    assert dict(failure.headers) == {"retry-after": "2"}


def test_a_failure_is_a_status_or_a_class_of_ours() -> None:
    Failure(RateLimited)
    with pytest.raises(TypeError, match="neither an HTTP error status nor"):
        Failure(200)
    with pytest.raises(TypeError, match="neither an HTTP error status nor"):
        Failure(StreamError)  # type: ignore[arg-type]
