"""``vericite score``, ``compare``, ``agree`` and ``rankings``: measure answers from any source, without a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import note
from vericite.cli.options import FormatOption, JsonOption, OutOption
from vericite.cli.plans import SetOption, settings_from
from vericite.cli.refusals import prepare_output, refuse_same, refuse_verdicts_aside
from vericite.errors import Problems

if TYPE_CHECKING:
    from vericite.evaluate.measures.measure import Measure
    from vericite.evaluate.scoring import System
    from vericite.evaluate.systems import LoadedSystems
    from vericite.pipeline.plan import Plan


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
SystemsArgument = Annotated[
    list[str],
    typer.Argument(
        help="Each is a system: a file of answers (any format of `check`), runs or verdicts, a TREC run, a folder "
        "with answers.jsonl, verdicts.jsonl, labels.jsonl, scores.jsonl, outputs.jsonl, evidence.jsonl, features.npz, "
        "or a folder of `ask --save`. NAME=PLACE names it; the default is the name of its file or folder.",
        metavar="SYSTEM",
    ),
]
GroupsOption = Annotated[
    str | None,
    typer.Option(
        help="Also show separate scores for each value of this: type, a group of the gold, or design (that of the "
        "cited studies).",
        metavar="GROUP",
    ),
]


WithOption = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        help="A file that accompanies the answers of a single system; may be repeated: verdicts of `check --out`, "
        "assessors' labels, scores of a model, outputs (retrieved documents, exact answers), features for MAUVE, or "
        "evidence of `vericite evidence --json`.",
        metavar="KIND=FILE",
    ),
]


def score(
    systems: SystemsArgument,
    gold: GoldOption = None,
    measures: MeasuresOption = None,
    by: GroupsOption = None,
    out: OutOption = None,
    with_: WithOption = None,
    documents: DocumentsOption = None,
    format: FormatOption = "auto",
    assigned: SetOption = None,
    as_json: JsonOption = False,
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
        write_records,
    )
    from vericite.evaluate.scoring import score_systems
    from vericite.evaluate.settings import ScoreSettings

    settings = settings_from(ScoreSettings, assigned)
    side_files = _side_files(with_ or ())
    _refuse(systems, side_files, out)
    problems = Problems()
    with reported(problems):
        read = _read(systems, problems, gold, side_files, documents, format)
        refuse_same(out, *read.paths, documents)
        _expect_group(by, read)
        chosen = _chosen(read, measures)
        figures = score_systems(read.systems, chosen, settings.bootstrap, by, settings.missing)
        figures, dropped = (figures, 0) if measures else with_something(figures)
        records = [figure.record for figure in figures]
        if as_json:
            print_records(records)
        else:
            show_figures(figures, dropped)
            show_missing(figures, settings.missing)
            show_failures(read.systems)
        named = {system.name: system for system in read.systems}
        empty = [figure for figure in figures if figure.group is None and not figure.estimate.n]
        _hint([(figure.measure, named[figure.system]) for figure in empty])
        if out is not None:
            write_records(records, out)


def compare(
    first: Annotated[str, typer.Argument(help="A system, as for `score`.", metavar="SYSTEM")],
    second: Annotated[
        str | None,
        typer.Argument(help="Another, on the same questions; not needed if the file has several.", metavar="SYSTEM"),
    ] = None,
    gold: GoldOption = None,
    measures: ComparedOption = None,
    out: OutOption = None,
    documents: DocumentsOption = None,
    format: FormatOption = "auto",
    assigned: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two systems on the same questions, in one sentence per measure.

    The systems in MedAESQA's file are compared pairwise. The difference has a paired bootstrap interval, and p is from
    a paired permutation test, corrected by Holm's method for several comparisons. The default measure is the first of
    supported citations, coverage, nuggets, exact answers, ROUGE and ranking whose inputs the files have.
    """
    from vericite.cli.figures import comparison_record, print_records, reported, show_comparisons, write_records
    from vericite.errors import InputError
    from vericite.evaluate.scoring import compare_all_pairs, comparison_signature, counts_zero, different_judges_warning
    from vericite.evaluate.settings import ScoreSettings

    settings = settings_from(ScoreSettings, assigned)
    prepare_output(out)
    problems = Problems()
    with reported(problems):
        places = [first, *([second] if second else [])]
        # Two locations are two systems, whatever the ids of their questions.
        read = _read(places, problems, gold, {}, documents, format, whole=second is not None)
        refuse_same(out, *read.paths, documents)
        if len(read.systems) < 2:
            raise InputError(f"expected two systems to compare; found one, {first}. Name another after it.")
        chosen = _chosen(read, measures) if measures else _preferred(read)
        drawn = settings.bootstrap
        compared = compare_all_pairs(read.systems, chosen, drawn, settings.missing)
        counted = settings.missing == "zero"
        made_by = [
            comparison_signature(measure, one, other, drawn)
            + ("|missing=0" if counted and counts_zero(measure) else "")
            for one, other, measure, _ in compared
        ]
        warnings = [different_judges_warning(measure, one, other) for one, other, measure, _ in compared]
        found = [comparison for *_, comparison in compared]
        rows = zip([str(measure) for _, _, measure, _ in compared], found, made_by, warnings, strict=True)
        records = [comparison_record(*row) for row in rows]
        if as_json:
            print_records(records)
        else:
            show_comparisons(found, made_by, warnings)
        if out is not None:
            write_records(records, out)
        undefined = [(measure, pair) for *pair, measure, result in compared if result.difference.value is None]
        _hint([(measure, system) for measure, pair in undefined for system in pair])


def _hint(undefined: Sequence[tuple[Measure, System]]) -> None:
    """Print to stderr why scores are undefined, and what to provide."""
    from vericite.evaluate.scoring import undefined_reasons

    for line in undefined_reasons(undefined):
        note(line)


def _refuse(systems: Sequence[str], side_files: Mapping[str, Path], out: Path | None) -> None:
    from vericite.errors import InputError

    if len(systems) > 1 and side_files:
        kind = next(iter(side_files))
        raise InputError(
            f"expected --with {kind} with a single system; found {len(systems)}. Give each system a folder with "
            f"answers.jsonl and {kind}.jsonl."
        )
    prepare_output(out)


def _side_files(given: Sequence[str]) -> dict[str, Path]:
    """Return the files of ``--with`` by kind.

    Raises:
        InputError: A text is not a kind and a file, or a kind is given twice.
        UnknownNameError: The kind is unknown.
    """
    from vericite.errors import InputError, UnknownNameError
    from vericite.evaluate.systems import SIDE_FILES

    found: dict[str, Path] = {}
    for text in given:
        kind, sign, path = text.partition("=")
        if not (sign and path):
            raise InputError(f"expected --with as in verdicts=verdicts.jsonl; found {text!r}")
        if kind not in SIDE_FILES:
            raise UnknownNameError("kind of file", kind, SIDE_FILES)
        if kind in found:
            raise InputError(f"expected one file with {kind}; found two, {found[kind]} and {path}. Leave one out.")
        found[kind] = Path(path)
    return found


def checked_systems(
    named: Sequence[str],
    problems: Problems,
    plan: Plan,
    gold: Path | None,
    documents: Path | None,
    out: Sequence[Path | None],
    format: str = "auto",
) -> list[System]:
    """Read systems, and check the answers that have no verdicts.

    Raises:
        InputError: A file cannot be read, is also written, or has verdicts that were not made as the plan says.
    """
    from vericite.cli.answers import note_format, read_library
    from vericite.evaluate.systems import read_systems
    from vericite.pipeline.build import judge_of, protocol_of, settings_of
    from vericite.reporting.data import with_verdicts

    places, names = named_places(named)
    library = read_library(documents, problems)
    read = read_systems(places, problems, gold, {}, library, names, format, on_format=note_format)
    for path in out:
        refuse_same(path, *read.paths, documents)
    if not plan.check.model_fields_set:
        refuse_verdicts_aside(places, read)
        return [with_verdicts(system) for system in read.systems]
    protocol = protocol_of(plan.check, judge_of(plan.check, settings_of(plan.llm)))
    return [with_verdicts(system, protocol) for system in read.systems]


def named_places(given: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Return the places of systems and their names, of texts such as ``ours=runs/a``; no names if none is given."""
    from vericite.evaluate.scoring import system_names

    parts = [_named_place(text) for text in given]
    places = [Path(place) for _, place in parts]
    if not any(name for name, _ in parts):
        return places, []
    return places, [name or usual for (name, _), usual in zip(parts, system_names(places), strict=True)]


def _named_place(text: str) -> tuple[str, str]:
    """Split a text into a system's name, if it has one, and its place; each of them may have the sign, too."""
    if Path(text).exists():
        return "", text
    parts = text.split("=")
    splits = [("=".join(parts[:place]).strip(), "=".join(parts[place:])) for place in range(1, len(parts))]
    there = [split for split in splits if split[1] and Path(split[1]).exists()]
    # Without a file to go by, a name with these signs would be part of a path or a data set.
    likely = [*there, *(split for split in splits if not set(split[0]) & set("/:"))]
    return next((split for split in likely if all(split)), ("", text))


def _read(
    systems: Sequence[str],
    problems: Problems,
    gold: Path | None,
    side_files: Mapping[str, Path],
    documents: Path | None,
    format: str,
    whole: bool = False,
) -> LoadedSystems:
    from vericite.cli.answers import read_library
    from vericite.cli.io import remark_leakage
    from vericite.evaluate.systems import read_systems

    places, names = named_places(systems)
    remark_leakage(gold, *places)
    library = read_library(documents, problems)
    return read_systems(places, problems, gold, side_files, library, names, format, whole)


def _expect_group(by: str | None, read: LoadedSystems) -> None:
    from vericite.errors import InputError, UnknownNameError

    if by is None or by == "design" or by in read.groups:
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


def agree(
    ratings: RatingsArgument,
    reference: RaterOption = None,
    measures: AgreementOption = "CohenKappa,CategoryF1,FleissKappa,KrippendorffAlpha",
    out: OutOption = None,
    assigned: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the agreement of raters: kappa, alpha and F1, with intervals and Landis and Koch's words.

    Coefficients that are undefined, because all labels are the same, are shown as such. Missing labels and abstentions
    are counted and left out.
    """
    from vericite.cli.figures import print_records, reported, show_agreement, write_records
    from vericite.evaluate.measures.registry import AGREEMENT, parse_measure, split_measures
    from vericite.evaluate.ratings import agree as measure
    from vericite.evaluate.ratings import read_ratings
    from vericite.evaluate.settings import AgreeSettings

    settings = settings_from(AgreeSettings, assigned)
    _refuse_written_over(out, ratings)
    chosen = [parse_measure(text, AGREEMENT) for text in split_measures(measures)]
    problems = Problems()
    with reported(problems):
        found = read_ratings(ratings, problems, settings.of)
        known = list(settings.categories) or None
        agreed = measure(found, chosen, reference, known, settings.bootstrap, settings.by)
        records = [coefficient.record for coefficient in agreed]
        if as_json:
            print_records(records)
        else:
            show_agreement(agreed)
        if out is not None:
            write_records(records, out)


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
        str,
        typer.Option(
            "--measures", "-m", help="Spearman, Kendall or TauAP; Kendall@10 ranks the top 10.", metavar="LIST"
        ),
    ] = "Spearman,Kendall",
    out: OutOption = None,
    assigned: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Correlate the rankings of systems by two measures; intervals are drawn over systems."""
    from vericite.cli.figures import print_records, reported, show_rankings, write_records
    from vericite.evaluate.measures.registry import RANKINGS, parse_measure, split_measures
    from vericite.evaluate.ratings import correlate_rankings, read_scores
    from vericite.evaluate.settings import Draws

    settings = settings_from(Draws, assigned)
    _refuse_written_over(out, scores)
    chosen = [parse_measure(text, RANKINGS) for text in split_measures(measures)]
    problems = Problems()
    with reported(problems):
        found = read_scores(scores, problems)
        correlated = correlate_rankings(found, chosen, reference, settings.bootstrap)
        records = [correlation.record for correlation in correlated]
        if as_json:
            print_records(records)
        else:
            show_rankings(correlated)
        if out is not None:
            write_records(records, out)


def _refuse_written_over(out: Path | None, read: list[Path]) -> None:
    refuse_same(out, *read)
    prepare_output(out)
