"""``vericite judge``: one claim against one premise."""

from __future__ import annotations

from typing import Annotated

import typer

from vericite.cli.options import JsonOption, JudgeOption
from vericite.cli.remarks import clean


def judge(
    claim: Annotated[str, typer.Argument(help="What is claimed.")],
    premise: Annotated[str, typer.Argument(help="The text that may support it.")],
    judge: JudgeOption = "bundled",
    as_json: JsonOption = False,
) -> None:
    """Say whether a premise entails a claim, contradicts it, or does neither."""
    import json

    from vericite import pipeline
    from vericite.errors import JudgementError
    from vericite.verify.judges import usual_bar
    from vericite.verify.judging import COLUMNS

    judgement = pipeline.judge(claim, premise, judge or "bundled")
    if judgement.failure is not None:
        raise JudgementError(judgement.failure, judgement.raw)
    label = COLUMNS[int(judgement.probabilities.argmax())]
    # A judge that only says a label has no probabilities to show.
    shown = judgement.probabilities if judgement.graded else ()
    found = {name: round(float(value), 6) for name, value in zip(COLUMNS, shown, strict=judgement.graded)}
    bar, sure = usual_bar(judge or "bundled"), float(judgement.probabilities.max())
    if as_json:
        told = {"label": label, "native": judgement.native, "probabilities": found, "note": judgement.note}
        typer.echo(json.dumps({**told, "abstained": sure < bar}))
    else:
        native = f"  ({clean(judgement.native)})" if judgement.native else ""
        typer.echo("  ".join([label, *(f"{name} {value:.3f}" for name, value in found.items())]) + native)
        if judgement.note:
            typer.echo(judgement.note)
        if sure < bar:
            typer.echo(f"unsure: {label} at {sure:.2f}, below {bar:.2f}: `vericite check` abstains from such a verdict")
