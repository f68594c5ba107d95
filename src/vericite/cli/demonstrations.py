"""``vericite demonstrations``: worked questions shown to language models, made from training questions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import count as numbers
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from vericite.cli.exits import ExitCode
from vericite.cli.io import clean, remark, say, say_json
from vericite.cli.options import JsonOption
from vericite.cli.plans import takes_plan
from vericite.cli.refusals import prepare_output, report
from vericite.errors import Problems
from vericite.pipeline.plan import Plan, SearchPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.generate.demonstrations import Built, Pool, WritesRationales
    from vericite.llm import Settings
    from vericite.records import Document, Question

demonstrations = typer.Typer(
    name="demonstrations",
    help="Build and inspect a pool of worked questions, shown to language models as examples.",
    no_args_is_help=True,
    add_completion=False,
)


@demonstrations.command()
@takes_plan("demonstrations build")
def build(
    plan: Plan,
    questions: Annotated[
        Path,
        typer.Argument(
            help='Training questions with their right answers: JSONL {"id", "question", "type"?, "gold_documents", '
            '"gold_exact"?, "gold_ideal"?}. None of them may be in a test set.'
        ),
    ],
    to: Annotated[Path, typer.Option("--to", help="The pool to create or continue.", metavar="POOL")],
    corpus: Annotated[
        str | None,
        typer.Option(
            help='Where the gold documents are: a file (JSONL {"id", "title"?, "text"}), "demo", a store, or "pubmed" '
            "(asks NCBI).",
            metavar="CORPUS",
        ),
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option(
            "--llm",
            help="The model that writes rationales, such as openai:gpt-4o-mini. Default: no rationales.",
            metavar="MODEL",
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="With --llm: ask for rationales with this evaluation prompt, and keep those with the right "
            "answer: reason-verify-bioasq ... or a .toml file.",
            metavar="NAME",
        ),
    ] = None,
    retrieved: Annotated[
        bool,
        typer.Option(
            "--retrieved", help="Show the results of a search in --corpus, as in evaluation, instead of gold documents."
        ),
    ] = False,
    reference: Annotated[
        bool,
        typer.Option(
            "--reference", help="Without --llm: use the cited reference answer as the rationale; no model is asked."
        ),
    ] = False,
) -> None:
    """Make demonstrations from training questions: the right answer with citations and, with --llm, a rationale.

    A sentence of a reference answer cites the gold document with most of its words, or is left out. Prompts with
    rationales need some: a model writes them, or --reference uses the answer itself. A model's rationale is kept if it
    cites documents that exist and, read by itself, leads to the right answer. With --retrieved and --prompt they are
    made after Reason and Verify: from the documents that a search finds, with the prompt of the evaluation, and only
    those with the right answer are kept. An interrupted build, even after kill -9, continues when you run the same
    command again. A demonstration has at most search.k documents: by default 3 gold documents, or 5 search results.
    """
    from vericite.errors import InputError
    from vericite.formats.registry import read_questions
    from vericite.generate.demonstrations import build_pool
    from vericite.pipeline.build import settings_of

    prepare_output(to, "--to")
    _refuse_idle(llm, prompt)
    if reference and llm is not None:
        raise InputError("expected --reference without --llm, which writes rationales; found both. Give only one.")
    problems = Problems()
    found = read_questions(questions, problems)
    settings = settings_of(plan.llm)
    shown, by = plan.search.k or (5 if retrieved else 3), None
    if retrieved:
        evidence, by = _found_documents(_searched(plan.search, corpus), settings, shown, problems)
    else:
        evidence = _gold_documents(corpus, problems)
    writer = None if llm is None else _writer(llm, settings, prompt)
    try:
        with _shown(len(found)) as progress:
            built = build_pool(found, evidence, to, writer, shown, progress, by, reference)
    finally:
        if writer is not None:
            writer.llm.close()
    _show_built(built, to, writer)
    report(problems, ExitCode.NOT_RUN if built.failed else ExitCode.OK)


def _refuse_idle(llm: str | None, prompt: str | None) -> None:
    from vericite.errors import InputError

    if prompt is not None and llm is None:
        raise InputError("expected --llm with --prompt; found none. Name a model.")


def _searched(plan: SearchPlan, corpus: str | None) -> SearchPlan:
    """Return the search plan with the corpus of the command.

    Raises:
        InputError: Neither the command nor the plan names a corpus.
    """
    from vericite.errors import InputError

    if corpus is not None:
        return plan.model_copy(update={"corpus": corpus})
    if plan.corpus == SearchPlan().corpus:
        raise InputError("expected --corpus with --retrieved; found none. Name the corpus to search.")
    return plan


def _writer(model: str, settings: Settings, prompt: str | None) -> WritesRationales:
    """Return the writer of rationales; with a prompt, it writes as in evaluation."""
    from vericite.generate.demonstrations import EvaluatedWriter, RationaleWriter
    from vericite.generate.prompt import load_prompt
    from vericite.llm import LLM

    llm = LLM(model, settings)
    return RationaleWriter(llm, settings.reply_tokens) if prompt is None else EvaluatedWriter(llm, load_prompt(prompt))


def _found_documents(
    plan: SearchPlan, settings: Settings, most: int, problems: Problems
) -> tuple[Callable[[Question], list[Document]], str]:
    """Return a function that searches for a question's documents, and the search's signature."""
    from vericite.pipeline.build import open_search

    search = open_search(plan, settings, problems=problems)

    def found(question: Question) -> list[Document]:
        return [hit.document for hit in search.find(question, most).usable_first]

    return found, " ".join(f"{name}={signature}" for name, signature in search.parts.items())


def _gold_documents(corpus: str | None, problems: Problems) -> Callable[[Question], list[Document]]:
    """Return a function that finds a question's gold documents."""
    from vericite.errors import InputError
    from vericite.pipeline.build import open_oracle

    if corpus is None:
        raise InputError("expected --corpus with the gold documents; found none")
    oracle = open_oracle(corpus, problems)

    def gold(question: Question) -> list[Document]:
        return [hit.document for hit in oracle.retrieve(question, len(question.gold_documents))]

    return gold


@demonstrations.command()
def info(
    pool: Annotated[Path, typer.Argument(help="A pool made by `demonstrations build`.", metavar="POOL")],
    against: Annotated[
        Path | None,
        typer.Option(help="Test questions: count the demonstrations that reveal their answers.", metavar="QUESTIONS"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the contents of a pool, and what must not be shown with given questions."""
    from vericite.generate.demonstrations import Pool

    problems = Problems()
    found = Pool.read(pool, problems)
    asked = _against(against, problems)
    facts = _facts(found, asked)
    if as_json:
        say_json(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        for name, value in facts.items():
            say(f"{name:<18} {clean(_in_words(value))}")
    report(problems)


def _facts(pool: Pool, asked: Sequence[Question]) -> dict[str, object]:
    """Return the facts about a pool, and with questions, what must not be shown with them."""
    from vericite.generate.demonstrations import NEAR, Vectors, decontaminate
    from vericite.models.embedder import Embedder

    made = Counter(made for exemplar in pool.exemplars for made in exemplar.made_by.items())
    facts: dict[str, object] = {
        "demonstrations": len(pool),
        "types": dict(Counter(exemplar.type or "none" for exemplar in pool.exemplars).most_common()),
        "labels": dict(Counter(exemplar.label or "none" for exemplar in pool.exemplars).most_common()),
        "with answer": sum(exemplar.answer is not None for exemplar in pool.exemplars),
        "with rationale": sum(exemplar.rationale is not None for exemplar in pool.exemplars),
        "made by": {f"{part}: {by}:": count for (part, by), count in made.most_common()},
        "signature": pool.signature,
    }
    if asked:
        vectors = Vectors.next_to(pool.path, Embedder.shared())
        left = decontaminate(pool, asked, vectors, NEAR)
        facts["removed"] = asdict(left.removed[-1])
        facts["left"] = len(left)
    return facts


def _in_words(value: object) -> str:
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{part} {count}" for part, count in cast(dict[str, object], value).items())


@contextmanager
def _shown(questions: int) -> Generator[Callable[[Built], None]]:
    """Show progress on a line of the terminal."""
    from vericite.cli.terminal import ProgressLine

    with ProgressLine("reading", "questions", questions).running() as progress:
        tried = numbers(1)

        def show(built: Built) -> None:
            progress.update(built.before + next(tried), f"{built.made:,} demonstrations")

        yield show


def _show_built(built: Built, to: Path, writer: WritesRationales | None) -> None:
    say(
        f"{to}: {built.made:,} demonstrations made, {built.before:,} already done, "
        f"{built.left_out.total():,} left out, {len(built.failed):,} failed"
    )
    for reason, count in built.left_out.most_common():
        say(f"  left out: {count:,}: {clean(reason)}")
    for id, reason in list(built.failed.items())[:20]:
        remark(f"{id}: {reason}")
    if len(built.failed) > 20:
        remark(f"and {len(built.failed) - 20:,} more questions that failed")
    if writer is not None:
        say(f"  {writer.llm.ledger}")


def _against(path: Path | None, problems: Problems) -> Sequence[Question]:
    from vericite.formats.registry import read_questions

    return () if path is None else read_questions(path, problems)
