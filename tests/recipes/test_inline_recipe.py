"""Answers with citations in line: what the recipe writes to learn from, and what it asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, cast

import made
from pools import Asked, Pools
from vericite.lab.train.examples import AttributionExample, ExampleSource
from vericite.text.citations import parse_answer

SOURCES = (
    ExampleSource(id="a", text="Zinc lozenges shortened the common cold by two days in adults."),
    ExampleSource(id="b", text="Iron tablets cured anaemia within six weeks."),
)


class Everybody:
    """A guard that lets all through but one."""

    def refuses_claim(self, text: str, by: str) -> bool:
        return "tested" in text


class OneQuestion:
    """Pools of some answers."""

    guard = Everybody()

    def __init__(self, *answers: str) -> None:
        self._answers = answers
        self.documents = [source.document for source in SOURCES]

    def asked(self, part: str, seed: int) -> Iterator[Asked]:
        for number, text in enumerate(self._answers):
            whole = tuple(
                (place, claim.text) for place, claim in enumerate(parse_answer("q", text, self.documents).claims)
            )
            long = tuple(it for it in whole if len(it[1].split()) >= 6)
            snippets = {1: [SOURCES[0].text]}
            yield Asked(f"q{number}", "Does zinc help?", long, whole, SOURCES, snippets)


def written(*answers: str, most: int = 10) -> list[AttributionExample]:
    return list(made.whole_answers(cast("Pools", OneQuestion(*answers)), "train", most, 0))


def test_whole_answers_have_their_yes_and_their_short_sentences():
    found = written("Yes. Zinc lozenges shortened the common cold by two days. Zinc shortened colds. No.")
    assert [(it.sentence, it.supports) for it in found] == [
        ("Yes.", ()),
        ("Zinc lozenges shortened the common cold by two days.", (1,)),
        ("Zinc shortened colds.", (1,)),
        ("No.", ()),
    ]
    assert {it.group for it in found} == {"bioasq:q0"}
    assert not any(it.unknown for it in found if it.sentence in ("Yes.", "No."))


def test_answers_without_a_source_or_of_the_test_are_left_out():
    said = "Zinc lozenges shortened the common cold by two days."
    assert not written("Yes.", "Yes. Magnesium was not measured in any of these people.", f"{said} It was tested.")
    assert {it.group for it in written(said, said, said, most=2)} == {"bioasq:q0", "bioasq:q1"}


def test_gold_has_the_claims_with_their_sources_and_the_short_answer():
    class Asked(OneQuestion):
        questions: ClassVar = {"test": [{"id": "q0", "type": "yesno", "exact_answer": "Yes"}]}

    asked = written("Yes. Zinc lozenges shortened the common cold by two days.")
    (known,) = made.gold_answers(cast("Pools", Asked()), "test", asked)
    assert known.id == "bioasq:q0" and known.exact == (("yes",),)
    assert [(nugget.text, nugget.documents) for nugget in known.nuggets or ()] == [
        ("Zinc lozenges shortened the common cold by two days.", ("a",))
    ]
