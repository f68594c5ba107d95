"""Laws of restated claims: the same meaning, another syntax and other words, and well-formed."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.train.mix.wording.dropping import bare
from vericite.train.mix.wording.findings import as_noun, null
from vericite.train.mix.wording.grammar import kept, lowered, mended, plural
from vericite.train.mix.wording.moving import seen, to_end, to_front
from vericite.train.mix.wording.nouns import bearers, rehung
from vericite.train.mix.wording.quantities import requantified
from vericite.train.mix.wording.restating import restated, reworded
from vericite.train.mix.wording.synonyms import SYNONYMS, synonymised
from vericite.train.mix.wording.turning import turned
from vericite.train.mix.wording.voice import active, passive, went

CLAIMS = [
    "In adults with gout, zinc significantly reduced the number of attacks over 12 weeks.",
    "Zinc was associated with a higher risk of myocardial infarction in women.",
    "There was no significant difference in mortality between zinc and copper.",
    "We found that appetite was markedly increased by zinc (p = 0.01), suggesting a role in hunger.",
    "Sleep was longer with zinc than with copper.",
    "Dyspnea was less frequent in cooks compared with bakers, and pruritus was reduced by zinc.",
    "Copper levels increased after treatment in 1,200 participants.",
]


def _dice(seed: int = 7) -> random.Random:
    return random.Random(seed)


@given(st.sampled_from(CLAIMS), st.integers(0, 10_000))
def test_a_restated_claim_is_well_formed_and_another(claim: str, seed: int) -> None:
    said = restated(claim, _dice(seed))
    assert said == restated(claim, _dice(seed))
    if said is None:
        return
    assert kept(said, claim) <= 0.75
    assert said[0] == said[0].upper()
    assert said.endswith(".") and not said.endswith("..")
    assert "  " not in said and " ," not in said and " ." not in said
    assert not re.search(r"\b(?:a|an|the) (?:a|an|the)\b", said)


def test_most_claims_can_be_restated() -> None:
    assert all(any(restated(claim, _dice(seed)) for seed in range(5)) for claim in CLAIMS)


@pytest.mark.parametrize("claim", ["Does zinc reduce the number of attacks in adults with gout?", "Zinc works.", ""])
def test_a_question_or_a_scrap_is_refused(claim: str) -> None:
    assert restated(claim, _dice()) is None


@given(st.integers(0, 1000))
def test_no_number_is_made_up(seed: int) -> None:
    said = restated("In 41 cooks, zinc reduced the risk of dyspnea by 12% compared with copper.", _dice(seed))
    assert said is None or set(re.findall(r"\d+", said)) <= {"41", "12"}


@pytest.mark.parametrize(
    ("rule", "claim", "said"),
    [
        (active, "Appetite was reduced by zinc in cooks.", "Zinc reduced appetite in cooks."),
        (active, "Sores are caused by copper salts.", "Copper salts cause sores."),
        (active, "Sores can be prevented by zinc.", "Zinc can prevent sores."),
        (passive, "Zinc inhibited the growth of yeast.", "The growth of yeast was inhibited by zinc."),
        (passive, "In cooks, zinc improves sores.", "In cooks, sores are improved by zinc."),
        (passive, "Zinc reduced the rate of colds by 12%.", "The rate of colds was reduced by 12% with zinc."),
        (
            went,
            "Treatment with zinc reduced the rate of colds.",
            "The rate of colds was lower after treatment with zinc.",
        ),
        (turned, "Appetite was higher in cooks than in bakers.", "Appetite was lower in bakers than in cooks."),
        (turned, "Cooks had longer survival than bakers.", "Bakers had shorter survival than cooks."),
        (turned, "Zinc was more effective than copper.", "Copper was less effective than zinc."),
        (turned, "Zinc was superior to copper.", "Copper was inferior to zinc."),
        (to_end, "In women with gout, zinc was of no use.", "Zinc was of no use in women with gout."),
        (to_end, "Compared with copper, zinc was of great use.", "Zinc was of great use relative to copper."),
        (to_front, "Zinc was of great use in women with gout.", "In women with gout, zinc was of great use."),
        (seen, "We observed a rise in appetite after lunch.", "A rise in appetite was observed after lunch."),
        (bare, "In conclusion, we found that zinc (an ion) was of use.", "Zinc was of use."),
    ],
)
def test_another_syntax(rule, claim: str, said: str) -> None:
    assert rule(claim) == said


@pytest.mark.parametrize(
    ("rule", "claim"),
    [
        (active, "Appetite was reduced by 12% in cooks."),
        (active, "Appetite was not reduced by zinc."),
        (passive, "Zinc did not change, and copper reduced sleep."),
        (passive, "Cooks with reduced sleep were ill."),
        (turned, "Appetite was not higher in cooks than in bakers."),
        (turned, "Appetite was higher than expected."),
    ],
)
def test_what_would_be_botched_is_left(rule, claim: str) -> None:
    assert rule(claim) is None


@pytest.mark.parametrize(
    ("rule", "claim", "said"),
    [
        (as_noun, "Appetite was increased in cooks.", {"An increase in appetite was"}),
        (as_noun, "Appetite fell in cooks.", {"There was a", "A fall in appetite was", "A drop in appetite was"}),
        (
            as_noun,
            "Zinc was associated with a reduced risk of colds.",
            {"The risk of colds was lower with zinc.", "Zinc went"},
        ),
        (
            null,
            "Zinc did not affect sleep.",
            {"Zinc had no significant effect on sleep.", "Sleep was not significantly"},
        ),
        (null, "Zinc failed to improve sleep.", {"Zinc did not improve sleep."}),
        (null, "Sleep did not differ significantly between cooks and bakers.", {"There was no", "No significant"}),
        (bearers, "Sores occurred in 12% of cooks.", {"12% of cooks had sores."}),
    ],
)
def test_a_finding_in_a_noun_or_a_verb(rule, claim: str, said: set[str]) -> None:
    for seed in range(8):
        assert rule(claim, _dice(seed)).startswith(tuple(said))


def test_what_hangs_on_a_noun_changes_its_side() -> None:
    assert rehung("Zinc levels were high.", _dice()) == "Levels of zinc were high."
    assert rehung("The expression of TP53 was high.", _dice()) == "TP53 expression was high."


def test_numbers_keep_their_value() -> None:
    ways = {requantified("Of 1,200 cooks, 23.4% slept for 24 months.", _dice(seed)) for seed in range(30)}
    assert "Of 1200 cooks, 23.4% slept for 24 months." in ways
    ways = {requantified("Cooks slept for 24 months.", _dice(seed)) for seed in range(30)}
    assert "Cooks slept for two years." in ways
    assert requantified("The share was 23.4% (95% CI 20 to 27).", _dice()) == "The share was 23.4% (95% CI 20 to 27)."


def test_the_table_is_large_and_says_no_word_for_itself() -> None:
    assert len(SYNONYMS) > 500
    assert all(others and word not in others for word, others in SYNONYMS.items())


def test_synonyms_keep_capitals_and_fit_their_articles() -> None:
    said = {
        mended(synonymised("Pruritus was seen after a myocardial infarction.", _dice(seed), 3)) for seed in range(20)
    }
    assert any(text.endswith("a heart attack.") for text in said)
    assert any(text.startswith("Itching was") for text in said)
    assert all(text[0].isupper() for text in said)


def test_rewording_leaves_numbers() -> None:
    assert "12" in reworded("Zinc reduced the risk of dyspnea by 12%.", _dice())


def test_words_know_their_number_and_capital() -> None:
    assert plural("zinc levels") and plural("zinc and copper") and not plural("analysis of levels")
    assert lowered("Zinc eases gout") == "zinc eases gout"
    assert lowered("Parkinson's disease") == "Parkinson's disease"
    assert lowered("TP53 levels") == "TP53 levels"
