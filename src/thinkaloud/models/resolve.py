"""From "provider/model" to a model with all that is known of it, and its provider."""

from __future__ import annotations

from attrs import evolve

from thinkaloud.errors import ConfigurationError, UnknownModel, shown
from thinkaloud.models.catalog import FACTS, lookup, registered, with_facts
from thinkaloud.models.dialect import Dialect
from thinkaloud.models.hosts import anywhere, of_maker, same_words
from thinkaloud.models.ids import variant
from thinkaloud.models.model import Model
from thinkaloud.models.prices import FREE
from thinkaloud.models.providers import Provider, find_provider, provider_id


def find_model(model: str | Model) -> Model:
    """Find a model with all that is known of it: what a call to it would go by.

    model: "provider/id", under any name that the provider knows it by, or a Model, whose own facts win. Facts that
        nobody knows are None: a model that is not in the catalog is no error.

    Raises UnknownModel for a provider that is not known, ConfigurationError for what names no model.
    """
    return resolve_model(model)[0]


def resolve_model(model: str | Model, *, base_model: str | None = None) -> tuple[Model, Provider]:
    """Find the model with its facts, and its provider. A Model that names its protocol and base URL needs no row.

    Raises ConfigurationError or UnknownModel.
    """
    if isinstance(model, str):
        name, slash, id = model.partition("/")
        if not slash or not name or not id:
            raise ConfigurationError(
                f'model={shown(model)} must be "provider/model", such as "anthropic/claude-opus-5"'
            )
        model = Model(name, id)
    if not isinstance(model, Model):
        raise ConfigurationError(f'model must be "provider/model" or a Model, not {type(model).__name__}')
    if base_model is not None:
        if not isinstance(base_model, str):
            raise ConfigurationError(f"base_model must be the id of a model, not {type(base_model).__name__}")
        model = evolve(model, base_model=base_model)
    if (name := provider_id(model.provider)) != model.provider:
        model = evolve(model, provider=name)
    own = registered(model.provider, model.id)
    if own is not None:
        model = with_facts(model, own, connection=True)
    if model.thinking is not None and model.reasoning is None:
        model = evolve(model, reasoning=True)
    provider = _provider(model)
    known = _known(model)
    if model.protocol is None:
        served = known is not None and known.protocol in provider.protocols
        protocol = known.protocol if known is not None and served else provider.protocol_of(model.facts_id)
        model = evolve(model, protocol=protocol)
    return (model if known is None else _filled(model, known)), provider


def _provider(model: Model) -> Provider:
    try:
        return find_provider(model.provider)
    except UnknownModel as error:
        if model.protocol is None or model.base_url is None:
            raise UnknownModel(_what_helps(model, error)) from None
    return Provider(
        id=model.provider,
        protocol=model.protocol,
        base_url=model.base_url,
        key_required=False,
        dialect=model.dialect or Dialect(),
    )


def _what_helps(model: Model, error: UnknownModel) -> str:
    if model.protocol is None and model.base_url is None:
        return f"{error}; or give a Model its protocol= and base_url="
    missing = "protocol" if model.protocol is None else "base_url"
    return f"provider {shown(model.provider)} is unknown; a Model at one of your own needs {missing}= too"


def _known(model: Model) -> Model | None:
    """The row whose facts apply: this provider's, or that of the maker whom the id or `base_model` names."""
    id = model.facts_id
    found = lookup(model.provider, id) or of_maker(model.provider, id)
    if found is None and model.base_model is not None:
        found = anywhere(model.provider, model.base_model)
    return found


def _filled(model: Model, known: Model) -> Model:
    """The model with the facts of its row, as far as they hold where and how it is called."""
    facts = set(FACTS)
    if not same_words(model.protocol, known.protocol or model.protocol):
        facts.discard("thinking")
    name = variant(model.id) if model.provider == "openrouter" else ""
    if name == "free":
        model = model if model.prices is not None else evolve(model, prices=FREE)
    elif name not in ("", "thinking"):  # other variants choose hosts and tools with prices of their own
        facts.discard("prices")
    return with_facts(model, known, facts=facts)
