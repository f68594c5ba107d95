"""Manuscripts in PDF: printed by LaTeX and a browser, written piece by piece, and hostile."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark_modules import benchmark
from pdf_files import Page, assembled, encrypted, pdf
from vericite.corpus.manuscript.registry import manuscript_kind, read_manuscript
from vericite.corpus.sources import pdf as pdf_source
from vericite.errors import InputError
from vericite.records import Manuscript

pytest.importorskip("pypdfium2", reason="needs the extra [documents]")

bench = benchmark("manuscript_pdfs")
TYPESET = sorted((Path(__file__).parent / "pdfs").glob("*.pdf"))


@pytest.mark.parametrize("path", TYPESET, ids=lambda path: path.stem)
def test_what_latex_and_a_browser_print_in_two_columns_is_read(path: Path):
    found, expected, right, count = bench.scored(path)
    assert len(found & expected) >= 0.97 * len(found)
    assert len(found & expected) >= 0.95 * len(expected)
    assert (count, right) >= (24, 0.95 * 24)


def test_a_typeset_manuscript_has_title_sections_and_pages():
    manuscript = read_manuscript(next(path for path in TYPESET if path.stem == "superscript-2"))
    assert manuscript.title == "Rehabilitation and prevention: an invented review"
    assert "Abstract" in [heading.text for heading in manuscript.headings]
    assert len(manuscript.pages) > 2 and list(manuscript.pages) == sorted(manuscript.pages)
    # The marks of authors are not citations, and running heads and the list of references are not text.
    assert manuscript.citations[0].span.start > manuscript.text.index("Abstract")
    assert "Invented Journal of Trials" not in manuscript.text and "References" not in manuscript.text
    assert not any(heading.text.isupper() for heading in manuscript.headings)


def read(folder: Path, content: bytes) -> Manuscript:
    (folder / "paper.pdf").write_bytes(content)
    return read_manuscript(folder / "paper.pdf")


LISTED = ("1. Smith J. Tea and sleep. BMJ. 2019;3:1-9.", "2. Lee K. Coffee and sleep. Lancet. 2018;4:2-8.")


def small(marks: Callable[[Page], None] = lambda page: None, body: str = "Tea helps [1]. Coffee does not [2].") -> Page:
    page = Page()
    page.at(60, 780, "Introduction", 14, "B")
    page.flow(60, 760, 450, body)
    page.at(60, 300, "References", 14, "B")
    for number, line in enumerate(LISTED):
        page.at(60, 280 - 14 * number, line)
    marks(page)
    return page


def test_a_mark_is_superscript_by_its_size_and_place(tmp_path: Path):
    page = small(body="Tea helps and the weather is often quite good here.")
    page.at(60, 700, "Coffee helps, too.")
    page.at(142, 704, "1,2", 6)
    page.at(60, 680, "The area was 3 m")
    page.at(135, 684, "2", 6)
    page.at(140, 680, "in all.")
    manuscript = read(tmp_path, pdf([page]))
    assert [(manuscript.text[mark.span.slice], mark.keys) for mark in manuscript.citations] == [("¹,²", ("1", "2"))]


def test_line_numbers_are_left_out(tmp_path: Path):
    page = small()
    for number in range(20):
        page.at(30, 740 - 14 * number, str(number + 1), 8)
        page.at(
            60,
            740 - 14 * number,
            (f"and then the nurses counted their cups of tea again on day {'abcdefghij'[number % 10]}"),
        )
    manuscript = read(tmp_path, pdf([page]))
    assert "17" not in manuscript.text and "again on day c and then" in manuscript.text


def test_a_page_that_is_only_an_image_is_named_and_no_list_is_told(tmp_path: Path):
    page = Page()
    page.flow(60, 760, 450, "Tea helps [1]. Nothing else is known about it, as far as we know.")
    manuscript = read(tmp_path, pdf([page, Page(picture=True)]))
    assert any("image on page 2" in note for note in manuscript.notes)
    assert any("list of references" in note for note in manuscript.notes)
    # It cites what is not listed.
    assert [mark.keys for mark in manuscript.citations] == [("1",)]


# Hostile files: each is refused with its reason, or read without what is hostile.


def changed(old: bytes, new: bytes) -> bytes:
    content = pdf([small()], filter=False)
    assert old in content
    return content.replace(old, new)


def with_catalog(entry: str, *more: str) -> bytes:
    """A sound file whose catalog has one more entry, and objects after those of the file."""
    content = pdf([small()], filter=False)
    objects = [part.split(b" obj\n", 1)[1] for part in content.split(b"\nendobj\n")[:-1]]
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {entry.replace('NEXT', str(len(objects) + 1))} >>".encode()
    return assembled([*objects, *(text.encode() for text in more)])


def nested(depth: int) -> bytes:
    bomb = b"BT /R 9 Tf 60 700 Td (a) Tj ET " * 2_000_000
    for _ in range(depth):
        bomb = zlib.compress(bomb, 9)
    filters = " ".join(["/FlateDecode"] * depth)
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R "
            b"/Resources << /Font << /R 3 0 R >> >> >>",
            f"<< /Length {len(bomb)} /Filter [{filters}] >>\nstream\n".encode() + bomb + b"\nendstream",
        ]
    )


REFUSED = {
    "encrypted": (lambda: encrypted(b"secret"), "without a password"),
    "a scan": (lambda: pdf([Page(picture=True)] * 3), "a scan: 3 pages"),
    "no text": (lambda: pdf([Page()]), "which has none"),
    "cut after 200 bytes": (lambda: pdf([small()])[:200], "readable PDF"),
    "only a header": (lambda: b"%PDF-1.7\n", "readable PDF"),
    "noise": (lambda: b"%PDF-1.7\n" + bytes(range(256)) * 40, "readable PDF"),
    "a catalog that is its own pages": (
        lambda: b"%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 1 0 R >> endobj trailer << /Root 1 0 R >>",
        "PDF",
    ),
    "no catalog": (lambda: changed(b"/Root 1 0 R", b"/Root 9 0 R"), "PDF"),
    "more pages than the limit": (lambda: pdf([small()] * 7), "at most 5 pages"),
    "a count of a million pages": (lambda: changed(b"/Count 1", b"/Count 1000000"), "at most 5 pages"),
    "a bomb packed twice": (lambda: nested(2), "PDF"),
    "a bomb packed three times": (lambda: nested(3), "PDF"),
}
READ = {
    "broken offsets": lambda: changed(b"startxref\n", b"startxref\n9"),
    "a script that runs on opening": lambda: with_catalog("/OpenAction << /S /JavaScript /JS (app.alert(1)) >>"),
    "a program that runs on opening": lambda: with_catalog("/OpenAction << /S /Launch /F (/bin/sh) >>"),
    "an address to open": lambda: with_catalog("/OpenAction << /S /URI /URI (http://127.0.0.1:9/x) >>"),
    "a form that sends itself": lambda: with_catalog(
        "/AcroForm << /Fields [] /XFA (x) >> /AA << /WC << /S /SubmitForm /F (http://127.0.0.1:9/) >> >>"
    ),
    "an embedded file": lambda: with_catalog(
        "/Names << /EmbeddedFiles << /Names [(a.exe) NEXT 0 R] >> >>", "<< /Type /Filespec /F (a.exe) >>"
    ),
    "another file to go to": lambda: with_catalog("/OpenAction << /S /GoToR /F (/etc/passwd) /D [0 /Fit] >>"),
    "outlines in a circle": lambda: with_catalog(
        "/Outlines NEXT 0 R", "<< /Type /Outlines /First 8 0 R /Last 8 0 R /Next 8 0 R /Prev 8 0 R >>"
    ),
    "bytes in front and behind": lambda: pdf([small()]) + b"\nMZ\x90" * 1000,
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_file_is_refused_with_its_reason(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pdf_source, "SECONDS", 3)
    monkeypatch.setattr(pdf_source, "MOST_PAGES", 5)
    make, told = REFUSED[name]
    began = time.monotonic()
    with pytest.raises(InputError, match=told):
        read(tmp_path, make())
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("name", READ)
def test_what_a_hostile_file_asks_for_is_not_followed(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    """Sockets are blocked in tests; the text is read, and nothing of the rest is."""
    monkeypatch.setattr(pdf_source, "SECONDS", 30)
    (tmp_path / "paper.pdf").write_bytes(READ[name]())
    assert manuscript_kind(tmp_path / "paper.pdf") == "pdf"
    manuscript = read_manuscript(tmp_path / "paper.pdf")
    assert [mark.keys for mark in manuscript.citations] == [("1",), ("2",)]
    assert [reference.title for reference in manuscript.references] == ["Tea and sleep", "Coffee and sleep"]
    assert "alert" not in manuscript.text and "passwd" not in manuscript.text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["paper.pdf"]
