"""The benchmark of long articles: how it makes them, and how it counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from benchmark_modules import benchmark
from vericite.lab.train.examples import AttributionExample, ExampleSource, as_line
from vericite.models.contracts import Judgement, Pair
from vericite.records import Answer, Evidence, Question
from vericite.text.citations import parse_answer
from vericite.text.terms import terms

CURES = (("zinc", "colds"), ("iron", "anaemia"), ("iodine", "goitre"), ("folate", "spina bifida"), ("lead", "nothing"))


class Words:
    """Entails what it has all words of."""

    signature = "words"

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair in pairs:
            held = set(terms(pair.claim)) <= set(terms(pair.premise))
            yield Judgement(np.array([0.9, 0.0, 0.1] if held else [0.1, 0.0, 0.9], dtype=np.float32))


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benchmark("politicite")


@pytest.fixture
def made(bench: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """One article of four questions, each with a source that says its sentence and one that does not."""
    rows = [
        AttributionExample(
            id=f"e{number}",
            question=f"Does {cure} help {ill}?",
            sentence=f"The {cure} tablets prevent {ill} in adults.",
            sources=(
                ExampleSource(id=cure, text=f"The {cure} tablets prevent {ill} in adults, says a trial."),
                ExampleSource(id=f"no {cure}", title="A survey", text=f"Few shops sell {cure}."),
            ),
            supports=(1,),
            group=f"g{number}",
        )
        for number, (cure, ill) in enumerate(CURES)
    ]
    examples, out = tmp_path / "examples.jsonl", tmp_path / "articles.json"
    examples.write_text("".join(f"{as_line(it)}\n" for it in rows), encoding="utf-8")
    bench.main(["joined", str(examples), "--out", str(out)])
    assert capsys.readouterr().out == "1 articles of 4 questions; 1 questions are left over\n"
    return out


def cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_an_article_has_all_its_questions_and_their_sources(bench: ModuleType, made: Path):
    ((answer, gold),) = bench.articles(made)
    assert len((answer.question or "").splitlines()) == len(answer.claims) == 4
    assert len(answer.documents) == 8
    for claim, it in zip(answer.claims, gold.citations, strict=True):
        assert claim.text.split()[1] in it.documents[0]


def test_the_ceiling_cites_what_is_shown_and_the_first_row_is_compared(
    bench: ModuleType, made: Path, capsys: pytest.CaptureFixture[str]
):
    bench.main(["score", str(made), "--k", "1", "8", "--by", "ceiling", "first"])
    out = capsys.readouterr().out
    assert "1 articles, 4 sentences, 8.0 sources an article: 4 citations, 0 sentences have none, 0 several" in out
    rows = [cells(line) for line in out.splitlines() if line.startswith(("| 1 ", "| 8 "))]
    assert [row[:2] for row in rows] == [["1", "ceiling"], ["1", "first"], ["8", "ceiling"], ["8", "first"]]
    assert all(row[2].startswith("1.000") for row in rows)
    assert [bool(row[5]) for row in rows] == [False, True, False, True]
    assert "of 4 gold citations among 8 sources: 1.000" in out


def test_what_an_attributor_found_is_kept(
    bench: ModuleType, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    kept = tmp_path / "kept"
    kept.mkdir()
    given = ["score", str(made), "--k", "3", "--by", "random", "--kept", str(kept)]
    bench.main(given)
    first = capsys.readouterr()
    bench.main(given)
    again = capsys.readouterr()
    assert first.out == again.out
    assert "4 sentences asked about" in first.err and "0 sentences asked about" in again.err


def test_paragraphs_cite_by_the_numbers_of_the_article(bench: ModuleType, made: Path):
    ((answer, _),) = bench.articles(made)

    def generate(question: Question, evidence: Sequence[Evidence]) -> Answer:
        if "iron" in question.text:
            refused = parse_answer(question.id, "It is not in the sources.", [], question.text)
            return refused.model_copy(update={"insufficient": True})
        found = [it.document for it in evidence]
        return parse_answer(question.id, f"{found[0].text.rstrip('.')} [1].", found, question.text)

    made_of = bench.paragraphs(answer, 2, generate)
    assert len(made_of.answer.split("\n\n")) == 3
    parsed = made_of.parsed()
    for claim in parsed.claims:
        (cited,) = claim.citations
        assert claim.text.split()[1] in (cited.document or "")


@pytest.mark.parametrize(
    ("text", "recall", "sentence", "article"),
    [
        ("", "0.000", "-", "0.000"),
        ("The zinc tablets prevent colds in adults [1].", "0.250", "1.000", "0.400"),
        ("The zinc tablets prevent colds in adults [3].", "0.250", "0.000", "0.400"),
    ],
)
def test_an_article_is_held_against_what_it_should_say(
    bench: ModuleType, made: Path, text: str, recall: str, sentence: str, article: str
):
    pairs = {answer.id: (answer, gold) for answer, gold in bench.articles(made)}
    ((id, (answer, _)),) = pairs.items()
    places = {it.id.split(" (")[0]: number for number, it in enumerate(answer.documents, start=1)}
    zinc = next(number for name, number in places.items() if name in ("(zinc)", "zinc"))
    other = next(number for name, number in places.items() if name in ("(iron)", "iron"))
    given: dict[str, Any] = {
        "id": id,
        "answer": text.replace("[1]", f"[{zinc}]").replace("[3]", f"[{other}]"),
        "documents": [{"id": it.id, "text": it.text} for it in answer.documents],
    }
    told = bench.figures_of(pairs, {id: bench.AnswerToCheck.model_validate_json(json.dumps(given))}, Words())
    assert [cell.split(" ")[0] for cell in told[1:]] == [recall, sentence, article]
