from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "entrez"))

from catalogue_server import CatalogueServer
from entrez_server import EntrezServer
from made_articles import ARTICLES, CROSSREF, FULL_TEXT, RESULTS

from vericite.corpus.entrez import Entrez, EntrezSettings
from vericite.corpus.manuscript.sources import CrossrefWorks, EuropePmcWorks, PubMedWorks
from vericite.corpus.manuscript.web import CatalogueClient, CatalogueSettings


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("NCBI_API_KEY", "NCBI_EMAIL", "CROSSREF_MAILTO", "VERICITE_OFFLINE", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def ncbi() -> Iterator[EntrezServer]:
    with EntrezServer(ARTICLES) as server:
        yield server


@pytest.fixture
def catalogues() -> Iterator[CatalogueServer]:
    with CatalogueServer(CROSSREF, RESULTS, {"PMC900": FULL_TEXT}) as server:
        yield server


@pytest.fixture
def pubmed(ncbi: EntrezServer, tmp_path: Path) -> Iterator[PubMedWorks]:
    settings = EntrezSettings(
        base_url=ncbi.url,
        converter_url=ncbi.converter_url,
        requests_per_second=1000,
        backoff=0.005,
        timeout=5.0,
        attempts=2,
        cache=tmp_path,
    )
    works = PubMedWorks(Entrez(settings))
    yield works
    works.close()


def _client(address: str, cache: Path) -> CatalogueClient:
    return CatalogueClient(
        CatalogueSettings(address, requests_per_second=1000, attempts=3, timeout=5.0, backoff=0.005, cache=cache)
    )


@pytest.fixture
def crossref(catalogues: CatalogueServer, tmp_path: Path) -> Iterator[CrossrefWorks]:
    works = CrossrefWorks(_client(catalogues.url("crossref"), tmp_path))
    yield works
    works.close()


@pytest.fixture
def pmc(catalogues: CatalogueServer, tmp_path: Path) -> Iterator[EuropePmcWorks]:
    works = EuropePmcWorks(_client(catalogues.url("europepmc"), tmp_path))
    yield works
    works.close()
