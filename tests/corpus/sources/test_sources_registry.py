from __future__ import annotations

import gzip
import json
import os
import re
import time
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vericite.corpus.ingest import collect_sources
from vericite.corpus.pubmed import PubMedRecord, read_pubmed
from vericite.corpus.sources.registry import (
    PMIDS,
    SOURCES,
    DocumentFile,
    SkippedFile,
    documents_in,
    format_of,
    sources_in,
)
from vericite.corpus.sources.rows import pmids_in
from vericite.errors import InputError, RecordError, UnknownNameError
from vericite.records import Document

SAMPLES = {
    "pubmed": "<?xml version='1.0'?>\n<!DOCTYPE PubmedArticleSet PUBLIC 'a' 'b'>\n<PubmedArticleSet><PubmedArticle>"
    "<MedlineCitation><PMID>1</PMID><Article><ArticleTitle>T</ArticleTitle><Abstract><AbstractText>Words."
    "</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>",
    "jats": "<!-- ours --><article><front><article-meta><article-id pub-id-type='pmid'>1</article-id></article-meta>"
    "</front><body><p>Words.</p></body></article>",
    "nbib": "\nPMID- 1\nTI  - T\nAB  - Words.\n",
    "ris": "TY  - JOUR\nTI  - T\nAB  - Words.\nID  - 1\nER  - \n",
    "rdf": "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:z='http://www.zotero.org/namespaces/"
    "export#' xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:dcterms='http://purl.org/dc/terms/'><rdf:Description "
    "rdf:about='#1'><z:itemType>report</z:itemType><dc:title>T</dc:title><dcterms:abstract>Words.</dcterms:abstract>"
    "</rdf:Description></rdf:RDF>",
    "jsonl": '{"id": "1", "text": "Words."}\n',
    "tsv": "id\ttext\n1\tWords.\n",
    "csv": "id,text\n1,Words.\n",
    "markdown": "# T\n\nWords.\n",
    "text": "T\n\nWords.\n",
}


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("format", SAMPLES)
@pytest.mark.parametrize("pack", [lambda raw: raw, gzip.compress], ids=["plain", "packed"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["", "bom"])
def test_every_form_is_told_by_its_beginning_whatever_the_file_is_called(tmp_path: Path, format: str, pack, bom: bytes):
    path = write(tmp_path / "file.txt", pack(bom + SAMPLES[format].encode()))
    told: list[str] = []
    [document] = documents_in(path, on_format=told.append)
    assert isinstance(document, Document)
    assert told == [format_of(path)] == [format]
    assert document.text == "Words."
    assert list(documents_in(path, format)) == [document]


@pytest.mark.parametrize("format", SAMPLES)
def test_the_records_of_a_file_are_counted_before_they_are_read(tmp_path: Path, format: str):
    path = write(tmp_path / "file.txt", SAMPLES[format])
    [source] = collect_sources([path], format=format).sources
    # The first row of a table is a line too.
    assert source.count == (2 if format in ("csv", "tsv") else 1)


@pytest.mark.parametrize("name", ["file.txt.gz", "file.txt", "FILE.TXT.GZ"])
def test_a_packed_file_is_named_without_its_endings(tmp_path: Path, name: str):
    [document] = documents_in(write(tmp_path / name, gzip.compress(b"T\n\nWords.")))
    assert document.id == name.split(".")[0]


@pytest.mark.parametrize("format", SAMPLES)
def test_a_file_that_is_empty_is_refused_with_what_was_expected(tmp_path: Path, format: str):
    for content in (b"", b"\n \n", b"\xef\xbb\xbf", gzip.compress(b"")):
        path = write(tmp_path / "a.txt", content)
        with pytest.raises(InputError, match="which is empty") as caught:
            list(documents_in(path, format))
        assert SOURCES[format].summary in str(caught.value)
        with pytest.raises(InputError, match="which is empty"):
            list(documents_in(path))


def test_what_cannot_be_read_is_refused(tmp_path: Path):
    for path in (tmp_path, tmp_path / "none.txt", Path("a\x00b")):
        for format in ("auto", "jsonl"):
            with pytest.raises(InputError, match="expected a readable file"):
                list(documents_in(path, format))
        if path != tmp_path:
            with pytest.raises(InputError, match="expected a readable file"):
                list(sources_in(path))


def test_an_unknown_format_is_refused_at_once():
    with pytest.raises(UnknownNameError, match="'jsonl'"):
        documents_in(Path("a"), "jsonlines")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.txt", b"PK\x03\x04...", "a ZIP archive"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1", "Office"),
        ("a.bz2", b"BZh91AY&SY", "bzip2"),
        ("a.txt", b"\x00\x01\x02" * 50, "binary"),
        ("a.md", b"\x00\x01\x02" * 50, "binary"),
        ("a.html", b"<!DOCTYPE html><html><body>Words", "'html'"),
        ("a.xml", b"<TaxaSet><Taxon/></TaxaSet>", "'TaxaSet'"),
        ("a.py", b"import os\n", r"'\.py'"),
    ],
)
def test_a_file_of_unknown_format_is_described(tmp_path: Path, name: str, content: bytes, told: str):
    path = write(tmp_path / name, content)
    with pytest.raises(InputError, match=told):
        list(documents_in(path))
    with pytest.raises(InputError, match=told):
        format_of(path)


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv", "ris", "nbib", "pubmed", "jats", "text"])
def test_a_file_that_was_cut_keeps_what_came_before_and_says_so(tmp_path: Path, format: str):
    random = os.urandom(40_000).hex()
    records = {
        "jsonl": [json.dumps({"id": str(n), "text": random[n * 70 : n * 70 + 600]}) + "\n" for n in range(1000)],
        "csv": ["id,text\n", *(f"{n},{random[n * 70 : n * 70 + 600]}\n" for n in range(1000))],
        "tsv": ["id\ttext\n", *(f"{n}\t{random[n * 70 : n * 70 + 600]}\n" for n in range(1000))],
        "ris": [f"TY  - JOUR\nTI  - {random[n * 70 : n * 70 + 600]}\nID  - {n}\nER  - \n" for n in range(1000)],
        "nbib": [f"PMID- {n + 1}\nTI  - {random[n * 70 : n * 70 + 600]}\n\n" for n in range(1000)],
        "pubmed": [
            "<PubmedArticleSet>",
            *(
                f"<PubmedArticle><MedlineCitation><PMID>{n + 1}</PMID><Article><ArticleTitle>"
                f"{random[n * 70 : n * 70 + 600]}</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
                for n in range(1000)
            ),
        ],
        "jats": [
            "<pmc-articleset>",
            *(
                f"<article><front><article-meta><article-id pub-id-type='pmc'>{n + 1}</article-id></article-meta>"
                f"</front><body><p>{random[n * 70 : n * 70 + 600]}</p></body></article>"
                for n in range(1000)
            ),
        ],
        "text": [random],
    }[format]
    packed = gzip.compress("".join(records).encode())
    path = write(tmp_path / "a.gz", packed[: len(packed) // 2])
    if format == "text":
        with pytest.raises(InputError, match="expected a complete file"):
            list(documents_in(path, format))
        return
    *documents, error = documents_in(path, format)
    assert len(documents) > 100
    assert all(isinstance(item, Document) for item in documents)
    assert isinstance(error, RecordError)
    assert "gzip" in str(error)
    with pytest.raises(InputError):
        list(documents_in(write(tmp_path / "b.gz", packed[:12]), format))


def test_a_line_of_a_megabyte_is_read(tmp_path: Path):
    text = "word " * 250_000
    for format in SAMPLES:
        path = write(tmp_path / "a.txt", SAMPLES[format].replace("Words.", text))
        [document] = documents_in(path, format)
        assert len(document.text) == len(text) - (format != "jsonl"), format


def test_a_packed_file_of_one_endless_line_does_not_fill_the_memory(tmp_path: Path):
    path = write(tmp_path / "a.gz", gzip.compress(b'{"id": "' + b" " * (1 << 27), compresslevel=1))
    with pytest.raises(InputError, match="longer"):
        list(documents_in(path, "jsonl"))
    with pytest.raises(InputError, match="longer"):
        list(documents_in(path, "text"))


@given(st.binary(max_size=400), st.sampled_from([*SOURCES, "auto"]), st.sampled_from([None, *SAMPLES]), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
def test_nothing_but_an_input_error_comes_out_of_any_bytes(tmp_path: Path, raw, format, sample, packed: bool):
    # In the midst of a file of some form, for from nothing but chance no form would come.
    whole = SAMPLES[sample].encode()[: len(raw) % 200] + raw + SAMPLES[sample].encode()[10:] if sample else raw
    path = write(tmp_path / "a", gzip.compress(whole)[: len(raw) + 40] if packed else whole)
    try:
        items = list(documents_in(path, format))
    except InputError as error:
        assert "found" in str(error)
        return
    finally:
        try:
            pmids_in(path)
        except InputError:
            pass
    assert items
    for item in items:
        if isinstance(item, Document):
            item.model_dump_json()
            Document.model_validate(item.model_dump())
        else:
            str(item).encode()


# Folders


def test_a_folder_is_its_files_in_order_with_their_forms(tmp_path: Path):
    for name, content in {
        "b/two.md": "# T\n\nWords.",
        "a.csv": SAMPLES["csv"],
        "b/one.txt.gz": gzip.compress(b"T\n\nWords."),
        "b/two.txt": "T\n\nWords.",
        ".hidden.txt": "T\n\nWords.",
        ".git/a.txt": "T\n\nWords.",
        "c/picture.png": b"\x89PNG\r\n\x1a\n\x00\x00",
        "c/list.txt": "1\n2\n",
        "c/empty.txt": "",
    }.items():
        write(tmp_path / name, content)
    os.mkfifo(tmp_path / "pipe.txt")
    found = list(sources_in(tmp_path))
    read = [item for item in found if isinstance(item, DocumentFile)]
    assert [(item.path.relative_to(tmp_path).as_posix(), item.format) for item in read] == [
        ("a.csv", "csv"),
        ("b/one.txt.gz", "text"),
        ("b/two.md", "markdown"),
        ("b/two.txt", "text"),
        ("c/list.txt", PMIDS),
    ]
    assert [item.name.rpartition("-")[0] for item in read] == ["a", "one", "two", "two", "list"]
    assert [str(item) for item in found if isinstance(item, SkippedFile)] == [
        "c/empty.txt: no documents (empty)",
        "c/picture.png: no documents (binary)",
    ]


def test_a_document_without_an_id_is_named_by_its_file_and_no_other_file_gives_that_name(tmp_path: Path):
    files = [f"{folder}/{name}" for folder in ("1/a", "1/b", "2/a", "2/b") for name in ("x.md", "x.txt", "x.txt.gz")]
    for name in files:
        write(tmp_path / name, "T\n\nWords.")
    once, again = ([item.name for item in sources_in(tmp_path)] for _ in range(2))
    assert once == again
    assert len(set(once)) == len(files)
    apart = [item.name for folder in ("1", "2") for item in sources_in(tmp_path / folder)]
    alone = [item.name for name in files for item in sources_in(tmp_path / name)]
    assert once == apart == alone
    write(tmp_path / "1/a/x.rst.txt", "T\n\nWords.")
    assert set(once) < {item.name for item in sources_in(tmp_path)}
    source = next(sources_in(tmp_path))
    [document] = documents_in(source.path, source.format, name=source.name)
    assert document.id == source.name
    assert re.fullmatch(r"x-[0-9a-f]{10}", document.id)


def test_a_text_without_an_ending_is_taken_only_where_it_is_named(tmp_path: Path):
    path = write(tmp_path / "LICENSE", "Permission\n\nis granted.")
    write(tmp_path / "abstracts", SAMPLES["jsonl"])
    passed, taken = sources_in(tmp_path)
    assert str(passed).startswith("LICENSE: no documents (its name has no suffix")
    assert isinstance(taken, DocumentFile) and taken.format == "jsonl"
    assert [item.format for item in sources_in(path)] == ["text"]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path):
    secret = write(tmp_path / "secret.txt", "T\n\nWords.")
    inside = write(tmp_path / "folder/in.txt", "T\n\nWords.")
    (tmp_path / "folder/link.txt").symlink_to(secret)
    (tmp_path / "folder/other.txt").symlink_to(inside)
    (tmp_path / "door").symlink_to(tmp_path / "folder")
    for folder in ("folder", "door"):
        first, out, second = sources_in(tmp_path / folder)
        assert str(out) == "link.txt: no documents (a link that leads out of the folder)"
        assert (
            isinstance(first, DocumentFile)
            and isinstance(second, DocumentFile)
            and first.name[-10:] == second.name[-10:]
        )


def test_a_day_without_updates_of_pubmed_is_no_error_and_what_is_cut_is_one(tmp_path: Path):
    for content in ("<PubmedArticleSet></PubmedArticleSet>", "<?xml version='1.0'?><PubmedArticleSet/>"):
        assert list(documents_in(write(tmp_path / "a.xml", content))) == []
    assert list(documents_in(write(tmp_path / "a.xml", "<PubmedArticleSet>")))


def test_a_file_alone_is_itself_and_a_folder_of_nothing_is_refused(tmp_path: Path):
    path = write(tmp_path / "a.csv", SAMPLES["csv"])
    [source] = sources_in(path)
    assert (source.path, source.format, source.name[:2]) == (path, "csv", "a-")
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="found none in folder"):
        list(sources_in(tmp_path / "none"))


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path):
    reading, writing = os.pipe()
    os.write(writing, SAMPLES["jsonl"].encode())
    os.close(writing)
    with os.fdopen(reading):
        [document] = documents_in(Path(f"/dev/fd/{reading}"))
    assert document.id == "1"


# Lists of PMIDs


@pytest.mark.parametrize(
    ("content", "pmids"),
    [
        ("1\n2\n3\n", ("1", "2", "3")),
        ("1, 2,3", ("1", "2", "3")),
        ("\ufeff00012\r\n12\r\n34", ("12", "34")),
        ("PMID: 1\nPMID:2\npmid 3\n", ("1", "2", "3")),
        ("pmid\n1\n2\n", ("1", "2")),
        ("PMIDs: 1; 2", ("1", "2")),
        ("PMID,Title,Authors,Citation,First Author,Create Date\n7,T,D,C,D,2020\n8,T,D,C,D,2020\n", ("7", "8")),
        ("1 and 2", None),
        ("123456789\n", None),
        ("PMID- 1\nTI  - T\n", None),
        ("id,text\n1,Words.\n", None),
        ("", None),
        ("1.5\n", None),
        (b"\x00\x01", None),
        ("\n".join(map(str, range(1, 40_001))), tuple(map(str, range(1, 40_001)))),
    ],
)
def test_a_list_of_pmids_is_recognised(tmp_path: Path, content, pmids):
    path = write(tmp_path / "list.txt", content)
    assert pmids_in(path) == pmids
    if pmids and "Title" not in content:
        assert format_of(path) == PMIDS
        with pytest.raises(InputError, match="a list of PMIDs"):
            list(documents_in(path))


def test_a_long_list_that_goes_on_as_something_else_is_told_by_the_line(tmp_path: Path):
    content = "\n".join(map(str, range(10_000_000, 10_020_000))) + "\nand some words\n"
    with pytest.raises(RecordError, match="line 20001: expected a PMID; found 'and some words'"):
        pmids_in(write(tmp_path / "list.txt", content))


ROWS = [
    " ",
    "\n",
    "\t",
    "<",
    "&",
    "(",
    "[",
    ":",
    "A",
    "A: ",
    ".",
    '"',
    ",",
    "1 ",
    "- ",
    "PMID- 1\n",
    "TY  - JOUR\n",
    "<p>",
    "{",
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("format", [name for name in SAMPLES if name not in ("markdown", "text")])
def test_a_long_row_of_anything_within_a_record_takes_no_time(tmp_path: Path, format: str, row: str):
    text = row * 20_000
    if format in ("pubmed", "jats", "rdf"):
        text = text.replace("&", "&amp;").replace("<", "&lt;")
    elif format == "jsonl":
        text = json.dumps(text)[1:-1]
    path = write(tmp_path / "a", SAMPLES[format].replace("Words.", f"Words. {text} end"))
    begun = time.perf_counter()
    try:
        assert list(documents_in(path, format))
    finally:
        assert time.perf_counter() - begun < 20


@pytest.mark.parametrize("share", [0.001, *(place / 23 for place in range(1, 23)), 0.9999])
def test_a_cut_packed_file_of_pubmed_keeps_the_records_that_read_pubmed_does(tmp_path: Path, share: float):
    random = os.urandom(100_000).hex()
    articles = "".join(
        f"<PubmedArticle><MedlineCitation><PMID>{n + 1}</PMID><Article><ArticleTitle>{random[n * 400 : n * 400 + 400]}"
        "</ArticleTitle></Article></MedlineCitation></PubmedArticle>\n"
        for n in range(500)
    )
    packed = gzip.compress(f"<PubmedArticleSet>\n{articles}</PubmedArticleSet>".encode())
    path = write(tmp_path / "a.xml.gz", packed[: 40 + int(share * (len(packed) - 40))])
    expected = [item.document for item in read_pubmed(path) if isinstance(item, PubMedRecord)]
    *documents, error = documents_in(path)
    assert documents == expected
    assert len(documents) >= int(share * 500) - 2
    assert isinstance(error, RecordError) and "gzip" in str(error)


@pytest.mark.parametrize("share", [place / 9 for place in range(1, 9)])
@pytest.mark.parametrize("format", ["jsonl", "csv", "ris", "jats"])
def test_a_cut_packed_file_loses_the_record_that_was_cut_and_no_other(tmp_path: Path, format: str, share: float):
    random = os.urandom(60_000).hex()
    begin, end = {
        "jsonl": ('{{"id": "{}", "text": "', '"}\n'),
        "csv": ("{},", "\n"),
        "ris": ("TY  - JOUR\nID  - {}\nTI  - ", "\nER  - \n"),
        "jats": (
            "<article><front><article-meta><article-id pub-id-type='pmid'>{}</article-id></article-meta></front>"
            "<body><p>",
            "</p></body></article>",
        ),
    }[format]
    head = {"csv": "id,text\n", "jats": "<articles>"}.get(format, "")
    records = [f"{begin.format(n + 1)}{random[n * 400 : n * 400 + 400]}{end}" for n in range(300)]
    packed = gzip.compress((head + "".join(records)).encode())
    cut = packed[: int(share * len(packed))]
    there = len(zlib.decompressobj(wbits=31).decompress(cut))
    whole = sum(len(head) + sum(map(len, records[: n + 1])) <= there for n in range(300))
    *documents, error = documents_in(write(tmp_path / "a.gz", cut), format)
    assert [item.id for item in documents] == [str(n + 1) for n in range(whole)]
    assert isinstance(error, RecordError)
