"""``vericite annotate``: collect human labels on a run, and correct the run's rates with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import Field

from vericite.cli.io import note, output, remark, say, say_json
from vericite.cli.options import JsonOption, OutOption
from vericite.cli.plans import SetOption, settings_from, takes_plan
from vericite.cli.refusals import prepare_output, refuse_same
from vericite.cli.score import DocumentsOption, GoldOption, SystemsArgument, checked_systems
from vericite.errors import Problems
from vericite.pipeline.plan import CheckPlan, ModelPlan, Plan
from vericite.pipeline.setting import SettingGroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.evaluate.correction import SystemByPeople
    from vericite.evaluate.scoring import System
    from vericite.lab.annotate.agreement import PeopleAgreement
    from vericite.lab.annotate.schemes import Scheme
    from vericite.lab.annotate.units import Unit

annotate = typer.Typer(
    name="annotate",
    help="Label citations by hand, measure the annotators' agreement, and correct a run's rates with the labels.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SampleArgument = Annotated[Path, typer.Argument(help="A sample from `annotate sample`.", metavar="SAMPLE")]
SampleOption = Annotated[Path | None, typer.Option(help="A sample from `annotate sample`.", metavar="FILE")]
LabelsArgument = Annotated[
    list[Path],
    typer.Argument(
        help="Labels of one or more annotators: JSONL as exported by pages, Label Studio's .json, .csv or .tsv."
    ),
]


class SampleSettings(SettingGroup):
    """How a sample is drawn, and how answers without verdicts are checked first."""

    stratify: tuple[str, ...] = Field(
        default=("verdict", "system"), description="Stratify by these: verdict, system, type."
    )
    seed: int = Field(default=0, description="The same seed gives the same sample.")
    check: CheckPlan = CheckPlan()
    llm: ModelPlan = ModelPlan(timeout=60, reply_tokens=256)


@annotate.command()
def sample(
    systems: SystemsArgument,
    out: Annotated[
        Path, typer.Option(help="Write the sample here: JSONL, one unit with its verdict per line.", metavar="FILE")
    ],
    n: Annotated[int, typer.Option("--n", min=1, help="Number of units to label.")] = 200,
    scheme: Annotated[
        str,
        typer.Option(
            help="What annotators label: vericite (three verdicts), bioace-citation, bioace-completeness, politicite, "
            "reason-verify, or your own TOML file. The sample keeps it for the other commands.",
            metavar="NAME|FILE",
        ),
    ] = "vericite",
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    assigned: SetOption = None,
) -> None:
    """Draw a sample to label, and print the expected precision of a rate.

    Answers without verdicts are checked first. Name a folder with answers.jsonl and verdicts.jsonl to sample those
    verdicts. Keep the sample: it is needed to match and weight the labels.
    """
    from vericite.cli.figures import reported
    from vericite.lab.annotate.schemes import load_scheme
    from vericite.lab.annotate.units import draw, units_of

    # Like `correct` and `report`, without the project's judge: all three must judge the same answers alike.
    settings = settings_from(SampleSettings, assigned, project=False)
    problems = Problems()
    prepare_output(out)
    asked = load_scheme(scheme)
    with reported(problems):
        plan = Plan(check=settings.check, llm=settings.llm)
        checked = checked_systems(systems, problems, plan, gold, documents, (out,))
        drawn = draw(units_of(checked, asked.of), n, settings.stratify, settings.seed)
        with output(out) as file:
            assert file is not None
            file.add(unit.model_copy(update={"scheme": scheme}) for unit in drawn.units)
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
) -> None:
    """Make a page to send to annotators: an HTML file without systems and verdicts, which stores the labels.

    Annotators open it in a browser, enter a name, label with keys or the mouse, and send back the exported file.
    """
    from vericite.lab.annotate.page import make_annotation_page
    from vericite.reporting.page import Page, write_page

    refuse_same(out, sample)
    prepare_output(out)
    units = _units(sample)
    write_page(Page(make_annotation_page(units, _scheme(units))), out)
    say(f"{out}: {len(units):,} to label")


@annotate.command()
def serve(
    sample: SampleArgument,
    rater: Annotated[list[str], typer.Option(help="An annotator's name; may be repeated.", metavar="NAME")],
    out: Annotated[Path, typer.Option(help="Folder for the labels, with a file per annotator.", metavar="FOLDER")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any free port.")] = 8765,
) -> None:
    """Serve a page for each annotator on this machine. Labels are written to disk at once."""
    from vericite.lab.annotate.page import expect_kind
    from vericite.lab.annotate.serve import LabelFolder, addresses, make_server

    units = _units(sample)
    asked = _scheme(units)
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
    out: Annotated[
        Path | None, typer.Option(help="Write the majority labels here; ties are left out.", metavar="FILE")
    ] = None,
    assigned: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the agreement of annotators with each other, with the judge, and on marked passages.

    With --sample, labels are checked against the sample, and annotators are compared with its judge. Without it, the
    labels must be those of the scheme vericite. Ties are listed.
    """
    from vericite.cli.figures import reported
    from vericite.evaluate.settings import Draws
    from vericite.lab.annotate.agreement import people_agreement
    from vericite.lab.annotate.interchange import read_annotations

    settings = settings_from(Draws, assigned)
    refuse_same(out, *labels, sample)
    prepare_output(out)
    problems = Problems()
    with reported(problems):
        drawn = [] if sample is None else _units(sample)
        units = None if sample is None else {unit.item: unit for unit in drawn}
        asked = _scheme(drawn)
        given = read_annotations(labels, asked, units, problems)
        found = people_agreement(given, asked, units, settings.bootstrap)
        if as_json:
            say_json(json.dumps(_agreement_record(found), indent=2, ensure_ascii=False))
        else:
            _show_agreement(found, units)
        if out is not None:
            with output(out) as file:
                assert file is not None
                file.add(found.adjudication.ratings)


@annotate.command()
@takes_plan("annotate correct", files=False, project=False)
def correct(
    plan: Plan,
    systems: SystemsArgument,
    sample: Annotated[Path, typer.Option(help="A sample from `annotate sample`.", metavar="FILE")],
    labels: Annotated[list[Path], typer.Option(help="Labels on the sample; may be repeated.", metavar="FILE")],
    gold: GoldOption = None,
    documents: DocumentsOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate the rate of supported citations by human judgement, from the run's verdicts and labels on a sample.

    Four rates are shown: automatic, by labels alone, by both (prediction-powered inference), and the automatic rate
    corrected by the judge's sensitivity and specificity.
    """
    from vericite.cli.figures import print_records, reported, write_records

    prepare_output(out)
    problems = Problems()
    with reported(problems):
        refuse_same(out, sample, *labels)
        checked = checked_systems(systems, problems, plan, gold, documents, (out,))
        found = by_people(checked, sample, labels, problems)
        records = [{"system": system.name, **rate.record} for system in found for rate in system.correction.rates]
        if out is not None:
            write_records(records, out)
        if as_json:
            print_records(records)
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
    out: Annotated[Path | None, typer.Option(help="Write the result here. Default: print it.", metavar="FILE")] = None,
) -> None:
    """Convert labels to and from Label Studio or a spreadsheet; units are matched by the ids of the sample."""
    from vericite.cli.figures import reported
    from vericite.lab.annotate.interchange import read_annotations, written

    refuse_same(out, sample, *(labels or ()))
    prepare_output(out)
    units = _units(sample)
    asked = _scheme(units)
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
    systems: Sequence[System], sample: Path, labels: Sequence[Path], problems: Problems
) -> list[SystemByPeople]:
    """Correct each system's rates with human labels on a sample.

    Raises:
        InputError: There are too few labels, or they are on other verdicts.
    """
    from vericite.lab.annotate.agreement import correct_systems
    from vericite.lab.annotate.interchange import read_annotations

    drawn = _units(sample)
    units, asked = {unit.item: unit for unit in drawn}, _scheme(drawn)
    return correct_systems(systems, units, read_annotations(labels, asked, units, problems), asked)


def _scheme(units: Sequence[Unit]) -> Scheme:
    """Return the scheme of a sample; without one, the usual scheme."""
    from vericite.lab.annotate.schemes import load_scheme

    return load_scheme(units[0].scheme if units else "vericite")


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
