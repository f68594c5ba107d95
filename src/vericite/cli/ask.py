"""``vericite ask``: questions answered and every citation checked."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.answering import (
    Answering,
    ContextOption,
    GrammarOption,
    LLMOption,
    PoolOption,
    PromptOption,
    RationaleOption,
    RepairOption,
    SeedOption,
    SelectOption,
    ShotsOption,
)
from vericite.cli.finding import (
    BATCH,
    BatchOption,
    ByOption,
    CandidatesOption,
    CorpusOption,
    CoverageOption,
    KeepOption,
    MeshOption,
    PlanOption,
    RelevanceOption,
    RerankOption,
    RewriteOption,
    expect_either,
    plan_of,
)
from vericite.cli.options import (
    AbstainOption,
    CacheOption,
    ChecksOption,
    ConcurrencyOption,
    JudgeOption,
    PriceOption,
    ProtocolOption,
    RequestsOption,
    TimeoutOption,
    TokensOption,
    chosen,
    llm_settings,
    report,
)
from vericite.cli.remarks import remark

if TYPE_CHECKING:
    from vericite.errors import RecordError
    from vericite.llm import LLM
    from vericite.pipeline import Pipeline
    from vericite.pipeline.clock import Told
    from vericite.pipeline.repair import Repairer
    from vericite.pipeline.search import Search
    from vericite.records import Question
    from vericite.verify import Verifier

_REPLY_TOKENS = 512
_STAGES = {
    "retrieve": ("searching", "searched"),
    "rerank": ("ranking again", "ranked again"),
    "rewrite": ("looking for other words", "looked for other words"),
    "generate": ("answering", "answered"),
    "verify": ("checking", "checked"),
    "repair": ("mending", "mended"),
    "rationale": ("judging the reasoning", "judged the reasoning"),
}


def ask(
    question: Annotated[str | None, typer.Argument(help="A biomedical question, in English.")] = None,
    k: Annotated[int, typer.Option("--k", help="Documents to answer from.")] = 5,
    llm: LLMOption = None,
    prompt: PromptOption = "default",
    grammar: GrammarOption = "auto",
    rationale: RationaleOption = False,
    context: ContextOption = None,
    repair: RepairOption = False,
    pool: PoolOption = None,
    shots: ShotsOption = None,
    select: SelectOption = None,
    seed: SeedOption = None,
    protocol: ProtocolOption = "default",
    judge: JudgeOption = None,
    abstain_below: AbstainOption = None,
    checks: ChecksOption = None,
    corpus: CorpusOption = "demo",
    plan: PlanOption = "default",
    by: ByOption = None,
    rerank: RerankOption = None,
    candidates: CandidatesOption = None,
    rewrite: RewriteOption = None,
    mesh_file: MeshOption = None,
    coverage: CoverageOption = None,
    relevance: RelevanceOption = None,
    keep: KeepOption = None,
    batch: BatchOption = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Keep the runs in this folder, and go on with what is there; `score` and `compare` read it.",
            metavar="FOLDER",
            rich_help_panel=BATCH,
        ),
    ] = None,
    concurrency: ConcurrencyOption = 8,
    rpm: RequestsOption = None,
    tpm: TokensOption = None,
    timeout: TimeoutOption = 300,
    price: PriceOption = None,
    cache: CacheOption = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole run as JSON, a line a question.")] = False,
) -> None:
    """Answer a question from the sources, and check every citation.

    Without --llm the answer is made of sentences of the sources, and no language model is asked. The demonstration
    corpus is 150 abstracts written for VeriCite: for real questions, bring your own documents with --corpus. With
    "pubmed" the question goes to NCBI (NCBI_EMAIL and NCBI_API_KEY are used if set); what comes back is kept for 30
    days. A run kept with --save that was stopped, by Ctrl-C or harder, goes on when the same command is typed again.
    """
    _expect_some(k)
    questions, refused = _questions(question, batch, kept=save is not None)
    settings = llm_settings(concurrency, rpm, tpm, timeout, price, _REPLY_TOKENS, cache)
    chosen_plan = plan_of(plan, by, rerank, candidates, rewrite, mesh_file, coverage, relevance, keep)

    from vericite.cli.show import show_ledger
    from vericite.llm import LLM
    from vericite.pipeline import Pipeline
    from vericite.pipeline.check import verifier_for
    from vericite.pipeline.opening import open_search
    from vericite.verify import load_judge

    search, problems = open_search(corpus, chosen_plan, settings)
    answering = Answering(prompt, grammar, rationale, context, pool, shots, select, seed)
    model = None if llm is None else LLM(llm, settings)
    generator = answering.generator(model, questions, refused)
    judged_by = None if judge is None else load_judge(judge, settings)
    verifier = verifier_for(chosen(protocol, judged_by, abstain_below, checks))
    made = Pipeline(
        search,
        generator,
        verifier.protocol,
        rationales=answering.checker(judge, judged_by),
        repairer=_repairer(verifier, search, model) if repair else None,
    )
    try:
        if save is not None:
            failed = _ask_into(save, made, questions, k, corpus, as_json)
        else:
            failed = _ask_here(made, questions, k, as_json)
    finally:
        # Also of a run that was stopped: it was paid for.
        show_ledger(made.ledger)
    _tell_failed(failed, len(questions))
    report([*problems, *refused])
    if failed:
        raise typer.Exit(1)


def _expect_some(k: int) -> None:
    from vericite.errors import InputError

    if k < 1:
        raise InputError(f"expected --k, the number of documents to answer from, to be 1 or more; found {k}")


def _questions(question: str | None, batch: Path | None, kept: bool) -> tuple[list[Question], list[RecordError]]:
    from vericite.errors import InputError
    from vericite.formats.questions import read_questions
    from vericite.records import Question

    expect_either(question, batch)
    if batch is not None:
        return read_questions(batch)
    if not (question or "").strip():
        raise InputError("expected a question; found no text")
    text = question or ""
    # In a folder it stands beside others.
    id = f"question-{hashlib.sha256(text.encode()).hexdigest()[:12]}" if kept else "question"
    return [Question(id=id, text=text)], []


def _repairer(verifier: Verifier, search: Search, model: LLM | None) -> Repairer:
    from dataclasses import replace

    from vericite.pipeline.repair import Repairer, Rewriter

    return Repairer(verifier, search=replace(search, rewrite=None), rewriter=None if model is None else Rewriter(model))


def _ask_here(made: Pipeline, questions: Sequence[Question], k: int, as_json: bool) -> list[str]:
    """Why those failed that did."""
    from rich.console import Console

    from vericite.cli.show import show_run
    from vericite.records import to_json

    console = Console(highlight=False)
    with _progress() as told:
        # One question is shown stage by stage; of many a language model is asked about several at a time.
        runs = [made.run(questions[0], k, told)] if len(questions) == 1 else made.run_many(questions, k)
    failed: list[str] = []
    for number, run in enumerate(runs):
        failed += [] if run.answer.failed is None else [run.answer.failed]
        if as_json:
            typer.echo(to_json(run))
        else:
            console.print("\n" if number else "", end="")
            show_run(console, run)
    return failed


def _ask_into(
    folder: Path, made: Pipeline, questions: Sequence[Question], k: int, corpus: str, as_json: bool
) -> list[str]:
    """Why those failed that did."""
    from rich.console import Console

    from vericite.pipeline.runs import RunFolder
    from vericite.records import to_json

    parts = {**made.parts, "protocol": made.verifier.protocol.signature, "judge": made.verifier.judge.signature}
    settings = {"corpus": corpus, **_fingerprint(corpus), "k": k, "parts": parts}
    kept = RunFolder(folder, settings, lambda: made.ledger)
    failed: list[str] = []
    with kept.open(questions) as left, Console(stderr=True).status("asking") as status:
        done = len(questions) - len(left)
        for number, run in enumerate(made.run_many(left, k), start=done + 1):
            kept.add(run)
            failed += [] if run.answer.failed is None else [run.answer.failed]
            status.update(f"asking, {number} of {len(questions)} questions done, {len(failed)} failed")
    if as_json:
        # Those answered before, too: what is printed does not depend on whether the run was stopped in between.
        asked = {question.id for question in questions}
        for run in kept.runs():
            if run.question.id in asked:
                typer.echo(to_json(run))
    told = f", {done} of them before" if done else ""
    typer.echo(f"{folder}: {len(questions) - len(failed)} of {len(questions)} questions answered{told}", err=as_json)
    return failed


def _fingerprint(corpus: str) -> dict[str, str]:
    """Of a corpus that is a file, which may hold other documents the next time."""
    path = Path(corpus)
    if corpus in ("demo", "pubmed") or not path.is_file():
        return {}
    with path.open("rb") as file:
        return {"corpus_sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _tell_failed(failed: Sequence[str], questions: int) -> None:
    if failed:
        others = " (the first of them)" if len(failed) > 1 else ""
        remark(f"{len(failed)} of {questions} questions failed: {failed[0]}{others}")


@contextmanager
def _progress() -> Generator[Told | None]:
    """On a terminal, what is being done, and what each stage took; nothing where that goes into a file."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield None
        return
    with console.status("searching") as status:

        def tell(stage: str, seconds: float | None) -> None:
            doing, done = _STAGES[stage]
            if seconds is None:
                status.update(doing)
            else:
                console.print(Text(f"{done} in {seconds:.2f} s", style="dim"))

        yield tell
