"""``vericite annotate``: collect human labels on a run, and correct the run's rates with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import note, output, remark, say, say_json
from vericite.cli.options import (
    CsvOption,
    DrawSeedOption,
    DrawsOption,
    JsonOption,
    JudgeOption,
    MaybeProtocolOption,
)
from vericite.cli.refusals import refuse_both, refuse_same, refuse_unwritable, refuse_verdicts_aside
from vericite.cli.score import DocumentsOption, GoldOption, NameOption, SystemsArgument
from vericite.errors import Problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.evaluate.correction import SystemByPeople
    from vericite.evaluate.scoring import System
    from vericite.lab.annotate.agreement import PeopleAgreement
    from vericite.lab.annotate.units import Unit

annotate = typer.Typer(
    name="annotate",
    help="Label citations by hand, measure the annotators' agreement, and correct a run's rates with the labels.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SchemeOption = Annotated[
    str,
    typer.Option(
        help="vericite (three verdicts), bioace-citation, bioace-completeness, politicite, reason-verify, or your own "
        "TOML file.",
        metavar="NAME|FILE",
    ),
]
SampleArgument = Annotated[Path, typer.Argument(help="A sample from `annotate sample`.", metavar="SAMPLE")]
SampleOption = Annotated[Path | None, typer.Option(help="A sample from `annotate sample`.", metavar="FILE")]
LabelsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Labels of one or more annotators: JSONL as exported by pages, Label Studio's .json, .csv or .tsv."
    ),
]


@annotate.command()
def sample(
    systems: SystemsArgument,
    out: Annotated[
        Path, typer.Option(help="Write the sample here: JSONL, one unit with its verdict per line.", metavar="FILE")
    ],
    n: Annotated[int, typer.Option("--n", min=1, help="Number of units to label.")] = 200,
    stratify: Annotated[
        str, typer.Option(help="Stratify by these: verdict, system, type; separated by commas.", metavar="LIST")
    ] = "verdict,system",
    scheme: SchemeOption = "vericite",
    seed: Annotated[int, typer.Option(help="The same seed gives the same sample.")] = 0,
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    name: NameOption = None,
    protocol: MaybeProtocolOption = None,
    judge: JudgeOption = None,
) -> None:
    """Draw a sample to label, and print the expected precision of a rate.

    Answers without verdicts are checked first. Name a folder with answers.jsonl and verdicts.jsonl to sample those
    verdicts. Keep the sample: it is needed to match and weight the labels.
    """
    from vericite.cli.figures import reported
    from vericite.lab.annotate.schemes import load_scheme
    from vericite.lab.annotate.units import draw, units_of

    problems = Problems()
    refuse_unwritable(out)
    asked = load_scheme(scheme)
    with reported(problems):
        read = _systems(systems, problems, gold, documents, name, protocol, judge, out)
        keys = [key.strip() for key in stratify.split(",") if key.strip()]
        drawn = draw(units_of(read, asked.of), n, keys, seed)
        with output(out) as file:
            assert file is not None
            file.add(drawn.units)
        for made in sorted({unit.protocol for unit in drawn.units} - {""}):
            note(f"verdicts by {made}")
        for stratum, (size, chosen) in drawn.sizes.items():
            say(f"{stratum}: {chosen:,} of {size:,}")
        if asked.of == "citation":
            say(drawn.expected)
        note(f"{out}; next: vericite annotate page {out} --out annotate.html")


@annotate.command()
def page(
    sample: SampleArgument,
    out: Annotated[Path, typer.Option(help="Write the page here.", metavar="FILE")],
    scheme: SchemeOption = "vericite",
    title: Annotated[str | None, typer.Option(help="The page's heading.")] = None,
) -> None:
    """Make a page to send to annotators: an HTML file without systems and verdicts, which stores the labels.

    Annotators open it in a browser, enter a name, label with keys or the mouse, and send back the exported file.
    """
    from vericite.lab.annotate.page import make_annotation_page
    from vericite.lab.annotate.schemes import load_scheme
    from vericite.reporting.page import Page, write_page

    refuse_same(out, sample)
    refuse_unwritable(out)
    units = _units(sample)
    write_page(Page(make_annotation_page(units, load_scheme(scheme), title)), out)
    say(f"{out}: {len(units):,} to label")


@annotate.command()
def serve(
    sample: SampleArgument,
    rater: Annotated[list[str], typer.Option(help="An annotator's name; may be repeated.", metavar="NAME")],
    out: Annotated[Path, typer.Option(help="Folder for the labels, with a file per annotator.", metavar="FOLDER")],
    scheme: SchemeOption = "vericite",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any free port.")] = 8765,
) -> None:
    """Serve a page for each annotator on this machine. Labels are written to disk at once."""
    from vericite.lab.annotate.page import expect_kind
    from vericite.lab.annotate.schemes import load_scheme
    from vericite.lab.annotate.serve import LabelFolder, addresses, make_server

    units, asked = _units(sample), load_scheme(scheme)
    expect_kind(units, asked)
    labels = LabelFolder(out, rater, units, asked)
    server = make_server(labels, port)
    for who, address in addresses(labels, server).items():
        say(f"{who}: {address}")
    remark("stop with Ctrl-C; the addresses stay the same")
    with server:
        server.serve_forever()


@annotate.command()
def agreement(
    labels: LabelsArgument,
    sample: SampleOption = None,
    scheme: SchemeOption = "vericite",
    out: Annotated[
        Path | None, typer.Option(help="Write the majority labels here; ties are left out.", metavar="FILE")
    ] = None,
    draws: DrawsOption = 1000,
    seed: DrawSeedOption = 0,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Measure the agreement of annotators with each other, with the judge, and on marked passages.

    With --sample, labels are checked against the sample, and annotators are compared with its judge. Ties are listed.
    """
    from vericite.cli.figures import print_records, reported
    from vericite.evaluate.resampling import Bootstrap
    from vericite.lab.annotate.agreement import people_agreement
    from vericite.lab.annotate.interchange import read_annotations
    from vericite.lab.annotate.schemes import load_scheme

    refuse_both(as_json, as_csv)
    refuse_same(out, *labels, sample)
    refuse_unwritable(out)
    asked = load_scheme(scheme)
    problems = Problems()
    with reported(problems):
        units = None if sample is None else {unit.item: unit for unit in _units(sample)}
        given = read_annotations(labels, asked, units, problems)
        found = people_agreement(given, asked, units, Bootstrap(draws, seed))
        if as_csv:
            print_records([agreed.record for agreed in (*found.labels, *found.judge)], as_csv=True)
        elif as_json:
            say_json(json.dumps(_agreement_record(found), indent=2, ensure_ascii=False))
        else:
            _show_agreement(found, units)
        if out is not None:
            with output(out) as file:
                assert file is not None
                file.add(found.adjudication.ratings)


@annotate.command()
def correct(
    systems: SystemsArgument,
    sample: Annotated[Path, typer.Option(help="A sample from `annotate sample`.", metavar="FILE")],
    labels: Annotated[list[Path], typer.Option(help="Labels on the sample; may be repeated.", metavar="FILE")],
    scheme: SchemeOption = "vericite",
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    name: NameOption = None,
    protocol: MaybeProtocolOption = None,
    judge: JudgeOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Estimate the rate of supported citations by human judgement, from the run's verdicts and labels on a sample.

    Four rates are shown: automatic, by labels alone, by both (prediction-powered inference), and the automatic rate
    corrected by the judge's sensitivity and specificity.
    """
    from vericite.cli.figures import print_records, reported

    refuse_both(as_json, as_csv)
    problems = Problems()
    with reported(problems):
        read = _systems(systems, problems, gold, documents, name, protocol, judge, None)
        found = by_people(read, sample, labels, scheme, problems)
        if as_json or as_csv:
            rows = [{"system": system.name, **rate.record} for system in found for rate in system.correction.rates]
            print_records(rows, as_csv)
        else:
            for system in found:
                _show_rates(system)


@annotate.command()
def convert(
    sample: Annotated[Path, typer.Option(help="A sample from `annotate sample`.", metavar="FILE")],
    labels: Annotated[
        list[Path] | None, typer.Argument(help="Labels, as for `agreement`. Default: export the units without labels.")
    ] = None,
    to: Annotated[
        str,
        typer.Option(help="jsonl, csv, label-studio, or label-studio-config (its interface).", metavar="FORMAT"),
    ] = "jsonl",
    scheme: SchemeOption = "vericite",
    out: Annotated[Path | None, typer.Option(help="Write the result here. Default: print it.", metavar="FILE")] = None,
) -> None:
    """Convert labels to and from Label Studio or a spreadsheet; units are matched by the ids of the sample."""
    from vericite.cli.figures import reported
    from vericite.lab.annotate.interchange import read_annotations, written
    from vericite.lab.annotate.schemes import load_scheme

    refuse_same(out, sample, *(labels or ()))
    refuse_unwritable(out)
    asked = load_scheme(scheme)
    units = _units(sample)
    problems = Problems()
    with reported(problems):
        known = {unit.item: unit for unit in units}
        given = read_annotations(labels, asked, known, problems) if labels else []
        text = written(units, given, asked, to)
        if out is None:
            (say if to in ("csv", "label-studio-config") else say_json)(text.rstrip("\n"))
            return
        with output(out) as file:
            assert file is not None
            file.write([text])


def by_people(
    systems: Sequence[System], sample: Path, labels: Sequence[Path], scheme: str, problems: Problems
) -> list[SystemByPeople]:
    """Correct each system's rates with human labels on a sample.

    Raises:
        InputError: There are too few labels, or they are on other verdicts.
    """
    from vericite.lab.annotate.agreement import correct_systems
    from vericite.lab.annotate.interchange import read_annotations
    from vericite.lab.annotate.schemes import load_scheme

    asked = load_scheme(scheme)
    units = {unit.item: unit for unit in _units(sample)}
    return correct_systems(systems, units, read_annotations(labels, asked, units, problems), asked)


def _systems(
    places: Sequence[Path],
    problems: Problems,
    gold: Path | None,
    documents: Path | None,
    names: Sequence[str] | None,
    protocol: str | None,
    judge: str | None,
    out: Path | None,
) -> list[System]:
    """Read the systems, and check those without verdicts."""
    from vericite.cli.answers import read_library
    from vericite.evaluate.systems import read_systems
    from vericite.reporting.data import with_verdicts

    read = read_systems(places, problems, gold, {}, read_library(documents, problems), names or ())
    refuse_same(out, *read.paths, documents)
    if protocol is None and judge is None:
        refuse_verdicts_aside(places, read)
    return [with_verdicts(system, protocol, judge) for system in read.systems]


def _units(sample: Path) -> list[Unit]:
    """Read the units of a sample; all must be valid, because they weight the labels."""
    from vericite.lab.annotate.units import read_sample

    problems = Problems()
    units = read_sample(sample, problems)
    if problems:
        raise problems[0]
    return units


def _agreement_record(found: PeopleAgreement) -> dict[str, object]:
    return {
        "labels": [agreed.record for agreed in found.labels],
        "judge": [agreed.record for agreed in found.judge],
        "snippets": [snippets.record for snippets in found.snippets],
        "agreed": len(found.adjudication.agreed),
        "ties": found.adjudication.ties,
    }


def _show_agreement(found: PeopleAgreement, units: dict[str, Unit] | None) -> None:
    from vericite.cli.figures import show_agreement

    if found.labels:
        say("Annotators:")
        show_agreement(found.labels)
    if found.judge:
        say("Annotators and judge (labels mapped to verdicts):")
        show_agreement(found.judge)
    for snippets in found.snippets:
        pair = " and ".join(snippets.raters)
        if snippets.overlap is None or snippets.bleu is None:
            say(f"Passages of {pair}: no unit marked by both ({snippets.one_only} marked by only one)")
        else:
            say(
                f"Passages of {pair}: F1 in characters {snippets.overlap:.3f}, BLEU {snippets.bleu:.3f} "
                f"(n = {snippets.n}; {snippets.one_only} more marked by only one)"
            )
    ties = found.adjudication.ties
    say(f"Majority labels: {len(found.adjudication.agreed)}; ties: {len(ties)}")
    for item, counts in list(ties.items())[:_TIES]:
        claim = f" {units[item].claim[:80]}" if units and item in units else ""
        say(f"  {item} {', '.join(f'{label} {count}' for label, count in counts.items())}{claim}")
    if len(ties) > _TIES:
        say(f"  and {len(ties) - _TIES} more (--json lists all)")


_TIES = 10


def _show_rates(found: SystemByPeople) -> None:
    correction = found.correction
    say(f"{found.name}: supported citations, of {correction.automatic.n:,} judged")
    for rate in correction.rates:
        details = "" if rate.method == "automatic" else f"n = {rate.n}"
        if rate.tuning is not None:
            details += f", judge's weight {rate.tuning:.2f}"
        say(f"  {rate.method:28} {rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]  {details}".rstrip())
    if correction.sensitivity is not None and correction.specificity is not None:
        say(f"  judge: sensitivity {correction.sensitivity:.3f}, specificity {correction.specificity:.3f}")
    if correction.by_errors is None:
        say("  not corrected by sensitivity and specificity: on these labels the judge is hardly better than chance")
    if correction.joined:
        say(f"  {correction.joined} strata have fewer than two labels and were merged into others")
    halved = correction.corrected.to_halve
    if halved is None:
        say("  to halve the interval: add answers; labelling all of these would not be enough")
    else:
        say(f"  to halve the interval: about {halved - correction.corrected.n:,} more labels ({halved:,} in total)")
