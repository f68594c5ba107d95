"""What ``vericite train attribution-data`` does between its options and what it prints."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from vericite.cli.io import clean, remark, say
from vericite.cli.refusals import report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.errors import RecordError
    from vericite.llm import LLM, Settings
    from vericite.train.made_by_models import Form, MadeCounts


class Asked(NamedTuple):
    """What is to be made; ``prompts`` are those for long answers, sources in other words, sources of the same topic."""

    data: str
    form: Form
    llm: str | None
    prompts: tuple[Path | None, Path | None, Path | None]
    most: int | None
    seed: int
    judge: str | None


def write_examples(asked: Asked, out: Path, settings: Settings) -> tuple[MadeCounts, Sequence[RecordError], LLM | None]:
    """Read the data set, ask the model, write the folder.

    Raises:
        InputError: There is no model where one is needed, or nothing in the data has the form.
    """
    from vericite.cli.terminal import ProgressLine
    from vericite.datasets.registry import source_named
    from vericite.errors import InputError, RecordError
    from vericite.llm import LLM
    from vericite.train.made_by_models import FORMS, Maker, Prompts, items_of, make_examples
    from vericite.verify.judges.registry import load_judge

    if (asked.llm is None) != (asked.form == "short"):
        found = "none. Name one with --llm" if asked.llm is None else f"--llm {asked.llm}. Leave it out"
        raise InputError(f"expected {'no' if asked.llm else 'a'} language model for --form {asked.form}; found {found}")
    source = source_named(asked.data)
    read = list(islice(items_of(source.set.entries(source.paths, source.part), asked.form), asked.most))
    problems = [it for it in read if isinstance(it, RecordError)]
    items = [it for it in read if not isinstance(it, RecordError)]
    if not items:
        raise InputError(f"expected records for --form {asked.form} in {asked.data}: {FORMS[asked.form]}; found none")
    prompts = Prompts.read(*asked.prompts)
    llm = None if asked.llm is None else LLM(asked.llm, settings)
    judge = load_judge(asked.judge or "bundled", settings)
    maker = Maker(llm, judge, prompts, asked.seed, source.name)
    told = {
        "data": source.name,
        "licence": source.set.licence,
        "llm": None if llm is None else llm.signature,
        "judge": judge.signature,
        "prompts": prompts.signatures,
        "seed": asked.seed,
    }
    try:
        with ProgressLine("making", "records", len(items)).running() as progress:
            return make_examples(items, asked.form, maker, out, told, progress.update), problems, llm
    finally:
        if llm is not None:
            llm.close()


def show_counts(counts: MadeCounts, problems: Sequence[RecordError], llm: LLM | None) -> None:
    """Print what a run came to; exit with 1 where the model failed on some record."""
    say(f"{counts.items:,} records, {counts.before:,} done before: {counts.examples:,} examples")
    for reason, count in sorted(counts.rejected.items(), key=lambda pair: -pair[1]):
        say(f"  left out: {count:,}: {reason}")
    for id, reason in list(counts.failed.items())[:20]:
        remark(f"{clean(id)}: {clean(reason)}")
    if llm is not None:
        say(f"  {llm.ledger}")
    report(problems)
    if counts.failed:
        raise typer.Exit(1)
