"""What a sentence of an abstract is. The sentences are our own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vericite.records import Document, Section
from vericite.text.roles import FINDINGS, ROLES, document_roles, label_role, role_probabilities, unlabelled
from vericite.text.sentences import document_sentences


def roles(document: Document) -> list[str]:
    return list(document_roles(document, document_sentences(document)))


@pytest.mark.parametrize(
    ("label", "role"),
    [
        ("BACKGROUND", "background"),
        ("Materials and Methods", "method"),
        ("MAIN OUTCOME MEASURES:", "method"),
        ("FINDINGS", "result"),
        ("MAIN RESULTS", "result"),
        ("Authors' conclusions", "conclusion"),
        ("INTERPRETATION", "conclusion"),
        ("PURPOSE", "aim"),
        ("METHODS AND RESULTS", None),
        ("BACKGROUND AND AIMS", None),
        ("UNLABELLED", None),
        ("KEY WORDS", None),
    ],
)
def test_a_label_that_says_one_thing_gives_the_role(label: str, role: str | None):
    assert label_role(label) == role


def test_sections_with_labels_need_no_model():
    document = Document(
        id="a",
        sections=(
            Section(text="We measured nothing. Nobody knew.", label="RESULTS"),
            Section(text="More was wanted.", label="CONCLUSIONS"),
        ),
    )
    assert roles(document) == ["result", "result", "conclusion"]


def test_a_label_printed_in_the_text_holds_until_the_next():
    text = "OBJECTIVE: To weigh plums. METHODS: Plums were weighed. Scales were used. RESULTS: They weighed 40 g."
    assert roles(Document.from_text("a", text)) == ["aim", "method", "method", "result"]
    assert unlabelled("RESULTS: they weighed 40 g.") == ("RESULTS", "They weighed 40 g.")
    assert unlabelled("DNA: a molecule that stores.") == (None, "DNA: a molecule that stores.")


def test_words_and_place_tell_where_there_are_no_labels():
    text = (
        "Gout is a common and painful form of arthritis. We aimed to find out whether plum juice prevents flares. "
        "Adults with gout were randomised to plum juice or water for 12 months. "
        "The primary outcome was the number of flares. "
        "Flares occurred in 21 (14%) of 150 with juice and in 45 (30%) of 150 with water (p=0.001). "
        "Plum juice reduced flares of gout and may be recommended to adults."
    )
    assert roles(Document.from_text("a", text)) == ["background", "aim", "method", "method", "result", "conclusion"]


@given(st.text(max_size=200), st.integers(0, 30), st.integers(1, 31))
def test_probabilities_add_up_to_one(text: str, place: int, sentences: int):
    found = role_probabilities(text, min(place, sentences - 1), sentences)
    assert tuple(found) == ROLES
    assert sum(found.values()) == pytest.approx(1)
    assert all(0 <= value <= 1 for value in found.values())
    assert FINDINGS < set(ROLES)


def test_a_tie_is_the_same_tie_in_every_process():
    # "result" and "conclusion" are as likely; in what order a set is read changes with the seed of its hashes.
    code = (
        "from vericite.text.roles import likeliest_role as role\n"
        "print(role('Stopping smoking helps most adults with a chronic cough.', 2, 3))"
    )
    found = set[str]()
    for seed in range(4):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout.strip())
    assert len(found) == 1
