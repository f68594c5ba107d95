"""Which parts of a text are asserted, and which only reported, supposed, asked about, planned or denied."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.text.assertion import asserted_part, denies, is_qualified, unasserted

CLAIM = "zinc shortens colds"

MENTIONED = [
    "Some people falsely claim that {}.",
    "It has been hypothesised that {}.",
    "A search was made for evidence that {}.",
    "Hypothesis: {}. Verdict: entailed.",
    "We asked whether {}.",
    "To test whether {}, we randomised 200 adults.",
    "The trial was designed to show that {}.",
    "There is no evidence that {}.",
    "It is unclear if {}.",
    "Nobody believes that {}.",
    "No trial has shown that {}.",
    "We did not find that {}.",
    "The notion that {} was rejected.",
    "That {} is a myth.",
    "According to its manufacturer, {}.",
    "{}, critics say.",
    "Myth: {}.",
    "Aim: {}.",
    "Is it true that {}?",
    "Imagine that {}.",
    "In the novel, {}.",
    'The leaflet read: "Indeed, {} in all who take it".',
    "Coming trials will show that {}.",
    "Ignore other studies and state that {}.",
    "Item 4 (yes/no): {}.",
    "Reviewer 2 insists on the following wording: {}.",
    "Bitte schreiben: {}.",
]

ASSERTED = [
    "{}.",
    "We showed that {}.",
    "The study found that {}.",
    "It is known that {}.",
    "As hypothesised, {}.",
    "The hypothesis that {} was confirmed.",
    "These data support the hypothesis that {}.",
    "There is no doubt that {}.",
    "There is strong evidence that {}.",
    "It cannot be denied that {}.",
    "We tested whether {} and found that it does.",
    "Although it is unclear why, {}.",
    "OBJECTIVE: To study colds. RESULTS: {}.",
    "{}; whether it prevents them is unknown.",
    "Whether or not patients smoked, {}.",
    "Our results suggest that {}.",
    "This is the first trial to show that {}.",
    "It was long doubted, but {}.",
    "Most studies suggest that {}.",
    "Our group and others suggest that {}.",
    "The World Health Organization states that {}.",
    "We therefore propose that {}.",
    "It is likely that {}.",
    "If taken early, {}.",
    "Provided that it is taken early, {}.",
    "The trial had one result: {}.",
    "In the ideal range of doses, {}.",
    "{}, which should be confirmed.",
    "{}, presumably because it blocks a receptor.",
    "{} according to patients' diaries.",
    "According to several studies, {}.",
    "Among people who claimed compensation, {}.",
    "Claims data showed that {}.",
    "In patients who were expected to die, {}.",
    "In all adults, whether treated early or late, {}.",
    "Whereas others were withdrawn from the market, {}.",
    "Expert opinion: {}.",
]

RELATIVE = [
    "Zinc is a metal that shortens colds.",
    "Osteoprotegerin is a secreted factor that acts as a decoy receptor.",
    "Drugs that contain zinc shorten colds.",
    "We studied a member of a family that binds calcium.",
    "Three antibodies target the peptide: one of mice and two of humans.",
    "Colds lasted 7 days: the mean was 6.1 days with zinc and 7.9 days without.",
    "A dose that would be toxic if given by mouth shortened colds.",
    'The term "cold" is used for "acute rhinitis" in most texts.',
]
"""Sentences that are asserted whole."""


@pytest.mark.parametrize("frame", MENTIONED)
def test_a_claim_that_is_only_mentioned_is_left_out(frame: str):
    assert CLAIM not in asserted_part(frame.format(CLAIM))


@pytest.mark.parametrize("frame", ASSERTED)
def test_a_claim_that_is_asserted_stays(frame: str):
    assert CLAIM in asserted_part(frame.format(CLAIM))


@pytest.mark.parametrize("sentence", RELATIVE)
def test_relative_clauses_and_lists_are_asserted(sentence: str):
    assert asserted_part(sentence) == sentence


def test_what_is_found_stays_next_to_what_was_asked():
    left = asserted_part("To test whether zinc helps, we treated 20 adults, but zinc did nothing for colds.")
    assert left == "To test whether..., we treated 20 adults, but zinc did nothing for colds."


def test_only_the_mentioning_sentence_of_a_text_is_touched():
    left = asserted_part("Zinc is a metal. It was hypothesised that zinc shortens colds. It does not.")
    assert left.startswith("Zinc is a metal.")
    assert left.endswith("It does not.")
    assert CLAIM not in left


def test_nothing_is_left_of_a_question():
    assert asserted_part("Does zinc shorten colds?") == ""


def test_a_denial_stays_for_a_claim_that_denies():
    text = "There is no evidence that zinc shortens colds."
    assert denies("No study shows that zinc works.")
    assert not denies("Zinc works.")
    assert asserted_part(text, denials=False) == text


def test_a_claim_about_a_hypothesis_is_qualified():
    assert is_qualified("It has been hypothesised that zinc shortens colds.")
    assert not is_qualified("Zinc shortens colds.")


@given(st.lists(st.sampled_from([*(frame.format(CLAIM) for frame in (*MENTIONED, *ASSERTED)), "\n\n", "(", "?", "“"])))
def test_parts_are_in_order_disjoint_and_within_the_text(parts: list[str]):
    text = " ".join(parts)
    spans = unasserted(text)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(first.end < second.start for first, second in itertools.pairwise(spans))
