"""Every model that the catalog knows, with its facts."""

from __future__ import annotations

from thinkaloud.models.catalog import list_models
from thinkaloud.models.model import Model


def catalogued(protocol: str) -> list[Model]:
    """The models that are reached over a protocol, in the catalog's order."""
    return [model for model in list_models() if model.protocol == protocol]
