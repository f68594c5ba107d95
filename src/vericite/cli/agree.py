"""``vericite agree`` and ``rankings``: how far raters agree, and how far measures rank systems alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.options import refuse_same, refuse_unwritable, report

if TYPE_CHECKING:
    from vericite.errors import RecordError
    from vericite.evaluate.ratings import Rating


def agree(
    ratings: Annotated[
        list[Path],
        typer.Argument(
            help='JSONL of ratings, {"item", "rater", "label", "group"?, "by"?}; of assessors\' labels '
            "(docs/measures.md); or of verdicts from `check --out`. Raters are named by their field, else by the file."
        ),
    ],
    reference: Annotated[
        str | None, typer.Option(help="The rater, such as a person, that each other is held against.", metavar="RATER")
    ] = None,
    measures: Annotated[
        str,
        typer.Option("--measures", "-m", help="Agreement measures as `vericite measures` lists them.", metavar="LIST"),
    ] = "CohenKappa,CategoryF1,FleissKappa,KrippendorffAlpha",
    categories: Annotated[
        str | None,
        typer.Option(help="All labels in their order, with commas, where their order counts.", metavar="LIST"),
    ] = None,
    by: Annotated[
        bool, typer.Option("--by", help='Show each value of the field "by" apart, such as CONTEXT-1 and CONTEXT-3.')
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the figures here, a line of JSON each.")] = None,
    draws: Annotated[int, typer.Option(min=100, help="Bootstrap draws for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
) -> None:
    """Measure how far raters agree on the same items: kappa, alpha and F1, with intervals and Landis and Koch's words.

    What cannot be defined, because all labels are the same, is said to be undefined. Labels that are missing, and
    verdicts that were abstained from, are counted and left out.
    """
    from vericite.cli.figures import show_agreement, write_figures
    from vericite.evaluate.measures.parsing import parse_measure, split_measures
    from vericite.evaluate.measures.registry import AGREEMENT
    from vericite.evaluate.ratings import agree as measure
    from vericite.evaluate.resampling import Bootstrap

    refuse_same(out, *ratings)
    if out is not None:
        refuse_unwritable(out)
    chosen = [parse_measure(text, AGREEMENT) for text in split_measures(measures)]
    known = [label.strip() for label in categories.split(",")] if categories else None
    found, problems = _read(ratings)
    agreed = measure(found, chosen, reference, known, Bootstrap(draws, seed), by)
    show_agreement(agreed)
    if out is not None:
        write_figures(agreed, out)
    report(problems)


def _read(paths: list[Path]) -> tuple[list[Rating], list[RecordError]]:
    from vericite.evaluate.ratings import read_raters

    found: list[Rating] = []
    problems: list[RecordError] = []
    for path in paths:
        rows, wrong = read_raters(path)
        found += rows
        problems += wrong
    return found, problems


def rankings(
    scores: Annotated[
        list[Path],
        typer.Argument(help='Figures as `vericite score --out` writes them: {"system", "measure", "value"} a line.'),
    ],
    reference: Annotated[
        str | None,
        typer.Option(help="The measure, such as one by people, that each other is held against.", metavar="MEASURE"),
    ] = None,
    measures: Annotated[
        str, typer.Option("--measures", "-m", help="Spearman, Kendall or both.", metavar="LIST")
    ] = "Spearman,Kendall",
    out: Annotated[Path | None, typer.Option(help="Write the figures here, a line of JSON each.")] = None,
    draws: Annotated[int, typer.Option(min=100, help="Bootstrap draws for the intervals.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
) -> None:
    """Measure whether two measures rank the same systems alike; intervals are drawn over systems."""
    from vericite.cli.figures import show_rankings, write_figures
    from vericite.evaluate.measures.parsing import parse_measure, split_measures
    from vericite.evaluate.measures.registry import RANKINGS
    from vericite.evaluate.rankings import rank_alike, read_scores
    from vericite.evaluate.resampling import Bootstrap

    refuse_same(out, *scores)
    if out is not None:
        refuse_unwritable(out)
    chosen = [parse_measure(text, RANKINGS) for text in split_measures(measures)]
    found, problems = read_scores(scores)
    correlated = rank_alike(found, chosen, reference, Bootstrap(draws, seed))
    show_rankings(correlated)
    if out is not None:
        write_figures(correlated, out)
    report(problems)
