"""Word documents as a source."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from vericite.corpus.sources import docx as docx_source
from vericite.corpus.sources.registry import documents_in, format_of
from vericite.errors import InputError
from vericite.records import Document

SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STYLES = f"""<w:styles {SPACE}>
<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="Own"><w:name w:val="My own"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>"""


def docx(body: str, styles: str | None = STYLES, **others: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", f"<w:document {SPACE}><w:body>{body}</w:body></w:document>")
        if styles:
            archive.writestr("word/styles.xml", styles)
        for name, text in others.items():
            archive.writestr(name, text)
    return held.getvalue()


def p(text: str, style: str = "", runs: str = "") -> str:
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r>{runs}</w:p>"


def read(tmp_path: Path, content: bytes, name: str = "a.docx") -> Document:
    (tmp_path / name).write_bytes(content)
    assert format_of(tmp_path / name) == "docx"
    [document] = documents_in(tmp_path / name)
    assert isinstance(document, Document)
    return document


def test_headings_in_any_language_are_sections(tmp_path: Path):
    body = (
        p("A trial of zelotrine", "Titel")
        + p("Methods", "berschrift1")
        + p("Eighty adults took part.")
        + p("Details", "Own")
        + p("They were &lt;b&gt;old&lt;/b&gt;.")
        + p("References", "berschrift1")
        + p("Doe J. Another work.")
    )
    document = read(tmp_path, docx(body))
    assert document.title == "A trial of zelotrine"
    assert [(section.label, section.text) for section in document.sections] == [
        ("Methods", "Eighty adults took part."),
        ("Methods > Details", "They were <b>old</b>."),
    ]


def test_changes_numbers_and_tables_are_as_they_are_read(tmp_path: Path):
    raised = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>3</w:t></w:r>'
    deleted = "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>cells.</w:t></w:r></w:ins>"
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    table = f"<w:tbl><w:tr>{cell.format('Pain')}{cell.format('40 of 80')}</w:tr></w:tbl>"
    document = read(tmp_path, docx(p("There were 10", runs=raised + deleted) + table))
    assert document.text == "There were 10^3 cells.\nPain, 40 of 80."


def table(*rows: tuple[str, ...]) -> str:
    """A table whose cells hold these elements."""
    made = ("".join(f"<w:tc>{cell}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in made)}</w:tbl>"


def test_a_table_within_a_table_is_read_once_row_by_row(tmp_path: Path):
    inner = table((p("Pain"), p("40 of 80")), (p("Nausea"), p("9")))
    document = read(tmp_path, docx(table((p("Outer") + inner, p("beside")), (p("Last"),))))
    assert document.text == "Outer, beside.\nPain, 40 of 80.\nNausea, 9.\nLast."


def test_a_row_is_read_once_however_deep_it_stands(tmp_path: Path):
    deep = p("Words stand here.")
    for _ in range(60):
        deep = table((deep,))
    assert read(tmp_path, docx(deep)).text == "Words stand here."


def test_a_text_box_is_read_once_and_behind_its_paragraph(tmp_path: Path):
    boxed = f"<w:txbxContent>{p('Boxed words.')}{table((p('Cell'),))}</w:txbxContent>"
    spaces = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:v"'
    runs = (
        f"<w:r><mc:AlternateContent {spaces}><mc:Choice><v:a>{boxed}</v:a></mc:Choice>"
        f"<mc:Fallback><v:b>{boxed}</v:b></mc:Fallback></mc:AlternateContent></w:r><w:r><w:t> the box.</w:t></w:r>"
    )
    assert (
        read(tmp_path, docx(p("Before", runs=runs) + p("After."))).text
        == "Before the box.\nBoxed words.\nCell.\nAfter."
    )


def test_reading_ends_at_the_most_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(docx_source, "MOST_CHARACTERS", 100)
    (tmp_path / "a.docx").write_bytes(docx(p("Ten words.") * 1000))
    looks: list[int] = []
    with pytest.raises(InputError, match="at most 100 characters"):
        list(documents_in(tmp_path / "a.docx", check_cancelled=lambda: looks.append(1)))
    assert len(looks) < 30


def test_a_document_is_told_by_its_content_whatever_it_is_called(tmp_path: Path):
    assert read(tmp_path, docx(p("Words.")), "a.bin").text == "Words."


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (docx("")[:300], "cannot be unpacked"),
        (docx(""), "an empty document"),
        (docx("<w:p>"), "broken XML"),
        (docx(p("a" * (1 << 26))), "more in"),
        (docx(p("a")).replace(b"word/document.xml", b"word/xocument.xml"), "without word/document.xml"),
    ],
    ids=["cut", "empty", "broken", "bomb", "other"],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, content: bytes, told: str):
    (tmp_path / "a.docx").write_bytes(content)
    with pytest.raises(InputError, match=told):
        list(documents_in(tmp_path / "a.docx"))


def with_entities(declared: str, text: str, external: str = "") -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        root = f"<w:document {SPACE}><w:body>{p(text)}</w:body></w:document>"
        archive.writestr("word/document.xml", f"<!DOCTYPE a {external} [{declared}]>{root}")
    return held.getvalue()


def test_no_entity_is_resolved(tmp_path: Path):
    (tmp_path / "secret").write_text("secret")
    named = f'<!ENTITY z SYSTEM "file://{tmp_path}/secret">'
    assert "secret" not in read(tmp_path, with_entities(named, "Before &z; after.")).text
    bomb = '<!ENTITY e0 "y">' + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
    (tmp_path / "b.docx").write_bytes(with_entities(bomb, "Before &e8; after."))
    with pytest.raises(InputError, match="broken XML"):
        list(documents_in(tmp_path / "b.docx"))


def test_what_follows_an_entity_that_nothing_defines_is_kept(tmp_path: Path):
    found = read(tmp_path, with_entities("", "TNF-&alpha; rose by 3 % &house; and fell again.", 'SYSTEM "unread"'))
    assert found.text == "TNF-α rose by 3 % &house; and fell again."
