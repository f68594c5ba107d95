"""Answers rebuilt from their verdicts: sentences, places of words and passages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vericite.evaluate.items import Item
from vericite.pipeline.check import check_many
from vericite.records import Document, UnsupportedWords
from vericite.reporting.kept import with_kept_answer
from vericite.text.citations import parse_answer

SENTENCES = (
    "Zelotrine reduced pain in 40 of 80 adults [1].",
    "Nausea was rare [1,2]!",
    "[3] It cured baldness in all men.",
    "It rains.",
    "- Cost was studied **twice** [2][1]",
    "Pain fell (PMID: 7).",
    "Nobody knows [9].",
)
DOCUMENTS = [
    Document.from_text("d1", "Zelotrine reduced pain in 40 of 80 adults. Nausea was common. Cost was not studied."),
    Document.from_text("d2", "Nausea was rare. Cost was studied twice. Nausea was rare."),
    Document.from_text("d3", ""),
    Document(id="7", pmid="7", title="Pain"),
]


@given(st.lists(st.tuples(st.sampled_from(SENTENCES), st.sampled_from([" ", "\n\n", "\n"])), max_size=6))
def test_a_rebuilt_answer_has_the_sentences_citations_and_passages_of_the_answer(parts):
    answer = parse_answer("a", "".join(map("".join, parts)), DOCUMENTS, "Does it help?")
    (checked,) = check_many([answer], judge="lexical")
    made = with_kept_answer(Item("a", None, checked))
    rebuilt, verdicts = made.answer, made.checked
    assert rebuilt is not None and verdicts is not None and rebuilt.question == "Does it help?"
    assert [claim.text for claim in rebuilt.claims] == [claim.text for claim in answer.claims]
    for claim, given_claim in zip(rebuilt.claims, answer.claims, strict=True):
        pairs = {(citation.marker, citation.document) for citation in given_claim.citations}
        assert {(citation.marker, citation.document) for citation in claim.citations} == pairs
        for citation in claim.citations:
            assert rebuilt.text[citation.span.slice] == f"[{citation.marker}]"
    for verdict, before in zip(verdicts.verdicts, checked.verdicts, strict=True):
        assert any(claim.span.start == verdict.start and claim.text == verdict.claim for claim in rebuilt.claims)
        for span, old in zip(verdict.evidence, before.evidence, strict=True):
            assert rebuilt.document(span.document).text[span.start : span.end] == old.text
    assert verdicts.summary == checked.summary


def test_words_that_no_source_carries_are_found_behind_moved_markers():
    answer = parse_answer("a", "[1] Of 80 adults 80 had less pain.", DOCUMENTS)
    (checked,) = check_many([answer], judge="lexical")
    (verdict,) = checked.verdicts
    start = answer.text.rindex("80")
    words = UnsupportedWords(kind="number", text="80", start=start, end=start + 2)
    told = checked.model_copy(update={"verdicts": (verdict.model_copy(update={"words": (words,)}),)})
    made = with_kept_answer(Item("a", None, told))
    assert made.answer is not None and made.checked is not None
    (found,) = made.checked.verdicts[0].words
    assert made.answer.text == "Of 80 adults 80 had less pain [1]."
    assert (found.start, found.end) == (13, 15)


def test_an_answer_that_is_known_stays_and_files_without_the_words_of_passages_are_read():
    answer = parse_answer("a", SENTENCES[0], DOCUMENTS)
    (checked,) = check_many([answer], judge="lexical")
    item = Item("a", answer, checked)
    assert with_kept_answer(item) is item
    bare = [
        verdict.model_copy(
            update={"evidence": tuple(span.model_copy(update={"text": None}) for span in verdict.evidence)}
        )
        for verdict in checked.verdicts
    ]
    made = with_kept_answer(Item("a", None, checked.model_copy(update={"verdicts": tuple(bare), "question": None})))
    assert made.answer is not None and made.answer.document("d1").text == ""
    assert made.answer.text == SENTENCES[0]


def test_each_of_several_markers_of_one_document_keeps_it():
    documents = [Document.from_text("a", "Zinc shortened colds by two days."), Document.from_text("b", "It rained.")]
    answer = parse_answer("x", "Zinc shortened colds [1][2][3].", documents)
    claim = answer.claims[0]
    first, second, third = claim.citations
    cited = (first, second.model_copy(update={"document": "a"}), third.model_copy(update={"document": "b"}))
    moved = answer.model_copy(update={"claims": (claim.model_copy(update={"citations": cited}),)})
    (checked,) = check_many([moved], judge="lexical")
    assert checked.verdicts[0].by_marker == ("a", "a", "b")
    made = with_kept_answer(Item("x", None, checked)).answer
    assert made is not None
    assert [(it.marker, it.document) for it in made.claims[0].citations] == [(1, "a"), (2, "a"), (3, "b")]
