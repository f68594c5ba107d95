"""Answers with citations in line: what the recipe writes to learn from, and how the benchmark counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import pytest

import made
from benchmark_modules import benchmark
from pools import Asked, Pools
from vericite.lab.train.examples import AttributionExample, ExampleSource, as_line
from vericite.models.contracts import Judgement, Pair
from vericite.text.citations import parse_answer
from vericite.text.terms import terms

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


class Words:
    """Entails what it has all words of, but for a yes."""

    signature = "words"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            held = set(terms(pair.claim)) - {"yes"} <= set(terms(pair.premise))
            yield Judgement(np.array([0.9, 0.0, 0.1] if held else [0.1, 0.0, 0.9], dtype=np.float32))


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benchmark("inline")


@pytest.fixture
def ask(tmp_path: Path) -> Path:
    """Three questions; of the first two it is said what their answers cite, and of one source that it is not known."""
    told = [
        ("q0", "Yes.", (), ()),
        ("q0", "Zinc lozenges shortened the common cold.", (1,), (2,)),
        ("q1", "Iron tablets cured anaemia.", (2,), ()),
        ("q2", "Zinc lozenges shortened the common cold.", (1,), ()),
    ]
    rows = [
        AttributionExample(
            id=f"e{number}",
            question="Does it help?",
            sentence=text,
            sources=SOURCES,
            supports=supports,
            unknown=unknown,
            group=group,
        )
        for number, (group, text, supports, unknown) in enumerate(told)
    ]
    path = tmp_path / "ask.jsonl"
    path.write_text("".join(f"{as_line(it)}\n" for it in rows), encoding="utf-8")
    return path


def answer(id: str, text: str) -> str:
    return json.dumps({"id": id, "answer": text, "documents": [it.model_dump(mode="json") for it in SOURCES]})


def test_each_question_counts_and_what_was_left_out_is_told(bench: ModuleType, ask: Path, tmp_path: Path):
    file = tmp_path / "answers.jsonl"
    file.write_text(
        "\n".join(
            [
                answer("q0", "Yes, zinc lozenges shortened the common cold [1][2]."),
                answer("q9", "Nobody asked this [1]."),
                '{"id": "q2", "answer": ',
                answer("q1", "-"),
                answer("q0", "No."),
            ]
        )
        + "\n",
        encoding="utf-8",
    )
    gold = bench.gold_of(ask)
    assert [claim.text for claim in gold["q0"].claims] == ["Zinc lozenges shortened the common cold."]
    answers, told = bench.answers_to(gold, file)
    assert [it.id for it in answers] == ["q0", "q1", "q2"]
    assert [it.split(" ")[0] for it in told] == ["1", "1", "1", "1", "1"]
    row = bench.row("x", answers, gold, {"q0": "yes", "q1": "no", "q2": "yes"}, Words())
    name, exact, stated, cites, recall, precision, aligned, pooled = (it.strip() for it in row.strip("|").split("|"))
    assert name == "x" and exact.endswith("(1/3)") and stated.endswith("(1/3)") and cites.endswith("(1/1)")
    # Of three answers one is supported by what it cites; of its two citations one would do.
    assert recall.startswith("0.333") and precision.startswith("0.167")
    # The second citation is of a source of which the gold does not know.
    assert aligned.startswith("1.000") and pooled.startswith("1.000")


def test_the_table_has_a_row_a_file(
    bench: ModuleType, ask: Path, tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(bench, "BundledJudge", Words)
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(f"{answer(f'q{number}', 'Yes.')}\n" for number in range(3)), encoding="utf-8")
    (tmp_path / "gold.jsonl").write_text('{"id": "q0", "exact": [["yes"]]}\n{"id": "q1"}\n', encoding="utf-8")
    bench.main(["score", str(ask), "--exact", str(tmp_path / "gold.jsonl"), f"one={file}", f"two={file}"])
    head, _, columns, rule, *rows = capsys.readouterr().out.splitlines()
    assert head == "3 questions, 3 sentences of gold answers"
    assert {line.count("|") for line in (columns, rule, *rows)} == {9}
    assert [line.split(" | ")[0] for line in rows] == ["| one", "| two"]
    assert all("(1/1)" in line and "(0/3)" in line for line in rows)
