"""The laws of the checks beside the judge."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import vericite
from vericite.text import split_sentences
from vericite.verify.checks import Finding, findings
from vericite.verify.checks.plain import plain

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
    found = findings(claim, source)
    assert found == findings(claim, source)
    assert all(isinstance(finding, Finding) and finding.reason for finding in found)


@given(TEXTS)
@settings(deadline=None)
def test_a_text_is_never_held_against_itself(text: str):
    assert findings(text, text) == []


def test_no_sentence_is_held_against_itself_or_its_abstract():
    for abstract in ABSTRACTS:
        for span in split_sentences(abstract):
            sentence = abstract[span.slice]
            assert findings(sentence, sentence) == []
            assert findings(sentence, abstract) == []


def test_nor_is_a_sentence_that_was_only_led_in():
    """The law does not rest on the claim's being found word for word."""
    flagged = total = 0
    for abstract in ABSTRACTS:
        for span in split_sentences(abstract):
            total += 1
            flagged += bool(findings("Reportedly: " + abstract[span.slice], abstract))
    assert flagged <= 0.005 * total


PIECEMEAL = (
    "1|1,|12 |0.5-|a|not |p|p<|(|increase |of |1 of |-|95% CI |%|mg/|higher than |aged 6|\n| |A |,|1 to "
).split("|")


@pytest.mark.parametrize("piece", PIECEMEAL)
def test_time_grows_no_faster_than_the_text(piece: str):
    text = piece * (20_000 // len(piece))
    start = time.perf_counter()
    findings("X " + text, text)
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("1,234 of 12 345", "1234 of 12345"),
        ("twenty-four weeks", "24 weeks"),
        ("0·75 (0·64–0·89)", "0.75 (0.64-0.89)"),
        ("2.3 million people", "2300000 people"),
        ("one and a half hours", "1.5 hours"),
        ("half an hour", "0.5 hour"),
        ("two and a quarter hours", "2.25 hours"),
        ("a tenth of a millimetre", "0.1 millimetre"),
        ("1.2 × 10^3 isolates", "1200 isolates"),
        ("P = 4.6 × 10⁻⁹", "P = 0.0000000046"),
        ("not without toxicity", "with toxicity"),
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
    assert findings(claim, source) == []


@pytest.mark.parametrize(
    ("claim", "source", "kind"),
    [
        ("Patients on B improved by 9 points.", "On B the score went from 24 to 9 points.", "number"),
        (
            "The ratio was 1.2 (95% CI 1.3-1.9).",
            "It was 1.5 (95% CI 1.3-1.9), for men 1.2 (95% CI 0.8-1.8).",
            "interval",
        ),
        ("The stay was longer with care A than with care B.", "The stay was 4 days on A and 7 days on B.", "direction"),
        ("The gel killed moulds.", "The gel killed yeasts but not moulds.", "negation"),
        ("The knockout mice were infertile.", "The knockout mice were fertile.", "negation"),
    ],
)
def test_what_is_told_of_one_is_not_told_of_another(claim: str, source: str, kind: str):
    assert kind in {finding.kind for finding in findings(claim, source)}


def test_the_reason_quotes_both_texts():
    (finding,) = findings("40 % responded to the drug.", "14 % responded to the drug.")
    assert finding == Finding("number", "claim says 40 %, the source 14 %")
