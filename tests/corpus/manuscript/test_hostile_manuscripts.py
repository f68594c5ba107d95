"""Files that are made to do harm: each is told, or read without following it, in little time and memory."""

from __future__ import annotations

import gzip
import io
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manuscript_files import SPACES, char, complex_field, docx, paragraph, run
from vericite.corpus.manuscript.registry import read_manuscript
from vericite.corpus.sources import docx as word
from vericite.errors import InputError

BODY = paragraph(run("Zelotrine helped adults."))


def archive(**parts: bytes | str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in parts.items():
            packed.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return held.getvalue()


def nested_table(depth: int) -> str:
    return "<w:tbl><w:tr><w:tc>" * depth + BODY + "</w:tc></w:tr></w:tbl>" * depth


def encrypted() -> bytes:
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2000 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 500


def locked_zip() -> bytes:
    # The flag of encryption, in both headers.
    content = bytearray(docx(BODY))
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = 0
        while (start := content.find(magic, start)) >= 0:
            content[start + at] |= 1
            start += 4
    return bytes(content)


ENTITIES = (
    '<!DOCTYPE w:document [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;'
    '&b;&b;&b;&b;&b;&b;"><!ENTITY x SYSTEM "file:///etc/passwd">]>'
)
EXTERNAL = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://x/attachedTemplate" Target="http://127.0.0.1:9/t.dotm" TargetMode="External"/></Relationships>'
)
REFUSED = {
    "bomb of one part.docx": (lambda: archive(word__document_xml=b" " * ((1 << 26) + 5)), "bytes of text"),
    "bomb in the notes.docx": (lambda: docx(BODY, word__footnotes_xml=" " * ((1 << 26) + 5)), "bytes of text"),
    "deep tables.docx": (lambda: docx(nested_table(2000)), "broken XML"),
    "deep fields.docx": (lambda: docx(paragraph(char("begin") * 20_000)), "at most 50 nested fields"),
    "locked.docx": (encrypted, "password"),
    "locked zip.docx": (locked_zip, "cannot be unpacked"),
    "cut off.docx": (lambda: docx(BODY)[:-40], "cannot be unpacked"),
    "no body.docx": (lambda: archive(word__other_xml="<a/>"), "without word/document.xml"),
    "not XML.docx": (lambda: archive(word__document_xml="<w:p>"), "broken XML"),
    "too long.txt": (lambda: b"word " * 2_100_000, "at most 10,000,000 characters"),
    "bomb.txt": (lambda: gzip.compress(b"word " * (1 << 25)), "bytes"),
    "deep.html": (lambda: b"<html><body>" + b"<div>" * 50_000 + b"word", "nested"),
    "deep.tex": (lambda: b"\\section{" * 5_000, "nested"),
    "many includes.tex": (lambda: b"\\input{other}" * 200, "included files"),
    "bytes.md": (lambda: b"# A\n\n\xff\xfeword", "UTF-8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_what_was_expected(tmp_path: Path, name: str):
    make, said = REFUSED[name]
    (tmp_path / "other.tex").write_text("word")
    (tmp_path / name).write_bytes(make())
    start = time.process_time()  # of a loaded machine, the clock says little
    with pytest.raises(InputError, match="expected") as caught:
        read_manuscript(tmp_path / name)
    assert said in str(caught.value)
    assert time.process_time() - start < 15


READ = {
    "entities.docx": (
        lambda: archive(
            word__document_xml=f"{ENTITIES}<w:document {SPACES}><w:body>{BODY}<w:p><w:r><w:t>&x;&c;</w:t>"
            "</w:r></w:p></w:body></w:document>"
        ),
        "",
    ),
    "macros.docm": (lambda: docx(BODY, word__vbaProject__bin="x", **{"word__vbaProject.bin": "x"}), "macros were not"),
    "template.docx": (lambda: docx(BODY, **{"word/_rels/document.xml.rels": EXTERNAL}), "1 link to another file"),
    "not JSON.docx": (
        lambda: docx(BODY + paragraph(complex_field(" ADDIN CSL_CITATION {" + "[" * 100_000, run("[1]")))),
        "not JSON",
    ),
    "entities of EndNote.docx": (
        lambda: docx(
            BODY
            + paragraph(
                complex_field(
                    ' ADDIN EN.CITE <!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><EndNote><Cite><RecNum>&x;</RecNum></Cite>'
                    "</EndNote>",
                    run("[1]"),
                )
            )
        ),
        "",
    ),
    "commands.tex": (
        lambda: (
            b"\\documentclass{x}\\write18{touch harmed}\\begin{document}Zelotrine helped adults.\\directlua{os.exit()}"
            b"\\input{|touch harmed}\\end{document}"
        ),
        "were not followed",
    ),
    "loop.tex": (lambda: b"Zelotrine helped adults.\\input{loop.tex}\\input{loop}", "includes itself"),
    "open.tex": (lambda: b"Zelotrine helped adults. " + b"\\begin{comment}\\cite{" * 20_000, ""),
    "links.html": (
        lambda: (
            b"<html><body><p>Zelotrine helped adults.</p><img src='http://127.0.0.1:9/x'><iframe src='file:///etc/passwd'>"
            b"</iframe></body></html>"
        ),
        "embedded files were not read",
    ),
    "brackets.md": (lambda: b"Zelotrine helped adults. " + b"[" * 50_000 + b"@a" + b"^[" * 20_000, ""),
    "bibliography.md": (
        lambda: b"---\nbibliography: /etc/passwd\n---\nZelotrine helped adults [@a1].\n",
        "another folder",
    ),
}


@pytest.mark.parametrize("name", READ)
def test_read_without_following_it(tmp_path: Path, name: str):
    make, said = READ[name]
    (tmp_path / name).write_bytes(make())
    start = time.process_time()  # of a loaded machine, the clock says little
    manuscript = read_manuscript(tmp_path / name)
    assert "Zelotrine helped adults" in manuscript.text
    assert "root:" not in str(manuscript) and "aaaaaaaaaaaaaaa" not in manuscript.text
    assert said in "; ".join(manuscript.notes)
    assert not (tmp_path / "harmed").exists() and not Path("harmed").exists()
    assert time.process_time() - start < 15


def test_a_document_of_5000_pages_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = paragraph(run("Zelotrine helped adults. " * 40))
    (tmp_path / "long.docx").write_bytes(docx(page * 5_000))
    assert len(read_manuscript(tmp_path / "long.docx").text) > 4_900_000
    monkeypatch.setattr(word, "_MOST", 1 << 20)
    with pytest.raises(InputError, match="at most 1,048,576 bytes"):
        read_manuscript(tmp_path / "long.docx")


PIECES = {
    "a.tex": (
        "\\cite{a}|{|}|\\section{|$|%|\\begin{x}|\\end{x}|\\|\\bibitem{a}|\\footnote{|[|]|\\input{|\n\n|~|^|word |"
        "\\citet*[x][y]{a,b}|\\begin{thebibliography}|\\newcommand{\\x}{y}|\\x|\\href{a}{b}"
    ),
    "a.md": (
        "[@a1]|[^1]|[^1]: Doe J. A 2020 work of ours. |[|](https://doi.org/10.1/x)|`|```\n|\n\n|# |^[|word |@b2|<!--|"
        "---\n|1. |## References\n|\\|*"
    ),
    "a.html": (
        "<p>|</p>|<a href='#r1'>1</a>|<li id='r1'>|<ol>|<h2>References</h2>|<sup>1,2</sup>|word |<td>|&amp;|<|<!--|"
        "<div id='refs'>|<span data-cites='a b'>x</span>|</ol>|<script>"
    ),
    "a.txt": (
        "Doe 2020|(Doe et al., 2020)|[1]|\n|References\n|1. Doe J. Made work. J. 2020;1:2-3.\n|word |\n\n|"
        "https://doi.org/10.1/x |("
    ),
}


@pytest.mark.parametrize("name", PIECES)
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_text_is_read_or_refused(tmp_path: Path, name: str, data: st.DataObject):
    text = "".join(data.draw(st.lists(st.sampled_from(PIECES[name].split("|")), min_size=1, max_size=40)))
    (tmp_path / name).write_text(text)
    try:
        manuscript = read_manuscript(tmp_path / name)
    except InputError:
        return
    assert all(manuscript.text[mark.span.slice].strip() for mark in manuscript.citations)
    assert not any("\uf8e0" <= sign <= "\uf8f1" for sign in manuscript.text)
