"""Which level is sent for the one that was asked, by the one rule of the ladder, with a notice for every change."""

from __future__ import annotations

from attrs import frozen

from thinkaloud.levels import ThinkingLevel, clamp_level
from thinkaloud.models.model import Model, ThinkingControl
from thinkaloud.notices import Notice


@frozen
class LevelToSend:
    """What becomes of a level that was asked for.

    level: the level to send; None: nothing is sent.
    notices: tell where it is not what was asked.
    """

    level: ThinkingLevel | None
    notices: tuple[Notice, ...] = ()


def level_to_send(asked: ThinkingLevel | None, control: ThinkingControl | None) -> LevelToSend:
    """Choose the level to send to a model. Pure.

    control: how the model is steered; None: it cannot think.
    """
    if asked is None:
        return LevelToSend(None)
    sent = None if control is None else clamp_level(asked, control.levels)
    if sent is None:
        if asked is ThinkingLevel.OFF and (control is None or not control.default_on):
            return LevelToSend(None)
        what = "does not think" if control is None else "has no thinking to be steered"
        text = f"this model {what}; nothing was sent"
        return LevelToSend(None, (Notice("level_ignored", text, "reasoning", {"asked": asked.value}),))
    if sent is asked:
        return LevelToSend(sent)
    text = f"this model has no level {asked.value!r}; {sent.value!r} was sent in its place"
    detail = {"asked": asked.value, "sent": sent.value}
    return LevelToSend(sent, (Notice("level_clamped", text, "reasoning", detail),))


def overridden(asked: ThinkingLevel | None, native: ThinkingLevel | None) -> tuple[Notice, ...]:
    """Tells where native options win over another level that was asked for.

    native: the level that the options stand for; None: none of the ladder.
    """
    if asked is None or asked is native:
        return ()
    detail = {"asked": asked.value, "sent": None if native is None else native.value}
    text = "the options of the protocol say otherwise, and they win"
    return (Notice("level_overridden", text, "reasoning", detail),)


def turned_off(asked: ThinkingLevel | None, why: str) -> Notice:
    """Tells that thinking is off for this call, because something else in it does not go with it."""
    detail = {"asked": None if asked is None else asked.value, "sent": ThinkingLevel.OFF.value}
    return Notice("thinking_turned_off", f"thinking is off for this call: {why}", "reasoning", detail)


def is_settled(model: Model, *facts: str) -> bool:
    """Whether facts about a model's thinking are sure enough to refuse a request; others shape it, and no more."""
    names = {"thinking", *(f"thinking.{fact}" for fact in facts)}
    return names.isdisjoint(model.unsure)
