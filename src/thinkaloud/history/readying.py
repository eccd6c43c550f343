"""A history made ready for a model: shortened by processors, checked, and switched. All before any network call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from attrs import evolve

from thinkaloud.errors import ConfigurationError, HistoryError, StaleThinking, shown
from thinkaloud.history.binding import Prefixes, is_bound, prefixes
from thinkaloud.history.decisions import SwitchPolicy
from thinkaloud.history.processors import processed
from thinkaloud.history.switching import Switched, for_target, without_seals
from thinkaloud.history.validation import validate
from thinkaloud.messages import Conversation
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model
from thinkaloud.models.signing import binds_prefix
from thinkaloud.notices import Issue, Notice
from thinkaloud.protocols.base import Amended, Call
from thinkaloud.tools import ServerTool, Tool

OnStale = Literal["send", "error", "drop"]

STALE_DROPPED = "stale_thinking_dropped"

_ON_STALE = ("send", "error", "drop")
_CHANGED = "the system text, the tools or earlier messages have changed since this thinking was made"
_MEND = 'restore them, or use on_stale="drop"'


def ready(
    conversation: Conversation,
    model: Model,
    *,
    dialect: Dialect,
    tools: Sequence[Tool | ServerTool],
    processors: Any = None,
    switch: SwitchPolicy | None = None,
    on_stale: OnStale | None = None,
) -> Switched:
    """Give what is sent of a history, with the notices and the digest of it. model: its protocol is known.

    Raises ConfigurationError for arguments that cannot work, HistoryError for a history that cannot be sent.
    """
    if switch is not None and not isinstance(switch, SwitchPolicy):
        raise ConfigurationError(f"switch must be SwitchPolicy(...), not {type(switch).__name__}")
    if on_stale is not None and on_stale not in _ON_STALE:
        raise ConfigurationError(f"on_stale={shown(on_stale)} must be one of: {', '.join(_ON_STALE)}, or None")
    policy = switch or SwitchPolicy()
    conversation, shortened = _processed(conversation, processors)
    before = _prefixes(conversation, tools)
    stale = _stale(conversation, before, model)
    issues = validate(conversation, model, orphans=policy.orphans)
    if on_stale == "error":
        issues = (*issues, *(Issue(notice.code, notice.path, f"{_CHANGED}; {_MEND}") for notice in stale))
    if issues:
        listed = "; ".join(f"{issue.path}: {issue.text}" for issue in issues)
        raise HistoryError(f"the history cannot be sent: {listed}", issues=issues)
    switched = for_target(conversation.messages, model, dialect=dialect, policy=policy)
    return evolve(
        switched,
        notices=(*shortened, *stale, *switched.notices),
        prefix_digest=None if before is None else before.last,
    )


def without_stale(history: Switched, call: Call, error: StaleThinking) -> tuple[Switched, Amended] | None:
    """A refused call without what was refused; None where nothing is left that could have been.

    All sealed thinking goes: a gap in it would spoil what follows (Anthropic's documentation).
    """
    switched = without_seals(history, call.messages, reason="the endpoint refused the thinking of this history")
    if switched.messages == call.messages:
        return None
    text = "the endpoint refused the thinking of the history, so the call was sent again without it"
    notice = Notice(STALE_DROPPED, text, "messages", {"told": str(error)})
    return switched, Amended(evolve(call, messages=switched.messages), notice)


def _processed(conversation: Conversation, processors: Any) -> tuple[Conversation, tuple[Notice, ...]]:
    if not processors:
        return conversation, ()
    given = conversation.messages
    messages = processed(given, processors)
    if messages == given:
        return conversation, ()
    text = f"the processors made {len(messages)} messages of {len(given)}; paths are places in these"
    notice = Notice("history_processed", text, "messages", {"given": len(given), "sent": len(messages)})
    return evolve(conversation, messages=messages), (notice,)


def _prefixes(conversation: Conversation, tools: Sequence[Tool | ServerTool]) -> Prefixes | None:
    try:
        return prefixes(conversation.system, tools, conversation.messages)
    except (TypeError, ValueError):  # what JSON cannot hold is told by the encoder, unless it is left out
        return None


def _stale(conversation: Conversation, before: Prefixes | None, model: Model) -> tuple[Notice, ...]:
    """A notice for each answer whose thinking the model may refuse, because what stands before it has changed."""
    if before is None or not before.stale or not binds_prefix(model.facts_id):
        return ()
    messages = conversation.messages
    return tuple(
        Notice("stale_thinking", _CHANGED, f"messages[{place}]") for place in before.stale if is_bound(messages[place])
    )
