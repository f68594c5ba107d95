"""``vericite demonstrations``: worked questions that language models are shown, built from training questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from vericite.cli.options import (
    CacheOption,
    ConcurrencyOption,
    JsonOption,
    PriceOption,
    ReplyOption,
    RequestsOption,
    TimeoutOption,
    TokensOption,
    llm_settings,
    refuse_unwritable,
    report,
)
from vericite.cli.remarks import clean, remark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.errors import RecordError
    from vericite.generate.demonstrations import Built, Pool, RationaleWriter
    from vericite.llm import Settings
    from vericite.records import Document, Question

demonstrations = typer.Typer(
    name="demonstrations",
    help="Build and look at a pool of worked questions that language models are shown as examples.",
    no_args_is_help=True,
    add_completion=False,
)


@demonstrations.command()
def build(
    questions: Annotated[
        Path,
        typer.Argument(
            help='Training questions with their right answers: JSONL {"id", "question", "type"?, "gold_documents", '
            '"gold_exact"?, "gold_ideal"?}. None may be of a test set.'
        ),
    ],
    to: Annotated[Path, typer.Option("--to", help="The pool to make or go on with.", metavar="POOL")],
    documents: Annotated[
        Path | None, typer.Option(help='A file of the gold documents: JSONL {"id", "title"?, "text"}.')
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help='Where else the gold documents are: "demo", a store, or "pubmed" (asks NCBI).'),
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm", help="Who writes rationales, as openai:gpt-4o-mini; without, there are none.", metavar="MODEL"
        ),
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Documents a demonstration shows, at most.")] = 3,
    concurrency: ConcurrencyOption = 8,
    rpm: RequestsOption = None,
    tpm: TokensOption = None,
    timeout: TimeoutOption = 60.0,
    price: PriceOption = None,
    reply_tokens: ReplyOption = 1024,
    cache: CacheOption = True,
) -> None:
    """Make demonstrations of training questions: the right answer with citations, and, with --llm, reasoning to it.

    A sentence of a reference answer cites the gold document that has most of its words, or is left out. A rationale is
    kept where it cites documents that exist and, read by itself, comes to the right answer. Stopped, even by
    kill -9, the build goes on where it was when the same command is typed again.
    """
    from vericite.formats.questions import read_questions
    from vericite.generate.demonstrations import build_pool

    refuse_unwritable(to, "--to")
    found, problems = read_questions(questions)
    settings = llm_settings(concurrency, rpm, tpm, timeout, price, reply_tokens, cache)
    evidence, more = _evidence(documents, corpus, found)
    writer = None if llm is None else _writer(llm, settings)
    try:
        with _shown(len(found)) as progress:
            built = build_pool(found, evidence, to, writer, most, progress)
    finally:
        if writer is not None:
            writer.llm.close()
    _tell(built, to, writer)
    report([*problems, *more])
    if built.failed:
        raise typer.Exit(1)


@demonstrations.command()
def info(
    pool: Annotated[Path, typer.Argument(help="A pool that `demonstrations build` made.", metavar="POOL")],
    against: Annotated[
        Path | None,
        typer.Option(help="Questions to be asked: say how many demonstrations give them away.", metavar="QUESTIONS"),
    ] = None,
    near: Annotated[
        float | None, typer.Option(min=0, max=1, help="Cosine from which two questions count as one; 0.85 if not said.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what is in a pool, and what of it must not be shown with given questions."""
    from vericite.generate.demonstrations import Pool

    found, problems = Pool.read(pool)
    asked, more = _against(against)
    facts = _facts(found, asked, near)
    if as_json:
        typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        for name, value in facts.items():
            typer.echo(f"{name:<18} {clean(_in_words(value))}")
    report([*problems, *more])


def _in_words(value: object) -> str:
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{part} {count}" for part, count in cast(dict[str, object], value).items())


def _writer(spec: str, settings: Settings) -> RationaleWriter:
    from vericite.generate.demonstrations import RationaleWriter
    from vericite.llm import LLM

    return RationaleWriter(LLM(spec, settings), settings.reply_tokens)


def _evidence(
    documents: Path | None, corpus: str | None, questions: Sequence[Question]
) -> tuple[Callable[[Question], Sequence[Document]], Sequence[RecordError]]:
    """What gives a question its gold documents, and what was wrong with the lines of the file."""
    from vericite.errors import InputError
    from vericite.retrieve.oracle import Oracle

    if (documents is None) == (corpus is None):
        raise InputError("expected either --documents or --corpus; found " + ("neither" if corpus is None else "both"))
    problems: Sequence[RecordError] = ()
    if corpus == "pubmed":
        from vericite.corpus.entrez import Entrez

        oracle = Oracle(Entrez())
    else:
        found, problems = _documents(documents, corpus, questions)
        oracle = Oracle(documents=found)

    def gold(question: Question) -> list[Document]:
        return [hit.document for hit in oracle.retrieve(question, len(question.gold_documents))]

    return gold, problems


def _documents(
    documents: Path | None, corpus: str | None, questions: Sequence[Question]
) -> tuple[Sequence[Document], Sequence[RecordError]]:
    from vericite.corpus import demo_documents, load_documents
    from vericite.retrieve.oracle import pmid_of

    if documents is not None:
        return load_documents(documents)
    assert corpus is not None
    if corpus == "demo":
        return demo_documents(), ()
    from vericite.corpus.store import open_store

    names = {
        name for question in questions for gold in question.gold_documents for name in (gold, pmid_of(gold) or gold)
    }
    return open_store(corpus).get(sorted(names)).documents, ()


@contextmanager
def _shown(questions: int) -> Generator[Callable[[Built], None]]:
    """A line on a terminal that says how far it is."""
    from rich.console import Console

    with Console(stderr=True).status("reading") as status:

        def tell(built: Built) -> None:
            done = built.made + built.before + len(built.failed)
            status.update(f"{built.made:,} demonstrations, about {done:,} of {questions:,} questions")

        yield tell


def _tell(built: Built, to: Path, writer: RationaleWriter | None) -> None:
    typer.echo(
        f"{to}: {built.made:,} demonstrations made, {built.before:,} questions done before, "
        f"{built.left_out.total():,} left out, {len(built.failed):,} failed"
    )
    for reason, count in built.left_out.most_common():
        typer.echo(f"  left out: {count:,}: {clean(reason)}")
    for id, reason in list(built.failed.items())[:20]:
        remark(f"{id}: {reason}")
    if len(built.failed) > 20:
        remark(f"and {len(built.failed) - 20:,} more questions that failed")
    if writer is not None:
        typer.echo(f"  {writer.llm.ledger}")


def _against(path: Path | None) -> tuple[Sequence[Question], Sequence[RecordError]]:
    from vericite.formats.questions import read_questions

    return ((), ()) if path is None else read_questions(path)


def _facts(pool: Pool, asked: Sequence[Question], near: float | None) -> dict[str, object]:
    from collections import Counter
    from dataclasses import asdict

    facts: dict[str, object] = {
        "demonstrations": len(pool),
        "types": dict(Counter(exemplar.type or "none" for exemplar in pool.exemplars).most_common()),
        "labels": dict(Counter(exemplar.label or "none" for exemplar in pool.exemplars).most_common()),
        "with answer": sum(exemplar.answer is not None for exemplar in pool.exemplars),
        "with rationale": sum(exemplar.rationale is not None for exemplar in pool.exemplars),
        "made by": {
            f"{part}: {by}:": count
            for (part, by), count in Counter(
                made for exemplar in pool.exemplars for made in exemplar.made_by.items()
            ).most_common()
        },
        "signature": pool.signature,
    }
    if asked:
        from vericite.generate.demonstrations import NEAR, Vectors, decontaminate
        from vericite.models import Embedder

        vectors = Vectors.beside(pool.path, Embedder.shared())
        left = decontaminate(pool, asked, vectors, NEAR if near is None else near)
        facts["removed"] = asdict(left.removed[-1])
        facts["left"] = len(left)
    return facts
