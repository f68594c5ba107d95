from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from entrez_server import Article, EntrezServer

from vericite.corpus.entrez import Entrez, EntrezSettings

VARIABLES = ["NCBI_API_KEY", "NCBI_EMAIL", "VERICITE_OFFLINE", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]

ARTICLES = [
    Article("101", "Aspirin after stroke.", "Aspirin lowered the risk of a second stroke.", keywords=("salicylate",)),
    Article("102", "Statins after stroke.", "Statins and aspirin were compared."),
    Article("103", "Aspirin, a note on stroke.", ""),
    Article("104", "Melatonin and jet lag.", "Melatonin shortened jet lag by 1 < 2 days & more."),
]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[EntrezServer]:
    with EntrezServer(ARTICLES) as running:
        yield running


@pytest.fixture
def client(server: EntrezServer) -> Iterator[Callable[..., Entrez]]:
    """Makes clients of the local server that lose no time; settings by name."""
    made: list[Entrez] = []

    def make(**settings: object) -> Entrez:
        fast = EntrezSettings(
            base_url=server.url,
            converter_url=server.converter_url,
            requests_per_second=1000,
            backoff=0.005,
            timeout=5.0,
            attempts=4,
            cache=None,
        )
        made.append(Entrez(replace(fast, **settings)))
        return made[-1]

    yield make
    for entrez in made:
        entrez.close()
