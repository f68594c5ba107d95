"""Answers that cite by PMID, DOI or PMC id are checked against PubMed's records, or a store's, in one command."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from entrez_server import Article, EntrezServer, status

from vericite.corpus.entrez import Entrez, EntrezSettings
from vericite.corpus.ingest import collect_sources
from vericite.corpus.store import build_store
from vericite.retrieve.lookup import cited_documents

ARTICLES = [
    Article("20301", "Aspirin after stroke.", "Aspirin lowered the risk of a second stroke in 400 adults."),
    Article("20302", "Statins.", "Statins lowered LDL cholesterol by a third.", doi="10.1000/Lipids.7", pmcid="PMC88"),
    Article("20303", "Jet lag.", "Melatonin shortened jet lag by two days.", doi="10.1000/jet(lag)1"),
    Article("2024", "A year.", "This record has the number of a year."),
]
ANSWER = """Aspirin lowered the risk of a second stroke in 400 adults (PMID: 20301). Statins lowered LDL cholesterol by
a third [statins](https://doi.org/10.1000/lipids.7), as is said
[here](https://www.ncbi.nlm.nih.gov/pmc/articles/PMC88/). Melatonin shortened jet lag by two days
[jet](https://doi.org/10.1000/jet(lag)1). Aspirin cures gout (PMID 20399). Guidelines changed in [2024].
"""


@pytest.fixture
def server() -> Iterator[EntrezServer]:
    with EntrezServer(ARTICLES) as running:
        yield running


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    path = tmp_path / "answer.md"
    path.write_text(ANSWER)
    return path


@pytest.fixture
def pubmed(server: EntrezServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EntrezServer:
    """The server in NCBI's place, for whoever asks with the usual settings."""
    settings = EntrezSettings(
        base_url=server.url, converter_url=server.converter_url, requests_per_second=1000, cache=tmp_path / "cache"
    )
    monkeypatch.setattr("vericite.corpus.entrez.client.EntrezSettings", lambda: settings)
    return server


def test_pmids_in_markdown_become_verified_figures_in_one_command(run_cli, pubmed, answer, tmp_path):
    printed = run_cli("check", str(answer), "--documents", "pubmed", "--out", str(tmp_path / "out.jsonl"))
    assert printed.code == 0, printed.err
    assert "4 of 5 cited articles are in PubMed; not pmid:20399" in printed.err
    verdicts = json.loads((tmp_path / "out.jsonl").read_text())["verdicts"]
    assert [(verdict["documents"], verdict["label"]) for verdict in verdicts] == [
        (["20301"], "supported"),
        (["20302"], "supported"),
        (["20303"], "supported"),
        ([], "dangling"),
    ]
    assert "3/3" in printed.out


def test_what_was_fetched_before_is_not_asked_for_again_and_is_there_offline(
    run_cli, pubmed, answer, monkeypatch, tmp_path
):
    assert run_cli("check", str(answer), "--documents", "pubmed").code == 0
    asked = len(pubmed.tools)
    assert run_cli("check", str(answer), "--documents", "pubmed").code == 0
    assert len(pubmed.tools) == asked
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    answer.write_text(f"{ANSWER}\nSomething new was found (PMID: 20304) [too](https://doi.org/10.1000/new.1).\n")
    printed = run_cli("check", str(answer), "--documents", "pubmed")
    assert printed.code == 0
    assert "4 of 7 cited articles are in PubMed; not doi:10.1000/new.1, pmid:20399, pmid:20304" in printed.err
    assert "Offline, only articles fetched before are available" in printed.err
    assert len(pubmed.tools) == asked


def test_ids_are_converted_by_kind_and_without_the_key(client: Callable[..., Entrez], server, monkeypatch):
    monkeypatch.setenv("NCBI_API_KEY", "a-key-of-mine")
    names = ["doi:10.1000/lipids.7", "pmc:88", "doi:10.1000/jet(lag)1", "doi:10.1000/none", "pmc:99", "doi:10.1/a,b"]
    found = client().pmids_of(names)
    assert list(found.values()) == ["20302", "20302", "20303", None, None, None]
    converter = [arrival for arrival in server.arrivals if arrival.tool == "idconv"]
    assert [arrival.fields["idtype"] for arrival in converter] == ["doi", "pmcid"]
    assert not any("a-key-of-mine" in str(arrival) for arrival in converter)


def test_a_failing_converter_only_loses_the_ids_that_it_alone_knows(client: Callable[..., Entrez], server):
    server.script([status(500)] * 4)
    assert client().pmids_of(["doi:10.1000/lipids.7"]) == {"doi:10.1000/lipids.7": "20302"}
    assert server.tools[-1] == "esearch"


def test_many_pmids_are_fetched_in_parts_and_progress_has_a_total(client, server, tmp_path):
    path = tmp_path / "many.jsonl"
    numbers = range(30_000, 30_450)
    path.write_text("".join(f'{{"id": "{n}", "markdown": "A claim (PMID: {n})."}}\n' for n in numbers))
    server.articles = [Article(str(n)) for n in numbers]
    steps: list[tuple[int, int]] = []
    found = cited_documents("pubmed", path, on_progress=lambda done, all: steps.append((done, all)), entrez=client())
    assert found.missing == () and found.found == 450
    assert steps == [(200, 450), (400, 450), (450, 450)]


def test_a_store_has_the_documents_that_are_cited(run_cli, client, answer, tmp_path):
    place = tmp_path / "store"
    sources = collect_sources([f"pmids:{','.join(article.pmid for article in ARTICLES)}"], client()).sources
    build_store(place, sources)
    printed = run_cli("check", str(answer), "--documents", str(place))
    assert printed.code == 0, printed.err
    assert f"of 5 cited articles are in {place}" in printed.err
    found = cited_documents(str(place), answer)
    assert "pmid:20399" in found.missing and "pmid:20301" not in found.missing


def test_hostile_names_are_only_names(client, server, tmp_path):
    path = tmp_path / "answer.md"
    path.write_text(
        'One [a](https://doi.org/10.1000/x"[AID]%20OR%20cancer) and (PMID: 99999999) [b](../../etc/passwd).'
    )
    found = cited_documents("pubmed", path, entrez=client())
    assert found.found == 0
    assert not any("cancer" in query and '"' in query.replace('"', "", 2) for query in server.queries)
