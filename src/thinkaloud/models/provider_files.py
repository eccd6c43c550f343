"""Providers of your own from a JSON file: the rows of the table, with the same fields."""

from __future__ import annotations

import json
import os
from pathlib import Path

from thinkaloud.errors import ConfigurationError
from thinkaloud.models.provider import Provider, check_provider
from thinkaloud.models.providers import register_provider
from thinkaloud.models.rows import path_of, read_row


def load_providers(path: str | os.PathLike[str]) -> tuple[Provider, ...]:
    """Register the providers of a JSON file, and give them as they stand in it.

    The file is `{"providers": [...]}`, each with the field names of Provider and of the classes in it:

        {"providers": [{"id": "lab", "protocol": "openai-chat", "base_url": "https://models.lab.example/v1",
                        "key_variables": ["LAB_KEY"],
                        "dialect": {"reasoning_field": "reasoning", "replay": "must", "levels": ["low", "high"]}}]}

    Raises ConfigurationError, which names the file and the field that is wrong; nothing is registered then. Raises
    OSError where the file cannot be read.
    """
    name = path_of(path)
    try:
        table = json.loads(Path(name).read_bytes())
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{name} is not JSON: {error}") from None
    rows = table.get("providers") if isinstance(table, dict) else None
    if not isinstance(rows, list):
        raise ConfigurationError(f'{name} must be an object with a list "providers"')
    providers = []
    for place, row in enumerate(rows):
        where = f"{name}: providers[{place}]"
        provider = read_row(Provider, row, where)
        try:
            check_provider(provider)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: {error}") from None
        providers.append(provider)
    for provider in providers:
        register_provider(provider)
    return tuple(providers)
