"""``vericite corpus retractions``: which articles are known as retracted, and learning of more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from vericite.cli.options import JsonOption
from vericite.cli.remarks import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vericite.corpus.retractions import Entry, Told


def retractions(
    store: Annotated[
        str | None,
        typer.Option(
            help="Learn of what is retracted in this store: a folder, or s3://bucket/prefix.", metavar="STORE"
        ),
    ] = None,
    pubmed: Annotated[
        bool, typer.Option("--pubmed", help="Learn of what PubMed has as retracted; goes to NCBI.")
    ] = False,
    from_year: Annotated[
        int | None,
        typer.Option(
            "--from", min=1800, max=2100, help="With --pubmed: only what was published in this year or later."
        ),
    ] = None,
    notices: Annotated[
        bool, typer.Option("--notices", help="With --pubmed: keep the PMIDs of the notices, too; takes minutes.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Forget what was known before and is not told now.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Say how many articles are known as retracted, or learn of more.

    What check, search and ask meet of these articles is marked RETRACTED, wherever the documents come from. The list is
    kept in the user's cache folder; what is learnt adds to it, unless --replace is said.
    """
    from vericite.corpus.retractions import entries, learn
    from vericite.errors import InputError

    if (from_year is not None or notices) and not pubmed:
        raise InputError("expected --pubmed beside --from and --notices; found none. Add it.")
    if replace and not (pubmed or store):
        raise InputError("expected --store or --pubmed beside --replace; found neither. Say what to learn instead.")
    told = _told(store, pubmed, from_year, notices)
    new = learn(told, replace) if told else 0
    known = entries()
    if as_json:
        typer.echo(json.dumps(_as_json(told, new, known), indent=2, ensure_ascii=False))
    else:
        _print(told, new, known)


def _told(store: str | None, pubmed: bool, from_year: int | None, notices: bool) -> list[Told]:
    from vericite.corpus.retractions import retracted_in_pubmed, retracted_in_store

    told: list[Told] = []
    if store is not None:
        from vericite.corpus.store import open_store

        told.append(retracted_in_store(open_store(store), store))
    if pubmed:
        from vericite.corpus.entrez import Entrez, EntrezSettings

        # Asked anew: what was retracted since the last time is what matters.
        with Entrez(EntrezSettings(cache=None)) as entrez:
            told.append(retracted_in_pubmed(entrez, from_year, notices))
    return told


def _totals(known: Sequence[Entry]) -> dict[str, tuple[int, str, str]]:
    """By who told: how many, and the days of the first and the last time."""
    found: dict[str, tuple[int, str, str]] = {}
    for entry in known:
        for by, (first, last) in entry.told.items():
            count, earliest, latest = found.get(by, (0, first, last))
            found[by] = (count + 1, min(earliest, first), max(latest, last))
    return dict(sorted(found.items()))


def _as_json(told: Sequence[Told], new: int, known: Sequence[Entry]) -> dict[str, object]:
    return {
        "known": len(known),
        "with_notices": sum(bool(entry.notices) for entry in known),
        "told_by": {
            by: {"articles": count, "first": first, "last": last} for by, (count, first, last) in _totals(known).items()
        },
        "told_now": {place.by: len(place.notices) for place in told},
        "new": new,
    }


def _print(told: Sequence[Told], new: int, known: Sequence[Entry]) -> None:
    for place in told:
        typer.echo(f"{clean(place.by)}: {_articles(len(place.notices))}")
    if told:
        typer.echo(f"new: {_articles(new)}")
    typer.echo(f"known as retracted: {_articles(len(known))}")
    for by, (count, first, last) in _totals(known).items():
        when = f"on {last}" if first == last else f"from {first} to {last}"
        typer.echo(f"  {count:,} told by {clean(by)} {when}")
    if not known:
        typer.echo("learn of some with --store STORE, or of all that PubMed has with --pubmed")


def _articles(count: int) -> str:
    return f"{count:,} article{'' if count == 1 else 's'}"
