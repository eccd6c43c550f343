"""The tools that a model may call, and how it must choose among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from attrs import field, frozen

from thinkaloud.checked import function, instance_of, one_of, optional, real_number
from thinkaloud.errors import ConfigurationError, shown
from thinkaloud.jsontext import Json, copied_object


def _no_parameters() -> Mapping[str, Json]:
    return {"type": "object", "properties": {}}


def _seconds(_tool: Any, attribute: Any, value: Any) -> None:
    real_number(attribute.name, value, "seconds", or_none=True)


def _flag_or_function(_tool: Any, attribute: Any, value: Any) -> None:
    if not isinstance(value, bool) and not callable(value):
        raise ConfigurationError(f"{attribute.name} must be True, False or a function, not {shown(value)}")


@frozen
class Tool:
    """A function that the model may ask for.

    name: letters, digits, `_` and `-`.
    description: tells the model when and how to use it.
    schema: JSON Schema of the arguments, an object.
    handler: runs a call; takes its arguments as a dict, and gives text, a ToolResult, blocks, or what JSON can hold. An
        async one runs on the event loop, another one in a worker thread. Used by `run` only, and never sent; without
        one a run stops at the call, for its result to come from outside.
    strict: ask the provider to hold the model to the schema; None leaves it to the provider.
    deadline: seconds that a call may take; None: what the run says.
    needs_approval: a run stops at a call until it is approved: always, or where a function of the arguments says so.
    extra: further fields of the provider's own tool object, sent as they are.
    """

    name: str = field(validator=instance_of(str))
    description: str = field(default="", validator=instance_of(str))
    schema: Mapping[str, Json] = field(factory=_no_parameters, converter=copied_object, hash=False)
    handler: Callable[[dict[str, Any]], Any] | None = field(
        default=None, validator=optional(function), eq=False, repr=False
    )
    strict: bool | None = field(default=None, validator=optional(instance_of(bool)), kw_only=True)
    deadline: float | None = field(default=None, validator=_seconds, kw_only=True)
    needs_approval: bool | Callable[[dict[str, Any]], bool] = field(
        default=False, validator=_flag_or_function, kw_only=True, eq=False, repr=False
    )
    extra: Mapping[str, Json] = field(factory=dict, converter=copied_object, kw_only=True, hash=False, repr=False)

    @classmethod
    def from_function(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        strict: bool | None = None,
        deadline: float | None = None,
        needs_approval: bool | Callable[[dict[str, Any]], bool] = False,
        extra: Mapping[str, Json] | None = None,
    ) -> Tool:
        """A tool from a function: its name, its docstring, and a schema from the types of its parameters.

        A parameter is described by `Annotated[int, "what it means"]`, or by its line in the docstring. Arguments are
        read into these types, classes of attrs and dataclasses included; what does not fit goes back to the model as an
        error that names the field. The rest as in the class.

        Raises ConfigurationError, with the path, for parameters that have no form in JSON.
        """
        from thinkaloud.typed.functions import function_of

        made = function_of(function)
        if name is None and made.name == "<lambda>":
            raise ConfigurationError("a lambda has no name that a model could call: give one with name=")
        return cls(
            made.name if name is None else name,
            made.description if description is None else description,
            made.schema,
            made.handler,
            strict=strict,
            deadline=deadline,
            needs_approval=needs_approval,
            extra=extra or {},
        )


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
        default="auto",
        validator=one_of("auto", "none", "required", "tool"),
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
