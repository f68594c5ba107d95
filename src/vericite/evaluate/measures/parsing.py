"""From a measure's string to the measure."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from vericite.errors import InputError, UnknownNameError
from vericite.evaluate.measures.named import Named
from vericite.evaluate.measures.parameters import expect_parameters

Kind = TypeVar("Kind", bound=Named)

_SPELT = re.compile(r"(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<given>[^()]*)\))?\s*(?:@(?P<cutoff>\d+))?")


def parse_measure(text: str, known: Mapping[str, type[Kind]]) -> Kind:
    """The measure that this is the string of, as in ``nDCG@10`` or ``CitationF1(average='micro')``.

    Raises:
        InputError: It is none: what is wrong with the name, a parameter or a value.
    """
    spelt = _SPELT.fullmatch(text.strip())
    if not spelt:
        raise InputError(
            f"expected a measure such as SupportRate or nDCG@10 or RougeL(figure='recall'); found {text!r}"
        )
    name = spelt["name"]
    kind = known.get(name) or next((it for key, it in known.items() if key.lower() == name.lower()), None)
    if kind is None:
        raise UnknownNameError("measure", name, known)
    given = _given(text, kind, spelt["given"] or "")
    if spelt["cutoff"]:
        if not kind.takes_cutoff():
            raise InputError(f"expected {kind.name} without a cutoff; found {text!r}. It does not look at ranks.")
        given["cutoff"] = int(spelt["cutoff"])
    # Before what the measure itself makes of its parameters, which takes them to be of their types.
    expect_parameters(kind.name, kind, given)
    try:
        return kind(**given)
    except (TypeError, ValueError) as error:
        raise InputError(f"expected a measure; found {text!r}: {error}") from None


def _given(text: str, kind: type[Named], inside: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
        assert isinstance(call, ast.Call)
        if call.args:
            raise ValueError
        given = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError):
        raise InputError(f"expected parameters as in {kind.name}(name='value'); found {text!r}") from None
    takes = [field.name for field in fields(kind) if field.name != "cutoff"]
    for name in given:
        if name not in takes:
            had = ", ".join(takes) or "none"
            raise InputError(f"expected parameters of {kind.name} (it has {had}); found {name!r} in {text!r}")
    return given


def split_measures(text: str) -> list[str]:
    """The measures of a list with commas, those within brackets left alone.

    Raises:
        InputError: It names none.
    """
    found = [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]
    if not found:
        raise InputError(
            f"expected a measure, as in -m SupportRate; found {text!r}. `vericite measures` lists them; without -m the "
            "usual ones are taken."
        )
    return found
