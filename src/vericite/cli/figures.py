"""Figures and comparisons as they are printed and written."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import cast

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from vericite.assess.tables import FigureRow
from vericite.cli.io import clean, output, say, say_json
from vericite.cli.refusals import lines_before_errors, report
from vericite.cli.terminal import Terminal
from vericite.errors import RecordError
from vericite.evaluate.agreement import FEWEST_SYSTEMS
from vericite.evaluate.ratings import Agreed, RankCorrelation
from vericite.evaluate.resampling import Estimate
from vericite.evaluate.scoring import Figure, Missing, System, counts_zero
from vericite.evaluate.significance import Comparison


@contextmanager
def reported(problems: list[RecordError]) -> Generator[None]:
    """Names the lines that could not be used at the end, and also before an error that may come of them."""
    with lines_before_errors(problems):
        yield
    report(problems)


def with_something(figures: Sequence[Figure]) -> tuple[list[Figure], int]:
    """The figures of measures that some system has a question for, and how many measures are left out."""
    there = {figure.measure for figure in figures if figure.estimate.n}
    return [figure for figure in figures if figure.measure in there], len({it.measure for it in figures} - there)


def show_figures(figures: Sequence[Figure], dropped: int = 0, whole: bool = False) -> None:
    """A table, under it the signatures that the figures have, and how many measures found nothing to count."""
    systems = len({figure.system for figure in figures}) > 1
    groups = any(figure.group is not None for figure in figures)
    names = [*(["system"] if systems else []), *(["group"] if groups else [])]
    signatures = list(dict.fromkeys(figure.signature for figure in figures))
    # Systems side by side, which is what is compared.
    order = {measure: place for place, measure in enumerate(dict.fromkeys(figure.measure for figure in figures))}
    rows: list[list[str]] = []
    for figure in sorted(figures, key=lambda figure: order[figure.measure]):
        named = [*([figure.system] if systems else []), *([figure.group or "all"] if groups else [])]
        found = figure.estimate
        counts = [str(count) for count in (found.n, found.missing, found.empty)]
        made = f"[{signatures.index(figure.signature) + 1}]"
        rows.append([str(figure.measure), *named, _value(found), _interval(found), *counts, made])
    _show_table(["measure", *names, "value", _HEAD, "n", "missing", "empty", "signature"], rows, names)
    show_signatures(signatures, whole, numbered=True)
    if dropped:
        what = "measure has" if dropped == 1 else "measures have"
        _print_line(f"{dropped} more {what} nothing to count here: vericite measures")


def show_missing(figures: Sequence[Figure], missing: Missing) -> None:
    """Whether questions that a system has nothing for were left out of measures against gold, or counted 0."""
    if missing == "zero":
        _print_line("questions that a system has nothing for count 0 in measures against gold, as in trec_eval -c")
    elif any(figure.estimate.missing and counts_zero(figure.measure) for figure in figures):
        _print_line("missing questions are left out of measures against gold; --missing zero counts them 0")


def show_failures(systems: Sequence[System]) -> None:
    """How many questions of each system have no answer, and why, where that is known."""
    for system in systems:
        reasons = Counter(item.failed for item in system.items if item.failed)
        if failed := reasons.total():
            named = [f"{reason} ({count})" for reason, count in reasons.most_common(5)]
            more = [f"and {len(reasons) - 5} other reasons"] if len(reasons) > 5 else []
            what = "question" if failed == 1 else "questions"
            _print_line(f"{system.name}: {failed} {what} failed: {', '.join([*named, *more])}")


def show_comparisons(
    found: Sequence[Comparison], signatures: Sequence[str], warnings: Sequence[str | None], whole: bool = False
) -> None:
    """A sentence each, then what the verdicts differ in, and what made them."""
    for one in found:
        _print_line(one.sentence, style="")
    for warning in dict.fromkeys(warnings):
        if warning:
            _print_line(warning, style="yellow")
    show_signatures(signatures, whole)


def show_agreement(found: Sequence[Agreed], whole: bool = False) -> None:
    """A table of coefficients, each with its interval and word, and what made them."""
    names = ["raters", *(["by"] if any(one.by is not None for one in found) else [])]
    words = [""] if any(one.found.words for one in found) else []
    rows: list[list[str]] = []
    for one in found:
        named = [", ".join(one.raters), one.by or ""][: len(names)]
        counts = [str(one.found.n), str(one.found.missing), *([one.found.words or ""] if words else [])]
        rows.append([one.found.name, *named, _value(one.found.estimate), _interval(one.found.estimate), *counts])
    _show_table(["measure", *names, "value", _HEAD, "n", "missing", *words], rows, names)
    show_signatures([one.signature for one in found], whole)


def show_rankings(found: Sequence[RankCorrelation], whole: bool = False) -> None:
    """A table of rank correlations, and what made them."""
    rows = [
        [
            one.found.name,
            one.first,
            one.second,
            _value(one.found.estimate),
            _interval(one.found.estimate),
            str(one.found.n),
            str(one.found.missing),
        ]
        for one in found
    ]
    # What is correlated are measures, so these are not broken either.
    _show_table(["correlation", "of", "with", "value", _HEAD, "systems", "missing"], rows)
    if any(one.found.value is not None and one.found.n < FEWEST_SYSTEMS for one in found):
        _print_line(f"-: too few systems for an interval, which takes {FEWEST_SYSTEMS} or more")
    show_signatures([one.signature for one in found], whole)


def show_signatures(signatures: Sequence[str], whole: bool, numbered: bool = False) -> None:
    """Each signature once, with the number that a table names it by; as a short hash, where not ``whole``."""
    distinct = list(dict.fromkeys(signatures))
    shown = distinct if whole else [hashlib.sha256(text.encode()).hexdigest()[:8] for text in distinct]
    _print_line("")
    if whole:
        for number, signature in enumerate(shown, start=1):
            _print_line(f"[{number}] {signature}" if numbered else signature)
        return
    named = [f"[{number}] {short}" if numbered else short for number, short in enumerate(shown, start=1)]
    what = "signature" if len(named) == 1 else "signatures"
    _print_line(f"{what}: {', '.join(named)} (--signatures shows what made the figures)")


_HEAD = "95% interval"
_LEFT = frozenset({"measure", "correlation", "of", "with", "system", "group", "raters", "by", _HEAD, ""})
_FOLDED = 12
"""Characters a line that a name which may be broken keeps at least."""


def _print_line(text: str, style: str = "dim") -> None:
    Terminal().print(Text(clean(text), style=style), soft_wrap=True)


def _show_table(heads: Sequence[str], rows: Sequence[Sequence[str]], folded: Collection[str] = ()) -> None:
    """A table whose columns are whole: in a narrow terminal those of ``folded`` are broken, and no other is cut."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = [[clean(cell) for cell in row] for row in rows]
    whole, least = 0, 0
    for place, head in enumerate(heads):
        width = max([cell_len(head), *(cell_len(row[place]) for row in shown)])
        whole += width + 2
        least += min(width, _FOLDED) + 2 if head in folded else width + 2
        justify = "left" if head in _LEFT else "right"
        table.add_column(head, justify=justify, no_wrap=head not in folded, overflow="fold")
    for row in shown:
        table.add_row(*map(Text, row))
    console = Terminal()
    # What reads a pipe has no width of its own.
    console.width = max(console.width, least - 2) if console.is_terminal else whole - 2
    console.print(table)


def show_assessment(rows: Sequence[FigureRow]) -> None:
    """BioACE's tables, one under the other under their names: figures, and what the rows without them need."""
    for name, listed in groupby(rows, key=lambda row: row.table):
        within = list(listed)
        say(f"\n{name}")
        shown = [
            [row.row, row.system or "all", _value(row.estimate), _interval(row.estimate), str(row.estimate.n)]
            for row in within
            if row.estimate is not None
        ]
        if shown:
            _show_table(["row", "system", "value", _HEAD, "n"], shown, ["row", "system"])
        for row in within:
            if row.needs:
                say(f"  {row.row}: needs {row.needs}")


def print_records(records: Sequence[Mapping[str, object]], as_csv: bool) -> None:
    """Figures as JSON, or as CSV."""
    if as_csv:
        print_csv(records)
    else:
        say_json(json.dumps(records, indent=2, ensure_ascii=False))


def print_csv(records: Sequence[Mapping[str, object]]) -> None:
    """A line a record under a line of names; what is within a field has a name with a dot."""
    rows = [dict(_flat(record)) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    say(text.getvalue().rstrip("\n"))


def _flat(record: Mapping[str, object], within: str = "") -> Iterator[tuple[str, object]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(cast("Mapping[str, object]", value), f"{within}{name}.")
        else:
            yield f"{within}{name}", _cell(value)


def _cell(value: object) -> object:
    """A value as a table holds it. Text that a spreadsheet would take for a formula is marked as text."""
    if isinstance(value, list | tuple):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value


def write_figures(figures: Sequence[Figure | Agreed | RankCorrelation], out: Path) -> None:
    """A line of JSON each.

    Raises:
        InputError: The file cannot be written.
    """
    lines = "".join(json.dumps(figure.record, ensure_ascii=False) + "\n" for figure in figures)
    with output(out) as file:
        assert file is not None
        file.write([lines])


def comparison_record(measure: str, one: Comparison, signature: str, warning: str | None) -> dict[str, object]:
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
        "signature": signature,
        "warning": warning,
    }


def _value(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else f"{estimate.value:.3f}"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"[{estimate.low:.3f}, {estimate.high:.3f}]"
