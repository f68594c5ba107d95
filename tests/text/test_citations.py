from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.records import Answer, Document
from vericite.text.citations import CITATIONS, parse_answer
from vericite.text.references import parse_markers, render_markers

DOCUMENTS = tuple(Document.from_text(f"doc{number}", "Aspirin lowers LDL.") for number in range(1, 6))

PIECES = st.sampled_from(
    """[1] [2,3] [1,2,] [4;] [1-3,] [[1]] [^1] 【1†source】 [1]-[3] H- [９] [0] [1-3] [2019] (see ( ) [ ] ** --- - 1.
    ## : . | <sup> </sup> > ^ and a Z 5 References Sources: Aspirin lowers (http://a.b/c.d)""".split()
) | st.sampled_from([" ", "\n", "\n\n", ". ", "\r\n", "\ud800"])
ANSWERS = st.lists(PIECES, max_size=25).map("".join) | st.text()


def answer(text: str, documents=DOCUMENTS) -> Answer:
    return parse_answer("a", text, documents)


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
    "a score of [0-10]": [],  # no source is number 0
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
    "**Answer.** Statins lower LDL [1].\nKey points. It is safe [2].": [
        ("Statins lower LDL.", [1]),
        ("It is safe.", [2]),
    ],
    "Evidence is weak [1]. Results.": [("Evidence is weak.", [1])],
    "Aspirin helps [2].\n\nConclusion. [1] Zinc helps.": [("Aspirin helps.", [2]), ("Zinc helps.", [1])],
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
def test_markers_stand_where_they_say_in_order(text: str):
    end = 0
    for group in parse_markers(text):
        assert end <= group.span.start < group.span.end
        assert text[group.span.slice] == group.text
        end = group.span.end


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
    written = {n for group in parse_markers(parsed.text) for n in group.numbers}
    cited = {citation.marker for claim in parsed.claims for citation in claim.citations}
    # Superscripts are markers, too, where there are documents.
    assert written <= cited and (written == cited or re.search("[⁰¹²³⁴-⁹]", text))


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
    assert CITATIONS == "citations.v10"


# markers in other forms


def marked(text: str, documents=DOCUMENTS) -> tuple[list[tuple[str, list[int], bool]], list[str]]:
    found = answer(text, documents)
    claims = [(c.text, [it.marker for it in c.citations], any(it.dangling for it in c.citations)) for c in found.claims]
    return claims, [text[span.slice] for span in found.unread]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("LDL fell [Doc 1].", [1]),
        ("LDL fell [source: 1].", [1]),
        ("LDL fell [Document 1, Document 2].", [1, 2]),
        ("LDL fell [citation:2].", [2]),
        ("LDL fell (Source 2).", [2]),
        ("LDL fell (ref. 1, 2).", [1, 2]),
        ("LDL fell (1).", [1]),
        ("LDL fell (1, 2).", [1, 2]),
        ("LDL fell¹.", [1]),
        ("LDL fell.¹", [1]),
        ("LDL fell.¹,²", [1, 2]),
        ("LDL fell<sup>1,2</sup>.", [1, 2]),
        ("LDL fell 【Doc 2】.", [2]),
    ],
)
def test_markers_in_other_forms_are_read(text: str, numbers: list[int]):
    assert marked(text) == ([("LDL fell.", numbers, False)], [])


@pytest.mark.parametrize(
    "text",
    [
        "LDL fell by 3 mg/cm².",
        "The dose was 5 mmol/L (type 2).",
        "It fell in two men (n = 2).",
        "Serum Ca²⁺ and ¹³C rose over 40 metres².",
        "LDL (1) fell and (2) rose.",
        "A score of [0-10] was used.",
        "The pain scale ranged from [1-10] here.",
        "The median was 30, IQR [12-45].",
        "It fell (95% CI [2, 3]) at last.",
        "It was so in [2019].",
        "It was given in May (May, 2019).",
        "See [the table](#table) there.",
        "It fell within [24h] by x^{2} and \\frac{1}{2} of it.",
        "Where p<1 and q>2 it fell.",
    ],
)
def test_other_numbers_are_no_markers(text: str):
    claims, unread = marked(text)
    assert [numbers for _, numbers, _ in claims] == [[]]
    assert unread == []


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("LDL fell [-1].", "[-1]"),
        ("LDL fell [5-1].", "[5-1]"),
        ("LDL fell [1000].", "[1000]"),
        ("LDL fell [12345678].", "[12345678]"),
        ("LDL fell [Doc A].", "[Doc A]"),
        ("LDL fell [S1].", "[S1]"),
        ("LDL fell [S1, S2].", "[S1, S2]"),
        ("LDL fell [1a].", "[1a]"),
        ("LDL fell [#1].", "[#1]"),
        ("LDL fell {1}.", "{1}"),
        ("LDL fell <1>.", "<1>"),
        ("LDL fell [citation needed].", "[citation needed]"),
        ("LDL fell [@smith2020].", "[@smith2020]"),
        ("LDL fell \\cite{smith}.", "\\cite{smith}"),
        ("LDL fell (Smith et al., 2020).", "(Smith et al., 2020)"),
        ("LDL fell (Novak et al., 2021).", "(Novak et al., 2021)"),
        ("LDL fell (Maynard 2020).", "(Maynard 2020)"),
        ("LDL fell (Smith & Doe, 2020; Roe, 2021).", "(Smith & Doe, 2020; Roe, 2021)"),
    ],
)
def test_markers_that_point_nowhere_are_counted(text: str, marker: str):
    claims, unread = marked(text)
    assert [numbers for _, numbers, _ in claims] == [[]]
    assert unread == [marker]


def test_names_of_documents_in_brackets_are_citations():
    documents = [
        Document.from_text("12345678", "a"),
        Document.from_text("PMC99", "b"),
        Document.from_text("smith", "c"),
    ]
    found = answer("LDL fell [12345678]. HDL rose [23456789]. So [PMC99, smith].", documents)
    cited = [[citation.document for citation in claim.citations] for claim in found.claims]
    assert cited == [["12345678"], [None], ["PMC99", "smith"]]
    assert found.unread == ()


def test_numbers_in_parentheses_are_citations_only_where_there_are_no_others():
    claims, unread = marked("LDL fell [1]. HDL rose in some (2). It rose in others (n = 3) (9).")
    assert claims[1] == ("HDL rose in some (2).", [], False)
    assert unread == ["(2)"]


@pytest.mark.parametrize("date", ["(Nov 2021)", "(November 2021)", "(March, 2020)", "(In 2020)", "(Version 2020)"])
def test_a_date_in_brackets_is_no_unread_citation(date: str):
    assert marked(f"LDL fell {date}.")[1] == []


def test_a_superscript_beyond_the_sources_dangles():
    assert marked("LDL fell.⁹")[0] == [("LDL fell.", [9], True)]


def test_rows_of_a_table_are_claims_without_pipes_and_its_head_is_not_a_claim():
    text = "Effects:\n\n| Drug | Effect |\n|---|:---:|\n| Aspirin | lowers LDL [1] |\n|Zinc|does not [2]|\n\nSo it is."
    assert marked(text)[0] == [
        ("Aspirin lowers LDL", [1], False),
        ("Zinc does not", [2], False),
        ("So it is.", [], False),
    ]


def test_an_escaped_pipe_in_a_table_is_a_pipe():
    text = "| Drug | Effect |\n|---|---|\n| a \\| b | reduces pain [1] |"
    assert marked(text)[0] == [("a | b reduces pain", [1], False)]


@given(st.text(alphabet="|-: \na1[]\\").map(lambda text: f"| a | b |\n|---|---|\n{text}"))
def test_any_table_is_read(text: str):
    found = answer(text)
    for claim in found.claims:
        assert 0 <= claim.span.start <= claim.span.end <= len(text)


@pytest.mark.parametrize(
    "unit",
    ["[Doc 1] ", "x.¹ ", "| a |\n", "|---|\n", "(Smith ", "[source", "(1), ", "[1-", "[a, ", "[S1,", "{1,", "<1"],
)
def test_other_markers_take_linear_time(unit: str):
    start = time.perf_counter()
    answer(unit * 20_000)
    assert time.perf_counter() - start < 20  # quadratic would be minutes


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("One [1].\n\n```python\nx[2]  # (see [1]).\n# Head\n| a |\n```\n\nTwo [2].", [("One.", [1]), ("Two.", [2])]),
        ("One [1].\n~~~r\nx <- y[2]", [("One.", [1])]),
        ("One:\n\n```\nTwo helps [2].\n```", [("Two helps.", [2])]),
        ("```markdown\nOne helps [1].\n```\n\nTwo [2].", [("One helps.", [1]), ("Two.", [2])]),
        ("```\nOne helps. Two helps.\n```", [("One helps.", []), ("Two helps.", [])]),
        ("Say ```x``` helps [1].", [("Say ```x``` helps.", [1])]),
    ],
)
def test_fenced_code_claims_and_cites_nothing(text: str, claims: list[tuple[str, list[int]]]):
    found = parse_answer("x", text, [Document.from_text(name, "One helps.") for name in "ab"])
    assert [(claim.text, [citation.marker for citation in claim.citations]) for claim in found.claims] == claims
    assert not found.unread
