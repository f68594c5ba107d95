"""``vericite agree`` and ``rankings``: how far raters agree, and how far measures rank systems alike."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from vericite.cli.options import DrawsOption, OutOption, SeedOption, refuse_same, refuse_unwritable


class Rated(StrEnum):
    """What is rated in files of labels and of verdicts."""

    CITATIONS = "citations"
    RATIONALE = "rationale"


RatingsArgument = Annotated[
    list[Path],
    typer.Argument(
        help='JSONL of ratings, {"item", "rater", "label", "group"?, "by"?}; of assessors\' labels '
        "(docs/measures.md); or of verdicts from `check --out`. Raters are named by their field, else by the file."
    ),
]
RaterOption = Annotated[
    str | None, typer.Option(help="The rater, such as a person, that each other is held against.", metavar="RATER")
]
AgreementOption = Annotated[
    str,
    typer.Option("--measures", "-m", help="Agreement measures as `vericite measures` lists them.", metavar="LIST"),
]
CategoriesOption = Annotated[
    str | None,
    typer.Option(
        help="All labels in their order, with commas; weights and an ordinal alpha need them.", metavar="LIST"
    ),
]
OfOption = Annotated[
    Rated, typer.Option(help="What is rated in labels and verdicts: citations, or statements of a rationale.")
]
ByOption = Annotated[
    bool, typer.Option("--by", help='Show each value of the field "by" apart, such as CONTEXT-1 and CONTEXT-3.')
]


def agree(
    ratings: RatingsArgument,
    reference: RaterOption = None,
    measures: AgreementOption = "CohenKappa,CategoryF1,FleissKappa,KrippendorffAlpha",
    categories: CategoriesOption = None,
    of: OfOption = Rated.CITATIONS,
    by: ByOption = False,
    out: OutOption = None,
    draws: DrawsOption = 1000,
    seed: SeedOption = 0,
) -> None:
    """Measure how far raters agree on the same items: kappa, alpha and F1, with intervals and Landis and Koch's words.

    What cannot be defined, because all labels are the same, is said to be undefined. Labels that are missing, and
    verdicts that were abstained from, are counted and left out.
    """
    from vericite.cli.figures import reported, show_agreement, write_figures
    from vericite.errors import RecordError
    from vericite.evaluate.measures.parsing import parse_measure, split_measures
    from vericite.evaluate.measures.registry import AGREEMENT
    from vericite.evaluate.ratings import agree as measure
    from vericite.evaluate.ratings import read_ratings
    from vericite.evaluate.resampling import Bootstrap

    _refuse(out, ratings)
    chosen = [parse_measure(text, AGREEMENT) for text in split_measures(measures)]
    known = [label.strip() for label in categories.split(",")] if categories else None
    problems: list[RecordError] = []
    with reported(problems):
        found = read_ratings(ratings, problems, of.value)
        agreed = measure(found, chosen, reference, known, Bootstrap(draws, seed), by)
        show_agreement(agreed)
        if out is not None:
            write_figures(agreed, out)


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
    out: OutOption = None,
    draws: DrawsOption = 1000,
    seed: SeedOption = 0,
) -> None:
    """Measure whether two measures rank the same systems alike; intervals are drawn over systems."""
    from vericite.cli.figures import reported, show_rankings, write_figures
    from vericite.errors import RecordError
    from vericite.evaluate.measures.parsing import parse_measure, split_measures
    from vericite.evaluate.measures.registry import RANKINGS
    from vericite.evaluate.rankings import rank_alike, read_scores
    from vericite.evaluate.resampling import Bootstrap

    _refuse(out, scores)
    chosen = [parse_measure(text, RANKINGS) for text in split_measures(measures)]
    problems: list[RecordError] = []
    with reported(problems):
        found, wrong = read_scores(scores)
        problems += wrong
        correlated = rank_alike(found, chosen, reference, Bootstrap(draws, seed))
        show_rankings(correlated)
        if out is not None:
            write_figures(correlated, out)


def _refuse(out: Path | None, read: list[Path]) -> None:
    refuse_same(out, *read)
    refuse_unwritable(out)
