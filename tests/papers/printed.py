"""The papers' texts, and what they print between two lines; nothing of them stands here."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

PAPERS = Path(os.environ.get("VERICITE_PAPERS", Path(__file__).parents[3] / "shared" / "papers"))

needs_papers = pytest.mark.skipif(
    not (PAPERS / "bioace.txt").is_file(), reason="expected the papers in ../shared/papers; found none"
)


def between(paper: str, first: str, last: str | None = None) -> str:
    """A paper's lines behind the one that begins with ``first`` and before the one that begins with ``last``."""
    lines = (PAPERS / f"{paper}.txt").read_text("utf-8").split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith(first)) + 1
    end = (
        len(lines) if last is None else next(n for n, line in enumerate(lines) if n >= start and line.startswith(last))
    )
    return "\n".join(lines[start:end]).strip("\n")


def printed(name: str) -> str:
    """A printed prompt by the name of its file, with the paper's placeholders; not found by the package's code."""
    match name.split("-"):
        case ["vericite"]:
            return between("vericite", "E Prompt Template").replace("\n ↪ ", " ")
        case ["reason", "verify", dataset]:
            base = between("reason-and-verify", "C.1. Base", "C.2. Dataset").split("\n\n")[1]
            at = ("C.2.1.", "C.2.2.") if dataset == "pubmedqa" else ("C.2.2.",)
            block = between("reason-and-verify", *at).split("We appended:\n", 1)[1]
            # A footnote has come between.
            return f"{base}\n\n" + re.sub(r"^¹.*\n+", "", block.strip("\n"), flags=re.MULTILINE)
        case ["bioace", *_]:
            number, title = _FIGURES[name]
            return between("bioace", f"Prompt : {title} Prompt", f"Fig. A{number}:")
        case _:
            number, first = _FIGURES[name]
            text = between("multiattr", first, f"Figure {number}:")
            return text.removeprefix("```\n").removesuffix("\n```")


_FIGURES = {
    "bioace-completeness": (1, "Completeness"),
    "bioace-binary": (2, "Binary Label"),
    "bioace-ternary": (3, "Ternary Label"),
    "bioace-nugget-labels": (4, "Nugget Label"),
    "bioace-nuggets": (5, "Nugget Generation"),
    "multiattr-long": (6, "A.1 HotpotQA prompt"),
    "multiattr-positive": (7, "Prompt to augment a positive"),
    "multiattr-negative": (8, "Figure 7: Prompt"),
}
NAMES = {
    "vericite": ("vericite",),
    "reason-and-verify": ("reason-verify-pubmedqa", "reason-verify-bioasq"),
    "bioace": tuple(name for name in _FIGURES if name.startswith("bioace")),
    "multiattr": tuple(name for name in _FIGURES if name.startswith("multiattr")),
}
"""The prompts of each paper, in its order."""


def filled(text: str, given: dict[str, str]) -> str:
    """The printed text with values at the places that the paper marks."""
    for place, value in given.items():
        assert place in text, place
        before, _, behind = text.rpartition(place)
        text = f"{before}{value}{behind}"
    return text
