"""Word documents with comments: the comments are on their sentences, and nothing else has changed."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from vericite.errors import InputError
from vericite.reporting.commented import Remark, with_comments

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_N = f"{{{W}}}"
_TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_TYPES_PART = "[Content_Types].xml"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELS = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
    f'relationships"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    "</Relationships>"
)


def docx(path: Path, body: str, **more: str) -> Path:
    """Write a document; ``more`` has other parts of the folder word, by their name with _ for a dot."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELS)
        archive.writestr(
            "word/document.xml",
            f'<?xml version="1.0" encoding="UTF-8"?>\r\n<w:document xmlns:w="{W}"><w:body>{body}<w:sectPr/></w:body>'
            "</w:document>",
        )
        archive.writestr("word/media/image1.png", bytes(range(256)) * 40, zipfile.ZIP_STORED)
        for name, text in more.items():
            archive.writestr(f"word/{name.replace('_', '.')}", text)
    return path


BODY = (
    '<w:p><w:r w:rsidR="00A1"><w:rPr><w:b/></w:rPr><w:t>Aspirin lowers fever</w:t></w:r>'
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>ADDIN ZOTERO_ITEM</w:instrText></w:r>'
    '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t xml:space="preserve"> [1]</w:t></w:r>'
    '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    "<w:r><w:t>. Age &lt; 5 &amp; rash é𝛽 matter [2]. Nothing here. </w:t><w:tab/><w:t>The end [3].</w:t></w:r></w:p>"
    "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>Zinc prevents colds [4].</w:t></w:r>"
    "</w:ins></w:p>"
)
SENTENCES = (
    "Aspirin lowers fever [1].",
    "Age < 5 & rash é𝛽 matter [2].",
    "The end [3].",
    "Zinc prevents colds [4].",
)


def commented_words(content: bytes) -> dict[str, tuple[str, str]]:
    """Return the words that each comment is on, and what it says."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        body = etree.fromstring(archive.read("word/document.xml"))
        comments = etree.fromstring(archive.read("word/comments.xml"))
    open_: dict[str, list[str]] = {}
    found: dict[str, str] = {}
    for element in body.iter():
        id = element.get(f"{_N}id", "")
        if element.tag == f"{_N}commentRangeStart":
            open_[id] = []
        elif element.tag == f"{_N}commentRangeEnd":
            found[id] = "".join(open_.pop(id))
        elif element.tag == f"{_N}t":
            for words in open_.values():
                words.append(element.text or "")
    assert not open_
    said = {item.get(f"{_N}id", ""): "\n".join(map(_words, item.iter(f"{_N}p"))) for item in comments}
    references = [element.get(f"{_N}id") for element in body.iter(f"{_N}commentReference")]
    assert sorted(found) == sorted(filter(None, references))
    return {id: (words, said[id]) for id, words in found.items()}


def _words(element: etree._Element) -> str:  # pyright: ignore[reportPrivateUsage]
    return "".join(item.text or "" for item in element.iter(f"{_N}t"))


def remarks(*sentences: str) -> list[Remark]:
    return [Remark(sentence, (f"About {sentence}", "more")) for sentence in sentences]


def test_each_comment_is_on_exactly_its_sentence(tmp_path: Path) -> None:
    made = with_comments(docx(tmp_path / "a.docx", BODY), remarks(*SENTENCES))
    assert made.placed == 4 and not made.unplaced
    shown = list(commented_words(made.content).values())
    assert shown == [(sentence, f"About {sentence}\nmore") for sentence in SENTENCES]


def test_nothing_else_in_the_file_has_changed(tmp_path: Path) -> None:
    path = docx(tmp_path / "a.docx", BODY, styles_xml=f'<w:styles xmlns:w="{W}"/>')
    made = with_comments(path, remarks(*SENTENCES))
    before, after = zipfile.ZipFile(path), zipfile.ZipFile(io.BytesIO(made.content))
    added = {"word/comments.xml", "word/_rels/document.xml.rels"}
    assert set(after.namelist()) == set(before.namelist()) | added
    for name in before.namelist():
        if name not in ("word/document.xml", "[Content_Types].xml"):
            assert after.read(name) == before.read(name), name
    old, new = before.read("word/document.xml"), after.read("word/document.xml")
    # Without the comments and the places where a run was split, the bytes of the body are the old ones.
    bare = re.sub(rb"<w:comment(?:RangeStart|RangeEnd) [^>]*/>|<w:r><w:commentReference [^>]*/></w:r>", b"", new)
    bare = re.sub(rb'</w:t></w:r><w:r>(?:<w:rPr><w:b/></w:rPr>)?<w:t xml:space="preserve">', b"", bare)
    for words in (b". Age", b"The end"):
        bare = bare.replace(b'<w:t xml:space="preserve">' + words, b"<w:t>" + words)
    assert bare == old
    types = re.sub(rb'<Override PartName="/word/comments.xml" ContentType="[^"]*"/>', b"", after.read(_TYPES_PART))
    assert types == before.read(_TYPES_PART)


def test_comments_that_are_there_stay(tmp_path: Path) -> None:
    own = f'<w:comments xmlns:w="{W}"><w:comment w:id="7" w:author="A"><w:p/></w:comment></w:comments>'
    path = docx(tmp_path / "a.docx", BODY, comments_xml=own)
    made = with_comments(path, remarks(SENTENCES[1]))
    assert list(commented_words(made.content)) == ["8"]
    with zipfile.ZipFile(io.BytesIO(made.content)) as archive:
        assert archive.read("word/comments.xml").startswith(own.removesuffix("</w:comments>").encode())


def test_comments_in_a_part_of_another_name_stay_and_no_id_is_used_twice(tmp_path: Path) -> None:
    own = f'<w:comments xmlns:w="{W}"><w:comment w:id="7" w:author="A"><w:p/></w:comment></w:comments>'
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{_OFFICE}/comments" Target="comments9.xml"/></Relationships>'
    )
    body = f'<w:p><w:commentRangeStart w:id="11"/><w:commentRangeEnd w:id="11"/></w:p>{BODY}'
    path = docx(tmp_path / "a.docx", body, comments9_xml=own)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("word/_rels/document.xml.rels", relations)
    made = with_comments(path, remarks(SENTENCES[1]))
    with zipfile.ZipFile(io.BytesIO(made.content)) as archive:
        assert "word/comments.xml" not in archive.namelist()
        assert archive.read("word/_rels/document.xml.rels").decode() == relations
        assert re.findall(rb'w:id="(\d+)"', archive.read("word/comments9.xml")) == [b"7", b"12"]


def test_a_mark_that_the_body_prints_in_another_form_does_not_matter(tmp_path: Path) -> None:
    body = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in ("Zinc helps 3 men3. Not so.", "So it is."))
    said = [
        Remark("Zinc helps 3 men^3^.", ("a",), ("Zinc helps 3 men", ".")),
        Remark("So it^4^ is.^5^", ("b",), ("So it", " is.", "")),
    ]
    made = with_comments(docx(tmp_path / "a.docx", body), said)
    assert [words for words, _ in commented_words(made.content).values()] == ["Zinc helps 3 men3.", "So it is."]


def test_a_sentence_that_is_not_in_the_body_is_told(tmp_path: Path) -> None:
    path = docx(tmp_path / "a.docx", BODY)
    made = with_comments(path, remarks("A sentence of a footnote [9]."))
    assert made.placed == 0 and len(made.unplaced) == 1
    with zipfile.ZipFile(io.BytesIO(made.content)) as archive:
        assert archive.namelist() == zipfile.ZipFile(path).namelist()


def test_words_of_a_source_are_no_markup(tmp_path: Path) -> None:
    said = "</w:t><w:t>& \x00 <b>"
    made = with_comments(docx(tmp_path / "a.docx", BODY), [Remark(SENTENCES[0], (said,))])
    assert [text for _, text in commented_words(made.content).values()] == [said.replace("\x00", "�")]


def test_a_text_box_within_a_run(tmp_path: Path) -> None:
    box = "<w:pict><w:txbxContent><w:p><w:r><w:t>In the box [1].</w:t></w:r></w:p></w:txbxContent></w:pict>"
    body = f"<w:p><w:r><w:rPr/>{box}<w:t>Outside of it [2].</w:t></w:r></w:p>"
    made = with_comments(docx(tmp_path / "a.docx", body), remarks("In the box [1].", "Outside of it [2]."))
    assert [words for words, _ in commented_words(made.content).values()] == ["In the box [1].", "Outside of it [2]."]


@pytest.mark.parametrize(
    "start",
    [f'<!DOCTYPE a [<!ENTITY x "y">]><w:document xmlns:w="{W}">', '<w:document xmlns:w="urn:other">', "<w:broken"],
)
def test_a_body_that_cannot_be_changed_safely_is_refused(tmp_path: Path, start: str) -> None:
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("word/document.xml", f"{start}</w:document>")
    with pytest.raises(InputError, match="expected a Word document"):
        with_comments(path, remarks("x"))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.text("ab c.&<é𝛽", min_size=1, max_size=12), min_size=1, max_size=6), st.data())
def test_any_sentence_of_any_runs_is_found_and_the_text_stays(
    tmp_path: Path, runs: list[str], data: st.DataObject
) -> None:
    whole = "".join(runs)
    start = data.draw(st.integers(0, len(whole) - 1))
    sentence = whole[start : data.draw(st.integers(start + 1, len(whole)))]
    escaped = [run.replace("&", "&amp;").replace("<", "&#60;") for run in runs]
    body = "".join(f'<w:r><w:t xml:space="preserve">{run}</w:t></w:r>' for run in escaped)
    made = with_comments(docx(tmp_path / "a.docx", f"<w:p>{body}</w:p>"), remarks(sentence))
    if not sentence.strip():
        assert made.placed == 0
        return
    (words, _), *_ = commented_words(made.content).values()
    assert "".join(words.split()) == "".join(sentence.split())
    with zipfile.ZipFile(io.BytesIO(made.content)) as archive:
        assert _words(etree.fromstring(archive.read("word/document.xml"))) == whole


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("soffice") is None, reason="needs LibreOffice")
def test_libreoffice_opens_it_and_keeps_the_comments(tmp_path: Path) -> None:
    made = with_comments(docx(tmp_path / "a.docx", BODY), remarks(*SENTENCES))
    (tmp_path / "b.docx").write_bytes(made.content)
    for form in ("txt:Text", "odt"):
        subprocess.run(
            ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to", form,
             "--outdir", str(tmp_path), str(tmp_path / "b.docx")],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
    text = (tmp_path / "b.txt").read_text("utf-8-sig")
    assert "Aspirin lowers fever [1]. Age < 5 & rash é𝛽 matter [2]. Nothing here." in text
    with zipfile.ZipFile(tmp_path / "b.odt") as archive:
        content = archive.read("content.xml").decode()
    for sentence in SENTENCES:
        words = sentence.replace("&", "&amp;").replace("<", "&lt;")
        assert f"About {words}" in content
    assert content.count("<office:annotation ") == content.count("<office:annotation-end ") == 4
