"""``vericite score`` and ``vericite compare``: answers made anywhere, measured; no pipeline is run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.options import DrawsOption, JsonOption, OutOption, SeedOption, refuse_same, refuse_unwritable
from vericite.cli.remarks import remark

if TYPE_CHECKING:
    from vericite.errors import RecordError
    from vericite.evaluate.measures.measure import Measure
    from vericite.evaluate.reading import Read
    from vericite.evaluate.scoring import System

GoldOption = Annotated[
    Path | None,
    typer.Option(
        help='What is right: JSONL, a line a question, {"id", "ideal"?, "exact"?, "documents"?, "citations"?, '
        '"nuggets"?, "groups"?} (docs/measures.md), or TREC relevance judgements.',
        metavar="FILE",
    ),
]
MeasuresOption = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        "-m",
        help="Measures as `vericite measures` lists them, as in -m SupportRate,nDCG@10; may be repeated. All that the "
        "files have what they need for, if none is named.",
        metavar="LIST",
    ),
]
ComparedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--measures",
        "-m",
        help="Measures as `vericite measures` lists them, as in -m SupportRate,nDCG@10; may be repeated. One alone, "
        "the first that the files have what it needs for, if none is named.",
        metavar="LIST",
    ),
]
DocumentsOption = Annotated[
    Path | None,
    typer.Option(help="JSONL of documents that answers cite by PMID, DOI or address.", metavar="FILE"),
]
NameOption = Annotated[
    list[str] | None,
    typer.Option("--name", help="What to call a system, in their order; else it is named by its file or folder."),
]
SystemsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="A system each: a file of answers (any format of `check`), runs or verdicts, a TREC run, or a folder "
        "with answers.jsonl, verdicts.jsonl, labels.jsonl, scores.jsonl, outputs.jsonl, features.npz, or of "
        "`ask --save`."
    ),
]
ByOption = Annotated[
    str | None, typer.Option(help="Show also each value of this: type, or a group of the gold.", metavar="GROUP")
]
_BESIDE = "Beside one system's answers"
VerdictsOption = Annotated[Path | None, typer.Option(help="From `check --out`.", rich_help_panel=_BESIDE)]
LabelsOption = Annotated[Path | None, typer.Option(help="Assessors' labels.", rich_help_panel=_BESIDE)]
ScoresOption = Annotated[
    Path | None, typer.Option(help="Figures of models computed beforehand.", rich_help_panel=_BESIDE)
]
OutputsOption = Annotated[
    Path | None, typer.Option(help="Documents retrieved, exact answers.", rich_help_panel=_BESIDE)
]
FeaturesOption = Annotated[
    Path | None, typer.Option(help="Vectors of answers and references, for MAUVE.", rich_help_panel=_BESIDE)
]


def score(
    systems: SystemsArgument,
    gold: GoldOption = None,
    measures: MeasuresOption = None,
    by: ByOption = None,
    out: OutOption = None,
    verdicts: VerdictsOption = None,
    labels: LabelsOption = None,
    scores: ScoresOption = None,
    outputs: OutputsOption = None,
    features: FeaturesOption = None,
    documents: DocumentsOption = None,
    name: NameOption = None,
    draws: DrawsOption = 1000,
    seed: SeedOption = 0,
) -> None:
    """Score answers, each figure with its count, its 95% interval and the signature of what made it.

    What failed or is missing is counted, never averaged in as 0. A line that cannot be used costs itself alone; the
    exit code is then 2.
    """
    from vericite.cli.figures import reported, show_failures, show_figures, with_something, write_figures
    from vericite.evaluate.resampling import Bootstrap
    from vericite.evaluate.scoring import score_systems

    given = {"verdicts": verdicts, "labels": labels, "scores": scores, "outputs": outputs, "features": features}
    beside = {kind: path for kind, path in given.items() if path}
    _refuse(systems, beside, out)
    problems: list[RecordError] = []
    with reported(problems):
        read = _read(systems, problems, gold, beside, documents, name)
        refuse_same(out, *read.paths, documents)
        _expect_group(by, read)
        chosen = _chosen(read, measures)
        figures = score_systems(read.systems, chosen, Bootstrap(draws, seed), by)
        figures, dropped = (figures, 0) if measures else with_something(figures)
        show_figures(figures, dropped)
        show_failures(read.systems)
        named = {system.name: system for system in read.systems}
        _hint([(one.measure, named[one.system]) for one in figures if one.group is None and not one.estimate.n])
        if out is not None:
            write_figures(figures, out)


def compare(
    first: Annotated[Path, typer.Argument(help="A system, as for `score`.")],
    second: Annotated[Path, typer.Argument(help="Another, on the same questions.")],
    gold: GoldOption = None,
    measures: ComparedOption = None,
    documents: DocumentsOption = None,
    name: NameOption = None,
    draws: DrawsOption = 1000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say in one sentence a measure whether one system is better than another on the same questions.

    The difference has a paired bootstrap interval, p is of a paired permutation test, and where there are several
    measures it is corrected by Holm's method. If none is named it is the first of supported citations, coverage,
    nuggets, exact answers, ROUGE and ranking that the files have what it needs for.
    """
    from vericite.cli.figures import comparison_record, reported, show_comparisons
    from vericite.evaluate.resampling import Bootstrap
    from vericite.evaluate.scoring import compare_systems
    from vericite.evaluate.signatures import comparison_signature, judged_apart

    problems: list[RecordError] = []
    with reported(problems):
        read = _read([first, second], problems, gold, {}, documents, name)
        one, other = read.systems
        chosen = _chosen(read, measures) if measures else _telling(read)
        drawn = Bootstrap(draws, seed)
        found = compare_systems(one, other, chosen, drawn)
        signatures = [comparison_signature(measure, one, other, drawn) for measure in chosen]
        warnings = [judged_apart(measure, one, other) for measure in chosen]
        if as_json:
            told = zip(map(str, chosen), found, signatures, warnings, strict=True)
            typer.echo(json.dumps([comparison_record(*it) for it in told], indent=2, ensure_ascii=False))
        else:
            show_comparisons(found, signatures, warnings)
        undefined = [measure for measure, told in zip(chosen, found, strict=True) if told.difference.value is None]
        _hint([(measure, system) for measure in undefined for system in (one, other)])


def _hint(undefined: Sequence[tuple[Measure, System]]) -> None:
    """What to give for figures that could not be made, on stderr: it is no part of the figures."""
    from vericite.evaluate.hints import hints

    for line in hints(undefined):
        remark(line)


def _refuse(systems: Sequence[Path], beside: Mapping[str, Path], out: Path | None) -> None:
    from vericite.errors import InputError

    if len(systems) > 1 and beside:
        kind = next(iter(beside))
        raise InputError(
            f"expected --{kind} beside one system; found {len(systems)}. Give each system a folder that holds "
            f"its answers.jsonl and {kind}.jsonl."
        )
    refuse_unwritable(out)


def _read(
    places: Sequence[Path],
    problems: list[RecordError],
    gold: Path | None,
    beside: Mapping[str, Path],
    documents: Path | None,
    names: Sequence[str] | None,
) -> Read:
    from vericite.cli.reading import read_library
    from vericite.evaluate.reading import read_systems

    return read_systems(places, problems, gold, beside, read_library(documents, problems), names or ())


def _expect_group(by: str | None, read: Read) -> None:
    from vericite.errors import InputError, UnknownNameError

    if by is None or by in read.groups:
        return
    if not read.groups:
        raise InputError(f'expected gold with a type or "groups" to show figures by; found none for --by {by}')
    raise UnknownNameError("group", by, read.groups)


def _chosen(read: Read, named: list[str] | None) -> list[Measure]:
    from vericite.errors import InputError
    from vericite.evaluate.measures.registry import measures_for, measures_named

    if named:
        return measures_named(named)
    found = list(dict.fromkeys(measure for system in read.systems for measure in measures_for(system.items)))
    if not found:
        raise InputError(
            "expected verdicts, gold, labels or scores beside the answers; found none that a measure needs. "
            "`vericite measures` says what each needs; `vericite check FILE --out verdicts.jsonl` makes verdicts."
        )
    return found


def _telling(read: Read) -> list[Measure]:
    from vericite.evaluate.measures.registry import most_telling

    return [most_telling([system.items for system in read.systems])]
