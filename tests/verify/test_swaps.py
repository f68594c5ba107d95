"""Claims that give an arm the figure of another, or compare two arms against their figures."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vericite.models.contracts import Judgement
from vericite.pipeline.check import check_many, parsed
from vericite.verify.arms import contrasts
from vericite.verify.figures import findings
from vericite.verify.swaps import ARMS, swap

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "benchmarks" / "cases" / "arms.jsonl").read_text("utf-8").splitlines()
]
LIFESTYLE = "Diabetes was reduced by 34% with lifestyle and by 18% with metformin compared with placebo."
DEATHS = "Mortality was lower with dexamethasone than with usual care (22.9% vs 25.7%; rate ratio 0.83)."
DOSES = "Nausea occurred in 14% of the 0.5 mg group, 22% of the 1.0 mg group and 6% of the placebo group."
COUNTS = "The primary outcome occurred in 102 participants in the intensive group and 148 in the standard group."


@pytest.mark.parametrize(
    ("text", "arms"),
    [
        (LIFESTYLE, "34% to lifestyle, 18% to metformin"),
        (DEATHS, "22.9% to dexamethasone, 25.7% to usual care"),
        ("Nausea occurred in 4% (6/150) of the zinc group and 9% of controls.", "4% to zinc group, 9% to controls"),
        ("Response was 61% and 43% in the early and late arms, respectively.", "61% to early, 43% to late arms"),
        ("In the early and late arms, response was 61% and 43%, respectively.", "61% to early, 43% to late arms"),
        ("Relapse was rarer with lithium (21%) than with valproate (34%).", "21% to lithium, 34% to valproate"),
        ("Yoga reduced pain by 9 points and massage by 4 points.", "9 points to Yoga, 4 points to massage"),
        ("Rash came in 4% of the 0.5 mg group and 9% of the 1 mg group.", "4% to 0.5 mg group, 9% to 1 mg group"),
        ("It fell by 4% with zinc 20 mg and 2% with placebo.", "4% to zinc 20 mg, 2% to placebo"),
        ("Stroke hit 12 people in the early group and 20 in the late group.", "12 to early group, 20 to late group"),
    ],
)  # fmt: skip
def test_figures_of_arms_are_read_in_clear_forms(text, arms):
    assert [str(found) for found in contrasts(text)] == [arms]


@pytest.mark.parametrize(
    "text",
    [
        "The test had a sensitivity of 88% and a specificity of 91%.",
        "Pain fell from 60 mm to 20 mm with zinc.",
        "Zinc and copper were given at 5 mg and 2 mg.",
        "It was 4% (95% CI 2% to 6%) with zinc.",
    ],
)
def test_figures_of_no_arms_are_not_read(text):
    assert not contrasts(text)


@pytest.mark.parametrize(
    ("claim", "source", "words"),
    [
        ("Metformin reduced diabetes more than lifestyle.", LIFESTYLE, "more"),
        ("Metformin reduced diabetes more than the lifestyle intervention.", LIFESTYLE, "more"),
        ("Lifestyle reduced diabetes more than metformin.", LIFESTYLE, ""),
        ("Metformin reduced diabetes by 34%.", LIFESTYLE, "34%"),
        ("Lifestyle reduced diabetes by 34%.", LIFESTYLE, ""),
        ("Compared with metformin, lifestyle reduced diabetes less.", LIFESTYLE, "less"),
        ("Metformin did not reduce diabetes by 34%.", LIFESTYLE, ""),
        ("Metformin reduced diabetes less than lifestyle, which reduced it by 34%.", LIFESTYLE, ""),
        ("Dexamethasone increased mortality compared with usual care.", DEATHS, "increased"),
        ("Dexamethasone reduced mortality compared with usual care.", DEATHS, ""),
        ("Bleeding was higher with dexamethasone than with usual care.", DEATHS, ""),
        ("Relapse was lower on zinc than on iron.", "Freedom from relapse was 60% on zinc and 45% on iron.", ""),
        ("Symptoms persisted in 40% on spray.", "They resolved in 40% on drops and 60% on spray.", ""),
        ("Metformin cured 34%.", LIFESTYLE + " Metformin cured 34% of acne.", ""),
        ("In the 0.5 mg arm, 22% felt sick.", DOSES, "22%"),
        ("In the 1.0 mg arm, 22% felt sick.", DOSES, ""),
        ("Sickness befell 6% with 1 mg.", DOSES, "6%"),
        ("The outcome occurred in 102 patients of the standard group.", COUNTS, "102"),
        ("The outcome occurred in 148 patients of the standard group.", COUNTS, ""),
        ("The standard group had 102 patients.", COUNTS + " The standard group had 102 members.", ""),
    ],
)  # fmt: skip
def test_what_is_the_wrong_way_round_is_found(claim, source, words):
    found = swap(claim, source)
    assert (claim[found.start : found.end] if found else "") == words


@pytest.mark.parametrize("case", [case for case in CASES if not case["swapped"]], ids=lambda case: case["claim"])
def test_nothing_is_wrong_with_sound_claims(case):
    assert swap(case["claim"], case["source"]) is None


NAMES = st.lists(
    st.sampled_from("abacor bestil cordol dintex elgar fimbrin".split()), min_size=2, max_size=2, unique=True
)
FORMS = [
    ("Relapse was 12% with {0} and 30% with {1}.", "Relapse was {w} with {0} than with {1}."),
    ("Relapse was {v} with {0} than with {1} (12% vs 30%).", "{0} had {w} relapse than {1}."),
    ("In the {0} and {1} groups, relapse was 12% and 30%, respectively.", "Relapse was {f} in the {0} group."),
]


@settings(max_examples=100, deadline=None)
@given(NAMES, st.sampled_from(FORMS), st.sampled_from(["lower", "higher"]), st.sampled_from(["12%", "30%"]))
def test_other_names_of_the_arms_change_nothing(names, form, word, figure):
    source, claim = form

    def found(*arms: str) -> bool:
        given = {"w": word, "v": "lower", "f": figure}
        return swap(claim.format(*arms, **given), source.format(*arms, **given)) is not None

    is_wrong = figure == "30%" if "{f}" in claim else word == "higher"
    assert found(*names) == found("zinc", "iron") == is_wrong


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(CASES), st.sampled_from("xq zvorn quembul".split()))
def test_renaming_an_arm_on_both_sides_never_makes_a_warning(case, name):
    arms = [figure.arm.split()[0] for found in contrasts(case["source"]) for figure in found.given]
    if case["swapped"] or not arms or not arms[0].isalpha():
        return
    renamed = [re.sub(rf"\b{arms[0]}\b", name, case[part], flags=re.IGNORECASE) for part in ("claim", "source")]
    assert swap(*renamed) is None


class Saying:
    """Gives every pair the same judgement."""

    signature = "saying"

    def __init__(self, *probabilities: float) -> None:
        self.probabilities = np.array(probabilities, dtype=np.float32)

    def judge(self, pairs):
        for _ in pairs:
            yield Judgement(self.probabilities)


SWAPPED, SOUND = "Metformin reduced diabetes by 34% [1].", "Lifestyle reduced diabetes by 34% [1]."
SUPPORTS, CONTRADICTS = (0.9, 0.05, 0.05), (0.05, 0.9, 0.05)
GIVEN = "The source gives 34% to lifestyle, 18% to metformin."


@pytest.mark.parametrize("explain", [False, True])
def test_a_supported_claim_that_figures_of_arms_are_against_is_to_be_looked_at(explain):
    for said, judged, is_told, because in (
        (SWAPPED, SUPPORTS, True, GIVEN),
        (SWAPPED, CONTRADICTS, False, GIVEN if explain else ""),
        (SOUND, SUPPORTS, False, ""),
    ):
        checked = next(check_many([parsed(said, [LIFESTYLE])], judge=Saying(*judged), explain=explain))
        (verdict,) = checked.verdicts
        assert verdict.label == ("supported" if judged == SUPPORTS else "contradicted")
        assert (verdict.has_other_figure, verdict.because) == (is_told, because)
        assert checked.summary.figure == is_told
        named = [("34%", "number")] if explain and said == SWAPPED else []
        assert [(item.text, item.kind) for item in verdict.words] == named
        assert checked.provenance.parts["arms"] == ARMS


@pytest.mark.parametrize("protocol", ["alce", "alce-as-published"])
def test_other_protocols_do_not_compare_figures(protocol):
    checked = next(check_many([parsed(SWAPPED, [LIFESTYLE])], protocol, judge=Saying(*SUPPORTS)))
    assert not checked.verdicts[0].because and "arms" not in checked.provenance.parts


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        (
            "Pressure was lower with losartan than with placebo.",
            "At baseline, pressure was 150 mmHg with losartan and 145 mmHg with placebo.",
        ),
        ("Aspirin lowered mortality by 50%.", "Mortality was 25% with aspirin and 50% with placebo."),
    ],
)
def test_figures_before_treatment_and_levels_are_not_against_changes(claim, source):
    assert swap(claim, source) is None


def test_long_texts_take_linear_time():
    source = " ".join(f"It was {number}% with a{number} and {number + 1}% with b{number}." for number in range(400))
    began = time.process_time()
    swap("It was 17% with a18.", source)
    same = "Stroke occurred in 5% with aspirin and 8% with placebo, and 6% with zinc and 7% with nothing. " * 300
    swap("Aspirin reduced stroke to 9% and 8% and 5%.", same)
    findings("1." * 16_000)
    assert time.process_time() - began < 6
