from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ir_measures", reason="ir_measures is in the extra [eval]")

from vericite.errors import InputError, ModelMissingError
from vericite.models import Pair
from vericite.train.relevance import score as scoring
from vericite.train.relevance.calibrate import calibrate, fit_line, sigmoid
from vericite.train.relevance.lists import Candidate, RankedList
from vericite.train.relevance.ranking import (
    Floats,
    combined,
    figures,
    logits_of_lists,
    of_first_stage,
    open_ranker,
)
from vericite.train.relevance.score import best_weight, crossed, groups, main, score


def ranked(id: str, gold: Sequence[str], found: Sequence[str], set: str = "held-out") -> RankedList:
    candidates = tuple(Candidate(id=name, text=f"{id} {name}", score=-place) for place, name in enumerate(found))
    return RankedList(
        id=id, question=f"{id}?", set=set, stage="bm25", corpus="all", gold=tuple(gold), candidates=candidates
    )


class Knowing:
    """Says of the texts that end in a letter of ``good`` that they are relevant."""

    def __init__(self, good: str) -> None:
        self.good = good
        self.read = 0

    def of_pairs(self, pairs: Sequence[Pair]) -> Floats:
        self.read += len(pairs)
        return np.array([float(pair.premise[-1] in self.good) for pair in pairs])


def test_figures_are_those_of_trec_eval() -> None:
    lists = [ranked("q", "b", "abc"), ranked("r", "xy", "xab")]
    found = figures(lists, of_first_stage(lists, 3))
    gain = 1 / np.log2(3)
    assert found[0] == pytest.approx([1, gain, 0.5])
    assert found[1] == pytest.approx([0.5, 1 / (1 + gain), 1])


def test_a_gold_document_that_was_not_found_counts_against_recall() -> None:
    lists = [ranked("q", "bz", "ab")]
    assert figures(lists, [np.array([0.0, 1.0])])[0, 0] == 0.5


def test_candidates_beyond_the_depth_are_not_ranked() -> None:
    lists = [ranked("q", "c", "abc")]
    assert figures(lists, of_first_stage(lists, 2))[0].tolist() == [0, 0, 0]


def test_a_pair_that_two_lists_hold_is_read_once() -> None:
    ranker = Knowing("b")
    lists = [ranked("q", "b", "ab"), ranked("q", "b", "ba")]
    first, second = logits_of_lists(ranker, lists, 20)
    assert (first.tolist(), second.tolist(), ranker.read) == ([0, 1], [1, 0], 2)


def test_the_first_stages_rank_breaks_ties_and_wins_at_a_great_weight() -> None:
    assert combined(np.zeros(3), 0.1).argmax() == 0
    assert combined(np.array([0.0, 1.0]), 0.0).argmax() == 1
    assert combined(np.array([0.0, 1.0]), 10.0).argmax() == 0


def test_the_weight_is_fitted_where_ranks_help_and_left_out_where_they_do_not() -> None:
    lists = [ranked(f"q{place}", "a", "abc") for place in range(6)]
    assert best_weight(lists, [np.array([0.0, 0.5, 0.2])] * 6) > 0
    assert best_weight(lists, [np.array([1.0, 0.0, 0.0])] * 6) == 0


def test_no_question_has_a_weight_that_was_fitted_on_it() -> None:
    lists = [ranked(f"q{place}", "a", "abc") for place in range(20)]
    found, weights = crossed(lists, [np.array([1.0, 0.0, 0.0])] * 20)
    assert weights == (0.0, 0.0)
    assert np.all(found == 1)


def test_both_sets_of_bioasq_are_also_told_together() -> None:
    lists = [ranked("q", "a", "a", "bioasq13b"), ranked("r", "a", "a"), ranked("s", "a", "a", "pubmedqa")]
    sizes = {name: len(held) for (name, _, _), held in groups(lists)}
    assert sizes == {"bioasq13b": 1, "held-out": 1, "bioasq": 2, "pubmedqa": 1}


def test_gains_are_over_the_first_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "open_ranker", lambda *_: Knowing("b"))
    lists = [ranked(f"q{place}", "b", "ab", "pubmedqa") for place in range(8)]
    first, reranked, _ = score(lists, [Path("model")], depth=20, weight=0.0, max_tokens=256)
    assert first.gains is None and first.values[2].value == 0.5
    assert reranked.gains is not None and reranked.gains[2].value == 0.5
    assert reranked.as_row()["n"] == 8


def test_a_line_of_logits_is_found_again() -> None:
    dice = np.random.default_rng(0)
    logits = dice.normal(0, 4, 20_000)
    relevant = dice.random(20_000) < sigmoid(logits / 2 - 1)
    temperature, bias = fit_line(logits, relevant)
    assert temperature == pytest.approx(2, abs=0.1)
    assert bias == pytest.approx(-1, abs=0.1)


def test_logits_that_mislead_are_refused() -> None:
    logits = np.linspace(-3, 3, 100)
    with pytest.raises(InputError, match="Train longer"):
        fit_line(logits, logits < 0)
    with pytest.raises(InputError, match="found 0 relevant"):
        fit_line(logits, np.zeros(100, dtype=np.bool_))


def test_calibration_lowers_the_error_on_the_set_it_was_not_fitted_on() -> None:
    dice = np.random.default_rng(0)
    lists: list[RankedList] = []
    logits: list[Floats] = []
    for number in range(200):
        said = dice.normal(0, 6, 20)
        gold = [str(place) for place in range(20) if dice.random() < sigmoid(said[place] / 3 - 1)]
        name = "held-out" if number % 2 else "bioasq13b"
        lists.append(ranked(f"q{number}", gold, [str(place) for place in range(20)], name))
        logits.append(said)
    lists.append(ranked("nothing found", "a", ""))
    logits.append(np.zeros(0))
    found = calibrate(lists, logits, 20)
    assert all(0 < value < 1 for value in found.top)
    assert found.ece[1] < 0.03 < found.ece[0]
    assert found.brier[1] < found.brier[0]
    assert found.n == 4000


def test_what_is_no_model_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelMissingError, match="found neither"):
        open_ranker(tmp_path)
    dev = tmp_path / "dev.jsonl"
    dev.write_text(ranked("q", "a", "ab").model_dump_json() + "\n", encoding="utf-8")
    assert main(["--dev", str(dev), "--set", "others"]) == 2
    assert "expected development lists" in capsys.readouterr().err


def test_the_first_stage_alone_can_be_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dev = tmp_path / "dev.jsonl"
    rows = [ranked(f"q{place}", "a", "ba") for place in range(4)]
    dev.write_text("".join(row.model_dump_json() + "\n" for row in rows), encoding="utf-8")
    assert main(["--dev", str(dev), "--json", str(tmp_path / "lines.json")]) == 0
    assert "bm25" in capsys.readouterr().out
    line = json.loads((tmp_path / "lines.json").read_text(encoding="utf-8"))[0]
    assert line["RR"][0] == 0.5
