"""``vericite score``, ``compare``, ``agree`` and ``rankings``: measure answers from any source, without a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import note
from vericite.cli.options import (
    ColumnsOption,
    CsvOption,
    DrawSeedOption,
    DrawsOption,
    JsonOption,
    OutOption,
    SignaturesOption,
)
from vericite.cli.refusals import refuse_both, refuse_same, refuse_unwritable
from vericite.errors import Problems

if TYPE_CHECKING:
    from vericite.evaluate.measures.measure import Measure
    from vericite.evaluate.scoring import System
    from vericite.evaluate.systems import LoadedSystems


GoldOption = Annotated[
    Path | None,
    typer.Option(
        help='Gold: JSONL with a question per line, {"id", "ideal"?, "exact"?, "documents"?, "citations"?, '
        '"nuggets"?, "groups"?} (docs/measures.md), TREC relevance judgements, or a data set, as in mirage:FILE.',
        metavar="FILE",
    ),
]
MeasuresOption = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        "-m",
        help="Measures from `vericite measures`, as in -m SupportRate,nDCG@10; may be repeated. Default: all measures "
        "whose inputs the files have.",
        metavar="LIST",
    ),
]
ComparedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        "-m",
        help="Measures from `vericite measures`, as in -m SupportRate,nDCG@10; may be repeated. Default: one measure, "
        "the first whose inputs the files have.",
        metavar="LIST",
    ),
]
DocumentsOption = Annotated[
    Path | None,
    typer.Option(help="JSONL of documents that answers cite by PMID, DOI or address.", metavar="FILE"),
]
NameOption = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        help="Name of a system; repeat it in the order of the systems. Default: the name of its file or folder.",
    ),
]
SystemsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Each is a system: a file of answers (any format of `check`), runs or verdicts, a TREC run, a folder "
        "with answers.jsonl, verdicts.jsonl, labels.jsonl, scores.jsonl, outputs.jsonl, features.npz, or a folder of "
        "`ask --save`."
    ),
]
GroupsOption = Annotated[
    str | None,
    typer.Option(
        help="Also show the scores for each type, or for each group in this field of the gold.", metavar="GROUP"
    ),
]


class MissingTopics(StrEnum):
    """How measures against gold treat questions without output."""

    OUT = "out"
    ZERO = "zero"


MissingOption = Annotated[
    MissingTopics,
    typer.Option(
        help="How measures against gold treat questions without output: leave them out (out; like trec_eval), or score "
        "them 0 (zero; like trec_eval -c)."
    ),
]
_SIDE_FILES = "Files that accompany the answers of a single system"
VerdictsOption = Annotated[Path | None, typer.Option(help="Verdicts from `check --out`.", rich_help_panel=_SIDE_FILES)]
LabelsOption = Annotated[Path | None, typer.Option(help="Assessors' labels.", rich_help_panel=_SIDE_FILES)]
ScoresOption = Annotated[Path | None, typer.Option(help="Precomputed model scores.", rich_help_panel=_SIDE_FILES)]
OutputsOption = Annotated[
    Path | None, typer.Option(help="Retrieved documents and exact answers.", rich_help_panel=_SIDE_FILES)
]
FeaturesOption = Annotated[
    Path | None, typer.Option(help="Vectors of answers and references, for MAUVE.", rich_help_panel=_SIDE_FILES)
]


def score(
    systems: SystemsArgument,
    gold: GoldOption = None,
    measures: MeasuresOption = None,
    by: GroupsOption = None,
    out: OutOption = None,
    verdicts: VerdictsOption = None,
    labels: LabelsOption = None,
    scores: ScoresOption = None,
    outputs: OutputsOption = None,
    features: FeaturesOption = None,
    documents: DocumentsOption = None,
    columns: ColumnsOption = None,
    name: NameOption = None,
    draws: DrawsOption = 1000,
    seed: DrawSeedOption = 0,
    missing: MissingOption = MissingTopics.OUT,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    signatures: SignaturesOption = False,
) -> None:
    """Score answers. Each score has a count, a 95% interval and a signature.

    The systems in MedAESQA's file are scored separately. Failed and missing questions are counted, not averaged in as
    0. Lines that cannot be used are reported and skipped; the exit code is then 2.
    """
    from vericite.cli.figures import (
        print_records,
        reported,
        show_failures,
        show_figures,
        show_missing,
        with_something,
        write_figures,
    )
    from vericite.evaluate.resampling import Bootstrap
    from vericite.evaluate.scoring import score_systems

    given = {"verdicts": verdicts, "labels": labels, "scores": scores, "outputs": outputs, "features": features}
    beside = {kind: path for kind, path in given.items() if path}
    refuse_both(as_json, as_csv)
    _refuse(systems, beside, out)
    problems = Problems()
    with reported(problems):
        read = _read(systems, problems, gold, beside, documents, columns, name)
        refuse_same(out, *read.paths, documents)
        _expect_group(by, read)
        chosen = _chosen(read, measures)
        figures = score_systems(read.systems, chosen, Bootstrap(draws, seed), by, missing.value)
        figures, dropped = (figures, 0) if measures else with_something(figures)
        if as_json or as_csv:
            print_records([figure.record for figure in figures], as_csv)
        else:
            show_figures(figures, dropped, whole=signatures)
            show_missing(figures, missing.value)
            show_failures(read.systems)
        named = {system.name: system for system in read.systems}
        empty = [figure for figure in figures if figure.group is None and not figure.estimate.n]
        _hint([(figure.measure, named[figure.system]) for figure in empty])
        if out is not None:
            write_figures(figures, out)


def compare(
    first: Annotated[Path, typer.Argument(help="A system, as for `score`.")],
    second: Annotated[
        Path | None,
        typer.Argument(help="Another system, on the same questions; not needed if the file has several systems."),
    ] = None,
    gold: GoldOption = None,
    measures: ComparedOption = None,
    documents: DocumentsOption = None,
    columns: ColumnsOption = None,
    name: NameOption = None,
    draws: DrawsOption = 1000,
    seed: DrawSeedOption = 0,
    missing: MissingOption = MissingTopics.OUT,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    signatures: SignaturesOption = False,
) -> None:
    """Compare two systems on the same questions, in one sentence per measure.

    The systems in MedAESQA's file are compared pairwise. The difference has a paired bootstrap interval, and p is from
    a paired permutation test, corrected by Holm's method for several comparisons. The default measure is the first of
    supported citations, coverage, nuggets, exact answers, ROUGE and ranking whose inputs the files have.
    """
    from vericite.cli.figures import comparison_record, print_records, reported, show_comparisons
    from vericite.errors import InputError
    from vericite.evaluate.resampling import Bootstrap
    from vericite.evaluate.scoring import compare_all_pairs, comparison_signature, counts_zero, different_judges_warning

    refuse_both(as_json, as_csv)
    problems = Problems()
    with reported(problems):
        places = [first, *([second] if second else [])]
        # Two locations are two systems, whatever the ids of their questions.
        read = _read(places, problems, gold, {}, documents, columns, name, whole=second is not None)
        if len(read.systems) < 2:
            raise InputError(f"expected two systems to compare; found one, {first}. Name another after it.")
        chosen = _chosen(read, measures) if measures else _preferred(read)
        drawn = Bootstrap(draws, seed)
        compared = compare_all_pairs(read.systems, chosen, drawn, missing.value)
        counted = missing is MissingTopics.ZERO
        made_by = [
            comparison_signature(measure, one, other, drawn)
            + ("|missing=0" if counted and counts_zero(measure) else "")
            for one, other, measure, _ in compared
        ]
        warnings = [different_judges_warning(measure, one, other) for one, other, measure, _ in compared]
        found = [comparison for *_, comparison in compared]
        if as_json or as_csv:
            rows = zip([str(measure) for _, _, measure, _ in compared], found, made_by, warnings, strict=True)
            print_records([comparison_record(*row) for row in rows], as_csv)
        else:
            show_comparisons(found, made_by, warnings, whole=signatures)
        undefined = [(measure, pair) for *pair, measure, result in compared if result.difference.value is None]
        _hint([(measure, system) for measure, pair in undefined for system in pair])


def _hint(undefined: Sequence[tuple[Measure, System]]) -> None:
    """Print to stderr why scores are undefined, and what to provide."""
    from vericite.evaluate.scoring import undefined_reasons

    for line in undefined_reasons(undefined):
        note(line)


def _refuse(systems: Sequence[Path], beside: Mapping[str, Path], out: Path | None) -> None:
    from vericite.errors import InputError

    if len(systems) > 1 and beside:
        kind = next(iter(beside))
        raise InputError(
            f"expected --{kind} with a single system; found {len(systems)}. Give each system a folder with "
            f"answers.jsonl and {kind}.jsonl."
        )
    refuse_unwritable(out)


def _read(
    places: Sequence[Path],
    problems: Problems,
    gold: Path | None,
    beside: Mapping[str, Path],
    documents: Path | None,
    columns: str | None,
    names: Sequence[str] | None,
    whole: bool = False,
) -> LoadedSystems:
    from vericite.cli.answers import read_library
    from vericite.cli.io import remark_leakage
    from vericite.evaluate.systems import read_systems

    remark_leakage(gold, *places)

    library = read_library(documents, problems)
    return read_systems(places, problems, gold, beside, library, names or (), columns, whole)


def _expect_group(by: str | None, read: LoadedSystems) -> None:
    from vericite.errors import InputError, UnknownNameError

    if by is None or by in read.groups:
        return
    if not read.groups:
        raise InputError(f'expected gold with a type or "groups" to split scores by; found none for --by {by}')
    raise UnknownNameError("group", by, read.groups)


def _chosen(read: LoadedSystems, named: list[str] | None) -> list[Measure]:
    from vericite.errors import InputError
    from vericite.evaluate.measures.registry import measures_for, measures_named

    if named:
        return measures_named(named)
    found = list(dict.fromkeys(measure for system in read.systems for measure in measures_for(system.items)))
    if not found:
        raise InputError(
            "expected verdicts, gold, labels or scores with the answers; found none that a measure needs. "
            "`vericite measures` lists what each needs; `vericite check FILE --out verdicts.jsonl` makes verdicts."
        )
    return found


def _preferred(read: LoadedSystems) -> list[Measure]:
    from vericite.evaluate.measures.registry import preferred_measure

    found = preferred_measure([system.items for system in read.systems])
    if any(all(item.checked is None for item in system.items) for system in read.systems):
        note(
            f"no measure was named, and not all systems have verdicts: compared by {found}. `vericite check FILE --out "
            "VERDICTS` makes verdicts; `vericite measures` lists the values of -m"
        )
    return [found]


class Rated(StrEnum):
    """The items of labels and verdicts."""

    CITATIONS = "citations"
    RATIONALE = "rationale"


RatingsArgument = Annotated[
    list[Path],
    typer.Argument(
        help='JSONL of ratings, {"item", "rater", "label", "group"?, "by"?}; of assessors\' labels '
        "(docs/measures.md); or of verdicts from `check --out`. The default name of a "
        "rater is that of the file."
    ),
]
RaterOption = Annotated[
    str | None,
    typer.Option(help="The rater to compare the others with, such as a person.", metavar="RATER"),
]
AgreementOption = Annotated[
    str,
    typer.Option("--measures", "-m", help="Agreement measures from `vericite measures`.", metavar="LIST"),
]
CategoriesOption = Annotated[
    str | None,
    typer.Option(
        help="All labels in order, separated by commas; needed for weighted kappa and ordinal alpha.", metavar="LIST"
    ),
]
OfOption = Annotated[
    Rated, typer.Option(help="Items to compare in labels and verdicts: citations, or statements of a rationale.")
]
ValuesOption = Annotated[
    bool, typer.Option("--by", help='Show each value of the field "by" separately, such as CONTEXT-1 and CONTEXT-3.')
]


def agree(
    ratings: RatingsArgument,
    reference: RaterOption = None,
    measures: AgreementOption = "CohenKappa,CategoryF1,FleissKappa,KrippendorffAlpha",
    categories: CategoriesOption = None,
    of: OfOption = Rated.CITATIONS,
    by: ValuesOption = False,
    out: OutOption = None,
    draws: DrawsOption = 1000,
    seed: DrawSeedOption = 0,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    signatures: SignaturesOption = False,
) -> None:
    """Measure the agreement of raters: kappa, alpha and F1, with intervals and Landis and Koch's words.

    Coefficients that are undefined, because all labels are the same, are shown as such. Missing labels and abstentions
    are counted and left out.
    """
    from vericite.cli.figures import print_records, reported, show_agreement, write_figures
    from vericite.evaluate.measures.registry import AGREEMENT, parse_measure, split_measures
    from vericite.evaluate.ratings import agree as measure
    from vericite.evaluate.ratings import read_ratings
    from vericite.evaluate.resampling import Bootstrap

    refuse_both(as_json, as_csv)
    _refuse_written_over(out, ratings)
    chosen = [parse_measure(text, AGREEMENT) for text in split_measures(measures)]
    known = [label.strip() for label in categories.split(",")] if categories else None
    problems = Problems()
    with reported(problems):
        found = read_ratings(ratings, problems, of.value)
        agreed = measure(found, chosen, reference, known, Bootstrap(draws, seed), by)
        if as_json or as_csv:
            print_records([coefficient.record for coefficient in agreed], as_csv)
        else:
            show_agreement(agreed, whole=signatures)
        if out is not None:
            write_figures(agreed, out)


def rankings(
    scores: Annotated[
        list[Path],
        typer.Argument(help='Scores from `vericite score --out`: one {"system", "measure", "value"} per line.'),
    ],
    reference: Annotated[
        str | None,
        typer.Option(help="The measure to compare the others with, such as a human rating.", metavar="MEASURE"),
    ] = None,
    measures: Annotated[
        str, typer.Option("--measures", "-m", help="Spearman, Kendall or both.", metavar="LIST")
    ] = "Spearman,Kendall",
    out: OutOption = None,
    draws: DrawsOption = 1000,
    seed: DrawSeedOption = 0,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
    signatures: SignaturesOption = False,
) -> None:
    """Correlate the rankings of systems by two measures; intervals are drawn over systems."""
    from vericite.cli.figures import print_records, reported, show_rankings, write_figures
    from vericite.evaluate.measures.registry import RANKINGS, parse_measure, split_measures
    from vericite.evaluate.ratings import correlate_rankings, read_scores
    from vericite.evaluate.resampling import Bootstrap

    refuse_both(as_json, as_csv)
    _refuse_written_over(out, scores)
    chosen = [parse_measure(text, RANKINGS) for text in split_measures(measures)]
    problems = Problems()
    with reported(problems):
        found = read_scores(scores, problems)
        correlated = correlate_rankings(found, chosen, reference, Bootstrap(draws, seed))
        if as_json or as_csv:
            print_records([correlation.record for correlation in correlated], as_csv)
        else:
            show_rankings(correlated, whole=signatures)
        if out is not None:
            write_figures(correlated, out)


def _refuse_written_over(out: Path | None, read: list[Path]) -> None:
    refuse_same(out, *read)
    refuse_unwritable(out)
