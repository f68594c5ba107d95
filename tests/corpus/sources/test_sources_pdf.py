"""PDF as a source: 20 files written here, read in the order of their sentences and with the right pages."""

from __future__ import annotations

import random
import re
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pdf_files import WIDTH, Page, assembled, encrypted, pdf, width
from vericite import check
from vericite.corpus import load_documents
from vericite.corpus.sources import pdf as pdf_source
from vericite.corpus.sources import pdf_lines
from vericite.corpus.sources.registry import documents_in
from vericite.corpus.sources.texts import joined_lines
from vericite.errors import InputError, Problems, RecordError
from vericite.records import Document
from vericite.text.sentences import split_sentences

pytest.importorskip("pypdfium2", reason="needs the extra [documents]")

_WHO = "Adults Children Nurses Runners Farmers Teachers Sailors Bakers Miners Singers Painters Drivers".split()
_DID = (
    "slept longer", "reported less discomfort", "recovered somewhat earlier", "walked farther",
    "needed fewer appointments",
)  # fmt: skip
_WHEN = (
    "within fourteen days", "during the double-blind period", "throughout the following winter", "after randomisation",
)  # fmt: skip
_WHY = (
    "because the preparation was administered regularly", "although adherence remained unsatisfactory",
    "as investigators had anticipated",
)  # fmt: skip


def sentences(first: int, count: int) -> list[str]:
    """Sentences that differ, with long words to cut."""
    return [
        f"{_WHO[n % 12]} of group {n} {_DID[n % 5]} {_WHEN[n % 4]} {_WHY[n % 3]}." for n in range(first, first + count)
    ]


@dataclass
class Made:
    """A file, and the sentences that are in it, each with its page."""

    content: bytes
    sentences: list[tuple[str, int]]


def one_column(
    pages: int = 1, size: float = 10, hyphenate: bool = False, margins: bool = False, rotate: int = 0, indent: float = 0
) -> Made:
    made, said = [], []
    for number in range(1, pages + 1):
        page, y = Page(rotate=rotate), 770.0
        if margins:
            page.at(70, 815, f"Journal of Inventions 2025;{number}:1-9", 8)
            page.at(WIDTH / 2, 28, f"Page {number} of {pages}", 8)
        for start in range(0, 12, 4):
            own = sentences(100 * number + start, 4)
            y = page.flow(70, y, 450, " ".join(own), size, hyphenate, indent) - (0 if indent else 8)
            said += [(sentence, number) for sentence in own]
        made.append(page)
    return Made(pdf(made), said)


def columns(count: int, pages: int = 1, title: bool = False, hyphenate: bool = True, running: bool = False) -> Made:
    made, said = [], []
    gap = 20
    column = (WIDTH - 100 - gap * (count - 1)) / count
    for number in range(1, pages + 1):
        page, top = Page(), 770.0
        if title and number == 1:
            page.at(50, 770, "Zelotrine against chronic discomfort: a randomised trial", 17, "B")
            top = 735
        page.at(50, 812, "Inventions and Findings", 8)
        page.at(WIDTH - 60, 812, str(number), 8)
        for place in range(count):
            own = sentences(100 * number + 12 * place, 9)
            page.flow(50 + place * (column + gap), top, column, " ".join(own), 9, hyphenate)
            said += [(sentence, number) for sentence in own]
        made.append(page)
    return Made(pdf(made), said)


def across_pages() -> Made:
    """A text that goes on from column to column and from page to page, in the middle of sentences and words."""
    own = sentences(0, 70)
    words, pages, said_on = " ".join(own).split(), [Page()], []
    column, y, line, place = 0, 780.0, "", 0
    starts: list[int] = []
    sentence_starts = {sum(len(s.split()) for s in own[:n]): n for n in range(len(own))}
    page_of: dict[int, int] = {}
    for number, word in enumerate(words):
        if width(f"{line} {word}", 10) > 230:
            pages[-1].at(50 + column * 260, y, line, 10)
            line, y = "", y - 12
            if y < 400:
                y, column = 780.0, column + 1
                if column == 2:
                    pages.append(Page())
                    column = 0
        if number in sentence_starts:
            page_of[sentence_starts[number]] = len(pages)
        line = f"{line} {word}".strip()
    pages[-1].at(50 + column * 260, y, line, 10)
    del said_on, place, starts
    return Made(pdf(pages), [(sentence, page_of[n]) for n, sentence in enumerate(own)])


def sections() -> Made:
    page, y, said = Page(), 780.0, []
    page.at(60, y, "A trial of zelotrine", 18, "B")
    y -= 40
    for number, heading in enumerate(("Abstract", "1. Introduction", "2. Methods", "2.1 Participants", "3. Results")):
        page.at(60, y, heading, 12, "B")
        own = sentences(10 * number, 4)
        y = page.flow(60, y - 18, 460, " ".join(own)) - 14
        said += [(sentence, 1) for sentence in own]
    return Made(pdf([page]), said)


def references() -> Made:
    page = Page()
    own = sentences(0, 6)
    y = page.flow(60, 780, 460, " ".join(own))
    page.at(60, y - 20, "References", 12, "B")
    page.flow(60, y - 40, 460, "1. Doe J, Roe A. Zelotrine in rats. J Inv 2011;3:4-9. 2. Poe E. Ravens. Nev More 1845.")
    return Made(pdf([page]), [(sentence, 1) for sentence in own])


def table() -> Made:
    page = Page()
    before, after = sentences(0, 4), sentences(10, 4)
    y = page.flow(60, 780, 460, " ".join(before)) - 10
    page.at(60, y, "Table 1. Outcomes by group.", 9, "B")
    for row, cells in enumerate(
        (("Outcome", "Zelotrine", "Placebo"), ("Pain", "40 of 80", "20 of 80"), ("Nausea", "9", "8"))
    ):
        for place, cell in enumerate(cells):
            page.at(60 + 150 * place, y - 16 - 13 * row, cell, 9)
    page.flow(60, y - 80, 460, " ".join(after))
    return Made(pdf([page]), [(sentence, 1) for sentence in (*before, *after)])


def superscripts() -> Made:
    page = Page()
    page.at(60, 780, "The dose was 10", 10)
    page.at(60 + width("The dose was 10", 10), 784, "-3", 6)
    page.at(60 + width("The dose was 10-3", 10), 780, "molar in water.", 10)
    page.at(60, 760, "Pain fell in most participants.", 10)
    page.at(60 + width("Pain fell in most participants.", 10), 764, "12,13", 6)
    page.at(60, 740, "Nobody had expected this at all.", 10)
    return Made(
        pdf([page]),
        [
            ("The dose was 10^-3 molar in water.", 1),
            ("Pain fell in most participants.", 1),
            ("Nobody had expected this at all.", 1),
        ],
    )


def stamped() -> Made:
    """With the stamp that preprint servers set along the edge."""
    made = Page()
    own = sentences(0, 8)
    made.flow(80, 780, 440, " ".join(own))
    made.at(30, 200, "arXiv:2501.00001v1 [q-bio] 1 Jan 2025", 16, turned=True)
    return Made(pdf([made]), [(sentence, 1) for sentence in own])


def landscape() -> Made:
    page, y = Page(rotate=90), 60.0
    own = sentences(0, 8)
    lines, line = [], ""
    for word in " ".join(own).split():
        if width(f"{line} {word}", 10) > 600:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    for whole in [*lines, line]:
        page.at(y, 80, whole, 10, turned=True)
        y += 13
    return Made(pdf([page]), [(sentence, 1) for sentence in own])


def word_by_word() -> Made:
    """Each word at a place of its own and no space in the file, as some programs write."""
    page, y = Page(), 780.0
    own = sentences(0, 8)
    x = 60.0
    for word in " ".join(own).split():
        if x + width(word, 10) > 520:
            x, y = 60.0, y - 12
        page.at(x, y, word, 10)
        x += width(word, 10) + 2.9
    return Made(pdf([page]), [(sentence, 1) for sentence in own])


def bottom_up() -> Made:
    """Lines in the file from the last to the first."""
    made = one_column()
    page = Page()
    own = [sentence for sentence, _ in made.sentences]
    page.flow(70, 770, 450, " ".join(own))
    page.content.reverse()
    return Made(pdf([page]), made.sentences)


def figure_between() -> Made:
    """A caption between the two halves of a sentence, in two columns."""
    page = Page()
    own = sentences(0, 12)
    words = " ".join(own)
    half = len(words) // 2
    cut = words.index(" ", half)
    y = page.flow(50, 780, 230, words[:cut], 9)
    page.at(50, y - 12, "Figure 1. Flow of the trial.", 8)
    page.flow(310, 780, 230, words[cut:].strip(), 9)
    return Made(pdf([page]), [(sentence, 1) for sentence in own])


def ligatures() -> Made:
    """A font whose ligatures are one character each: U+FB01 through a map of its own."""
    content = b"BT /F 11 Tf 1 0 0 1 60 700 Tm <41> Tj (ndings were con) Tj <41> Tj (rmed in every group.) Tj ET"
    to_unicode = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def 1 begincodespacerange <00> "
        b"<FF> "
        b"endcodespacerange 1 beginbfchar <41> <FB01> endbfchar 1 beginbfrange <42> <7E> <0042> endbfrange "
        b"1 beginbfchar <20> <0020> endbfchar endcmap end end"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R /Resources << /Font << /F 3 0 R >> >> >>",
        b"<< /Length " + str(len(content)).encode() + b" >>\nstream\n" + content + b"\nendstream",
        b"<< /Length " + str(len(to_unicode)).encode() + b" >>\nstream\n" + to_unicode + b"\nendstream",
    ]
    return Made(assembled(objects), [("findings were confirmed in every group.", 1)])


FILES: dict[str, Callable[[], Made]] = {
    "one column": one_column,
    "one column, indented": lambda: one_column(indent=14),
    "one column, hyphens": lambda: one_column(2, hyphenate=True),
    "four pages with heads and feet": lambda: one_column(4, margins=True, hyphenate=True),
    "two columns": lambda: columns(2),
    "two columns, title, three pages": lambda: columns(2, 3, title=True),
    "three columns": lambda: columns(3, 2),
    "across columns and pages": across_pages,
    "sections": sections,
    "references": references,
    "table": table,
    "superscripts": superscripts,
    "stamp at the edge": stamped,
    "landscape": landscape,
    "rotated by the viewer": lambda: one_column(rotate=180),
    "word by word": word_by_word,
    "bottom up": bottom_up,
    "caption within a sentence": figure_between,
    "ligatures": ligatures,
    "small letters": lambda: one_column(2, size=7),
}


def read(tmp_path: Path, content: bytes) -> list[Document | RecordError]:
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    return list(documents_in(path))  # pyright: ignore


def in_order(made: Made, document: Document) -> tuple[int, int]:
    """How many of the sentences are sentences of the document, in their order, and how many have the right page."""
    at = found = paged = 0
    spans = [(document.text[span.slice], span.start) for span in split_sentences(document.text)]
    for sentence, page in made.sentences:
        place = next((n for n in range(at, len(spans)) if spans[n][0] == sentence), None)
        if place is not None:
            at, found = place + 1, found + 1
            paged += document.page_at(spans[place][1]) == page
    return found, paged


@pytest.mark.parametrize("name", FILES)
def test_sentences_come_in_the_order_of_reading_each_with_its_page(tmp_path: Path, name: str):
    made = FILES[name]()
    [document] = read(tmp_path, made.content)
    assert isinstance(document, Document)
    found, paged = in_order(made, document)
    assert found / len(made.sentences) >= 0.98, document.text
    assert paged == found


def test_sections_titles_and_the_words_of_references(tmp_path: Path):
    [document] = read(tmp_path, sections().content)
    assert isinstance(document, Document)
    assert document.title == "A trial of zelotrine"
    labels = [section.label for section in document.sections]
    assert labels == ["Abstract", "Introduction", "Methods", "Methods > Participants", "Results"]
    [document] = read(tmp_path, references().content)
    assert isinstance(document, Document)
    assert "Doe J" not in document.text


def test_text_repeated_on_every_page_is_left_out(tmp_path: Path):
    [document] = read(tmp_path, one_column(4, margins=True).content)
    assert isinstance(document, Document)
    assert "Inventions" not in document.text and not re.search(r"Page \d", document.text)
    [document] = read(tmp_path, stamped().content)
    assert isinstance(document, Document)
    assert "arXiv" not in document.text


def test_words_cut_by_hyphens_are_whole_and_hyphens_stay(tmp_path: Path):
    for made in (columns(2, 2), one_column(2, hyphenate=True)):
        [document] = read(tmp_path, made.content)
        assert isinstance(document, Document)
        assert "double-blind" in document.text
        assert not re.search(r"\w- \w", document.text)


def test_evidence_names_its_page(tmp_path: Path):
    (tmp_path / "a.pdf").write_bytes(one_column(3).content)
    (document,) = load_documents(tmp_path / "a.pdf", Problems())
    said = sentences(308, 1)[0].removesuffix(".")
    checked = check(f"{said} [1].", [document], judge="lexical")
    assert checked.verdicts[0].evidence[0].page == 3
    assert document.page_at(0) == 1 and document.page_at(10**9) == 3
    assert Document.from_text("a", "b").page_at(0) is None


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (pdf([Page(picture=True), Page(picture=True)]), "a scan: 2 pages of images"),
        (pdf([Page()]), "which has none"),
        (encrypted(b"secret"), "expected a PDF without a password"),
        (pdf([Page()])[:200], "expected a readable PDF"),
        (b"%PDF-1.7 nonsense", "expected a readable PDF"),
        (b"%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 1 0 R >> endobj trailer << /Root 1 0 R >>", "PDF"),
    ],
    ids=["scan", "empty", "encrypted", "cut", "nonsense", "circle"],
)
def test_what_cannot_be_read_is_told_for_what_it_is(tmp_path: Path, content: bytes, told: str):
    with pytest.raises(InputError, match=told) as raised:
        read(tmp_path, content)
    assert ".." not in str(raised.value)


def test_of_a_file_with_some_pages_scanned_these_are_named(tmp_path: Path):
    page = Page()
    page.flow(60, 700, 400, " ".join(sentences(0, 5)))
    document, error = read(tmp_path, pdf([Page(picture=True), page, Page(picture=True)]))
    assert isinstance(document, Document) and isinstance(error, RecordError)
    assert "only an image on page 1, 3" in str(error)
    assert document.page_at(0) == 2


def test_a_malicious_file_is_refused_in_bounded_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    began = time.monotonic()
    monkeypatch.setattr(pdf_source, "SECONDS", 2)
    bomb = zlib.compress(b"BT /R 9 Tf 60 700 Td (a) Tj ET " * 4_000_000, 9)
    bomb = zlib.compress(bomb, 9)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R /Resources << /Font << /R 3 0 R >> >> >>",
        b"<< /Length " + str(len(bomb)).encode() + b" /Filter [/FlateDecode /FlateDecode] >>\nstream\n" + bomb
        + b"\nendstream",
    ]  # fmt: skip
    with pytest.raises(InputError):
        read(tmp_path, assembled(objects))
    assert time.monotonic() - began < 24


def test_too_many_pages_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pdf_source, "MOST_PAGES", 3)
    with pytest.raises(InputError, match="4 pages"):
        read(tmp_path, one_column(4).content)
    monkeypatch.setattr(pdf_source, "MOST_PAGES", 10)
    monkeypatch.setattr(pdf_source, "MOST_CHARACTERS", 100)
    with pytest.raises(InputError, match="more than 100 characters"):
        read(tmp_path, one_column(4).content)


def test_texts_in_a_file_are_texts_whatever_they_say(tmp_path: Path):
    page = Page()
    page.flow(
        60, 700, 400, "<script>alert(1)</script> said the patient. \\(nested\\) {{ 7*7 }} were the results of it."
    )
    [document] = read(tmp_path, pdf([page], title="../../etc/passwd"))
    assert isinstance(document, Document)
    assert document.id == "a" and "<script>alert(1)</script>" in document.text


def steps(call: Callable[..., object], *given: object) -> int:
    """How many lines of Python a call runs, turns of loops and calls counted."""
    counted = 0

    def count(*_: object) -> Any:
        nonlocal counted
        counted += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        call(*given)
    finally:
        sys.settrace(before)
    return counted


def scattered(count: int) -> list[tuple[object, ...]]:
    """Pieces all over a page, as a file made to harm has them; the page grows with them."""
    chance = random.Random(1)
    places = [(chance.uniform(0, 3 * count), chance.uniform(0, 3 * count)) for _ in range(count)]
    return [("word", x, x + 22, y, 10, False) for x, y in places]


def test_twice_the_pieces_of_a_page_are_twice_the_work():
    few, many = (steps(pdf_lines.lines_of, scattered(count), 1) for count in (500, 2_000))
    assert many < 7 * few


def test_twice_the_pages_of_a_sentence_without_end_are_twice_the_work():
    def endless(count: int) -> list[list[pdf_lines.Line]]:
        piece = pdf_lines.PdfPiece("and on we went,", 60, 200, 800, 10, False)
        return [[pdf_lines.Line([piece], number)] for number in range(count)]

    few, many = (steps(pdf_source._paragraphs, endless(count)) for count in (100, 400))
    assert many < 7 * few


def test_a_page_of_too_many_pieces_is_named_and_the_others_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pdf_source, "MOST_PIECES", 100)
    full = Page()
    for number in range(101):
        full.at(60 + 100 * (number % 4), 800 - 7 * number, "word")
    page = Page()
    page.flow(60, 700, 400, " ".join(sentences(0, 5)))
    document, error = read(tmp_path, pdf([page, full]))
    assert isinstance(document, Document) and sentences(0, 1)[0] in document.text
    assert re.search("page 2.*more than 100 pieces.*Save its text", str(error))
    with pytest.raises(InputError, match="more than 100 pieces"):
        read(tmp_path, pdf([full]))


def test_reading_ends_when_it_is_cancelled(tmp_path: Path):
    class LeftError(BaseException):
        pass

    def leave() -> None:
        nonlocal looked
        looked += 1
        if looked > 5:
            raise LeftError

    looked = 0
    path = tmp_path / "a.pdf"
    path.write_bytes(one_column(30).content)
    with pytest.raises(LeftError):
        list(documents_in(path, check_cancelled=leave))
    assert looked == 6


def test_the_time_of_a_file_holds_for_its_layout_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    laid: list[int] = []

    def lines(given: object, page: int, is_manuscript: bool) -> list[pdf_lines.Line]:
        laid.append(page)
        monkeypatch.setattr(time, "monotonic", lambda: began + 1e6)
        return []

    began = time.monotonic()
    monkeypatch.setattr(pdf_source, "lines_of", lines)
    with pytest.raises(InputError, match=r"within 120 s.*Split it"):
        read(tmp_path, one_column(30).content)
    assert laid == [1]


def test_a_large_file_is_passed_completely(tmp_path: Path):
    made = one_column()
    [document] = read(tmp_path, made.content + b"\n%" + b"x" * 1_000_000 + b"\n" + made.content[-400:])
    assert isinstance(document, Document) and in_order(made, document)[0] == len(made.sentences)


def test_words_cut_more_than_once_are_whole():
    assert list(joined_lines(["an un-", "for-", "seen in double-", "blind trials"], Counter({"double-blind": 1}))) == [
        "an unforseen in double-blind trials"
    ]
    assert list(joined_lines(["1.", "one", "2. two"], Counter())) == ["1. one", "2. two"]
