"""Manuscripts: which sentences are judged against which documents, and what is counted."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from vericite.evaluate.gates import parse_gates
from vericite.pipeline.manuscript import ManuscriptCheck, check_manuscript, markers_of
from vericite.pipeline.plan import Plan
from vericite.records import Document, Manuscript, ManuscriptCitation, ManuscriptHeading, Reference, Span
from vericite.records.manuscripts import ReferenceProblem, ReferenceProblemKind, ResolvedReference

_MARK = re.compile(r"\[(?P<keys>\d+(?:, ?\d+)*)\]")


def manuscript(text: str, references: int, headings: tuple[str, ...] = (), pages: tuple[int, ...] = ()) -> Manuscript:
    return Manuscript(
        name="draft.docx",
        text=text,
        citations=tuple(
            ManuscriptCitation(
                span=Span(start=mark.start(), end=mark.end()), keys=tuple(mark["keys"].replace(" ", "").split(","))
            )
            for mark in _MARK.finditer(text)
        ),
        references=tuple(Reference(key=str(number), title=f"Work {number}") for number in range(1, references + 1)),
        headings=tuple(ManuscriptHeading(start=text.index(title), text=title) for title in headings),
        pages=pages,
    )


def found(documents: Mapping[str, Document]) -> list[ResolvedReference]:
    return [ResolvedReference(key=key, document=document) for key, document in documents.items()]


TEXT = (
    "Results\n\nAspirin lowers fever in adults [1]. Nothing is cited here. Statins raise cholesterol in men [2, 3].\n\n"
    "Discussion\n\nVitamin C cures scurvy in sailors.[4] Zinc prevents colds in children [9]."
)
DOCUMENTS = {
    "1": Document.from_text("fever", "Aspirin lowers fever in adults."),
    "2": Document.from_text("men", "Statins do not raise cholesterol in men. They lower it."),
}


@pytest.fixture
def checked() -> ManuscriptCheck:
    given = manuscript(TEXT, 4, ("Results", "Discussion"), (0, TEXT.index("Discussion")))
    return check_manuscript(given, found(DOCUMENTS), Plan().changed({"llm": {"cache": False}}))


def test_only_sentences_that_cite_are_claims_with_their_exact_place(checked: ManuscriptCheck) -> None:
    shown = [(item.text, TEXT[item.start : item.end], item.keys) for item in checked.sentences]
    assert shown == [
        ("Aspirin lowers fever in adults.", "Aspirin lowers fever in adults [1].", ("1",)),
        ("Statins raise cholesterol in men.", "Statins raise cholesterol in men [2, 3].", ("2", "3")),
        ("Vitamin C cures scurvy in sailors.", "Vitamin C cures scurvy in sailors.[4]", ("4",)),
        ("Zinc prevents colds in children.", "Zinc prevents colds in children [9].", ("9",)),
    ]
    assert [item.section for item in checked.sentences] == ["Results", "Results", "Discussion", "Discussion"]
    assert [item.page for item in checked.sentences] == [1, 1, 2, 2]


def test_a_reference_without_a_document_is_not_at_hand_and_never_dangling(checked: ManuscriptCheck) -> None:
    outcomes = [item.outcome for item in checked.sentences]
    assert outcomes == ["supported", "contradicted", "source not at hand", "source not at hand"]
    assert [item.missing for item in checked.sentences] == [(), ("3",), ("4",), ("9",)]
    assert checked.checked.summary.dangling == 0
    assert checked.checked.uncited == ()
    assert {marker for verdict in checked.checked.verdicts for marker in verdict.markers} == {1, 2}


def test_the_summary_says_it_in_words(checked: ManuscriptCheck) -> None:
    kinds: dict[str, ReferenceProblemKind] = {
        "1": "retracted",
        "3": "not found",
        "4": "not found",
        "2": "not in these sources",
    }
    references = [
        ResolvedReference(key=key, reference=Reference(key=key), problems=(ReferenceProblem(kind=kind),))
        for key, kind in kinds.items()
    ]
    assert checked.model_copy(update={"references": tuple(references)}).summary == (
        "4 citing sentences, 4 references (2 not found, 1 retracted): 1 is supported, 1 contradicts its source, "
        "2 have no source at hand."
    )


def test_a_source_without_a_text_is_not_at_hand() -> None:
    empty = Document.from_text("title-only", "", "Aspirin and fever")
    result = check_manuscript(manuscript("Aspirin lowers fever [1].", 1), found({"1": empty}))
    assert [item.outcome for item in result.sentences] == ["source not at hand"]


@pytest.mark.parametrize(
    ("text", "citations"),
    [
        ("Aspirin lowers fever in adults [1]. Zinc prevents colds [2].", 2),
        ("Aspirin lowers fever in adults [1, 2].", 2),
        ("Aspirin lowers fever in adults [1].", 1),
    ],
)
def test_a_cited_reference_that_is_retracted_and_has_no_text_counts_as_retracted(text: str, citations: int) -> None:
    """A catalogue such as Crossref says that a work is retracted, and often has no abstract of it."""
    gone = ResolvedReference(
        key="2",
        document=Document.from_text("zinc", "", "Zinc").model_copy(update={"retracted": True}),
        problems=(ReferenceProblem(kind="retracted"),),
    )
    result = check_manuscript(manuscript(text, 2), [*found({"1": DOCUMENTS["1"]}), gone])
    counts = result.gated.summary
    assert (counts.retracted, counts.citations, counts.supported) == (citations - 1, citations, 1)
    (gate,) = parse_gates([], ["retracted=0"])
    assert gate.result(counts).outcome == ("failed" if citations > 1 else "passed")


def test_retracted_references_of_one_sentence_are_no_more_than_its_citations() -> None:
    problems = (ReferenceProblem(kind="retracted"),)
    gone = [ResolvedReference(key=key, problems=problems) for key in ("1", "2")]
    counts = check_manuscript(manuscript("Zinc prevents colds [1, 2].", 2), gone).gated.summary
    assert (counts.retracted, counts.citations, counts.dangling, counts.claims) == (2, 2, 1, 1)


def test_many_sentences_are_judged_in_parts_and_put_together_again() -> None:
    text = "\n\n".join(f"Aspirin lowers fever in adults of age {number} [1]." for number in range(20, 60))
    told: list[tuple[int, int]] = []
    result = check_manuscript(
        manuscript(text, 1),
        found(DOCUMENTS),
        Plan().changed({"llm": {"cache": False}}),
        on_progress=lambda done, total: told.append((done, total)),
    )
    assert len(result.sentences) == len(result.checked.verdicts) == result.checked.summary.claims == 40
    assert told[0][0] < 40
    assert told[-1] == (40, 40)


def test_two_references_to_one_document_are_one_source() -> None:
    same = DOCUMENTS["1"]
    result = check_manuscript(manuscript("Aspirin lowers fever [1, 2].", 2), found({"1": same, "2": same}))
    assert len(result.checked.verdicts) == 1
    assert [document.id for document in result.answer.documents] == ["fever"]


def test_keys_that_are_no_numbers_are_numbered_by_their_place() -> None:
    given = Manuscript(
        name="a.tex",
        text="So it is (Doe 2019).",
        citations=(ManuscriptCitation(span=Span(start=9, end=19), keys=("doe2019", "new")),),
        references=(Reference(key="roe2018"), Reference(key="doe2019")),
    )
    assert markers_of(given) == {"roe2018": 1, "doe2019": 2, "new": 3}


def test_a_manuscript_without_citations_has_an_empty_result() -> None:
    result = check_manuscript(manuscript("Nothing is cited.", 1))
    assert result.sentences == ()
    assert result.summary.startswith("0 citing sentences, 1 reference")
