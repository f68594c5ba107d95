from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest
from entrez_server import Article, EntrezServer, page
from hypothesis import given
from hypothesis import strategies as st

from vericite.corpus.entrez import Entrez, EntrezSettings
from vericite.errors import EntrezAccessError, EntrezError, InputError
from vericite.records import Evidence, Question
from vericite.retrieve.pubmed import MOST_WORDS, PubMedRetriever, is_complete, searches
from vericite.retrieve.retriever import Retriever

JET_LAG = Article("11", "Melatonin in jet lag.", "Melatonin shortened jet lag. Melatonin was safe.")
ARTICLES = [
    JET_LAG,
    Article("12", "Jet lag.", "Jet lag was shorter with melatonin."),
    Article("13", "Circadian hormones.", "Travellers felt better.", keywords=("melatonin", "jet", "lag")),
    Article("14", "Jet lag and melatonin: is it the light?", "", keywords=("does", "shorten", "the")),
    Article("15", "Salt and blood pressure.", "Less salt lowered blood pressure."),
]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EntrezServer]:
    for name in ("NCBI_API_KEY", "NCBI_EMAIL", "VERICITE_OFFLINE", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with EntrezServer(ARTICLES) as running:
        yield running


@pytest.fixture
def entrez(server: EntrezServer) -> Iterator[Entrez]:
    with Entrez(settings_of(server)) as client:
        yield client


def settings_of(server: EntrezServer) -> EntrezSettings:
    return EntrezSettings(base_url=server.url, requests_per_second=1000, backoff=0.005, attempts=3, cache=None)


def question(text: str) -> Question:
    return Question(id="q", text=text)


def told(found: tuple[Evidence, ...]) -> list[tuple[str, str]]:
    return [(evidence.document.id, evidence.retriever) for evidence in found]


def test_only_articles_that_pubmed_had_by_a_day_are_found(server: EntrezServer, entrez: Entrez):
    server.articles = [*ARTICLES, replace(JET_LAG, pmid="16", year="2026")]
    asked = question("Is melatonin safe in jet lag?")
    now, then = PubMedRetriever(entrez), PubMedRetriever(entrez, until="2025-03-01")
    assert {"11", "16"} <= {hit.document.id for hit in now.retrieve(asked, 9)}
    server.arrivals.clear()
    assert "16" not in {hit.document.id for hit in then.retrieve(asked, 9)}
    assert len(server.queries) == 3 and all(
        query.endswith(" AND 1800/01/01:2025/03/01[crdt]") for query in server.queries
    )
    assert "until=2025-03-01" in then.signature and "until" not in now.signature


@pytest.mark.parametrize(
    ("text", "tiab", "atm", "raw"),
    [
        (
            "What is the effect of melatonin on jet lag?",
            "effect[tiab] AND melatonin[tiab] AND jet[tiab] AND lag[tiab] AND hasabstract",
            "(effect melatonin jet lag) AND hasabstract",
            "What is the effect of melatonin on jet lag",
        ),
        (
            "Does IL-6 rise in Crohn's disease?",
            "il-6[tiab] AND rise[tiab] AND crohn's[tiab] AND disease[tiab] AND hasabstract",
            "(il-6 rise crohn's disease) AND hasabstract",
            "Does IL-6 rise in Crohn's disease",
        ),
        (
            "How many genes list TNF-α?",
            "many[tiab] AND genes[tiab] AND list[tiab] AND tnf-α[tiab] AND hasabstract",
            "(many genes list tnf-α) AND hasabstract",
            "How many genes list TNF-α",
        ),
        (
            "List kinases that bind p53.",
            "list[tiab] AND kinases[tiab] AND bind[tiab] AND p53[tiab] AND hasabstract",
            "(list kinases bind p53) AND hasabstract",
            "List kinases that bind p53",
        ),
        (
            "Who's Hirschsprung?",
            "hirschsprung[tiab] AND hasabstract",
            "(hirschsprung) AND hasabstract",
            "Who's Hirschsprung",
        ),
        ("Why?", "why[tiab] AND hasabstract", "(why) AND hasabstract", "Why"),
        (
            "Which drugs do NOT cause QT prolongation, and which drugs do?",
            "drugs[tiab] AND cause[tiab] AND qt[tiab] AND prolongation[tiab] AND hasabstract",
            "(drugs cause qt prolongation) AND hasabstract",
            "Which drugs do not cause QT prolongation and which drugs do",
        ),
    ],
)
def test_the_three_searches_of_a_question(text: str, tiab: str, atm: str, raw: str):
    assert searches(text) == (("tiab", tiab), ("atm", atm), ("raw", raw))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("WHO criteria for sepsis", "who criteria sepsis"),
        ("WHO CRITERIA FOR SEPSIS", "criteria sepsis"),
        ("Who defined sepsis?", "defined sepsis"),
        ("What's sepsis?", "sepsis"),
        ("Will Rogers phenomenon", "will rogers phenomenon"),
        ("Will aspirin prevent stroke", "aspirin prevent stroke"),
        ("Will IL-6 rise?", "il-6 rise"),
        ("What will IL-6 do?", "will il-6"),
        ("CAN bus", "can bus"),
        ("Why ALL?", "all"),
        ("What is ALL?", "all"),
        ("Give who will name", "give who will name"),
        ("Will?", "will"),
    ],
)
def test_only_the_leading_interrogative_is_dropped(text: str, asked: str):
    assert dict(searches(text))["atm"] == f"({asked}) AND hasabstract"


def test_pubmed_is_a_retriever(entrez: Entrez):
    retriever: Retriever = PubMedRetriever(entrez)
    assert retriever.signature.startswith("pubmed(tiab>atm>raw, candidates=200, entrez(http://127.0.0.1")


def test_later_searches_are_skipped_when_the_first_suffices(server: EntrezServer, entrez: Entrez):
    found = PubMedRetriever(entrez).retrieve(question("What does melatonin do for jet lag?"), 2)
    assert told(found) == [("11", "pubmed(tiab)"), ("12", "pubmed(tiab)")]
    assert server.queries == ["melatonin[tiab] AND jet[tiab] AND lag[tiab] AND hasabstract"]
    assert server.arrivals[0].fields["retmax"] == "200"
    assert server.arrivals[0].fields["sort"] == "relevance"


def test_wider_searches_add_results_after_earlier_ones(server: EntrezServer, entrez: Entrez):
    server.articles = [*ARTICLES, Article("16", "A question.", "Jet, lag.", keywords=("melatonin", "to"))]
    found = PubMedRetriever(entrez).retrieve(question("What is melatonin to jet lag?"), 9)
    assert told(found) == [
        ("11", "pubmed(tiab)"),
        ("12", "pubmed(tiab)"),
        ("13", "pubmed(atm)"),
        ("16", "pubmed(atm)"),
    ]
    assert [evidence.rank for evidence in found] == [1, 2, 3, 4]
    assert [evidence.score for evidence in found] == [1, 1 / 2, 1 / 3, 1 / 4]
    assert len(server.queries) == 3


def test_the_rank_in_its_own_search_is_kept(entrez: Entrez):
    found = PubMedRetriever(entrez).retrieve(question("melatonin jet lag"), 3)
    assert [dict(evidence.scores) for evidence in found] == [
        {"search_rank": 1.0},
        {"search_rank": 2.0},
        {"search_rank": 3.0},
    ]


def test_the_raw_question_is_the_last_resort(server: EntrezServer, entrez: Entrez):
    # PubMed's filter does not know that it has an abstract, so only the raw question finds it.
    server.filtered = {"11"}
    found = PubMedRetriever(entrez).retrieve(question("What is melatonin to jet lag?"), 9)
    assert told(found) == [("12", "pubmed(tiab)"), ("13", "pubmed(atm)"), ("11", "pubmed(raw)")]


def test_term_mapping_finds_what_the_words_do_not(server: EntrezServer, entrez: Entrez):
    server.synonyms = {"sodium": ("salt",)}
    found = PubMedRetriever(entrez).retrieve(question("Is sodium about pressure?"), 1)
    assert told(found) == [("15", "pubmed(atm)")]


@pytest.mark.parametrize("lacking", [{"abstract": ""}, {"title": ""}, {"journal": ""}, {"year": ""}, {"authors": ()}])
def test_an_incomplete_article_is_skipped(server: EntrezServer, entrez: Entrez, lacking: dict[str, object]):
    server.articles = [
        replace(JET_LAG, **lacking, keywords=("melatonin", "jet", "lag")),
        Article("12", "Jet lag.", "Melatonin and jet lag."),
    ]
    found = PubMedRetriever(entrez).retrieve(question("melatonin jet lag"), 2)
    assert [evidence.document.id for evidence in found] == ["12"]
    assert all(is_complete(evidence.document) for evidence in found)
    assert found[0].rank == 1


def test_a_retracted_article_takes_no_place(server: EntrezServer, entrez: Entrez):
    server.articles = [replace(JET_LAG, retracted=True), *ARTICLES[1:]]
    found = PubMedRetriever(entrez).retrieve(question("melatonin jet lag"), 2)
    assert told(found) == [("12", "pubmed(tiab)"), ("13", "pubmed(atm)")]
    (retracted,) = entrez.fetch(["11"]).documents
    assert retracted.retracted
    assert not is_complete(retracted)


def test_no_article_is_returned_or_fetched_twice(server: EntrezServer, entrez: Entrez):
    found = PubMedRetriever(entrez).retrieve(question("melatonin jet lag"), 50)
    ids = [evidence.document.id for evidence in found]
    assert len(set(ids)) == len(ids) == 3
    asked = [id for arrival in server.arrivals if arrival.tool == "efetch" for id in arrival.ids]
    assert len(set(asked)) == len(asked)


def test_more_records_are_fetched_only_when_needed(server: EntrezServer, entrez: Entrez):
    server.articles = [
        Article(str(number), "Salt.", "Salt." if number <= 250 else "", authors=("Doe",) if number > 30 else ())
        for number in range(1, 300)
    ]
    found = PubMedRetriever(entrez).retrieve(question("salt"), 5)
    assert [evidence.document.id for evidence in found] == ["31", "32", "33", "34", "35"]
    assert [evidence.scores["search_rank"] for evidence in found] == [31, 32, 33, 34, 35]
    assert [len(arrival.ids) for arrival in server.arrivals if arrival.tool == "efetch"] == [20, 20]


def test_the_number_of_candidates_is_limited(server: EntrezServer, entrez: Entrez):
    server.articles = [
        Article(str(number), "Salt.", "Salt.", authors=("Doe",) if number > 3 else ()) for number in range(1, 9)
    ]
    found = PubMedRetriever(entrez, candidates=4).retrieve(question("salt"), 5)
    assert [evidence.document.id for evidence in found] == ["4"]


def test_a_withheld_record_is_skipped_with_a_warning(
    server: EntrezServer, entrez: Entrez, caplog: pytest.LogCaptureFixture
):
    server.withheld.add("11")
    assert [found.document.id for found in PubMedRetriever(entrez).retrieve(question("melatonin jet lag"), 1)] == ["12"]
    assert "left out PMID 11" in caplog.text


def test_finding_nothing_is_not_an_error(entrez: Entrez):
    assert PubMedRetriever(entrez).retrieve(question("zyxwv"), 3) == ()


@pytest.mark.parametrize("k", [0, -1])
def test_a_k_of_0_asks_nothing(server: EntrezServer, entrez: Entrez, k: int):
    assert PubMedRetriever(entrez).retrieve(question("melatonin"), k) == ()
    assert not server.arrivals


def test_a_failure_is_an_error_not_empty_evidence(server: EntrezServer, entrez: Entrez):
    server.script([page(502)] * 3)
    with pytest.raises(EntrezError):
        PubMedRetriever(entrez).retrieve(question("melatonin"), 3)


@pytest.mark.parametrize("text", [" ", "?", '[]()"*', "What is it?", "AND OR NOT", "the and of", "…"])
def test_a_question_without_a_word_to_look_up_is_refused_before_pubmed_is_asked(
    server: EntrezServer, entrez: Entrez, text: str
):
    with pytest.raises(InputError, match="expected a question with a word that PubMed looks up"):
        PubMedRetriever(entrez).retrieve(question(text), 3)
    assert not server.arrivals


@pytest.mark.parametrize(
    "text",
    [
        'melatonin[au] OR "jet lag"[majr] NOT (salt)',
        "melatonin* AND (jet OR lag))) [[[",
        "melatonin:jet[dp] #1 lag~3",
        "melatonin' \" jet \\ lag %5B &db=pmc",
    ],
)
def test_syntax_in_a_question_is_not_sent_as_syntax(server: EntrezServer, entrez: Entrez, text: str):
    PubMedRetriever(entrez).retrieve(question(text), 99)
    for query in server.queries:
        bare = query.replace("[tiab]", "").replace(" AND ", " ")
        assert not set(bare.removesuffix(" hasabstract").strip("()")) & set('[]()"*:#~/\\%&')
        assert not {"OR", "NOT", "AND"} & set(bare.split())
    assert {arrival.fields["db"] for arrival in server.arrivals} == {"pubmed"}


@given(st.text(min_size=1))
def test_any_text_gives_searches_or_a_clear_error(text: str):
    try:
        (_, tiab), (_, atm), (_, raw) = searches(text)
    except InputError:
        return
    assert tiab.endswith("[tiab] AND hasabstract")
    assert atm.endswith(") AND hasabstract")
    assert raw.strip()


def test_the_papers_cleaning_only_removes_the_interrogative():
    asked = "What is the role of AND gates in jet lag?"
    assert searches(asked, "interrogative")[0] == (
        "tiab",
        "is[tiab] AND the[tiab] AND role[tiab] AND of[tiab] AND and[tiab] AND gates[tiab] AND in[tiab] AND jet[tiab] "
        "AND lag[tiab] AND hasabstract",
    )
    assert searches(asked, "interrogative")[1][1] == "(is the role of and gates in jet lag) AND hasabstract"
    assert searches(asked, "interrogative")[2] == searches(asked)[2]
    assert searches(asked)[0][1] == "role[tiab] AND gates[tiab] AND jet[tiab] AND lag[tiab] AND hasabstract"


def test_the_cleaning_is_part_of_the_signature(entrez: Entrez):
    assert "cleaning=interrogative" in PubMedRetriever(entrez, cleaning="interrogative").signature
    assert "cleaning" not in PubMedRetriever(entrez).signature


def test_a_very_long_question_is_cut_with_a_warning(
    server: EntrezServer, entrez: Entrez, caplog: pytest.LogCaptureFixture
):
    text = " ".join(f"word{number}" for number in range(1_300))
    assert len(text) > 10_000
    assert PubMedRetriever(entrez).retrieve(question(text), 3) == ()
    assert f"at most {MOST_WORDS} words; found 1300" in caplog.text
    assert server.queries[0].count("[tiab]") == MOST_WORDS


def test_a_usual_question_is_not_cut(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.WARNING)
    searches("Which long non-coding RNAs have been linked to the progression of triple negative breast cancer in mice?")
    assert not caplog.text


def test_a_question_asked_before_is_answered_offline(server: EntrezServer, monkeypatch, tmp_path):
    settings = replace(settings_of(server), cache=tmp_path)
    with Entrez(settings) as client:
        found = PubMedRetriever(client).retrieve(question("melatonin jet lag"), 3)
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    with Entrez(settings) as client:
        assert PubMedRetriever(client).retrieve(question("melatonin jet lag"), 3) == found
        with pytest.raises(EntrezAccessError, match="VERICITE_OFFLINE"):
            PubMedRetriever(client).retrieve(question("salt"), 3)


def test_zero_candidates_are_refused(entrez: Entrez):
    with pytest.raises(InputError, match="expected candidates of at least 1"):
        PubMedRetriever(entrez, candidates=0)
