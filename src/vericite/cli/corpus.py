"""``vericite corpus``: a store of documents of one's own, from a hundred abstracts to all of PubMed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.finding import (
    FromYear,
    Journals,
    Languages,
    Mesh,
    Retracted,
    ToYear,
    Types,
    filters_of,
)
from vericite.cli.options import JsonOption, refuse_unwritable, report
from vericite.cli.remarks import remark
from vericite.cli.retractions import retractions

if TYPE_CHECKING:
    from vericite.corpus.entrez import Entrez
    from vericite.corpus.entrez.fetched import Fetched
    from vericite.corpus.entrez.results import SearchResult
    from vericite.corpus.gathering import Gathered
    from vericite.corpus.store import BuildReport, Progress
    from vericite.corpus.store.contract import Item, Source

corpus = typer.Typer(
    name="corpus",
    help="Build and read a store of documents: a folder, or s3://bucket/prefix. Needs the extra \\[store].",
    no_args_is_help=True,
    add_completion=False,
)

corpus.command()(retractions)

StoreArgument = Annotated[str, typer.Argument(help="The store: a folder, or s3://bucket/prefix.", metavar="STORE")]
_BETWEEN_LINES = 30.0
"""Seconds."""


@corpus.command()
def build(
    to: Annotated[str, typer.Option("--to", help="The store to make or add to.", metavar="STORE")],
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files and folders: PubMed XML, JSONL (MedRAG's chunks too), CSV, RIS, NBIB, JATS articles, Markdown, "
            "text, lists of PMIDs; .gz or not."
        ),
    ] = None,
    pubmed: Annotated[
        list[str] | None,
        typer.Option(help="Add what PubMed finds for this query; goes to NCBI.", metavar="QUERY"),
    ] = None,
    pmids: Annotated[
        str | None, typer.Option(help="Add these articles, with commas; goes to NCBI.", metavar="LIST")
    ] = None,
    most: Annotated[int, typer.Option(min=1, max=9999, help="Articles of a query, at most.")] = 1000,
    format: Annotated[
        str, typer.Option(help="What the files are; auto goes by their content.", metavar="NAME")
    ] = "auto",
    vectors: Annotated[
        bool,
        typer.Option(
            "--vectors",
            help="Keep vectors of the documents, too, by the bundled embedder; takes longer. A store that was made "
            "with them keeps making them. `search` and `ask` then go by meaning, too.",
        ),
    ] = False,
) -> None:
    """Build a store, or add to one: new versions replace old ones, and PubMed's deletions are carried out.

    A build that was stopped, even by kill -9, goes on where it was when the same command is typed again; a source
    that is in the store unchanged is skipped. A record that cannot be used is reported and costs itself alone, and so
    does a file; the exit code is then 2.
    """
    from vericite.corpus.gathering import gather
    from vericite.corpus.store import build_store

    asked = [pmid.strip() for pmid in (pmids or "").split(",") if pmid.strip()]
    with _entrez() as entrez:
        gathered = gather(sources or [], entrez, pubmed or [], asked, most, format)
        for line in (*gathered.told, *gathered.passed_over):
            remark(line)
        meter = _Meter(gathered)
        with _shown(meter) as progress:
            built = build_store(to, meter.sources, vectors=vectors, progress=progress)
    _tell(built, to)
    report(built.problems)


@corpus.command()
def info(store: StoreArgument, as_json: JsonOption = False) -> None:
    """Say what is in a store, and what it was built from."""
    from dataclasses import asdict

    from vericite.corpus.store import open_store

    found = open_store(store).info()
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    years = f"{found.years[0]} to {found.years[1]}" if found.years else "none known"
    rows = {
        "documents": f"{found.documents:,}",
        "with abstract": f"{found.with_abstract:,}",
        "years": years,
        "retracted": f"{found.retracted:,}",
        "size": f"{found.size / 1e6:,.1f} MB",
        "not indexed yet": f"{found.unindexed:,}",
        "vectors": found.embedder or "none",
        "built": found.built or "never",
        "sources": f"{len(found.sources):,}",
    }
    for name, value in rows.items():
        typer.echo(f"{name:<16} {value}")
    for source in found.sources[:20]:
        state = "" if source.done else ", not read to its end"
        refused = f", {source.refused:,} refused" if source.refused else ""
        missing = f", {source.missing:,} not there" if source.missing else ""
        typer.echo(f"  {source.name}: {source.items:,} records{refused}{missing}{state}")
    if len(found.sources) > 20:
        typer.echo(f"  ... and {len(found.sources) - 20:,} more (--json lists all)")


@corpus.command()
def get(
    store: StoreArgument,
    ids: Annotated[list[str], typer.Argument(help="Ids of documents, such as PMIDs.")],
) -> None:
    """Print documents as JSON, a line each. Exits with 1 if one is not there."""
    from vericite.corpus.store import open_store
    from vericite.records import to_json

    found = open_store(store).get(ids)
    for document in found.documents:
        typer.echo(to_json(document))
    if found.missing:
        remark(f"not in {store}: {', '.join(found.missing)}")
        raise typer.Exit(1)


@corpus.command()
def export(
    store: StoreArgument,
    out: Annotated[Path | None, typer.Option(help="Write here; else to the terminal.")] = None,
    from_year: FromYear = None,
    to_year: ToYear = None,
    journal: Journals = None,
    mesh: Mesh = None,
    type: Types = None,
    language: Languages = None,
    retracted: Retracted = None,
) -> None:
    """Write documents as JSON Lines, which `corpus build` and `ask --corpus` read."""
    from vericite.cli.writing import output
    from vericite.corpus.store import open_store
    from vericite.records import write_jsonl

    filters = filters_of(from_year, to_year, journal, mesh, type, language, retracted)
    documents = open_store(store).scan(filters)
    refuse_unwritable(out)
    with output(out) as written:
        if written is None:
            write_jsonl(documents, sys.stdout)
        else:
            written.add(documents)


@corpus.command()
def verify(store: StoreArgument) -> None:
    """Read every document and index of a store; exits with 1 if something is wrong."""
    from vericite.corpus.store import open_store

    problems = open_store(store).verify()
    for problem in problems:
        typer.echo(problem)
    if problems:
        raise typer.Exit(1)
    typer.echo("nothing is wrong")


@contextmanager
def _entrez() -> Generator[_Lazy]:
    lazy = _Lazy()
    try:
        yield lazy
    finally:
        lazy.close()


class _Lazy:
    """The client of PubMed, made when something is first asked of it."""

    def __init__(self) -> None:
        self._made: Entrez | None = None

    @property
    def _entrez(self) -> Entrez:
        from vericite.corpus.entrez import Entrez

        self._made = self._made or Entrez()
        return self._made

    def search(self, query: str, most: int = 200) -> SearchResult:
        return self._entrez.search(query, most)

    def batches(self, pmids: Iterable[str]) -> Iterator[Fetched]:
        return self._entrez.batches(pmids)

    def close(self) -> None:
        if self._made:
            self._made.close()


class _Meter:
    """How far a build is, with the time left by the size of the files that are still to be read."""

    def __init__(self, gathered: Gathered) -> None:
        self._sizes = gathered.sizes
        self._order = [source.name for source in gathered.sources]
        self._begun: set[str] = set()
        self.sources = [replace(source, items=self._noting(source)) for source in gathered.sources]

    def _noting(self, source: Source) -> Callable[[], Iterator[Item]]:
        """Its items, and note that it was read: of what is skipped as unchanged no item is asked for."""

        def items() -> Iterator[Item]:
            self._begun.add(source.name)
            return source.items()

        return items

    def line(self, progress: Progress) -> str:
        """What is told."""
        if progress.stage == "indexing":
            return f"{progress.items:,} records read; indexing"
        place = self._order.index(progress.source)
        seconds = self._seconds(progress, place) if progress.remaining is None else progress.remaining
        left = "" if seconds is None else f", about {_time(seconds)} left"
        made = "records with vectors" if progress.stage == "embedding" else "records"
        return (
            f"{progress.items:,} {made}, {progress.rate:,.0f} a second, source {place + 1} of {len(self._order)}{left}"
        )

    def _seconds(self, progress: Progress, place: int) -> float | None:
        """The time left by the size of the files, where not every source says how many records it has."""
        done = self._size(name for name in self._order[:place] if name in self._begun)
        return progress.seconds * self._size(self._order[place:]) / done if done else None

    def _size(self, names: Iterable[str]) -> int:
        return sum(self._sizes.get(name, 0) for name in names)


@contextmanager
def _shown(meter: _Meter) -> Generator[Callable[[Progress], None]]:
    """A line that changes, or, where that goes into a file, one every half a minute."""
    from rich.console import Console

    console = Console(stderr=True)
    told = 0.0
    with console.status("reading") as status:

        def tell(progress: Progress) -> None:
            nonlocal told
            if console.is_terminal:
                status.update(meter.line(progress))
            elif progress.seconds - told >= _BETWEEN_LINES:
                told = progress.seconds
                remark(meter.line(progress))

        yield tell


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _tell(built: BuildReport, to: str) -> None:
    counts = {
        "added": built.added,
        "replaced": built.replaced,
        "older than what is there": built.outdated,
        "deleted": built.deleted,
        "refused": built.refused,
        "not there": built.missing,
        "sources unchanged": len(built.skipped),
    }
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count or name == "added")
    left = "" if built.kept else "; no store was made, for there is nothing to keep"
    typer.echo(f"{to}: {told} ({_time(built.seconds)}){left}")
