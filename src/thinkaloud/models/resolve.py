"""From "provider/model" to a model with all that is needed to reach it."""

from __future__ import annotations

from attrs import evolve

from thinkaloud.errors import ConfigurationError, UnknownModel
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.model import Model
from thinkaloud.models.providers import Provider, find_provider


def resolve_model(model: str | Model, *, base_model: str | None = None) -> tuple[Model, Provider]:
    """Find the model and its provider. A Model that names its protocol and base URL needs no row in the table.

    Raises ConfigurationError or UnknownModel.
    """
    if isinstance(model, str):
        provider_id, slash, id = model.partition("/")
        if not slash or not provider_id or not id:
            raise ConfigurationError(f'model={model!r} must be "provider/model", such as "anthropic/claude-opus-5"')
        model = Model(provider_id, id)
    if not isinstance(model, Model):
        raise ConfigurationError(f'model must be "provider/model" or a Model, not {type(model).__name__}')
    try:
        provider = find_provider(model.provider)
    except UnknownModel:
        if model.protocol is None or model.base_url is None:
            raise
        provider = Provider(
            id=model.provider,
            protocol=model.protocol,
            base_url=model.base_url,
            key_required=False,
            dialect=model.dialect or Dialect(),
        )
    return (
        evolve(
            model,
            provider=provider.id,
            protocol=model.protocol or provider.protocol,
            base_model=base_model or model.base_model,
        ),
        provider,
    )
