"""Ids of models at Amazon Bedrock: regional prefixes and ARNs around a vendor's name and a model's."""

from __future__ import annotations

_GEOGRAPHIES = frozenset({"us", "eu", "apac", "jp", "au", "ca", "in", "global", "us-gov"})

# The ARNs whose last part is a model's id; all others hide the model.
_OPEN_ARNS = (":inference-profile/", ":foundation-model/")


def bare_id(id: str) -> str:
    """The id without ARN and geography, such as "anthropic.claude-opus-5"; "" where an ARN hides the model."""
    if id.startswith("arn:"):
        if not any(kind in id for kind in _OPEN_ARNS):
            return ""
        id = id.rpartition("/")[2]
    geography, _, rest = id.partition(".")
    return rest if geography in _GEOGRAPHIES and rest else id


def vendor(id: str) -> str:
    """Who made the model, such as "anthropic"; "" where the id does not tell."""
    name, dot, _ = bare_id(id).partition(".")
    return name if dot else ""


def is_claude(id: str) -> bool:
    """Whether a model is one of Claude's."""
    return "claude" in bare_id(id)
