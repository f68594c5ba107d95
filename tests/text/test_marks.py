"""Reference marks of a source's own: taken out of what is quoted, and never read as citations of our documents."""

from __future__ import annotations

import itertools
import random
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vericite.generate.extractive import quotation
from vericite.generate.prompt import Shown
from vericite.generate.rationale import find_quotation
from vericite.generate.selection import candidates_of
from vericite.pipeline.check import check
from vericite.pipeline.repair.proposals import similar_sentences
from vericite.records import Document, Evidence
from vericite.text.citations import parse_answer
from vericite.text.marks import over_marks, reads_as_citation, without_marks


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Colchicine, which blocks tubulin (refs. 2,3), halves it.", "Colchicine, which blocks tubulin, halves it."),
        ("Aspirin [1-3] prevents stroke [4], [5] and death ([6,7]).", "Aspirin prevents stroke and death."),
        ("Stroke fell.¹²", "Stroke fell."),
        ("Stroke fell<sup>12,13</sup> in men.", "Stroke fell in men."),
        ("Stroke fell^12^ in men.", "Stroke fell in men."),
        (
            "Stroke fell in trials of mortality,3 and in others,4-6 too.",
            "Stroke fell in trials of mortality, and in others, too.",
        ),
        ("Several trials (1-3) agree (4).", "Several trials agree."),
        ("Stroke fell (see refs. 4-6 and 9).", "Stroke fell."),
        ("Stroke fell (Okafor et al., 2020; Lindqvist and Roy 2019) in men.", "Stroke fell in men."),
        ("Okafor et al. (2020) saw it (see Lindqvist, 2018 for a review).", "Okafor et al. (2020) saw it."),
        ("Stroke fell [van der Berg et al. 2019a,b].", "Stroke fell."),
        ("Stroke fell (PMID: 12345678) in men [PMC123456].", "Stroke fell in men."),
        ("(12) The dose fell.", "The dose fell."),
        ("Stroke fell by 30% [12].", "Stroke fell by 30%."),
    ],
)
def test_marks_go_with_the_space_they_leave(text: str, left: str):
    assert without_marks(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "Pain fell in men (12) and women (14).",
        "The mean age was 62 years (45-78).",
        "Effects were (1) pain, (2) fever and (3) rash.",
        "Toxicity of grade (3, 4) was rare.",
        "The trial was done in spring (March 2020).",
        "The area was 3 cm² and the count 10³ per field.",
        "Uptake of [3]H-thymidine fell.",
        "The risk ratio was 0.8 [0.7-0.9] and the 95% CI [12, 45].",
        "Pain on a scale (0-10) fell.",
    ],
)
def test_results_in_brackets_stay(text: str):
    assert without_marks(text) == text


def test_results_and_objects_of_a_preposition_in_square_brackets_stay_in_parentheses():
    assert without_marks("The stay was 5 days [3-8].") == "The stay was 5 days (3-8)."
    assert without_marks("According to [12], stroke fell.") == "According to (12), stroke fell."


SOURCES = tuple(Document.from_text(id, f"{id} is a document.") for id in ("12345678", "S1", "zinc", "iron", "A"))
PIECES = st.sampled_from(
    "[1] [2,3] [1-3] [[1]] [^2] 【1】 ［2］ [1 [ ] ( ) { } <sup>1</sup> <1> {2} ¹² ² ³⁻⁵ (refs. 2,3) (ref. 1) [Doc 1] "
    "[source: 2] (1) (2,3) (Roy, 2020) [Roy et al. 2019] PMID PMID: 12345678 [12345678] [PMC123] [S1] [zinc] [A] 1 2 3 "
    ", ; - – . ? ! e.g. see and or of statins lower 5 % score ** * # | \\ : \" ' ² word refs. Sources: "
    "References".split(" ")
)
TEXTS = st.one_of(
    st.lists(st.tuples(PIECES, st.sampled_from(["", " "])), min_size=1, max_size=14).map(
        lambda parts: "".join(itertools.chain(*parts))
    ),
    st.text(max_size=60),
)


@settings(max_examples=600, deadline=None)
@given(TEXTS, st.sets(st.integers(1, 5), min_size=1, max_size=3))
@example("PMID: [ 2,3)[zinc]", {1})
def test_law_a_quotation_of_any_text_cites_what_we_cite_and_nothing_else(text: str, markers: set[int]):
    words = " ".join(without_marks(" ".join(text.split())).split())
    answer = parse_answer("q", quotation(words, sorted(markers), SOURCES), SOURCES)
    assert sorted(it.marker for claim in answer.claims for it in claim.citations) == sorted(markers)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_law_nothing_is_read_as_a_citation_and_the_rest_is_in_the_text_in_order(text: str):
    left = without_marks(text)
    assert not reads_as_citation(left)
    plain, origins = over_marks(text)
    assert len(plain) == len(origins) and list(origins) == sorted(set(origins))
    assert all(char in (text[place], "(", ")") for char, place in zip(plain, origins, strict=True))


NUMERIC = (
    "[{a}]",
    "[{a},{b}]",
    "[{a}-{b}]",
    "[{a}], [{b}]",
    "([{a}])",
    "[{a}, {b}]",
    "({a}-{b})",
    "({a}, {b})",
    "【{a}】",
)
WORDED = (
    "(refs. {a},{b})",
    "(ref. {a})",
    "(see refs {a}-{b})",
    "(reviewed in ref. {a})",
    "[ref. {a}]",
    "[refs {a} and {b}]",
)
RAISED = ("{x}", "{x},{y}", "<sup>{a}</sup>", "<sup>{a},{b}</sup>", "^{a}^")
NAMED = (
    "({n} et al., 20{c})",
    "({n} and {m}, 20{c})",
    "({n} et al. 20{c}; {m} 19{d})",
    "[{n} et al., 20{c}]",
    "(see {n} & {m} 20{c})",
)
NAMES = ("Okafor", "Lindqvist", "Roy", "Marchetti", "Sato", "Novak", "de Vries")
FACTS = (
    ("Tavolimab", "lowers the rate of relapse in adults with colitis", "in trials of one year"),
    ("Metrofexin", "raises the count of platelets in children with anaemia", "without more bleeding"),
    ("Oral sorbinate", "shortens the stay in hospital after surgery of the hip", "by two days on average"),
    ("Early walking", "prevents thrombosis in patients with a cast", "as well as heparin does"),
    ("A low dose of lunexol", "halves the risk of stroke in men over sixty", "and harms few of them"),
)


def marked_sentence(draw: random.Random, forms: tuple[str, ...]) -> str:
    subject, effect, detail = draw.choice(FACTS)
    raised = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

    def mark() -> str:
        first = draw.randint(1, 9)
        second = first + draw.randint(1, 20)
        glue = "" if forms is RAISED else " "
        return glue + draw.choice(forms).format(
            a=first, b=second, c=draw.randint(10, 24), d=draw.randint(80, 99),
            n=draw.choice(NAMES), m=draw.choice(NAMES),
            x=str(first).translate(raised), y=str(second).translate(raised),
        )  # fmt: skip

    middle = mark() if draw.random() < 0.5 else ""
    ending = draw.choice([f"{mark()}.", f".{mark().lstrip()}" if forms is RAISED else f"{mark()}."])
    return f"{subject} {effect}{middle}, {detail} as trial {draw.randint(1000, 9999)} has shown{ending}"


@pytest.mark.parametrize(
    "forms", [NUMERIC, WORDED, RAISED, NAMED], ids=["numeric", "refs", "superscript", "author-year"]
)
def test_fifty_quotations_of_sources_full_of_marks_cite_only_what_we_cite_and_all_are_accepted(forms: tuple[str, ...]):
    draw = random.Random(f"marks{forms[0]}")
    refused, invented, unsupported = [], [], []
    others = [Document.from_text(str(n), "Zinc and iron are metals that the body needs.") for n in range(1, 31)]
    for _ in range(50):
        sentence = marked_sentence(draw, forms)
        source = Document.from_text("marked", f"{sentence} Nothing else was measured in the whole of this trial.")
        documents = (source, *others)
        found = candidates_of([Evidence(document=source, rank=1, score=1.0, retriever="test")])
        quoted = [it for it in found if it.text.split()[0] == sentence.split()[0]]
        if not quoted:
            refused.append(sentence)
            continue
        answer = parse_answer("q", quotation(quoted[0].text, [1], documents), documents)
        if [it.marker for claim in answer.claims for it in claim.citations] != [1] or answer.unread:
            invented.append((sentence, answer.text))
        if [verdict.native for verdict in check(answer).verdicts] != ["quoted"]:
            unsupported.append((sentence, answer.text))
    assert not refused
    assert not invented
    assert not unsupported


MARKED = Document.from_text("1", "Lunexol [2] halves the risk of stroke (refs. 2,3) in men of sixty years [12].")


def test_a_model_is_not_shown_the_marks_of_a_source():
    assert "[2]" not in Shown.of(MARKED, 1).text.replace("[1]", "") and "refs" not in Shown.of(MARKED, 1).text


def test_words_that_a_model_was_shown_without_marks_are_found_in_the_source_at_their_place():
    place = find_quotation("Lunexol halves the risk of stroke in men", MARKED)
    assert place is not None
    assert MARKED.text[place.start : place.end] == "Lunexol [2] halves the risk of stroke (refs. 2,3) in men"


def test_a_repair_proposes_no_marks_of_a_source():
    told = next(similar_sentences("Lunexol halves the risk of stroke.", [MARKED]))
    assert told.text == "Lunexol halves the risk of stroke in men of sixty years."


@pytest.mark.parametrize(
    "piece", ["[1", "[[1]", "(refs. 1,", "(Roy, 2020; ", "word¹", "(1, 2, ", "PMID 1 ", "[PMC123, ", "( ", "Roy "]
)
def test_the_time_is_linear(piece: str):
    def taken(times: int) -> float:
        text = piece * times
        start = time.process_time()
        without_marks(text)
        return time.process_time() - start

    taken(200)
    small, large = (min(taken(times) for _ in range(3)) for times in (2_000, 8_000))
    assert large < 10 * max(small, 0.01)
