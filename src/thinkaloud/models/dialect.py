"""How an endpoint deviates from the OpenAI chat protocol, as data: the same parser and encoder serve every row."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal, get_args, get_origin, get_type_hints

from attrs import frozen

from thinkaloud.errors import WrongValue, shown
from thinkaloud.levels import ThinkingLevel


@frozen
class ThinkTags:
    """Thinking that stands inline in the text, between two tags.

    implied_open: the opening tag is part of the prompt, so the text starts inside thinking.
    """

    open: str = "<think>"
    close: str = "</think>"
    implied_open: bool = False


@frozen(kw_only=True)
class Dialect:
    """One endpoint's way of speaking chat completions. The defaults suit an endpoint of which nothing is known.

    Reading
      reasoning_field: the delta field that holds thinking, looked at first; the other known names follow.
      think_tags: thinking stands inline between these tags; None where the endpoint has a field for it.
      lenient_end: the end of the body is a success even without finish reason and end marker.

    Writing
      system_role: role of the system text.
      max_tokens_field: name of the output limit.
      stream_usage: how usage is asked for in a stream: "stream_options", or None where it comes unasked.
      seed_field: name of the seed.
      top_k: the endpoint knows `top_k`.
      samples_thinking: temperature and top_p are taken while a model thinks.
      effort: how a thinking level is said: the shape of the request fields.
      levels: the levels that are sent to a model of which nothing is known; all, as they are asked, where the
        endpoint's own are not known either.
      thinking_fields: what a request must say besides, unless thinking is off, so that thinking comes and stays apart
        from the text; pairs of a name and a value.
      replay: whether thinking must, may or must not go back.
      replay_field: where it goes back; "content": as parts of it, "think_tags": in tags before the text, None: where it
        arrived.
      replay_turns: "all" answers, or only those of the open tool "loop", after the last user message.
      replay_blank: what stands for thinking that is not known, where a turn with calls is refused without any.
      after_results: what the model is made to say between the results of tools and a user's message, where the two in a
        row are refused.
      tool_id: rule for tool-call ids: "any", "openai" (at most 40 characters), "mistral" (nine letters or digits).
      cache_key: the endpoint knows `prompt_cache_key`.

    by_model: models that are spoken to otherwise: pairs of a pattern, searched for in the id in lower case, and the
      dialect that takes the place of this one. The first that is found counts.
    """

    reasoning_field: str | None = None
    think_tags: ThinkTags | None = None
    lenient_end: bool = False

    system_role: Literal["system", "developer"] = "system"
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: Literal["stream_options"] | None = "stream_options"
    seed_field: Literal["seed", "random_seed"] = "seed"
    top_k: bool = False
    samples_thinking: bool = True
    effort: Literal[
        "reasoning_effort", "openrouter", "deepseek", "zai", "moonshot", "qwen", "together", "groq", "template", "none"
    ] = "reasoning_effort"
    levels: tuple[ThinkingLevel, ...] = tuple(ThinkingLevel)
    thinking_fields: tuple[tuple[str, str | bool], ...] = ()
    replay: Literal["must", "may", "never"] = "may"
    replay_field: Literal["reasoning_content", "reasoning", "reasoning_details", "content", "think_tags"] | None = None
    replay_turns: Literal["all", "loop"] = "all"
    replay_blank: str | None = None
    after_results: str | None = None
    tool_id: Literal["any", "openai", "mistral"] = "any"
    cache_key: bool = False

    by_model: tuple[tuple[str, Dialect], ...] = ()

    def for_model(self, id: str) -> Dialect:
        """The dialect in which a model is spoken to."""
        id = id.lower()
        return next((dialect for pattern, dialect in self.by_model if re.search(pattern, id)), self)

    def __attrs_post_init__(self) -> None:
        """Raises WrongValue for levels and patterns that are none: an error in a call would come too late."""
        for field in ("levels", "thinking_fields", "by_model"):
            if not isinstance(getattr(self, field), tuple):
                raise WrongValue(f"Dialect.{field} must be a tuple, not {type(getattr(self, field)).__name__}")
        if not all(isinstance(level, ThinkingLevel) for level in self.levels):
            raise WrongValue("Dialect.levels must hold ThinkingLevels")
        if self.think_tags is not None and not isinstance(self.think_tags, ThinkTags):
            raise WrongValue(f"Dialect.think_tags must be ThinkTags, not {type(self.think_tags).__name__}")
        for name, words in _words().items():
            if getattr(self, name) not in words:
                known = ", ".join(map(str, words))
                raise WrongValue(f"Dialect.{name} must be one of {known}, not {shown(getattr(self, name))}")
        for place, pair in enumerate(self.by_model):
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Dialect)):
                raise WrongValue(f"Dialect.by_model[{place}] must be a pair of a pattern and a Dialect")
            check_pattern(f"Dialect.by_model[{place}]", pair[0])


@cache
def _words() -> Mapping[str, tuple[str | None, ...]]:
    """The fields of a Dialect that hold one of some words, with these words."""
    fields: dict[str, tuple[str | None, ...]] = {}
    for name, hint in get_type_hints(Dialect).items():
        choices = [hint, *get_args(hint)] if get_origin(hint) is not Literal else [hint]
        words = [word for choice in choices if get_origin(choice) is Literal for word in get_args(choice)]
        if words:
            fields[name] = (*words, None) if type(None) in choices else tuple(words)
    return fields


def check_pattern(name: str, pattern: object) -> None:
    """Raise WrongValue for what is no regular expression."""
    try:
        if not isinstance(pattern, str):
            raise WrongValue(f"{name} must be a regular expression, not {type(pattern).__name__}")
        re.compile(pattern)
    except re.error as error:
        raise WrongValue(f"{name}={shown(pattern)} is no regular expression: {error}") from None
