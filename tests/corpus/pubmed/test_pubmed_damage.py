"""A broken record only loses itself and is reported with its place; hostile files do no harm."""

from __future__ import annotations

import gzip
import io
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pubmed_files import TAIL, article, file_of

from vericite.corpus.pubmed import PubMedRecord, read_pubmed
from vericite.errors import InputError, RecordError


def read(data: bytes) -> tuple[list[str], list[RecordError]]:
    items = list(read_pubmed(io.BytesIO(data), name="given.xml"))
    errors = [item for item in items if isinstance(item, RecordError)]
    return [item.pmid for item in items if isinstance(item, PubMedRecord)], errors


def many(count: int) -> list[bytes]:
    # Long enough that the records lie in several blocks.
    return [article(pmid, f"Word {pmid} " * 300) for pmid in range(1, count + 1)]


@pytest.mark.parametrize("place", [0, 70, 149])
@pytest.mark.parametrize(
    ("good", "bad"),
    [
        (b"</AbstractText>", b"</AbstractTxt>"),
        (b"Word", b"W\xffrd"),
        (b"Word", b"W\x01rd"),
        (b"Word", b"a < b"),
        (b"</PubmedArticle>", b""),
        (b"</PubmedArticle>", b"</PubmedArtcle>"),
        (b"<PubmedArticle>", b"<Pubmed Article>"),
    ],
)
def test_only_a_broken_record_is_lost_and_it_is_reported(place, good, bad):
    records = many(150)
    records[place] = records[place].replace(good, bad, 1)
    data = file_of(*records)
    pmids, errors = read(data)
    assert pmids == [str(number) for number in range(1, 151) if number != place + 1]
    assert errors and errors[0].path == "given.xml"
    start = data[: data.index(f">{place + 1}<".encode())].count(b"\n") + 1
    assert start - 4 <= errors[0].line <= start + 4
    assert f"PMID {place + 1}" in str(errors[0])


@pytest.mark.parametrize("place", [0, 149])
@pytest.mark.parametrize("pmid", [b"", b"<PMID>none</PMID>"])
def test_a_record_without_a_pmid_is_an_error_of_its_own_line(place, pmid):
    records = many(150)
    records[place] = records[place].replace(f'<PMID Version="1">{place + 1}</PMID>'.encode(), pmid)
    data = file_of(*records)
    pmids, (error,) = read(data)
    assert len(pmids) == 149 and error.field == "pmid"
    assert error.line == data[: data.index(records[place])].count(b"\n") + 1


@given(cut=st.integers(0, 20_000))
def test_a_truncated_file_yields_every_whole_record_and_one_error(cut):
    records = [article(pmid, "Word " * 40) for pmid in range(1, 41)]
    data = file_of(*records).rstrip()
    short = data[: -1 - cut % (len(data) - 400)]
    pmids, errors = read(short)
    assert len(pmids) == short.count(b"</PubmedArticle>")
    (error,) = errors
    assert "too early" in str(error) and "get the file again" in str(error)
    assert error.line == short.count(b"\n") + 1


def test_a_truncated_gzip_file_says_so_after_its_whole_records():
    packed = gzip.compress(file_of(*many(200)))
    pmids, (error,) = read(packed[: len(packed) // 2])
    assert pmids == [str(number) for number in range(1, len(pmids) + 1)] and len(pmids) > 50
    assert "gzip data ends too early" in str(error) and f"PMID {len(pmids) + 1}" in str(error)


def test_damaged_gzip_data_yields_what_came_before():
    # Not compressed, so that the damage is where it is put.
    packed = bytearray(gzip.compress(file_of(*many(200)), compresslevel=0))
    header = packed.index(b"PubmedArticle>\n", len(packed) // 2)
    packed[header : header + 70_000] = b"\xff" * 70_000
    pmids, errors = read(bytes(packed))
    assert pmids[:50] == [str(number) for number in range(1, 51)]
    assert "gzip data is damaged" in str(errors[-1])


def test_a_wrong_checksum_is_reported_after_all_records():
    packed = bytearray(gzip.compress(file_of(*many(3))))
    packed[-8] ^= 1
    pmids, (error,) = read(bytes(packed))
    assert pmids == ["1", "2", "3"] and "may be wrong" in str(error)


def test_gzip_members_in_a_row_are_one_file():
    data = file_of(*many(150))
    packed = gzip.compress(data[:90_000]) + gzip.compress(data[90_000:]) + b"\0" * 64
    assert read(packed) == ([str(number) for number in range(1, 151)], [])


def test_files_written_one_after_another_lose_nothing():
    assert read(file_of(*many(60)) + file_of(*many(60)))[1] == []


def test_text_between_records_is_reported():
    records = many(150)
    pmids, errors = read(file_of(*records[:100], b"<ERROR>limit reached</ERROR>", *records[100:]))
    assert len(pmids) == 150 and len(errors) == 1 and "limit reached" in str(errors[0])


def test_a_record_in_a_comment_is_ignored():
    assert read(file_of(article(1), b"<!-- " + article(2) + b" -->", article(3))) == (["1", "3"], [])


def test_an_empty_set_has_no_records():
    assert read(file_of()) == ([], [])
    assert read(b"<PubmedArticleSet/>") == ([], [])


class Trickle(io.RawIOBase):
    """A stream that hands out a few bytes at a time, and cannot go back."""

    def __init__(self, data: bytes, fail: bool = False) -> None:
        self.rest, self.fail = data, fail

    def read(self, size: int = -1) -> bytes:
        if self.fail and len(self.rest) < 2000:
            raise OSError("the line is dead")
        part, self.rest = self.rest[:7], self.rest[7:]
        return part


def test_a_stream_may_return_a_few_bytes_at_a_time():
    data = gzip.compress(file_of(article(1), article(2)))
    assert [item.pmid for item in read_pubmed(Trickle(data))] == ["1", "2"]


def test_a_stream_that_dies_yields_what_came():
    items = list(read_pubmed(Trickle(file_of(*many(4)), fail=True)))
    assert [item.pmid for item in items[:-1]] == ["1", "2", "3"] and "the line is dead" in str(items[-1])


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "an empty file"),
        (b"<!DOCTYPE html><html><body>x</body></html>", "a web page"),
        (b'<?xml version="1.0"?>\n<!DOCTYPE eSearchResult PUBLIC "a" "b">\n<eSearchResult/>', "<eSearchResult>"),
        (b'{"error":"API rate limit exceeded"}', "API rate limit exceeded"),
        (b"PMID- 123\nTI  - x", "text format"),
        (b"PK\x03\x04rest", "zip"),
        ("<PubmedArticleSet/>".encode("utf-16"), "UTF-16"),
        (b'<?xml version="1.0" encoding="no-such"?><PubmedArticleSet></PubmedArticleSet>', "no-such"),
        (b"<Unknown/>", "<Unknown>"),
        (b"just words", "just words"),
        (gzip.compress(b"x" * 100, mtime=0)[:12], "gzip data ends too early"),
        (b" " * 100_000, "an empty file"),
    ],
)
def test_other_files_than_pubmed_xml_are_refused_with_what_was_found(data, told):
    with pytest.raises(InputError, match=r"expected .*in given.*; found") as refused:
        list(read_pubmed(io.BytesIO(data), name="given"))
    assert told in str(refused.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path):
    for path in (tmp_path / "none.xml", tmp_path, Path("a\0b")):
        with pytest.raises(InputError, match="expected a readable file"):
            list(read_pubmed(path))
    with pytest.raises(InputError, match="bytes"):
        list(read_pubmed(io.StringIO("<PubmedArticleSet/>")))


def test_entities_are_not_expanded_nor_fetched(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("the secret")
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    kind = f'<!DOCTYPE S [<!ENTITY l0 "lol">{laughs}<!ENTITY s SYSTEM "{secret.as_uri()}">]>'
    # A name of HTML's that the file gives another meaning keeps HTML's.
    record = article(1, "&l11; &s;") + article(2, "&alpha; &beta;")
    data = f'<?xml version="1.0"?>{kind}<PubmedArticleSet>'.encode() + record + TAIL
    tracemalloc.start()
    bomb, harmless = read_pubmed(io.BytesIO(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(bomb, RecordError) and "found &l11;. The record is lost" in str(bomb)
    assert harmless.document.text == "\u03b1 \u03b2" and peak < 5_000_000


def test_a_record_with_an_undefined_entity_is_reported_by_line_and_pmid():
    pmids, errors = read(file_of(article(1), article(2, "a &unknown; risk"), article(3, "x &alpha; &amp; &#181;g")))
    assert pmids == ["1", "3"]
    (error,) = errors
    assert error.line == 8 and "PMID 2: expected entities that XML or HTML defines; found &unknown;" in str(error)


def test_memory_does_not_grow_with_the_file():
    peaks: list[int] = []
    record = article(1, "Word " * 400)
    for count in (500, 4000):
        packed = gzip.compress(file_of(*([record] * count)))
        tracemalloc.start()
        assert sum(1 for _ in read_pubmed(io.BytesIO(packed))) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_a_record_without_end_is_not_kept_in_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("vericite.corpus.pubmed.read.LONGEST", 100_000)
    pmids, errors = read(file_of(article(1), article(2, "Word " * 200_000), article(3)))
    assert pmids == ["1", "3"] and "PMID 2" in str(errors[0])
