"""What a source has in place of a figure that it lacks: stated only where it is certain."""

from __future__ import annotations

import pytest

from vericite.verify.counterparts import Counterpart, counterpart
from vericite.verify.details import Compared, suspects
from vericite.verify.explaining import carried_change
from vericite.verify.figures import findings

LIFESTYLE = "Diabetes was reduced by 34% with lifestyle and by 18% with metformin compared with placebo."
EVENTS = (
    "Cardiovascular events occurred in 13.8% of the placebo group and 10.9% of the semaglutide group "
    "(hazard ratio 0.79, 95% CI 0.57 to 1.11)."
)


def of(claim: str, source: str, number: int = 0) -> Counterpart:
    return counterpart(claim, findings(claim)[number], source)


@pytest.mark.parametrize(
    ("claim", "source", "said"),
    [
        ("Weight fell by 3 kg.", "Weight fell by 5 kg in 80 adults.", "5 kg"),
        ("Metformin reduced diabetes by 58%.", LIFESTYLE, "18%"),
        ("Lifestyle reduced diabetes by 58% compared with metformin.", LIFESTYLE, "34%"),
        ("The programme reduced diabetes by 58%.", LIFESTYLE, ""),
        ("Events occurred in 11.9% with semaglutide.", EVENTS, "10.9%"),
        ("Semaglutide lowered events by 31%.", EVENTS, ""),
        ("It had a sensitivity of 78%.", "It had a sensitivity of 88% and a specificity of 91%.", "88%"),
        ("Half were cured, and 12% relapsed.", "Cure was seen in 48% and rash in 31%.", ""),
        ("Of 64 women, most slept.", "Of 640 women and 200 men, most slept.", "640"),
        ("It lasted for 12 weeks.", "It lasted for 12 months, and follow-up was 3 years.", "12 months"),
        ("Mortality was 5%.", "Mortality was measured (95% CI 1 to 2). Cure was 40%; nausea was 9%.", ""),
    ],
)  # fmt: skip
def test_a_figure_is_stated_only_if_it_stands_for_that_of_the_claim(claim, source, said):
    assert of(claim, source).whole == said


def test_figures_of_arms_that_the_claim_does_not_name_are_listed():
    found = of("The programme reduced diabetes by 58%.", LIFESTYLE)
    assert found.arms is not None
    assert found.arms.listed == "34% (lifestyle) and 18% (metformin)"


NAUSEA = "Nausea occurred in 14% of the 0.5 mg group, 22% of the 1.0 mg group and 6% of the placebo group."
PLACED = "Nausea occurred with 0.5 mg in 14%, with 1.0 mg in 22% and with placebo in 6%."
WEIGHT = "Mean body weight fell by 3.5 kg, 5.8 kg and 0.9 kg."
OUTCOME = "The outcome occurred in 102 participants in the intensive group and 148 in the standard group."


@pytest.mark.parametrize(
    ("claim", "source", "listed", "said"),
    [
        ("Body weight fell by 8.5 kg with the 1.0 mg dose.", WEIGHT, "3.5 kg, 5.8 kg and 0.9 kg", ""),
        ("Nausea occurred in 12% of patients given 1.0 mg.", NAUSEA, "", "22%"),
        ("Nausea occurred in 12% of patients given 1 mg, compared with placebo.", NAUSEA, "", "22%"),
        ("Nausea occurred in 12% of patients given placebo.", NAUSEA, "", "6%"),
        ("Nausea occurred in 12% of patients.", NAUSEA, "14%, 22% and 6%", ""),
        ("Nausea occurred in 12% of patients given 1.0 mg.", PLACED, "14%, 22% and 6%", ""),
        ("The outcome occurred in 160 patients of the standard group.", OUTCOME, "", "148"),
        ("The outcome occurred in 160 patients.", OUTCOME, "102 and 148", ""),
    ],
)  # fmt: skip
def test_of_a_list_only_the_figure_of_the_arm_that_the_claim_names_stands_for_it(claim, source, listed, said):
    found = of(claim, source)
    assert (found.listed, found.whole) == (listed, said)


AGREE = "The figures agree: {}. The judge may be wrong; read the source."
OTHER = "Hazard ratio 0.69 = 31% lower, but that is for major bleeding."
TRIAL = (
    "In 18,201 adults, apixaban reduced mortality (hazard ratio 0.89, 95% CI 0.80-0.998) and major bleeding "
    "(hazard ratio 0.69, 95% CI 0.60-0.80)."
)
ABBREVIATED = "All-cause mortality HR 0.89; major bleeding HR 0.69."
IN_WOMEN = "In women, stroke was less frequent with statins (hazard ratio, 0.79; 95% CI, 0.70 to 0.90)."
AFTER = (
    "Lumaben had a hazard ratio of 0.89 for all-cause mortality, and HR 0.69 (95% CI 0.60 to 0.80) for major bleeding."
)


@pytest.mark.parametrize(
    ("claim", "source", "carried"),
    [
        ("Semaglutide lowered cardiovascular events by 21%.", EVENTS, AGREE.format("hazard ratio 0.79 = 21% lower")),
        ("Semaglutide raised cardiovascular events by 21%.", EVENTS, ""),
        ("Semaglutide lowered cardiovascular events by 22%.", EVENTS, ""),
        ("Semaglutide lowered events by 21%.", EVENTS, ""),
        ("Falls increased by 34%.", "Falls occurred more often (adjusted OR, 1.34).",
         AGREE.format("odds ratio 1.34 = 34% higher")),
        ("Deaths decreased by 7.5%.", "The relative risk of death was 0.925.",
         AGREE.format("relative risk 0.925 = 7.5% lower")),
        ("The risk of death was 31% lower with lumaben.", "Lumaben lowered the risk of death (HR 0.69).",
         AGREE.format("hazard ratio 0.69 = 31% lower")),
        ("Falls were reduced by 50%.", "It was 3 or 0.5 of it.", ""),
        ("Apixaban reduced all-cause mortality by 31%.", ABBREVIATED, OTHER),
        ("Mortality was reduced by 31% with lumaben.", ABBREVIATED, OTHER),
        ("Apixaban reduced all-cause mortality by 31%.", TRIAL, OTHER),
        ("Lumaben reduced all-cause mortality by 31%.", AFTER, OTHER),
        ("Apixaban reduced major bleeding by 31%.", TRIAL, AGREE.format("hazard ratio 0.69 = 31% lower")),
        ("Apixaban reduced mortality by 11%.", TRIAL, AGREE.format("hazard ratio 0.89 = 11% lower")),
        ("Statins lowered the risk of stroke by 21% in women.", IN_WOMEN,
         AGREE.format("hazard ratio 0.79 = 21% lower")),
        # A ratio of another group, or one of several of its outcome, says nothing of the claim.
        ("Statins lowered the risk of stroke by 21% in men.", IN_WOMEN, ""),
        ("Statins lowered the risk of stroke by 21%.", IN_WOMEN, ""),
        ("Statins lowered the risk of stroke by 21%.", "Among diabetics, the hazard ratio for stroke was 0.79.", ""),
        ("Statins lowered the risk of stroke by 21% in women.",
         "In men, the hazard ratio for stroke was 0.79 (0.70 to 0.90) with statins. "
         "In women, the hazard ratio for stroke was 0.98 (0.80 to 1.10).", ""),
        ("Statins lowered the risk of stroke by 21%.",
         "The hazard ratio for stroke was 0.79 (0.70 to 0.90) in men and 0.98 in women.", ""),
        ("Statins lowered the risk of death by 21%.",
         "The hazard ratio for death was 0.79 at 1 year. The hazard ratio for death was 0.95 at 5 years.", ""),
        ("Statins lowered the risk of stroke by 5% and of death by 21%.", "The hazard ratio for stroke was 0.79.", ""),
        ("Statins lowered the risk of death by 21%.", "The hazard ratio for stroke or death was 0.79.", ""),
        ("Statins lowered the risk of death by 21%.", "The hazard ratio for cardiovascular death was 0.79.", ""),
        ("Statins lowered the risk of death by 21%.",
         "Hazard ratios for stroke and death were 0.79 (95% CI 0.70 to 0.90) and 0.95 (0.80 to 1.10), respectively, "
         "with statins against placebo.", ""),
        ("Statins lowered the risk of death by 21%.",
         "Stroke and death were less frequent (hazard ratio 0.79 [0.70-0.90] and 0.95 [0.80-1.10]).", ""),
        # Which of two outcomes a list gives a ratio to is not known.
        ("Lumaben reduced bleeding by 11%.", "The hazard ratios for death and bleeding were 0.89 and 0.69.", ""),
    ],
)  # fmt: skip
def test_a_ratio_carries_the_relative_change_that_it_says_of_the_same_outcome(claim, source, carried):
    assert carried_change(claim, source) == carried


@pytest.mark.parametrize(("number", "missing"), [("21", False), ("31", True)])
def test_a_relative_change_that_a_ratio_says_is_no_missing_number(number, missing):
    found = suspects(f"Semaglutide lowered events by {number}%.", Compared(EVENTS, EVENTS))
    assert any(item.kind == "number" for item in found) is missing


def test_bounds_of_intervals_and_probabilities_of_error_are_no_findings():
    text = "It was 4% (95% CI, 2% to 6%; p = 0.03) and 12% (97.5% confidence interval 9-14)."
    assert [item.value for item in findings(text)] == [4, 12]
