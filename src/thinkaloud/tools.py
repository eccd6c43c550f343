"""The tools that a model may call, and how it must choose among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from attrs import field, frozen
from attrs.validators import in_, instance_of, optional

from thinkaloud.jsontext import Json, copied_object


def _no_parameters() -> Mapping[str, Json]:
    return {"type": "object", "properties": {}}


@frozen
class Tool:
    """A function that the model may ask for.

    name: letters, digits, `_` and `-`.
    description: tells the model when and how to use it.
    schema: JSON Schema of the arguments, an object.
    handler: runs the call; used by the tool loop only, and never sent.
    strict: ask the provider to hold the model to the schema; None leaves it to the provider.
    extra: further fields of the provider's own tool object, sent as they are.
    """

    name: str = field(validator=instance_of(str))
    description: str = field(default="", validator=instance_of(str))
    schema: Mapping[str, Json] = field(factory=_no_parameters, converter=copied_object, hash=False)
    handler: Callable[..., Any] | None = field(default=None, kw_only=True, eq=False, repr=False)
    strict: bool | None = field(default=None, validator=optional(instance_of(bool)), kw_only=True)
    extra: Mapping[str, Json] = field(factory=dict, converter=copied_object, kw_only=True, hash=False, repr=False)


@frozen
class ServerTool:
    """A tool that the provider runs itself, such as web search: the provider's own tool object, sent as it is."""

    data: Mapping[str, Json] = field(converter=copied_object, hash=False)


@frozen
class ToolChoice:
    """How the model must choose: freely, never, at least one, or one certain tool.

    mode: "auto", "none", "required", or "tool" with `name`.
    parallel: False asks for at most one call in an answer; None leaves it to the provider.
    """

    mode: Literal["auto", "none", "required", "tool"] = field(
        default="auto", validator=in_(("auto", "none", "required", "tool"))
    )
    name: str | None = field(default=None, validator=optional(instance_of(str)), kw_only=True)
    parallel: bool | None = field(default=None, validator=optional(instance_of(bool)), kw_only=True)

    @classmethod
    def tool(cls, name: str, *, parallel: bool | None = None) -> ToolChoice:
        """The model must call the tool `name`."""
        return cls("tool", name=name, parallel=parallel)

    @property
    def forced(self) -> bool:
        """The model has to call a tool."""
        return self.mode in ("required", "tool")
