"""Print and write scores and comparisons."""

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

from vericite.cli.io import clean, output, say, say_json
from vericite.cli.refusals import lines_before_errors, report
from vericite.cli.terminal import Terminal
from vericite.errors import Problems
from vericite.evaluate.agreement import FEWEST_SYSTEMS
from vericite.evaluate.ratings import Agreed, RankCorrelation
from vericite.evaluate.resampling import Estimate
from vericite.evaluate.scoring import Figure, Missing, System, counts_zero
from vericite.evaluate.significance import Comparison
from vericite.lab.assess.tables import FigureRow


@contextmanager
def reported(problems: Problems) -> Generator[None]:
    """Report the lines that could not be used at the end, and before an error that may be caused by them."""
    with lines_before_errors(problems):
        yield
    report(problems)


def with_something(figures: Sequence[Figure]) -> tuple[list[Figure], int]:
    """Return the figures of measures that apply to any question, and the number of other measures."""
    defined = {figure.measure for figure in figures if figure.estimate.n}
    kept = [figure for figure in figures if figure.measure in defined]
    return kept, len({figure.measure for figure in figures} - defined)


def show_figures(figures: Sequence[Figure], dropped: int = 0) -> None:
    """Print a table of figures, their signatures, and the number of measures with nothing to count."""
    systems = len({figure.system for figure in figures}) > 1
    groups = any(figure.group is not None for figure in figures)
    names = [*(["system"] if systems else []), *(["group"] if groups else [])]
    signatures = list(dict.fromkeys(figure.signature for figure in figures))
    # Rows are sorted by measure, so that systems can be compared.
    order = {measure: rank for rank, measure in enumerate(dict.fromkeys(figure.measure for figure in figures))}
    rows: list[list[str]] = []
    for figure in sorted(figures, key=lambda figure: order[figure.measure]):
        named = [*([figure.system] if systems else []), *([figure.group or "all"] if groups else [])]
        found = figure.estimate
        counts = [str(count) for count in (found.n, found.missing, found.empty)]
        made = f"[{signatures.index(figure.signature) + 1}]"
        rows.append([str(figure.measure), *named, _value(found), _interval(found), *counts, made])
    _show_table(["measure", *names, "value", _HEAD, "n", "missing", "empty", "signature"], rows, names)
    show_signatures(signatures, numbered=True)
    if dropped:
        what = "measure has" if dropped == 1 else "measures have"
        _print_line(f"{dropped} more {what} nothing to count here; see vericite measures")


def show_missing(figures: Sequence[Figure], missing: Missing) -> None:
    """Print how questions without output count in measures against gold."""
    if missing == "zero":
        _print_line("questions without output score 0 in measures against gold, as in trec_eval -c")
    elif any(figure.estimate.missing and counts_zero(figure.measure) for figure in figures):
        _print_line("missing questions are left out of measures against gold; --set missing=zero scores them 0")


def show_failures(systems: Sequence[System]) -> None:
    """Print the number of failed questions of each system, with the reasons."""
    for system in systems:
        reasons = Counter(item.failed for item in system.items if item.failed)
        if failed := reasons.total():
            named = [f"{reason} ({count})" for reason, count in reasons.most_common(5)]
            more = [f"and {len(reasons) - 5} other reasons"] if len(reasons) > 5 else []
            what = "question" if failed == 1 else "questions"
            _print_line(f"{system.name}: {failed} {what} failed: {', '.join([*named, *more])}")


def show_comparisons(found: Sequence[Comparison], signatures: Sequence[str], warnings: Sequence[str | None]) -> None:
    """Print a sentence for each comparison, then warnings and signatures."""
    for comparison in found:
        _print_line(comparison.sentence, style="")
    for warning in dict.fromkeys(warnings):
        if warning:
            _print_line(warning, style="yellow")
    show_signatures(signatures)


def show_agreement(found: Sequence[Agreed]) -> None:
    """Print a table of coefficients with intervals and words, and their signatures."""
    names = ["raters", *(["by"] if any(agreed.by is not None for agreed in found) else [])]
    words = [""] if any(agreed.found.words for agreed in found) else []
    rows: list[list[str]] = []
    for agreed in found:
        coefficient = agreed.found
        named = [", ".join(agreed.raters), agreed.by or ""][: len(names)]
        counts = [str(coefficient.n), str(coefficient.missing), *([coefficient.words or ""] if words else [])]
        value, interval = _value(coefficient.estimate), _interval(coefficient.estimate)
        rows.append([coefficient.name, *named, value, interval, *counts])
    _show_table(["measure", *names, "value", _HEAD, "n", "missing", *words], rows, names)
    show_signatures([agreed.signature for agreed in found])


def show_rankings(found: Sequence[RankCorrelation]) -> None:
    """Print a table of rank correlations, and their signatures."""
    rows = [
        [
            correlation.found.name,
            correlation.first,
            correlation.second,
            _value(correlation.found.estimate),
            _interval(correlation.found.estimate),
            str(correlation.found.n),
            str(correlation.found.missing),
        ]
        for correlation in found
    ]
    # No column is folded: measures must stay readable as strings.
    _show_table(["correlation", "of", "with", "value", _HEAD, "systems", "missing"], rows)
    if any(correlation.found.value is not None and correlation.found.n < FEWEST_SYSTEMS for correlation in found):
        _print_line(f"-: too few systems for an interval, which needs at least {FEWEST_SYSTEMS}")
    show_signatures([correlation.signature for correlation in found])


def show_signatures(signatures: Sequence[str], numbered: bool = False) -> None:
    """Print the distinct signatures as short hashes, with their numbers in the table."""
    shown = [hashlib.sha256(text.encode()).hexdigest()[:8] for text in dict.fromkeys(signatures)]
    named = [f"[{number}] {short}" if numbered else short for number, short in enumerate(shown, start=1)]
    what = "signature" if len(named) == 1 else "signatures"
    _print_line("")
    _print_line(f"{what}: {', '.join(named)} (--json shows them in full)")


_HEAD = "95% interval"
_LEFT = frozenset({"measure", "correlation", "of", "with", "system", "group", "raters", "by", _HEAD, ""})
_FOLDED = 12
"""Minimum width of a folded column."""


def _print_line(text: str, style: str = "dim") -> None:
    Terminal().print(Text(clean(text), style=style), soft_wrap=True)


def _show_table(heads: Sequence[str], rows: Sequence[Sequence[str]], folded: Collection[str] = ()) -> None:
    """Print a table without truncation; in a narrow terminal the ``folded`` columns are wrapped."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = [[clean(cell) for cell in row] for row in rows]
    whole, least = 0, 0
    for index, head in enumerate(heads):
        width = max([cell_len(head), *(cell_len(row[index]) for row in shown)])
        whole += width + 2
        least += min(width, _FOLDED) + 2 if head in folded else width + 2
        justify = "left" if head in _LEFT else "right"
        table.add_column(head, justify=justify, no_wrap=head not in folded, overflow="fold")
    for row in shown:
        table.add_row(*map(Text, row))
    console = Terminal()
    # A pipe has no width, so use the full width of the table.
    console.width = max(console.width, least - 2) if console.is_terminal else whole - 2
    console.print(table)


def show_assessment(rows: Sequence[FigureRow]) -> None:
    """Print BioACE's tables with their names, and what is needed for rows without figures."""
    for name, listed in groupby(rows, key=lambda row: row.table):
        within = list(listed)
        say(f"\n{name}")
        shown = [
            [row.row, row.system or "all", row.by or "", _value(found), _interval(found), str(found.n)]
            for row in within
            for found in [row.estimate]
            if found is not None
        ]
        if shown:
            _show_table(["row", "system", "by", "value", _HEAD, "n"], shown, ["row", "system", "by"])
        for needs in dict.fromkeys(row.needs for row in within if row.estimate is not None and row.needs):
            say(f"  needs {needs}")
        for row in within:
            if row.estimate is None and row.needs:
                say(f"  {row.row}{f' ({row.by})' if row.by else ''}: needs {row.needs}")


def print_records(records: Sequence[Mapping[str, object]]) -> None:
    """Print records as JSON."""
    say_json(json.dumps(records, indent=2, ensure_ascii=False))


def write_records(records: Sequence[Mapping[str, object]], out: Path) -> None:
    """Write records: a CSV table if the file's name ends in ``.csv``, a JSON list for ``.json``, else JSON Lines.

    Raises:
        InputError: The file cannot be written.
    """
    if out.suffix.lower() == ".csv":
        text = _table(records)
    elif out.suffix.lower() == ".json":
        text = json.dumps(records, indent=2, ensure_ascii=False) + "\n"
    else:
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    with output(out) as file:
        assert file is not None
        file.write([text])


def _table(records: Sequence[Mapping[str, object]]) -> str:
    """Return records as CSV with a header; nested fields have names with dots."""
    rows = [dict(_flat(record)) for record in records]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(record: Mapping[str, object], within: str = "") -> Iterator[tuple[str, object]]:
    for name, value in record.items():
        if isinstance(value, Mapping):
            yield from _flat(cast("Mapping[str, object]", value), f"{within}{name}.")
        else:
            yield f"{within}{name}", _cell(value)


def _cell(value: object) -> object:
    """Convert a value for a CSV cell; text that a spreadsheet would read as a formula is escaped."""
    if isinstance(value, list | tuple):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return f"'{value}"
    return value


def comparison_record(measure: str, comparison: Comparison, signature: str, warning: str | None) -> dict[str, object]:
    """Return a comparison as a JSON-ready dict."""
    found = comparison.difference
    return {
        "measure": measure,
        "first": comparison.first,
        "second": comparison.second,
        "values": list(comparison.values),
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "p": comparison.test.p,
        "p_holm": comparison.adjusted,
        "exact": comparison.test.exact,
        "effect": {"name": comparison.effect.name, "value": comparison.effect.value},
        "unmatched": comparison.unmatched,
        "not_scored": comparison.failed,
        "empty": found.empty,
        "sentence": comparison.sentence,
        "signature": signature,
        "warning": warning,
    }


def _value(estimate: Estimate) -> str:
    return "undefined" if estimate.value is None else f"{estimate.value:.3f}"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"[{estimate.low:.3f}, {estimate.high:.3f}]"
