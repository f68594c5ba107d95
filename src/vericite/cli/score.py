"""``vericite score`` and ``vericite compare``: answers made anywhere, measured; no pipeline is run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.options import refuse_same, refuse_unwritable, report

if TYPE_CHECKING:
    from vericite.errors import RecordError
    from vericite.evaluate.measures.measure import Measure
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
DocumentsOption = Annotated[
    Path | None,
    typer.Option(help="JSONL of documents that answers cite by PMID, DOI or address.", metavar="FILE"),
]
DrawsOption = Annotated[int, typer.Option(min=100, help="Bootstrap draws for the intervals.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of the draws.")]
_BESIDE = "Beside one system's answers"


def score(
    systems: Annotated[
        list[Path],
        typer.Argument(
            help="A system each: a file of answers (any format of `check`), runs or verdicts, a TREC run, or a folder "
            "with answers.jsonl, verdicts.jsonl, labels.jsonl, scores.jsonl, outputs.jsonl, features.npz."
        ),
    ],
    gold: GoldOption = None,
    measures: MeasuresOption = None,
    by: Annotated[
        str | None, typer.Option(help="Show also each value of this: type, or a group of the gold.", metavar="GROUP")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the figures here, a line of JSON each.")] = None,
    verdicts: Annotated[Path | None, typer.Option(help="From `check --out`.", rich_help_panel=_BESIDE)] = None,
    labels: Annotated[Path | None, typer.Option(help="Assessors' labels.", rich_help_panel=_BESIDE)] = None,
    scores: Annotated[
        Path | None, typer.Option(help="Figures of models computed beforehand.", rich_help_panel=_BESIDE)
    ] = None,
    outputs: Annotated[
        Path | None, typer.Option(help="Documents retrieved, exact answers.", rich_help_panel=_BESIDE)
    ] = None,
    features: Annotated[
        Path | None, typer.Option(help="Vectors of answers and references, for MAUVE.", rich_help_panel=_BESIDE)
    ] = None,
    documents: DocumentsOption = None,
    draws: DrawsOption = 1000,
    seed: SeedOption = 0,
) -> None:
    """Score answers, each figure with its count, its 95% interval and the signature of what made it.

    What failed or is missing is counted, never averaged in as 0. A line that cannot be used costs itself alone; the
    exit code is then 2.
    """
    from vericite.cli.figures import show_figures, with_something, write_figures
    from vericite.evaluate.resampling import Bootstrap
    from vericite.evaluate.scoring import score as score_one

    beside = {"verdicts": verdicts, "labels": labels, "scores": scores, "outputs": outputs, "features": features}
    _refuse(systems, beside, out, gold)
    read, problems = _read(systems, gold, beside, documents)
    drawn = Bootstrap(draws, seed)
    chosen = _chosen(read, measures)
    figures = [figure for system in read for figure in score_one(system, chosen, drawn, by)]
    figures, dropped = (figures, 0) if measures else with_something(figures)
    show_figures(figures, dropped)
    if out is not None:
        write_figures(figures, out)
    report(problems)


def compare(
    first: Annotated[Path, typer.Argument(help="A system, as for `score`.")],
    second: Annotated[Path, typer.Argument(help="Another, on the same questions.")],
    gold: GoldOption = None,
    measures: MeasuresOption = None,
    documents: DocumentsOption = None,
    draws: DrawsOption = 1000,
    seed: SeedOption = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say in one sentence a measure whether one system is better than another on the same questions.

    The difference has a paired bootstrap interval, p is of a paired permutation test, and where there are several
    measures it is corrected by Holm's method. If none is named it is the first of supported citations, coverage,
    nuggets, exact answers, ROUGE and ranking that the files have what it needs for.
    """
    from vericite.cli.figures import comparison_record
    from vericite.evaluate.resampling import Bootstrap
    from vericite.evaluate.scoring import compare_systems

    read, problems = _read([first, second], gold, {}, documents)
    chosen = _chosen(read, measures) if measures else _telling(read)
    found = compare_systems(read[0], read[1], chosen, Bootstrap(draws, seed))
    if as_json:
        records = [comparison_record(str(measure), one) for measure, one in zip(chosen, found, strict=True)]
        typer.echo(json.dumps(records, indent=2, ensure_ascii=False))
    else:
        for one in found:
            typer.echo(one.sentence)
    report(problems)


def _refuse(systems: Sequence[Path], beside: dict[str, Path | None], out: Path | None, gold: Path | None) -> None:
    from vericite.errors import InputError

    given = [name for name, path in beside.items() if path]
    if len(systems) > 1 and given:
        raise InputError(
            f"expected --{given[0]} beside one system; found {len(systems)}. Give each system a folder that holds "
            f"its answers.jsonl and {given[0]}.jsonl."
        )
    refuse_same(out, gold, *systems, *beside.values())
    if out is not None:
        refuse_unwritable(out)


def _read(
    places: Sequence[Path], gold: Path | None, beside: dict[str, Path | None], documents: Path | None
) -> tuple[list[System], list[RecordError]]:
    from vericite.corpus import load_documents
    from vericite.evaluate.reading import read_gold, read_system, system_names

    problems: list[RecordError] = []
    known = None
    if gold is not None:
        known, wrong = read_gold(gold)
        problems += wrong
    library = load_documents(documents)[0] if documents else ()
    found: list[System] = []
    for place, name in zip(places, system_names(places), strict=True):
        given = read_system(place, {kind: path for kind, path in beside.items() if path}, library)
        problems += given.problems
        found.append(given.system(name, known))
    return found, problems


def _chosen(systems: Sequence[System], named: list[str] | None) -> list[Measure]:
    from vericite.errors import InputError
    from vericite.evaluate.measures.registry import measures_for, measures_named

    if named:
        return measures_named(named)
    found = list(dict.fromkeys(measure for system in systems for measure in measures_for(system.items)))
    if not found:
        raise InputError(
            "expected verdicts, gold, labels or scores beside the answers; found none that a measure needs. "
            "`vericite measures` says what each needs; `vericite check FILE --out verdicts.jsonl` makes verdicts."
        )
    return found


def _telling(systems: Sequence[System]) -> list[Measure]:
    from vericite.evaluate.measures.registry import most_telling

    return [most_telling([item for system in systems for item in system.items])]
