"""The tools that the model may call: arithmetic on exact whole numbers, and the clock.

A ValueError is told to the model, which may then do better.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import thinkaloud as ta

_LARGEST = 10**400
_OPERATIONS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def calculate(expression: Annotated[str, "numbers and + - * / // % **, such as 2**64 - 1"]) -> str:
    """Works out an arithmetic expression exactly."""
    if len(expression) > 400:
        raise ValueError("the expression is too long")
    try:
        return str(_value(ast.parse(expression, mode="eval").body))
    except (SyntaxError, RecursionError):
        raise ValueError(f"{expression!r} is no arithmetic expression") from None
    except ArithmeticError as error:
        raise ValueError(str(error)) from None


def _value(node: ast.AST) -> Any:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            result: Any = value
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATIONS:
            result = _OPERATIONS[type(op)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            result = _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            result = _OPERATIONS[type(op)](_value(left), _value(right))
        case _:
            raise ValueError("only numbers and + - * / // % ** are allowed")
    if isinstance(result, int) and abs(result) > _LARGEST:
        raise ValueError("the number is too large")
    return result


def _power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > 1400:
        raise ValueError("the number is too large")
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("the result is no real number")
    return result


def local_time(place: Annotated[str, "a time zone, such as Asia/Tokyo"]) -> str:
    """Tells the date and time at a place."""
    try:
        zone = ZoneInfo(place)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{place!r} is no time zone; they are named like Europe/Vienna") from None
    return datetime.now(zone).strftime("%A, %d %B %Y, %H:%M")


TOOLS = (ta.Tool.from_function(calculate), ta.Tool.from_function(local_time))
