"""``vericite compute``: figures that need a model, written beside the answers that they are of."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.io import note, remark, say
from vericite.cli.score import GoldOption

if TYPE_CHECKING:
    from vericite.errors import RecordError
    from vericite.experiment.compute import Computed


class Computable(StrEnum):
    """What is computed."""

    BERTSCORE = "bertscore"
    MAUVE_FEATURES = "mauve-features"
    CLAIM_ENTAILMENT = "claim-entailment"


_MEASURES = {
    Computable.BERTSCORE: "BERTScore",
    Computable.MAUVE_FEATURES: "MAUVE",
    Computable.CLAIM_ENTAILMENT: "ClaimEntailment",
}


def compute(
    what: Annotated[
        Computable,
        typer.Argument(help="bertscore, mauve-features (vectors for MAUVE), or claim-entailment.", metavar="WHAT"),
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of `ask --save`, of experiments (all their cells), or with answers.jsonl.", metavar="RUN..."
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            "--with",
            help="bundled; hf:CHECKPOINT (the papers have hf:roberta-large for BERTScore and hf:gpt2-large for MAUVE; "
            "#17 behind it names a layer); for claim-entailment any judge (the papers': "
            "hf-seq2seq:google/t5_xxl_true_nli_mixture).",
            metavar="MODEL",
        ),
    ] = "bundled",
    gold: GoldOption = None,
) -> None:
    """Compute what BERTScore, MAUVE and ClaimEntailment read, and write it beside the answers.

    `score` and `table` then have these measures. A run that was stopped goes on when the command is typed again, and
    what was computed of the same texts before is known. Figures are signed with the model that made them.
    """
    from vericite.cli.figures import reported

    problems: list[RecordError] = []
    with reported(problems):
        done = _computed(what, runs, model, problems, gold)
        _show(done, what)


def _computed(
    what: Computable, runs: list[Path], model: str, problems: list[RecordError], gold: Path | None
) -> Computed:
    from contextlib import closing

    from vericite.cli.terminal import ProgressLine
    from vericite.evaluate.encoders import load_text_encoder
    from vericite.experiment.compute import answer_folders, compute_features, compute_scores, load_scores

    folders = answer_folders(runs)
    if what is Computable.MAUVE_FEATURES:
        encoder = load_text_encoder(model)
        with ProgressLine("embedding", "texts").running() as shown:
            return compute_features(folders, encoder, problems, gold, shown.of)
    with closing(load_scores(what.value, model)) as scores, ProgressLine("computing", "answers").running() as shown:
        return compute_scores(folders, scores, problems, gold, shown.of)


def _show(done: Computed, what: Computable) -> None:
    before = f", {done.answers - done.made} of them before" if done.made < done.answers else ""
    files = f"{len(done.files)} files, the first " if len(done.files) > 1 else ""
    say(f"{what.value}: {done.answers} answers{before}; {files}{done.files[0]}")
    say(f"by {done.signature}")
    if done.without:
        note(f"{done.without} questions are left out: they have no answer in words, or nothing to compare it with")
    if done.cut:
        remark(f"of {done.cut} answers or their references the model read only the beginning")
    if done.failed:
        remark(f"the model failed on {done.failed} answers; type the command again to ask it again")
    note(f"now: vericite score {done.files[0].parent} -m {_MEASURES[what]}")
    if done.failed:
        raise typer.Exit(1)
