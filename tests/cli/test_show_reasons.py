"""The table of verdicts says why there is no verdict."""

from __future__ import annotations

import pytest

from vericite import check
from vericite.cli.show import verdict_rows


@pytest.mark.parametrize(
    ("claim", "source", "reason"),
    [
        (
            "Übelkeit war unter Semaglutid häufiger als unter Placebo [1].",
            "Nausea was more frequent.",
            "not in English",
        ),
        ("Nausea was more frequent [1].", "", "d has no text"),
    ],
)
def test_the_reason_of_an_abstention_stands_below_its_claim(claim: str, source: str, reason: str):
    checked = check(claim, [{"id": "d", "title": "Nausea", "text": source}], judge="lexical")
    [row] = verdict_rows(checked)
    assert str(row[2]) == "abstained"
    assert reason in str(row[-1]).split("\n")[-1]
