from __future__ import annotations

from collections.abc import Callable

import pytest
from entrez_server import Article, EntrezServer, body, status, without

from vericite.corpus.entrez import Entrez, Fetched
from vericite.errors import EntrezError, InputError

Client = Callable[..., Entrez]

NONE_OF_THEM = "<eFetchResult><ERROR>ID list is empty! Possibly it has no correct IDs.</ERROR></eFetchResult>"


def pmids(fetched: Fetched) -> list[str]:
    return [record.pmid for record in fetched.records]


def test_records_come_in_the_order_they_were_asked_for_each_once(client: Client):
    assert pmids(client().fetch(["104", "101", "104", "102"])) == ["104", "101", "102"]


def test_a_record_is_a_document_with_all_that_a_citation_needs(client: Client):
    (document,) = client().fetch(["104"]).documents
    assert (document.id, document.pmid, document.year) == ("104", "104", 2020)
    assert document.title == "Melatonin and jet lag."
    assert document.text == "Melatonin shortened jet lag by 1 < 2 days & more."
    assert (document.journal, document.authors) == ("Journal of Invented Findings", ("Doe J",))


def test_nothing_asked_is_nothing_sent(server: EntrezServer, client: Client):
    assert client().fetch([]) == Fetched()
    assert not server.arrivals


def test_no_call_asks_for_more_than_200_and_none_is_lost():
    articles = [Article(str(number)) for number in range(1, 452)]
    with EntrezServer(articles) as server:
        from vericite.corpus.entrez import EntrezSettings

        with Entrez(EntrezSettings(base_url=server.url, requests_per_second=1000, cache=None)) as entrez:
            wanted = [article.pmid for article in reversed(articles)]
            assert pmids(entrez.fetch(wanted)) == wanted
            assert [len(arrival.ids) for arrival in server.arrivals] == [200, 200, 51]
            assert [len(batch.records) for batch in entrez.batches(iter(wanted))] == [200, 200, 51]


def test_a_pmid_without_a_record_is_reported_as_missing(server: EntrezServer, client: Client):
    fetched = client().fetch(["101", "999999", "102"])
    assert (pmids(fetched), fetched.missing, fetched.problems) == (["101", "102"], ("999999",), {})
    assert server.tools == ["efetch", "esummary"]


def test_all_pmids_are_missing_if_none_has_a_record(client: Client):
    assert client().fetch(["999998", "999999"]).missing == ("999998", "999999")


@pytest.mark.parametrize("code", [200, 400])
def test_an_error_that_no_id_is_valid_means_that_all_are_missing(server: EntrezServer, client: Client, code: int):
    server.script([status(code, NONE_OF_THEM, "text/xml")])
    assert client().fetch(["999998", "999999"]).missing == ("999998", "999999")


def test_a_record_that_a_reply_left_out_is_asked_for_again(server: EntrezServer, client: Client):
    server.script([without("102")])
    fetched = client().fetch(["101", "102", "999999"])
    assert (pmids(fetched), fetched.missing, fetched.problems) == (["101", "102"], ("999999",), {})
    assert server.arrivals[-1].ids == ["102"]


def test_an_empty_reply_does_not_mean_that_records_are_missing(server: EntrezServer, client: Client):
    server.script([without("101", "102")])
    assert pmids(client().fetch(["101", "102"])) == ["101", "102"]


def test_only_the_record_that_pubmed_does_not_deliver_is_lost(server: EntrezServer, client: Client):
    server.withheld.add("102")
    fetched = client().fetch(["101", "102", "104"])
    assert (pmids(fetched), fetched.missing) == (["101", "104"], ())
    assert list(fetched.problems) == ["102"]
    assert "found none in two replies" in fetched.problems["102"]


def test_a_record_that_cannot_be_read_costs_itself_only(server: EntrezServer, client: Client):
    server.broken["102"] = "<PubmedArticle><MedlineCitation><PMID>no number</PMID></MedlineCitation></PubmedArticle>"
    fetched = client().fetch(["101", "102", "104"])
    assert (pmids(fetched), fetched.missing, list(fetched.problems)) == (["101", "104"], (), ["102"])
    assert "no number" in fetched.problems["102"]


@pytest.mark.parametrize("id", ["", "abc", "0", "-1", "1,2", "12 ", "0101", "١٢", "1" * 11])
def test_an_invalid_pmid_is_reported_and_not_sent(server: EntrezServer, client: Client, id: str):
    fetched = client().fetch([id, "101"])
    assert pmids(fetched) == ["101"]
    assert list(fetched.problems) == [id]
    assert server.arrivals[0].ids == ["101"]


def test_every_pmid_asked_for_is_in_one_place(server: EntrezServer, client: Client):
    server.withheld.add("102")
    asked = ["101", "102", "x", "999999", "104"]
    fetched = client().fetch(asked)
    assert sorted([*pmids(fetched), *fetched.missing, *fetched.problems]) == sorted(asked)


def test_records_that_were_not_requested_are_an_error(server: EntrezServer, client: Client):
    server.script([body(f"<PubmedArticleSet>{Article('7').xml}</PubmedArticleSet>", "text/xml")] * 4)
    with pytest.raises(EntrezError, match="found only others"):
        client().fetch(["101"])


@pytest.mark.parametrize("root", ["eFetchResult", "html", "PubmedArticleSets"])
def test_xml_other_than_a_set_of_articles_is_an_error(server: EntrezServer, client: Client, root: str):
    server.script([body(f"<{root}/>", "text/xml")] * 4)
    with pytest.raises(EntrezError, match="in 4 attempts"):
        client().fetch(["101"])


def test_an_entity_that_would_read_a_file_is_not_resolved(server: EntrezServer, client: Client, tmp_path):
    (tmp_path / "secret").write_text("hidden words")
    doctype = f'<!DOCTYPE PubmedArticleSet [<!ENTITY leak SYSTEM "{(tmp_path / "secret").as_uri()}">]>'
    article = Article("101", "A title with LEAK.").xml.replace("LEAK", "&leak;")
    server.script([body(f"{doctype}<PubmedArticleSet>{article}</PubmedArticleSet>", "text/xml")])
    assert "hidden words" not in repr(client().fetch(["101"]))


def test_summaries_come_in_order_with_those_that_are_missing(client: Client):
    summaries = client().summaries(["104", "999999", "101"])
    assert [summary.pmid for summary in summaries.found] == ["104", "101"]
    assert summaries.missing == ("999999",)
    first = summaries.found[0]
    assert (first.title, first.journal, first.date) == (
        "Melatonin and jet lag.",
        "Journal of Invented Findings",
        "2020 May 3",
    )
    assert (first.authors, first.doi, first.has_abstract) == (("Doe J",), "10.1/104", True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"result": {"uids": []}}', "expected a summary of PMID 101; found none"),
        ('{"result": {"101": {"uid": "101", "error": "busy"}}}', "found busy"),
        ('{"esummaryresult": ["Invalid uid 101 at position= 0"]}', "Invalid uid"),
        ("<html>", "an HTML page"),
    ],
)
def test_a_summary_left_out_of_the_reply_is_an_error_not_missing(
    server: EntrezServer, client: Client, content: str, said: str
):
    server.script([body(content)] * 4)
    with pytest.raises(EntrezError, match=said):
        client().summaries(["101"])


def test_a_summary_of_an_invalid_pmid_is_refused(server: EntrezServer, client: Client):
    with pytest.raises(InputError, match="expected PMIDs; found 'x'"):
        client().summaries(["101", "x"])
    assert not server.arrivals
