from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from entrez_server import Article, EntrezServer, page

from vericite.corpus.entrez import Entrez, EntrezSettings
from vericite.corpus.sources.entry import pmid_of
from vericite.errors import EntrezError, InputError
from vericite.records import Document, Question
from vericite.retrieve.lookup import Oracle
from vericite.retrieve.retriever import Retriever

OWN = [
    Document.from_text("demo:1", "Melatonin shortened jet lag.", "Melatonin"),
    Document.from_text("a", "Salt.", "Salt").model_copy(update={"pmid": "31"}),
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EntrezServer]:
    for name in ("NCBI_API_KEY", "NCBI_EMAIL", "VERICITE_OFFLINE", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with EntrezServer([Article("21", "One."), Article("22", "Two."), Article("31", "Salt of PubMed.")]) as running:
        yield running


@pytest.fixture
def entrez(server: EntrezServer) -> Iterator[Entrez]:
    settings = EntrezSettings(base_url=server.url, requests_per_second=1000, backoff=0, attempts=2, cache=None)
    with Entrez(settings) as client:
        yield client


def question(*gold: str) -> Question:
    return Question(id="q7", text="What shortens jet lag?", gold_documents=gold)


def ids(oracle: Oracle, asked: Question, k: int = 10) -> list[str]:
    return [evidence.document.id for evidence in oracle.retrieve(asked, k)]


def test_gold_documents_are_returned_in_order_as_evidence(entrez: Entrez):
    oracle: Retriever = Oracle(entrez)
    first, second = oracle.retrieve(question("22", "21"), 10)
    assert (first.document.title, first.rank, first.score, first.retriever) == ("Two.", 1, 1.0, "oracle")
    assert (second.document.id, second.rank, second.score) == ("21", 2, 0.5)


def test_at_most_k_documents_are_returned(entrez: Entrez):
    assert ids(Oracle(entrez), question("22", "21", "31"), 2) == ["22", "21"]
    assert ids(Oracle(entrez), question("22"), 0) == []


def test_given_documents_are_not_fetched(server: EntrezServer, entrez: Entrez):
    oracle = Oracle(entrez, OWN)
    assert ids(oracle, question("demo:1", "31", "21")) == ["demo:1", "a", "21"]
    assert [arrival.ids for arrival in server.arrivals] == [["21"]]
    assert oracle.signature.startswith("oracle(2@") and ", entrez(" in oracle.signature


def test_without_a_client_only_given_documents_are_used(server: EntrezServer):
    oracle = Oracle(documents=iter(OWN))
    assert ids(oracle, question("demo:1", "21")) == ["demo:1"]
    assert oracle.missing == {"q7": {"21": "it is not among the documents given"}}
    assert re.fullmatch(r"oracle\(2@[0-9a-f]{12}\)", oracle.signature)
    assert not server.arrivals


def test_an_id_has_priority_over_a_pmid():
    documents = [
        Document.from_text("x", "By PMID.").model_copy(update={"pmid": "7"}),
        Document.from_text("7", "By id."),
    ]
    for given in (documents, documents[::-1]):
        assert ids(Oracle(documents=given), question("7")) == ["7"]


def test_missing_documents_are_reported_and_the_rest_moves_up(entrez: Entrez, caplog: pytest.LogCaptureFixture):
    oracle = Oracle(entrez)
    asked = question("999999", "22", "no pmid", "21")
    assert ids(oracle, asked, 2) == ["22", "21"]
    assert list(oracle.missing["q7"]) == ["999999", "no pmid"]
    assert oracle.missing["q7"]["999999"] == "PubMed has no such record"
    assert "question q7: 2 gold documents are left out" in caplog.text
    assert "999999" in caplog.text


def test_documents_found_later_are_no_longer_reported_missing(server: EntrezServer, entrez: Entrez):
    oracle = Oracle(entrez)
    oracle.retrieve(question("21", "41"), 2)
    assert "q7" in oracle.missing
    server.articles = [*server.articles, Article("41")]
    assert ids(oracle, question("21", "41")) == ["21", "41"]
    assert oracle.missing == {}


def test_an_error_is_raised_when_all_gold_documents_are_missing(entrez: Entrez):
    oracle = Oracle(entrez)
    with pytest.raises(InputError, match=r"gold documents for question 'q7'; found none: 999998: PubMed has no such"):
        oracle.retrieve(question("999998", "999999"), 3)
    assert list(oracle.missing["q7"]) == ["999998", "999999"]


def test_a_question_without_gold_documents_is_refused(entrez: Entrez):
    with pytest.raises(InputError, match="expected gold documents for question 'q7'; found none"):
        Oracle(entrez).retrieve(question(), 3)


def test_a_failing_service_is_an_error_and_reports_nothing_missing(server: EntrezServer, entrez: Entrez):
    server.script([page(502)] * 2)
    oracle = Oracle(entrez)
    with pytest.raises(EntrezError):
        oracle.retrieve(question("21"), 3)
    assert oracle.missing == {}


def test_two_names_of_a_document_give_it_once(entrez: Entrez):
    assert ids(Oracle(entrez), question("21", "https://pubmed.ncbi.nlm.nih.gov/21/", "PMID: 21", "22")) == ["21", "22"]


@pytest.mark.parametrize(
    ("reference", "pmid"),
    [
        ("15858239", "15858239"),
        (" 15858239 ", "15858239"),
        ("0015", "15"),
        ("pmid:15", "15"),
        ("PMID 15", "15"),
        ("pubmed:15", "15"),
        ("http://www.ncbi.nlm.nih.gov/pubmed/15858239", "15858239"),
        ("https://pubmed.ncbi.nlm.nih.gov/15858239/", "15858239"),
        ("demo:0001", None),
        ("https://example.org/15", None),
        ("000", None),
        ("", None),
    ],
)
def test_a_pmid_is_recognized_in_every_spelling(reference: str, pmid: str | None):
    assert pmid_of(reference) == pmid
