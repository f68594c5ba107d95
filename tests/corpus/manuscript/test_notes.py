"""Notes without a reference: passages of sources, remarks, and notes that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import vericite as vc
from manuscript_files import docx, footnotes, paragraph, run
from vericite.corpus.manuscript.registry import read_manuscript

NOTES = (
    "Zinc acetate lozenges shortened colds by two days compared with placebo.",
    "“Zinc lozenges caused nausea in 21% of the patients.”",
    "In 2019 a randomised trial enrolled 240 older adults in four centres. Vitamin D reduced falls by a third.",
)
SENTENCES = (
    "Zinc lozenges shortened colds by two days.",
    "Zinc lozenges prevented nausea in most patients.",
    "Vitamin D reduced falls by a third.",
)
REMARK = "See the appendix."


def markdown(folder: Path, notes: tuple[str, ...], before: str = "", end: str = "") -> Path:
    text = " ".join(f"{words}[^{at}]" for at, words in enumerate((*SENTENCES, "Tea was better."), start=1))
    defined = "\n".join(f"[^{at}]: {note}" for at, note in enumerate(notes, start=1))
    (folder / "paper.md").write_text(f"# Zinc\n\n{before}{text}\n\n{defined}\n{end}", "utf-8")
    return folder / "paper.md"


def word(folder: Path, notes: tuple[str, ...], before: str = "", end: tuple[str, ...] = ()) -> Path:
    sentences = (*SENTENCES, "Tea was better.")
    body = "".join(
        run(f" {words}") + f'<w:r><w:footnoteReference w:id="{at}"/></w:r>' for at, words in enumerate(sentences, 1)
    )
    parts = [f'<w:footnote w:id="{at}">{paragraph(run(note))}</w:footnote>' for at, note in enumerate(notes, 1)]
    (folder / "paper.docx").write_bytes(
        docx(
            paragraph(run(before) + body) + "".join(paragraph(run(line)) for line in end),
            word__footnotes_xml=footnotes(parts),
        )
    )
    return folder / "paper.docx"


@pytest.mark.parametrize("written", [markdown, word])
def test_a_passage_is_the_source_and_a_note_that_cannot_be_read_is_reported(tmp_path: Path, written):
    found = vc.check_document(written(tmp_path, (*NOTES, REMARK)))
    outcomes = [sentence.outcome for sentence in found.sentences]
    assert len(outcomes) == 4 and outcomes[0] == outcomes[2] == "supported"
    assert outcomes[1] not in ("supported", "source not at hand") and outcomes[3] == "source not at hand"
    problems = [problem.kind for item in found.references for problem in item.problems]
    assert problems == ["could not be read"]
    assert (found.gated.summary.failed, found.gated.summary.dangling) == (1, 0)


@pytest.mark.parametrize("written", [markdown, word])
def test_a_gate_does_not_pass_over_a_note_that_cannot_be_read_or_is_missing(run_cli, tmp_path: Path, written):
    gate = ("--format", "manuscript", "--fail-over", "contradicted=0.9")
    assert run_cli("check", str(written(tmp_path, (*NOTES, NOTES[0]))), *gate).code == 0
    assert run_cli("check", str(written(tmp_path, (*NOTES, REMARK))), *gate, "--fail-over", "failed=0").code == 1
    missing = written(tmp_path, NOTES)
    counts = vc.check_document(missing).gated.summary
    assert (counts.dangling, counts.failed, counts.claims) == (1, 0, 4)
    assert run_cli("check", str(missing), *gate, "--fail-over", "dangling=0").code == 1
    unread = run_cli("check", str(written(tmp_path, (REMARK,) * 4)), *gate, "--json")
    assert unread.code == 3
    assert [entry["problem"] for entry in json.loads(unread.out.split("gate")[0])["problems"]] == [
        "could not be read: it has no title and no identifier"
    ] * 4


def test_a_note_is_a_remark_in_a_text_that_cites_by_a_list(tmp_path: Path):
    listed = "\n# References\n\n1. Smith J. Zinc for colds. Lancet. 2019;393:1-9.\n"
    path = markdown(tmp_path, (NOTES[0], NOTES[1], NOTES[2], REMARK), "Zinc is a metal [1]. ", listed)
    found = read_manuscript(path)
    assert [mark.keys for mark in found.citations] == [("1",), ("note 2",)]
    assert "notes without a reference were left out" in found.notes and "[^1]" not in found.text
    lines = ("References", *listed.strip().split("\n")[2:])
    found = read_manuscript(word(tmp_path, (*NOTES, REMARK), "Zinc is a metal [1]. ", lines))
    assert [mark.keys for mark in found.citations] == [("1",), ("footnote 2",)]
    assert "^1^" not in found.text


def test_a_list_may_hold_passages_in_place_of_references(tmp_path: Path):
    listed = "".join(f"\n{at}. {note}\n" for at, note in enumerate(NOTES, start=1))
    text = " ".join(f"{words[:-1]} [{at}]." for at, words in enumerate(SENTENCES, start=1))
    (tmp_path / "paper.txt").write_text(f"{text}\n\nReferences\n{listed}", "utf-8")
    found = vc.check_document(tmp_path / "paper.txt")
    assert [sentence.outcome for sentence in found.sentences if sentence.outcome == "supported"] == ["supported"] * 2
    assert not found.unsourced
