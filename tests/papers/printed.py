"""What the papers print, taken from their texts; nothing of them stands here."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

PAPERS = Path(os.environ.get("VERICITE_PAPERS", Path(__file__).parents[3] / "shared" / "papers"))

needs_papers = pytest.mark.skipif(
    not (PAPERS / "bioace.txt").is_file(), reason="expected the papers in ../shared/papers; found none"
)


def between(paper: str, first: str, last: str) -> str:
    """A paper's text behind the line ``first`` and before the line that begins with ``last``."""
    text = (PAPERS / f"{paper}.txt").read_text("utf-8")
    start = re.search(rf"^{re.escape(first)}[^\n]*\n", text, re.MULTILINE)
    assert start is not None, first
    end = re.compile(rf"^{re.escape(last)}", re.MULTILINE).search(text, start.end())
    assert end is not None, last
    return text[start.end() : end.start()].strip("\n")


def printed(name: str) -> str:
    """A printed prompt by its name."""
    if name == "vericite-e":
        # An arrow marks where the page broke a line.
        return to_end("vericite", "E Prompt Template").replace("\n ↪ ", " ")
    if name.startswith("reason-verify"):
        base = between("reason-and-verify", "C.1. Base", "C.2. Dataset").split("\n\n")[1]
        if name.endswith("pubmedqa"):
            block = between("reason-and-verify", "C.2.1.", "C.2.2.")
        else:
            block = to_end("reason-and-verify", "C.2.2.")
        # A footnote has come between.
        appended = re.sub(r"^¹.*\n+", "", block.split("We appended:\n", 1)[1].strip("\n"), flags=re.MULTILINE)
        return f"{base}\n\n{appended}"
    if name.startswith("bioace-a"):
        titles = ("Completeness", "Binary Label", "Ternary Label", "Nugget Label", "Nugget Generation")
        number = int(name[-1])
        return between("bioace", f"Prompt : {titles[number - 1]} Prompt", f"Fig. A{number}:")
    number = int(name[-1])
    sources = {6: "A.1 HotpotQA prompt", 7: "Prompt to augment a positive", 8: "Figure 7: Prompt"}
    text = between("multiattr", sources[number], f"Figure {number}:")
    return text.removeprefix("```\n").removesuffix("\n```")


def to_end(paper: str, first: str) -> str:
    """A paper's text behind a line."""
    text = (PAPERS / f"{paper}.txt").read_text("utf-8")
    start = re.search(rf"^{re.escape(first)}[^\n]*\n", text, re.MULTILINE)
    assert start is not None, first
    return text[start.end() :].strip("\n")


def toml(turns: list[tuple[str, str]], **fields: object) -> str:
    """A verbatim prompt's file; JSON's strings are TOML's."""
    lines = ['name = "as-printed"', "version = 1", 'about = "A paper, as printed."', "verbatim = true"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    for role, text in turns:
        lines += ["[[turns]]", f'role = "{role}"', f"text = {json.dumps(text, ensure_ascii=False)}"]
    return "\n".join(lines) + "\n"


def filled(text: str, given: dict[str, str]) -> str:
    """The printed text with values at the places that the paper marks."""
    for place, value in given.items():
        assert place in text, place
        text = text.replace(place, value)
    return text
