"""Tools made from functions: what the model is told of the parameters, and how its arguments are read."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, NewType, NotRequired, TypedDict

import attrs
import pytest

import thinkaloud as ta
from thinkaloud.typed.reading import Unfit, read
from thinkaloud.typed.schema import schema_of


class Unit(Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


@attrs.frozen
class Place:
    """Where it is."""

    city: str
    zone: Annotated[int, "hours from Greenwich"] = 0


@dataclass
class Trip:
    places: list[Place]
    notes: dict[str, str] = field(default_factory=dict)


class Stay(TypedDict):
    nights: int
    breakfast: NotRequired[bool]


@attrs.frozen
class Tree:
    name: str
    below: list[Tree]


UserId = NewType("UserId", int)
PLACE = {
    "type": "object",
    "description": "Where it is.",
    "properties": {
        "city": {"type": "string"},
        "zone": {"type": "integer", "description": "hours from Greenwich", "default": 0},
    },
    "required": ["city"],
    "additionalProperties": False,
}

# A type, its schema, JSON that fits it with what it is read into, and JSON that does not fit it with what is told.
KINDS: list[tuple[Any, dict[str, Any], Any, Any, Any, str]] = [
    (str, {"type": "string"}, "a", "a", 5, "a string is wanted, not 5"),
    (int, {"type": "integer"}, 3, 3, "3", "a whole number is wanted, not '3'"),
    (int, {"type": "integer"}, 3.0, 3, True, "a whole number is wanted, not True"),
    (float, {"type": "number"}, 3, 3.0, "x", "a number is wanted, not 'x'"),
    (bool, {"type": "boolean"}, True, True, 1, "true or false is wanted, not 1"),
    (None, {"type": "null"}, None, None, 0, "null is wanted, not 0"),
    (UserId, {"type": "integer"}, 3, 3, [], "a whole number is wanted, not an array"),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b", "c", "one of 'a', 'b' is wanted, not 'c'"),
    (Literal["a", 1], {"enum": ["a", 1]}, 1, 1, True, "one of 'a', 1 is wanted, not True"),
    (
        Unit,
        {"type": "string", "enum": ["metric", "imperial"]},
        "metric",
        Unit.METRIC,
        "METRIC",
        "one of 'metric', 'imperial' is wanted, not 'METRIC'",
    ),
    (
        int | None,
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        None,
        None,
        "x",
        "a whole number is wanted, not 'x'",
    ),
    (
        int | str,
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "x",
        "x",
        1.5,
        "1.5 is none of: int, str",
    ),
    (
        list[int],
        {"type": "array", "items": {"type": "integer"}},
        [1, 2],
        [1, 2],
        [1, "2", "3"],
        "[1]: a whole number is wanted, not '2'",
    ),
    (set[str], {"type": "array", "items": {"type": "string"}}, ["a", "a"], {"a"}, "ab", "an array is wanted, not 'ab'"),
    (
        tuple[int, ...],
        {"type": "array", "items": {"type": "integer"}},
        [1, 2],
        (1, 2),
        {},
        "an array is wanted, not an object",
    ),
    (
        tuple[int, str],
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "minItems": 2,
            "maxItems": 2,
        },
        [1, "a"],
        (1, "a"),
        [1],
        "an array of 2 is wanted, not of 1",
    ),
    (
        dict[str, int],
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"a": 1},
        {"a": 1},
        {"a": None},
        "a: a whole number is wanted, not None",
    ),
    (Place, PLACE, {"city": "Oslo"}, Place("Oslo"), {"zone": 1}, "city: the field is missing"),
    (
        Place,
        PLACE,
        {"city": "Oslo", "zone": 2},
        Place("Oslo", 2),
        {"city": "Oslo", "x": 1},
        "x: there is no such field",
    ),
    (Place, PLACE, {"city": "Oslo"}, Place("Oslo"), ["Oslo"], "an object is wanted, not an array"),
    (
        Trip,
        {
            "type": "object",
            "properties": {
                "places": {"type": "array", "items": PLACE},
                "notes": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["places"],
            "additionalProperties": False,
        },
        {"places": [{"city": "Oslo"}]},
        Trip([Place("Oslo")]),
        {"places": [{"city": "Oslo"}, {"city": 5}]},
        "places[1].city: a string is wanted, not 5",
    ),
    (
        Stay,
        {
            "type": "object",
            "properties": {"nights": {"type": "integer"}, "breakfast": {"type": "boolean"}},
            "required": ["nights"],
            "additionalProperties": False,
        },
        {"nights": 2},
        {"nights": 2},
        {"breakfast": True},
        "nights: the field is missing",
    ),
    (
        Tree,
        {
            "$ref": "#/$defs/Tree",
            "$defs": {
                "Tree": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                    },
                    "required": ["name", "below"],
                    "additionalProperties": False,
                }
            },
        },
        {"name": "a", "below": [{"name": "b", "below": []}]},
        Tree("a", [Tree("b", [])]),
        {"name": "a", "below": [{"name": "b"}]},
        "below[0].below: the field is missing",
    ),
]


@pytest.mark.parametrize(("kind", "schema", "fits", "value", "unfit", "told"), KINDS)
def test_a_type_has_its_schema_and_reads_what_fits_it_alone(
    kind: Any, schema: dict[str, Any], fits: Any, value: Any, unfit: Any, told: str
) -> None:
    assert schema_of(kind) == schema
    assert read(fits, kind) == value
    assert type(read(fits, kind)) is type(value)
    with pytest.raises(Unfit) as caught:
        read(unfit, kind)
    assert str(caught.value) == told


def test_anything_may_stand_where_nothing_is_said() -> None:
    assert schema_of(Any) == {}
    assert read({"a": [1]}, Any) == {"a": [1]}


@pytest.mark.parametrize("kind", [bytes, complex, dict[int, str], Callable[[], None], Literal[b"x"], list[bytes]])
def test_a_type_without_a_form_in_json_is_refused(kind: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match=r"JSON"):
        schema_of(kind)


def test_a_function_becomes_a_tool() -> None:
    def forecast(place: Place, days: Annotated[int, "how far ahead"] = 1, *, unit: Unit = Unit.METRIC) -> str:
        """Tells the weather
        of a place.
        """
        return f"{place.city} {days} {unit.name}"

    tool = ta.Tool.from_function(forecast)
    assert (tool.name, tool.description) == ("forecast", "Tells the weather\nof a place.")
    assert tool.schema == {
        "type": "object",
        "properties": {
            "place": PLACE,
            "days": {"type": "integer", "description": "how far ahead", "default": 1},
            "unit": {"type": "string", "enum": ["metric", "imperial"]},
        },
        "required": ["place"],
        "additionalProperties": False,
    }
    assert tool.handler is not None
    assert tool.handler({"place": {"city": "Oslo"}, "unit": "imperial"}) == "Oslo 1 IMPERIAL"


def google(city: str, days: int) -> None:
    """Tells the weather.

    It may be wrong.

    Args:
        city (str): the name
            of the city
        days: how far ahead

    Returns:
        nothing
    """


def numpy(city: str, days: int) -> None:
    """Tells the weather.

    It may be wrong.

    Parameters
    ----------
    city : str
        the name
        of the city
    days : int
        how far ahead

    Returns
    -------
    None
    """


def sphinx(city: str, days: int) -> None:
    """Tells the weather.

    It may be wrong.

    :param str city: the name
        of the city
    :param days: how far ahead
    :returns: nothing
    """


def plain(city: str, days: int) -> None:
    """Tells the weather.

    It may be wrong.

    city: the name
        of the city
    days: how far ahead

    Raises nothing.
    """


@pytest.mark.parametrize("function", [google, numpy, sphinx, plain])
def test_a_docstring_describes_the_tool_and_its_parameters(function: Callable[..., Any]) -> None:
    tool = ta.Tool.from_function(function)
    assert tool.description == "Tells the weather.\n\nIt may be wrong."
    properties: Any = tool.schema["properties"]
    assert properties["city"]["description"] == "the name of the city"
    assert properties["days"]["description"] == "how far ahead"


def test_what_is_said_wins_over_what_is_found() -> None:
    tool = ta.Tool.from_function(
        google, name="weather", description="Weather.", strict=True, deadline=5, needs_approval=True, extra={"a": 1}
    )
    assert (tool.name, tool.description, tool.strict, tool.deadline) == ("weather", "Weather.", True, 5)
    assert (tool.needs_approval, tool.extra) == (True, {"a": 1})


def test_a_function_without_parameters_or_docstring_is_a_tool() -> None:
    def now() -> int:
        return 12

    tool = ta.Tool.from_function(now)
    assert (tool.description, tool.schema["properties"]) == ("", {})
    assert tool.handler is not None
    assert tool.handler({}) == 12


def test_methods_partials_and_objects_are_tools() -> None:
    class Clock:
        """A clock."""

        def tell(self, city: str) -> str:
            """Tells the time."""
            return f"noon in {city}"

        def __call__(self, city: str) -> str:
            """Is called."""
            return f"call of {city}"

    told = ta.Tool.from_function(Clock().tell)
    properties: Any = told.schema["properties"]
    assert (told.name, list(properties)) == ("tell", ["city"])
    called = ta.Tool.from_function(Clock(), name="clock")
    assert called.description == "Is called."
    fixed = ta.Tool.from_function(functools.partial(Clock().tell), name="fixed")
    for tool, text in ((told, "noon in Oslo"), (called, "call of Oslo"), (fixed, "noon in Oslo")):
        assert tool.handler is not None
        assert tool.handler({"city": "Oslo"}) == text


@pytest.mark.anyio
async def test_an_async_function_has_an_async_handler() -> None:
    async def double(number: int, /) -> int:
        return number * 2

    tool = ta.Tool.from_function(double)
    assert tool.handler is not None
    assert await tool.handler({"number": 4}) == 8
    with pytest.raises(ta.MalformedToolArguments, match="number: a whole number is wanted") as caught:
        await tool.handler({"number": "four"})
    assert caught.value.raw == '{"number":"four"}'


def test_every_fault_of_the_arguments_is_named() -> None:
    tool = ta.Tool.from_function(google)
    assert tool.handler is not None
    with pytest.raises(ta.MalformedToolArguments) as caught:
        tool.handler({"city": 1, "when": "now"})
    assert str(caught.value) == (
        "the arguments do not fit: when: there is no such field; city: a string is wanted, not 1; "
        "days: the field is missing"
    )


def many(*cities: str) -> None: ...
def named(**cities: str) -> None: ...
def binary(picture: bytes) -> None: ...
def unresolved(city: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (many, "many: *cities"),
        (named, "named: **cities"),
        (binary, "binary.picture: bytes has no form in JSON"),
        (unresolved, "the parameters of unresolved cannot be read"),
        ("text", "a tool is made from a function"),
    ],
)
def test_a_function_that_no_model_could_call_is_refused(function: Any, words: str) -> None:
    with pytest.raises(ta.ConfigurationError) as caught:
        ta.Tool.from_function(function)
    assert words in str(caught.value)


@pytest.mark.parametrize("deadline", [0, -1, "soon", True])
def test_a_deadline_that_is_no_time_is_refused(deadline: Any) -> None:
    with pytest.raises(ta.ConfigurationError, match="deadline"):
        ta.Tool("look", deadline=deadline)


def test_an_approval_is_a_flag_or_a_function() -> None:
    for wrong in ("yes", None, 1):
        approval: Any = wrong
        with pytest.raises(ta.ConfigurationError, match="needs_approval"):
            ta.Tool("look", needs_approval=approval)


def test_the_handler_may_be_the_fourth_argument() -> None:
    def look(arguments: Mapping[str, Any]) -> str:
        return "seen"

    assert ta.Tool("look", "Looks.", {}, look).handler is look


def divides(a: 1 / 0) -> None: ...  # type: ignore[valid-type]


def is_no_expression(a: "for") -> None: ...  # type: ignore[valid-type]  # noqa: F722


def yields(a: int) -> Any:
    yield a


async def yields_later(a: int) -> Any:
    yield a


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (divides, "the parameters of divides cannot be read: division by zero"),
        (is_no_expression, "the parameters of is_no_expression cannot be read"),
        (max, "the parameters of max cannot be read"),
        (yields, "yields is a generator"),
        (yields_later, "yields_later is a generator"),
        (lambda: 1, "a lambda has no name"),
    ],
)
def test_a_function_whose_parameters_or_results_no_model_can_have_is_refused(function: Any, words: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=words):
        ta.Tool.from_function(function)


def test_a_lambda_with_a_name_is_a_tool() -> None:
    assert ta.Tool.from_function(lambda: 1, name="one").name == "one"


@pytest.mark.parametrize("default", [float("nan"), float("inf"), 10**5000], ids=["nan", "inf", "huge"])
def test_a_default_that_json_cannot_hold_is_no_part_of_the_schema(default: Any) -> None:
    def wait(seconds: float = default) -> None: ...

    assert ta.Tool.from_function(wait).schema["properties"] == {"seconds": {"type": "number"}}


@dataclass
class Voyage:
    days: InitVar[int]


def test_an_argument_of_a_dataclass_that_is_no_field_is_refused() -> None:
    with pytest.raises(ta.ConfigurationError, match=r"Voyage\.days: an InitVar is no field"):
        schema_of(Voyage)


@pytest.mark.parametrize("name", ["", "two words", "line\n", "bell\x07"])
def test_a_name_that_no_provider_takes_is_refused_before_any_network(name: str) -> None:
    with pytest.raises(ta.ConfigurationError, match=r"tools\[0\]\.name"):
        ta.prepare("anthropic/claude-opus-5", "hi", tools=[ta.Tool(name)])
