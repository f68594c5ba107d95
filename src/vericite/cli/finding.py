"""Options of the commands that look for evidence, and the search they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from vericite.corpus.store import Filters
    from vericite.pipeline.opening import SearchPlan

_SEARCH = "How to search"
_FILTERS = "Which documents of a store"
BATCH = "Many questions"

CorpusOption = Annotated[
    str,
    typer.Option(
        help='"demo", "pubmed" (asks NCBI), a store that `corpus build` made, or a file of documents: JSONL '
        '{"id", "title"?, "text"}.'
    ),
]
PlanOption = Annotated[
    str,
    typer.Option(
        "--plan",
        help='Where the other options start from: "default", "reason-verify" (that paper\'s: BM25, BGE, a '
        'language model rewrites) or "vericite" (neither reranks nor rewrites).',
        metavar="NAME",
        rich_help_panel=_SEARCH,
    ),
]
ByOption = Annotated[
    str | None,
    typer.Option(
        "--by",
        help="Rank by bm25, dense, hybrid (both; the default where there are vectors), or MedRAG's rrf-2 and rrf-4 "
        "(files only; need the extra \\[hf]).",
        metavar="WAY",
        rich_help_panel=_SEARCH,
    ),
]
RerankOption = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        help='"bundled", "none", "medcpt", "bge", or hf:CHECKPOINT.',
        metavar="NAME",
        rich_help_panel=_SEARCH,
    ),
]
CandidatesOption = Annotated[
    int | None, typer.Option("--candidates", min=1, help="Documents that are reranked.", rich_help_panel=_SEARCH)
]
RewriteOption = Annotated[
    str | None,
    typer.Option(
        "--rewrite",
        help='Who finds other words where the evidence is poor: "offline" (acronyms and MeSH), "none", or a language '
        "model, as openai:gpt-4o-mini.",
        metavar="NAME",
        rich_help_panel=_SEARCH,
    ),
]
MeshOption = Annotated[
    Path | None,
    typer.Option("--mesh-file", help="NLM's descriptors (desc2026.xml or d2026.bin).", rich_help_panel=_SEARCH),
]
CoverageOption = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="Rewrite where less of the question's words are in the evidence.", rich_help_panel=_SEARCH
    ),
]
RelevanceOption = Annotated[
    float | None,
    typer.Option(
        min=0, max=1, help="Rewrite where the best documents' mean relevance is lower.", rich_help_panel=_SEARCH
    ),
]
KeepOption = Annotated[
    str | None,
    typer.Option("--keep", help='After rewriting, keep the "better" evidence or the "new".', rich_help_panel=_SEARCH),
]
BatchOption = Annotated[
    Path | None,
    typer.Option(help='JSONL of questions: {"id", "question"}.', metavar="FILE", rich_help_panel=BATCH),
]

FromYear = Annotated[
    int | None, typer.Option("--from", min=1500, max=2100, help="Of this year or later.", rich_help_panel=_FILTERS)
]
ToYear = Annotated[
    int | None, typer.Option("--to", min=1500, max=2100, help="Of this year or earlier.", rich_help_panel=_FILTERS)
]
Journals = Annotated[list[str] | None, typer.Option("--journal", help="May be repeated.", rich_help_panel=_FILTERS)]
Mesh = Annotated[list[str] | None, typer.Option("--mesh", help="A MeSH heading.", rich_help_panel=_FILTERS)]
Types = Annotated[list[str] | None, typer.Option("--type", help="A publication type.", rich_help_panel=_FILTERS)]
Languages = Annotated[
    list[str] | None, typer.Option("--language", help="A code such as eng.", rich_help_panel=_FILTERS)
]
Retracted = Annotated[
    bool | None,
    typer.Option("--retracted/--not-retracted", help="Only these; both if not said.", rich_help_panel=_FILTERS),
]


def expect_either(question: str | None, batch: Path | None) -> None:
    """Before anything is read.

    Raises:
        InputError: There is neither a question nor a file of them, or both.
    """
    from vericite.errors import InputError

    if (question is None) == (batch is None):
        raise InputError("expected a question, or --batch with a file of them; found " + ("both" if batch else "none"))


def filters_of(
    from_year: int | None,
    to_year: int | None,
    journals: list[str] | None,
    mesh: list[str] | None,
    types: list[str] | None,
    languages: list[str] | None,
    retracted: bool | None,
) -> Filters:
    """The options as conditions."""
    from vericite.corpus.store import Filters

    return Filters(
        year_from=from_year,
        year_to=to_year,
        journals=tuple(journals or ()),
        mesh=tuple(mesh or ()),
        publication_types=tuple(types or ()),
        languages=tuple(languages or ()),
        retracted=retracted,
    )


def plan_of(
    name: str,
    by: str | None,
    rerank: str | None,
    candidates: int | None,
    rewrite: str | None,
    mesh: Path | None,
    coverage: float | None,
    relevance: float | None,
    keep: str | None,
    filters: Filters | None = None,
) -> SearchPlan:
    """The plan of that name with what the options change of it.

    Raises:
        InputError: An option has no such value.
    """
    from dataclasses import replace
    from typing import get_args

    from vericite.pipeline.opening import By, plan_named
    from vericite.pipeline.search import Keep

    plan = plan_named(name)
    thresholds = {
        name: value for name, value in (("coverage", coverage), ("relevance", relevance)) if value is not None
    }
    given = {
        "by": _one_of("--by", by, get_args(By)),
        "rerank": rerank,
        "candidates": candidates,
        "rewrite": rewrite,
        "mesh": mesh,
        "keep": _one_of("--keep", keep, get_args(Keep)),
        "filters": filters,
        "trigger": replace(plan.trigger, **thresholds) if thresholds else None,
    }
    return replace(plan, **{name: value for name, value in given.items() if value is not None})


def _one_of(option: str, value: str | None, known: tuple[str, ...]) -> str | None:
    from vericite.errors import UnknownNameError

    if value is not None and value not in known:
        raise UnknownNameError(f"value of {option}", value, known)
    return value
