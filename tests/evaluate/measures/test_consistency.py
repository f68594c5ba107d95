"""Consistency of repeated answers: worked by hand, in `score` and in `compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from figures import figure

from vericite.evaluate.items import Item
from vericite.evaluate.measures.answer_text import Consistency, RougeL
from vericite.formats.convert import to_vericite
from vericite.records import Answer, Document, Gold
from vericite.text.citations import parse_answer

pytest.importorskip("rouge_score", reason="the extra [eval] is not installed")

SOURCES = [Document.from_text(name, "Words.") for name in "abc"]


def answer(id: str, text: str, question: str | None = "Does zinc work?") -> Answer:
    return parse_answer(id, text, SOURCES, question)


ANSWERS = [
    answer("1a", "Zinc works well [1][2]."),
    answer("1b", "Zinc works [2]."),
    answer("1c", "Zinc works well [1][2]."),
    answer("2a", "Iron fails [3].", "Does iron work?"),
    answer("3a", "Gold [1].", None),
]
ITEMS = [Item(given.id, given) for given in ANSWERS]


def test_the_pairs_of_a_question_are_averaged_at_its_first_answer():
    words, cited = Consistency().of(ITEMS), Consistency(what="citations").of(ITEMS)
    # Two pairs of three and two words with two in common (F1 0.8), one pair that is the same.
    assert words == [(pytest.approx((0.8 + 0.8 + 1) / 3), 1.0), (0, 0), (0, 0), (0, 0), None]
    assert cited == [(pytest.approx((0.5 + 0.5 + 1) / 3), 1.0), (0, 0), (0, 0), (0, 0), None]
    assert figure(Consistency(), ITEMS) == pytest.approx(2.6 / 3)


def test_words_are_compared_as_rouge_l_compares_an_answer_with_a_reference():
    reference = Gold(id="1a", ideal=("Zinc works.",))
    assert Consistency().of(ITEMS[:2])[0] == RougeL(stem=False).parts(Item("1a", ANSWERS[0], gold=reference))


def test_refusals_are_left_out_and_neither_citing_is_the_same():
    refused = ANSWERS[2].model_copy(update={"insufficient": True})
    assert Consistency().of([ITEMS[1], Item("1c", refused)]) == [(0, 0), (0, 0)]
    plain = [Item(id, answer(id, "Zinc works.")) for id in ("x", "y")]
    assert Consistency(what="citations").of(plain)[0] == (1.0, 1.0)
    assert Consistency().parts(ITEMS[0]) == (0, 0)


def test_two_systems_are_compared_by_it(run_cli, tmp_path: Path):
    files = [tmp_path / "steady.jsonl", tmp_path / "fickle.jsonl"]
    same, other = ("Zinc works [1].", "Zinc works [1]."), ("Zinc works [1].", "Nothing is known [2].")
    for file, texts in zip(files, (same, other), strict=True):
        asked = [answer(f"{n}{k}", text, f"Question {n}?") for n in range(8) for k, text in enumerate(texts)]
        file.write_text("".join(f"{to_vericite(given)}\n" for given in asked))
    shown = json.loads(run_cli("compare", *map(str, files), "-m", "Consistency", "--json").out)[0]
    assert shown["difference"] == pytest.approx(1.0) and shown["p"] < 0.05
    scored = json.loads(run_cli("score", str(files[1]), "-m", "Consistency(what='citations')", "--json").out)[0]
    assert (scored["value"], scored["n"]) == (0.0, 8)
