"""What comes before the first event: blanks, byte-order marks, and answers that are no stream."""

from __future__ import annotations

from itertools import pairwise

import pytest

import thinkaloud as ta

CHUNKS = (
    b'data: {"choices":[{"delta":{"reasoning_content":"think"}}]}\n\n'
    b'data: {"choices":[{"delta":{"content":"answer"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
WHOLE = b'{"choices":[{"message":{"content":"answer","reasoning_content":"think"},"finish_reason":"stop"}]}'
MARK = b"\xef\xbb\xbf"


@pytest.mark.parametrize("body", [CHUNKS, WHOLE], ids=["stream", "whole"])
@pytest.mark.parametrize("before", [b"", b" ", b"\n\n", MARK, b"\n" + MARK, MARK + b"\r\n", b"\n\n" + MARK + b" "])
def test_blanks_and_marks_before_an_answer_change_nothing_however_it_is_cut(before: bytes, body: bytes) -> None:
    raw = before + body
    for cut in range(len(before) + 8):
        message = ta.parse("openai-chat", [raw[:cut], raw[cut:]])
        assert (message.thinking, message.text) == ("think", "answer")
    single = [raw[start:end] for start, end in pairwise(range(len(raw) + 1))]
    assert ta.parse("openai-chat", single).text == "answer"


@pytest.mark.parametrize("before", [b"", b"\n", MARK])
def test_a_page_of_html_is_told_as_one(before: bytes) -> None:
    for cut in range(4):
        raw = before + b"<html>Sign in</html>"
        with pytest.raises(ta.MalformedStream, match="HTML"):
            ta.parse("openai-chat", [raw[:cut], raw[cut:]])


@pytest.mark.parametrize("body", [b"", b"\n\n", MARK, MARK[:2], b": comment\n\n"])
def test_nothing_is_a_truncated_stream(body: bytes) -> None:
    with pytest.raises(ta.TruncatedStream):
        ta.parse("openai-chat", [body])
