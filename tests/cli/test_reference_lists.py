"""Drafts with a list of references of the usual kind, some with the abstract behind the reference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from manuscript_files import docx, paragraph, run
from vericite.formats.pasted import read_pasted

TEXT = (
    "Zelotrine lowered systolic pressure by 9 mm Hg in older adults [1]. Melatonin did not shorten sleep onset [2]. "
    "Corvadil doubled coughs in children [3]."
)
REFERENCES = (
    "Abernathy A, et al. Zelotrine and blood pressure in older adults. J Invented Med 2019;3:4-9.",
    "Okafor A, et al. Melatonin and sleep. J Invented Med 2021;3:4-9.",
    "Petrov I. Corvadil for cough in children. Ann Invented Med 2018;1:2-3.",
)
ABSTRACTS = (
    "Abstract: In 640 older adults, zelotrine lowered systolic blood pressure by 9 mm Hg. Dizziness was rare.",
    "In 300 adults, melatonin did not shorten the time to fall asleep. It was taken for four weeks.",
    "",
)


def listed(between: str, number: str = "[{}]", texts: tuple[str, ...] = ABSTRACTS) -> str:
    entries = zip(REFERENCES, texts, strict=True)
    return "\n".join(
        f"{number.format(at)} {reference}{between if text else ''}{text}"
        for at, (reference, text) in enumerate(entries, 1)
    )


def verdicts(run_cli: Any, path: Path, *more: str) -> dict[int, str]:
    out = path.with_name("out.jsonl")
    printed = run_cli("check", str(path), "--out", str(out), *more)
    assert printed.code == 0, printed.err
    found = json.loads(out.read_text())["verdicts"]
    return {verdict["markers"][0]: verdict["label"] for verdict in found}


@pytest.mark.parametrize("name", ["draft.md", "draft.txt"])
@pytest.mark.parametrize("between", [" ", "\n", "\n    ", "\n\n"])
@pytest.mark.parametrize("number", ["[{}]", "{}."])
def test_an_abstract_after_its_reference_is_the_source(
    run_cli: Any, tmp_path: Path, name: str, between: str, number: str
):
    path = tmp_path / name
    path.write_text(f"{TEXT}\n\nReferences\n\n{listed(between, number)}\n")
    assert verdicts(run_cli, path) == {1: "supported", 2: "supported", 3: "dangling"}


def test_the_reference_before_it_is_its_title(tmp_path: Path):
    made = read_pasted(f"{TEXT}\n\nReferences\n\n{listed(' ')}\n")
    assert [source.title for source in made.sources[:2]] == [
        "Zelotrine and blood pressure in older adults", "Melatonin and sleep",
    ]  # fmt: skip
    assert made.sources[0].passage == ABSTRACTS[0].removeprefix("Abstract: ") and not made.sources[2].passage


@pytest.mark.parametrize("kind", ["docx", "md", "txt"])
def test_a_manuscript_reads_the_same(run_cli: Any, tmp_path: Path, kind: str):
    path = tmp_path / f"draft.{kind}"
    parts = [TEXT, "References", *listed("\n").split("\n")]
    if kind == "docx":
        path.write_bytes(docx("".join(paragraph(run(part)) for part in parts)))
    else:
        path.write_text("\n\n".join(parts))
    printed = run_cli("check", str(path), "--format", "manuscript", "--json")
    assert json.loads(printed.out)["outcomes"] == {"supported": 2, "source not at hand": 1}


def test_a_reference_without_text_is_called_so(run_cli: Any, tmp_path: Path):
    path = tmp_path / "draft.md"
    path.write_text(f"{TEXT} Tea helps [9].\n\n## References\n\n{listed('', texts=('', '', ''))}\n")
    printed = run_cli("check", str(path), "--github")
    words = " ".join(printed.out.split())
    assert "no text: the marker points to an entry of the list of references, but its text is not there" in words
    assert "Reason: [2] stands in the list of references, but its text is not there" in words
    assert "The marker points to no source: Tea helps. [9]" in words
    assert "expected the texts of the works in the list of references; found none in" in printed.err


DOCUMENTS = [
    {"title": "Corvadil for cough in children", "text": "Corvadil reduced coughs by half in 90 children."},
    {"title": "Zelotrine and blood pressure in older adults", "text": ABSTRACTS[0]},
    {"title": "Melatonin and sleep in adults: a trial", "text": ABSTRACTS[1]},
]


@pytest.mark.parametrize("ids", [("1", "2", "3"), ("Petrov2018", "Abernathy2019", "Okafor2021")])
@pytest.mark.parametrize("number", ["[{}]", "{}.", "[{}]:"])
def test_documents_are_paired_with_the_list_by_name_and_not_by_number(
    run_cli: Any, tmp_path: Path, ids: tuple[str, ...], number: str
):
    path, library = tmp_path / "draft.md", tmp_path / "documents.jsonl"
    entries = listed("", number, ("", "", "")).replace("Melatonin and sleep", "Melatonin and sleep in adults: a trial")
    path.write_text(f"{TEXT}\n\nReferences\n\n{entries}\n")
    library.write_text("".join(json.dumps({"id": id} | item) + "\n" for id, item in zip(ids, DOCUMENTS, strict=True)))
    assert verdicts(run_cli, path, "--documents", str(library)) == {1: "supported", 2: "supported", 3: "contradicted"}
    printed = run_cli("check", str(path), "--documents", str(library))
    assert "3 references of the list found in --documents by DOI, PMID or title" in printed.err
    library.write_text(json.dumps({"id": "2"} | DOCUMENTS[0]) + "\n")
    printed = run_cli("check", str(path), "--documents", str(library))
    assert "1 of 3 references of the list found in --documents, by DOI, PMID or title" in printed.err
    assert "without a document: [1], [2]" in printed.err


def test_documents_without_titles_are_paired_by_number_and_this_is_said(run_cli: Any, tmp_path: Path):
    path, library = tmp_path / "draft.md", tmp_path / "documents.jsonl"
    path.write_text(f"{TEXT}\n\nReferences\n\n{listed('', texts=('', '', ''))}\n")
    library.write_text("".join(json.dumps({"id": id, "text": DOCUMENTS[int(id) % 3]["text"]}) + "\n" for id in "321"))
    assert verdicts(run_cli, path, "--documents", str(library)) == {1: "supported", 2: "supported", 3: "contradicted"}
    printed = run_cli("check", str(path), "--documents", str(library))
    assert "3 references of the list found in --documents by number alone" in printed.err


def test_without_a_list_a_number_is_an_id(run_cli: Any, tmp_path: Path):
    path, library = tmp_path / "draft.md", tmp_path / "documents.jsonl"
    path.write_text("Corvadil reduced coughs by half in 90 children [1].")
    library.write_text(json.dumps({"id": "1"} | DOCUMENTS[0]) + "\n")
    assert verdicts(run_cli, path, "--documents", str(library)) == {1: "supported"}


def test_sentences_after_a_list_stay_claims(run_cli: Any, tmp_path: Path):
    path, out = tmp_path / "draft.md", tmp_path / "out.jsonl"
    path.write_text(f"## References\n\n{listed(' ')}\n\n## Results\n\nZinc helped all adults.\n")
    run_cli("check", str(path), "--out", str(out))
    assert "Zinc helped all adults." in out.read_text()


def test_numbered_claims_under_sources_stay_claims(run_cli: Any, tmp_path: Path):
    path, out = tmp_path / "draft.md", tmp_path / "out.jsonl"
    path.write_text(
        "Zinc helps [1].\n\n## Sources\n1. Fish was given in 2019 [1].\n2. Eggs were eaten by adults [2].\n"
    )
    run_cli("check", str(path), "--out", str(out))
    assert "Eggs were eaten by adults." in out.read_text()
