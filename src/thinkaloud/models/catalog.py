"""The catalog: what is known about models, from the file that ships with the library and from what users register.

The file is read when a model is first looked up, and a row of it only when that model is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from attrs import evolve, fields

from thinkaloud.errors import ConfigurationError
from thinkaloud.models.ids import names, stem
from thinkaloud.models.model import Model
from thinkaloud.models.providers import find_provider, provider_id
from thinkaloud.models.rows import path_of, read_row

_Key = tuple[str, str]

# The script that writes the file puts one row on a line, and these two fields first.
_ROW = re.compile(r'^(\{"provider":"([^"]+)","id":"([^"]+)",.*\}),?$', re.MULTILINE)

_registered: dict[_Key, Model] = {}


def list_models(provider: str | None = None) -> tuple[Model, ...]:
    """All models that are known, those of the catalog and your own, or those of one provider.

    Raises UnknownModel for a provider that is not known.
    """
    if provider is not None and not isinstance(provider, str):
        find_provider(provider)
    wanted = None if provider is None else provider_id(provider)
    keys = [key for key in dict.fromkeys((*_rows(), *_registered)) if wanted in (None, key[0])]
    if wanted is not None and not keys:
        find_provider(wanted)
    return tuple(model for key in keys if (model := row(*key)) is not None)


def register_model(model: Model) -> None:
    """Make a model known, or correct one: what it says wins over the catalog, what it leaves None stays as it is.

    From then on "provider/id" finds it in every call of this process. Raises ConfigurationError.
    """
    if not isinstance(model, Model):
        raise ConfigurationError(f"register_model takes a Model, not {type(model).__name__}")
    if not model.provider or not model.id:
        raise ConfigurationError("a model needs a provider and an id to be registered")
    model = evolve(model, provider=provider_id(model.provider))
    _registered[model.provider, model.id] = model


def load_models(path: str | os.PathLike[str]) -> tuple[Model, ...]:
    """Register the models of a JSON file, and give them as they stand in it.

    The file is `{"models": [...]}`, each with the field names of Model and of the classes in it:

        {"models": [{"provider": "ollama", "id": "qwen3:32b", "reasoning": true, "context_window": 40960,
                     "thinking": {"mode": "toggle", "native": {"off": false, "high": true}}}]}

    Raises ConfigurationError, which names the file and the field that is wrong; nothing is registered then. Raises
    OSError where the file cannot be read.
    """
    name = path_of(path)
    try:
        table = json.loads(Path(name).read_bytes())
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{name} is not JSON: {error}") from None
    rows = table.get("models") if isinstance(table, dict) else None
    if not isinstance(rows, list):
        raise ConfigurationError(f'{name} must be an object with a list "models"')
    models = tuple(read_row(Model, row, f"{name}: models[{place}]") for place, row in enumerate(rows))
    for place, model in enumerate(models):
        if not model.provider or not model.id:
            raise ConfigurationError(f"{name}: models[{place}] needs a provider and an id")
    for model in models:
        register_model(model)
    return models


def registered(provider: str, id: str) -> Model | None:
    """What a user registered under exactly this id."""
    return _registered.get((provider, id))


def lookup(provider: str, id: str) -> Model | None:
    """The row of a model under any of its names at this provider; None where there is none."""
    for name in names(provider, id):
        if (found := row(provider, name)) is not None:
            return found
    for name in names(provider, id):
        if (key := _stems().get((provider, stem(provider, name)))) is not None:
            return row(*key)
    return None


def row(provider: str, id: str) -> Model | None:
    """The row under exactly this id: a user's own, with the gaps filled from the catalog's, or the catalog's."""
    own = _registered.get((provider, id))
    known = _row(provider, id) if (provider, id) in _rows() else None
    if own is None or known is None:
        return own or known
    return with_facts(own, known, connection=True)


# Facts, and what leads to the endpoint.
FACTS = ("name", "reasoning", "thinking", "input", "max_output", "context_window", "prices")
_CONNECTION = ("protocol", "base_url", "dialect", "base_model")
assert {field.name for field in fields(Model)} == {"provider", "id", "unsure", *FACTS, *_CONNECTION}


def with_facts(model: Model, known: Model, *, facts: Iterable[str] = FACTS, connection: bool = False) -> Model:
    """The model with what it leaves None taken from `known`; doubts come along with the facts that they are about."""
    wanted = (*facts, *_CONNECTION) if connection else tuple(facts)
    taken: dict[str, Any] = {
        name: value for name in wanted if getattr(model, name) is None and (value := getattr(known, name)) is not None
    }
    if model.reasoning is False:
        taken.pop("thinking", None)
    if model.thinking is not None and model.reasoning is None:
        taken["reasoning"] = True
    doubts = [doubt for doubt in known.unsure if doubt.partition(".")[0] in taken and doubt not in model.unsure]
    return evolve(model, **taken, unsure=(*model.unsure, *doubts)) if taken else model


# the file


@cache
def _rows() -> dict[_Key, str]:
    """The text of each row."""
    import pkgutil

    data = pkgutil.get_data("thinkaloud.models", "catalog.json")
    assert data is not None, "catalog.json is part of the package"
    return {(provider, id): text for text, provider, id in _ROW.findall(data.decode())}


@cache
def _row(provider: str, id: str) -> Model:
    """Kept for the rows of the file alone: other ids may come from anywhere, in any number."""
    return read_row(Model, json.loads(_rows()[provider, id]), f"{provider}/{id}")


@cache
def _stems() -> dict[_Key, _Key]:
    """Stem to row; a row without a date goes before a dated one."""
    found: dict[_Key, _Key] = {}
    for key in sorted(_rows(), key=lambda key: len(key[1])):
        found.setdefault((key[0], stem(*key)), key)
    return found
