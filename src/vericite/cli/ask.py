"""``vericite ask``: a question answered and every citation checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vericite.cli.options import AbstainOption, ChecksOption, JudgeOption, ProtocolOption, chosen


def ask(
    question: Annotated[str, typer.Argument(help="A biomedical question, in English.")],
    k: Annotated[int, typer.Option("--k", help="Documents to answer from.")] = 5,
    protocol: ProtocolOption = "default",
    judge: JudgeOption = None,
    abstain_below: AbstainOption = None,
    checks: ChecksOption = None,
    corpus: Annotated[
        str,
        typer.Option(help='"demo", or a JSONL file of documents: {"id", "title"?, "text"}.'),
    ] = "demo",
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole run as JSON.")] = False,
) -> None:
    """Answer a question from the sources, and check every citation.

    The answer is made of sentences of the sources; no language model is asked. The demonstration corpus is
    150 abstracts written for VeriCite: for real questions, bring your own documents with --corpus.
    """
    from rich.console import Console

    from vericite import pipeline
    from vericite.cli.options import report
    from vericite.cli.show import show_run
    from vericite.corpus import load_documents
    from vericite.records import to_json

    documents, problems = (None, ()) if corpus == "demo" else load_documents(Path(corpus))
    run = pipeline.ask(question, documents, k=k, protocol=chosen(protocol, judge, abstain_below, checks))
    if as_json:
        typer.echo(to_json(run))
    else:
        show_run(Console(highlight=False), run)
    report(problems)
