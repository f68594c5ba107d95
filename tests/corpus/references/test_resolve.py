"""References looked up in PubMed, Crossref and Europe PMC on loopback, in files and in stores."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from catalogue_server import CatalogueServer
from entrez_server import EntrezServer, status
from made_articles import SOUND, like

from pdf_files import Page, pdf
from vericite.corpus.manuscript.resolve import resolve, with_list_problems
from vericite.corpus.manuscript.sources import CrossrefWorks, EuropePmcWorks, FileWorks, PubMedWorks
from vericite.corpus.manuscript.web import CatalogueClient, CatalogueSettings
from vericite.errors import InputError
from vericite.records import Document, Span
from vericite.records.manuscripts import Manuscript, ManuscriptCitation, Reference, ResolvedReference

INVENTED = Reference(
    key="9",
    title="Cinnamon toast and the length of hospital stay: a cluster trial",
    authors=("Mwangi T", "Bauer K"),
    journal="J Inv Find",
    year=2020,
    volume="13",
    pages="55-60",
)


def kinds(entry: ResolvedReference) -> list[str]:
    return [problem.kind for problem in entry.problems]


def test_pubmed_finds_a_printed_reference_by_its_citation(pubmed: PubMedWorks, ncbi: EntrezServer) -> None:
    (entry,) = resolve([SOUND], [pubmed])
    assert entry.document is not None
    assert (entry.document.pmid, entry.source, entry.by, kinds(entry)) == ("30000001", "pubmed", "citation", [])
    assert entry.probability is not None and entry.probability > 0.95
    assert ncbi.arrivals[0].path == "/eutils/ecitmatch.cgi"
    assert ncbi.arrivals[0].fields["bdata"] == "j inv find|2019|12|101|okafor a|r0|"


@pytest.mark.parametrize(
    ("changed", "by"),
    [
        ({"pmid": "30000001"}, "PMID"),
        ({"doi": "https://doi.org/10.1000/JIF.101"}, "DOI"),
        ({"journal": None, "volume": None, "pages": None}, "title"),
    ],
)
def test_pubmed_finds_a_reference_by_what_it_has(pubmed: PubMedWorks, changed: dict[str, object], by: str) -> None:
    (entry,) = resolve([like("1", **changed)], [pubmed])
    assert entry.document is not None
    assert (entry.document.pmid, entry.by, kinds(entry)) == ("30000001", by, [])


@pytest.mark.parametrize(
    ("changed", "kind", "given", "found"),
    [
        ({"year": 2017}, "year differs", "2017", "2019"),
        ({"volume": "21"}, "volume differs", "21", "12"),
        ({"pages": "110-8"}, "pages differ", "110-8", "101-9"),
        ({"journal": "Sleep North"}, "journal differs", "Sleep North", "Journal of Invented Findings"),
        ({"authors": ("Okafor A", "Smith B")}, "authors differ", "Okafor A; Smith B", "Okafor J; Lind J"),
        (
            {"title": "Walking after meals and blood glucose in young adults"},
            "title differs",
            "Walking after meals and blood glucose in young adults",
            "Walking after meals and blood glucose in older adults.",
        ),
    ],
)
def test_a_field_that_differs_is_named_with_both_values(
    pubmed: PubMedWorks, changed: dict[str, object], kind: str, given: str, found: str
) -> None:
    (entry,) = resolve([like("1", **changed)], [pubmed])
    assert entry.document is not None
    assert entry.document.pmid == "30000001"
    assert [(p.kind, p.given, p.found) for p in entry.problems] == [(kind, given, found)]


def test_what_was_misread_of_the_print_is_no_difference(pubmed: PubMedWorks) -> None:
    text = "Okafor A, Lind EG. Walking after meals and blood glucose in older adults. J. Inv. Find. 2019;12:101-9."
    misread = {"title": f"{SOUND.title} J", "journal": "Inv Fin 12", "year": 2012, "pmid": "30000001"}
    sound, altered = resolve([like("1", text=text, **misread), like("2", **misread)], [pubmed])
    assert kinds(sound) == []
    assert kinds(altered) == ["title differs", "journal differs", "year differs"]


def test_a_title_alone_is_enough_and_real_authors_with_another_title_are_not(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    whole = {"authors": SOUND.authors, "journal": SOUND.journal, "year": SOUND.year}
    rows = [
        {"id": "a", "title": SOUND.title, "sections": [{"text": "Text."}]},
        {"id": "b", "title": "Honey for cough in children: a trial", "sections": [{"text": "Text."}], **whole},
    ]
    file.write_text("\n".join(map(json.dumps, rows)) + "\n")
    titled, borrowed = resolve([SOUND, like("2", title=INVENTED.title)], [str(file)])
    assert titled.document is not None and titled.document.id == "a"
    assert kinds(borrowed) == ["not in these sources"]


def test_a_doi_of_another_work_is_named_and_the_right_work_found(pubmed: PubMedWorks) -> None:
    (entry,) = resolve([like("1", doi="10.1000/son.3")], [pubmed])
    assert entry.document is not None
    assert entry.document.pmid == "30000001"
    assert [str(problem) for problem in entry.problems] == ["wrong DOI: 10.1000/son.3 (found: 10.1000/jif.101)"]


def test_only_a_catalogue_can_say_that_a_work_is_not_found(
    pubmed: PubMedWorks, tmp_path: Path, ncbi: EntrezServer
) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps({"id": "a", "title": "Another work", "sections": [{"text": "Text."}]}) + "\n")
    asked = resolve([INVENTED], [pubmed])[0]
    given = resolve([INVENTED], [str(file)])[0]
    assert (kinds(asked), kinds(given)) == (["not found"], ["not in these sources"])
    assert asked.problems[0].found == "asked pubmed"
    assert len(ncbi.arrivals) == 3  # the matcher, and two searches for the title; none for the file


def test_a_book_that_a_catalogue_lacks_is_not_called_missing(pubmed: PubMedWorks) -> None:
    book = Reference(key="4", title="Handbook of invented nursing", authors=("Ricci P",), year=2001)
    assert kinds(resolve([book], [pubmed])[0]) == ["not in these sources"]


def test_a_reference_of_which_nothing_was_read_is_not_called_missing(pubmed: PubMedWorks) -> None:
    unread = Reference(key="5", text="See the web site.", journal="See")
    assert kinds(resolve([unread], [pubmed])[0]) == ["could not be read"]


def test_retractions_concerns_and_corrections_are_named(pubmed: PubMedWorks) -> None:
    entries = resolve([Reference(key="1", pmid="30000003"), Reference(key="2", pmid="30000004")], [pubmed])
    assert [[(p.kind, p.found) for p in entry.problems] for entry in entries] == [
        [("retracted", "30000009")],
        [("expression of concern", "30000008"), ("corrected", "30000007")],
    ]
    assert entries[0].document is not None and entries[0].document.retracted


def test_a_failed_request_costs_only_what_it_asked_for(pubmed: PubMedWorks, ncbi: EntrezServer) -> None:
    ncbi.script([status(500)] * 6)
    failed = resolve([like("1")], [pubmed])[0]
    assert kinds(failed) == ["could not be asked"]
    assert "HTTP 500" in failed.problems[0].found
    assert resolve([like("1")], [pubmed])[0].document is not None


def test_a_second_source_is_asked_only_for_what_the_first_lacks(
    pubmed: PubMedWorks, crossref: CrossrefWorks, catalogues: CatalogueServer
) -> None:
    entries = resolve([SOUND, INVENTED], [pubmed, crossref])
    assert [entry.source for entry in entries] == ["pubmed", None]
    assert [asked.fields["query.bibliographic"].split()[0] for asked in catalogues.asked] == ["Cinnamon"]
    assert entries[1].problems[0].found == "asked pubmed, crossref"


def test_crossref_knows_years_pages_and_notices(crossref: CrossrefWorks, catalogues: CatalogueServer) -> None:
    online = like("1", year=2018)
    retracted = Reference(
        key="2", title="Cold baths and sleep of shift workers", authors=("Varga Z",), doi="10.1000/son.3"
    )
    first, second = resolve([online, retracted], [crossref])
    assert first.document is not None and second.document is not None
    assert (first.document.id, first.document.authors, kinds(first)) == (
        "doi:10.1000/jif.101",
        ("Okafor A", "Lind EG"),
        [],
    )
    assert [(p.kind, p.found) for p in second.problems] == [("retracted", "10.1000/son.3r")]
    assert second.document.text == "They slept better."
    assert catalogues.paths == ["/crossref/works/10.1000/son.3", "/crossref/works"]
    assert "mailto" not in catalogues.asked[0].fields


def test_an_address_is_sent_only_if_there_is_one(catalogues: CatalogueServer, tmp_path: Path) -> None:
    settings = CatalogueSettings(catalogues.url("crossref"), 1000, cache=None, mailto="me@example.org")
    works = CrossrefWorks(CatalogueClient(settings))
    resolve([Reference(key="1", doi="10.1000/son.3")], [works])
    works.close()
    assert catalogues.asked[0].fields == {"mailto": "me@example.org"}


def test_the_full_text_of_europe_pmc_takes_the_place_of_the_abstract(
    pubmed: PubMedWorks, pmc: EuropePmcWorks, catalogues: CatalogueServer
) -> None:
    (entry,) = resolve([SOUND], [pubmed, pmc])
    assert entry.document is not None
    assert (entry.source, entry.document.id, entry.document.journal) == (
        "pubmed",
        "30000001",
        "Journal of Invented Findings",
    )
    assert "6.1 mmol/l with walks" in entry.document.text
    assert [section.label for section in entry.document.sections][-1] == "Results"
    assert catalogues.paths == ["/europepmc/search", "/europepmc/PMC900/fullTextXML"]


def test_europe_pmc_alone_finds_a_work_by_its_title(pmc: EuropePmcWorks) -> None:
    (entry,) = resolve([SOUND], [pmc])
    assert entry.document is not None
    assert (entry.document.pmid, entry.document.pmcid, entry.by) == ("30000001", "PMC900", "title")
    assert kinds(entry) == ["corrected"]
    assert "41 older adults" in entry.document.text


def test_replies_are_cached_and_offline_nothing_else_is_asked(
    pubmed: PubMedWorks,
    crossref: CrossrefWorks,
    ncbi: EntrezServer,
    catalogues: CatalogueServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = like("2", title="A title of no one", doi="10.1000/none", authors=("Nemo A",), volume="99")
    resolve([SOUND, missing], [pubmed, crossref])
    before = (len(ncbi.arrivals), len(catalogues.asked))
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    again = resolve([SOUND, missing], [pubmed, crossref])
    new = resolve([like("3", title="Honey for cough in children: a trial", volume="6")], [pubmed, crossref])[0]
    assert (len(ncbi.arrivals), len(catalogues.asked)) == before
    assert again[0].document is not None
    assert kinds(again[1]) == ["not found"]
    assert kinds(new) == ["could not be asked"]
    assert "VERICITE_OFFLINE" in new.problems[0].found


def test_catalogues_are_paced(catalogues: CatalogueServer) -> None:
    settings = CatalogueSettings(catalogues.url("crossref"), requests_per_second=10, cache=None)
    works = CrossrefWorks(CatalogueClient(settings))
    resolve([Reference(key=str(number), doi=f"10.1000/n{number}") for number in range(5)], [works])
    works.close()
    times = [asked.at for asked in catalogues.asked]
    assert len(times) == 5
    assert min(after - before for before, after in pairwise(times)) > 0.08


def test_passing_errors_are_repeated_and_a_broken_reply_is_not_kept(
    crossref: CrossrefWorks, catalogues: CatalogueServer
) -> None:
    reference = Reference(key="1", doi="10.1000/jif.101")
    catalogues.failing = [(503, "text/plain", b"busy"), (200, "application/json", b'{"status":"ok",')]
    assert resolve([reference], [crossref])[0].document is not None
    catalogues.failing = [(400, "text/plain", b"no")]
    entry = resolve([Reference(key="1", doi="10.1000/other")], [crossref])[0]
    assert kinds(entry) == ["could not be asked"]


def test_a_folder_of_pdfs_is_matched_by_first_page_and_name(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    _write(folder / "a.pdf", ["Walking after meals and blood", "glucose in older adults", "A. Okafor, E. Lind"])
    _write(folder / "b.pdf", ["Something else", "doi: 10.1000/son.3."])
    _write(folder / "10.1000_jif.202.pdf", ["A scan of which little was read."])
    references = [
        SOUND,
        Reference(key="2", title="Cold baths and sleep", doi="10.1000/son.3"),
        Reference(key="3", title="Walking after meals and blood glucose in pregnancy", doi="10.1000/jif.202"),
        INVENTED,
    ]
    entries = resolve(references, [str(folder)])
    assert [entry.by for entry in entries] == ["title", "DOI", "file name", None]
    assert all(entry.document and entry.document.pages for entry in entries[:3])
    # What the first page of a PDF says is not compared with the reference.
    assert [kinds(entry) for entry in entries] == [[], [], [], ["not in these sources"]]


def test_a_pdf_takes_the_place_of_the_abstract(pubmed: PubMedWorks, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    lines = [
        "Walking after meals and blood glucose in older adults",
        "A. Okafor",
        "Forty-one adults walked after meals.",
    ]
    _write(folder / "a.pdf", lines)
    (entry,) = resolve([SOUND], [pubmed, str(folder)])
    assert entry.document is not None
    assert (entry.document.id, entry.document.year, entry.source) == ("30000001", 2019, "pubmed")
    assert "Forty-one adults" in entry.document.text
    assert entry.document.page_at(0) == 1


def test_a_store_is_searched_by_id_and_by_title(tmp_path: Path) -> None:
    pytest.importorskip("lancedb")
    from vericite.corpus.store import open_store
    from vericite.corpus.store.building import new_store
    from vericite.corpus.store.place import place_of
    from vericite.records import Document, Section

    document = Document(
        id="30000001", pmid="30000001", title="Walking after meals and blood glucose in older adults.",
        sections=(Section(text="Glucose fell."),), authors=("Okafor A", "Lind EG"), journal="J Inv Find", year=2019,
    )  # fmt: skip
    new_store(place_of(tmp_path / "store"), None, vectors=False)
    store = open_store(tmp_path / "store")
    store.put([document])
    store.index()
    entries = resolve([SOUND, like("2", pmid="30000001", year=2018), INVENTED], [str(tmp_path / "store")])
    assert [entry.by for entry in entries] == ["title", "PMID", None]
    assert [kinds(entry) for entry in entries] == [[], ["year differs"], ["not in these sources"]]


def test_a_source_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InputError, match="expected pubmed, crossref, pmc"):
        resolve([SOUND], ["nowhere"])


def test_progress_is_reported(pubmed: PubMedWorks) -> None:
    seen: list[tuple[int, int]] = []
    resolve([like(str(number)) for number in range(45)], [pubmed], lambda done, total: seen.append((done, total)))
    assert seen == [(40, 45), (45, 45)]


def test_duplicates_and_the_list_are_checked() -> None:
    text = "First [1]. Second [2, 7]."
    places = [ManuscriptCitation(span=Span(start=6, end=9), keys=("1",))]
    places.append(ManuscriptCitation(span=Span(start=18, end=24), keys=("2", "7")))
    listed = [SOUND, like("2", title="Walking after meals, and blood glucose in older adults", year=2019), INVENTED]
    manuscript = Manuscript(name="m", text=text, citations=tuple(places), references=tuple(listed))
    found = with_list_problems(manuscript, [ResolvedReference(key=entry.key, reference=entry) for entry in listed])
    assert [(entry.key, [str(problem) for problem in entry.problems]) for entry in found] == [
        ("1", []),
        ("2", ["duplicate: same work as 1"]),
        ("9", ["listed, not cited"]),
        ("7", ["cited but not in the list of references"]),
    ]


def _write(file: Path, lines: list[str]) -> None:
    page = Page()
    for number, line in enumerate(lines):
        page.at(60, 780 - 14 * number, line)
    file.write_bytes(pdf([page]))


def _looked_up(reference: Reference, **changes: object) -> ResolvedReference:
    """What is found for a reference among one document that has its title, authors and journal, but for changes."""
    own = {"authors": reference.authors, "journal": reference.journal, "year": reference.year}
    document = Document.from_text("d", "Corvadil halved coughs.", reference.title).model_copy(update={**own, **changes})
    (found,) = resolve([reference], [FileWorks("sources", [document])])
    return found


@pytest.mark.parametrize("year", [2007, 2009, 2010, 2021])
@pytest.mark.parametrize(
    ("title", "journal", "author"),
    [
        ("Corvadil for cough", "BMJ", "Petrov I"),
        ("Corvadil for night-time cough in children with asthma", None, "Petrov I"),
        ("Corvadil for night-time cough in children with asthma", None, "Union A"),
    ],
)
def test_a_work_with_the_title_and_author_is_matched_whatever_its_year(
    title: str, journal: str | None, author: str, year: int
):
    authors = (author, "Nakamura E")
    found = _looked_up(Reference(key="1", title=title, authors=authors, journal=journal, year=2008), year=year)
    assert found.document is not None
    assert [str(problem) for problem in found.problems] == [f"year differs: 2008 (found: {year})"]


@pytest.mark.parametrize(
    ("title", "author", "changes"),
    [
        ("World health statistics", "World Health Organization", {"journal": None}),
        ("Standards of medical care in diabetes", "American Diabetes Association", {"journal": None}),
        ("Global tuberculosis report", "WHO", {"journal": None}),
        ("Global report on the care of children with severe asthma", "Public Health England", {"journal": None}),
        ("Global strategy for the prevention and management of asthma", "GINA", {"journal": None}),
        ("Corvadil for cough", "Petrov I", {"journal": None}),
        ("Corvadil for cough", "Petrov I", {"journal": "medRxiv"}),
        ("Corvadil for cough in adults at work", "Petrov I", {"title": "Corvadil for cough in children at work"}),
    ],
)
def test_a_work_of_another_year_that_may_be_another_is_told_and_not_matched(
    title: str, author: str, changes: dict[str, object]
):
    found = _looked_up(
        Reference(key="1", title=title, authors=(author,), journal="BMJ", year=2008), **changes, year=2010
    )
    assert found.document is None
    told = "another year: a document with this title, or nearly, was found, but of 2010"
    assert [str(problem) for problem in found.problems] == [told, "not in these sources: sources"]


def test_the_work_of_the_right_year_is_matched_before_one_of_another_year():
    reference = Reference(key="1", title="Corvadil for cough", authors=("Petrov I",), year=2008)
    later, right = (
        Document.from_text(str(year), "Corvadil halved coughs.", reference.title).model_copy(
            update={"authors": reference.authors, "year": year}
        )
        for year in (2010, 2008)
    )
    (found,) = resolve([reference], [FileWorks("first", [later]), FileWorks("second", [right])])
    assert found.document == right and not found.problems


def test_a_namesake_with_another_initial_is_not_the_author():
    reference = Reference(
        key="1", title="Machine learning in the medicine of older people", authors=("Wang L",), year=2012
    )
    found = _looked_up(reference, authors=("Wang J",), year=2021)
    assert found.document is None


def test_the_article_of_a_group_is_matched_one_year_away_in_its_journal():
    authors = ("RECOVERY Collaborative Group", "Horby P")
    title = "Dexamethasone in hospitalized patients with Covid-19"
    reference = Reference(key="1", title=title, authors=authors, journal="N Engl J Med", year=2020)
    assert _looked_up(reference, year=2021).document is not None
