"""What parameters of measures may be: each is held to the type its class gives it, words of closed sets included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from vericite.errors import InputError


def expect_count(measure: str, parameter: str, value: object) -> None:
    """Refuse what is no whole number from 1 on.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"expected {parameter} of {measure} to be a whole number from 1 on; found {value!r}")


def expect_parameters(measure: str, kind: type[Any], given: Mapping[str, object]) -> None:
    """Refuse values that are not of the types the dataclass ``kind`` gives its fields.

    Raises:
        InputError: One is not.
    """
    types = _types(kind)
    for parameter, value in given.items():
        allowed = types[parameter]
        if not any(_fits(value, one) for one in allowed):
            raise InputError(f"expected {parameter} of {measure} to be {_told(allowed)}; found {value!r}")


_SAID = {str: "a text", int: "a whole number", float: "a number", bool: "True or False", NoneType: "None"}


def _told(allowed: tuple[Any, ...]) -> str:
    words = [repr(word) for one in allowed if get_origin(one) is Literal for word in get_args(one)]
    kinds = [_SAID[one] for one in allowed if one in _SAID]
    return f"one of {', '.join([*words, *kinds])}" if words else " or ".join(kinds)


@cache
def _types(kind: type[Any]) -> Mapping[str, tuple[Any, ...]]:
    """What each field may be of."""
    hints = get_type_hints(kind)
    return {
        field.name: get_args(of) if get_origin(of := hints[field.name]) in (Union, UnionType) else (of,)
        for field in fields(kind)
    }


def _fits(value: object, known: Any) -> bool:
    if get_origin(known) is Literal:
        # 1 is equal to True, and has another string.
        return any(type(value) is type(word) and value == word for word in get_args(known))
    if known is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return type(value) is known
