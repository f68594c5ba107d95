from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.records import Answer, Document
from vericite.text.citations import CITATIONS, parse_answer
from vericite.text.markers import MarkerGroup, parse_markers, render, render_markers, segments

DOCUMENTS = tuple(Document.from_text(f"doc{number}", "Aspirin lowers LDL.") for number in range(1, 6))

PIECES = st.sampled_from(
    """[1] [2,3] [1,2,] [4;] [1-3,] [[1]] [^1] 【1†source】 [1]-[3] H- [９] [0] [1-3] [2019] (see ( ) [ ] ** --- - 1.
    ## : . | <sup> </sup> > ^ and a Z 5 References Sources: Aspirin lowers (http://a.b/c.d)""".split()
) | st.sampled_from([" ", "\n", "\n\n", ". ", "\r\n", "\ud800"])
ANSWERS = st.lists(PIECES, max_size=25).map("".join) | st.text()


def answer(text: str) -> Answer:
    return parse_answer("a", text, DOCUMENTS)


def claims(text: str) -> list[tuple[str, list[int]]]:
    return [(claim.text, [citation.marker for citation in claim.citations]) for claim in answer(text).claims]


MARKERS = {
    "[1]": [1],
    "[ 1 ]": [1],
    "[12]": [12],
    "[123]": [123],
    "[0]": [0],
    "[2][3]": [2, 3],
    "[2,3]": [2, 3],
    "[2, 3]": [2, 3],
    "[1; 2]": [1, 2],
    "[1-3]": [1, 2, 3],
    "[1–3]": [1, 2, 3],
    "[1 – 3]": [1, 2, 3],
    "[1,3-5]": [1, 3, 4, 5],
    "[1,1]": [1, 1],
    "[4-4]": [4],
    "[１]": [1],
    "[٣]": [3],
    "[1,\n2]": [1, 2],
    "[[1]]": [1],
    "[[1, 2]]": [1, 2],
    "[[1], [2]]": [1, 2],
    "【3】": [3],
    "[1](http://example.org)": [1],
    "p<0.001 [3].": [3],
    "1.5 mg [2].": [2],
    "a score of [0-10]": list(range(11)),  # an interval, but of the form of a citation
    "[1, 2, and 3]": [1, 2, 3],
    "[1, 2 and 3]": [1, 2, 3],
    "[1 and 2]": [1, 2],
    "[1 & 2]": [1, 2],
    "[1,2,]": [1, 2],
    "[1, 2, ]": [1, 2],
    "[1; 2;]": [1, 2],
    "[1 ,]": [1],
    "[1-3,]": [1, 2, 3],
    "[[1, 2,]]": [1, 2],
    "[1,†source]": [1],
    "[1,,]": [],
    "[,1]": [],
    "[,]": [],
    "[1,1000,]": [],
    "[3-1,]": [],
    "[1-60,]": [],
    "[1 and]": [],
    "[1 or 2]": [],
    "[1]-[3]": [1, 2, 3],
    "[1]–[3]": [1, 2, 3],
    "[[1]]–[[3]]": [1, 2, 3],
    "[3]-[1]": [3, 1],
    "[^1]": [1],
    "[^1][^2]": [1, 2],
    "[^note]": [],
    "[1†source]": [1],
    "【1†source】": [1],
    "【2†L3-L9】": [2],
    "[3]H-thymidine": [],
    "[14]C-urea": [],
    "([125]I-labelled)": [],
    "disease.[1]Next": [1],
    "[1]C-reactive protein": [1],
    "[2]X-ray": [2],
    "[1]In-hospital death": [1],
    "[Ca2+]": [],
    "[95% CI 1.2-3.4]": [],
    "[1.2-3.4]": [],
    "[sic]": [],
    "[a]": [],
    "[2+]": [],
    "[]": [],
    "[1": [],
    "[18F]FDG": [],
    "[the trial](http://example.org/1)": [],
    "[1,2,4]triazolo[4,3-a]pyridine": [],
    "[2019]": [],
    "[12345678]": [],
    "[3-1]": [],
    "[1-99]": [],
    "[2, 3-1]": [],
}


@pytest.mark.parametrize(("text", "numbers"), MARKERS.items())
def test_markers_by_form(text: str, numbers: list[int]):
    assert [number for group in parse_markers(text) for number in group.numbers] == numbers


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("x [[1]] y", "[[1]]"),
        ("x [[1], [2]] y", "[1]"),
        ("x [1](http://a.b) y", "[1]"),
        ("x [ 1 ]y", "[ 1 ]"),
        ("x [1]–[3].", "[1]–[3]"),
        ("x [1, 2, ].", "[1, 2, ]"),
        ("x [^1].", "[^1]"),
        ("x 【1†source】.", "【1†source】"),
    ],
)
def test_the_span_of_a_group(text: str, marker: str):
    group = parse_markers(text)[0]
    assert text[group.span.slice] == group.text == marker


SPLITS = {
    # behind the sentence, before or after its stop
    "Aspirin lowers LDL [1]. Statins do too [2,3].": [
        ("Aspirin lowers LDL.", [1]),
        ("Statins do too.", [2, 3]),
    ],
    "Aspirin lowers LDL. [1] Statins do too. [2]": [("Aspirin lowers LDL.", [1]), ("Statins do too.", [2])],
    "Aspirin lowers LDL.[1] Statins do too.[2]": [("Aspirin lowers LDL.", [1]), ("Statins do too.", [2])],
    "Aspirin lowers LDL.[1]Statins do too.": [("Aspirin lowers LDL.", [1]), ("Statins do too.", [])],
    "Aspirin lowers LDL. [1][2] [3] Statins do too.": [
        ("Aspirin lowers LDL.", [1, 2, 3]),
        ("Statins do too.", []),
    ],
    "Aspirin lowers LDL [1]. [2] Statins do too.": [("Aspirin lowers LDL.", [1, 2]), ("Statins do too.", [])],
    "Aspirin lowers LDL. [1].": [("Aspirin lowers LDL.", [1])],
    "Survival was longer (p<0.001) [3]. It was 12 months.": [
        ("Survival was longer (p<0.001).", [3]),
        ("It was 12 months.", []),
    ],
    "Patients took 1.5 mg [2]. Half took 3 mg [4].": [
        ("Patients took 1.5 mg.", [2]),
        ("Half took 3 mg.", [4]),
    ],
    "They lack vitamin C [1]. Patients recover [2].": [
        ("They lack vitamin C.", [1]),
        ("Patients recover.", [2]),
    ],
    # within the sentence
    "In one trial [1], aspirin lowered LDL [2].": [("In one trial, aspirin lowered LDL.", [1, 2])],
    "Aspirin[1]and statins[2]-based care help.": [("Aspirin and statins-based care help.", [1, 2])],
    "Aspirin lowers LDL [1] and [2].": [("Aspirin lowers LDL.", [1, 2])],
    "Aspirin lowers LDL ([1], [2]).": [("Aspirin lowers LDL.", [1, 2])],
    "Aspirin lowers LDL (see [1]).": [("Aspirin lowers LDL.", [1])],
    "Aspirin lowers LDL [[1]](https://example.org/a.b). Statins too.": [
        ("Aspirin lowers LDL.", [1]),
        ("Statins too.", []),
    ],
    "Aspirin lowers LDL<sup>[1]</sup>.": [("Aspirin lowers LDL.", [1])],
    "Aspirin lowers LDL [[1], [2]].": [("Aspirin lowers LDL.", [1, 2])],
    "Aspirin lowers LDL [1,1][1].": [("Aspirin lowers LDL.", [1])],
    "Aspirin lowers LDL [1,2,]. Statins do too [3; ].": [("Aspirin lowers LDL.", [1, 2]), ("Statins do too.", [3])],
    "Free [Ca2+] rose [1].": [("Free [Ca2+] rose.", [1])],
    # before the sentence
    "[1] Aspirin lowers LDL. Statins do too [2].": [("Aspirin lowers LDL.", [1]), ("Statins do too.", [2])],
    "Aspirin lowers LDL.\n[1] Statins do too.": [("Aspirin lowers LDL.", []), ("Statins do too.", [1])],
    "[1] Aspirin lowers LDL\n[2] Statins do too": [("Aspirin lowers LDL", [1]), ("Statins do too", [2])],
    "[1]: Aspirin lowers LDL\n[2]: Statins do too": [("Aspirin lowers LDL", [1]), ("Statins do too", [2])],
    "- [1] Aspirin lowers LDL\n- [2] Statins do too": [("Aspirin lowers LDL", [1]), ("Statins do too", [2])],
    "1. [4] Aspirin lowers LDL.": [("Aspirin lowers LDL.", [4])],
    # before each sentence of the answer
    "[1] Aspirin lowers LDL. [2] Statins do too.": [("Aspirin lowers LDL.", [1]), ("Statins do too.", [2])],
    "[1] Aspirin lowers LDL [2]. [3] Statins do too. Both are cheap.": [
        ("Aspirin lowers LDL.", [1, 2]),
        ("Statins do too.", [3]),
        ("Both are cheap.", []),
    ],
    "[1] Aspirin lowers LDL. [2] Statins do too. [3]": [
        ("Aspirin lowers LDL.", [1, 2]),
        ("Statins do too.", [3]),
    ],
    "[1] Aspirin lowers LDL. [2] Statins [3] do too.": [
        ("Aspirin lowers LDL.", [1, 2]),
        ("Statins do too.", [3]),
    ],
    # ways to write a citation
    "Aspirin lowers LDL [1]–[3].": [("Aspirin lowers LDL.", [1, 2, 3])],
    "Aspirin lowers LDL.[^1] Statins do too【2†source】.": [
        ("Aspirin lowers LDL.", [1]),
        ("Statins do too.", [2]),
    ],
    "Aspirin lowers LDL [1, 2, and 3], [4] and [5].": [("Aspirin lowers LDL.", [1, 2, 3, 4, 5])],
    "Uptake of [3]H-thymidine fell [1].": [("Uptake of [3]H-thymidine fell.", [1])],
    # alone on a line
    "Aspirin lowers LDL.\n[1]\nStatins do too.": [("Aspirin lowers LDL.", [1]), ("Statins do too.", [])],
    "- Aspirin lowers LDL.\n- [1]\n- Statins do too.": [
        ("Aspirin lowers LDL.", [1]),
        ("Statins do too.", []),
    ],
    "Aspirin lowers LDL\n[1]. Statins do too.": [("Aspirin lowers LDL.", [1]), ("Statins do too.", [])],
    "Aspirin lowers LDL.\n\nSources: [1], [2]": [("Aspirin lowers LDL.", [1, 2])],
    # what is no claim
    "## Lipids\nAspirin lowers LDL [1].\n\n---\n\n**Safety**\nIt may cause bleeding [2].": [
        ("Aspirin lowers LDL.", [1]),
        ("It may cause bleeding.", [2]),
    ],
    "## Lipids [3]\nAspirin lowers LDL.": [("Aspirin lowers LDL.", [3])],
    "Aspirin lowers LDL.\n--- [3]\nStatins do too.": [("Aspirin lowers LDL.", []), ("Statins do too.", [3])],
    "Side effects:\n- bleeding [1]\n- nausea [2]": [("bleeding", [1]), ("nausea", [2])],
    "**Lipids:** Aspirin lowers LDL.** [1] Statins do too.": [
        ("Lipids: Aspirin lowers LDL.", [1]),
        ("Statins do too.", []),
    ],
    "***": [],
    "": [],
    # a reference list
    "Aspirin lowers LDL [1].\n\n**References:**\n[1] Doe J. A trial. 2019.\n[2] Roe R. Another. 2020.\n": [
        ("Aspirin lowers LDL.", [1])
    ],
    "Aspirin lowers LDL [1].\n### Sources\n1. Doe J. A trial.\n\n2. Roe R. Another.": [("Aspirin lowers LDL.", [1])],
    "Sources:\n1. Oily fish [1]\n2. Eggs [2]": [("Oily fish", [1]), ("Eggs", [2])],
    # a reference list without heading
    "Aspirin lowers LDL [1].\n\n[1] Doe J. A trial.\n[3] Roe R. Another.\n": [("Aspirin lowers LDL.", [1])],
    "Aspirin lowers LDL [2].\n\n1. Doe J. A trial.\n\n2. Roe R. Another.": [("Aspirin lowers LDL.", [2])],
    "Aspirin lowers LDL.[^1]\n\n[^1]: Doe J. A trial.": [("Aspirin lowers LDL.", [1])],
    "[1] Aspirin lowers LDL.\n\n[2] Statins do too.": [("Aspirin lowers LDL.", [1]), ("Statins do too.", [2])],
    "Two drugs help [3].\n\n1. Aspirin\n2. Statins": [("Two drugs help.", [3]), ("Aspirin", []), ("Statins", [])],
    "Two drugs help [1].\n\n1. Aspirin [1]\n2. Statins [2]": [
        ("Two drugs help.", [1]),
        ("Aspirin", [1]),
        ("Statins", [2]),
    ],
    "Two drugs help [1].\n[1] Aspirin does.\n[2] Statins do.": [
        ("Two drugs help.", [1]),
        ("Aspirin does.", [1]),
        ("Statins do.", [2]),
    ],
    # nothing else to hang them on
    "[1][2]": [("", [1, 2])],
    "# Lipids [1]\n[2]": [("", [1, 2])],
}


@pytest.mark.parametrize(("text", "expected"), SPLITS.items())
def test_claims_and_their_citations(text: str, expected: list[tuple[str, list[int]]]):
    assert claims(text) == expected


def test_a_citation_knows_its_place_and_its_document():
    text = "Aspirin lowers LDL [2, 5][2]. Statins do too. [9][0]"
    first, second = answer(text).claims
    assert [(c.marker, text[c.span.slice], c.document) for c in first.citations] == [
        (2, "[2, 5]", "doc2"),
        (5, "[2, 5]", "doc5"),
    ]
    assert [(c.marker, c.document, c.dangling) for c in second.citations] == [
        (9, None, True),
        (0, None, True),
    ]


def test_the_span_of_a_claim_covers_its_markers():
    text = "[1] Aspirin lowers LDL [2]. [3]\n\n- Statins do too ([4])."
    assert [text[claim.span.slice] for claim in answer(text).claims] == [
        "[1] Aspirin lowers LDL [2]. [3]",
        "Statins do too ([4]).",
    ]


def test_half_a_surrogate_pair_is_replaced():
    assert answer("LDL fell \ud83d [1].").text == "LDL fell \ufffd [1]."


@given(ANSWERS)
def test_segments_render_to_the_text(text: str):
    parts = segments(text)
    assert render(parts) == text
    assert [isinstance(part, MarkerGroup) for part in parts] == [i % 2 == 1 for i in range(len(parts))]


@given(st.lists(st.integers(0, 999)))
def test_rendered_markers_are_read_back(numbers: list[int]):
    assert [n for group in parse_markers(render_markers(numbers)) for n in group.numbers] == numbers


@pytest.mark.parametrize("number", [-1, 1000])
def test_a_number_that_could_not_be_read_back_is_refused(number: int):
    with pytest.raises(ValueError, match=f"from 0 to 999; found {number}"):
        render_markers([1, number])


@given(ANSWERS)
def test_no_citation_vanishes(text: str):
    parsed = answer(text + "\n.")  # a full stop behind it: nothing at the end is taken for a reference list
    cited = {n for group in parse_markers(parsed.text) for n in group.numbers}
    assert {citation.marker for claim in parsed.claims for citation in claim.citations} == cited


@given(ANSWERS)
def test_claims_are_in_order_and_hold_their_citations(text: str):
    end = 0
    for claim in answer(text).claims:
        assert end <= claim.span.start
        end = claim.span.end
        assert claim.text == claim.text.strip()
        assert not claim.text or any(map(str.isalnum, claim.text))
        for citation in claim.citations:
            assert claim.span.start <= citation.span.start < citation.span.end <= claim.span.end


@pytest.mark.parametrize(
    "unit", ["[1]", "(see [1]) x. ", "\n[1] A", "[[1]](http://a ", "[1,", "[1 ,   ", "**", "\n- [1]"]
)
def test_long_answers_take_linear_time(unit: str):
    start = time.perf_counter()
    answer(unit * 10_000)
    assert time.perf_counter() - start < 20  # quadratic would be minutes


@pytest.mark.parametrize("behind", ["Bleeding stops.", '"Bleeding" stops.', "(Bleeding stops.)"])
def test_a_stop_behind_a_marker_ends_a_sentence_whatever_letter_is_before_it(behind: str):
    """Nobody cites within an abbreviation; without the marker the X would be taken for an initial."""
    claims = answer(f"Warfarin acts on factors IX and X [1]. {behind}").claims
    assert [claim.text for claim in claims] == ["Warfarin acts on factors IX and X.", behind]


def test_the_rules_have_a_signature():
    assert CITATIONS == "citations.v5"
