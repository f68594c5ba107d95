"""Prompts found in an invented paper that has the headings of a real one: marks of the page, PDF, what is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.errors import InputError
from vericite.generate.printed import write_printed
from vericite.generate.prompt import VerbatimAnswerPrompt, load_prompt
from vericite.verify.judges.llm import load_judge_prompt

sys.path.append(str(Path(__file__).resolve().parents[1]))

from pdf_files import Page, pdf

VERICITE = """D More Results

Nothing of note.

E Prompt Template

Answer from the
 \u21aa abstracts.

1. Cite "all".
2. Be \\brief.

[Three demonstrations omitted]

Sources:

[1] <abstract of document 1>
 ...
 [k] <abstract of document k>

Asked: <question>

Answer:"""
RULES = 'Answer from the abstracts.\n\n1. Cite "all".\n2. Be \\brief.'
ASKED = "{demonstrations}Sources:\n\n{documents}\n\nAsked: {question}\n\nAnswer:"


def written(folder: Path, text: str, name: str = "paper.txt") -> Path:
    (folder / name).write_bytes(text.encode())
    return folder / name


def turns(file: Path) -> list[str]:
    prompt = load_prompt(file)
    assert isinstance(prompt, VerbatimAnswerPrompt)
    return [turn.text for turn in prompt.turns]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_marks_of_the_page_are_no_part_of_a_prompt(tmp_path: Path, line_end: str):
    text = VERICITE.replace("1. Cite", "\u00b9<https://example.org/note>\n\n1. Cite").replace(
        "2. Be", "\n 18\n\n\f2. Be"
    )
    found = write_printed(written(tmp_path, "\ufeff" + text.replace("\n", line_end)), tmp_path / "to")
    assert (found.paper, found.missing) == ("vericite", ())
    assert turns(found.files["vericite"]) == [RULES, ASKED]


def test_a_pdf_is_read_line_by_line(tmp_path: Path):
    pytest.importorskip("pypdfium2", reason="the extra [documents] is not installed")
    page = Page()
    body = "Nothing of note.\n" * 20
    for number, line in enumerate(VERICITE.replace("Nothing of note.\n", body).split("\n")):
        if line:
            page.at(72, 760 - 12 * number, line.replace(" \u21aa ", ""))
    file = tmp_path / "paper.pdf"
    file.write_bytes(pdf([page]))
    found = write_printed(file, tmp_path / "to")
    # Without the arrow, which is not in the font, the broken line stays broken.
    rules, asked = turns(found.files["vericite"])
    assert rules == RULES.replace(" abstracts", "\nabstracts")
    assert asked == ASKED


def test_a_file_that_is_none_of_the_papers_is_refused(run_cli: Callable[..., Any], tmp_path: Path):
    other = written(tmp_path, "A paper about prompts.\n\nE Prompts\n\nBe brief.\n")
    refused = run_cli("prompts", "from", str(other), "--to", str(tmp_path / "to"))
    told = " ".join(refused.err.split())
    assert refused.code == 2 and "expected a paper" in told and "found none" in told and "Use the full text" in told
    assert not (tmp_path / "to").exists()
    absent = run_cli("prompts", "from", str(tmp_path / "none.txt"), "--to", str(tmp_path / "to"))
    assert absent.code == 2 and "expected a readable file" in absent.err
    (tmp_path / "scan").write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(InputError, match="UTF-8 text or PDF"):
        write_printed(tmp_path / "scan", tmp_path / "to")


def test_a_file_in_place_of_the_folder_is_refused_and_kept(tmp_path: Path):
    paper = written(tmp_path, VERICITE)
    with pytest.raises(InputError, match="expected a folder"):
        write_printed(paper, paper)
    assert paper.read_text("utf-8") == VERICITE


BINARY = "Prompt : Binary Label Prompt\n{}\nClaim:{{sentence}}\nReference:{{document}}\nFig. A2: A prompt.\n"


def test_a_prompt_that_a_copy_lacks_is_named_and_the_others_are_written(run_cli: Callable[..., Any], tmp_path: Path):
    paper = written(tmp_path, BINARY.format("Decide.") + "Prompt : Ternary Label Prompt\nDecide.\nFig. A3: Torn.\n")
    made = run_cli("prompts", "from", str(paper), "--to", str(tmp_path / "to"))
    assert made.code == 2
    assert [file.name for file in (tmp_path / "to").iterdir()] == ["bioace-binary.toml"]
    # Its places for sentence and document are missing.
    assert "expected bioace-ternary" in made.err and "expected bioace-binary" not in made.err


@given(st.text(alphabet='ab"\\{}\n\t\x01\x7f\u2019 ', max_size=40))
def test_every_character_survives_the_file(text: str):
    with TemporaryDirectory() as folder:
        paper = written(Path(folder), BINARY.format(f"Decide{text}."))
        found = write_printed(paper, Path(folder))
        (turn,) = load_judge_prompt(found.files["bioace-binary"]).turns
        assert turn.text == f"Decide{text}.\nClaim:{{claim}}\nReference:{{reference}}"
