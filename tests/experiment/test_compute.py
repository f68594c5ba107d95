"""Computed model scores: written next to the answers, signed, resumed, and never mixed."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from vericite.errors import InputError, Problems
from vericite.evaluate.encoders import TokenVectors
from vericite.evaluate.items import ModelScores
from vericite.evaluate.measures.registry import measures_named
from vericite.evaluate.scoring import score_systems
from vericite.evaluate.systems import read_system
from vericite.lab.experiment.compute import (
    BertScores,
    Entailments,
    answer_folders,
    claims_of,
    compute_features,
    compute_scores,
)
from vericite.models import Pair
from vericite.models.contracts import Judgement
from vericite.records import Gold, GoldNugget, read_jsonl
from vericite.verify.judges.bundled import LexicalJudge

FILE = "scores-bertscore.jsonl"
WORDS = ("aspirin", "stroke", "zinc", "colds", "adults", "mortality", "fever", "statins")


class Letters:
    """Encodes words by their letters, and counts the texts."""

    signature = "letters@1"

    def __init__(self, breaks_after: int | None = None) -> None:
        self.asked: list[str] = []
        self._breaks_after = breaks_after

    def tokens(self, texts: Iterable[str]) -> Iterator[TokenVectors]:
        for text in texts:
            if self._breaks_after is not None and len(self.asked) >= self._breaks_after:
                raise KeyboardInterrupt
            self.asked.append(text)
            words = text.lower().split()
            rows = np.array([[word.count(chr(97 + at)) + 0.01 for at in range(26)] for word in words], dtype=np.float32)
            unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            yield TokenVectors(unit, np.ones(len(words), dtype=np.bool_), "long" in words)

    def embed(self, texts: Iterable[str]) -> np.ndarray:
        return np.array([text.vectors.mean(axis=0) for text in self.tokens(texts)], dtype=np.float32)


class Failing(LexicalJudge):
    """Fails on one claim."""

    signature = "failing.v1"

    def __init__(self, claim: str) -> None:
        self.claim = claim

    def judge(self, pairs: Iterable[Pair]) -> Iterator[Judgement]:
        for pair, made in zip(pairs := list(pairs), super().judge(pairs), strict=True):
            yield Judgement.failed("no") if pair.claim == self.claim else made


def lines(path: Path, records: Iterable[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def said(number: int) -> str:
    chosen = random.Random(number).choices(WORDS, k=6)
    return f"The {chosen[0]} and the {chosen[1]} of question {number} {' '.join(chosen[2:])}."


def folder_of(folder: Path, numbers: Sequence[int], answers: dict[int, str] | None = None) -> Path:
    texts = {number: said(number) for number in numbers} | (answers or {})
    lines(folder / "answers.jsonl", [{"id": f"q{n}", "answer": text} for n, text in texts.items()])
    return folder


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    rows = [{"id": f"q{n}", "ideal": [said(n + 1000), said(n + 2000)]} for n in range(200)]
    return lines(tmp_path / "gold.jsonl", rows)


def bertscore(folders: Sequence[Path], gold: Path, model: Letters, cache: Path | None = None):
    return compute_scores(folders, BertScores(model, cache), Problems(), gold)


def scores_in(folder: Path, file: str = FILE) -> dict[str, ModelScores]:
    found = list(read_jsonl(ModelScores, folder / file))
    assert len({line.id for line in found}) == len(found)
    return {line.id: line for line in found}


def test_measures_read_the_computed_scores(tmp_path: Path, gold: Path):
    folder = folder_of(tmp_path / "run", range(5), {7: ""})
    done = bertscore([folder], gold, Letters())
    assert (done.answers, done.made, done.without, done.failed) == (5, 5, 1, 0)
    system = read_system(folder, {}).system("run")
    (figure,) = score_systems([system], measures_named(["BERTScore"]))
    lines_there = scores_in(folder)
    expected = np.mean([lines_there[f"q{n}"].scores["bertscore_f1"] for n in range(5)])
    assert figure.estimate.value == pytest.approx(float(expected)) and figure.estimate.n == 5
    assert "scores-by=bertscore(letters@1)" in figure.signature


def test_only_new_and_changed_answers_are_computed_again(tmp_path: Path, gold: Path):
    folder = folder_of(tmp_path / "run", range(4))
    bertscore([folder], gold, Letters())
    before = scores_in(folder)
    model = Letters()
    folder_of(folder, range(6), {2: "Now the answer is another one."})
    done = bertscore([folder], gold, model)
    assert (done.answers, done.made) == (6, 3)
    assert {text for text in model.asked if text in {said(n) for n in range(4)}} == set()
    after = scores_in(folder)
    assert {id: after[id] for id in ("q0", "q1", "q3")} == {id: before[id] for id in ("q0", "q1", "q3")}
    assert after["q2"] != before["q2"] and len(after) == 6


def test_a_stopped_computation_is_resumed(tmp_path: Path, gold: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("vericite.lab.experiment.compute.AT_ONCE", 4)
    whole, stopped = folder_of(tmp_path / "whole", range(20)), folder_of(tmp_path / "stopped", range(20))
    bertscore([whole], gold, Letters())
    with pytest.raises(KeyboardInterrupt):
        bertscore([stopped], gold, Letters(breaks_after=30))
    assert len(scores_in(stopped)) == 8
    done = bertscore([stopped], gold, Letters())
    assert (done.answers, done.made) == (20, 12)
    assert scores_in(stopped) == scores_in(whole)


def test_the_cache_is_shared_between_folders(tmp_path: Path, gold: Path):
    cache, model = tmp_path / "cache.sqlite", Letters()
    bertscore([folder_of(tmp_path / "one", range(4))], gold, model, cache)
    asked = len(model.asked)
    other = folder_of(tmp_path / "other", range(5))
    bertscore([other], gold, model, cache)
    assert len(model.asked) == asked + 3
    assert scores_in(other)["q1"] == scores_in(tmp_path / "one")["q1"]


def test_folders_that_share_questions_share_references(tmp_path: Path, gold: Path):
    model = Letters()
    folders = [folder_of(tmp_path / name, range(8), {n: f"{name} says {n}" for n in range(8)}) for name in ("a", "b")]
    bertscore(folders, gold, model)
    assert len(model.asked) == 8 * (2 + 2)


def test_figures_of_two_models_are_not_mixed(tmp_path: Path, gold: Path):
    folder = folder_of(tmp_path / "run", range(3))
    bertscore([folder], gold, Letters())
    other = Letters()
    other.signature = "letters@2"
    with pytest.raises(InputError, match="found some by bertscore\\(letters@1\\)"):
        bertscore([folder], gold, other)
    (folder / "features.npz").write_bytes(b"mine")
    with pytest.raises(InputError, match="an unknown model"):
        compute_features([folder], Letters(), Problems(), gold)
    assert (folder / "features.npz").read_bytes() == b"mine"


def test_answers_without_references_are_counted(tmp_path: Path):
    folder = folder_of(tmp_path / "run", range(3))
    with pytest.raises(InputError, match="--gold"):
        compute_scores([folder], BertScores(Letters(), None), Problems())
    with pytest.raises(InputError, match="expected the folder of a run"):
        answer_folders([folder / "answers.jsonl"])


def test_truncated_texts_are_counted(tmp_path: Path, gold: Path):
    folder = folder_of(tmp_path / "run", range(3), {1: "A long answer."})
    assert bertscore([folder], gold, Letters()).cut == 1


def test_vectors_of_answer_and_first_reference_are_written(tmp_path: Path, gold: Path):
    folder = folder_of(tmp_path / "run", range(12))
    done = compute_features([folder], Letters(), Problems(), gold)
    assert (done.answers, done.made) == (12, 12)
    items = {item.id: item for item in read_system(folder, {}).system("run").items}
    expected = Letters().embed([said(3), said(1003)])
    features = items["q3"].features
    assert features is not None and features.by == "mauve-features(letters@1)"
    assert np.array([features.answer, features.reference]) == pytest.approx(expected, abs=1e-6)
    model = Letters()
    compute_features([folder], model, Problems(), gold)
    assert not model.asked
    (figure,) = score_systems([read_system(folder, {}).system("run")], measures_named(["MAUVE"]))
    assert figure.estimate.n == 12 and "features-by=mauve-features(letters@1)" in figure.signature


def test_claims_are_nuggets_or_reference_sentences(tmp_path: Path):
    nuggets = (GoldNugget(id="1", text="Zinc helps."), GoldNugget(id="2", text=" "))
    assert claims_of(Gold(id="q", ideal=("One. Two.",), nuggets=nuggets)) == ("Zinc helps.",)
    assert claims_of(Gold(id="q", ideal=("It fell. It rose then.", "Other."))) == ("It fell.", "It rose then.")
    assert claims_of(Gold(id="q")) == ()


def test_entailment_is_the_mean_over_claims(tmp_path: Path):
    folder = lines(tmp_path / "run" / "answers.jsonl", [{"id": "q", "answer": "Zinc shortens colds."}]).parent
    gold = lines(tmp_path / "gold.jsonl", [{"id": "q", "ideal": ["Zinc shortens colds. Statins lower cholesterol."]}])
    done = compute_scores([folder], Entailments(LexicalJudge()), Problems(), gold)
    found = scores_in(folder, "scores-claim-entailment.jsonl")["q"]
    assert done.signature == "claim-entailment(lexical.v1)" == found.made_by
    assert found.scores["claims_entailed"] == 0.5
    assert found.scores["claim_entailment"] == pytest.approx(0.45, abs=0.01)


def test_a_failed_judgement_is_retried_and_has_no_score(tmp_path: Path):
    folder = folder_of(tmp_path / "run", [1, 2])
    gold = lines(tmp_path / "gold.jsonl", [{"id": f"q{n}", "ideal": [f"Claim {n} holds."]} for n in (1, 2)])
    done = compute_scores([folder], Entailments(Failing("Claim 2 holds.")), Problems(), gold)
    assert (done.made, done.failed) == (2, 1)
    line = scores_in(folder, "scores-claim-entailment.jsonl")["q2"]
    assert line.failed and not line.scores
    again = compute_scores([folder], Entailments(Failing("")), Problems(), gold)
    assert (again.made, again.failed) == (1, 0)


KILLED = """
import sys, time
import vericite.evaluate.encoders as encoders
whole = encoders.BundledTokens.tokens
def slowly(self, texts):
    for made in whole(self, texts):
        time.sleep(0.01)
        yield made
encoders.BundledTokens.tokens = slowly
import vericite.lab.experiment.compute as compute
compute.AT_ONCE = 4
from vericite.cli import main
sys.argv[1:] = ["compute", "bertscore", *sys.argv[1:]]
main()
"""


@pytest.mark.slow
def test_a_killed_computation_is_resumed(run_cli, tmp_path: Path, gold: Path, monkeypatch: pytest.MonkeyPatch):
    whole, killed = folder_of(tmp_path / "whole", range(40)), folder_of(tmp_path / "killed", range(40))
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "a"))
    assert run_cli("compute", "bertscore", str(whole), "--gold", str(gold)).code == 0
    monkeypatch.setenv("VERICITE_CACHE", str(tmp_path / "b"))
    chance, command = random.Random(3), [sys.executable, "-c", KILLED, str(killed), "--gold", str(gold)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as run:
        path = killed / FILE
        while run.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < 12):
            time.sleep(0.005)
        time.sleep(chance.random() * 0.1)
        assert run.poll() is None
        run.send_signal(signal.SIGKILL)
    there = len((killed / FILE).read_bytes().splitlines())
    printed = run_cli("compute", "bertscore", str(killed), "--gold", str(gold))
    assert 12 <= there <= 40 and "40 answers, " in printed.out
    assert scores_in(killed) == scores_in(whole)
