"""``vericite check`` of a manuscript: recognised without an option, and written in every form."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import vericite as vc
from vericite.pipeline.manuscript import ManuscriptCheck
from vericite.records import UnsupportedWords
from vericite.reporting.manuscript import findings_of, manuscript_lines, remarks, with_footnotes

EXAMPLES = Path(__file__).parents[2] / "examples/manuscript"
SUMMARY = (
    "7 citing sentences, 5 references (1 with problems): 3 are supported, 1 contradicts its source, "
    "1 is partly supported, 1 is not found in its source, 1 has no source at hand."
)


@pytest.fixture
def draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("draft.docx", "draft.md", "library.bib", "sources.jsonl"):
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "draft.docx"


@pytest.fixture
def check(run_cli: Any) -> Callable[..., Any]:
    return lambda *arguments: run_cli("check", *arguments, "--documents", "sources.jsonl")


@pytest.mark.usefixtures("draft")
def test_the_summary_comes_first_then_what_a_person_should_look_at(check: Callable[..., Any]) -> None:
    result = check("draft.docx", "--explain")
    assert result.code == 0, result.err
    words = " ".join(result.out.split())
    assert words.startswith(f"Blood pressure, sleep and bones {SUMMARY} Sentences to look at contradicted (p ")
    assert "“Corvadil reduced the number of night-time coughs by half.” ([3] Petrov I." in words
    order = [words.index(part) for part in ("contradicted (p ", "not found (p ", "partly supported (p ")]
    assert order == sorted(order)
    assert "year differs: 2020 (found: 2022)" in words
    assert "Zelotrine lowered" not in words, "a supported sentence needs no person"


@pytest.mark.usefixtures("draft")
def test_markdown_that_cites_by_key_is_a_manuscript_and_other_markdown_an_answer(check: Callable[..., Any]) -> None:
    found = json.loads(check("draft.md", "--json").out)
    assert found["sentences"] == 6
    Path("answer.md").write_text("Statins lower cholesterol [1].\n\n[1] https://example.org/a\n", "utf-8")
    assert "citing sentence" not in check("answer.md").out


def test_word_comments_are_on_the_sentences(check: Callable[..., Any], draft: Path) -> None:
    result = check("draft.docx", "--out", "out.docx")
    assert result.code == 0, result.err
    before, after = zipfile.ZipFile(draft), zipfile.ZipFile("out.docx")
    for name in before.namelist():
        if name not in ("word/document.xml", "word/_rels/document.xml.rels", "[Content_Types].xml"):
            assert before.read(name) == after.read(name)
    comments = after.read("word/comments.xml").decode()
    assert comments.count("<w:comment ") == 4
    assert (
        re.search(r"Contradicted by its source \(p 0\.\d\d\)\.", comments) and "Corvadil reduced the number" in comments
    )
    assert vc.check_document("out.docx", "sources.jsonl").summary == SUMMARY


@pytest.mark.usefixtures("draft")
def test_a_table_has_a_row_for_each_citing_sentence(check: Callable[..., Any]) -> None:
    check("draft.docx", "--out", "out.csv")
    rows = list(csv.DictReader(Path("out.csv").read_text("utf-8").splitlines()))
    assert [row["cites"] for row in rows] == ["1", "1", "2", "3", "3, 4", "5", "4"]
    assert rows[3]["outcome"] == "contradicted" and rows[3]["source sentence"].startswith("Corvadil reduced")


@pytest.mark.usefixtures("draft")
def test_markdown_has_a_footnote_for_each_remark(check: Callable[..., Any]) -> None:
    check("draft.docx", "--out", "out.md")
    text = Path("out.md").read_text("utf-8")
    assert "number of night-time coughs [3].[^v2]" in text and "[^v2]: Contradicted by its source (p 0." in text
    assert text.count("[^v") == 2 * 4
    assert "## Results" in text


@pytest.mark.usefixtures("draft")
def test_json_and_the_page(check: Callable[..., Any]) -> None:
    check("draft.docx", "--out", "out.json", "--report", "page.html")
    assert json.loads(Path("out.json").read_text("utf-8"))["manuscript"]["name"]
    assert "7 citing sentences" in Path("page.html").read_text("utf-8")


@pytest.mark.usefixtures("draft")
@pytest.mark.parametrize(
    ("file", "out", "next_step"),
    [
        ("draft.docx", "out.ods", ".csv"),
        ("draft.md", "out.docx", "Write out.md"),
        ("draft.docx", "out.pdf", "Write out.md"),
        ("draft.docm", "out.docx", "Save it as .docx first"),
        ("draft.docm", "out.docm", ".docx"),
    ],
)
def test_a_form_that_cannot_be_written_is_refused_at_once(
    check: Callable[..., Any], file: str, out: str, next_step: str
) -> None:
    shutil.copy("draft.docx", "draft.docm")
    result = check(file, "--out", out)
    assert result.code == 2
    assert "expected" in result.err and not Path(out).exists()
    assert next_step in " ".join(result.err.split())


@pytest.mark.usefixtures("draft")
def test_a_workbook_has_the_rows_of_the_table_and_no_formula(check: Callable[..., Any]) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra [tables]")
    from vericite.reporting.workbook import to_workbook

    check("draft.docx", "--out", "out.xlsx")
    check("draft.docx", "--out", "out.csv")
    written = [
        ["" if cell is None else cell for cell in row] for row in openpyxl.load_workbook("out.xlsx").active.values
    ]
    rows = list(csv.reader(Path("out.csv").read_text("utf-8").splitlines()))
    at = rows[0].index("probability")
    assert [[str(cell) for cell in row[:at]] for row in written] == [row[:at] for row in rows]
    assert written[1][at] == float(rows[1][at])
    Path("other.xlsx").write_bytes(to_workbook([["a"], ["=1+1"], ["nul \x00"]]))
    cells = [row[0] for row in openpyxl.load_workbook("other.xlsx").active.iter_rows()]
    assert [(cell.value, cell.data_type) for cell in cells] == [("a", "s"), ("=1+1", "s"), ("nul \ufffd", "s")]


@pytest.mark.usefixtures("draft")
def test_a_workbook_without_the_extra_is_refused_before_the_work(
    check: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    result = check("draft.docx", "--out", "out.xlsx")
    assert result.code != 0 and "pip install 'vericite[tables]'" in result.err
    assert "citing" not in result.out and not Path("out.xlsx").exists()


@pytest.mark.usefixtures("draft")
def test_an_unknown_format_is_refused_with_the_names_of_all(run_cli: Any) -> None:
    result = run_cli("check", "draft.docx", "--format", "manuscripts")
    assert result.code == 2
    assert "manuscript, " in " ".join(result.err.split()) and "Did you mean 'manuscript'?" in result.err


@pytest.mark.usefixtures("draft")
def test_a_folder_with_the_name_of_a_service_is_not_the_service(
    run_cli: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    Path("pubmed").mkdir()
    shutil.copy("sources.jsonl", "pubmed")
    result = run_cli("check", "draft.docx", "--documents", "pubmed")
    words = "".join(result.err.split())
    assert f"--documents{Path('pubmed').resolve()}" in words and "pubmedmeanstheservice" in words
    result = run_cli("check", "draft.docx", "--documents", str(Path("pubmed").resolve()))
    assert SUMMARY in " ".join(result.out.split())


def test_a_pdf_comes_back_with_annotations(check: Callable[..., Any], draft: Path) -> None:
    pytest.importorskip("pypdfium2", reason="needs the extra [documents]")
    from pdf_files import Page, pdf

    page = Page()
    page.at(60, 780, "Results", 14, "B")
    page.flow(60, 760, 450, "In children with asthma, corvadil increased the number of night-time coughs [1].")
    page.at(60, 300, "References", 14, "B")
    page.at(60, 280, "1. Petrov I. Corvadil for night-time cough in children with asthma. Ann Inv Med. 2015;3:1-9.")
    Path("paper.pdf").write_bytes(pdf([page]))
    result = check("paper.pdf", "--out", "out.pdf")
    assert result.code == 0, result.err
    assert "1 citing sentence," in " ".join(result.out.split())
    assert "out.pdf: 2 comments" in result.err
    after = Path("out.pdf").read_bytes()
    assert after.startswith(Path("paper.pdf").read_bytes())
    assert after.count(b"/Highlight") >= 2
    assert vc.check_document("out.pdf", "sources.jsonl").counts == {"contradicted": 1}


@pytest.mark.usefixtures("draft")
def test_a_text_by_author_and_year_is_pointed_to_the_format(check: Callable[..., Any]) -> None:
    text = "Zinc helps (Smith and Doe, 2017).\n\n"
    Path("a.md").write_text(text, "utf-8")
    assert "--format manuscript" in check("a.md").out
    result = check("a.md", "--format", "manuscript", "--out", "a.csv")
    assert result.code == 2
    assert "vericite: expected a list of references under a heading such as References; found none" in result.err


@pytest.mark.usefixtures("draft")
def test_a_document_without_citations_gets_no_copy(check: Callable[..., Any], tmp_path: Path) -> None:
    from manuscript_files import docx, paragraph, run

    (tmp_path / "bare.docx").write_bytes(docx(paragraph(run("Nothing is cited here."))))
    assert check("bare.docx", "--out", "copy.docx").code == 2
    assert not Path("copy.docx").exists()


@pytest.mark.usefixtures("draft")
def test_gates_hold_for_manuscripts(check: Callable[..., Any]) -> None:
    assert check("draft.docx", "--fail-over", "contradicted=0").code == 1


@pytest.mark.usefixtures("draft")
def test_sources_that_could_not_be_asked_are_named(
    run_cli: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VERICITE_OFFLINE", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    result = run_cli("check", "draft.docx", "--documents", "pubmed,crossref")
    assert result.code == 3
    assert "Could not be asked for 5 references: pubmed, crossref (offline)." in " ".join(result.out.split())
    result = run_cli("check", "draft.docx", "--documents", "sources.jsonl,crossref")
    assert result.code == 0
    assert "Could not be asked for 1 reference: crossref (offline)." in " ".join(result.out.split())


@pytest.mark.usefixtures("draft")
def test_python_has_the_same(draft: Path) -> None:
    found = vc.check_document(draft, documents="sources.jsonl")
    assert found.summary == SUMMARY
    assert vc.check_document("draft.md", ["sources.jsonl"]).counts["contradicted"] == 1


@pytest.mark.usefixtures("draft")
def test_the_page_has_the_problems_of_references_and_report_makes_it_of_the_json(
    check: Callable[..., Any], run_cli: Any
) -> None:
    assert check("draft.docx", "--out", "checked.json", "--report", "page.html").code == 0
    made = run_cli("report", "checked.json", "--out", "again.html")
    assert made.code == 0, made.err
    for name in ("page.html", "again.html"):
        html = Path(name).read_text("utf-8")
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
        assert data, name
        (answer,) = json.loads(data[1])["answers"]
        assert answer["manuscript"]["summary"] == SUMMARY
        problems = {item["key"]: item["problems"] for item in answer["manuscript"]["references"]}
        assert problems["5"] == ["year differs: 2020 (found: 2022)"]
        places = [item["claim"] for item in answer["manuscript"]["sentences"]]
        assert places == [0, 1, 2, 3, 4, 5, -1], "each sentence with its claim; the last has no source at hand"


@pytest.mark.usefixtures("draft")
def test_a_supported_sentence_whose_source_has_another_figure_is_to_be_looked_at() -> None:
    check = vc.check_document("draft.md", "sources.jsonl", bibliography="library.bib")
    supported = next(verdict for verdict in check.checked.verdicts if verdict.label == "supported")
    sentence = check.manuscript.text[supported.start : supported.end]
    number = next(iter(re.finditer(r"\d+", sentence)), None) or re.match(r"\w+", sentence)
    assert number is not None
    start, end = (supported.start + place for place in number.span())
    because = f"The source says 1.31; the claim says {number[0]}."
    words = UnsupportedWords(kind="number", text=number[0], start=start, end=end)
    differing = supported.model_copy(update={"words": (words,), "because": because})
    softer = supported.model_copy(update={"words": (words,), "because": f"“{number[0]}” is not in the source."})
    for verdict, is_told in ((differing, True), (softer, False)):
        assert verdict.has_other_figure == is_told
        found = [verdict if item is supported else item for item in check.checked.verdicts]
        made = ManuscriptCheck.model_validate(
            check.model_copy(
                update={"checked": check.checked.model_copy(update={"verdicts": tuple(found)})}
            ).model_dump()
        )
        assert made.counts == check.counts, "the verdict stays"
        assert any(item.start == supported.start for item in made.to_review) == is_told
        assert any(item.other_figure for item in findings_of(made).to_review) == is_told
        assert ("(1 with another figure than its source)" in made.summary) == is_told
        told = "Supported by its source, with another figure in the source (p "
        assert any(remark.lines[0].startswith(told) and because in remark.lines for remark in remarks(made)) == is_told
        assert (because in with_footnotes(made)) == is_told
        lines = [line.text for line in manuscript_lines(made)]
        assert any(line.startswith("supported, another figure in the source") for line in lines) == is_told


def test_markers_of_another_form_are_named_and_messages_have_the_name_of_the_program(run_cli: Any, tmp_path: Path):
    path = tmp_path / "m.md"
    path.write_text("Zinc helps [1]. Tea too (Smith et al., 2020). It is safe [@bauer].\n", "utf-8")
    result = run_cli("check", str(path))
    assert (
        "vericite: 2 markers of another form left out: [1], (Smith et al., 2020); the text cites as [@bauer]"
        in result.err
    )
    assert "vericite: expected a list of references under a heading" in result.err
    assert "expected a list of references" not in result.out
    path.write_text("It is safe [@bauer] in 2020.\n", "utf-8")
    assert "left out" not in run_cli("check", str(path)).err


def test_a_key_that_the_list_lacks_is_told_once(check: Callable[..., Any], tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(
        "# A paper\n\nCorvadil reduced coughs by half [1]. Growth is normal [5].\n\n## References\n\n"
        "1. Petrov I. Corvadil for cough. BMJ. 2008.\n",
        "utf-8",
    )
    source = {
        "id": "c",
        "title": "Corvadil for cough",
        "authors": ["Petrov I"],
        "year": 2008,
        "text": "It halved coughs.",
    }
    (tmp_path / "own.jsonl").write_text(json.dumps(source), "utf-8")
    made = vc.check_document(draft, tmp_path / "own.jsonl")
    assert made.summary.startswith("2 citing sentences, 1 reference: ")
    assert made.summary.endswith(" [5] is cited but not in the list of references.")
    lines = [line.text.strip() for line in manuscript_lines(made)]
    assert [line for line in lines if "[5]" in line and line != made.summary] == [
        "[5] cited but not in the list of references"
    ]
    assert not any(line.startswith("Not at hand") for line in lines)
    told = next(remark for remark in remarks(made) if "Growth" in remark.sentence)
    assert told.lines == ("Source not at hand.", "[5] is cited but not in the list of references.")


def test_rows_hides_sentences_and_no_references(run_cli):
    folder = Path(__file__).parents[2] / "examples" / "manuscript"
    arguments = ("check", str(folder / "draft.md"), "--documents", str(folder / "sources.jsonl"), "--rows", "0")
    printed = run_cli(*arguments).out
    assert "... and 3 more sentences" in printed and "Sentences to look at" not in printed
    assert "References to look at" in printed and "year differs: 2020 (found: 2022)" in printed
