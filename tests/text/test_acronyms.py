"""Abbreviations that a text explains. The sentences are our own."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.text.acronyms import Acronym, acronym_pairs, without_long_forms


def pairs(text: str) -> list[tuple[str, str]]:
    return [(found.short, found.long) for found in acronym_pairs(text)]


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("Patients with heart failure (HF) were asked.", "HF", "heart failure"),
        ("Serum tumor necrosis factor alpha (TNF-α) rose.", "TNF-α", "tumor necrosis factor alpha"),
        ("TNF-α (tumour necrosis factor alpha) rose.", "TNF-α", "tumour necrosis factor alpha"),
        ("The NF-κB (nuclear factor kappa B) pathway", "NF-κB", "nuclear factor kappa B"),
        ("raised α-fetoprotein (AFP) in serum", "AFP", "α-fetoprotein"),
        ("the η-crystallin receptor (ECR)", "ECR", "η-crystallin receptor"),
        ("a course of 5-fluorouracil (5-FU)", "5-FU", "5-fluorouracil"),
        ("human epidermal growth factor receptor 2 (HER2 (ERBB2))", "HER2", "human epidermal growth factor receptor 2"),
        ("a cytokine (interleukin-6 (IL-6)) and others", "IL-6", "interleukin-6"),
        ("inhibitors of poly(ADP-ribose) polymerase (PARP)", "PARP", "poly(ADP-ribose) polymerase"),
        ("chronic obstructive pulmonary disease (COPD; n = 30)", "COPD", "chronic obstructive pulmonary disease"),
        ("interquartile range (IQR, 3 to 9)", "IQR", "interquartile range"),
        ("HIV (human immunodeficiency virus, type 1) was found", "HIV", "human immunodeficiency virus"),
        ("CMV (here: cytomegalovirus) was found", "CMV", "cytomegalovirus"),
        ("cells form colony-forming units (cfu) in days", "cfu", "colony-forming units"),
        ("a dose of St. John's wort (SJW)", "SJW", "St. John's wort"),
        ("strains of S. aureus (SA)", "SA", "S. aureus"),
        ("some long-term potentiation\n  (LTP)", "LTP", "long-term potentiation"),
        ("non-steroidal anti-inflammatory drugs (NSAIDs)", "NSAIDs", "non-steroidal anti-inflammatory drugs"),
        ("such interleukins (ILs) bind", "ILs", "interleukins"),
        ("matrix metalloproteinase (MMPs)", "MMPs", "matrix metalloproteinase"),
        ("Proton pump inhibitors (PPIs) suppress acid.", "PPIs", "Proton pump inhibitors"),
        ("the measles, mumps and rubella (MMR) vaccine", "MMR", "measles, mumps and rubella"),
        ("We used “magnetic resonance imaging” (MRI).", "MRI", "magnetic resonance imaging"),
    ],
)
def test_an_abbreviation_is_found_with_its_long_form(text: str, short: str, long: str):
    assert pairs(text) == [(short, long)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(HF)",
        "Forty neighbours (n = 40) were asked.",
        "It was lower (95% CI 0.4 to 0.9) by contrast in cases (CI 3).",
        "Many people (p < 0.001) improved.",
        "The rate was 40 per cent (40) in 2015 (2015).",
        "By mouth, as seen elsewhere (see methods), and early gains (e.g. here).",
        "A further increase (figure) in tables (Table 2) and figures (Fig. 1)",
        "increase in interferon (ii) and (iii) insulin infusion index",
        "Heart disease is common. Failure is rare (HF).",
        "the hepatitis; this fever (HF)",
        "HIV (human immunodeficiency virus infection was not looked for)",
        "HIV (human immunodeficiency virus testing)",
        "The HF of fever (HF)",
        "HF (HF)",
        "HF heart failure HF (HF)",
        "three groups of mice (control)",
        "in these ends (the)",
        "half of them (some with asthma (mild) and others without) had",
        "heart failure(HF)",
        "heart failure (HF",
        "heart failure HF)",
        "heart " + "x" * 500 + "failure (HF)",
        "a very long wait " * 30 + "failure (HF)",
    ],
)
def test_what_is_no_abbreviation_is_not_found(text: str):
    assert pairs(text) == []


def test_pairs_come_in_the_texts_order_and_as_often_as_they_are_explained():
    text = "Heart failure (HF) and atrial fibrillation (AF). Later: heart failure (HF)."
    assert pairs(text) == [("HF", "Heart failure"), ("AF", "atrial fibrillation"), ("HF", "heart failure")]


def test_the_plural_s_of_an_abbreviation_is_not_part_of_its_singular():
    shorts = ("ILs", "IL", "AIDS", "mAbs", "CD4s", "bps", "GAS")
    assert [Acronym(short, "").singular for short in shorts] == ["IL", "IL", "AIDS", "mAbs", "CD4", "bps", "GAS"]


@given(st.text(alphabet="abAB αΑß(İ)-., 1\n", max_size=200))
def test_whatever_the_text_pairs_are_words_of_it(text: str):
    words = " ".join(text.split())
    for found in acronym_pairs(text):
        assert found.short in words
        assert found.long in words
        assert 2 <= len(found.short) <= 10
        assert len(found.long) > len(found.short)


@given(st.text(max_size=200))
def test_no_text_is_too_strange(text: str):
    assert isinstance(acronym_pairs(text), tuple)


@pytest.mark.parametrize("unit", ["(", ")", "(a ", " (AB", "ab (AB) ", "a ", " (a) b)", "a.", "(A(B) "])
def test_time_grows_with_the_text_and_not_with_its_square(unit: str):
    def seconds(times: int) -> float:
        text = unit * times + ")" * times + " (AB)"
        best = float("inf")
        for _ in range(5):
            began = time.process_time()
            acronym_pairs(text)
            best = min(best, time.process_time() - began)
        return best

    # Eight times the text: 64 times the time if it were quadratic.
    assert seconds(8_000) < 30 * seconds(1_000) + 0.02


def test_long_forms_that_were_added_to_a_quotation_are_removed_and_figures_in_brackets_stay():
    added = "MS [multiple sclerosis] follows infection with EBV [Epstein-Barr virus] [95]."
    assert without_long_forms(added) == "MS follows infection with EBV [95]."
