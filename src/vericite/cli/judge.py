"""``vericite judge``: one claim against one premise."""

from __future__ import annotations

from typing import Annotated

import typer


def judge(
    claim: Annotated[str, typer.Argument(help="What is claimed.")],
    premise: Annotated[str, typer.Argument(help="The text that may support it.")],
    judge: Annotated[str, typer.Option(help="Who judges: bundled or lexical.")] = "bundled",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say whether a premise entails a claim, contradicts it, or does neither."""
    import json

    from vericite import pipeline
    from vericite.verify.judging import COLUMNS

    judgement = pipeline.judge(claim, premise, judge)
    found = {name: round(float(value), 6) for name, value in zip(COLUMNS, judgement.probabilities, strict=True)}
    label = max(found, key=lambda name: found[name])
    if as_json:
        typer.echo(json.dumps({"label": label, "probabilities": found, "note": judgement.note}))
    else:
        typer.echo(f"{label}  " + "  ".join(f"{name} {value:.3f}" for name, value in found.items()))
        if judgement.note:
            typer.echo(judgement.note)
