"""A PDF with annotations: on the right words, in the right page, and its own bytes unchanged."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from unicodedata import normalize

import pytest

from pdf_files import Page, encrypted, pdf
from vericite.corpus.manuscript.registry import read_manuscript
from vericite.errors import InputError
from vericite.reporting.annotated import with_annotations
from vericite.reporting.commented import Commented, Remark

pytest.importorskip("pypdfium2", reason="needs the extra [documents]")

TYPESET = sorted((Path(__file__).parents[1] / "corpus/manuscript/pdfs").glob("*.pdf"))


def annotations(content: bytes) -> Iterator[tuple[int, str, str]]:
    """Yield the page, the comment and the words under each annotation, as PDFium reads them."""
    import pypdfium2
    import pypdfium2.raw as raw

    document = pypdfium2.PdfDocument(content)
    for number in range(len(document)):
        page = document[number]
        text = page.get_textpage()
        for index in range(raw.FPDFPage_GetAnnotCount(page.raw)):
            annotation = raw.FPDFPage_GetAnnot(page.raw, index)
            assert raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_HIGHLIGHT
            words: list[str] = []
            for row in range(raw.FPDFAnnot_CountAttachmentPoints(annotation)):
                quad = raw.FS_QUADPOINTSF()
                assert raw.FPDFAnnot_GetAttachmentPoints(annotation, row, quad)
                words.append(text.get_text_bounded(quad.x3, quad.y3, quad.x2, quad.y2))
            size = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
            held = ctypes.create_string_buffer(size)
            raw.FPDFAnnot_GetStringValue(annotation, b"Contents", ctypes.cast(held, raw.FPDF_WIDESTRING), size)
            yield number + 1, held.raw[:-2].decode("utf-16-le"), " ".join(" ".join(words).split())
            raw.FPDFPage_CloseAnnot(annotation)
        text.close()
        page.close()


def letters(text: str) -> str:
    """Letters and digits alone: hyphens at the end of a line, accents and raised numbers are read in other forms."""
    plain = normalize("NFKD", text.translate(str.maketrans("Łłøı", "Lloi")))
    return "".join(sign for sign in plain if sign.isascii() and sign.isalnum())


def page_texts(content: bytes) -> list[str]:
    """The text of each page."""
    import pypdfium2

    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(content)]


@pytest.mark.parametrize("path", TYPESET, ids=lambda path: path.stem)
def test_sentences_of_two_columns_and_references_are_marked_to_the_letter(path: Path) -> None:
    manuscript = read_manuscript(path)
    cohorts = [part.split(".")[0] for part in manuscript.text.split("In cohort ")[1:]]
    sentences = [Remark(f"In cohort {words.strip()}", (f"{number}",)) for number, words in enumerate(cohorts)]
    references = [Remark(reference.text, (f"r{reference.key}",)) for reference in manuscript.references]
    made = with_annotations(path, sentences, references)
    assert (made.placed, made.unplaced) == (len(sentences) + len(references), ())
    assert page_texts(made.content) == page_texts(path.read_bytes())
    # A table of objects that is a stream is written again, as PDFium appends one that other readers refuse.
    assert b"startxref" in made.content[-64:] and (b"\nxref" in made.content[-200_000:])
    marked: dict[str, str] = {}
    for _, comment, words in annotations(made.content):
        marked[comment] = marked.get(comment, "") + words
    expected = {remark.lines[0]: remark.sentence for remark in (*sentences, *references)}
    wrong = {key: (marked[key], words) for key, words in expected.items() if letters(marked[key]) != letters(words)}
    assert wrong == {}


FIRST = "Tea helps old sailors (and “others”) to sleep through long nights [1]."
OVER = "Coffee was given to sailors on the second page of this invented paper [2]."


def annotated(folder: Path, content: bytes, *sentences: str, comment: str = "No.") -> Commented:
    (folder / "paper.pdf").write_bytes(content)
    return with_annotations(folder / "paper.pdf", [Remark(words, (comment,)) for words in sentences], [])


def test_a_sentence_over_two_pages_is_marked_on_both(tmp_path: Path) -> None:
    first, second = Page(), Page()
    first.at(60, 780, "Invented Journal", 8)
    end = first.flow(60, 700, 200, f"{FIRST} Coffee was given to sailors on the")
    assert end < 700
    second.at(60, 780, "Invented Journal", 8)
    second.flow(60, 700, 200, "second page of this invented paper [2]. Nothing follows.")
    made = annotated(tmp_path, pdf([first, second]), OVER)
    found = list(annotations(made.content))
    assert [page for page, _, _ in found] == [1, 2]
    assert [words for _, _, words in found] == [
        "Coffee was given to sailors on the",
        "second page of this invented paper [2].",
    ]


def test_lines_that_run_upwards_and_pages_that_are_turned(tmp_path: Path) -> None:
    page = Page(rotate=90)
    for number, words in enumerate(["Tea helps old sailors", "to sleep [1]. Coffee", "does not help them [2]."]):
        page.at(100 + 14 * number, 100, words, turned=True)
    made = annotated(tmp_path, pdf([page]), "Tea helps old sailors to sleep [1].", "Coffee does not help them [2].")
    assert letters("".join(words for *_, words in annotations(made.content))) == letters(
        "Tea helps old sailors to sleep 1 Coffee does not help them 2"
    )


def test_a_comment_of_any_text_comes_back_as_it_was(tmp_path: Path) -> None:
    page = Page()
    page.flow(60, 700, 300, FIRST.replace("“", '"').replace("”", '"'))
    comment = "Not found: “naïve” (\\u0000 \\) << /JS >> </w:p> <script>\n血圧 😀"
    made = annotated(tmp_path, pdf([page]), FIRST.replace("“", '"').replace("”", '"'), comment=comment)
    assert [found for _, found, _ in annotations(made.content)] == [comment]


def test_the_same_sentence_twice_is_marked_twice_and_an_absent_one_is_reported(tmp_path: Path) -> None:
    page = Page()
    page.flow(60, 700, 300, "Tea helps [1]. Coffee does not. Tea helps [1].")
    made = annotated(tmp_path, pdf([page]), "Tea helps [1].", "Tea helps [1].", "Milk harms [3].")
    assert made.placed == 2 and [remark.sentence for remark in made.unplaced] == ["Milk harms [3]."]
    assert [words for *_, words in annotations(made.content)] == ["Tea helps [1]."] * 2


def test_an_encrypted_file_that_opens_without_a_password_stays_encrypted(tmp_path: Path) -> None:
    made = annotated(tmp_path, encrypted(b""), "Secret.")
    assert made.placed == 1 and b"/Encrypt" in made.content
    assert [comment for _, comment, _ in annotations(made.content)] == ["No."]


@pytest.mark.parametrize("content", [b"%PDF-1.7\nnothing", encrypted(b"word"), b"PK\x03\x04"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"paper\.pdf"):
        annotated(tmp_path, content, "Tea helps.")
