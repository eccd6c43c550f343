"""Breaks lines at spaces while text comes in pieces, so that no word is torn at the edge of a terminal."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\n|[^\S\n]+|\S+")


class LineBreaks:
    """Fits text into lines of `width` characters. Only a word longer than a line goes over the edge."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._column = 0
        self._spaces = ""  # between the last word and the next one, which decides what becomes of them

    def fit(self, text: str) -> str:
        """Give the text with line breaks in place of spaces where a word would not fit."""
        fitted: list[str] = []
        for token in _TOKEN.findall(text):
            if token == "\n":
                self._column, self._spaces = 0, ""
            elif token.isspace():
                self._spaces += token
                continue
            elif self._spaces and self._column + len(self._spaces) + len(token) > self._width:
                self._column, self._spaces = len(token), ""
                token = "\n" + token
            else:
                token, self._spaces = self._spaces + token, ""
                self._column += len(token)
            fitted.append(token)
        return "".join(fitted)
