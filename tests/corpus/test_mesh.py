"""MeSH files of our own making, in both of NLM's forms. No descriptor here is NLM's record."""

from __future__ import annotations

import gzip
import logging
import os
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.corpus.mesh import MeshHeading, MeshTerms, headings_in
from vericite.errors import InputError

Write = Callable[..., Path]

DIABETES = MeshHeading(
    "Diabetes Mellitus, Type 2",
    ("NIDDM", "Diabetes, Type 2", "Adult-Onset Diabetes", "Ketosis-Resistant Diabetes", "Mellitus, Diabetes"),
)
AIDS = MeshHeading("Acquired Immunodeficiency Syndrome", ("AIDS", "ALL"))
ASPIRIN = MeshHeading("Aspirin", ("Acetylsalicylic Acid", "2-(Acetyloxy)benzoic Acid", "Carbocaïne of old"))
BARE = MeshHeading("Drugs, Old and Rare")
HEADINGS = (DIABETES, AIDS, ASPIRIN, BARE)


def term(text: str, permuted: bool = False) -> str:
    return f'<Term IsPermutedTermYN="{"NY"[permuted]}"><TermUI>T1</TermUI><String>{escape(text)}</String></Term>'


def concept(terms: str, preferred: bool) -> str:
    return f'<Concept PreferredConceptYN="{"NY"[preferred]}"><TermList>{terms}</TermList></Concept>'


def record(name: str, *concepts: str) -> str:
    named = f"<DescriptorName><String>{escape(name)}</String></DescriptorName>"
    related = "<SeeRelatedList><DescriptorName><String>Elsewhere</String></DescriptorName></SeeRelatedList>"
    return f"<DescriptorRecord>{named}{related}<ConceptList>{''.join(concepts)}</ConceptList></DescriptorRecord>"


def plain(heading: MeshHeading) -> str:
    return record(heading.name, concept("".join(map(term, (heading.name, *heading.entry_terms))), preferred=True))


def xml(*records: str, root: str = "DescriptorRecordSet", front: str = "") -> str:
    kind = front or f'<!DOCTYPE {root} SYSTEM "https://localhost/no.dtd">'
    return f'<?xml version="1.0"?>\n{kind}\n<{root} LanguageCode="eng">\n{"".join(records)}\n</{root}>\n'


XML = xml(
    record(
        DIABETES.name,
        concept(term("Ketosis-Resistant Diabetes"), preferred=False),
        concept(
            term(DIABETES.name)
            + term("Mellitus, Diabetes", permuted=True)
            + term("NIDDM")
            + term("Diabetes, Type 2")
            + term("Adult-Onset  Diabetes"),
            preferred=True,
        ),
    ),
    *map(plain, HEADINGS[1:]),
)

ASCII = """*NEWRECORD
RECTYPE = D
MH = Diabetes Mellitus, Type 2
ENTRY = Mellitus, Diabetes
PRINT ENTRY = Ketosis-Resistant Diabetes|T047|NON|NRW|UNK (19XX)|000000|abcdef
ENTRY = NIDDM|T047|ABB|EQV|NLM (1991)|891121|abcdef
ENTRY = Diabetes, Type 2|T047|NON|EQV|NLM (1991)|891121|abcdef
ENTRY = Adult-Onset Diabetes|T047|NON|EQV|NLM (1991)|891121|abcdef
AN = MH = no heading
UI = D000001

*NEWRECORD
RECTYPE = D
MH = Acquired Immunodeficiency Syndrome
ENTRY = AIDS|T047|ABB|EQV|NLM (1991)|891121|abcdef
ENTRY = ALL
UI = D000002

*NEWRECORD
RECTYPE = Q
MH = a qualifier
*NEWRECORD
RECTYPE = D
MH = Aspirin
ENTRY = Acetylsalicylic Acid|T1|EQV|abd
ENTRY = 2-(Acetyloxy)benzoic Acid
ENTRY = Carbocaïne of old

*NEWRECORD
RECTYPE = D
MH = Drugs, Old and Rare
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(content: str | bytes, name: str = "desc") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


@pytest.fixture
def terms(write: Write) -> MeshTerms:
    return MeshTerms.load(write(XML), None)


def names(terms: MeshTerms, text: str) -> list[str]:
    return [heading.name for heading in terms.found_in(text)]


@pytest.mark.parametrize("content", [XML, ASCII, "\ufeff" + XML, "\ufeff\n" + ASCII, ASCII.replace("\n", "\r\n")])
@pytest.mark.parametrize("packed", [False, True])
def test_both_forms_say_the_same(write: Write, content: str, packed: bool):
    raw = content.encode()
    assert tuple(headings_in(write(gzip.compress(raw) if packed else raw))) == HEADINGS


@pytest.mark.parametrize("content", [XML, ASCII])
@pytest.mark.parametrize("cached", [False, True])
def test_a_heading_is_found_by_any_of_its_terms(write: Write, tmp_path: Path, content: str, cached: bool):
    terms = MeshTerms.load(write(content), tmp_path / "cache" if cached else None)
    assert terms.count == 4
    for heading in HEADINGS:
        for each in (heading.name, *heading.entry_terms):
            if "(" not in each:
                assert terms.found_in(f"What of {each}?") == (heading,)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Is type 2 diabetes mellitus common?", [DIABETES.name]),
        ("IS TYPE-2 DIABETES COMMON?", [DIABETES.name]),
        ("adult onset diabetes", [DIABETES.name]),
        ("Diabetes mellitus type 2 and NIDDM", [DIABETES.name]),
        ("old and rare drugs", [BARE.name]),
        ("aspirin in type 2 diabetes", [DIABETES.name, ASPIRIN.name]),
        ("aspirin, AIDS", [ASPIRIN.name, AIDS.name]),
        ("2-(acetyloxy)benzoic acid", [ASPIRIN.name]),
        ("ALL of them", [AIDS.name]),
        ("CARBOCAÏNE of old", [ASPIRIN.name]),
        ("Carbocai\u0308ne of old", [ASPIRIN.name]),
        ("all of them", []),
        ("aspirins and preaspirin and aspirin2", []),
        ("Is it of adult-onset? Diabetes was not asked about.", []),
        ("adult-onset (diabetes)", []),
        ("type 2", []),
        ("", []),
        ("???", []),
    ],
)
def test_a_term_is_found_at_the_bounds_of_words(terms: MeshTerms, text: str, found: list[str]):
    assert names(terms, text) == found


def test_a_word_belongs_to_the_longest_term(write: Write):
    headings = [MeshHeading("Lung"), MeshHeading("Lung Cancer"), MeshHeading("Cancer Pain Relief"), MeshHeading("Pain")]
    terms = MeshTerms.load(write(xml(*map(plain, headings))), None)
    assert names(terms, "lung cancer pain relief") == ["Cancer Pain Relief", "Lung"]
    assert names(terms, "pain, lung cancer, pain") == ["Lung Cancer", "Pain"]


def test_a_term_of_two_headings_names_both(write: Write):
    shared = [MeshHeading("Cold Weather", ("Cold",)), MeshHeading("Common Cold", ("Cold",))]
    assert names(MeshTerms.load(write(xml(*map(plain, shared))), None), "a cold") == ["Cold Weather", "Common Cold"]


def test_a_list_with_commas_is_not_turned_and_numbers_alone_name_nothing(write: Write):
    headings = [MeshHeading("Hormones, Substitutes, and Antagonists", ("12", "C", "Aa, Bb, Cc, Dd, Ee, Ff"))]
    terms = MeshTerms.load(write(xml(*map(plain, headings))), None)
    assert names(terms, "and antagonists substitutes hormones, 12 C, Ff Ee Dd Cc Bb Aa") == []
    assert names(terms, "hormones, substitutes and antagonists") == ["Hormones, Substitutes, and Antagonists"]


def test_a_text_of_many_words_is_looked_through(terms: MeshTerms):
    assert names(terms, "nothing of note " * 5_000 + "aspirin") == ["Aspirin"]


def test_a_second_start_reads_the_cache_and_not_the_file(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, cache = write(XML), tmp_path / "cache"
    with MeshTerms.load(path, cache) as first:
        assert names(first, "NIDDM") == [DIABETES.name]
    monkeypatch.setattr("vericite.corpus.mesh.headings_in", lambda _: pytest.fail("the file is read again"))
    with MeshTerms.load(path, cache) as second:
        assert second.signature == first.signature
        assert second.found_in("NIDDM") == (DIABETES,)
    moved = path.rename(tmp_path / "elsewhere.xml")
    assert names(MeshTerms.load(moved, cache), "NIDDM") == [DIABETES.name]


def test_a_file_that_has_changed_is_read_anew(write: Write, tmp_path: Path):
    cache = tmp_path / "cache"
    before = MeshTerms.load(write(XML), cache)
    path = write(XML.replace("NIDDM", "MDDIN"))
    os.utime(path, ns=(1, 1))
    after = MeshTerms.load(path, cache)
    assert before.signature != after.signature
    assert (names(after, "MDDIN"), names(after, "NIDDM")) == ([DIABETES.name], [])
    assert (names(before, "MDDIN"), names(before, "NIDDM")) == ([], [DIABETES.name])


def test_without_a_usable_cache_terms_are_in_memory(write: Write, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    cache = tmp_path / "mesh.sqlite"
    cache.write_text("no SQLite at all, and long enough to be looked at as a database of pages" * 20)
    with caplog.at_level(logging.WARNING):
        assert names(MeshTerms.load(write(XML), cache), "NIDDM") == [DIABETES.name]
    assert "expected a usable cache of MeSH terms" in caplog.text


def test_a_cache_that_is_emptied_meanwhile_costs_a_second_reading(write: Write, tmp_path: Path):
    import sqlite3
    from contextlib import closing

    cache = tmp_path / "mesh.sqlite"
    terms = MeshTerms.load(write(XML), cache)
    with closing(sqlite3.connect(cache)) as connection:
        connection.execute("DELETE FROM mesh_term")
        connection.commit()
    assert names(terms, "NIDDM") == [DIABETES.name]


def test_the_default_cache_is_the_users(write: Write):
    MeshTerms.load(write(XML)).close()
    assert (Path(os.environ["VERICITE_CACHE"]) / "mesh.sqlite").exists()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "which is empty"),
        (b"\0\1\2\3" * 100, "which is neither"),
        (b"%PDF-1.7", "which is neither"),
        (b"<html><body>Sign in</body></html>", "XML of another kind, <html>"),
        (xml(root="SupplementalRecordSet").encode(), "of supplementary concepts"),
        (xml().encode(), "no descriptor in it"),
        (xml(record("  ")).encode(), "no descriptor in it"),
        (b"*NEWRECORD\nRECTYPE = C\nNM = substance\n", "no descriptor in it"),
        (XML[:900].encode(), "an error in line"),
        (XML.replace("</TermList>", "", 1).encode(), "an error in line"),
        (gzip.compress(XML.encode(), mtime=0)[:-40], "ends too early"),
        (gzip.compress(ASCII.encode(), mtime=0)[:-40], "ends too early"),
        (b"MH = Aspirin\n", "which is neither"),
    ],
)
def test_anything_else_is_refused(write: Write, tmp_path: Path, content: bytes, found: str):
    for cache in (None, tmp_path / "cache", tmp_path / "cache"):
        with pytest.raises(InputError, match="expected") as caught:
            MeshTerms.load(write(content), cache)
        assert found in str(caught.value)


@pytest.mark.parametrize("name", ["absent.xml", "", "a\0b"])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, name: str):
    with pytest.raises(InputError, match="expected MeSH descriptors"):
        MeshTerms.load(tmp_path / name, None)


def test_entities_are_not_expanded_and_nothing_is_fetched(write: Write, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("Hidden Word")
    kind = (
        f'<!DOCTYPE DescriptorRecordSet [<!ENTITY file SYSTEM "{secret.as_uri()}"><!ENTITY a "Great Bomb">'
        '<!ENTITY b "&a;&a;&a;"><!ENTITY % far SYSTEM "https://localhost/far.dtd">%far;]>'
    )
    content = xml(plain(ASPIRIN).replace("Acetylsalicylic Acid", "Some &file;&b;"), front=kind)
    (heading,) = headings_in(write(content))
    assert heading.entry_terms[0] == "Some"


def test_bytes_that_are_no_text_cost_their_letter(write: Write, tmp_path: Path):
    path = write(ASCII.encode().replace("ï".encode(), b"\xef"))
    terms = MeshTerms.load(path, tmp_path / "cache")
    assert terms.found_in("aspirin")[0].entry_terms[-1] == "Carboca\ufffdne of old"


@given(st.text(max_size=80))
def test_no_text_is_too_strange(tmp_path_factory: pytest.TempPathFactory, text: str):
    path = tmp_path_factory.getbasetemp() / "strange.bin"
    path.write_text(ASCII)
    for heading in MeshTerms.load(path, None).found_in(f"{text} NIDDM, {text}"):
        assert heading in HEADINGS
