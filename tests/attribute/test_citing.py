"""Removing and adding citations: texts parse back to the same citations, and every offset is right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.attribution import cited, uncited
from vericite.errors import InputError
from vericite.records import Answer, Document
from vericite.text.citations import parse_answer

DOCUMENTS = [Document.from_text(name, f"Text of {name}.") for name in "abc"]
SENTENCES = (
    "Statins lower LDL.",
    'Patients "felt better."',
    "Was the dose 5 mg (n = 12)?",
    "Zinc helped (but less than iron).",
    "It was mild...",
    "Most were over 65 years of age, e.g. in Italy.",
)


def parsed(text: str) -> Answer:
    return parse_answer("x", text, DOCUMENTS)


def citations(answer: Answer) -> list[tuple[str, tuple[str | None, ...]]]:
    return [(claim.text, tuple(citation.document for citation in claim.citations)) for claim in answer.claims]


def spans_hold(answer: Answer) -> bool:
    """Whether each citation's span is its marker and each claim's span contains its words."""
    markers = all(
        answer.text[citation.span.slice] == f"[{citation.marker}]"
        for claim in answer.claims
        for citation in claim.citations
    )
    return markers and all(claim.text.split()[0] in answer.text[claim.span.slice] for claim in answer.claims)


@pytest.mark.parametrize(
    ("bare", "marked"),
    [
        ("Statins lower LDL.", "Statins lower LDL [1][3]."),
        ("Statins lower LDL", "Statins lower LDL [1][3]"),
        ("Was it so?", "Was it so [1][3]?"),
        ('He said "it works."', 'He said "it works [1][3]."'),
        ("It works (in rats).", "It works (in rats) [1][3]."),
        ("- **Statins** lower LDL.", "- **Statins** lower LDL [1][3]."),
    ],
)
def test_markers_stand_before_the_full_stop(bare: str, marked: str):
    assert cited(parsed(bare), {0: (1, 3)}).text == marked


@given(
    st.lists(
        st.tuples(st.sampled_from(SENTENCES), st.sets(st.integers(1, 3)), st.sampled_from([" ", "\n", "\n\n- "])),
        min_size=1,
        max_size=6,
    )
)
def test_added_citations_parse_back_and_can_be_removed(parts: list[tuple[str, set[int], str]]):
    text = "".join(sentence + gap for sentence, _, gap in parts[:-1]) + parts[-1][0]
    bare = parsed(text)
    markers = {index: tuple(sorted(parts[index % len(parts)][1])) for index in range(len(bare.claims))}
    marked = cited(bare, markers)
    assert spans_hold(marked)
    assert citations(parsed(marked.text)) == citations(marked)
    again = uncited(marked)
    assert spans_hold(again)
    assert citations(again) == [(claim.text, ()) for claim in bare.claims]


@pytest.mark.parametrize(
    "text",
    [
        "[1] Statins lower LDL. Niacin does not.",
        "Statins lower LDL.[1] Niacin does not (see [2, 3]).",
        "According to [1], statins lower LDL [2]. Niacin does not [9].",
        "Statins lower LDL (PMID: 123). Niacin does not <sup>[2]</sup>.",
        "# Effects [1]\nStatins lower LDL.\n\n- Niacin does not [2]\n- Zinc neither [3]\n",
    ],
)
def test_removing_citations_leaves_the_words_of_an_answer(text: str):
    bare = uncited(parsed(text))
    assert [claim.text for claim in bare.claims] == [claim.text for claim in parsed(text).claims]
    assert not any(claim.citations for claim in bare.claims)
    assert citations(parsed(bare.text)) == citations(bare)
    assert spans_hold(bare)


def test_headings_and_bullets_stay():
    bare = uncited(parsed("# Effects [1]\nStatins lower LDL.\n\n- Niacin does not [2]\n"))
    assert bare.text.startswith("# Effects")
    assert "\nStatins lower LDL.\n\n- Niacin does not\n" in bare.text


def test_only_the_sentences_asked_for_lose_their_citations():
    bare = uncited(parsed("Statins lower LDL [1]. Niacin does not [2]. Zinc neither [3]."), {1})
    assert bare.text == "Statins lower LDL [1]. Niacin does not. Zinc neither [3]."
    assert spans_hold(bare)


def test_more_documents_than_markers_are_refused():
    many = parse_answer("x", "Statins lower LDL.", [Document.from_text(str(n), "x") for n in range(1000)])
    with pytest.raises(InputError, match="at most 999 documents"):
        cited(many, {0: (1000,)})
