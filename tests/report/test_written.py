"""Answers written to keep or to send: Markdown, Word, a page, references and runs."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import vericite
from vericite.cli.show import legend, verdict_rows
from vericite.corpus.references import reference_text, to_ris
from vericite.corpus.sources.registry import documents_in
from vericite.errors import InputError
from vericite.evaluate.items import Item
from vericite.evaluate.scoring import System
from vericite.formats.convert import MARKS, SOURCE_COLUMNS, VERDICT_COLUMNS
from vericite.records import Document, Evidence, EvidenceSpan, Run, Section, UnsupportedWords
from vericite.reporting.blocks import StyledLine, Words, to_docx, to_markdown
from vericite.reporting.data import citation_table, make_report
from vericite.reporting.run_lines import run_lines
from vericite.reporting.words import Wording
from vericite.reporting.written import as_run, write_report
from vericite.text.citations import parse_answer
from vericite.text.sentences import document_sentences

ASPIRIN = Document(
    id="99000001",
    pmid="99000001",
    doi="10.1000/xyz(1)2",
    title="Aspirin after stroke: a randomised trial.",
    authors=("Able A", "Baker B"),
    journal="J Trials",
    year=2019,
    date="2019-05-03",
    sections=(Section(label="RESULTS", text="Aspirin lowered the risk of a second stroke by 20%."),),
)
OTHER = Document.from_text("other", "Zinc shortens colds in adults who take it early.", "Zinc")
QUESTION = "Does aspirin lower the risk of a second stroke?"

HOSTILE = [
    "<script>alert(1)</script>", "[click](http://bad.example)", "# no heading", "1. no list", "*a* _b_ `c`",
    "[x]: http://bad.example", "![i](x)", "a\n\n# b\nER  - \nTY  - JOUR\n", "&lt; &#60;", "\x1b[31mred", "> no quote",
    "\ufffe\uffff", "a@bad.example www.bad.example", "http://bad.example", "~~gone~~", "[1](http://bad.example)",
]  # fmt: skip
texts = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))


@pytest.fixture(scope="module")
def run() -> Run:
    return vericite.ask(QUESTION, [ASPIRIN, OTHER], judge="lexical", k=2)


def rendered(markdown: str) -> list[tuple[str, str]]:
    """Return the leaf tokens of a CommonMark reader with its extensions, as kind and content."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    found: list[tuple[str, str]] = []
    for token in reader.parse(markdown):
        found += [(child.type, child.content) for child in token.children or ()] or [(token.type, token.content)]
    return found


@given(st.lists(st.tuples(st.sampled_from(["title", "heading", "text", "item", "detail"]), texts), max_size=6))
def test_no_text_of_a_record_is_markup_in_markdown_or_word(lines):
    blocks = [StyledLine.of(kind, text) for kind, text in lines]
    tokens = rendered(to_markdown(blocks))
    names = ("heading", "paragraph", "bullet_list", "list_item")
    blocks_of = {f"{name}_{end}" for name in names for end in ("open", "close")}
    assert {kind for kind, _ in tokens} <= {"text", "text_special", "inline"} | blocks_of
    shown = "".join(content for kind, content in tokens if kind in ("text", "text_special"))
    assert "".join(shown.split()) == "".join("".join(block.text for block in blocks).split())
    with zipfile.ZipFile(io.BytesIO(to_docx(blocks))) as archive:
        trees = {name: etree.fromstring(archive.read(name)) for name in archive.namelist()}
    paragraphs = ["".join(paragraph.itertext()) for paragraph in trees["word/document.xml"].iter("{*}p")]
    assert paragraphs == [block.text.replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd") for block in blocks]
    assert b"hyperlink" not in etree.tostring(trees["word/_rels/document.xml.rels"])


def test_a_word_document_is_read_by_our_reader_and_by_python_docx(run: Run, tmp_path: Path):
    out = tmp_path / "answer.docx"
    vericite.write_answers(run, out)
    (document,) = documents_in(out)
    assert isinstance(document, Document)
    assert document.title == QUESTION and "Aspirin lowered the risk of a second stroke by 20% [1]." in document.text
    vericite.write_answers([run], tmp_path / "again.docx")
    assert out.read_bytes() == (tmp_path / "again.docx").read_bytes()
    docx = pytest.importorskip("docx")
    read = docx.Document(str(out))
    assert [paragraph.style.name for paragraph in read.paragraphs[:3]] == ["Heading 1", "Body Text", "Heading 2"]


def test_markdown_has_references_with_links_and_apart_what_is_not_cited(run: Run, tmp_path: Path):
    vericite.write_answers(run, tmp_path / "answer.md")
    text = (tmp_path / "answer.md").read_text(encoding="utf-8")
    cited, found = text.split("## Found and not cited")
    assert "**[1]** Able A, Baker B. Aspirin after stroke: a randomised trial. J Trials. 2019." in cited
    assert "[PMID 99000001](https://pubmed.ncbi.nlm.nih.gov/99000001/)" in cited
    assert "(https://doi.org/10.1000/xyz%281%292)" in cited
    assert "Zinc" in found and "Zinc" not in cited


def test_a_source_from_a_file_has_its_pages_and_its_file_name_and_uncited_ones_come_last():
    cited = Document(
        id="Marin2022-c71659cbfc", title="Aspirin after stroke", year=2022, authors=("Marin A", "Schulz L"),
        sections=(Section(text="Aspirin is old.", label="Introduction"), Section(text="Aspirin lowered the risk.")),
        pages=(0, 16),
    )  # fmt: skip
    other = Document.from_text("Ruiz2019-5f800efd4f", "Zinc is a metal.", "On zinc")
    hits = [
        Evidence(document=document, rank=n, score=1.0, retriever="t") for n, document in enumerate((cited, other), 1)
    ]
    answer = parse_answer("q", "Aspirin lowered the risk [1].", [cited, other], QUESTION)
    checked = vericite.check(answer, judge=lambda premise, claim: "supported" if "risk" in premise else "irrelevant")
    run = as_run(answer, checked).model_copy(update={"evidence": tuple(hits)})
    printed, kept = ([line.text for line in run_lines(run, full)] for full in (False, True))
    assert (
        printed[printed.index("Sources") + 1]
        == "[1] Marin A, et al. Aspirin after stroke. 2022  full text  Marin2022, page 2"
    )
    assert kept[kept.index("Sources") + 1].endswith("Marin2022, page 2") and "Schulz L" in "".join(kept)
    assert printed[printed.index("Found and not cited") + 1] == "[2] On zinc  Ruiz2019"


def test_a_document_lists_each_sentence_that_needs_a_person_and_counts_them():
    """The list left out a sentence that cites nothing, and nothing said how many sentences need a person."""
    source = Document.from_text("1-c71659cbfc", "Aspirin lowered the risk.")
    text = "Aspirin lowered the risk [1]. It cures colds [1]. Buy it. Zinc too [4]."
    answer = parse_answer("q", text, [source], QUESTION)
    checked = vericite.check(answer, judge=lambda _, claim: "supported" if "risk" in claim else "irrelevant")
    lines = [line.text for line in run_lines(as_run(answer, checked), full=True)]
    listed = [line for line in lines[lines.index("Citations") :] if line[:1] in "[-"]
    said = ["supported", "not found in the source", "cites nothing", "no such source"]
    assert len(listed) == 4 and all(words in line for words, line in zip(said, listed, strict=True)), "the page's words"
    assert checked.needing == 3 and lines[-1] == "3 of 4 sentences need a person."
    # A source that is named after its file is shown by the file's name, without the hash.
    assert lines[lines.index("Sources") + 1].startswith("[1] 1.") and "c71659cbfc" not in "".join(lines)


def test_a_report_of_several_answers_begins_with_the_counts_over_all(tmp_path: Path):
    source = Document.from_text("s", "Aspirin lowered the risk of stroke.")
    first = parse_answer("a", "Aspirin lowered the risk of stroke [1]. It is cheap.", [source])
    second = parse_answer("b", "Aspirin lowered the risk of stroke [1][2].", [source])
    items = tuple(Item(answer.id, answer=answer, checked=vericite.check(answer)) for answer in (first, second))
    out = tmp_path / "report.md"
    write_report([System("mine", items)], out, title="Stroke")
    title, counts = out.read_text("utf-8").split("\n\n")[:2]
    assert title == "# Stroke"
    assert counts == (
        "2 answers. 2 of 3 citations supported, 1 no such source; 1 of 3 sentences without a citation. "
        "2 of 3 sentences need a person."
    )


@given(st.lists(st.tuples(texts, texts, texts, st.lists(texts, max_size=2)), min_size=1, max_size=4))
def test_references_are_read_back_one_a_document(tmp_path_factory: pytest.TempPathFactory, values):
    documents = [
        Document(id=str(99000000 + number), pmid=str(99000000 + number), title=f"A {title}", journal=journal or None,
                 year=2001, authors=tuple(authors), sections=(Section(text=f"B {abstract}"),))
        for number, (title, journal, abstract, authors) in enumerate(values)
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("ris") / "a.ris"
    path.write_bytes(to_ris(documents, [["Cited for: ER  - \nTY  - "]] * len(documents)).encode("utf-8", "replace"))
    read = list(documents_in(path))
    assert [item.pmid for item in read if isinstance(item, Document)] == [document.pmid for document in documents]
    assert all(isinstance(item, Document) and item.year == 2001 for item in read)


def test_references_hold_each_cited_document_once_with_its_questions(run: Run, tmp_path: Path):
    other = run.model_copy(update={"question": run.question.model_copy(update={"id": "q2", "text": "And again?"})})
    out = tmp_path / "answer.ris"
    vericite.write_answers([run, other], out)
    (read,) = documents_in(out)
    assert isinstance(read, Document)
    for name in ("pmid", "doi", "journal", "year", "date", "authors", "sections"):
        assert getattr(read, name) == getattr(ASPIRIN, name)
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "TY  - JOUR" and lines[-1] == "ER  - "
    assert [line for line in lines if line.startswith("N1")] == [
        f"N1  - Cited for: {QUESTION}", "N1  - Cited for: And again?"
    ]  # fmt: skip


def test_a_page_and_runs_hold_the_questions_in_order(run: Run, tmp_path: Path):
    runs = [run.model_copy(update={"question": run.question.model_copy(update={"id": id})}) for id in ("q2", "q10")]
    vericite.write_answers(runs, tmp_path / "a.html")
    vericite.write_answers(runs, tmp_path / "a.jsonl")
    html = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert 0 < html.index('"id":"q2"') < html.index('"id":"q10"')
    assert '"quoted":1' in html and '"supported":' not in html
    ids = [json.loads(line)["question"]["id"] for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert ids == ["q2", "q10"]


def test_an_unknown_ending_is_refused_with_those_that_there_are(run: Run, tmp_path: Path):
    with pytest.raises(InputError, match=r"\.docx \(Word\).*answer\.pdf"):
        vericite.write_answers(run, tmp_path / "answer.pdf")
    with pytest.raises(InputError, match="a run, as ask"):
        vericite.write_answers([QUESTION], tmp_path / "answer.md")  # type: ignore[list-item]


def test_a_reference_ends_each_part_once():
    title = Document(id="a", title="Who should be treated?", journal="J.", year=2020, authors=tuple("ABCDEFG"))
    assert reference_text(title) == "A, B, C, D, E, F, et al. Who should be treated? J. 2020."


def test_citations_of_several_sources_stay_as_they_are_in_markdown():
    text = "Both say so [1, 2], and [3-5] too; [a, b] is no citation."
    assert to_markdown([StyledLine.of("text", text)]) == text.replace("[a, b]", r"\[a, b\]") + "\n"


def test_a_marker_at_the_start_of_a_line_defines_no_link():
    for marker in ("[1]", "[1, 2]", "[1-3]"):
        blocks = [StyledLine.of("text", f"{marker}: /x"), StyledLine.of("text", f"Zinc helps {marker}.")]
        assert not any(kind.startswith("link") for kind, _ in rendered(to_markdown(blocks)))


def test_words_keep_their_style_and_address():
    block = StyledLine.of("text", ("bold", "bold"), " and ", Words("a link", link="https://x.example/a"))
    assert to_markdown([block]) == "**bold** and [a link](https://x.example/a)\n"


def test_a_failed_answer_is_told_with_the_reply_as_it_came(run: Run):
    notes = ("the model wrote: “<think>”. What may help: a larger model",)
    failed = run.answer.model_copy(
        update={"failed": "the reply holds no answer", "text": "", "claims": (), "selected": (), "notes": notes}
    )
    for full in (False, True):
        lines = [line.text for line in run_lines(run.model_copy(update={"answer": failed}), full)]
        assert lines[1:3] == ["failed  the reply holds no answer", f"T{notes[0][1:]}."]


def test_a_supported_citation_whose_source_has_another_figure_is_marked(tmp_path: Path):
    answer = vericite.parse_answer("a", "Zinc shortened colds by 2 days [1].", [OTHER])
    checked = vericite.check(answer, judge="lexical")
    (verdict,) = checked.verdicts
    words = UnsupportedWords(kind="number", text="2", start=24, end=25)
    told = verdict.model_copy(
        update={"label": "supported", "words": (words,), "because": "The source says 3 days; the claim says 2 days."}
    )
    for verdict, is_told in ((told, True), (told.model_copy(update={"because": "“2” is not in the source."}), False)):
        lines = [line.text for line in run_lines(as_run(answer, checked.model_copy(update={"verdicts": (verdict,)})))]
        marked = [line for line in lines if line.startswith("[1] supported") and "another figure in the source" in line]
        assert bool(marked) == is_told
        assert any("1 supported citation has another figure in the source" in line for line in lines) == is_told


def test_all_passages_that_decided_are_written_up_to_as_many_as_the_page_shows():
    source = Document.from_text("d", "Zinc shortened colds. Colds are common. Zinc is blue. Zinc is cheap.")
    answer = vericite.parse_answer("a", "Zinc shortens colds [1].", [source])
    checked = vericite.check(answer, judge="lexical")
    spans = tuple(
        source.passage(sentence.span.start, sentence.span.end, sentence.index)
        for sentence in document_sentences(source)
    )
    told = checked.verdicts[0].model_copy(update={"evidence": spans})
    lines = [line.text for line in run_lines(as_run(answer, checked.model_copy(update={"verdicts": (told,)})))]
    assert [line for line in lines if line.startswith("“")] == [
        "“Zinc shortened colds.” (d, sentence 1)",
        "“Colds are common.” (d, sentence 2)",
        "“Zinc is blue.” (d, sentence 3)",
    ]


def test_a_cited_source_that_says_the_opposite_is_in_the_row_the_document_and_the_page():
    answer = vericite.parse_answer("a", "Zinc shortens colds [1,2].", [OTHER, ASPIRIN])
    checked = vericite.check(answer, judge="lexical")
    told = checked.verdicts[0].model_copy(
        update={"label": "supported", "reasons": ("carried by [1]", "[2] says the opposite", "judged in pieces")}
    )
    changed = checked.model_copy(update={"verdicts": (told,)})
    ((_, cites, verdict, detail, *_),) = verdict_rows(changed)
    assert (cites, str(verdict), detail) == ("[1][2]", "supported", "[2] says the opposite")
    assert "says the opposite" in dict(legend(list(verdict_rows(changed))))
    lines = [line for line in run_lines(as_run(answer, changed)) if "says the opposite" in line.text]
    assert [[word.style for word in line.words] for line in lines] == [["red"]]
    ((claim,),) = (row["claims"] for row in make_report([System("one", (Item("a", answer, changed),))]).answers)
    assert claim["verdicts"][0]["against"] == "[2] says the opposite"
    assert claim["verdicts"][0]["reasons"] == ["carried by [1]", "judged in pieces"]
    assert told.model_copy(update={"label": "contradicted"}).opposition == ()


def test_the_table_says_in_plain_words_what_was_found_and_has_the_nearest_passage():
    words = Wording("en")
    assert {mark: words(f"components.mark-{mark}") for mark in MARKS} == MARKS
    answer = vericite.parse_answer("a", "Zinc shortened colds by 2 days [1]. It is old.", [OTHER])
    checked = vericite.check(answer, judge="lexical")
    (verdict,) = checked.verdicts
    near = EvidenceSpan(document=OTHER.id, sentence_index=0, start=0, end=4)
    common = {"evidence": (), "nearest": near, "abstained": False, "because": ""}
    outcomes = {
        "supported, another figure in the source": {
            "label": "supported",
            "because": "The source gives 3 days to zinc.",
        },
        "not found, partly supported": {"label": "irrelevant", "degree": "partly supported"},
        "not found in the source": {"label": "irrelevant", "degree": "not found"},
        "contradicted": {"label": "contradicted", "degree": "partly supported"},
        "undecided": {"label": "irrelevant", "abstained": True},
    }
    for told, changes in outcomes.items():
        made = checked.model_copy(update={"verdicts": (verdict.model_copy(update={**common, **changes}),)})
        item = Item("a", answer, checked=made)
        first, second = csv.DictReader(citation_table([System("s", (item,))]).splitlines())
        assert (first["verdict"], second["verdict"]) == (told, "cites nothing")
        assert first["evidence"] == f"Nearest: {OTHER.text[:4]}"


def test_every_column_of_the_table_is_explained():
    page = (Path(__file__).parents[2] / "docs/report.md").read_text("utf-8")
    table = page.partition("## The table")[2].partition("## Safety")[0]
    assert all(f"`{name}`" in table for name in ("system", "question", *VERDICT_COLUMNS, *SOURCE_COLUMNS))
