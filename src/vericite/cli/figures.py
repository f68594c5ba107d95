"""Figures and comparisons as they are printed and written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from vericite.cli.show import clean
from vericite.errors import InputError
from vericite.evaluate.rankings import Correlated
from vericite.evaluate.ratings import Agreed
from vericite.evaluate.resampling import Estimate
from vericite.evaluate.scoring import Figure
from vericite.evaluate.significance import Comparison


def with_something(figures: Sequence[Figure]) -> tuple[list[Figure], int]:
    """The figures of measures that some system has a question for, and how many measures are left out."""
    there = {figure.measure for figure in figures if figure.estimate.n}
    return [figure for figure in figures if figure.measure in there], len({it.measure for it in figures} - there)


def show_figures(figures: Sequence[Figure], dropped: int = 0) -> None:
    """A table, under it the signatures that the figures have, and how many measures found nothing to count."""
    console = Console(highlight=False)
    systems = len({figure.system for figure in figures}) > 1
    groups = any(figure.group is not None for figure in figures)
    heads = ["measure", *(["system"] if systems else []), *(["group"] if groups else [])]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(head, no_wrap=True)
    for head in ("value", "95% interval", "n", "missing", "empty", "signature"):
        table.add_column(head, justify="left" if head == "95% interval" else "right", no_wrap=True)
    signatures = list(dict.fromkeys(figure.signature for figure in figures))
    # Systems side by side, which is what is compared.
    order = {measure: place for place, measure in enumerate(dict.fromkeys(figure.measure for figure in figures))}
    for figure in sorted(figures, key=lambda figure: order[figure.measure]):
        names = [str(figure.measure), *([clean(figure.system)] if systems else [])]
        names += [clean(figure.group or "all")] if groups else []
        table.add_row(
            *(Text(name) for name in names), *_cells(figure.estimate), f"[{signatures.index(figure.signature) + 1}]"
        )
    console.print(table)
    console.print()
    for number, signature in enumerate(signatures, start=1):
        console.print(Text(f"[{number}] {clean(signature)}", style="dim"), soft_wrap=True)
    if dropped:
        what = "measure has" if dropped == 1 else "measures have"
        console.print(Text(f"{dropped} more {what} nothing to count here: vericite measures", style="dim"))


def show_agreement(found: Sequence[Agreed]) -> None:
    """A table of coefficients, each with its interval and word."""
    console = Console(highlight=False)
    parts = any(one.by is not None for one in found)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("measure", "raters", *(["by"] if parts else []), "value", "95% interval", "n", "missing", ""):
        table.add_column(
            head, no_wrap=head != "raters", justify="right" if head in {"value", "n", "missing"} else "left"
        )
    for one in found:
        estimate = one.found.estimate
        value = "undefined" if estimate.value is None else f"{estimate.value:.3f}"
        names = [one.found.name, clean(", ".join(one.raters)), *([clean(one.by or "")] if parts else [])]
        counts = (str(one.found.n), str(one.found.missing), one.found.words or "")
        table.add_row(*(Text(name) for name in names), value, _interval(estimate), *counts)
    console.print(table)


def show_rankings(found: Sequence[Correlated]) -> None:
    """A table of rank correlations."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("correlation", "of", "with", "value", "95% interval", "systems", "missing"):
        table.add_column(head, justify="right" if head in {"value", "systems", "missing"} else "left")
    for one in found:
        estimate = one.found.estimate
        value = "undefined" if estimate.value is None else f"{estimate.value:.3f}"
        names = (one.found.name, clean(one.first), clean(one.second))
        table.add_row(*map(Text, names), value, _interval(estimate), str(one.found.n), str(one.found.missing))
    Console(highlight=False).print(table)


def write_figures(figures: Sequence[Figure | Agreed | Correlated], out: Path) -> None:
    """A line of JSON each.

    Raises:
        InputError: The file cannot be written.
    """
    lines = "".join(json.dumps(figure.record, ensure_ascii=False) + "\n" for figure in figures)
    try:
        out.write_text(lines, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"expected --out to be a file that can be written; found {out}: {error.strerror}") from None


def comparison_record(measure: str, one: Comparison) -> dict[str, object]:
    """A comparison as JSON has it."""
    found = one.difference
    return {
        "measure": measure,
        "first": one.first,
        "second": one.second,
        "values": list(one.values),
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "p": one.test.p,
        "p_holm": one.adjusted,
        "exact": one.test.exact,
        "effect": {"name": one.effect.name, "value": one.effect.value},
        "unmatched": one.unmatched,
        "not_scored": one.failed,
        "empty": found.empty,
        "sentence": one.sentence,
    }


def _cells(estimate: Estimate) -> tuple[str, ...]:
    value = "undefined" if estimate.value is None else f"{estimate.value:.3f}"
    return value, _interval(estimate), str(estimate.n), str(estimate.missing), str(estimate.empty)


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"[{estimate.low:.3f}, {estimate.high:.3f}]"
