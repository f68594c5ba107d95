"""Sources under the names that people use, in lists and notes of a text, and in documents cited by number."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from vericite.formats import answers_in
from vericite.formats.given import SOURCES
from vericite.formats.pasted import read_pasted
from vericite.records import Answer, Document

ZINC = "Zinc acetate lozenges shortened colds by two days compared with placebo."
TEA = "Tea was served hot to all of the patients in the trial."
TEXT = "Zinc shortened colds [1]. Tea was cold [2]."


def texts_of(answer: object) -> list[str | None]:
    """The text that each citation points to."""
    assert isinstance(answer, Answer), answer
    cited = [citation.document for claim in answer.claims for citation in claim.citations]
    return [None if id is None else answer.document(id).text for id in cited]


@pytest.mark.parametrize("name", [*SOURCES, "contexts", "retrieved_contexts", "Sources"])
@pytest.mark.parametrize("reply", ["answer", "response"])
def test_texts_of_sources_are_found_under_their_usual_names(tmp_path: Path, name: str, reply: str):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"question": "Zinc?", reply: TEXT, name: [ZINC, TEA]}))
    assert [texts_of(answer) for answer in answers_in(path)] == [[ZINC, TEA]]


@pytest.mark.parametrize(
    "value",
    [
        [{"id": "a", "text": ZINC}, {"id": "b", "title": "Tea", "content": TEA}],
        {"a": ZINC, "b": TEA},
        f"[1] {ZINC}\n[2] {TEA}",
        f"1. {ZINC}\n2. {TEA}\n",
    ],
)
def test_sources_have_several_forms(tmp_path: Path, value: object):
    path = tmp_path / "in.json"
    path.write_text(json.dumps([{"answer": TEXT, "sources": value}]))
    assert [texts_of(answer) for answer in answers_in(path)] == [[ZINC, TEA]]


@pytest.mark.parametrize("cell", [json.dumps([ZINC, TEA]), f"[1] {ZINC}\n[2] {TEA}"])
def test_sources_may_be_a_column(tmp_path: Path, cell: str):
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("Answer", "Sources"), (TEXT, cell)])
    assert [texts_of(answer) for answer in answers_in(tmp_path / "in.csv")] == [[ZINC, TEA]]


@pytest.mark.parametrize(
    "value",
    [
        ["https://example.org/a"],
        ["Smith J. Zinc. Lancet. 2019;393:1-9."],
        ["12345678"],
        "x",
        ["Zinc lozenges shorten the duration of the common cold"],
        ["Zinc trial (Nature)", "WHO fact sheet on tea"],
    ],
)
def test_names_and_addresses_of_sources_are_no_texts(run_cli, tmp_path: Path, value: object):
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"answer": TEXT, "sources": value}))
    printed = run_cli("check", str(path))
    assert printed.code == 2 and "no texts in 'sources'. Give the texts of the sources, or --documents" in printed.err


@pytest.mark.parametrize(
    "end",
    [
        f"## Sources\n\n[1] {ZINC}\n[2] {TEA}\n",
        f"Sources:\n1. {ZINC}\n2. {TEA}\n",
        f"[1]: {ZINC}\n[2]: {TEA}\n",
        f"References\n\n1. “{ZINC}”\n2. “{TEA}”\n",
    ],
)
def test_texts_in_a_list_or_in_notes_are_the_sources(tmp_path: Path, end: str):
    (tmp_path / "in.md").write_text(f"{TEXT}\n\n{end}", "utf-8")
    assert [texts_of(answer) for answer in answers_in(tmp_path / "in.md")] == [[ZINC, TEA]]
    pasted = read_pasted(f"{TEXT}\n\n{end}")
    assert (pasted.text, [source.passage for source in pasted.sources]) == (TEXT, [ZINC, TEA])


def test_named_and_numbered_footnotes_may_hold_texts(tmp_path: Path):
    text = f"Zinc shortened colds.[^zinc] Tea was cold.[^2]\n\n[^zinc]: {ZINC}\n[^2]: {TEA}\n"
    (tmp_path / "in.md").write_text(text, "utf-8")
    assert [texts_of(answer) for answer in answers_in(tmp_path / "in.md")] == [[ZINC, TEA]]


def test_the_number_of_a_footnote_costs_no_memory(tmp_path: Path):
    (tmp_path / "in.md").write_text(
        f"Zinc helps.[^999999999] Tea too.[^٣]\n\n[^999999999]: {ZINC}\n[^٣]: {TEA}\n", "utf-8"
    )
    assert [document.text for answer in answers_in(tmp_path / "in.md") for document in answer.documents] == [ZINC, TEA]


def test_documents_with_numbers_as_ids_are_cited_by_them_when_nothing_else_is(tmp_path: Path):
    library = [Document.from_text("1", ZINC), Document.from_text("2", TEA)]
    (tmp_path / "in.md").write_text(TEXT, "utf-8")
    assert [texts_of(answer) for answer in answers_in(tmp_path / "in.md", documents=library)] == [[ZINC, TEA]]
    (tmp_path / "in.jsonl").write_text(json.dumps({"answer": TEXT, "documents": ["Own text."]}))
    assert [texts_of(answer) for answer in answers_in(tmp_path / "in.jsonl", documents=library)] == [
        ["Own text.", None]
    ]


def test_a_folder_of_files_is_read_for_answers(run_cli, tmp_path: Path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "1.txt").write_text(f"{ZINC}\n", "utf-8")
    (folder / "2.txt").write_text(f"{TEA}\n", "utf-8")
    (tmp_path / "in.md").write_text(TEXT, "utf-8")
    printed = run_cli("check", str(tmp_path / "in.md"), "--documents", str(folder), "--json")
    assert printed.code == 0, printed.err
    counts = json.loads(printed.out)["counts"]
    assert (counts["dangling"], counts["supported"] + counts["contradicted"] + counts["irrelevant"]) == (0, 2)


def test_where_no_document_is_cited_it_is_said_what_would_match(run_cli, tmp_path: Path):
    (tmp_path / "d.jsonl").write_text(json.dumps({"id": "zinc", "text": ZINC}))
    (tmp_path / "in.md").write_text(TEXT, "utf-8")
    printed = run_cli("check", str(tmp_path / "in.md"), "--documents", str(tmp_path / "d.jsonl"))
    assert "A citation is the PMID, DOI, address or id of a document; [1] is the one with the id 1" in printed.err


@pytest.mark.parametrize("name", ["sources", "passages", "references"])
def test_sources_next_to_messages_are_the_documents(tmp_path: Path, name: str):
    messages = [{"role": "user", "content": "Does zinc help?"}, {"role": "assistant", "content": "Zinc helps [1]."}]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": messages, name: ["Zinc shortened colds by two days in adults."]}))
    (answer,) = answers_in(path)
    assert isinstance(answer, Answer) and answer.question == "Does zinc help?"
    (citation,) = answer.claims[0].citations
    assert citation.document == answer.documents[0].id
