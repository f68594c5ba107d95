"""Claims of two things: what they are joined from, what they stand before, and what that says of them."""

import random

from mix.example import Example, Label
from mix.written import Half, conjoined

ASIDE = "We enrolled adults."


def half(document: str, place: int, *, apart: bool = True, label: Label = "contradicts", words: str = "") -> Half:
    """A claim about a sentence of a text, each told apart by its words."""
    name = f"{document} {place}"
    return Half(
        f"Drug {name} helps{words}.", f"Drug {name} harms{words}.", label,
        frozenset({place}), f"Premise {name}.", ASIDE, document, f"written:{document}", apart,
    )  # fmt: skip


def twins(examples: list[Example]) -> list[tuple[Example, Example]]:
    """What belongs together, the supported one first."""
    found: dict[str | None, list[Example]] = {}
    for example in examples:
        found.setdefault(example.twin, []).append(example)
    assert None not in found
    return [(pair[0], pair[1]) for pair in found.values() if len(pair) == 2]


def of_one_text(pair: tuple[Example, Example]) -> bool:
    return pair[0].premise == pair[1].premise


def test_of_one_text_both_halves_stand_before_both_premises_and_one_is_broken():
    pairs = twins(conjoined([half("pmid:1", 0), half("pmid:1", 1)], random.Random(0)))
    assert len(pairs) == 1
    true, broken = pairs[0]
    assert (true.label, broken.label) == ("entails", "contradicts")
    assert {"Premise pmid:1 0.", "Premise pmid:1 1."} == {f"{it}." for it in true.premise.rstrip(".").split(". ")}
    assert true.claim.count("helps") == 2
    assert (broken.claim.count("helps"), broken.claim.count("harms")) == (1, 1)
    assert true.group == broken.group == "written:pmid:1"


def test_a_half_that_the_text_leaves_open_leaves_the_whole_open():
    found = conjoined([half("pmid:1", place, label="neutral") for place in range(2)], random.Random(0))
    assert {example.label for example in found} == {"entails", "neutral"}


def test_halves_of_the_same_sentence_are_not_joined():
    assert conjoined([half("pmid:1", 0), half("pmid:1", 0)], random.Random(0)) == []


def test_of_two_texts_a_missing_premise_leaves_the_claim_open():
    halves = [half(f"pmid:{number}", 0) for number in range(40)]
    pairs = twins(conjoined(halves, random.Random(0)))
    assert len(pairs) > 20
    for full, less in pairs:
        assert not of_one_text((full, less))
        assert full.claim == less.claim
        assert (full.label, less.label) == ("entails", "neutral")
        assert full.premise.count("Premise") == 2
        assert less.premise.count("Premise") == 1
    assert {ASIDE in less.premise for _, less in pairs} == {True, False}


def test_texts_of_different_sets_are_not_put_together():
    halves = [half(f"{name}:{number}", 0) for name in ("pmid", "wice") for number in range(30)]
    for full, _ in twins(conjoined(halves, random.Random(0))):
        assert ("pmid" in full.premise) != ("wice" in full.premise)


def test_a_text_that_another_set_labels_stands_before_no_claim_about_another():
    """Whether it may be trained on beside that claim, only its own set's split could say."""
    halves = [half("pmid:1", 0)] + [half(f"pmid:{number}", 0, apart=False) for number in range(2, 40)]
    for full, _ in twins(conjoined(halves, random.Random(0))):
        assert "Premise pmid:1 0." in full.premise


def test_claims_that_grow_too_long_are_left_out():
    long = " in many trials" * 8
    assert conjoined([half("pmid:1", 0, words=long), half("pmid:1", 1, words=long)], random.Random(0)) == []


def test_the_same_chance_makes_the_same_claims():
    halves = [half(f"pmid:{number}", place) for number in range(9) for place in range(3)]
    assert conjoined(halves, random.Random(3)) == conjoined(halves, random.Random(3))


def test_both_texts_are_named_so_that_neither_may_be_of_a_dev_set():
    halves = [half(f"pmid:{number}", 0) for number in range(9)]
    for full, less in twins(conjoined(halves, random.Random(0))):
        names = {full.document, full.beside}
        assert len(names) == 2 and names == {less.document, less.beside}
        assert all(f"Premise {name} 0." in full.premise for name in names)
    assert {example.beside for example in conjoined([half("pmid:1", 0), half("pmid:1", 1)], random.Random(0))} == {None}


def test_parts_of_one_row_are_not_taken_for_two_texts():
    halves = [half(f"attributionbench:4:{place}", place) for place in range(9)]
    assert conjoined(halves, random.Random(0)) == []
