from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from entrez_server import Article, EntrezServer, body, fewer_ids

from vericite.corpus.entrez import Entrez
from vericite.errors import EntrezError, InputError

Client = Callable[..., Entrez]


def reply(**result: object) -> str:
    return json.dumps({"esearchresult": result})


def test_a_search_gives_the_pmids_in_pubmeds_order_and_how_many_there_are(client: Client):
    found = client().search("stroke[tiab] AND aspirin[tiab]")
    assert (found.ids, found.count, found.partial) == (("101", "102", "103"), 3, False)


def test_a_search_for_fewer_says_that_there_are_more(client: Client):
    found = client().search("stroke[tiab]", most=1)
    assert (found.ids, found.count, found.partial) == (("101",), 3, True)


def test_a_search_for_none_only_counts(client: Client):
    found = client().search("stroke[tiab]", most=0)
    assert (found.ids, found.count) == ((), 3)


def test_a_search_without_hits_says_what_pubmed_did_not_find(client: Client):
    found = client().search("zyxwv[tiab]")
    assert (found.ids, found.count) == ((), 0)
    assert found.not_found == ("zyxwv[tiab]",)
    assert found.notices == ("No items found.",)


def test_the_request_is_a_post_with_tool_email_and_relevance_order(server: EntrezServer, client: Client):
    client(email="someone@example.org").search("stroke[tiab]", most=7)
    (arrival,) = server.arrivals
    assert arrival.path == "/eutils/esearch.fcgi"
    assert arrival.headers["user-agent"].startswith("vericite/")
    assert arrival.fields == {
        "db": "pubmed",
        "term": "stroke[tiab]",
        "sort": "relevance",
        "retmax": "7",
        "retmode": "json",
        "tool": "vericite",
        "email": "someone@example.org",
    }


def test_the_email_address_comes_from_the_environment(
    server: EntrezServer, client: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NCBI_EMAIL", " someone@example.org ")
    from vericite.corpus.entrez import EntrezSettings

    client(email=EntrezSettings().email).search("stroke[tiab]")
    assert server.arrivals[0].fields["email"] == "someone@example.org"


@pytest.mark.parametrize("address", ["nobody", "a@b@c", "a b@c", "x@y, z@y"])
def test_an_invalid_email_address_is_refused(client: Client, address: str):
    with pytest.raises(InputError, match="expected an e-mail address"):
        client(email=address)


def test_one_reply_has_the_maximum_number_of_pmids_and_the_total_count():
    with EntrezServer([Article(str(number), "Salt.") for number in range(1, 10_102)]) as server:
        from vericite.corpus.entrez import EntrezSettings

        with Entrez(EntrezSettings(base_url=server.url, requests_per_second=1000, cache=None)) as entrez:
            found = entrez.search("salt[tiab]", most=9_999)
    assert (len(found.ids), found.count, found.partial) == (9_999, 10_101, True)


@pytest.mark.parametrize("most", [10_000, -1])
def test_more_than_pubmeds_limit_is_refused_with_advice(server: EntrezServer, client: Client, most: int):
    with pytest.raises(InputError, match=r"expected 0 to 9,999 PMIDs.*Divide the search by dates"):
        client().search("stroke[tiab]", most=most)
    assert not server.arrivals


@pytest.mark.parametrize(("query", "said"), [("", "none"), ("  \n", "none"), ("a" * 20_001, "20,001 characters")])
def test_a_query_that_is_empty_or_endless_is_refused_before_it_is_sent(
    server: EntrezServer, client: Client, query: str, said: str
):
    with pytest.raises(InputError, match=said):
        client().search(query)
    assert not server.arrivals


def test_a_query_of_ten_thousand_characters_fits(server: EntrezServer, client: Client):
    query = " AND ".join(["stroke[tiab]"] * 600)
    assert len(query) > 10_000
    assert client().search(query).ids == ("101", "102", "103")
    assert server.queries == [query]


def test_letters_beyond_ascii_arrive_as_they_are(server: EntrezServer, client: Client):
    client().search("β-catenin[tiab] AND naïve[tiab]")
    assert server.queries == ["β-catenin[tiab] AND naïve[tiab]"]


def test_half_a_surrogate_pair_only_loses_itself(server: EntrezServer, client: Client):
    client().search("a\ud800[tiab]")
    assert server.queries == ["a\ufffd[tiab]"]


def test_a_reply_with_fewer_pmids_than_announced_is_asked_for_again(server: EntrezServer, client: Client):
    server.script([fewer_ids])
    assert client().search("stroke[tiab]").ids == ("101", "102", "103")
    assert len(server.arrivals) == 2


def test_a_repeatedly_short_reply_is_an_error_not_a_short_result(server: EntrezServer, client: Client):
    server.script([fewer_ids] * 4)
    with pytest.raises(EntrezError, match=r"esearch .* in 4 attempts; found expected 3 PMIDs out of 3; found 1"):
        client().search("stroke[tiab]")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "expected 'esearchresult'"),
        ("[]", "expected JSON"),
        ("", "expected JSON"),
        ('{"esearchresult": {"count": "1", "idl', "expected JSON"),
        (reply(count="", idlist=[]), "expected the number of matches"),
        (reply(idlist=[]), "expected the number of matches"),
        (reply(count="1", idlist=["../etc"]), "entries that are not numbers"),
        (reply(count=1, idlist=["1"]), "expected the number of matches"),
    ],
)
def test_a_reply_other_than_a_search_result_is_an_error(server: EntrezServer, client: Client, content: str, said: str):
    server.script([body(content)] * 4)
    with pytest.raises(EntrezError, match=said):
        client().search("stroke[tiab]")
    assert len(server.arrivals) == 4


def test_a_permanent_error_is_not_retried(server: EntrezServer, client: Client):
    said = (
        "Search Backend failed: Exception: 'retstart' cannot be larger than 9998. For PubMed, ESearch can only "
        "retrieve the first 9,999 records"
    )
    server.script([body(reply(ERROR=said))])
    with pytest.raises(EntrezError, match=r"cannot be larger than 9998.*Correct the query"):
        client().search("stroke[tiab]")
    assert len(server.arrivals) == 1
