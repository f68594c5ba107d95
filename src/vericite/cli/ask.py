"""``vericite ask``: a question answered and every citation checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.options import AbstainOption, ChecksOption, JudgeOption, ProtocolOption, chosen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.errors import RecordError
    from vericite.pipeline import Pipeline
    from vericite.verify import Protocol


def ask(
    question: Annotated[str, typer.Argument(help="A biomedical question, in English.")],
    k: Annotated[int, typer.Option("--k", help="Documents to answer from.")] = 5,
    protocol: ProtocolOption = "default",
    judge: JudgeOption = None,
    abstain_below: AbstainOption = None,
    checks: ChecksOption = None,
    corpus: Annotated[
        str,
        typer.Option(
            help='"demo", "pubmed" (asks NCBI), a store that `corpus build` made, or a file of documents: JSONL '
            '{"id", "title"?, "text"}.'
        ),
    ] = "demo",
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole run as JSON.")] = False,
) -> None:
    """Answer a question from the sources, and check every citation.

    The answer is made of sentences of the sources; no language model is asked. The demonstration corpus is
    150 abstracts written for VeriCite: for real questions, bring your own documents with --corpus. With "pubmed" the
    question goes to NCBI (NCBI_EMAIL and NCBI_API_KEY are used if set); what comes back is kept for 30 days.
    """
    from rich.console import Console

    from vericite.cli.options import report
    from vericite.cli.show import show_run
    from vericite.errors import InputError
    from vericite.records import Question, to_json

    if not question.strip():
        raise InputError("expected a question; found no text")
    made, problems = _pipeline(corpus, chosen(protocol, judge, abstain_below, checks))
    run = made.run(Question(id="question", text=question), k)
    if as_json:
        typer.echo(to_json(run))
    else:
        show_run(Console(highlight=False), run)
    report(problems)


def _pipeline(corpus: str, protocol: Protocol) -> tuple[Pipeline, Sequence[RecordError]]:
    """The pipeline over a corpus, and what was wrong with the lines of its file."""
    from vericite.corpus import load_documents
    from vericite.pipeline import Pipeline

    if corpus == "demo":
        return Pipeline.over(protocol=protocol), ()
    if corpus == "pubmed":
        from vericite.corpus.entrez import Entrez
        from vericite.retrieve.pubmed import PubMedRetriever

        return Pipeline.on(PubMedRetriever(Entrez()), protocol), ()
    if corpus.startswith("s3://") or Path(corpus).is_dir():
        from vericite.corpus.store import open_store
        from vericite.retrieve.store import StoreRetriever

        return Pipeline.on(StoreRetriever(open_store(corpus)), protocol), ()
    documents, problems = load_documents(Path(corpus))
    return Pipeline.over(documents, protocol), problems
