"""What parameters of measures may be beside words of a closed set, which ``Chosen`` checks."""

from __future__ import annotations

from vericite.errors import InputError


def expect_count(measure: str, parameter: str, value: object) -> None:
    """Refuse what is no whole number from 1 on.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InputError(f"expected {parameter} of {measure} to be a whole number from 1 on; found {value!r}")
