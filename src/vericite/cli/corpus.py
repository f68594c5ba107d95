"""``vericite corpus``: stores of your own documents, from a hundred abstracts to all of PubMed."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.exits import ExitCode, end
from vericite.cli.io import clean, note, remark, say, say_json
from vericite.cli.options import JsonOption
from vericite.cli.plans import takes_plan
from vericite.cli.refusals import prepare_output, report
from vericite.cli.workers import readers_of
from vericite.pipeline.plan import Plan
from vericite.retrieve.lookup import PUBMED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.corpus.entrez.client import Entrez, Fetched
    from vericite.corpus.entrez.results import SearchResult
    from vericite.corpus.ingest import CollectedSources
    from vericite.corpus.retractions import RetractedArticle, RetractionReport
    from vericite.corpus.store import BuildReport, Progress
    from vericite.corpus.store.contract import Item, Source


def retractions(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Where to look for more: pubmed (all that PubMed lists as retracted; connects to NCBI), Retraction "
            "Watch's table (a .csv file), stores (folders, or s3://bucket/prefix). Default: only show what is known.",
            metavar="SOURCE",
        ),
    ] = None,
    from_year: Annotated[
        int | None,
        typer.Option("--from", min=1800, max=2100, help="With pubmed: only articles published in this year or later."),
    ] = None,
    notices: Annotated[
        bool, typer.Option("--notices", help="With pubmed: also store the PMIDs of the notices; takes minutes.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Remove entries that are no longer reported.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show how many articles are known to be retracted, or add more.

    check, search and ask mark these articles as RETRACTED, wherever the documents come from. The list is kept in the
    user's cache folder. New reports are added to it; with --replace, they replace it.
    """
    from vericite.corpus.retractions import entries, learn
    from vericite.errors import InputError

    named = list(dict.fromkeys(sources or ()))
    if (from_year is not None or notices) and PUBMED not in named:
        raise InputError("expected pubmed with --from and --notices; found none. Add it.")
    if replace and not named:
        raise InputError("expected pubmed, a .csv file or a store with --replace; found none. Add one of them.")
    reports = _new_reports(named, from_year, notices)
    new = learn(reports, replace) if reports else 0
    known = entries()
    if as_json:
        say_json(json.dumps(_as_json(reports, new, known), indent=2, ensure_ascii=False))
    else:
        _print(reports, new, known)


def _new_reports(sources: Sequence[str], from_year: int | None, notices: bool) -> list[RetractionReport]:
    from vericite.corpus.retractions import retracted_in_pubmed, retracted_in_store, retracted_in_table

    reports: list[RetractionReport] = []
    for source in sources:
        if source.lower().endswith(".csv"):
            reports.append(retracted_in_table(Path(source)))
        elif source != PUBMED:
            from vericite.corpus.store import open_store

            reports.append(retracted_in_store(open_store(source), source))
    if PUBMED in sources:
        from vericite.corpus.entrez.client import Entrez
        from vericite.corpus.entrez.results import EntrezSettings

        # Without the cache, to find what was retracted since the last time.
        with Entrez(EntrezSettings(cache=None)) as entrez:
            reports.append(retracted_in_pubmed(entrez, from_year, notices))
    return reports


def _totals(known: Sequence[RetractedArticle]) -> dict[str, tuple[int, str, str]]:
    """Return the number of articles and the days of the first and last report, by source."""
    found: dict[str, tuple[int, str, str]] = {}
    for entry in known:
        for by, (first, last) in entry.reported.items():
            count, earliest, latest = found.get(by, (0, first, last))
            found[by] = (count + 1, min(earliest, first), max(latest, last))
    return dict(sorted(found.items()))


def _as_json(reports: Sequence[RetractionReport], new: int, known: Sequence[RetractedArticle]) -> dict[str, object]:
    from vericite.corpus.retractions import is_doi

    return {
        "known": len(known),
        "by_doi": sum(is_doi(entry.id) for entry in known),
        "with_notices": sum(bool(entry.notices) for entry in known),
        "told_by": {
            by: {"articles": count, "first": first, "last": last} for by, (count, first, last) in _totals(known).items()
        },
        "told_now": {report.by: len(report.notices) for report in reports},
        "new": new,
    }


def _print(reports: Sequence[RetractionReport], new: int, known: Sequence[RetractedArticle]) -> None:
    from vericite.corpus.retractions import is_doi

    for reported in reports:
        say(f"{clean(reported.by)}: {_articles(len(reported.notices))}")
    if reports:
        say(f"new: {_articles(new)}")
    dois = sum(is_doi(entry.id) for entry in known)
    by_doi = f", {dois:,} of them by DOI" if dois else ""
    say(f"known as retracted: {_articles(len(known))}{by_doi}")
    for by, (count, first, last) in _totals(known).items():
        when = f"on {last}" if first == last else f"from {first} to {last}"
        say(f"  {count:,} reported by {clean(by)} {when}")
    if not known:
        say("add those of a store with `vericite corpus retractions STORE`, or all that PubMed lists with `pubmed`")


def _articles(count: int) -> str:
    return f"{count:,} article{'' if count == 1 else 's'}"


corpus = typer.Typer(
    name="corpus",
    help="Build and read a store of documents: a folder, or s3://bucket/prefix. Needs the extra \\[store].",
    no_args_is_help=True,
    add_completion=False,
)

corpus.command()(retractions)

StoreArgument = Annotated[str, typer.Argument(help="The store: a folder, or s3://bucket/prefix.", metavar="STORE")]


@corpus.command()
@takes_plan("corpus build", files=False)
def build(
    plan: Plan,
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Files and folders: PDF, Word, PubMed XML, JSONL (MedRAG's chunks too), CSV, RIS, NBIB, JATS "
            "articles, Markdown, text; .gz or not. pubmed:QUERY adds what PubMed finds, pmids:FILE and pmids:1,2,3 "
            "these articles; both connect to NCBI.",
            metavar="SOURCE",
        ),
    ],
    to: Annotated[str, typer.Option("--to", help="The store to create or add to.", metavar="STORE")],
    most: Annotated[int, typer.Option(min=1, max=9999, help="Maximum articles per query.")] = 1000,
    format: Annotated[
        str,
        typer.Option(help="Format of the files (docs/corpus.md lists the names); auto detects it.", metavar="NAME"),
    ] = "auto",
    as_json: JsonOption = False,
    vectors: Annotated[
        bool,
        typer.Option(
            "--vectors",
            help="Also store vectors from the bundled embedder; takes longer. A store with vectors always adds them. "
            "`search` and `ask` then also search by meaning.",
        ),
    ] = False,
) -> None:
    """Build a store, or add to one: new versions replace old ones, and PubMed's deletions are applied.

    Run the same command again to continue a build that was stopped, even by kill -9. A source that is unchanged since
    it was added is skipped. A record or file that cannot be used is reported and skipped; the exit code is then 2.
    """
    from vericite.corpus.ingest import collect_sources
    from vericite.corpus.store import build_store

    with _entrez() as entrez:
        collected = collect_sources(sources, entrez, most, format)
        for line in collected.messages:
            note(line)
        for line in collected.skipped_files:
            remark(line)
        meter = _Meter(collected)
        with _shown(meter) as progress, readers_of(plan.workers) as readers:
            built = build_store(to, meter.sources, vectors=vectors, progress=progress, readers=readers)
    if as_json:
        say_json(json.dumps({"store": to, **_report_counts(built), "seconds": round(built.seconds, 3)}))
    else:
        _show_report(built, to)
    report(built.problems)


@corpus.command()
def info(store: StoreArgument, as_json: JsonOption = False) -> None:
    """Show what a store contains, and what it was built from."""
    from dataclasses import asdict

    from vericite.corpus.store import open_store

    found = open_store(store).info()
    if as_json:
        say_json(json.dumps(asdict(found), indent=2, ensure_ascii=False))
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
        say(f"{name:<16} {clean(value)}")
    for source in found.sources[:20]:
        state = "" if source.done else ", not read completely"
        refused = f", {source.refused:,} refused" if source.refused else ""
        missing = f", {source.missing:,} not there" if source.missing else ""
        say(f"  {clean(source.name)}: {source.items:,} records{refused}{missing}{state}")
    if len(found.sources) > 20:
        typer.echo(f"  ... and {len(found.sources) - 20:,} more (--json lists all)")


@corpus.command()
def get(
    store: StoreArgument,
    ids: Annotated[list[str], typer.Argument(help="Ids of documents, such as PMIDs.")],
) -> None:
    """Print documents as JSON, one per line. The exit code is 2 if a document is missing."""
    from vericite.corpus.store import open_store
    from vericite.records import to_json

    found = open_store(store).get(ids)
    for document in found.documents:
        say_json(to_json(document))
    if found.missing:
        remark(f"not in {store}: {', '.join(found.missing)}")
        end(ExitCode.BAD_INPUT)


@corpus.command()
@takes_plan("corpus export", files=False, project=False)
def export(
    plan: Plan,
    store: StoreArgument,
    out: Annotated[Path | None, typer.Option(help="File to write. Default: the terminal.")] = None,
) -> None:
    """Write documents as JSON Lines, which `corpus build` and `ask --corpus` read."""
    from vericite.cli.io import output
    from vericite.corpus.store import open_store
    from vericite.records import to_json

    documents = open_store(store).scan(plan.search.filters)
    prepare_output(out)
    with output(out) as written:
        if written is None:
            for document in documents:
                say_json(to_json(document))
        else:
            written.add(documents)


@corpus.command()
def verify(store: StoreArgument) -> None:
    """Check every document and index of a store; the exit code is 1 if there is a problem."""
    from vericite.corpus.store import open_store

    problems = open_store(store).verify()
    for problem in problems:
        say(clean(problem))
    if not problems:
        say("no problems found")
    end(ExitCode.GATE_FAILED if problems else ExitCode.OK)


@contextmanager
def _entrez() -> Generator[_Lazy]:
    lazy = _Lazy()
    try:
        yield lazy
    finally:
        lazy.close()


class _Lazy:
    """A PubMed client that is created at its first use."""

    def __init__(self) -> None:
        self._made: Entrez | None = None

    @property
    def _entrez(self) -> Entrez:
        from vericite.corpus.entrez.client import Entrez

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
    """Describes the progress of a build, with the time left estimated from the sizes of the remaining files."""

    def __init__(self, collected: CollectedSources) -> None:
        self._sizes = collected.sizes
        self._order = [source.name for source in collected.sources]
        self._begun: set[str] = set()
        self.sources = [replace(source, items=self._tracked(source)) for source in collected.sources]

    def _tracked(self, source: Source) -> Callable[[], Iterator[Item]]:
        """Record when a source is read; the items of a skipped source are never requested."""

        def items() -> Iterator[Item]:
            self._begun.add(source.name)
            return source.items()

        return items

    def line(self, progress: Progress) -> str:
        """Return the line to show."""
        from vericite.cli.terminal import format_duration

        if progress.stage == "indexing":
            return f"{progress.items:,} records read; indexing"
        # Files read by other processes are not recorded otherwise.
        self._begun.add(progress.source)
        place = self._order.index(progress.source)
        seconds = self._seconds(progress, place) if progress.remaining is None else progress.remaining
        left = "" if seconds is None else f", about {format_duration(seconds)} left"
        made = "records with vectors" if progress.stage == "embedding" else "records"
        return (
            f"{progress.items:,} {made}, {progress.rate:,.0f} a second, source {place + 1} of {len(self._order)}{left}"
        )

    def _seconds(self, progress: Progress, place: int) -> float | None:
        """Estimate the time left from file sizes, if not every source knows its number of records."""
        done = self._size(name for name in self._order[:place] if name in self._begun)
        return progress.seconds * self._size(self._order[place:]) / done if done else None

    def _size(self, names: Iterable[str]) -> int:
        return sum(self._sizes.get(name, 0) for name in names)


@contextmanager
def _shown(meter: _Meter) -> Generator[Callable[[Progress], None]]:
    """Show live progress on a terminal, or a line from time to time in a file."""
    from vericite.cli.terminal import ProgressLine

    with ProgressLine("reading", "records").running() as shown:
        yield lambda progress: shown.show(meter.line(progress))


def _report_counts(built: BuildReport) -> dict[str, int]:
    return {
        "added": built.added,
        "replaced": built.replaced,
        "older than what is there": built.outdated,
        "joined": built.joined,
        "deleted": built.deleted,
        "refused": built.refused,
        "not there": built.missing,
        "sources unchanged": len(built.skipped),
    }


def _show_report(built: BuildReport, to: str) -> None:
    counts = _report_counts(built)
    from vericite.cli.terminal import format_duration

    counted = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count or name == "added")
    left = "" if built.kept else "; no store was created, because there is nothing to store"
    say(f"{clean(to)}: {counted} ({format_duration(built.seconds)}){left}")
