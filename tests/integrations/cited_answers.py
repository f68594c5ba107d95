"""Answers for the tests of integrations, and the scores that ``vericite.check`` gives them."""

from __future__ import annotations

import re
from pathlib import Path

import vericite

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"
QUESTION = "Do zinc lozenges shorten colds?"
SOURCES = ["Zinc lozenges shortened colds by two days.", "Nausea and a bad taste were frequent."]
SUPPORTED = "Zinc lozenges shortened colds by two days [1]. Nausea was frequent [2]."
PARTLY = "Zinc lozenges shortened colds by two days [1]. Nausea was rare [2]. Many people take them."
UNMARKED = "Zinc lozenges shortened colds by two days. Nausea was frequent."
ANSWERS = [SUPPORTED, PARTLY, UNMARKED]
SCORES = ("support", "contradiction", "citation_recall", "citation_precision")


def expected(score: str, text: str) -> float:
    """The score of an answer, from the counts and measures of what ``vericite.check`` returns."""
    answer = {"response": text, "retrieved_contexts": SOURCES, "user_input": QUESTION}
    if score.startswith("citation"):
        checked = vericite.check(answer, protocol="alce")
        measure = {"citation_recall": "AlceRecall", "citation_precision": "AlcePrecision"}[score]
        value = vericite.score([checked], measures=measure)[0].estimate.value
        assert value is not None
        return value
    summary = vericite.check(answer).summary
    if score == "contradiction":
        return summary.contradicted / summary.judged
    return summary.supported / (summary.judged + summary.abstained + summary.dangling + summary.uncited)


def run_block(heading: str) -> None:
    """Run the program below this heading of docs/integrations.md."""
    found = re.search(rf"^## {heading}\n\n```py\n(.*?)```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert found, heading
    exec(compile(found[1], f"docs/integrations.md, {heading}", "exec"), {"__name__": "__main__"})
