from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vericite.corpus import demo_documents
from vericite.errors import InputError, RecordError
from vericite.records import Document, to_json

# Tables


def only(items) -> Document:
    [item] = items
    assert isinstance(item, Document), item
    return item


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_told_by_their_names_and_the_delimiter_by_the_header(read, sign: str, bom: str, end: str):
    names = ["PMID", "Article Title", "Abstract", "Journal", "Publication Year", "DOI", "Author(s)", "Notes"]
    cells = ["90000001", "Walking", "It helps.", "J Inv", "2021", "10.99999/a", '"Doe, Jane; Roe, Al"', "x"]
    document = only(read("a.txt", bom + end.join(sign.join(row) for row in (names, cells)) + end))
    assert (document.id, document.pmid, document.title) == ("90000001", "90000001", "Walking")
    assert (document.text, document.journal, document.year) == ("It helps.", "J Inv", 2021)
    assert (document.doi, document.authors) == ("10.99999/a", ("Doe J", "Roe A"))


@pytest.mark.parametrize(
    ("header", "row", "id", "title"),
    [
        ("id,text", "x1,Words.", "x1", ""),
        ("Key,Title,Abstract Note", "AB12,T,Words.", "AB12", "T"),
        ("title,abstract", "T,Words.", "a:2", "T"),
        ("doi,TITLE,text", "https://doi.org/10.99999/b,T,Words.", "doi:10.99999/b", "T"),
        ("UT,TI,AB,PY", "WOS:1,T,Words.,2020", "WOS:1", "T"),
        ("EID,Title,Abstract,PubMed ID", "2-s2.0,T,Words.,7", "7", "T"),
        ("id,Title,Abstract,PubMed ID", "mine,T,Words.,7", "mine", "T"),
        ("pmid,title,abstract,", "1,T,Words.", "1", "T"),
        ("a,id,text,b", "q,x,Words.,r", "x", ""),
    ],
)
def test_the_id_is_the_best_name_there_is(read, header: str, row: str, id: str, title: str):
    document = only(read("a.csv", f"{header}\n{row}\n"))
    assert (document.id, document.title, document.text) == (id, title, "Words.")


def test_ragged_rows_repeated_ids_and_rows_without_text_cost_only_themselves(read):
    rows = ["id,title,abstract", "1,T,Words.", "2,T", "3,T,Words,more", "", "4,T,", "1,T,Again.", "5,T,Words."]
    items = read("a.csv", "\n".join(rows))
    assert [item.id for item in items if isinstance(item, Document)] == ["1", "5"]
    assert [item.line for item in items if isinstance(item, RecordError)] == [3, 4, 6, 7]


def test_an_unclosed_quote_only_loses_its_row(read):
    rows = ["id,text", "1,Words.", '2,"Never closed.', "3,Words.", '4,"Two\nlines, closed."', "5,Words."]
    items = read("a.csv", "\n".join(rows) + "\n" + "\n".join(f"{n},Words." for n in range(10, 3000)))
    errors = [item for item in items if isinstance(item, RecordError)]
    assert [error.line for error in errors] == [3]
    documents = {item.id: item.text for item in items if isinstance(item, Document)}
    assert (documents["3"], documents["4"]) == ("Words.", "Two lines, closed.")
    assert len(documents) == 4 + 2990


def test_very_long_cells_and_signs_within_cells(read):
    text = "word " * 250_000
    items = read("a.csv", f'id,text\n1,{text}\n2,"A ""quoted"" word, a comma."\n3,A 5" tube.\n')
    assert [len(items[0].text), items[1].text, items[2].text] == [
        len(text) - 1,
        'A "quoted" word, a comma.',
        'A 5" tube.',
    ]


def test_pubmeds_own_table_has_no_abstracts_and_the_error_says_so(read):
    header = "PMID,Title,Authors,Citation,First Author,Journal/Book,Publication Year,Create Date,PMCID,NIHMS ID,DOI"
    with pytest.raises(InputError, match=r"\.nbib"):
        read("csv-set.csv", f"\ufeff{header}\n1,T,Doe J.,J. 2020,Doe J,J,2020,2020/01/01,,,10.1/x\n")


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "only one line", "1.5,2.5\n4.5,5.5\n", '"\n"', "\x00,\x00\n"])
def test_a_table_without_a_column_of_texts_is_refused_with_its_columns(read, content: str):
    with pytest.raises(InputError, match="with the columns"):
        read("a.csv", content)


def test_utf16_as_spreadsheets_save_it_and_bytes_that_are_no_utf8(read):
    assert only(read("a.txt", "id\ttext\n1\tCafé.\n".encode("utf-16"))).text == "Café."
    error, good = read("a.csv", "id,text\n1,Café.\n2,Tea.\n".encode("latin-1"))
    assert isinstance(error, RecordError) and error.line == 2 and "0xe9" in error.problem
    assert good.id == "2"


CELL = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zs", "Zl", "Zp"], exclude_characters="<&"))
ROWS = st.lists(st.tuples(CELL.filter(bool), CELL.filter(bool)), min_size=1, max_size=5, unique_by=lambda row: row[0])


@given(ROWS, st.sampled_from(",;\t|"))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80, deadline=None)
def test_what_a_program_writes_as_csv_is_read_again(read, rows, sign: str):
    file = io.StringIO()
    csv.writer(file, delimiter=sign, quoting=csv.QUOTE_ALL).writerows([("id", "text"), *rows])
    items = read("a.csv", file.getvalue())
    assert [(item.id, item.text) for item in items] == rows


# JSON


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def test_our_own_documents_come_back_as_they_were(read):
    assert read("a.jsonl", "".join(to_json(item) + "\n" for item in demo_documents())) == list(demo_documents())


@pytest.mark.parametrize(
    ("line", "id", "pmid", "title"),
    [
        ({"id": "a", "text": "Words."}, "a", None, ""),
        ({"id": "p23_0", "title": "T", "content": "Words.", "contents": "T. Words.", "PMID": 9}, "p23_0", "9", "T"),
        ({"id": "PMID:9", "title": "T", "content": "Words."}, "PMID:9", "9", "T"),
        ({"id": "In_Harrison_0", "title": "H", "content": "Words.", "contents": "H."}, "In_Harrison_0", None, "H"),
        ({"id": "article-1_2", "title": "Knees -- Why", "content": "Words."}, "article-1_2", None, "Knees -- Why"),
        ({"id": "7_0", "title": "K", "content": "Words.", "contents": "K.", "wiki_id": "7"}, "7_0", None, "K"),
        ({"pmid": 9, "title": "T", "abstract": "Words."}, "9", "9", "T"),
        ({"PMID": "9", "articleTitle": "T", "abstractText": "Words.", "meshMajor": ["Humans"]}, "9", "9", "T"),
        ({"_id": "b7", "title": "T", "text": "Words.", "metadata": {}}, "b7", None, "T"),
        ({"doc_id": 12, "passage": "Words."}, "12", None, ""),
        ({"title": "T", "abstract": ["Words."]}, "a:1", None, "T"),
    ],
)  # fmt: skip
def test_a_line_is_told_by_its_fields(read, line, id: str, pmid: str | None, title: str):
    document = only(read("a.jsonl", lines(line)))
    assert (document.id, document.pmid, document.title, document.text) == (id, pmid, title, "Words.")
    assert read("a.json", json.dumps([line])) == [document]


@pytest.mark.parametrize(
    "line",
    [
        {"id": "a"},
        {"id": "a", "text": ""},
        {"id": "a", "text": "  "},
        {"id": "a", "title": "T", "content": ""},
        {"pmid": 1, "title": "T", "abstract": None},
        {"pmid": 1, "title": "T"},
        {"id": "a", "sections": [{"txt": "x"}]},
        {"id": "", "text": "Words."},
        {"text": 5, "id": "a"},
        {"abstract": {"a": 1}},
        [],
        [1],
        "words",
        5,
        None,
    ],
)
def test_a_line_that_is_no_document_costs_only_itself(read, line):
    *errors, good = read("a.jsonl", lines(line, {"id": "b", "text": "Words."}))
    assert good.id == "b"
    assert all(isinstance(error, RecordError) and error.line == 1 for error in errors)
    assert errors or line == []


def test_a_document_of_ours_may_have_a_title_alone(read):
    # PubMed has such records.
    assert only(read("a.jsonl", lines({"id": "a", "title": "T", "sections": []}))).text == ""


def test_a_list_over_many_lines(read):
    values = [{"id": "a", "text": "One."}, {"id": "b"}, {"id": "a", "text": "Again."}, {"pmid": 1, "abstract": "Two."}]
    items = read("a.json", json.dumps(values, indent=2))
    assert [item.id for item in items if isinstance(item, Document)] == ["a", "1"]
    assert sum(isinstance(item, RecordError) for item in items) == 2
    with pytest.raises(InputError, match="ends early"):
        read("a.json", json.dumps(values, indent=2)[:-3])


def test_markup_in_the_chunks_of_others_is_made_plain(read):
    line = {"id": "a", "title": "<i>E. coli</i>", "content": "p &lt; 0.05 at 10<sup>3</sup>; a<b and c>d; AT&amp;T."}
    document = only(read("a.jsonl", lines(line)))
    assert document.title == "E. coli"
    assert document.text == "p < 0.05 at 10^3; a<b and c>d; AT&T."
    same = only(read("b.jsonl", lines({"id": "a", "text": "p &lt; 0.05"})))
    assert same.text == "p &lt; 0.05", "what is in our own form is taken word for word"
