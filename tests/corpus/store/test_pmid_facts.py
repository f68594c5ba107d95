"""What is said of a PMID holds for all its documents, before and after; of two states of a record the later stays."""

from __future__ import annotations

import io
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_documents import WordEmbedder, content, source

from vericite.corpus.pubmed import Deletion, PubMedRecord, Retraction, read_pubmed
from vericite.corpus.sources.registry import documents_in
from vericite.corpus.store import Filters, build_store, open_store
from vericite.records import Document

Event = Document | Deletion | Retraction


def small(id: str, revised: str | None = None, version: int = 1, text: str = "Some words.", retracted: bool = False):
    """A document whose PMID is the last letter of its id."""
    return Document.from_text(id, text).model_copy(
        update={"version": version, "revised": revised, "pmid": id[-1], "retracted": retracted}
    )


PMID_LISTS = st.lists(st.sampled_from("129"), max_size=2).map(tuple)
EVENTS = st.lists(
    st.one_of(
        st.builds(
            small,
            st.sampled_from(["1", "2", "3", "chunk of 1"]),
            st.sampled_from([None, "2019", "2019-05-03", "2020-01-01"]),
            st.integers(1, 2),
            st.sampled_from(["one", "two", ""]),
            st.sampled_from([False, False, True]),
        ),
        st.builds(lambda pmids: Deletion(pmids=pmids), PMID_LISTS),
        st.builds(lambda pmids: Retraction(pmids=pmids), PMID_LISTS),
    ),
    max_size=12,
)


def one_after_the_other(items: list[Event]) -> tuple[dict[str, Document], dict[str, int]]:
    held: dict[str, Document] = {}
    deleted: set[str | None] = set()
    retracted: set[str | None] = set()
    counts = dict.fromkeys(("added", "replaced", "outdated", "deleted"), 0)
    for item in items:
        if isinstance(item, Deletion):
            deleted.update(item.pmids)
            gone = [id for id, one in held.items() if one.pmid in deleted]
            counts["deleted"] += len(gone)
            for id in gone:
                del held[id]
        elif isinstance(item, Retraction):
            retracted.update(item.pmids)
        else:
            if item.retracted:
                retracted.add(item.pmid)
            before = held.get(item.id)
            if item.pmid in deleted:
                counts["deleted"] += 1
            elif before and (before.version, before.revised or "") > (item.version, item.revised or ""):
                counts["outdated"] += 1
            else:
                counts["replaced" if before else "added"] += 1
                held[item.id] = item
    marked = {id: one.model_copy(update={"retracted": one.pmid in retracted}) for id, one in sorted(held.items())}
    return marked, counts


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(items=EVENTS, batch=st.sampled_from([1, 2, 3, 1000]), cut=st.integers(0, 12))
def test_batches_come_to_what_one_item_after_the_other_does_and_are_counted_alike(
    tmp_path_factory: pytest.TempPathFactory, items: list[Event], batch: int, cut: int
):
    place = tmp_path_factory.mktemp("law")
    report = build_store(place, [source("a", items[:cut]), source("b", items[cut:])], batch=batch)
    held, counts = one_after_the_other(items)
    assert content(place) == held
    assert {name: getattr(report, name) for name in counts} == counts


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_the_report_does_not_depend_on_the_size_of_the_batches(tmp_path: Path, batch: int):
    build_store(tmp_path, [source("before", [small("1", "2020"), small("2")])])
    unfit = small("3").model_copy(update={"year": 2**63})
    items = [
        small("1", "2019"), small("1", "2021"), small("1", "2018"), small("2"), small("2", "2019"), small("3"),
        unfit, small("3"), small("4"), Deletion(pmids=("4", "2")), small("4"), small("4", "2022"), small("5"),
    ]  # fmt: skip
    report = build_store(tmp_path, [source("a", items)], batch=batch)
    assert (report.added, report.replaced, report.outdated) == (3, 4, 2)
    assert (report.deleted, report.refused, len(report.problems)) == (4, 1, 1)
    assert {id: one.revised for id, one in content(tmp_path).items()} == {"1": "2021", "3": None, "5": None}


STATES = [small("1", None), small("1", "2019-05", text="b"), small("1", "2019-05-02", text="c"), small("1", "1999", 2)]


@pytest.mark.parametrize("order", [*list(permutations(STATES[:3]))[:4], STATES[::-1]])
def test_a_record_that_was_revised_earlier_never_replaces_one_revised_later(tmp_path: Path, order: list[Document]):
    latest = STATES[3] if STATES[3] in order else STATES[2]
    build_store(tmp_path / "one batch", [source("a", order)])
    assert content(tmp_path / "one batch") == {"1": latest}
    for number, one in enumerate(order):
        build_store(tmp_path / "builds", [source(f"s{number}", [one])])
    assert content(tmp_path / "builds") == {"1": latest}
    store = open_store(tmp_path / "builds")
    store.put(order)
    assert list(store.scan()) == [latest]


def test_the_later_read_of_two_records_revised_on_one_day_is_kept(tmp_path: Path):
    first, second = small("1", "2019", text="first"), small("1", "2019", text="second")
    build_store(tmp_path, [source("a", [first])])
    build_store(tmp_path, [source("b", [second])])
    assert content(tmp_path) == {"1": second}
    build_store(tmp_path, [source("c", [second, first])])
    assert content(tmp_path) == {"1": first}


def test_a_deleted_pmid_does_not_come_back_from_a_source_that_is_read_again(tmp_path: Path):
    build_store(tmp_path, [source("a", [small("1"), small("2")])])
    assert build_store(tmp_path, [source("update", [Deletion(pmids=("1", "3"))])]).deleted == 1
    report = build_store(tmp_path, [source("a", [small("1", "2024"), small("2"), small("3")], "2")])
    assert (report.added, report.replaced, report.deleted) == (0, 1, 2)
    store = open_store(tmp_path)
    assert [one.id for one in store.scan()] == ["2"] and store.get(["1"]).missing == ("1",)
    # Whoever puts it knows better.
    store.put([small("1")])
    build_store(tmp_path, [source("b", [small("1", "2025"), small("3")])])
    assert {id: one.revised for id, one in content(tmp_path).items()} == {"1": "2025", "2": None}


def test_a_retraction_marks_every_document_of_its_pmid_whenever_it_comes(tmp_path: Path):
    build_store(tmp_path, [source("a", [small("chunk of 1"), small("1"), small("2")])])
    marks = source("b", [Retraction(pmids=("1", "8")), small("2", "2024", retracted=True), small("8")])
    build_store(tmp_path, [marks])
    build_store(tmp_path, [source("c", [small("PMC of 2"), small("1", "2024"), small("3")])])
    store = open_store(tmp_path)
    assert {one.id: one.retracted for one in store.scan()} == {
        "chunk of 1": True, "1": True, "2": True, "8": True, "PMC of 2": True, "3": False,
    }  # fmt: skip
    assert {one.id for one in store.scan(Filters(retracted=False))} == {"3"}
    assert store.info().retracted == 5 and store.verify() == ()


def test_an_older_record_does_not_undo_a_retraction(tmp_path: Path):
    build_store(tmp_path, [source("a", [small("1", "2024", retracted=True)]), source("b", [small("1", "2019")])])
    assert content(tmp_path)["1"].retracted and content(tmp_path)["1"].revised == "2024"


def test_what_is_put_is_marked_and_marks_others(tmp_path: Path):
    build_store(tmp_path, [source("a", [Retraction(pmids=("1",)), small("2")])], vectors=True, embedder=WordEmbedder())
    store = open_store(tmp_path, WordEmbedder())
    store.put([small("1"), small("PMC of 2", retracted=True)])
    assert {one.id: one.retracted for one in store.scan()} == {"1": True, "2": True, "PMC of 2": True}
    store.index()
    assert store.verify() == ()


XML = """<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>{pmid}</PMID>
<DateRevised><Year>2021</Year><Month>02</Month><Day>03</Day></DateRevised>
<Article><ArticleTitle>Notice</ArticleTitle></Article><CommentsCorrectionsList>
<CommentsCorrections RefType="RetractionOf"><RefSource>J</RefSource><PMID>77</PMID></CommentsCorrections>
</CommentsCorrectionsList></MedlineCitation></PubmedArticle></PubmedArticleSet>"""


def test_a_notice_in_pubmeds_xml_is_a_document_and_a_retraction(tmp_path: Path):
    (record,) = read_pubmed(io.BytesIO(XML.format(pmid=5).encode()), "made")
    assert isinstance(record, PubMedRecord) and record.document.revised == "2021-02-03"
    (tmp_path / "a.xml").write_text(XML.format(pmid=5), encoding="utf-8")
    assert list(documents_in(tmp_path / "a.xml")) == [record.document, Retraction(pmids=("77",))]


def test_an_article_that_was_republished_under_its_own_number_does_not_retract_itself():
    for pmid, retraction in (("5", None), ("6", Retraction(pmids=("5",)))):
        document = Document(id=pmid, pmid=pmid)
        assert PubMedRecord(pmid=pmid, document=document, retracts=("5",)).retraction == retraction
