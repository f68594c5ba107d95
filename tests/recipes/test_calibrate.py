from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from release.gate import calibrate, calibrate_main, judged, write_card
from vericite.errors import InputError, ModelMissingError, UnknownNameError
from vericite.evaluate.calibration import (
    Answered,
    CurvePoint,
    JudgedPairs,
    adaptive_ece,
    brier,
    choose_threshold,
    ece_of_labels,
    fit_temperature,
    negative_log_likelihood,
    risk_coverage,
)
from vericite.lab.train.data import LabelledPair
from vericite.models import ModelFolder, Pair
from vericite.models.folder import VERIFIER
from vericite.verify.judging import softmax, temperature_scaled

Floats = NDArray[np.float64]


def calibrated(count: int, seed: int = 0) -> tuple[NDArray[np.int64], Floats]:
    """Labels drawn from the very probabilities that are told."""
    drawn = np.random.default_rng(seed)
    told = drawn.dirichlet(np.ones(3), count)
    gold = (told.cumsum(axis=1) > drawn.random((count, 1))).argmax(axis=1)
    return gold.astype(np.int64), told


def of(gold: NDArray[np.int64], told: Floats, binary: bool = False) -> JudgedPairs:
    return JudgedPairs(gold, told, np.full(len(gold), binary))


class ByLength:
    """Is surer of a claim the longer it is; knows nothing of the premise."""

    def probabilities(self, pairs: Sequence[Pair]) -> Floats:
        logits = np.array([[len(pair.claim) / 8, 0.0, 1.0] for pair in pairs])
        return softmax(logits)


def written(folder: Path, name: str, count: int = 40) -> None:
    folder.mkdir(exist_ok=True)
    drawn = np.random.default_rng(3)
    rows: list[dict[str, object]] = []
    for index in range(count):
        claim = "Zinc helps" + " a lot" * int(drawn.integers(0, 5))
        label = "entails" if drawn.random() < len(claim) / 40 else "neutral"
        held = {"premise": "Zinc was given.", "sentences": ["Zinc was given.", "It was cheap."]}
        rows.append({**held, "claim": claim, "label": label, "source": "made-up", "group": str(index)})
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_calibrated_probabilities_have_hardly_an_error() -> None:
    gold, told = calibrated(30_000)
    assert ece_of_labels(gold, told) < 0.015
    # The mean of 1 - sum of squares over a flat Dirichlet of three.
    assert brier(gold, told) == pytest.approx(0.5, abs=0.01)


def test_too_sure_probabilities_have_an_error_that_a_temperature_takes_away() -> None:
    gold, told = calibrated(10_000)
    sharp = temperature_scaled(told, 0.4)
    assert ece_of_labels(gold, sharp) > 0.1
    found = fit_temperature([of(gold, sharp)])
    assert found == pytest.approx(2.5, rel=0.05)
    assert ece_of_labels(gold, temperature_scaled(sharp, found)) < 0.03


@pytest.mark.parametrize("planted", [0.3, 1.0, 4.0])
def test_a_planted_temperature_is_found_again_from_binary_labels_too(planted: float) -> None:
    gold, told = calibrated(10_000, seed=1)
    assert fit_temperature([of(gold, temperature_scaled(told, 1 / planted), binary=True)]) == pytest.approx(
        planted, rel=0.1
    )


def test_the_temperature_found_is_no_worse_than_its_neighbours() -> None:
    files = [of(*calibrated(300, seed)) for seed in (2, 3)]
    found = fit_temperature(files)
    best = negative_log_likelihood([held.at(found) for held in files])
    for other in (0.5, 0.9, 1.1, 2.0):
        assert best <= negative_log_likelihood([held.at(found * other) for held in files])


def test_files_weigh_alike_whatever_their_size() -> None:
    small, large = of(*calibrated(50, 1)), of(*calibrated(5000, 2))
    own = [negative_log_likelihood([held]) for held in (small, large)]
    assert negative_log_likelihood([small, large]) == pytest.approx(np.mean(own))


def test_bins_hold_as_many_each() -> None:
    # Two bins: sure of 0.6 and right half the time, sure of 0.9 and always right.
    confidence, right = np.array([0.6, 0.6, 0.9, 0.9]), np.array([True, False, True, True])
    assert adaptive_ece(confidence, right, bins=2) == pytest.approx((0.1 + 0.1) / 2)
    assert adaptive_ece(confidence, right, bins=1) == pytest.approx(0.0)


def test_brier_is_2_where_all_is_surely_wrong() -> None:
    gold = np.array([0, 1])
    assert brier(gold, np.eye(3)[[1, 2]]) == 2
    assert brier(gold, np.eye(3)[[0, 1]]) == 0


def test_of_a_binary_pair_only_entailed_or_not_is_right_or_wrong() -> None:
    told = np.array([[0.2, 0.5, 0.3]])
    held = of(np.array([2]), told, binary=True)
    assert held.right.all()
    assert held.confidence == pytest.approx(0.8)
    assert held.likelihood == pytest.approx(0.8)
    assert not of(np.array([2]), told).right.any()


def test_a_temperature_of_one_changes_nothing_and_none_changes_a_label() -> None:
    _, told = calibrated(200)
    assert temperature_scaled(told, 1.0) == pytest.approx(told)
    assert (temperature_scaled(told, 3.0).argmax(1) == told.argmax(1)).all()
    assert np.isfinite(temperature_scaled(np.eye(3), 0.05)).all()


def test_coverage_never_rises_with_the_threshold() -> None:
    gold, told = calibrated(500)
    curve = risk_coverage(Answered.of([(told.max(1), told.argmax(1) == gold)]))
    coverage = [point.coverage for point in curve]
    assert coverage[0] == pytest.approx(1)
    assert coverage == sorted(coverage, reverse=True)


def test_a_threshold_keeps_nine_verdicts_in_ten() -> None:
    sureness = np.linspace(0.5, 0.99, 50)
    curve = risk_coverage(Answered.of([(sureness, sureness > 0.55)]))
    chosen = choose_threshold(curve)
    at = {point.threshold: point for point in curve}
    assert at[chosen].coverage >= 0.9 > at[round(chosen + 0.01, 2)].coverage
    assert chosen > 0.5


def test_no_threshold_is_chosen_where_abstaining_does_not_help() -> None:
    always_wrong = risk_coverage(Answered.of([(np.linspace(0.4, 0.9, 20), np.zeros(20, dtype=np.bool_))]))
    assert choose_threshold(always_wrong) == 0
    assert choose_threshold([CurvePoint(0.0, 1.0, 0.1), CurvePoint(0.5, 0.95, 0.2)]) == 0


def test_files_count_alike_on_the_curve() -> None:
    sure, unsure = (np.full(90, 0.9), np.ones(90, dtype=np.bool_)), (np.full(10, 0.4), np.zeros(10, dtype=np.bool_))
    (point,) = risk_coverage(Answered.of([sure, unsure]), [0.5])
    assert (point.coverage, point.risk) == (pytest.approx(0.5), 0)


def test_a_folder_is_calibrated_on_the_files_that_models_are_chosen_by(tmp_path: Path) -> None:
    written(tmp_path, "healthver_dev")
    written(tmp_path, "other")
    assert list(calibrate(ByLength(), tmp_path).files) == ["healthver_dev"]
    assert list(calibrate(ByLength(), tmp_path, only=["other"]).files) == ["other"]
    with pytest.raises(UnknownNameError, match="healthver_dev"):
        calibrate(ByLength(), tmp_path, only=["healthver"])


def test_abstaining_is_chosen_on_whole_documents_where_asked(tmp_path: Path) -> None:
    written(tmp_path, "made_up")
    with pytest.raises(InputError, match="whole documents"):
        calibrate(ByLength(), tmp_path, documents=True)
    written(tmp_path, "made_up_doc")
    found = calibrate(ByLength(), tmp_path, documents=True)
    assert (found.over, list(found.files)) == ("documents", ["made_up"])


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found none"):
        calibrate(ByLength(), tmp_path)


def test_the_temperature_goes_into_the_card_and_the_folder_still_opens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, shipped = tmp_path / "model", ModelFolder.bundled(VERIFIER).path
    model.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (model / name).symlink_to(shipped / name)
    (model / "card.json").write_bytes((shipped / "card.json").read_bytes())
    written(tmp_path / "dev", "made_up", count=8)
    assert calibrate_main(["--model", str(model), "--dev", str(tmp_path / "dev"), "--write"]) == 0
    found = ModelFolder.open(model).card.temperature
    assert f"temperature {found:g}" in capsys.readouterr().out
    before = json.loads((shipped / "card.json").read_text(encoding="utf-8"))
    after = json.loads((model / "card.json").read_text(encoding="utf-8"))
    assert {**before, "temperature": found} == after
    assert not list(model.glob("*.part"))


def test_a_checkpoint_has_no_card_to_write_to(tmp_path: Path) -> None:
    with pytest.raises(ModelMissingError, match="Pack"):
        write_card(tmp_path, {"temperature": 2.0})


def test_pairs_bring_what_is_known_of_them() -> None:
    held = {"premise": "Zinc.", "claim": "Zinc.", "label": "neutral", "source": "made-up"}
    pairs = [LabelledPair.model_validate({**held, "binary": binary}) for binary in (True, False)]
    found = judged(pairs, np.full((2, 3), 1 / 3))
    assert (found.gold.tolist(), found.binary.tolist()) == ([2, 2], [True, False])
