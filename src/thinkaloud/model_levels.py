"""Which levels of thinking a model knows, and which of them is sent for a wish."""

from __future__ import annotations

from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.levels import LevelName, ThinkingLevel, clamp_level
from thinkaloud.models.model import Model
from thinkaloud.models.resolve import resolve_model
from thinkaloud.protocols.registry import wire_protocol


def supported_thinking_levels(model: str | Model) -> tuple[ThinkingLevel, ...]:
    """The levels that have a meaning of their own for a model, lowest first.

    model: "provider/id" or a Model.

    Empty where there is nothing to steer: the model does not think, or it thinks as it likes (`find_model(...)
    .reasoning` tells which). A model that is not in the catalog has the levels of its family, or of its endpoint.

    Raises UnknownModel for a provider that is not known, ConfigurationError for what names no model.
    """
    found, provider = resolve_model(model)
    if found.reasoning is False:
        return ()
    assert found.protocol is not None
    dialect = (found.dialect or provider.dialect).for_model(found.facts_id)
    known = wire_protocol(found.protocol).control  # the facts of the model, as far as the protocol has words for them
    control = found.thinking if known is None else known(found, dialect)
    return () if control is None else control.levels


def clamp_thinking_level(model: str | Model, level: ThinkingLevel | LevelName) -> ThinkingLevel | None:
    """The level that is sent to a model when `level` is asked: the nearest of its levels, ties upward.

    OFF is never sent for another wish; where it is impossible, the wish for it becomes the lowest level. None: nothing
    is sent.

    Raises as `supported_thinking_levels` does, and ConfigurationError for what is no level.
    """
    try:
        wish = level if isinstance(level, ThinkingLevel) else ThinkingLevel(level if isinstance(level, str) else "")
    except ValueError:
        names = ", ".join(known.value for known in ThinkingLevel)
        raise ConfigurationError(f"level={shown(level)} must be one of: {names}") from None
    return clamp_level(wish, supported_thinking_levels(model))
