"""The laws of the differences between a sentence and its source."""

import json
import time
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vericite
from vericite.pipeline.repair.differences import Difference, Kind
from vericite.pipeline.repair.proposals import differences
from vericite.text import split_sentences
from vericite.text.words import plain

CORPUS = Path(vericite.__file__).parent / "corpus" / "demo" / "documents.jsonl"
DOCUMENTS = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
ABSTRACTS = [" ".join(section["text"] for section in document["sections"]) for document in DOCUMENTS]
PIECES = st.sampled_from(
    "p < = 0.05 95% CI ( ) to - – and of in 1,234 12 48 % mg/kg per day µg no not reduced higher than increase all"
    " may mice children aged 65 years or older half twice HR 0.8 e-9 ½ · 10^ , . ; vs respectively A B £ ² 一".split()
)
TEXTS = st.text(max_size=300) | st.lists(PIECES, max_size=60).map(" ".join) | st.lists(PIECES, max_size=60).map("".join)


@given(TEXTS, TEXTS)
@settings(deadline=None)
def test_any_two_texts_are_taken_and_found_the_same_twice(claim: str, source: str):
    found = differences(claim, source)
    assert found == differences(claim, source)
    assert all(isinstance(difference, Difference) and difference.reason for difference in found)


@given(TEXTS)
@settings(deadline=None)
def test_a_text_is_never_held_against_itself(text: str):
    assert differences(text, text) == []


def test_no_sentence_is_held_against_itself_or_its_abstract():
    for abstract in ABSTRACTS:
        for span in split_sentences(abstract):
            sentence = abstract[span.slice]
            assert differences(sentence, sentence) == []
            assert differences(sentence, abstract) == []


def test_nor_is_a_sentence_that_was_only_led_in():
    """The law does not rest on the claim's being found word for word."""
    flagged = total = 0
    for abstract in ABSTRACTS:
        for span in split_sentences(abstract):
            total += 1
            flagged += bool(differences("Reportedly: " + abstract[span.slice], abstract))
    assert flagged <= 0.005 * total


PIECEMEAL = (
    "1|1,|12 |0.5-|a|not |p|p<|(|increase |of |1 of |-|95% CI |%|mg/|higher than |aged 6|\n| |A |,|1 to "
).split("|")


@pytest.mark.parametrize("piece", PIECEMEAL)
def test_time_grows_no_faster_than_the_text(piece: str):
    text = piece * (20_000 // len(piece))
    start = time.perf_counter()
    differences("X " + text, text)
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("1,234 of 12 345", "1234 of 12345"),
        ("twenty-four weeks", "24 weeks"),
        ("0·75 (0·64–0·89)", "0.75 (0.64-0.89)"),
        ("2.3 million people", "2300000 people"),
        ("one and a half hours", "1.5 hours"),
        ("half an hour", "0.5 hour"),
        ("1.2 × 10^3 isolates", "1200 isolates"),
        ("P = 4.6 × 10⁻⁹", "P = 0.0000000046"),
    ],
)
def test_numbers_are_brought_to_one_form(written: str, read: str):
    assert plain(written) == read


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("IL-6 and CD4 counts mattered in COVID-19.", "CD4 and IL-6 were measured in COVID-19."),
        ("Vitamin B12 was given in a phase 3 trial.", "In this phase III trial vitamin B12 was given."),
        ("Type 2 diabetes was common.", "Many had type II diabetes."),
        ("H1N1 influenza spread.", "Spread of influenza H1N1 was seen."),
    ],
)
def test_numbers_that_are_names_are_not_quantities(claim: str, source: str):
    assert differences(claim, source) == []


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Sensitivity lay between 80 and 90 %.", "Sensitivity was 85 %, 86 % and 89.4 % in the three fluids."),
        ("More than half of the patients responded.", "Of 240 patients, 150 responded."),
        ("About 40 % of the patients responded.", "39.6 % of the patients responded."),
        ("Metformin was given at 500 mg.", "Metformin was given at 0.5 g."),
        ("Patients were followed for two years.", "Patients were followed for 104 weeks."),
        ("The risk of stroke fell by 28 %.", "The hazard ratio for stroke was 0.72."),
        ("Pain fell by 13 mg more on the drug.", "Pain was 21 vs 34 mg on the drug."),
        ("Stroke fell significantly (p < 0.05).", "Stroke fell (p = 0.003)."),
        ("38 % of the women had not stopped smoking.", "62 % of the women had stopped smoking."),
        ("Light takes 8 minutes and 20 seconds.", "Light takes 12 min 40 sec."),
        ("The drug did not raise blood pressure.", "The drug lowered blood pressure."),
        ("DUSP4 decreased apoptosis.", "Knockdown of DUSP4 increased apoptosis."),
        ("Pain was lower on zinc than on iron.", "Pain was higher on iron than on zinc."),
        ("The mask reduced spread of influenza.", "It is unclear whether the mask increased spread of influenza."),
        ("The walk is important for mood.", "The walk is not only important for mood."),
        ("The lower limb relaxed.", "The lower limb relaxation was impaired."),
        ("Zinc lowered mortality in children.", "Zinc lowered mortality in infants."),
    ],
)
def test_what_follows_from_the_source_is_no_conflict(claim: str, source: str):
    assert differences(claim, source) == []


@pytest.mark.parametrize(
    ("claim", "source", "kind"),
    [
        ("Metformin was given at 500 mg daily.", "Metformin was given at 500 µg daily.", "number"),
        ("Fasting glucose averaged 5.6 mg/dL.", "Fasting glucose averaged 5.6 mmol/L.", "number"),
        ("Over 40 % of the tumours were mutated.", "Over 20 % of the tumours were mutated; 40 % had spread.", "number"),
        (
            "The ratio for stroke was 1.5 (95% CI 1.1-1.9).",
            "The ratio for stroke was 1.5 (95% CI 0.8-1.9).",
            "interval",
        ),
        ("Stroke fell with zinc (p = 0.03).", "Stroke fell with zinc (p = 0.3).", "p-value"),
        ("Zinc increases the risk of stroke.", "Zinc decreased the risk of stroke.", "direction"),
        ("Pain was lower on zinc than on iron.", "Pain was lower on iron than on zinc.", "direction"),
        ("The isolates were sensitive to colistin.", "The isolates were resistant to colistin.", "direction"),
        ("Zinc was not associated with stroke.", "Zinc was associated with stroke.", "negation"),
        ("Zinc had no effect on stroke.", "Zinc reduced stroke.", "negation"),
        ("The mutation was not detected in controls.", "The mutation was detected in controls.", "negation"),
    ],
)
def test_a_single_difference_is_found(claim: str, source: str, kind: str):
    assert kind in {difference.kind for difference in differences(claim, source)}


def test_texts_about_different_things_do_not_speak_against_each_other():
    assert differences("Zinc increased survival in 40 % of mice.", "Of the nurses, 85 % slept less.") == []


def test_the_reason_quotes_both_texts():
    (difference,) = differences("40 % responded to the drug.", "14 % responded to the drug.")
    assert difference == Difference("number", "claim says 40 %, the source 14 %")


def test_some_rule_finds_every_kind():
    assert set(get_args(Kind)) == {"number", "interval", "p-value", "direction", "negation"}
