"""``ask`` and ``search`` over a folder of files: PDF, Word, text and JSON Lines, read into memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pdf_files import Page, pdf
from vericite import ask, search
from vericite.corpus.sources import folder as folder_source

pytest.importorskip("pypdfium2", reason="needs the extra [documents]")

QUESTION = "Does levodopa improve the symptoms of Parkinson's disease?"
FAST = ("--set", "search.rerank=none", "--judge", "lexical")


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder with a PDF, a text in a folder below, JSON Lines, a picture and a broken PDF's name."""
    folder = tmp_path / "papers"
    (folder / "more").mkdir(parents=True)
    page = Page()
    page.flow(50, 780, 490, "Levodopa in early Parkinson's disease", 18, False)
    page.flow(50, 700, 490, "Levodopa improved the symptoms of Parkinson's disease in all patients.")
    (folder / "levodopa.pdf").write_bytes(pdf([page]))
    (folder / "more" / "zinc.txt").write_text("Zinc lozenges did not shorten the common cold in adults.\n")
    (folder / "lines.jsonl").write_text(json.dumps({"id": "statin", "text": "Statins lower cholesterol."}) + "\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    return folder


def test_a_folder_of_pdfs_and_other_files_is_asked_and_searched(run_cli, papers: Path):
    asked = run_cli("ask", QUESTION, "--corpus", str(papers), *FAST)
    assert asked.code == 0, asked.err
    assert "Levodopa improved the symptoms of Parkinson's disease in all patients [1]." in asked.out
    assert "picture.png (binary)" in asked.err
    found = run_cli("search", "zinc for the common cold", "--corpus", str(papers), "--by", "bm25", *FAST[:2], "--json")
    assert json.loads(found.out)["evidence"][0]["document"]["id"].startswith("zinc-")


def test_the_python_interface_takes_a_folder(papers: Path):
    assert ask(QUESTION, corpus=papers).answer.exact == (("yes",),)
    assert {hit.document.id.partition("-")[0] for hit in search("levodopa zinc statins", corpus=papers).evidence} == {
        "levodopa", "zinc", "statin",
    }  # fmt: skip


def test_a_file_that_cannot_be_read_costs_only_itself(run_cli, papers: Path):
    (papers / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing")
    printed = run_cli("ask", QUESTION, "--corpus", str(papers), *FAST)
    assert printed.code == 2
    assert "Levodopa improved" in printed.out
    assert "broken.pdf" in printed.err


def test_a_folder_that_is_too_large_is_refused_with_the_command_that_builds_a_store(
    run_cli, papers: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(folder_source, "MOST_FILES", 2)
    printed = run_cli("ask", QUESTION, "--corpus", str(papers), *FAST)
    assert printed.code == 2
    assert f"vericite corpus build {papers} --to STORE" in " ".join(printed.err.split())


def test_a_folder_without_documents_is_refused(run_cli, tmp_path: Path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    printed = run_cli("ask", QUESTION, "--corpus", str(tmp_path / "papers"), *FAST)
    assert printed.code == 2
    assert "such as PDF, Word or JSON Lines; found none" in " ".join(printed.err.split())


def test_the_help_of_corpus_build_names_pdf(run_cli):
    assert "PDF" in run_cli("corpus", "build", "--help").out
