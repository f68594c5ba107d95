"""Labels of an abstract's sections are not read by the judge, wherever the source comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pytest

from vericite import check
from vericite.models import Pair
from vericite.records import Document, Section
from vericite.verify import Judgement, get_protocol

PRINTED = "Background: Colds are common. Methods: We gave 90 adults zinc. Results: Zinc shortened colds by 2 days."


class Kept:
    """A judge that keeps what it reads, and supports what names zinc."""

    signature = "kept"

    def __init__(self) -> None:
        self.read: list[str] = []

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            self.read.append(pair.premise)
            row = (0.9, 0.05, 0.05) if "shortened" in pair.premise else (0.05, 0.05, 0.9)
            yield Judgement(np.array(row, dtype=np.float32))


def read(document: Document, protocol: str = "default"):
    judge = Kept()
    checked = check("Zinc makes colds shorter [1].", [document], protocol=get_protocol(protocol), judge=judge)
    return judge.read, checked.verdicts[0]


@pytest.mark.parametrize("protocol", ["default", "vericite", "alce"])
def test_a_printed_label_changes_nothing_that_the_judge_reads(protocol: str):
    parts = ["Colds are common.", "We gave 90 adults zinc.", "Zinc shortened colds by 2 days."]
    bare = Document.from_text("d", " ".join(parts))
    printed = read(Document.from_text("d", PRINTED), protocol)[0]
    assert printed == read(bare, protocol)[0]
    assert not any("Results:" in text for text in printed)


def test_evidence_points_into_the_text_as_given():
    document = Document.from_text("d", PRINTED)
    _, verdict = read(document)
    assert document.text == PRINTED
    assert [PRINTED[span.start : span.end] for span in verdict.evidence] == ["Zinc shortened colds by 2 days."]


def test_labels_on_lines_of_their_own_are_no_premises():
    lines = "Results:\nZinc shortened colds by 2 days.\nConclusions:\nZinc may help adults."
    assert set(read(Document.from_text("d", lines))[0]) >= {"Zinc shortened colds by 2 days.", "Zinc may help adults."}
    assert not any("Results" in text for text in read(Document.from_text("d", lines))[0])


@pytest.mark.parametrize(
    "text", ["RNA: zinc shortened colds.", "Zinc shortened colds. Primary outcome: days of fever."]
)
def test_words_before_a_colon_that_are_no_label_are_read(text: str):
    assert text[:4] in read(Document.from_text("d", text))[0][0] and any(
        ":" in part for part in read(Document.from_text("d", text))[0]
    )


def test_a_hypothesis_keeps_the_word_that_says_it_is_one():
    text = "Hypothesis: Zinc shortened colds by 2 days. Results: It did nothing."
    read_, verdict = read(Document.from_text("d", text))
    assert "Hypothesis: Zinc shortened colds by 2 days." in read_ and verdict.label != "supported"


def test_published_protocols_read_the_text_as_it_is():
    texts, _ = read(Document.from_text("d", PRINTED), "vericite-as-published")
    assert any("Results:" in text for text in texts)


def test_a_label_in_a_section_is_found_by_its_section():
    sections = (Section(text="Colds are common.", label="Background"), Section(text="Results: Zinc shortened colds."))
    assert "Zinc shortened colds." in read(Document(id="d", sections=sections))[0]
