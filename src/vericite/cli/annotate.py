"""``vericite annotate``: from a run to people's labels, and back to the run's rates."""

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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.annotate.agreement import PeopleAgreement
    from vericite.annotate.units import Unit
    from vericite.errors import RecordError
    from vericite.evaluate.correction import SystemByPeople
    from vericite.evaluate.scoring import System

annotate = typer.Typer(
    name="annotate",
    help="Have people label citations, see how far they agree, and correct a run's rates by their labels.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SchemeOption = Annotated[
    str,
    typer.Option(
        help="vericite (three verdicts), bioace-citation, bioace-completeness, politicite, reason-verify, or a TOML "
        "file of one's own.",
        metavar="NAME|FILE",
    ),
]
SampleArgument = Annotated[Path, typer.Argument(help="What `annotate sample` wrote.", metavar="SAMPLE")]
SampleOption = Annotated[Path | None, typer.Option(help="What `annotate sample` wrote.", metavar="FILE")]
LabelsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Labels: JSONL as pages export it, Label Studio's .json, .csv or .tsv; one annotator's or all."
    ),
]


@annotate.command()
def sample(
    systems: SystemsArgument,
    out: Annotated[Path, typer.Option(help="The sample: JSONL, a line a unit, with verdicts.", metavar="FILE")],
    n: Annotated[int, typer.Option("--n", min=1, help="Units to label.")] = 200,
    stratify: Annotated[
        str, typer.Option(help="Draw by these: verdict, system, type; with commas.", metavar="LIST")
    ] = "verdict,system",
    scheme: SchemeOption = "vericite",
    seed: Annotated[int, typer.Option(help="Draws with the same seed are the same.")] = 0,
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    name: NameOption = None,
    protocol: MaybeProtocolOption = None,
    judge: JudgeOption = None,
) -> None:
    """Draw what people are to label, and say how exact their labels will make a rate.

    Answers without verdicts are checked first. Name a folder with answers.jsonl and verdicts.jsonl to sample those
    verdicts. Keep the sample: labels are matched and weighed by it.
    """
    from vericite.annotate.schemes import load_scheme
    from vericite.annotate.units import draw, units_of
    from vericite.cli.figures import reported

    problems: list[RecordError] = []
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
    out: Annotated[Path, typer.Option(help="The page.", metavar="FILE")],
    scheme: SchemeOption = "vericite",
    title: Annotated[str | None, typer.Option(help="The page's heading.")] = None,
) -> None:
    """Make a page to send to annotators: one HTML file, without systems and verdicts, that keeps what they do.

    An annotator opens it in a browser, gives a name, labels by keys or mouse, and sends back what it exports.
    """
    from vericite.annotate.page import make_annotation_page
    from vericite.annotate.schemes import load_scheme
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
    out: Annotated[Path, typer.Option(help="Folder for the labels, a file an annotator.", metavar="FOLDER")],
    scheme: SchemeOption = "vericite",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8765,
) -> None:
    """Serve a page an annotator on this machine; each label is on disk at once, and nobody sees the others'."""
    from vericite.annotate.page import expect_kind
    from vericite.annotate.schemes import load_scheme
    from vericite.annotate.serve import LabelFolder, addresses, make_server

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
        Path | None, typer.Option(help="Write what most say here, a line a unit; ties are left out.", metavar="FILE")
    ] = None,
    draws: DrawsOption = 1000,
    seed: DrawSeedOption = 0,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Say how far annotators agree with each other, with the judge, and on the passages that they marked.

    With --sample labels are matched with what was drawn, and people are held against its judge. Ties are listed.
    """
    from vericite.annotate.agreement import people_agreement
    from vericite.annotate.interchange import read_annotations
    from vericite.annotate.schemes import load_scheme
    from vericite.cli.figures import print_records, reported
    from vericite.evaluate.resampling import Bootstrap

    refuse_both(as_json, as_csv)
    refuse_same(out, *labels, sample)
    refuse_unwritable(out)
    asked = load_scheme(scheme)
    problems: list[RecordError] = []
    with reported(problems):
        units = None if sample is None else {unit.item: unit for unit in _units(sample)}
        given = read_annotations(labels, asked, units, problems)
        found = people_agreement(given, asked, units, Bootstrap(draws, seed))
        if as_csv:
            print_records([*(one.record for one in (*found.labels, *found.judge))], as_csv=True)
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
    sample: Annotated[Path, typer.Option(help="What `annotate sample` wrote.", metavar="FILE")],
    labels: Annotated[list[Path], typer.Option(help="Labels on it; may be repeated.", metavar="FILE")],
    scheme: SchemeOption = "vericite",
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    name: NameOption = None,
    protocol: MaybeProtocolOption = None,
    judge: JudgeOption = None,
    as_json: JsonOption = False,
    as_csv: CsvOption = False,
) -> None:
    """Give the rate of supported citations that people would find, from the run's verdicts and labels on a sample.

    Four rates stand side by side: automatic, by the labels alone, by both together (prediction-powered inference), and
    the automatic one corrected by the judge's sensitivity and specificity.
    """
    from vericite.cli.figures import print_records, reported

    refuse_both(as_json, as_csv)
    problems: list[RecordError] = []
    with reported(problems):
        read = _systems(systems, problems, gold, documents, name, protocol, judge, None)
        found = by_people(read, sample, labels, scheme, problems)
        if as_json or as_csv:
            print_records([{"system": one.name, **it.record} for one in found for it in one.correction.rates], as_csv)
        else:
            for one in found:
                _show_rates(one)


@annotate.command()
def convert(
    sample: Annotated[Path, typer.Option(help="What `annotate sample` wrote.", metavar="FILE")],
    labels: Annotated[
        list[Path] | None, typer.Argument(help="Labels, as for `agreement`; without any, what is to be labelled.")
    ] = None,
    to: Annotated[
        str, typer.Option(help="jsonl, csv, label-studio, or label-studio-config (its interface).", metavar="FORM")
    ] = "jsonl",
    scheme: SchemeOption = "vericite",
    out: Annotated[Path | None, typer.Option(help="Else it is printed.", metavar="FILE")] = None,
) -> None:
    """Take labels to Label Studio or a spreadsheet, and back; they are matched by the ids of the sample."""
    from vericite.annotate.interchange import read_annotations, written
    from vericite.annotate.schemes import load_scheme
    from vericite.cli.figures import reported

    refuse_same(out, sample, *(labels or ()))
    refuse_unwritable(out)
    asked = load_scheme(scheme)
    units = _units(sample)
    problems: list[RecordError] = []
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
    systems: Sequence[System], sample: Path, labels: Sequence[Path], scheme: str, problems: list[RecordError]
) -> list[SystemByPeople]:
    """Each system's rates by people's labels on a sample.

    Raises:
        InputError: The labels are too few, or of other verdicts.
    """
    from vericite.annotate.agreement import correct_systems
    from vericite.annotate.interchange import read_annotations
    from vericite.annotate.schemes import load_scheme

    asked = load_scheme(scheme)
    units = {unit.item: unit for unit in _units(sample)}
    return correct_systems(systems, units, read_annotations(labels, asked, units, problems), asked)


def _systems(
    places: Sequence[Path],
    problems: list[RecordError],
    gold: Path | None,
    documents: Path | None,
    names: Sequence[str] | None,
    protocol: str | None,
    judge: str | None,
    out: Path | None,
) -> list[System]:
    """The systems, checked where they were not."""
    from vericite.cli.answers import read_library
    from vericite.evaluate.systems import read_systems
    from vericite.reporting.data import with_verdicts

    read = read_systems(places, problems, gold, {}, read_library(documents, problems), names or ())
    refuse_same(out, *read.paths, documents)
    if protocol is None and judge is None:
        refuse_verdicts_aside(places, read)
    return [with_verdicts(system, protocol, judge) for system in read.systems]


def _units(sample: Path) -> list[Unit]:
    """The units of a sample, all of which must be sound: labels are weighed by them."""
    from vericite.annotate.units import read_sample

    problems: list[RecordError] = []
    units = read_sample(sample, problems)
    if problems:
        raise problems[0]
    return units


def _agreement_record(found: PeopleAgreement) -> dict[str, object]:
    return {
        "labels": [one.record for one in found.labels],
        "judge": [one.record for one in found.judge],
        "snippets": [one.record for one in found.snippets],
        "agreed": len(found.adjudication.agreed),
        "ties": found.adjudication.ties,
    }


def _show_agreement(found: PeopleAgreement, units: dict[str, Unit] | None) -> None:
    from vericite.cli.figures import show_agreement

    if found.labels:
        say("Annotators:")
        show_agreement(found.labels)
    if found.judge:
        say("Against the judge, in the words of verdicts:")
        show_agreement(found.judge)
    for one in found.snippets:
        pair = " and ".join(one.raters)
        if one.overlap is None or one.bleu is None:
            say(f"Passages of {pair}: no unit on which both marked one ({one.one_only} on which one of them did)")
        else:
            say(
                f"Passages of {pair}: F1 in characters {one.overlap:.3f}, BLEU {one.bleu:.3f} "
                f"(n = {one.n}; {one.one_only} more on which one of them marked something)"
            )
    ties = found.adjudication.ties
    say(f"Agreed by most: {len(found.adjudication.agreed)}; ties: {len(ties)}")
    for item, counts in list(ties.items())[:_TIES]:
        claim = f" {units[item].claim[:80]}" if units and item in units else ""
        say(f"  {item} {', '.join(f'{label} {count}' for label, count in counts.items())}{claim}")
    if len(ties) > _TIES:
        say(f"  and {len(ties) - _TIES} more (--json lists all)")


_TIES = 10


def _show_rates(found: SystemByPeople) -> None:
    correction = found.correction
    say(f"{found.name}: supported citations, of {correction.automatic.n:,} judged")
    for one in correction.rates:
        made = "" if one.method == "automatic" else f"n = {one.n}"
        if one.tuning is not None:
            made += f", judge used by {one.tuning:.2f}"
        say(f"  {one.method:28} {one.value:.3f} [{one.low:.3f}, {one.high:.3f}]  {made}".rstrip())
    if correction.sensitivity is not None and correction.specificity is not None:
        say(f"  judge: sensitivity {correction.sensitivity:.3f}, specificity {correction.specificity:.3f}")
    if correction.by_errors is None:
        say("  no correction by sensitivity and specificity: the judge is hardly better than chance on these labels")
    if correction.joined:
        say(f"  {correction.joined} strata have fewer than two labels and were joined to others")
    halved = correction.corrected.to_halve
    if halved is None:
        say("  half the interval: not by labels alone, even if all were labelled; it takes more answers")
    else:
        say(f"  half the interval: about {halved - correction.corrected.n:,} labels more ({halved:,} in all)")
