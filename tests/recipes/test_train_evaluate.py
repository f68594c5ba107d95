from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from mix.build import broken_pairs, released, write_released
from mix.folder import DataFolder
from mix.recipe import MixConfig
from release.documents import LabelledDocument, ScorerJudge, verdicts
from release.evaluate import (
    ASKED,
    AnchorCite,
    Asked,
    Candidate,
    JudgedSet,
    Line,
    as_json,
    binary_accuracy,
    calibration_lines,
    claim_only,
    length_only,
    line,
    main,
    robustness_lines,
    score_release,
    show,
)
from vericite.errors import InputError
from vericite.lab.train.data import LabelledPair, read_pairs
from vericite.lab.train.int8_graph import invariance
from vericite.models import EncodedInput, Engine, ModelFolder, Pair
from vericite.models.contracts import CONTRADICTS, ENTAILS, NEUTRAL
from vericite.models.folder import VERIFIER

Floats = NDArray[np.float64]


class Words:
    """Entailed where the premise has the claim's first word; contradicted where it also has "not"."""

    def __init__(self) -> None:
        self.asked: list[Pair] = []

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        self.asked += pairs
        return np.array([self._one(pair) for pair in pairs])

    def _one(self, pair: Pair) -> tuple[float, float, float]:
        if pair.claim.split()[0].lower() not in pair.premise.lower():
            return 0.1, 0.1, 0.8
        return (0.1, 0.7, 0.2) if " not " in pair.premise else (0.7, 0.2, 0.1)


def labelled(claim: str, label: str, **more: object) -> LabelledPair:
    held = {"premise": "Zinc shortened the colds.", "claim": claim, "label": label, "source": "made-up"}
    return LabelledPair.model_validate({**held, **more})


def document(*sentences: str, claim: str = "Zinc shortens colds.", label: str = "entails") -> LabelledDocument:
    row = {"claim": claim, "sentences": list(sentences), "label": label, "source": "made-up", "group": claim}
    return LabelledDocument.model_validate_json(json.dumps(row))


def candidate(scorer: Words) -> Candidate:
    return Candidate("words", scorer, ScorerJudge(scorer), temperature=2.0)


def written(folder: Path, name: str, rows: Sequence[LabelledPair | LabelledDocument]) -> None:
    (folder / f"{name}.jsonl").write_text("".join(row.model_dump_json() + "\n" for row in rows), encoding="utf-8")


def twins(kind: str, twin: str, true: float, broken: float) -> tuple[list[LabelledPair], list[list[float]]]:
    pairs = [
        labelled("Zinc helps.", "entails", kind=kind, twin=twin, group=twin),
        labelled("Zinc harms.", "contradicts", kind=kind, twin=twin, group=twin),
    ]
    return pairs, [[odds, (1 - odds) / 2, (1 - odds) / 2] for odds in (true, broken)]


def test_a_document_is_judged_by_the_sentences_it_is_given_in() -> None:
    scorer = Words()
    whole = document("Zinc was given. It was cheap.", "we did, e.g.", "measure colds.")
    verdicts(ScorerJudge(scorer), [whole], "vericite")
    assert [pair.premise for pair in scorer.asked] == whole.sentences


def test_a_document_supports_if_any_sentence_does_and_else_contradicts_if_any_does() -> None:
    nothing, yes, no = "Colds are common.", "Zinc shortened colds.", "Zinc did not shorten colds."
    held = [document(nothing, no, yes), document(nothing, no), document(nothing)]
    found = verdicts(ScorerJudge(Words()), held, "vericite")
    assert found.columns.tolist() == [ENTAILS, CONTRADICTS, NEUTRAL]
    # What decided: of a neutral document the sentence that came nearest to deciding.
    assert found.sureness == pytest.approx([0.7, 0.7, 0.8], abs=1e-6)
    assert found.undecided == 0
    assert found.one_hot.argmax(1).tolist() == found.columns.tolist()


def test_a_claim_that_the_verifier_does_not_judge_counts_as_neutral_and_is_counted() -> None:
    claim = "锌可以缩短感冒的病程,这是一个临床试验的结果。"
    found = verdicts(ScorerJudge(Words()), [document(f"{claim} yes", claim=claim)])
    assert (found.columns.tolist(), found.undecided) == ([NEUTRAL], 1)


def test_pairwise_accuracy_of_a_worked_example() -> None:
    made = [
        twins("number", "a", 0.9, 0.1),  # in order, and both told right
        twins("number", "b", 0.9, 0.8),  # in order, the broken one held for true
        twins("negation", "c", 0.2, 0.3),  # the wrong way round
        twins("negation", "d", 0.6, 0.6),  # a tie is not in order
    ]
    pairs = [pair for held, _ in made for pair in held]
    told = np.array([row for _, rows in made for row in rows])
    found = {row.name: (row.score.value, row.n) for row in robustness_lines(JudgedSet("robustness", pairs, told))}
    assert found["pairwise, number"] == (1.0, 2)
    assert found["strict, number"] == (0.5, 2)
    assert found["pairwise, negation"] == (0.0, 2)
    assert found["pairwise, all"] == (0.5, 4)
    assert found["strict, all"] == (0.25, 4)


def test_binary_accuracy_counts_what_is_not_entailed_as_one_label() -> None:
    gold = np.array([ENTAILS, CONTRADICTS, NEUTRAL, NEUTRAL])
    told = np.eye(3)[[ENTAILS, NEUTRAL, CONTRADICTS, ENTAILS]]
    assert binary_accuracy(gold, told) == 0.75


def test_a_rival_is_compared_on_the_same_drawn_groups() -> None:
    drawn = np.random.default_rng(0)
    gold = drawn.integers(0, 2, 60) * 2
    pairs = [labelled("Zinc.", ("entails", "", "neutral")[column], group=str(row)) for row, column in enumerate(gold)]
    called = np.where(drawn.random(60) < 0.9, gold, 2 - gold)
    ours = JudgedSet("made_up", pairs, np.eye(3)[called])
    asked = Asked("made_up", "binary accuracy", binary_accuracy, binary=True)
    same = line(ours, asked, ours.probabilities).difference
    assert same is not None
    assert (same.value, same.low, same.high) == (0, 0, 0)
    worse = np.eye(3)[np.where(drawn.random(60) < 0.5, gold, 2 - gold)]
    found = line(ours, asked, worse)
    assert found.rival is not None
    assert found.difference is not None
    assert found.difference.value == pytest.approx(found.score.value - found.rival.value)
    assert found.difference.low < found.difference.value < found.difference.high
    # A measure of three labels cannot be had of one that knows two.
    assert line(ours, Asked("made_up", "macro-F1", binary_accuracy), worse).difference is None


def test_an_upper_bar_is_met_from_below() -> None:
    gold = [labelled("Zinc helps.", "entails", group=str(row)) for row in range(20)]
    surely = JudgedSet("healthver_test", gold, np.tile([0.999, 0.0005, 0.0005], (20, 1)))
    bars = {row.name: row.met for row in calibration_lines(surely, 1.5)}
    assert bars["adaptive ECE, temperature 1.5"] is True
    assert bars["Brier, temperature 1"] is None
    score = line(surely, Asked("healthver_test", "accuracy", binary_accuracy, bar=0.9)).score
    assert Line("a", "b", 1, 1, score, bar=0.9).met is True
    assert Line("a", "b", 1, 1, score, bar=0.9, most=True).met is False


def test_the_probe_by_claims_shows_no_premise() -> None:
    scorer = Words()
    claim_only(scorer, [labelled("Zinc helps.", "entails")])
    assert scorer.asked == [Pair("", "Zinc helps.")]


def test_the_probe_by_lengths_finds_what_lengths_tell_and_no_more() -> None:
    drawn = np.random.default_rng(0)
    labels = ("entails", "contradicts", "neutral")
    columns: list[int] = drawn.integers(0, 3, 300).tolist()
    told = [labelled("Zinc helps.", labels[c], premise="zinc " * (5 + 20 * c)) for c in columns]
    gold = np.array(columns)
    assert (length_only(told, told).argmax(1) == gold).mean() > 0.95
    blind = [labelled("Zinc helps.", labels[c], premise="zinc " * int(drawn.integers(5, 45))) for c in columns]
    assert (length_only(blind, blind).argmax(1) == gold).mean() < 0.5


def test_the_probe_by_lengths_learns_from_the_tested_source_alone() -> None:
    here = [labelled("Zinc.", "entails", premise="a b"), labelled("Zinc.", "neutral", premise="a " * 30)]
    elsewhere = [
        labelled("Zinc.", "neutral", premise="a b", source="other"),
        labelled("Zinc.", "entails", premise="a " * 30, source="other"),
    ]
    assert length_only([*here, *elsewhere * 20], here).argmax(1).tolist() == [ENTAILS, NEUTRAL]
    assert length_only(elsewhere, here).argmax(1).tolist() == [NEUTRAL, ENTAILS]


def test_a_release_is_scored_on_what_there_is_and_says_what_there_is_not(tmp_path: Path) -> None:
    rows = [
        labelled("Zinc shortens colds.", "entails", group="a"),
        labelled("Honey shortens colds.", "neutral", group="b"),
        labelled("Zinc shortens colds.", "contradicts", premise="Zinc did not do it.", group="c"),
    ]
    written(tmp_path, "healthver_test", rows)
    written(tmp_path, "scifact_test_doc", [document("Zinc shortened colds."), document("Rain.", label="neutral")])
    written(tmp_path, "robustness", twins("number", "a", 0.9, 0.1)[0])
    report = score_release(candidate(Words()), tmp_path, rival=Words(), train=rows)
    found = {(row.file, row.name): row for row in report.lines}
    assert found["healthver_test", "macro-F1"].score.value == 1
    assert found["healthver_test", "macro-F1"].met is True
    assert found["healthver_test", "macro-F1, claim only"].score.value < 0.5
    assert ("healthver_test", "macro-F1, lengths only") in found
    assert ("healthver_test", "Brier, temperature 2") in found
    assert found["scifact_test_doc", "macro-F1"].n == 2
    difference = found["scifact_test_doc", "balanced accuracy"].difference
    assert difference is not None
    assert difference.value == 0
    assert "wice_dev" in report.missing
    assert {asked.file for asked in ASKED} == {"healthver_test", "scifact_test_doc", *report.missing}
    console = Console(width=200, record=True, quiet=True)
    show(report, console)
    assert json.loads(as_json(report))["model"] == "words"


def test_a_folder_without_tests_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found none"):
        score_release(candidate(Words()), tmp_path)


def test_the_shipped_verifier_says_the_same_in_every_batch() -> None:
    claims = ("Zinc shortens colds.", "Honey soothes a cough in children.", "Aspirin.", "It rains.", "Colds pass.")
    pairs = [Pair(f"{claim} " * (index + 1), claim) for index, claim in enumerate(claims)]
    found = invariance(ModelFolder.bundled(VERIFIER), pairs)
    assert (found.pairs, found.changed) == (5, 0)
    assert max(found.mixed, found.padded) < 1e-3


def test_outputs_that_move_with_their_batch_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def scored(self: Engine, encoded: Sequence[EncodedInput]) -> Floats:
        # The longest in the batch tips the balance, as a scale over the whole batch would.
        tipped = 0.01 * max(len(item.ids) for item in encoded) / min(len(item.ids) for item in encoded)
        return np.array([[1.0, 1.05 - tipped, 0.0] for _ in encoded])

    monkeypatch.setattr(Engine, "_score", scored)
    pairs = [Pair("Zinc shortened colds.", "Zinc helps."), Pair("It rains. " * 20, "Rain.")]
    found = invariance(ModelFolder.bundled(VERIFIER), pairs)
    assert found.changed == 2
    assert min(found.mixed, found.padded) > 0.01


def test_the_command_prints_a_packed_model_with_its_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, "healthver_test", [labelled("Zinc shortens colds.", "entails"), labelled("Honey.", "neutral")])
    told = ["--tests", str(tmp_path), "--invariance", "2", "--json", str(tmp_path / "out.json")]
    assert main(["--model", str(ModelFolder.bundled(VERIFIER).path), *told]) == 0
    shown = capsys.readouterr().out
    assert "MB (at most 32: met)" in shown
    assert "wice_dev: not among the tests" in shown
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["invariance"]["pairs"] == 2


def test_the_rival_is_asked_through_its_own_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "anchorcite"
    package.mkdir()
    (package / "__init__.py").write_text(
        """
class LexicalScorer:
    def score(self, claim, sentences):
        return [0.25 for _ in sentences]

class Anchor:
    score = 0.6

class CitationAnchorer:
    def __init__(self, scorer):
        self.scorer = scorer
    def anchor(self, claim, source):
        return Anchor() if claim in source else None

def split_sentences_with_offsets(text):
    return [(text, 0, len(text))]
""",
        encoding="utf-8",
    )
    monkeypatch.delitem(sys.modules, "anchorcite", raising=False)
    before = list(sys.path)
    said = AnchorCite(tmp_path).probabilities([Pair("Zinc helps.", "Zinc"), Pair("Rain.", "Zinc")])
    monkeypatch.delitem(sys.modules, "anchorcite")
    assert said == pytest.approx(np.array([[0.8, 0, 0.2], [0.1, 0, 0.9]]))
    assert sys.path == before
    with pytest.raises(InputError, match="unpacked wheel"):
        AnchorCite(tmp_path / "elsewhere")


def test_the_robustness_pairs_become_twins(tmp_path: Path) -> None:
    case = {"id": "r1", "kind": "number", "premise": "Of 40 adults, 10 fell ill.", "supported": "A quarter fell ill."}
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({**case, "broken": "Half fell ill.", "broken_label": "contradicts"}) + "\n", "utf-8")
    write_released({"robustness": broken_pairs(path, "robustness")}, tmp_path)
    true, broken = read_pairs(tmp_path / "robustness.jsonl")
    assert (true.label, broken.label, true.twin) == ("entails", "contradicts", broken.twin)


@pytest.mark.slow
def test_no_row_of_a_published_test_set_is_left_out() -> None:
    folder = Path(__file__).parents[3] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the data sets are not at {folder}")
    sets = released(DataFolder(folder), MixConfig(), 0, None)
    assert len(sets["healthver_test"]) == 1823
    for name, counts in (("scifact_test_doc", [138, 71, 131]), ("healthver_test_doc", [374, 225, 304])):
        labels = [example.label for example in sets[name]]
        assert [labels.count(label) for label in ("entails", "contradicts", "neutral")] == counts
    assert (len(sets["nli4ct_test_single"]), len(sets["nli4ct_test_comparison"])) == (229, 271)
