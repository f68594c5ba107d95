"""Files of every kind: tables, packed ones, the standard input; which format a file has; how long things may be."""

from __future__ import annotations

import gzip
import io
import json
import sys
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vericite.errors import InputError, MissingExtraError, Problems, RecordError, UnknownNameError
from vericite.formats import answers_in, tables
from vericite.formats.registry import read_questions
from vericite.formats.tables import Columns
from vericite.records import Answer, number_lines

ROW = {"user_input": "Q?", "response": "LDL falls [2]. It stays.", "retrieved_contexts": ["One.", "It's two."]}


def read(path: Path, format: str = "auto") -> list[Answer | RecordError]:
    return list(answers_in(path, format))


def texts(answer: Answer | RecordError) -> list[str]:
    assert isinstance(answer, Answer), answer
    return [document.text for document in answer.documents]


def errors(found: list[Answer | RecordError]) -> list[str]:
    return [str(item) for item in found if isinstance(item, RecordError)]


# tables


@pytest.mark.parametrize(
    "cell",
    [
        '["One.", "It\'s two."]',  # JSON
        "['One.', \"It's two.\"]",  # pandas
        "['One.' \"It's two.\"]",  # NumPy
        "['One.'\n \"It's two.\"]",
    ],
)
@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".csv", ";"), (".tsv", "\t")])
def test_a_list_in_a_cell_is_read_as_its_writer_wrote_it(tmp_path: Path, cell: str, suffix: str, delimiter: str):
    path = tmp_path / f"answers{suffix}"
    quoted = '"' + cell.replace('"', '""') + '"'
    row = delimiter.join(["Q?", '"LDL falls [2]. It stays."', quoted])
    path.write_text(delimiter.join(ROW) + "\n" + row + "\n")
    [answer] = read(path)
    assert texts(answer) == ROW["retrieved_contexts"]
    assert isinstance(answer, Answer) and answer.question == "Q?"


def test_columns_are_named_by_the_user(tmp_path: Path):
    path = tmp_path / "answers.csv"
    path.write_text('nr,reply,one,two\n7,"LDL falls [2].",First.,"Second, [quoted]."\n8,It stays [1].,Only.,\n')
    found = read(path, "id=nr,answer=reply,contexts=one,contexts=two")
    assert [texts(answer) for answer in found] == [["First.", "Second, [quoted]."], ["Only."]]
    assert [answer.id for answer in found if isinstance(answer, Answer)] == ["7", "8"]


def test_fields_of_json_lines_are_named_likewise(tmp_path: Path):
    path = tmp_path / "answers.jsonl"
    lines = [{"prediction": "LDL falls [1].", "passages": ["One."]}, {"other": 1}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    answer, error = read(path, "answer=prediction,contexts=passages")
    assert texts(answer) == ["One."]
    assert "line 2: expected a field 'prediction'; found 'other'" in str(error)


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("answer", "expected a format out of"),
        ("reply=answer", "content of a column"),
        ("answer=a,answer=b", "expected one column"),
        ("=x", "expected columns such as"),
        ("answer=nowhere", "expected a column 'nowhere'; found 'a'"),
    ],
)
def test_invalid_columns_are_refused(tmp_path: Path, columns: str, problem: str):
    path = tmp_path / "answers.csv"
    path.write_text("a\nb\n")
    with pytest.raises((InputError, UnknownNameError), match=problem):
        read(path, columns)


def test_only_a_bad_row_is_lost(tmp_path: Path):
    path = tmp_path / "answers.csv"
    rows = [b"answer,contexts", b"LDL falls [1].,One.", b"caf\x81 [1],One.", b"a,b,c", b"", b"It stays [1].,Two."]
    path.write_bytes(b"\r\n".join(rows))
    found = read(path)
    assert [isinstance(item, Answer) for item in found] == [True, False, False, True]
    assert "line 3: expected UTF-8; found byte 0x81" in errors(found)[0]
    assert "line 4: expected 2 cells, as in the first row; found 3" in errors(found)[1]


def test_a_spreadsheets_code_page_is_guessed_with_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    path = tmp_path / "answers.csv"
    rows = "answer;contexts\nCaf\u00e9 \u2013 LDL falls [1].;One.\n\u201cNo\u201d [1].;Two.\n"
    path.write_bytes(rows.encode("cp1252") + "\u00c3\u00a9 [1].;Three.\n".encode())
    first, second, third = (item for item in read(path) if isinstance(item, Answer))
    assert (first.text, second.text) == ("Caf\u00e9 \u2013 LDL falls [1].", "\u201cNo\u201d [1].")
    assert third.text == "\u00c3\u00a9 [1]."  # Valid UTF-8 is never read otherwise.
    (told,) = caplog.messages
    assert told.endswith("line 2: expected UTF-8; found other bytes, read as cp1252 (a guess)")


def test_a_damaged_row_of_a_table_in_utf_8_is_not_guessed_at(tmp_path: Path):
    path = tmp_path / "answers.csv"
    path.write_bytes("answer,contexts\nCaf\u00e9 [1].,One.\n".encode() + b"caf\xe9 [1].,Two.\nIt stays [1].,Three.\n")
    found = read(path)
    assert [isinstance(item, Answer) for item in found] == [True, False, True]
    assert "line 3: expected UTF-8; found byte 0xe9" in errors(found)[0]


def test_a_spreadsheets_utf_16_is_read(tmp_path: Path):
    path = tmp_path / "answers.csv"
    path.write_text("answer\tcontexts\nCaf\u00e9 [1].\tOne.\n", encoding="utf-16")
    [answer] = read(path)
    assert texts(answer) == ["One."] and isinstance(answer, Answer) and answer.text == "Caf\u00e9 [1]."


def test_an_excel_workbook(tmp_path: Path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["id", "answer", "contexts"], [7, "LDL falls [1].", "One."], [None, None, None], [8.0, None, "x"]):
        book.active.append(row)
    path = tmp_path / "answers.xlsx"
    book.save(path)
    answer, error = read(path)
    assert texts(answer) == ["One."] and isinstance(answer, Answer) and answer.id == "7"
    assert isinstance(error, RecordError) and error.line == 4
    (tmp_path / "packed.xlsx.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read(tmp_path / "packed.xlsx.gz")[0] == answer
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="expected an Excel workbook"):
        read(path)


def packed_workbook(path: Path, rows: bytes, times: int) -> None:
    """A workbook whose one sheet has these rows, packed, as often as is said."""
    openpyxl = pytest.importorskip("openpyxl")
    book = io.BytesIO()
    openpyxl.Workbook().save(book)
    head = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    with zipfile.ZipFile(book) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name in source.namelist():
            if name != "xl/worksheets/sheet1.xml":
                made.writestr(name, source.read(name))
                continue
            with made.open(name, "w", force_zip64=True) as sheet:
                sheet.write(head)
                for _ in range(times):
                    sheet.write(rows)
                sheet.write(b"</sheetData></worksheet>")


def test_a_small_workbook_that_unpacks_to_very_much_is_refused_before_it_is_unpacked(tmp_path: Path):
    path = tmp_path / "a.xlsx"
    packed_workbook(path, b'<row><c t="inlineStr"><is><t>a</t></is></c></row>' * 20_000, 600)
    assert path.stat().st_size < 3_000_000
    began = time.perf_counter()
    with pytest.raises(
        InputError, match=r"workbook of at most 268,435,456 unpacked bytes; found .* Save the sheet as CSV"
    ):
        read(path)
    assert time.perf_counter() - began < 5


def test_a_workbook_of_too_many_cells_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables, "MOST_CELLS", 100)
    path = tmp_path / "a.xlsx"
    packed_workbook(path, b'<row><c t="inlineStr"><is><t>answer</t></is></c></row>', 101)
    with pytest.raises(InputError, match="a sheet of at most 100 cells; found more"):
        read(path)


def test_a_parquet_file(tmp_path: Path):
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "answers.parquet"
    parquet.write_table(arrow.Table.from_pylist([ROW, {**ROW, "response": None}]), path)
    answer, error = read(path)
    assert texts(answer) == ROW["retrieved_contexts"]
    assert isinstance(error, RecordError) and error.line == 2
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match="expected a Parquet file"):
        read(path)


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet"])
def test_a_table_without_its_package_gives_the_install_line(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    for module in ("openpyxl", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(MissingExtraError, match=r"pip install 'vericite\[tables\]'"):
        read(tmp_path / name)


@given(st.binary(max_size=300) | st.text(alphabet="a,;\"\n[]'").map(str.encode))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
def test_any_bytes_are_a_table_or_an_error(tmp_path: Path, data: bytes):
    path = tmp_path / "any.csv"
    path.write_bytes(b"answer,contexts\n" + data)
    assert all(isinstance(item, Answer | RecordError) for item in read(path, "ragas"))


def test_columns_keep_other_fields():
    columns = Columns.of("answer=reply, context_ids=ids")
    fields = columns.renamed({"reply": "x", "ids": [1], "answer": "old", "contexts": ["One."]})
    assert fields == {"answer": "x", "retrieved_context_ids": [1], "contexts": ["One."]}


@pytest.mark.parametrize(
    "whole",
    [
        {name: {"0": value, "1": value} for name, value in ROW.items()},  # pandas
        {name: [value, value] for name, value in ROW.items()},  # datasets
    ],
)
def test_a_table_by_columns_in_json(tmp_path: Path, whole: object):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(whole))
    found = read(path)
    assert [texts(answer) for answer in found] == [ROW["retrieved_contexts"]] * 2


def test_columns_of_unequal_length_are_an_error(tmp_path: Path):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"question": ["a", "b"], "answer": ["It helps.", "It hurts."], "contexts": [["One."]]}))
    (problem,) = read(path)
    assert isinstance(problem, RecordError)
    assert "columns of equal length; found 2 in 'question', 2 in 'answer', 1 in 'contexts'" in str(problem)


def test_a_plain_text_in_a_column_of_documents_is_one_document(tmp_path: Path):
    (tmp_path / "a.csv").write_text("ID,Answer,DOCUMENTS\nx,LDL falls [1].,One.\n")
    (answer,) = read(tmp_path / "a.csv")
    assert texts(answer) == ["One."]


# packed files and the standard input


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.md"])
def test_a_packed_file_is_unpacked(tmp_path: Path, name: str):
    text = {
        "a.jsonl": json.dumps(ROW) + "\n",
        "a.csv": "answer,contexts\nLDL falls [2]. It stays.,One.\n",
        "a.md": "LDL falls [1].",
    }[name]
    (tmp_path / name).write_text(text)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert read(tmp_path / f"{name}.gz") == read(tmp_path / name)


def test_a_packed_file_that_breaks_off_keeps_what_came_before(tmp_path: Path):
    import random

    noise = "".join(random.Random(1).choices("abcdefghij", k=200_000))
    packed = gzip.compress((json.dumps(ROW) + "\n" + json.dumps({**ROW, "x": noise}) + "\n").encode())
    (tmp_path / "a.jsonl.gz").write_bytes(packed[:-2000])
    first, second = number_lines(tmp_path / "a.jsonl.gz")
    assert not isinstance(first, RecordError)
    assert "line 2: expected a whole gzip file" in str(second)
    (tmp_path / "b.jsonl.gz").write_bytes(b"\x1f\x8bnothing")
    assert "expected a" in str(next(iter(number_lines(tmp_path / "b.jsonl.gz"))))


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize("packed", [False, True])
def test_the_standard_input_is_a_file(monkeypatch: pytest.MonkeyPatch, packed: bool):
    data = (json.dumps(ROW) + "\n{broken\n").encode()
    piped(monkeypatch, gzip.compress(data) if packed else data)
    answer, error = read(Path("-"))
    assert texts(answer) == ROW["retrieved_contexts"]
    assert str(error).startswith("<stdin>, line 2:")


def test_a_table_on_the_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    piped(monkeypatch, b"reply,sources\nLDL falls [1].,One.\n")
    assert texts(read(Path("-"), "answer=reply,contexts=sources")[0]) == ["One."]
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    parquet.write_table(arrow.Table.from_pylist([ROW]), tmp_path / "a.parquet")
    piped(monkeypatch, (tmp_path / "a.parquet").read_bytes())
    assert texts(read(Path("-"))[0]) == ROW["retrieved_contexts"]


def test_markdown_on_the_standard_input(monkeypatch: pytest.MonkeyPatch):
    piped(monkeypatch, b"LDL falls [1].")
    [answer] = read(Path("-"), "markdown")
    assert isinstance(answer, Answer) and (answer.id, answer.text) == ("stdin", "LDL falls [1].")


# which format


@pytest.mark.parametrize(
    "bad", [{"id": "1", "answer": "LDL falls."}, {"topic_id": 1, "responses": 3}, {"markdown": "x"}, {"x": 1}, 5]
)
def test_a_bad_first_record_does_not_decide_the_format_of_the_file(tmp_path: Path, bad: object):
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (bad, ROW, ROW)))
    names: list[str] = []
    found = list(answers_in(path, on_format=lambda name, _: names.append(name)))
    assert names == ["ragas"]
    assert [isinstance(item, Answer) for item in found] == [False, True, True]


@pytest.mark.parametrize("text", ["", "\n\n", "nope\n", "[]"])
def test_a_file_without_any_record_has_no_format(tmp_path: Path, text: str):
    path = tmp_path / "answers.jsonl"
    path.write_text(text)
    names: list[str] = []
    assert all(isinstance(item, RecordError) for item in answers_in(path, on_format=lambda name, _: names.append(name)))
    assert names == []


@pytest.mark.parametrize(
    ("record", "ids"),
    [
        ({"answer": "LDL falls [2].", "documents": ["One.", "Two."]}, ["document-1", "document-2"]),
        ({"id": 7, "answer": "LDL falls [1].", "documents": [{"id": 5, "text": "One.", "score": 0.3}]}, ["5"]),
        ({"answer": "LDL falls [1].", "documents": [{"pmid": 123, "abstract": "One."}], "model": "x"}, ["123"]),
        ({"answer": "LDL falls [1].", "documents": [{"text": "One."}], "id": None}, ["document-1"]),
    ],
)
def test_ids_may_be_numbers_or_missing_and_documents_texts(tmp_path: Path, record: object, ids: list[str]):
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(record) + "\n")
    [answer] = read(path)
    assert isinstance(answer, Answer) and [document.id for document in answer.documents] == ids
    assert answer.claims[0].citations[0].document == ids[-1]


# limits


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (
            {"answer": "x" * 1_000_001, "documents": []},
            "an answer of at most 1,000,000 characters; found one of 1,000,001",
        ),
        ({"answer": "x [1].", "documents": ["y" * 500_001]}, "a document of at most 500,000 characters"),
        (
            {"response": "It is. " * 2000, "contexts": ["y"] * 100},
            "at most 100,000 citations in an answer; found 200,000",
        ),
        ({"answer": "[" * 100_000 + "]" * 100_000, "documents": []}, None),
    ],
)
def test_only_an_overlong_record_is_lost_and_reported(tmp_path: Path, record: dict[str, object], problem: str | None):
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps(record) + "\n" + json.dumps({"answer": "LDL falls [1].", "documents": ["One."]}) + "\n")
    first, second = read(path, "ragas" if "contexts" in record else "vericite")
    if problem is None:
        assert isinstance(first, Answer)
    else:
        assert isinstance(first, RecordError) and problem in str(first) and "line 1" in str(first)
    assert isinstance(second, Answer)


def test_only_an_overlong_line_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("vericite.records.base.LONGEST_LINE", 100)
    path = tmp_path / "lines"
    path.write_text("a" * 99 + "\n" + "b" * 300 + "\nc\n")
    found = list(number_lines(path))
    assert [line.line if isinstance(line, RecordError) else line[1][0] for line in found] == ["a", 2, "c"]
    assert "expected a line of at most 100 bytes" in str(found[1])


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_names_of_fields_are_known_in_any_case(tmp_path: Path, name: str):
    documents = [{"id": "a", "text": "One."}]
    record = {"Id": "7", "QUESTION": "Q?", "Answer": "LDL falls [1].", "Documents": documents}
    text = json.dumps([record], indent=1) if name == "a.json" else json.dumps(record)
    (tmp_path / name).write_text(text)
    [answer] = read(tmp_path / name)
    assert isinstance(answer, Answer)
    assert (answer.id, texts(answer)) == ("7", ["One."])
    (tmp_path / name).write_text(json.dumps([{"Id": "7", "QUESTION": "Q?"}]))
    [question] = read_questions(tmp_path / name, Problems())
    assert (question.id, question.text) == ("7", "Q?")


def test_values_in_capitals_and_names_in_other_objects_stay(tmp_path: Path):
    document = {"id": "a", "text": 'One, with "Answer": here.'}
    record = {"id": "7", "question": "Q?", "answer": "LDL falls [1].", "Answer": "Another.", "documents": [document]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record))
    [answer] = read(tmp_path / "a.jsonl")
    assert texts(answer) == [document["text"]] and answer.text.startswith("LDL falls")


def test_a_path_names_a_field_within_others(tmp_path: Path):
    path = tmp_path / "in.jsonl"
    items = [{"body": "Zinc shortened colds.", "heading": "A trial of zinc"}, {"body": "Tea helped.", "name": "Tea"}]
    path.write_text(json.dumps({"reply": {"text": "Zinc shortened colds [1]."}, "retrieved": items}) + "\n")
    (answer,) = answers_in(path, "answer=reply.text,contexts=retrieved.body")
    assert isinstance(answer, Answer) and [document.text for document in answer.documents] == [
        "Zinc shortened colds.", "Tea helped.",
    ]  # fmt: skip
    (answer,) = answers_in(path, "answer=reply.text,documents=retrieved")
    assert isinstance(answer, Answer)
    assert [document.title for document in answer.documents] == ["A trial of zinc", "Tea"]
    (error,) = answers_in(path, "answer=reply.text,contexts=retrieved.words")
    assert "expected a field 'retrieved.words'; found 'reply', 'retrieved'" in str(error)
