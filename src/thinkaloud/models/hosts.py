"""Facts of a model at a host that the catalog has no row of: those of the same model at its maker, if the id tells.

Only what a host cannot change is taken over: never a price, and how thinking is steered only where both speak the same
protocol in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from thinkaloud.levels import ThinkingLevel
from thinkaloud.models.catalog import lookup
from thinkaloud.models.ids import stem
from thinkaloud.models.model import Model
from thinkaloud.models.providers import PROVIDERS, Provider, provider_id

# Names of makers as they stand before the slash (at Bedrock: the dot), and their provider ids.
_MAKERS = {
    "anthropic": "anthropic",
    "openai": "openai",
    "google": "google",
    "deepseek": "deepseek",
    "deepseek-ai": "deepseek",
    "xai": "xai",
    "x-ai": "xai",
    "moonshot": "moonshotai",
    "moonshotai": "moonshotai",
    "zai": "zai",
    "z-ai": "zai",
    "zai-org": "zai",
    "qwen": "qwen",
    "alibaba": "qwen",
    "mistral": "mistral",
    "mistralai": "mistral",
}

_MAKER_IDS = tuple(dict.fromkeys(_MAKERS.values()))

# Hosts whose ids are the makers' own, by what the id begins with.
_PLAIN_IDS = {"claude-": "anthropic", "gemini-": "google", "gpt-": "openai", "o": "openai"}

# Hosts whose ids name the maker before a dot.
_DOTTED = ("bedrock", "bedrock-mantle")

# Hosts of one maker's models under names of their own choice, and the levels that are not known to be taken there
# (the highest effort is seen at OpenAI itself alone).
_DEPLOYMENTS = {"azure": ("openai", (ThinkingLevel.MAX,))}

# Two protocols whose words for thinking are the same.
_ALIKE = ({"openai-chat", "openai-responses"}, {"anthropic-messages", "bedrock-converse"})


def of_maker(provider: str, id: str) -> Model | None:
    """The row of the same model elsewhere, without what its host may have changed; None where the id does not tell."""
    for source, name in _sources(provider, id):
        found = lookup(source, name)
        if found is not None and (source, name) != (provider, id):
            return _at_host(found, provider)
    return None


def anywhere(provider: str, id: str) -> Model | None:
    """The row that the name of a base model means, where it is no id of the provider itself; at a host of its own."""
    source, slash, name = id.partition("/")
    if slash and (found := lookup(provider_id(source), name)) is not None:
        return _at_host(found, provider)
    found = next((found for source in _MAKER_IDS if (found := lookup(source, id)) is not None), None)
    return None if found is None else _at_host(found, provider)


def same_words(one: str | None, other: str | None) -> bool:
    """Whether two protocols have the same native values for levels of thinking."""
    return one == other or any({one, other} <= alike for alike in _ALIKE)


def _speak_alike(host: Provider, maker: Provider, model: Model) -> bool:
    if not any(same_words(protocol, model.protocol) for protocol in host.protocols):
        return False
    return model.protocol != "openai-chat" or host.dialect.effort == maker.dialect.effort


def _sources(provider: str, id: str) -> Iterator[tuple[str, str]]:
    if provider in _DEPLOYMENTS:
        yield _DEPLOYMENTS[provider][0], id
        return
    maker, slash, name = id.partition("/")
    if provider in _DOTTED:
        maker, slash, name = stem("bedrock", id).partition(".")
    if slash and maker.lower() in _MAKERS:
        if provider not in _DOTTED:
            yield "openrouter", id.lower()  # another gateway, with the same names
        source = _MAKERS[maker.lower()]
        yield source, name.replace(".", "-") if source == "anthropic" else name
    elif provider not in _MAKER_IDS:
        name = id.rpartition("/")[2].removeprefix("databricks-")
        for start, source in _PLAIN_IDS.items():
            if name.startswith(start):
                yield source, name


def _at_host(found: Model, provider: str) -> Model:
    if found.provider == provider:
        return found
    host, maker = PROVIDERS.get(provider), PROVIDERS.get(found.provider)
    thinking = found.thinking
    if host is None or maker is None or not _speak_alike(host, maker, found):
        thinking = None
    missing = _DEPLOYMENTS.get(provider, ("", ()))[1]
    if thinking is not None and missing:
        native = {level: word for level, word in thinking.native.items() if level not in missing}
        levels = tuple(level for level in thinking.levels if level not in missing)
        thinking = evolve(thinking, levels=levels, native=native)
    doubts = (*found.unsure, "max_output", "context_window", "input")
    return evolve(
        found, provider=provider, protocol=None, thinking=thinking, prices=None, unsure=tuple(dict.fromkeys(doubts))
    )
