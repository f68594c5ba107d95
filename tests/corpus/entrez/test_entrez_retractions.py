"""PubMed's retracted articles, also if there are more than the 9,999 that a search returns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

import pytest
import typer
from entrez_server import MOST, Answering, Arrival, EntrezServer, article_set
from typer.testing import CliRunner

from vericite.cli.corpus import retractions
from vericite.corpus.entrez import Entrez, EntrezSettings
from vericite.corpus.retractions import entries, known_retractions, learn, retracted_in_pubmed
from vericite.errors import EntrezAccessError, EntrezError, InputError

Client = Callable[..., Entrez]
Month = tuple[int, int]


def serve(server: EntrezServer, months: Mapping[Month, int], lost: int = 0) -> set[str]:
    """Retracted articles by the month in which they came out; of searches by month the last ``lost`` are left out."""
    dated = [month for month, count in sorted(months.items()) for _ in range(count)]
    articles = {str(1_000_000 + number): month for number, month in enumerate(dated)}

    def behave(answering: Answering, arrival: Arrival) -> None:
        found = [pmid for pmid, month in articles.items() if _is_in(arrival.fields["term"], month)]
        if lost and "/" in arrival.fields["term"]:
            found = found[:-lost]
        most = min(int(arrival.fields["retmax"]), MOST)
        answering.json({"esearchresult": {"count": str(len(found)), "idlist": found[:most]}})

    server.script([behave] * 500)
    return set(articles)


def _is_in(query: str, month: Month) -> bool:
    bare, _, dates = query.partition(" AND ")
    assert bare == '"retracted publication"[pt]'
    if not dates:
        return True
    found = re.fullmatch(r"(\d{4})(?:/(\d\d))?:(\d{4})(?:/(\d\d))?\[dp\]", dates)
    assert found is not None, dates
    first, last = (int(found[1]), int(found[2] or 1)), (int(found[3]), int(found[4] or 12))
    return first <= month <= last


def spread(years: Iterable[int], count: int) -> dict[Month, int]:
    return {(year, month): count for year in years for month in range(1, 13)}


def test_a_result_within_the_limit_takes_one_search(server: EntrezServer, client: Client):
    expected = serve(server, {(1975, 2): 3, (2024, 12): 4})
    assert set(retracted_in_pubmed(client()).notices) == expected
    assert server.queries == ['"retracted publication"[pt]']


def test_a_larger_result_is_split_by_years_and_months_without_gaps(server: EntrezServer, client: Client):
    expected = serve(server, {**spread(range(1990, 2025), 60), (1931, 5): 1, (2022, 3): 9_000, (2022, 4): 9_000})
    found = retracted_in_pubmed(client())
    assert (set(found.notices), len(expected)) == (expected, 43_081)
    assert any("/" in query for query in server.queries)
    assert len(server.queries) < 40


def test_from_a_year_on(server: EntrezServer, client: Client):
    serve(server, {**spread(range(2000, 2025), 1), (2020, 7): MOST})
    since = retracted_in_pubmed(client(), 2020).notices
    assert len(since) == 5 * 12 - 1 + MOST
    assert all("[dp]" in query for query in server.queries)
    with pytest.raises(InputError, match="expected a year"):
        retracted_in_pubmed(client(), 2099)


def test_a_month_above_pubmeds_limit_is_an_error(server: EntrezServer, client: Client):
    serve(server, {(2022, 3): MOST + 1})
    with pytest.raises(EntrezError, match=r"in one month.*found 10,000 in 2022/03"):
        retracted_in_pubmed(client())


def test_parts_with_fewer_articles_than_the_whole_are_an_error(server: EntrezServer, client: Client):
    serve(server, {(2022, 3): 6_000, (2022, 9): 6_000}, lost=2)
    with pytest.raises(EntrezError, match=r"expected the 12,000 articles.*found 11,99"):
        retracted_in_pubmed(client())
    assert entries() == ()


def test_the_notices_are_in_the_records(server: EntrezServer, client: Client):
    link = (
        '<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>J</RefSource>'
        '<PMID Version="1">900</PMID></CommentsCorrections></CommentsCorrectionsList>'
    )

    def record(answering: Answering, arrival: Arrival) -> None:
        xml = article_set(server, ["101", "102"]).replace("</Article></Med", f"</Article>{link}</Med", 1)
        answering.send(200, xml, "text/xml")

    def search(answering: Answering, _: Arrival) -> None:
        answering.json({"esearchresult": {"count": "2", "idlist": ["101", "102"]}})

    server.script([search, record])
    found = retracted_in_pubmed(client(), notices=True)
    assert found.notices == {"101": ("900",), "102": ()}
    assert learn([found]) == 2
    assert known_retractions().ids == {"101", "102"}


def test_the_command_asks_pubmed_and_prints_what_is_new(
    server: EntrezServer, client: Client, monkeypatch: pytest.MonkeyPatch
):
    serve(server, {(2019, 1): 2, (2024, 12): 4})
    made: list[EntrezSettings] = []

    def on_loopback(settings: EntrezSettings) -> Entrez:
        made.append(settings)
        return client()

    monkeypatch.setattr("vericite.corpus.entrez.client.Entrez", on_loopback)
    app = typer.Typer()
    app.command()(retractions)
    said = CliRunner().invoke(app, ["pubmed", "--from", "2020"]).output
    assert said.startswith(
        "pubmed: 4 articles\nnew: 4 articles\nknown as retracted: 4 articles\n  4 reported by pubmed on "
    )
    assert '"new": 2' in CliRunner().invoke(app, ["pubmed", "--json"]).output
    assert {settings.cache for settings in made} == {None}, "what was retracted since must not be missed"


def test_offline_pubmed_is_not_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    app = typer.Typer()
    app.command()(retractions)
    found = CliRunner().invoke(app, ["pubmed"]).exception
    assert isinstance(found, EntrezAccessError)
    assert entries() == ()
